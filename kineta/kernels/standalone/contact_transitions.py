"""Contacts of a run without Python: the first mode, transitions at the ends of steps, and what they change.

The loop carries a transition out as soon as it finds its guard at zero. The run comes to it later, after the times and events
before it, which belong to the mode before: until then the mode after it is kept aside.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ALONG, CLOSED, FLAGS, IMPACT_NUMBERS, SLIPS, STUCK
from kineta.integration.handover import PART, STEPS, Pace
from kineta.integration.loop_abi import BRIEF, RunData
from kineta.integration.time_stepping import STEP
from kineta.kernels.language import fabs, kernel
from kineta.kernels.pace import count_anew
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.transition import first_change, is_carried_out, keep_zeros, release
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals, Record

#: What a run returns where contacts change; the status of a transition that is none is added to it. After these come an endless
#: sequence of changes, a run backwards, a switch that sets what is no number or out of bounds; later too many steps.
CHANGED = 8
ENDLESS, BACKWARDS, UNSETTABLE = range(CHANGED + 9, CHANGED + 12)
UNENDING = 23
#: What a contact does in a transition.
STRIKES, RESTS, LEAVES, STICKS, SLIPS_NOW, REVERSES, SWITCHES = range(7)


class ContactChanges(Record, partial=True):
    """Changes of contacts in a run.

    ahead : what the run returns when it comes to the transition in its last step, 0 without one; at : the time of the transition;
        row : of its zero, -1 at the end of the step
    flags : the mode after it, until the run comes to it; state : (n,) in which switches act there
    span : duration of the run
    found : number of changes at the present time; told : for each the contact and what it does
    """

    ahead: int
    at: float
    row: int
    flags: Reals
    state: Reals
    span: float
    found: int
    told: Reals


@kernel
def begin_changes(run: RunData, x: ContactChanges) -> int:
    """No changes so far; 0, or that the run is one backwards."""
    pace = run.contacts.pace
    x.ahead, x.found = 0, 0
    x.span = fabs(run.t_end - run.t)
    pace.size, pace.brief = min(run.max_step, min(STEP, PART * x.span)), BRIEF * x.span
    count_anew(pace, run.t)
    return BACKWARDS if run.t_end < run.t else 0


@kernel
def begin_contacts(
    method: LoopMethod, run: RunData, x: ContactChanges, coordinates: int, rtol: float, atol: float
) -> int:  # fmt: skip
    """The first mode of a run from its present state, 0; or why there is none."""
    c = run.contacts
    work = c.transitions
    size = max(1.0, largest(run.y, coordinates))
    work.same, work.until = tolerances.CONTACT_TOLERANCE * (rtol * size + atol), max(fabs(run.t), fabs(run.t_end))
    work.fastest = 0.0
    release(run)
    status = change_at_once(method, run, x, run.t, run.y)
    x.found = 0
    tell_strikes(run, x, 0)
    return status


@kernel
def change_at_once(method: LoopMethod, run: RunData, x: ContactChanges, t: float, state: Reals) -> int:
    """Set the state of the run to that after a transition at the time t in a *state*, and list what it changes; 0, or why there
    is none.
    """
    c = run.contacts
    c.transitions.made, x.ahead = 0, 0
    copy(c.motion.flags, x.flags, c.n_flags)
    changed = is_carried_out(method, run, t, state, 0)
    if not changed:
        return CHANGED + c.transitions.status
    c.pace.calm = 0 if c.transitions.made > 0 else c.pace.calm
    copy(run.between, run.y, run.n)
    tell(run, x, x.flags, c.motion.flags, 0)
    return 0


@kernel
def begin_step(run: RunData, x: ContactChanges) -> None:
    """Keep the mode of a step before it is made."""
    copy(run.contacts.motion.flags, x.flags, run.contacts.n_flags)
    run.contacts.made, run.contacts.transitions.made, run.contacts.transitions.status = 0, 0, 0


@kernel
def end_step(run: RunData, x: ContactChanges) -> None:
    """Put the transition of the step that has been made, or why there is none, ahead of the run."""
    c, row, t = run.contacts, first_change(run, 0), run.t
    x.row = row
    if c.made > 0:
        exchange_modes(run, x)
        x.ahead, x.at = CHANGED, t
        return
    if row >= 0:
        t = run.events.times[row]
        keep_zeros(run, c.transitions.until, t, 0)
    if c.transitions.status != 0:
        x.ahead, x.at = CHANGED + c.transitions.status, t
    if c.pace.over != 0:
        x.ahead, x.at = too_many(c.pace), t


@kernel
def too_many(pace: Pace) -> int:
    """What a run returns where steps or changes are too many."""
    return UNENDING if pace.over == STEPS else ENDLESS


@kernel
def come_to_change(run: RunData, x: ContactChanges) -> None:
    """Go over to the mode after the transition ahead."""
    x.found = 0
    tell(run, x, run.contacts.motion.flags, x.flags, run.contacts.transitions.row)
    exchange_modes(run, x)


@kernel
def exchange_modes(run: RunData, x: ContactChanges) -> None:
    """Exchange the mode and the one that is kept aside."""
    flags = run.contacts.motion.flags
    for k in range(run.contacts.n_flags):
        other = x.flags[k]
        x.flags[k] = flags[k]
        flags[k] = other


# -- what changes -----------------------------------------------------------------------------------------------------


@kernel
def tell(run: RunData, x: ContactChanges, before: Reals, after: Reals, row: int) -> None:
    """List what the transition number *row* changes, from the flags *before* to those *after* it: impacts first."""
    tell_strikes(run, x, row)
    for c in range(run.contacts.motion.problem.contacts):
        old, new = before[FLAGS * c :], after[FLAGS * c :]
        if (new[CLOSED] > 0.0) != (old[CLOSED] > 0.0):
            put_change(x, float(c), RESTS if new[CLOSED] > 0.0 else LEAVES)
        if new[STUCK] != 0.0 and old[STUCK] == 0.0:
            put_change(x, float(c), STICKS)
        if new[SLIPS] != 0.0 and old[SLIPS] == 0.0:
            put_change(x, float(c), SLIPS_NOW)
        along = 0.0
        for k in range(run.contacts.motion.problem.tangents[c]):
            along += old[ALONG + k] * new[ALONG + k]
        if new[SLIPS] != 0.0 and old[SLIPS] != 0.0 and along < 0.0:
            put_change(x, float(c), REVERSES)


@kernel
def tell_strikes(run: RunData, x: ContactChanges, row: int) -> None:
    """List the impacts of contacts that are hit in the transition number *row*."""
    work = run.contacts.transitions
    for k in range(work.made):
        impact = work.impacts[IMPACT_NUMBERS * k :]
        if impact[9] == float(row) and (impact[7] == 1.0 or impact[7] == 3.0):
            put_change(x, impact[0], STRIKES)


@kernel
def put_change(x: ContactChanges, contact: float, what: int) -> None:
    """List a change of a *contact*."""
    x.told[2 * x.found], x.told[2 * x.found + 1] = contact, float(what)
    x.found += 1
