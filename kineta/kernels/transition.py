"""Changes between two steps, at zeros of the guards of contacts and, in an ensemble, of the conditions of switches."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import BOUND, CLOSED, FLAGS, NORMAL, TANGENTS
from kineta.integration.loop_abi import RunData
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.contact.motion import read_mode
from kineta.kernels.contact.state_terms import CHANGED, is_off
from kineta.kernels.event_location import note_jumps
from kineta.kernels.event_start import ROUNDING, evaluate_events, look_at_start
from kineta.kernels.language import fabs, kernel
from kineta.kernels.pace import is_calm, keeps_pace
from kineta.kernels.runge_kutta import record
from kineta.kernels.sampling import is_last_wanted, note_step
from kineta.kernels.sliding.changes import change_contacts
from kineta.kernels.sliding.sides import begin_rate
from kineta.kernels.stage_evaluation import LoopMethod, lowest_pivot
from kineta.kernels.switching import energy, is_switched, look_before, mark_zeros
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Condition of a switch after a transition, relative to that before it, that may be zero.
CLOSE = 1e-6
#: Part of a step over a kink in which it is not yet reached.
IN_FRONT = 0.25


@kernel
def decide(method: LoopMethod, run: RunData, dense: Reals, start: float, h: float, before: int) -> None:
    """Carry out the transition of the first guard that falls to zero in a step from the time *start* on, where nothing before
    it ends the run; *before* is the number of zeros found before the step.
    """
    c, e = run.contacts, run.events
    row = first_change(run, before)
    if row >= 0 and has_room(run):
        t, state = e.times[row], e.states[row * run.n :]
        moment = tolerances.EVENT_TOLERANCE * max(c.transitions.until, fabs(t))
        able = is_alone(run, t + moment, before)
        if able:
            mark_fired(run, t, before)
            change_mode(method, run, dense, start, t, h, state, before)
        elif method.switching:
            switch(method, run, dense, start, h, before)


@kernel
def has_room(run: RunData) -> bool:
    """Whether there is room for a transition and its impacts."""
    c = run.contacts
    return c.transitions.made < c.transitions.room and c.made < c.rows


@kernel
def are_apart(run: RunData) -> bool:
    """Whether no contact is closed, and by the events of the last step none is near; friction of joints is always closed."""
    c, problem, apart = run.contacts, run.contacts.motion.problem, True
    for k in range(problem.contacts):
        apart = apart and problem.has_normal[k] != 0 and not c.motion.flags[FLAGS * k + CLOSED] > 0.0
    for k in range(c.first, run.events.n):
        watched = c.guard_rows[k - c.first]
        apart = apart and watched != BOUND and (watched != NORMAL or run.events.values[k] > c.transitions.same)
    return apart


@kernel
def follow_surfaces(method: LoopMethod, run: RunData, dense: Reals, start: float, h: float, before: int) -> None:
    """Carry out the transition behind a kink at which the surface of a closed contact, or its velocity, has jumped, in a step h
    from the time *start* on. The state before it is recorded in front of the kink, where the mode still holds.
    """
    c = run.contacts
    off = is_off(c.motion, c.transitions, run.time, run.new)
    if off:
        release(run)
        if method.sampling:
            change_mode(method, run, dense, start, run.t, h, run.new, before)
        else:
            carry_out_behind(method, run, dense, start, h, before)


@kernel
def carry_out_behind(method: LoopMethod, run: RunData, dense: Reals, start: float, h: float, before: int) -> None:
    """The transition at the end of a step over a kink, recorded with the state in front of the kink and that behind it."""
    c, t, part = run.contacts, run.t, IN_FRONT * h
    changed = is_alone_carried_out(method, run, t, run.new, run.accepted + 1)
    if changed:
        for i in range(run.n):
            run.new[i] = run.y[i] + part * run.k[i]
            dense[i] = run.new[i] - run.y[i]
        record(run, start + part, part, run.new)
        c.changed_rows[c.made] = run.accepted
        record(run, t, 0.0, run.between)
        keep_zeros(run, c.transitions.until, t, before)
        keep_mode(run)
        go_on_after(method, run, t)


@kernel
def switch(method: LoopMethod, run: RunData, dense: Reals, start: float, h: float, before: int) -> None:
    """Carry out the switches and guards at the first zero in a step from the time *start* on, where nothing before it ends the
    run; a case whose switches do more than compiled code can is given up.
    """
    c, e, n = run.contacts, run.events, run.n
    row = first_change(run, before)
    alone = row >= 0
    if alone:
        end = e.times[row] + tolerances.EVENT_TOLERANCE * max(run.switches.span, fabs(e.times[row]))
        for k in range(before, e.found):
            last = is_last_wanted(run, k)
            alone = alone and not (e.which[k] < c.watched and last and e.times[k] <= end)
    if alone:
        run.t = e.times[row]
        copy(e.states[row * n :], run.new, n)
        mark_zeros(method, run, run.t, before)
        keep_zeros(run, run.switches.span, run.t, before)
        note_step(method, run, dense, start, h, before)
        carry_over(method, run, False)


@kernel
def carry_over(method: LoopMethod, run: RunData, known: bool) -> None:
    """Go on after the switches and guards marked, in the new state of the run at its time; after a mode whose conditions are
    *known*, or the present one.
    """
    s = run.switches
    if not known:
        look_before(method, run, run.t, run.new)
    able = is_switched(method, run, run.t, run.new)
    if not able:
        run.events.undefined = True
    elif s.stopped >= 0:
        run.events.ended, run.sampling.ended, run.contacts.changed = True, run.events.n + s.stopped, True
        copy(run.between, run.y, run.n)
    else:
        go_on_after(method, run, run.t)


@kernel
def first_change(run: RunData, before: int) -> int:
    """The first zero in a step that is none of the caller's events; -1 for none."""
    c, e, row = run.contacts, run.events, -1
    for k in range(before, e.found):
        if e.which[k] >= c.watched and (row < 0 or e.times[k] < e.times[row]):
            row = k
    return row


@kernel
def is_alone(run: RunData, end: float, before: int) -> bool:
    """Whether no switch has a zero in a step, and none up to the time *end* is the last wanted one."""
    c, e, alone = run.contacts, run.events, True
    for k in range(before, e.found):
        i = e.which[k]
        if i < c.watched:
            last = is_last_wanted(run, k)
            alone = alone and not (last and e.times[k] <= end)
        elif i < c.first:
            alone = False
    return alone


@kernel
def keep_zeros(run: RunData, until: float, t: float, before: int) -> None:
    """Keep the zeros of the caller's events up to a transition at t, and count the later ones as not found. The largest time of
    the motion is *until*.
    """
    c, e, kept = run.contacts, run.events, before
    moment = tolerances.EVENT_TOLERANCE * max(until, fabs(t))
    for k in range(before, e.found):
        i = e.which[k]
        if i < c.watched and e.times[k] <= t + moment:
            e.which[kept], e.times[kept] = i, min(e.times[k], t)
            copy(e.states[k * run.n :], e.states[kept * run.n :], run.n)
            kept += 1
        elif i < c.watched:
            e.left[i] += 1
    e.found = kept
    e.ended = False


@kernel
def release(run: RunData) -> None:
    """Mark no contact as one whose force has come to its end."""
    work = run.contacts.transitions
    for k in range(run.contacts.motion.problem.contacts):
        work.loose[k], work.exhausted[k], work.fallen[k] = 0, 0, 0


@kernel
def mark_fired(run: RunData, t: float, before: int) -> None:
    """Mark the contacts whose normal force, friction or limit of friction comes to its end at the time t."""
    c, e = run.contacts, run.events
    moment = ROUNDING * max(c.transitions.until, fabs(t))
    release(run)
    for k in range(before, e.found):
        if e.which[k] >= c.first and e.times[k] <= t + moment:
            guard = e.which[k] - c.first
            if c.guard_rows[guard] == NORMAL and c.motion.contacts.mode[c.guard_contacts[guard]] != 0:
                c.transitions.loose[c.guard_contacts[guard]] = 1
            if c.guard_rows[guard] == TANGENTS and c.motion.contacts.mode[c.guard_contacts[guard]] == STICKING:
                c.transitions.exhausted[c.guard_contacts[guard]] = 1
            if c.guard_rows[guard] == BOUND:
                c.transitions.fallen[c.guard_contacts[guard]] = 1


@kernel
def change_mode(
    method: LoopMethod, run: RunData, dense: Reals, start: float, t: float, h: float, state: Reals, before: int
) -> None:
    """The transition at the time t in a *state*, recorded with both states; nothing where there is none, for which a case of an
    ensemble is given up.
    """
    c, e = run.contacts, run.events
    if method.sampling:
        run.t = t
        copy(state, run.new, run.n)
        if method.switching:
            mark_zeros(method, run, t, before)
        keep_zeros(run, c.transitions.until, t, before)
        note_step(method, run, dense, start, h, before)
        changed = is_alone_carried_out(method, run, t, run.new, c.made)
        if changed:
            c.changed_rows[c.made], c.times[c.made], c.what[c.made] = run.sampling.number, t, -1
        elif method.switching:
            carry_over(method, run, False)
        else:
            e.undefined = True
    else:
        changed = is_alone_carried_out(method, run, t, state, run.accepted + 1)
        if changed:
            record(run, t, h, state)
            c.changed_rows[c.made] = run.accepted
            record(run, t, 0.0, run.between)
            keep_zeros(run, c.transitions.until, t, before)
    if changed:
        keep_mode(run)
        go_on_after(method, run, t)


@kernel
def go_on_after(method: LoopMethod, run: RunData, t: float) -> None:
    """Go on from the state ``between`` after a change at the time t."""
    c, e = run.contacts, run.events
    copy(run.between, run.y, run.n)
    run.t, c.changed = t, True
    note_jumps(method, run, t, run.y)
    if e.ended:
        return
    begin_rate(method, run)
    for i in range(c.watched, e.n):
        e.left[i] = 1
    if method.touching:
        run.size = min(run.size, c.transitions.flight)
        run.constraints.low = lowest_pivot(run, run.k)
        run.constraints.hops = 0
    look_at_start(run, t)
    if method.touching:
        set_hysteresis(run)


@kernel
def is_carried_out(method: LoopMethod, run: RunData, t: float, state: Reals, row: int) -> bool:
    """Whether there is a transition at the time t in a *state*; the state after it is then ``between``, and *row* is written with
    its impacts. The energy that it loses is work done.
    """
    c, after = run.contacts, run.between
    c.transitions.row = row
    c.transitions.alarms = 0
    before = energy(run, t, state)
    copy(state, after, run.n)
    change_contacts(method, run, t, after)
    if c.transitions.status == CHANGED:
        behind = energy(run, t, after)
        after[c.work] = after[c.work] + (behind - before)
    return c.transitions.status == CHANGED


@kernel
def is_alone_carried_out(method: LoopMethod, run: RunData, t: float, state: Reals, row: int) -> bool:
    """Whether there is a transition, steps and changes are not too many, and it sets off no switch, which is left to it: a switch
    that hears its impacts, or whose condition jumps over zero with speeds and forces, or close to it.
    """
    c, e, made = run.contacts, run.events, run.contacts.transitions.made
    before = e.values[e.n :]
    paced = keeps_pace(method, run, t)
    if not paced:
        return False
    if c.first > 0:
        evaluate_events(run, t, state, before)
    changed = is_carried_out(method, run, t, state, row)
    if changed and c.first > c.watched:
        evaluate_events(run, t, run.between, e.tried)
        for i in range(c.watched, c.first):
            if before[i] < 0.0 and e.tried[i] >= CLOSE * before[i]:
                c.transitions.alarms += 1
    alone = changed and c.transitions.alarms == 0
    if alone:
        c.pace.calm = 0 if c.transitions.made > made else c.pace.calm
        alone = is_calm(c.pace, t)
    if changed and not alone:
        copy(c.transitions.kept, c.motion.flags, c.n_flags)
        c.transitions.made = made
    return alone


@kernel
def keep_mode(run: RunData) -> None:
    """Keep the flags of the mode after a transition."""
    c = run.contacts
    copy(c.motion.flags, c.flags[c.made * c.n_flags :], c.n_flags)
    c.made += 1


@kernel
def set_hysteresis(run: RunData) -> None:
    """The depth below zero at which a guard that starts at zero counts: half the contact tolerance for gaps of open contacts,
    half the rest speed for slip along lines, rounding for forces that are exhausted; of closed ones twice the depth at which
    they start, at least.
    """
    c, e = run.contacts, run.events
    motion = c.motion
    read_mode(motion)
    rounding = tolerances.FORCE_TOLERANCE * largest(motion.work.force, 3 * motion.problem.contacts)
    for i in range(c.first, e.n):
        k = c.guard_contacts[i - c.first]
        mode, row = motion.contacts.mode[k], c.guard_rows[i - c.first]
        e.beyond[i] = float("inf")
        if row == NORMAL:
            e.beyond[i] = c.transitions.same / 2.0 if mode == OPEN else rounding
        elif row == TANGENTS and mode == STICKING:
            e.beyond[i] = rounding
        elif row == TANGENTS and mode == SLIPPING and motion.problem.tangents[k] == 1:
            e.beyond[i] = tolerances.CONSTRAINT_TOLERANCE / 2.0
        if mode != OPEN and row != BOUND:
            e.beyond[i] = max(e.beyond[i], max(2.0 * e.errors[i], -2.0 * e.values[i]))
