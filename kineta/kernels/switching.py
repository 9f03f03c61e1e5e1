"""Switches within compiled code: what those at zero set, which others follow them, and how contacts change after each.

The state and the mode before come from the loop. A run whose switches do more than compiled code can is given up.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import BOUND, CLOSED, FLAGS, IMPACT_NUMBERS, NORMAL, STUCK, TANGENTS
from kineta.integration.loop_abi import AT_ONCE, DIRECTIONS, GUARDS, RunData
from kineta.kernels.contact.motion import move
from kineta.kernels.contact.state_terms import CHANGED
from kineta.kernels.event_location import look_across, note_jumps
from kineta.kernels.event_start import ROUNDING, evaluate_events
from kineta.kernels.language import fabs, kernel
from kineta.kernels.pace import is_calm, keeps_pace
from kineta.kernels.sliding.changes import change_contacts
from kineta.kernels.sliding.sides import find_sides, rate_on_sides
from kineta.kernels.stage_evaluation import LoopMethod, block_of
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Time of a look-ahead, relative to the largest time.
AHEAD = 1e-9


@kernel
def energy(run: RunData, t: float, state: Reals) -> float:
    """The energy of a *state*."""
    c = run.contacts
    run.time[0] = t
    c.observed(run.time, state, run.block, c.energies)
    return c.energies[0] + c.energies[1]


@kernel
def begin_switches(run: RunData) -> None:
    """No switch has acted so far."""
    s = run.switches
    s.span, s.until = fabs(run.t_end - run.t), max(fabs(run.t), fabs(run.t_end))
    s.last, s.at_once, s.stopped, s.culprit = -float("inf"), 0, -1, -1
    for k in range(s.count):
        s.since[k] = run.t - s.until


@kernel
def mark_zeros(method: LoopMethod, run: RunData, t: float, before: int) -> None:
    """Mark the switches that have a zero at the time t, among those from number *before* on, and what has come to its end of
    contacts with a guard at zero.
    """
    c, e, s = run.contacts, run.events, run.switches
    moment = tolerances.EVENT_TOLERANCE * max(fabs(t), s.span)
    begin_marks(method, run)
    for k in range(before, e.found):
        i = e.which[k] - c.watched
        if i >= 0 and e.times[k] <= t + moment:
            if i < s.count:
                s.fired[i] = 1
            elif method.touching:
                mark_guard(run, i - s.count)


@kernel
def begin_marks(method: LoopMethod, run: RunData) -> None:
    """Mark no switch and no contact."""
    s = run.switches
    for j in range(s.count):
        s.fired[j] = 0
    if method.touching:
        for k in range(run.contacts.motion.problem.contacts):
            s.loose[k], s.exhausted[k], s.fallen[k] = 0, 0, 0


@kernel
def mark_guard(run: RunData, guard: int) -> None:
    """Mark the contact of a *guard* at zero, where it is closed or sticks."""
    c, s = run.contacts, run.switches
    k = c.guard_contacts[guard]
    if c.guard_rows[guard] == NORMAL and c.motion.flags[FLAGS * k + CLOSED] > 0.0:
        s.loose[k] = 1
    if c.guard_rows[guard] == TANGENTS and c.motion.flags[FLAGS * k + STUCK] > 0.0:
        s.exhausted[k] = 1
    if c.guard_rows[guard] == BOUND:
        s.fallen[k] = 1


@kernel
def change_at(method: LoopMethod, run: RunData, held: bool) -> bool:
    """Carry out the switches and guards whose zeros are found at the time of the run, in its new state, as :func:`is_switched`
    does; with *held* under other forces, which are ``given``.
    """
    mark_zeros(method, run, run.t, 0)
    look_before(method, run, run.t, run.new)
    if held:
        set_block(method, run)
    able, e = is_switched(method, run, run.t, run.new), run.events
    e.found = 0
    if able:
        note_jumps(method, run, run.t, run.between)
    return able


@kernel
def look_before(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Bring the state y at the time t onto constraints, as transitions of contacts do, and look at the old conditions."""
    if method.projecting and not method.touching:
        c = run.constraints
        run.time[0] = t
        c.position(run.time, y, run.block, c.after)
        c.velocity(run.time, c.after, run.block, y)
    look_at(method, run, t, y, run.switches.old)
    look_across(run, t, y)


@kernel
def is_switched(method: LoopMethod, run: RunData, t: float, state: Reals) -> bool:
    """Whether the switches that are marked act at the time t in a *state*, and those that follow them, until none does; the state
    after them is then ``between``. Conditions before it are the old ones. False where compiled code cannot tell.
    """
    c, s, y, turn, struck = run.contacts, run.switches, run.between, 0, 0
    copy(state, y, run.n)
    s.at_once = s.at_once + 1 if fabs(t - s.last) <= tolerances.EVENT_TOLERANCE * fabs(t) else 0
    s.last = t
    able, going = s.at_once <= AT_ONCE, True
    if method.touching:
        struck = c.transitions.made
        paced = keeps_pace(method, run, t)
        able = able and paced
    calm = is_calm(c.pace, t)
    able = able and calm
    full = energy(run, t, y)
    while able and going and turn < AT_ONCE:
        able = is_set(method, run, t, y)
        made = 0
        if method.touching:
            made = c.transitions.made
            if able:
                able = has_mode(method, run, t, y)
        elif method.sliding and able:
            find_sides(method, run, t, y, run.slides.rates)
        if able:
            look_at(method, run, t, y, s.new)
            followed = is_followed(method, run, t, made)
            going = followed and s.stopped < 0
            copy(s.new, s.old, GUARDS * s.count)
        turn += 1
    if method.touching and c.transitions.made > struck:
        c.pace.calm = 0
    left = energy(run, t, y)
    y[c.work] = y[c.work] + (left - full)
    return able and not going


@kernel
def look_at(method: LoopMethod, run: RunData, t: float, y: Reals, guards: Reals) -> None:
    """The conditions of all switches in a state y: their values, their evaluation errors where these are no smaller, else -1, and
    their rises over a look-ahead.
    """
    e, s, n = run.events, run.switches, run.n
    moment, ahead = tolerances.EVENT_TOLERANCE * max(fabs(t), fabs(t + s.until)), AHEAD * s.until
    first, errors, rises = run.contacts.watched, guards[s.count :], guards[2 * s.count :]
    rate_on_sides(method, run, t, y, s.rate)
    evaluate_events(run, t, y, e.tried)
    for k in range(s.count):
        guards[k], errors[k] = e.tried[first + k], 0.0
    for i in range(n):
        s.beside[i] = y[i] + moment * s.rate[i]
    enlarge(run, t + moment, guards, errors)
    for direction in range(DIRECTIONS):
        for i in range(n):
            s.beside[i] = (1.0 + ROUNDING * e.signs[direction * n + i]) * y[i]
        enlarge(run, t, guards, errors)
    for i in range(n):
        s.beside[i] = y[i] + ahead * s.rate[i]
    evaluate_events(run, t + ahead, s.beside, e.tried)
    for k in range(s.count):
        errors[k] = errors[k] if fabs(guards[k]) <= errors[k] else -1.0
        rises[k] = e.tried[first + k] - guards[k]


@kernel
def enlarge(run: RunData, t: float, guards: Reals, errors: Reals) -> None:
    """Enlarge the evaluation *errors* of conditions by their values in the state ``beside`` at the time t."""
    e, s = run.events, run.switches
    evaluate_events(run, t, s.beside, e.tried)
    for k in range(s.count):
        differs = fabs(e.tried[run.contacts.watched + k] - guards[k])
        if differs > errors[k] or differs != differs:
            errors[k] = differs


@kernel
def is_set(method: LoopMethod, run: RunData, t: float, y: Reals) -> bool:
    """Set in the state y what the switches marked set, one after the other; whether all of it can be."""
    s, able = run.switches, True
    for k in range(s.count):
        if able and s.fired[k] != 0:
            evaluate_values(method, run, t, y)
            holds = True
            for j in range(s.held[k], s.held[k + 1]):
                holds = holds and s.found[j] == 0.0
            if holds:
                able = is_acting(method, run, t, y, k)
    return able


@kernel
def evaluate_values(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """What all switches set in a state y."""
    s = run.switches
    run.time[0] = t
    if method.touching:
        motion = run.contacts.motion
        move(motion, run.time, y, True)
        s.values(run.time, motion.extended, motion.block, s.found)
    else:
        s.values(run.time, y, run.block, s.found)


@kernel
def is_acting(method: LoopMethod, run: RunData, t: float, y: Reals, k: int) -> bool:
    """Set what the switch number k sets, from the values found, and note it; whether all of it is finite and within bounds."""
    s = run.switches
    room = is_noted(method, run, t, k)
    if not room:
        return False
    able = True
    if s.stops[k] != 0:
        s.stopped = k
    for j in range(s.first[k], s.first[k + 1]):
        able = able and fabs(s.found[j]) < float("inf")
        if s.targets[j] < 0:
            s.given[-1 - s.targets[j]] = s.found[j]
        else:
            y[s.targets[j]] = s.found[j]
    if able:
        set_block(method, run)
    if able and s.checked > 0:
        evaluate_values(method, run, t, y)
        for j in range(s.checked):
            margin = s.found[s.held[s.count] + j]
            able = able and (margin > 0.0 or (margin == 0.0 and s.positive[j] == 0))
    if able and method.projecting:
        loosen(method, run, t, y)
        able = is_met(run, t, y)
    if not able:
        s.culprit = k
    return able


@kernel
def set_block(method: LoopMethod, run: RunData) -> None:
    """The block h of what is ``given``."""
    block = block_of(method, run)
    run.switches.setup(run.switches.given, block)


@kernel
def loosen(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Project the state y onto constraints with all contacts open."""
    c = run.constraints
    if method.touching:
        copy(run.contacts.motion.flags, run.contacts.transitions.kept, run.contacts.n_flags)
        for k in range(run.contacts.n_flags):
            run.contacts.motion.flags[k] = 0.0
    run.time[0] = t
    c.position(run.time, y, run.block, c.after)
    c.position(run.time, c.after, run.block, c.before)
    c.velocity(run.time, c.before, run.block, y)
    if method.touching:
        copy(run.contacts.transitions.kept, run.contacts.motion.flags, run.contacts.n_flags)


@kernel
def is_met(run: RunData, t: float, y: Reals) -> bool:
    """Whether the state y meets the constraints, up to what a projection may leave."""
    c, s, met = run.contacts, run.switches, True
    if s.misses > 0:
        allowed = tolerances.PRINTED_TOLERANCE * max(1.0, largest(y, c.work))
        run.time[0] = t
        c.observed(run.time, y, run.block, c.energies)
        for k in range(s.misses):
            met = met and fabs(c.energies[s.residuals + k]) <= allowed
    return met


@kernel
def has_mode(method: LoopMethod, run: RunData, t: float, y: Reals) -> bool:
    """Carry out the transition of contacts in the state y, and note it; whether there is one."""
    c, s, work = run.contacts, run.switches, run.contacts.transitions
    for k in range(c.motion.problem.contacts):
        work.loose[k], work.exhausted[k], work.fallen[k] = s.loose[k], s.exhausted[k], s.fallen[k]
    work.row = c.made
    change_contacts(method, run, t, y)
    if work.status != CHANGED:
        return False
    return is_noted(method, run, t, -1)


@kernel
def is_noted(method: LoopMethod, run: RunData, t: float, what: int) -> bool:
    """Note that a switch, or for -1 contacts, have changed the mode at the time t; whether there is room for it."""
    c = run.contacts
    room = c.made < c.rows
    if room:
        if method.sampling:
            c.changed_rows[c.made], c.times[c.made] = run.sampling.number, t
        c.what[c.made] = what
        if method.touching:
            copy(c.motion.flags, c.flags[c.made * c.n_flags :], c.n_flags)
        c.made += 1
    return room


@kernel
def is_followed(method: LoopMethod, run: RunData, t: float, made: int) -> bool:
    """Mark the switches that follow those marked: those whose condition becomes true by them, and with contacts those that hear
    an impact since number *made*; whether there are any.

    A condition becomes true that was negative and no longer is, and one that vanishes and rises, unless that rise has acted
    already: if it vanished and rose before, it has if it vanished then, too; if it fell, it has not if a switch turned it.
    """
    s, any, going = run.switches, False, False
    for k in range(s.count):
        if s.fired[k] != 0:
            s.since[k] = t
            any = True
    for k in range(s.count):
        old, noise, rise = s.old[k], s.old[s.count + k], s.old[2 * s.count + k]
        new, error, ahead = s.new[k], s.new[s.count + k], s.new[2 * s.count + k]
        fresh = old - rise / (AHEAD * s.until) * (t - s.since[k]) < -noise
        below = (rise > noise and fresh) or (rise < -noise and any)
        if noise < 0.0:
            below = old < 0.0
        turned = s.fired[k] == 0 and below and error >= 0.0 and ahead > error
        s.next[k] = 1 if turned or (old < 0.0 and new >= 0.0) else 0
        if method.touching:
            mark_hearing(run, k, made)
        going = going or s.next[k] != 0
    for k in range(s.count):
        s.fired[k] = s.next[k]
    return going


@kernel
def mark_hearing(run: RunData, k: int, made: int) -> None:
    """Mark the switch number k where it hears an impact since number *made*."""
    s, work, m = run.switches, run.contacts.transitions, run.contacts.motion.problem.contacts
    for j in range(made, work.made):
        impact = work.impacts[IMPACT_NUMBERS * j :]
        for i in range(m):
            if impact[0] == float(i) and s.hears[k * m + i] != 0 and (impact[7] == 1.0 or impact[7] == 3.0):
                s.next[k] = 1
