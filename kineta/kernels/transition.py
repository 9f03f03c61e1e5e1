"""Transitions of contacts between two steps, at the zeros of their guards."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import BOUND, NORMAL, TANGENTS
from kineta.integration.loop_abi import RunData
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.contact.motion import read_mode
from kineta.kernels.contact.transition import CHANGED
from kineta.kernels.event_start import ROUNDING, look_at_start
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import record
from kineta.kernels.stage_evaluation import lowest_pivot
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals


@kernel
def decide(run: RunData, h: float, before: int) -> None:
    """Carry out the transition of the first guard that falls to zero in a step, where nothing but guards has a zero in it;
    *before* is the number of zeros found before the step.
    """
    c, e = run.contacts, run.events
    row, alone = before, c.transitions.made < c.transitions.room and c.made < c.rows
    for k in range(before, e.found):
        alone = alone and e.which[k] >= c.first
        if alone:
            alone = c.guard_rows[e.which[k] - c.first] != BOUND
        if e.times[k] < e.times[row]:
            row = k
    if alone:
        t, state = e.times[row], e.states[row * run.n :]
        mark_fired(run, t, before)
        change_mode(run, t, h, state)


@kernel
def mark_fired(run: RunData, t: float, before: int) -> None:
    """Mark the contacts whose normal force vanishes at the time t."""
    c, e = run.contacts, run.events
    moment = ROUNDING * max(c.transitions.until, fabs(t))
    for k in range(c.motion.problem.contacts):
        c.transitions.loose[k] = 0
        c.transitions.exhausted[k] = 0
    for k in range(before, e.found):
        if e.times[k] <= t + moment:
            guard = e.which[k] - c.first
            if c.guard_rows[guard] == NORMAL and c.motion.contacts.mode[c.guard_contacts[guard]] != 0:
                c.transitions.loose[c.guard_contacts[guard]] = 1
            if c.guard_rows[guard] == TANGENTS and c.motion.contacts.mode[c.guard_contacts[guard]] == STICKING:
                c.transitions.exhausted[c.guard_contacts[guard]] = 1


@kernel
def energy(run: RunData, t: float, state: Reals) -> float:
    """The energy of a *state*."""
    c = run.contacts
    run.time[0] = t
    c.observed(run.time, state, run.block, c.energies)
    return c.energies[0] + c.energies[1]


@kernel
def change_mode(run: RunData, t: float, h: float, state: Reals) -> None:
    """The transition at the time t in a *state*, recorded with both states; nothing where there is none. The energy that it
    loses is work done.
    """
    c, e, after = run.contacts, run.events, run.between
    c.transitions.row = run.accepted + 1
    before = energy(run, t, state)
    copy(state, after, run.n)
    run.time[0] = t
    c.transit(c.motion, c.transitions, run.time, after)
    if c.transitions.status == CHANGED:
        behind = energy(run, t, after)
        after[c.work] = after[c.work] + (behind - before)
        record(run, t, h, state)
        c.changed_rows[c.made] = run.accepted
        copy(c.motion.flags, c.flags[c.made * c.n_flags :], c.n_flags)
        c.made += 1
        record(run, t, 0.0, after)
        copy(after, run.y, run.n)
        run.t = t
        run.time[0] = t
        run.rate(run.time, after, run.block, run.k)
        run.evaluations += 1
        run.size = min(run.size, c.transitions.flight)
        for i in range(c.first, e.n):
            e.left[i] = 1
        e.found = c.before
        e.ended = False
        c.changed = True
        run.constraints.low = lowest_pivot(run, run.k)
        run.constraints.hops = 0
        look_at_start(run, t)
        set_hysteresis(run)


@kernel
def set_hysteresis(run: RunData) -> None:
    """The depth below zero at which a guard that starts at zero counts: half the contact tolerance for gaps of open contacts,
    half the rest speed for slip along lines, rounding for forces that are exhausted.
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
            e.beyond[i] = max(e.beyond[i], 2.0 * e.errors[i])
