"""A case of an ensemble over an accepted step: the end at a terminal event, and states at given times."""

from __future__ import annotations

from kineta.integration.loop_abi import RunData
from kineta.kernels.language import kernel
from kineta.kernels.runge_kutta import state_at
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.vectors import copy
from kineta.memory import Reals


@kernel
def is_due(run: RunData) -> bool:
    """Whether a time to record lies within the step that ends at the time of the run."""
    c, every = run.sampling, run.sampling.ensemble
    return c.recorded < every.times and (every.grid[c.recorded] - run.t) * every.direction <= 0.0


@kernel
def sample(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, before: int) -> None:
    """Record the step from t on, with its event zeros from number *before* on."""
    c, every, n = run.sampling, run.sampling.ensemble, run.n
    if run.events.n != 0:
        if run.events.ended:
            end_at_event(run, before)
        for j in range(before, run.events.found):
            c.cases[j] = c.number
    samples = every.samples[c.number * every.times * n :]
    while is_due(run):
        time = every.grid[c.recorded]
        if time == run.t:  # the state itself: the interpolant has rounding errors
            copy(run.new, run.between, n)
        else:
            state_at(method, run, dense, (time - t) / h, run.between)
        copy(run.between, samples[c.recorded * n :], n)
        c.recorded += 1
    run.sizes[0] = h
    run.accepted += 1


@kernel
def is_last_wanted(run: RunData, j: int) -> bool:
    """Whether zero j is the last wanted one of its event."""
    e = run.events
    left = e.left[e.which[j]]
    for later in range(j + 1, e.found):
        if e.which[later] == e.which[j]:
            left += 1
    return left == 0


@kernel
def end_at_event(run: RunData, before: int) -> None:
    """Move the end of the step to the first last wanted zero among those from number *before* on, and drop zeros behind it."""
    e, direction, n = run.events, run.sampling.ensemble.direction, run.n
    last = -1
    for j in range(before, e.found):
        if is_last_wanted(run, j) and (last < 0 or (e.times[j] - e.times[last]) * direction < 0.0):
            last = j
    run.t = e.times[last]
    run.sampling.ended = e.which[last]
    copy(e.states[last * n :], run.new, n)
    kept = before
    for j in range(before, e.found):
        behind = (e.times[j] - run.t) * direction
        if behind < 0.0 or (behind == 0.0 and j <= last):
            e.which[kept] = e.which[j]
            e.times[kept] = e.times[j]
            copy(e.states[j * n :], e.states[kept * n :], n)
            kept += 1
    e.found = kept
