"""Events at the start of a run or of a mode: those at zero within their evaluation error have no zero there."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import DIRECTIONS, RunData
from kineta.kernels.language import fabs, kernel
from kineta.memory import Reals

#: Relative rounding error of times and states.
ROUNDING = 64 * tolerances.EPS


@kernel
def evaluate_events(run: RunData, t: float, y: Reals, out: Reals) -> None:
    """The event functions at the time t in the state y."""
    run.time[0] = t
    run.events.function(run.time, y, run.block, out)


@kernel
def enlarge_errors(run: RunData, t: float) -> None:
    """Enlarge the evaluation errors by the event values in the perturbed state ``between`` at the time t."""
    e = run.events
    evaluate_events(run, t, run.between, e.tried)
    for i in range(e.n):
        differs = fabs(e.tried[i] - e.values[i])
        if differs > e.errors[i] or differs != differs:
            e.errors[i] = differs


@kernel
def begin_at(run: RunData, i: int, error: float) -> None:
    """Mark event i as starting at a zero, if its value is within the evaluation *error*."""
    run.events.noise[i] = error if fabs(run.events.values[i]) <= error else -1.0


@kernel
def look_at_start(run: RunData, t: float) -> None:
    """Evaluate all events at the start of a run, at the time t, and find those at zero within their evaluation error."""
    e, n, y, between = run.events, run.n, run.y, run.between
    evaluate_events(run, t, y, e.values)
    for i in range(e.n):
        e.errors[i] = 0.0
    moment = tolerances.EVENT_TOLERANCE * max(fabs(t), fabs(run.t_end))
    for i in range(n):
        between[i] = y[i] + moment * run.k[i]
    enlarge_errors(run, t + moment)
    for direction in range(DIRECTIONS):
        for i in range(n):
            between[i] = (1.0 + ROUNDING * e.signs[direction * n + i]) * y[i]
        enlarge_errors(run, t)
    for i in range(e.n):
        begin_at(run, i, e.errors[i])
