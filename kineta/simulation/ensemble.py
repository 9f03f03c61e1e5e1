"""Ensembles of cases: by native methods in SIMD lanes and threads, by other methods and with switches sequentially."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, SimulationError
from kineta.integration import loop_abi
from kineta.integration.native import FAILURES
from kineta.integration.native_ensemble import Ensemble, EnsembleRun, cores
from kineta.integration.problem import Problem, evaluation_errors, perturbed_starts
from kineta.integration.segment import EventZeros
from kineta.kernels.ensemble import ensemble_loop
from kineta.numerics.tableaux import TABLEAUX
from kineta.results import outcomes
from kineta.results.outcomes import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.events import event_record
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection, manifold, regular_pivots
from kineta.simulation.hybrid_ensemble import CaseSequence, may_run_natively, run_natively
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate, obstacle, start_refusal
from kineta.simulation.solution import Solution, has_discrete_changes, unmoved
from kineta.simulation.stepping_ensemble import may_step_natively, step_natively

#: Status of a run by the status of a case.
_STATUS = {
    loop_abi.PAUSED: INTERRUPTED,
    loop_abi.DONE: DONE,
    loop_abi.EVENT: EVENT,
    loop_abi.STEP_TOO_SMALL: FAILED,
    loop_abi.NOT_FINITE: FAILED,
    loop_abi.OUT_OF_STEPS: OUT_OF_STEPS,
    loop_abi.GIVEN_UP: INTERRUPTED,
}


def integrate_cases(task: SimulationProblem, bar: Progress) -> Solution:
    """The solution of all cases of *task*. Raises :class:`SimulationError` where none can start."""
    if task.backend == "cuda" and (why := _unfit(task)):
        raise ArgumentError(
            f"Model '{task.system.name}': a graphics processor carries free motions by dop853 or dopri5, found {why}. "
            "Leave out backend='cuda'."
        )
    found = unmoved(task)
    left: Sequence[int] = range(len(task.y0))
    if task.method in TABLEAUX and not has_discrete_changes(task):
        left = _in_lanes(task, found, bar)
    elif may_run_natively(task):
        left = run_natively(task, found, bar)
    elif may_step_natively(task):
        left = step_natively(task, found, bar)
    if task.made.code.layout.slides and len(left) < len(task.y0):
        told = cache(partial(_changes_alone, task, found.t[:, -1].copy()))
        found.changes = CaseSequence(len(task.y0), told)
    _sequentially(task, left, found, bar)
    return found


def _changes_alone(task: SimulationProblem, ends: FloatArray, i: int) -> tuple[tuple[float, str], ...]:
    """Changes of case *i* up to its end, one of *ends* (cases,), where motions may slide: a motion alone, of the same bits, tells
    where. Cases keep their states at given times alone.
    """
    way = 1.0 if task.t1 >= task.t0 else -1.0
    try:
        (found,) = integrate(task.case(i), Progress(task.t0, task.t1, shown=False)).changes
    except SimulationError:  # one that cannot start
        return ()
    return tuple(one for one in found if way * one[0] <= way * ends[i])


def _in_lanes(task: SimulationProblem, found: Solution, bar: Progress) -> list[int]:
    """Integrate one case in every SIMD lane, on all cores; returns the cases given up, to be looked at step by step."""
    code, h, grid, cases = task.made.code, task.made.h, task.grid, len(task.y0)
    assert grid is not None

    def rates(t: FloatArray, y: FloatArray) -> FloatArray:
        return code.ensemble_rate.batch(t[:, None], y, h)

    start = np.full(cases, task.t0)
    rate0 = rates(start, task.y0)
    doubtful = range(cases) if task.system.constraints else np.flatnonzero(~np.isfinite(rate0).all(axis=1)).tolist()
    unable = {i: why for i in doubtful if (why := start_refusal(task.case(i), rate0[i]))}
    if len(unable) == cases:
        raise SimulationError(unable[0])
    projection = Projection(task.quaternions, task.made)
    if code.treatment == PROJECTED:
        task = replace(task, y0=task.y0.copy())
        projection(start, task.y0)
        rate0 = rates(start, task.y0)
    rate0[list(unable)] = np.nan
    problem = _problem(task, rate0)
    runs = _run(task, problem, grid)
    with suppress(KeyboardInterrupt):
        runs.run(min(cores(), -(-cases // problem.lanes)), lambda ended: bar.ended(ended, cases))
    found.t[:, -1], found.y[:, -1], found.y[:, :-1] = runs.t, runs.y, runs.samples
    found.nfev[:], found.zeros = runs.evaluations, runs.zeros
    found.recorded[:], found.steps[:], found.rejected[:] = runs.recorded, runs.accepted, runs.rejected
    found.status[:] = [_STATUS[own] for own in runs.status.tolist()]
    for k in range(found.t.shape[1]):  # once, as in a run of one case
        projection(found.t[:, k], found.y[:, k])
    zeros = found.zeros
    projection(zeros.t, zeros.y, task.made if h.ndim == 1 else replace(task.made, h=h[zeros.case]))
    found.messages[:] = [unable.get(i) or _message(task, runs, found, i) for i in range(cases)]
    # Those in which an event is not defined everywhere are looked at step by step.
    given_up = np.flatnonzero(runs.status == loop_abi.GIVEN_UP).tolist()
    return [] if (runs.status == loop_abi.PAUSED).any() else given_up


def _unfit(task: SimulationProblem) -> str:
    """What a motion of *task* has that a graphics processor does not carry; ``''`` for nothing."""
    if task.method not in TABLEAUX:
        return f"the method {task.method}"
    if has_discrete_changes(task):
        return "contacts, switches or sampled forces"
    if any(task.made.code.layout.switching):
        return "forces or rates of states with kinks or steps"
    return "constraints" if task.system.constraints else "events" if task.watched else ""


def _run(task: SimulationProblem, problem: Ensemble, grid: FloatArray) -> EnsembleRun:
    """The run of all cases: on a graphics processor, or in SIMD lanes."""
    tableau, control = TABLEAUX[task.method], vars(task.control)
    if task.backend == "cuda":
        from kineta.codegen.cuda.driver import device
        from kineta.kernels.device_ensemble import DeviceEnsembleRun

        return DeviceEnsembleRun(tableau, task.made.code.ensemble_rate.program, device(), problem, grid, **control)
    own = problem.problem
    kinds = {"projecting": own.manifold is not None, "kinked": own.kinks is not None, "sliding": own.slides is not None}
    loop = ensemble_loop(tableau, problem.lanes, **kinds)
    return EnsembleRun(tableau, loop, problem, grid, **control)


def _problem(task: SimulationProblem, rate0: FloatArray) -> Ensemble:
    """The initial value problems of all cases of *task*, with the rates *rate0* at the start."""
    code, h, y0, cases = task.made.code, task.made.h, task.y0, len(task.y0)

    def values(t: float, y: FloatArray) -> FloatArray:
        return np.empty((cases, 0)) if code.events is None else code.events.batch(np.full((cases, 1), t), y, h)

    perturbed = zip(*perturbed_starts(task.t0, task.t1, y0, rate0), strict=True)
    first = task.case(0)
    own, largest = manifold(first, first.made, first.y0), np.empty((cases, 0))
    if own is not None:
        position, velocity = code.ensemble_projections
        own = replace(own, position=position.lanes_address, velocity=velocity.lanes_address)
        largest = np.tile(own.largest, (cases, 1))
        if h.ndim > 1:
            largest = np.array([regular_pivots(c, c.made, c.y0) for c in map(task.case, range(cases))])
    events = code.ensemble_events
    return Ensemble(
        problem=Problem(
            rhs=code.ensemble_rate.lanes_address,
            h=first.made.h,
            t0=task.t0,
            t1=task.t1,
            y0=first.y0,
            quaternions=task.quaternions,
            integrals=code.layout.integrals,
            events=event_record(task.watched, events.lanes_address if events else 0),
            manifold=own,
            kinks=code.ensemble_kinks,
            slides=code.ensemble_slides,
        ),
        lanes=code.ensemble_rate.lanes,
        h=np.atleast_2d(h),
        y0=y0,
        rates0=rate0,
        values0=values(task.t0, y0),
        noise=evaluation_errors(np.array([values(t, y) for t, y in perturbed])),
        largest=largest,
    )


def _message(task: SimulationProblem, runs: EnsembleRun, found: Solution, i: int) -> str:
    """Message on the end of case *i*."""
    t, code = float(runs.t[i]), int(runs.status[i])
    match _STATUS[code]:
        case outcomes.DONE:
            return outcomes.done(t)
        case outcomes.EVENT:
            return outcomes.stopped(t, task.watched[runs.ended[i]].name)
        case outcomes.OUT_OF_STEPS:
            edge = found.edge(task, i, last=True) or obstacle(task.case(i), t, runs.y[i])
            return outcomes.out_of_steps(t, int(found.steps[i]), float(runs.size[i]), edge)
        case outcomes.FAILED:
            edge = found.edge(task, i, last=True) or obstacle(task.case(i), t, runs.y[i])
            return outcomes.failed(t, FAILURES[code], edge)
    return outcomes.interrupted(t)


def _sequentially(task: SimulationProblem, which: Sequence[int], found: Solution, bar: Progress) -> None:
    """Integrate the cases *which*, one after the other."""
    cases, quiet = len(task.y0), Progress(task.t0, task.t1, shown=False)
    zeros, refused = dict[int, EventZeros](), list[SimulationError]()
    with suppress(KeyboardInterrupt):
        for done, i in enumerate(which, 1):
            try:
                one = integrate(own := task.case(i), quiet)
            except SimulationError as error:
                found.status[i], found.messages[i] = FAILED, str(error)
                refused.append(error)
                continue
            found.put(i, own, one)
            zeros[i] = one.zeros
            bar.ended(cases - len(which) + done, cases)
            if one.status[0] == INTERRUPTED:
                break
    if len(refused) == cases:
        raise refused[0]
    found.zeros = found.zeros.replaced(zeros)
