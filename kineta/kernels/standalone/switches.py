"""Switches of a run without Python, in a model with contacts or without.

A step in which a switch has its zero, or in which one follows a transition of contacts, is not carried on by the loop: it acts
when the run comes to its time.
"""

from __future__ import annotations

from kineta.integration.contact_records import FLAGS
from kineta.integration.loop_abi import AT_ONCE, RunData
from kineta.kernels.language import kernel
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.standalone.contact_transitions import (
    CHANGED,
    ENDLESS,
    SWITCHES,
    UNSETTABLE,
    ContactChanges,
    put_change,
    tell,
    too_many,
)
from kineta.kernels.switching import is_switched, look_before, mark_hearing, mark_zeros
from kineta.kernels.transition import first_change, keep_zeros
from kineta.kernels.vectors import copy

#: What is ahead where a switch, or a guard beside it, has a zero.
ZERO_AHEAD = UNSETTABLE + 1


@kernel
def find_switch(method: LoopMethod, run: RunData, x: ContactChanges) -> None:
    """Put the first zero of switches and guards in the step that was made ahead of the run, where the loop has left it."""
    e, row = run.events, first_change(run, 0)
    if method.touching:
        row = -1 if run.contacts.transitions.status != 0 else row
    if row >= 0:
        x.ahead, x.at = ZERO_AHEAD, e.times[row]
        copy(e.states[row * run.n :], x.state, run.n)
        mark_zeros(method, run, x.at, 0)
        keep_zeros(run, x.span, x.at, 0)


@kernel
def hear(run: RunData, x: ContactChanges, t: float) -> None:
    """Put the switches that hear the impacts of the first mode, at the time t, ahead of the run."""
    s, heard = run.switches, False
    for k in range(s.count):
        s.next[k] = 0
        mark_hearing(run, k, 0)
        s.fired[k] = s.next[k]
        heard = heard or s.next[k] != 0
    if heard:
        x.ahead, x.at = ZERO_AHEAD, t
        copy(run.y, x.state, run.n)


@kernel
def act(method: LoopMethod, run: RunData, x: ContactChanges, t: float) -> int:
    """Let the switches that are marked act at the time t in the ``state`` ahead, and list what changes; 0, or why the run cannot
    go on.
    """
    look_before(method, run, t, x.state)
    x.found = 0
    return act_after(method, run, x, t)


@kernel
def act_after(method: LoopMethod, run: RunData, x: ContactChanges, t: float) -> int:
    """:func:`act` after a mode whose conditions are known, and list what changes behind what is listed."""
    c, s = run.contacts, run.switches
    c.made = 0
    if method.touching:
        copy(c.motion.flags, x.flags, c.n_flags)
        c.transitions.made, c.transitions.status = 0, 0
    able = is_switched(method, run, t, x.state)
    tell_all(method, run, x)
    status = 0
    if not able:
        status = UNSETTABLE
        if s.at_once > AT_ONCE or c.made >= c.rows:
            status = ENDLESS
        if c.pace.over != 0:
            status = too_many(c.pace)
        if method.touching and c.transitions.status != 0:
            status = CHANGED + c.transitions.status
    if status == 0:
        copy(run.between, run.y, run.n)
        if method.touching:
            run.size = min(run.size, c.transitions.flight)
    return status


@kernel
def tell_all(method: LoopMethod, run: RunData, x: ContactChanges) -> None:
    """List what switches and contacts have done, one after the other, from the mode that was kept aside on."""
    c, first = run.contacts, 0
    if method.touching:
        first = c.motion.problem.contacts
    for k in range(c.made):
        if c.what[k] >= 0:
            put_change(x, float(first + c.what[k]), SWITCHES)
        elif method.touching:
            own = c.flags[k * FLAGS * first :]
            tell(run, x, x.flags, own, k)
            copy(own, x.flags, c.n_flags)
