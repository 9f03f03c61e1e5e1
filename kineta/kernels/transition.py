"""Mode trials: contact modes are numbers of the block h, and a candidate mode is tried with another block.

It is accepted if every guard exceeds its evaluation error, at once and shortly afterwards: then the forces satisfy the contact
laws. States, guards and rates come from the compiled functions of the system.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import ALONG, BEGINS, CLOSED, FLAGS, STUCK, RunData
from kineta.kernels.event_start import ROUNDING, look_at_start
from kineta.kernels.impact import restart
from kineta.kernels.language import fabs, kernel
from kineta.kernels.stage_evaluation import lowest_pivot
from kineta.kernels.vectors import copy, largest, largest_change
from kineta.memory import Reals

#: Smallest guard value in units of its evaluation error.
AWAY = 100.0
#: Delay of the second evaluation of the guards, relative to the largest time.
SOON = 1e-6
#: Largest change of the speeds by the end of slip, in units of the slip: at a dead centre slip ends
#: while the mechanism moves on.
LEVER = 1e4


@kernel
def is_isolated(run: RunData, end: float) -> bool:
    """Whether all zeros of a step to *end* belong to contacts, the earliest is before the end and before all others, and later
    than the last transition. Its projected state is then in ``base``.
    """
    c, e = run.contacts, run.events
    t = e.times[c.row]
    moment = ROUNDING * max(c.until, fabs(t))
    alone = t < end and t - c.changed_at > moment
    for k in range(c.before, e.found):
        if e.which[k] < c.first or (k != c.row and e.times[k] <= t + moment):
            alone = False
    if alone:
        run.time[0] = t
        run.constraints.position(run.time, e.states[c.row * run.n :], run.block, c.beside)
        run.constraints.velocity(run.time, c.beside, run.block, c.base)
    return alone


@kernel
def is_normal(run: RunData, event: int) -> bool:
    """Whether an event is the gap or the normal force of a contact."""
    return run.contacts.normals[event] >= 0


@kernel
def set_mode(flags: Reals, mode: int, way: float) -> None:
    """Set the contact with these *flags* to STUCK or SLIPS, with a direction *way*."""
    for k in range(STUCK, FLAGS):
        flags[k] = 0.0
    flags[mode] = 1.0
    flags[ALONG] = way
    flags[BEGINS] = fabs(way)


@kernel
def tried_state(run: RunData, mode: int) -> Reals:
    """The state of a candidate mode."""
    return run.contacts.tried[mode * run.n :]


@kernel
def tried_block(run: RunData, mode: int) -> Reals:
    """The block h of a candidate mode."""
    return run.contacts.blocks[mode * run.contacts.size :]


@kernel
def is_beside(run: RunData, state: Reals, still: Reals, slip: float) -> bool:
    """Whether the state *still* without slip is as near to *state* as its *slip* explains."""
    part = tolerances.STATE_TOLERANCE * max(1.0, largest(state, run.n))
    return largest_change(still, state, run.n) <= max(part, LEVER * slip)


@kernel
def try_mode(run: RunData, mode: int, t: float, state: Reals, slip: float) -> bool:
    """Whether the mode of the present flags is consistent from a *state* on, in which sticking contacts have the *slip*.
    Computes its state, its guards, and their evaluation errors.
    """
    c, e, n = run.contacts, run.events, run.n
    still, block = tried_state(run, mode), tried_block(run, mode)
    now, noise = c.now[mode * e.n :], c.noise[mode * e.n :]
    c.setup(c.given, block)
    run.time[0] = t
    run.constraints.velocity(run.time, state, block, still)
    e.function(run.time, still, block, now)
    for i in range(n):
        c.beside[i] = still[i] + still[i] * (ROUNDING * e.signs[i])
    e.function(run.time, c.beside, block, noise)
    for i in range(e.n):
        noise[i] = fabs(noise[i] - now[i])
    return is_beside(run, state, still, slip)


@kernel
def try_contact(
    run: RunData, mode: int, t: float, state: Reals, slip: float, flags: Reals, contact_mode: int, way: float
) -> bool:
    """:func:`try_mode` for the mode in which the contact with these *flags* sticks or slips in a direction *way*."""
    copy(flags, run.contacts.saved, FLAGS)
    set_mode(flags, contact_mode, way)
    consistent = try_mode(run, mode, t, state, slip)
    copy(run.contacts.saved, flags, FLAGS)
    return consistent


@kernel
def look_ahead(run: RunData, t: float, mode: int) -> None:
    """Evaluate the guards of a candidate mode after a short time, in the state ``beside``."""
    c, e = run.contacts, run.events
    state, block, later = tried_state(run, mode), tried_block(run, mode), SOON * c.until
    run.time[0] = t
    run.rate(run.time, state, block, c.rate)
    run.evaluations += 1
    for i in range(run.n):
        c.beside[i] = state[i] + later * c.rate[i]
    run.time[0] = t + later
    e.function(run.time, c.beside, block, c.soon[mode * e.n :])


@kernel
def least_guard(run: RunData, event: int) -> float:
    """The threshold of an *event* during transitions of other contacts: the contact tolerance for a gap."""
    c = run.contacts
    if is_normal(run, event) and not c.given[c.normals[event] + CLOSED] > 0.0:
        return c.same
    return c.least[event]


@kernel
def keeps(run: RunData, mode: int, event: int) -> bool:
    """Whether all guards of contacts but one are satisfied in a candidate mode, at once and shortly afterwards."""
    c, e = run.contacts, run.events
    for i in range(c.first, e.n):
        least = max(least_guard(run, i), AWAY * c.noise[mode * e.n + i])
        sound = c.now[mode * e.n + i] > least and c.soon[mode * e.n + i] > 0.0
        if i != event and not sound:
            return False
    return True


@kernel
def energy(run: RunData, t: float, state: Reals) -> float:
    """The energy of a *state*."""
    c = run.contacts
    run.time[0] = t
    c.observed(run.time, state, run.block, c.energies)
    return c.energies[0] + c.energies[1]


@kernel
def go_on(run: RunData, t: float, h: float, state: Reals, event: int, mode: int, approach: float) -> None:
    """Continue in a candidate mode with the present flags, after a *state* at a zero of *event*, with the speed *approach* of
    an impact. The energy that the transition loses is work done.
    """
    c, after = run.contacts, tried_state(run, mode)
    before = energy(run, t, state)
    behind = energy(run, t, after)
    after[c.work] = after[c.work] + (behind - before)
    copy(tried_block(run, mode), run.block, c.size)
    c.changed_at = t
    restart(run, t, h, state, after, event, approach)
    run.constraints.low = lowest_pivot(run, run.k)
    run.constraints.hops = 0
    look_at_start(run, t)
