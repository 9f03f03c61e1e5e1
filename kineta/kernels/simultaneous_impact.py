"""Impacts beside closed contacts, between two steps, and the choice of the transition of a step.

The impulse is that of an isolated impact: it is exact if no other contact approaches afterwards, for then no other contact has an
impulse. Closed contacts without normal velocity stay closed; opening contacts must separate fast enough to be detected. The
candidate mode after the impact is tried; an ambiguous outcome is left to Python.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import APPROACH, CLOSED, FLAGS, LAW, LEAVING, SLIPS, STUCK, RunData
from kineta.kernels.impact import (
    SEEN,
    bounce,
    evaluate_impacts,
    gap_error,
    give_speeds,
    impact_number,
    is_gap,
    is_loss,
)
from kineta.kernels.language import copysign, fabs, kernel
from kineta.kernels.stick_slip import turn
from kineta.kernels.transition import (
    AWAY,
    SOON,
    go_on,
    is_isolated,
    is_normal,
    least_guard,
    look_ahead,
    set_mode,
    try_mode,
)
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals


@kernel
def decide(run: RunData, h: float, end: float, before: int) -> None:
    """Carry out the transition of the first event zero in a step to *end*, if the loop may; *before* is the number of zeros
    found before the step.
    """
    c, e = run.contacts, run.events
    c.before, c.row = before, before
    for k in range(before, e.found):
        if e.times[k] < e.times[c.row]:
            c.row = k
    t, state, event = e.times[c.row], e.states[c.row * run.n :], e.which[c.row]
    if c.flying and c.numbers != 0:
        gaps = t < end
        for k in range(before, e.found):
            gaps = gaps and is_gap(run, e.which[k])
        if gaps:
            bounce(run, t, h, state, event)
    if c.turning and c.turns[event] >= 0:
        isolated = is_isolated(run, end)
        if isolated:
            turn(run, t, h, state, event)
    if c.turning and c.numbers != 0 and c.strikes[event] != 0:
        flags = c.given[c.normals[event] :]
        if not flags[CLOSED] > 0.0:
            single = is_isolated(run, end)
            if single:
                strike(run, t, h, state, event, flags)


@kernel
def strike(run: RunData, t: float, h: float, state: Reals, event: int, flags: Reals) -> None:
    """Apply the impact of an *event* at the time t in a *state*, if the mode after it is unambiguous."""
    c = run.contacts
    touch = c.touches[event]
    evaluate_impacts(run, t, c.base)
    approach, leaving = impact_number(run, touch, APPROACH), impact_number(run, touch, LEAVING)
    copy(c.base, c.after, run.n)
    give_speeds(run, touch, c.after)
    size = largest(c.after, run.n)
    none, some = tolerances.ROUNDING_TOLERANCE * size, tolerances.STATE_TOLERANCE * size
    separates, rests = leaving > some, fabs(leaving) <= none
    if impact_number(run, touch, LAW) > 0.0 and approach < -some and (separates or rests):
        copy(c.given, c.kept, c.n_given)
        open_contacts(run, t, none, some)
        c.leaving[event] = leaving if separates else 0.0
        flags[CLOSED] = 1.0 if rests else 0.0
        if not c.fails:
            try_outcome(run, t, event, flags, rests, some)
            check_outcome(run, t)
            lost = rests or is_loss(t, approach, leaving, c.falls[event])
            if lost and not c.fails:
                c.fastest = max(c.fastest, -approach)
                go_on(run, t, h, state, event, 1, approach)
                run.size = min(run.size, c.flight)
        if not c.changed:
            copy(c.kept, c.given, c.n_given)


@kernel
def normal_velocity(run: RunData, event: int) -> float:
    """The normal velocity of the contact of an *event*, in the state of the last evaluated impact."""
    return impact_number(run, run.contacts.touches[event], APPROACH)


@kernel
def open_contacts(run: RunData, t: float, none: float, some: float) -> None:
    """Open closed contacts that separate after the impact; fail for closed contacts that approach or hardly separate."""
    c = run.contacts
    c.fails = False
    evaluate_impacts(run, t, c.after)
    for i in range(c.first, run.events.n):
        if is_normal(run, i):
            flags, speed = c.given[c.normals[i] :], normal_velocity(run, i)
            closed = flags[CLOSED] > 0.0
            leaves = closed and speed > some
            c.fails = c.fails or (closed and not (leaves or fabs(speed) <= none))
            c.leaving[i] = speed if leaves else 0.0
            if leaves:
                for k in range(FLAGS):
                    flags[k] = 0.0


@kernel
def try_outcome(run: RunData, t: float, event: int, flags: Reals, rests: bool, some: float) -> None:
    """Try as the second mode: the struck contact is closed, and sticks without slip, else slips in its direction of slip."""
    c = run.contacts
    partner = c.partners[event]
    if rests and partner >= 0:
        set_mode(flags, SLIPS, 1.0)
        try_mode(run, 0, t, c.after, 0.0)
        slip = c.now[partner]
        if fabs(slip) > some:
            set_mode(flags, SLIPS, copysign(1.0, slip))
        else:
            set_mode(flags, STUCK, 0.0)
    consistent = try_mode(run, 1, t, c.after, 0.0)
    c.fails = c.fails or not consistent


@kernel
def check_outcome(run: RunData, t: float) -> None:
    """Fail if a guard of the second mode is violated, or a separation is too slow to be detected."""
    c, e = run.contacts, run.events
    now, noise, soon = c.now[e.n :], c.noise[e.n :], c.soon[e.n :]
    later = SOON * c.until
    look_ahead(run, t, 1)
    evaluate_impacts(run, t + later, c.beside)
    c.flight = float("inf")
    copy(now, e.tried, e.n)
    for i in range(c.first, e.n):
        if is_normal(run, i):
            speed = c.leaving[i]
            fall = (normal_velocity(run, i) - speed) / later
            c.falls[i] = fall
            if speed > 0.0:
                c.fails = c.fails or not speed * speed > (-2.0 * SEEN) * fall * gap_error(run, c.after, i)
                if fall < 0.0:
                    c.flight = min(c.flight, speed / -fall)
        away = AWAY * noise[i]
        leaves = is_normal(run, i) and c.leaving[i] > 0.0
        least = -c.same if leaves else max(least_guard(run, i), away)
        c.fails = c.fails or not now[i] > least or not soon[i] > (away if leaves else 0.0)
