"""Ensembles of cases: by native methods in SIMD lanes and threads, by other methods sequentially."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.integration import ensemble_abi
from kineta.integration.native_ensemble import Ensemble, EnsembleRun, cores
from kineta.integration.problem import evaluation_errors, perturbed_starts
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW, EventZeros
from kineta.kernels.ensemble import ensemble_loop
from kineta.numerics.tableaux import TABLEAUX
from kineta.results import outcomes
from kineta.results.outcomes import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import normalise
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate, singular_mass_matrix_text, start_refusal
from kineta.simulation.solution import Solution, has_discrete_changes, unmoved

#: Status of a run by the status of a lane, and reasons of failure.
_STATUS = {
    ensemble_abi.WAITING: INTERRUPTED,
    ensemble_abi.RUNNING: INTERRUPTED,
    ensemble_abi.DONE: DONE,
    ensemble_abi.EVENT: EVENT,
    ensemble_abi.STEP_TOO_SMALL: FAILED,
    ensemble_abi.NOT_FINITE: FAILED,
    ensemble_abi.OUT_OF_STEPS: OUT_OF_STEPS,
    ensemble_abi.GIVEN_UP: INTERRUPTED,
}
_FAILURE = {ensemble_abi.STEP_TOO_SMALL: STEP_UNDERFLOW, ensemble_abi.NOT_FINITE: NOT_FINITE}


def integrate_cases(task: SimulationProblem, bar: Progress) -> Solution:
    """The solution of all cases of *task*. Raises :class:`SimulationError` where none can start."""
    found = unmoved(task)
    native = task.method in TABLEAUX and not has_discrete_changes(task) and not task.system.constraints
    _sequentially(task, _in_lanes(task, found, bar) if native else range(len(task.y0)), found, bar)
    return found


def _in_lanes(task: SimulationProblem, found: Solution, bar: Progress) -> list[int]:
    """Integrate one case in every SIMD lane, on all cores; returns the cases given up, to be looked at step by step."""
    code, h, y0, cases = task.made.code, task.made.h, task.y0, len(task.y0)
    assert task.grid is not None

    def rates(t: FloatArray, y: FloatArray) -> FloatArray:
        return code.ensemble_rate.batch(t[:, None], y, h)

    rate0 = rates(np.full(cases, task.t0), y0)
    doubtful = np.flatnonzero(~np.isfinite(rate0).all(axis=1)).tolist()
    unable = {i: why for i in doubtful if (why := start_refusal(task.case(i), rate0[i]))}
    if len(unable) == cases:
        raise SimulationError(unable[0])
    rate0[list(unable)] = np.nan

    def values(t: FloatArray, y: FloatArray) -> FloatArray:
        return np.empty((cases, 0)) if code.events is None else code.events.batch(t[:, None], y, h)

    terminal = [int(e.terminal) for e in task.watched]
    problem = Ensemble(
        rhs=code.ensemble_rate.lanes_address,
        lanes=code.ensemble_rate.lanes,
        rates=rates,
        h=np.atleast_2d(h),
        t0=task.t0,
        t1=task.t1,
        y0=y0,
        rates0=rate0,
        quaternions=task.quaternions,
        integrals=code.layout.integrals,
        events=code.event_address,
        values0=values(np.full(cases, task.t0), y0),
        left=np.tile(np.array(terminal, dtype=np.int64), (cases, 1)),
        noise=evaluation_errors(
            np.array(
                [
                    values(np.full(cases, t), y)
                    for t, y in zip(*perturbed_starts(task.t0, task.t1, y0, rate0), strict=True)
                ]
            )
        ),
        directions=[e.direction for e in task.watched],
    )
    tableau = TABLEAUX[task.method]
    runs = EnsembleRun(tableau, ensemble_loop(tableau, problem.lanes), problem, task.grid, **vars(task.control))
    with suppress(KeyboardInterrupt):
        runs.run(min(cores(), -(-cases // problem.lanes)), lambda ended: bar.ended(ended, cases))
    codes = runs.counts[:, ensemble_abi.STATUS]
    found.t[:, -1], found.y[:, -1], found.y[:, :-1] = runs.t, runs.y, runs.samples
    found.nfev[:], found.zeros = runs.evaluations, runs.zeros
    found.recorded[:], found.steps[:], found.rejected[:] = runs.counts[
        :, [ensemble_abi.RECORDED, ensemble_abi.ACCEPTED, ensemble_abi.REJECTED]
    ].T
    found.status[:] = [_STATUS[own] for own in codes.tolist()]
    found.messages[:] = [unable.get(i) or _message(task, runs, found, i) for i in range(cases)]
    for states in (found.zeros.y, found.y.reshape(found.t.size, found.y.shape[-1])):
        normalise(states, task.quaternions)  # once, as in a run of one case
    # Those in which an event is not defined everywhere are looked at step by step.
    given_up = np.flatnonzero(codes == ensemble_abi.GIVEN_UP).tolist()
    unfinished = bool(np.isin(codes, (ensemble_abi.WAITING, ensemble_abi.RUNNING)).any())
    return [] if unfinished else given_up


def _message(task: SimulationProblem, runs: EnsembleRun, found: Solution, i: int) -> str:
    """Message on the end of case *i*."""
    t, code = float(runs.t[i]), int(runs.counts[i, ensemble_abi.STATUS])
    match _STATUS[code]:
        case outcomes.DONE:
            return outcomes.done(t)
        case outcomes.EVENT:
            return outcomes.stopped(t, task.watched[runs.counts[i, ensemble_abi.ENDED]].name)
        case outcomes.OUT_OF_STEPS:
            edge = found.edge(task, i, last=True)
            return outcomes.out_of_steps(t, int(found.steps[i]), float(runs.size[i]), edge)
        case outcomes.FAILED:
            edge = found.edge(task, i, last=True) or singular_mass_matrix_text(task.case(i), t, runs.y[i])
            return outcomes.failed(t, _FAILURE[code], edge)
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
