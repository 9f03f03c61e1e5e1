"""Switches of a run without Python, which set coordinates, speeds and parameters, in a model with contacts or without.

A step in which a switch has its zero is not carried on by the loop: what the switch sets is set when the run comes to the zero,
and contacts change after it.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import CLOSED, FLAGS, NORMAL, STUCK, TANGENTS, Function
from kineta.integration.loop_abi import RunData
from kineta.kernels.contact.motion import move
from kineta.kernels.language import fabs, kernel
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.standalone.contact_changes import SWITCHES, TIED, ContactChanges, put_change, release
from kineta.kernels.transition import first_change, keep_zeros
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals, Record

#: What is ahead where a switch, or a guard beside it, has a zero.
ZERO_AHEAD = TIED + 1


class SwitchTable(Record, partial=True):
    """Switches of a run, whose events follow those of the caller.

    count : number of switches; fired : the one at the zero ahead, -1 for none
    values : as a rate, what all switches set; first : (count + 1,) the values of each; targets : (values,) their places in the
        state, or -1 - k for the parameter k; found : (values,)
    state : (n,) at the zero ahead; before, after : (events,) values of events
    """

    count: int
    fired: int
    values: Function
    first: Integers
    targets: Integers
    found: Reals
    state: Reals
    before: Reals
    after: Reals


@kernel
def find_switch(method: LoopMethod, run: RunData, x: ContactChanges, s: SwitchTable) -> None:
    """Put the first zero of switches and guards in the step that was made ahead of the run, where the loop has left it."""
    e, c, row = run.events, run.contacts, first_change(run, 0)
    if method.touching:
        row = -1 if c.transitions.status != 0 else row
    if row >= 0:
        t, behind = e.times[row], c.watched + s.count
        moment = tolerances.EVENT_TOLERANCE * max(x.span, fabs(t))
        copy(e.states[row * run.n :], s.state, run.n)
        x.ahead, x.at, s.fired = ZERO_AHEAD, t, -1
        for k in range(e.found):
            i = e.which[k] - c.watched
            if i >= 0 and i < s.count and e.times[k] <= t + moment:
                x.ahead = TIED if s.fired >= 0 and s.fired != i else x.ahead
                s.fired = i
        if method.touching:
            release(run)
            for k in range(e.found):
                if e.which[k] >= behind and e.times[k] <= t + moment:
                    mark_guard(run, e.which[k] - behind)
        keep_zeros(run, x.span, t, 0)


@kernel
def mark_guard(run: RunData, guard: int) -> None:
    """Mark the contact of a *guard* at zero, where it is closed or sticks."""
    c = run.contacts
    k = c.guard_contacts[guard]
    if c.guard_rows[guard] == NORMAL and c.motion.flags[FLAGS * k + CLOSED] > 0.0:
        c.transitions.loose[k] = 1
    if c.guard_rows[guard] == TANGENTS and c.motion.flags[FLAGS * k + STUCK] > 0.0:
        c.transitions.exhausted[k] = 1


@kernel
def set_values(method: LoopMethod, run: RunData, x: ContactChanges, s: SwitchTable, given: Reals) -> None:
    """Set what the switch ahead sets, in the state and in what is *given*."""
    run.time[0] = x.at
    own = s.fired
    if method.touching:
        motion = run.contacts.motion
        move(motion, run.time, run.y)
        s.values(run.time, motion.extended, motion.block, s.found)
        own += motion.problem.contacts
    else:
        s.values(run.time, run.y, run.block, s.found)
    for k in range(s.first[s.fired], s.first[s.fired + 1]):
        if s.targets[k] < 0:
            given[-1 - s.targets[k]] = s.found[k]
        else:
            run.y[s.targets[k]] = s.found[k]
    put_change(x, float(own), SWITCHES)


@kernel
def loosen(run: RunData, x: ContactChanges) -> None:
    """Project the state onto constraints with all contacts open."""
    c, flags = run.constraints, run.contacts.motion.flags
    copy(flags, x.flags, run.contacts.n_flags)
    for k in range(run.contacts.n_flags):
        flags[k] = 0.0
    run.time[0] = x.at
    c.position(run.time, run.y, run.block, c.after)
    c.position(run.time, c.after, run.block, c.before)
    c.velocity(run.time, c.before, run.block, run.y)
    copy(x.flags, flags, run.contacts.n_flags)


@kernel
def is_tied(run: RunData, s: SwitchTable) -> bool:
    """Whether another switch may have become true by the one that switched, or the same once more."""
    tied = False
    for j in range(s.count):
        i = run.contacts.watched + j
        tied = tied or (s.before[i] < 0.0 and s.after[i] >= 0.0)
        tied = tied or (j != s.fired and fabs(s.after[i]) <= run.events.errors[i])
    return tied
