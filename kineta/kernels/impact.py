"""Isolated impacts in closed form, between two steps.

At the zero of a gap the closed-form impulses are evaluated, the states before and after the impact recorded, and the run goes on.
An impact without separation, a separation too slow to be detected, or an impact without closed form is left to Python.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import APPROACH, BOUNCE_NUMBERS, FALL, IMPULSE_WORK, LAW, LEAVING, RunData
from kineta.kernels.event_start import ROUNDING, begin_at, evaluate_events
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import record
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Smallest rise of a gap in units of its evaluation error, before it falls again.
SEEN = 30.0
#: Rounding error of times: its effect on the speed must be below the loss of an impact.
LATE = 8 * tolerances.EPS


@kernel
def is_gap(run: RunData, event: int) -> bool:
    """Whether an event is the gap of a contact with a closed-form impact."""
    return run.contacts.touches[event] >= 0


@kernel
def evaluate_impacts(run: RunData, t: float, state: Reals) -> None:
    """Evaluate the closed-form impacts of all contacts at the time t in a *state*."""
    c = run.contacts
    run.time[0] = t
    c.bounce(run.time, state, c.bounce_h, c.bounces)


@kernel
def impact_number(run: RunData, touch: int, number: int) -> float:
    """A number of the last evaluated impact of a contact."""
    return run.contacts.bounces[touch * run.contacts.numbers + number]


@kernel
def give_speeds(run: RunData, touch: int, state: Reals) -> None:
    """Set the speeds of *state* to those after the last evaluated impact of a contact."""
    c = run.contacts
    for k in range(c.numbers - BOUNCE_NUMBERS):
        state[c.speeds + k] = impact_number(run, touch, BOUNCE_NUMBERS + k)


@kernel
def gap_error(run: RunData, state: Reals, event: int) -> float:
    """The gap of an *event* after an impact, including its evaluation error."""
    error = 2.0 * fabs(run.events.tried[event])
    for i in range(run.contacts.speeds):
        error = max(error, ROUNDING * fabs(state[i]))
    return error


@kernel
def is_loss(t: float, approach: float, leaving: float, fall: float) -> bool:
    """Whether an impact is lossless, or loses more energy than the rounding of its time gains."""
    taken, given = -(approach + leaving), LATE * fabs(t * fall)
    return taken <= ROUNDING * leaving or taken > given


@kernel
def is_alone(run: RunData, event: int) -> bool:
    """Whether the gaps of all other contacts are open."""
    e = run.events
    for i in range(e.n):
        if is_gap(run, i) and i != event and not e.tried[i] > run.contacts.same:
            return False
    return True


@kernel
def restart(run: RunData, t: float, h: float, struck: Reals, after: Reals, event: int, approach: float) -> None:
    """Record both states and continue from the state *after* the transition of an *event*, with the speed *approach* of an
    impact.
    """
    c, e = run.contacts, run.events
    record(run, t, h, struck)
    c.changing[c.made] = event
    c.changed_rows[c.made] = run.accepted
    c.approaches[c.made] = approach
    copy(c.given[c.flagged :], c.flags[c.made * c.n_flags :], c.n_flags)
    c.made += 1
    record(run, t, 0.0, after)
    copy(after, run.y, run.n)
    run.t = t
    run.time[0] = t
    run.rate(run.time, after, run.block, run.k)
    run.evaluations += 1
    for i in range(c.first, e.n):
        e.left[i] = 1
    if approach != 0.0:  # an opening gap then rises above its evaluation error
        for i in range(e.n):
            e.beyond[i] = float("inf")
    e.found = c.before
    e.ended = False
    c.changed = True


@kernel
def bounce(run: RunData, t: float, h: float, struck: Reals, event: int) -> None:
    """Apply the closed-form impact of the gap of an *event* at the time t in the state *struck*, if it exists and separates."""
    c, e, after = run.contacts, run.events, run.between
    touch = c.touches[event]
    run.time[0] = t
    run.constraints.position(run.time, struck, run.block, after)
    evaluate_impacts(run, t, after)
    approach, leaving = impact_number(run, touch, APPROACH), impact_number(run, touch, LEAVING)
    fastest = max(c.fastest, -approach)
    if impact_number(run, touch, LAW) > 0.0 and leaving > 10 * tolerances.ROUNDING_TOLERANCE * fastest:
        give_speeds(run, touch, after)
        after[c.work] += impact_number(run, touch, IMPULSE_WORK)
        evaluate_impacts(run, t, after)
        fall = impact_number(run, touch, FALL)
        evaluate_events(run, t, after, e.tried)
        error = gap_error(run, after, event)
        seen = leaving * leaving > (-2.0 * SEEN) * (fall * error)
        if seen and is_loss(t, approach, leaving, fall) and is_alone(run, event):
            c.fastest = fastest
            copy(e.tried, e.values, e.n)
            for i in range(e.n):
                begin_at(run, i, error)
            restart(run, t, h, struck, after, event, approach)
            if fall < 0.0:  # half of the time of flight
                run.size = min(run.size, leaving / -fall)
