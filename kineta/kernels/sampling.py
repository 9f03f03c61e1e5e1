"""A case of an ensemble over an accepted step: the end at a terminal event, and states at given times."""

from __future__ import annotations

from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import state_at
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.vectors import copy, normalise
from kineta.memory import Integers, Reals


@kernel
def is_due(run: RunData) -> bool:
    """Whether a time to record lies within the step that ends at the time of the run."""
    c, every = run.sampling, run.sampling.ensemble
    return c.recorded < every.times and (every.grid[c.recorded] - run.t) * every.direction <= 0.0


@kernel
def sample(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, before: int) -> None:
    """Record the step from t on, up to the end of the case, with its event zeros from number *before* on."""
    if run.events.n != 0 and run.events.ended:
        end_at_event(run, before)
    note_step(method, run, dense, t, h, before)


@kernel
def note_step(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, before: int) -> None:
    """Record the step from t to the time and the new state of the run, with its event zeros from number *before* on."""
    c, e, every, n = run.sampling, run.events, run.sampling.ensemble, run.n
    if e.n != 0:
        for j in range(before, e.found):
            c.cases[j] = c.number
            if method.touching or method.switching:
                settle(method, run, e.times[j], e.states[j * n :])
    while is_due(run):
        time = every.grid[c.recorded]
        if time == run.t:  # the state itself: the interpolant has rounding errors
            copy(run.new, run.between, n)
        else:
            state_at(method, run, dense, (time - t) / h, run.between)
        copy(run.between, every.samples[(c.number * every.times + c.recorded) * n :], n)
        if method.touching or method.switching:
            observe(method, run, time, every.samples[(c.number * every.times + c.recorded) * n :], c.recorded)
        c.recorded += 1
    run.sizes[0] = h
    run.accepted += 1


@kernel
def settle(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Bring the state y at the time t onto the constraints of the present mode, as far as it is defined."""
    project(method, run, run.sampling.ensemble.quaternions, run.quaternions, t, y)


@kernel
def project(method: LoopMethod, run: RunData, count: int, quaternions: Integers, t: float, y: Reals) -> None:
    """Project the state y at the time t onto the norms of so many *quaternions* and onto constraints, as far as it is defined."""
    c = run.constraints
    for j in range(count):
        normalise(y[quaternions[j] :])
    run.time[0] = t
    if method.projecting:
        for step in range(3):
            if step < 2:
                c.position(run.time, y, run.block, c.after)
            else:
                c.velocity(run.time, y, run.block, c.after)
            for i in range(run.n):
                if fabs(c.after[i]) < float("inf"):
                    y[i] = c.after[i]


@kernel
def observe(method: LoopMethod, run: RunData, t: float, y: Reals, place: int) -> None:
    """Settle the state y at the time t, and observe it as number *place* of the case."""
    c, every = run.sampling, run.sampling.ensemble
    settle(method, run, t, y)
    run.contacts.observed(
        run.time, y, run.block, every.observed[(c.number * (every.times + 1) + place) * every.n_observed :]
    )


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
