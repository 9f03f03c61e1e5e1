"""Ensembles of cases: by native methods in SIMD lanes and threads, by other methods sequentially."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from kineta.arrays import FloatArray, IntArray, Mask
from kineta.errors import SimulationError, warn
from kineta.hybrid.automaton import has_modes
from kineta.integration import ensemble_abi
from kineta.integration.native_ensemble import Ensemble, EnsembleRun, EventZeros, cores
from kineta.integration.problem import evaluation_errors, perturbed_starts
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW
from kineta.kernels.ensemble import ensemble_loop
from kineta.numerics.tableaux import TABLEAUX
from kineta.results import outcomes as status
from kineta.results.cases import Cases
from kineta.results.impacts import Impact
from kineta.results.outcomes import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS, UNBALANCED
from kineta.results.result import Result
from kineta.runtime.domain_watch import DomainWatch
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import normalise
from kineta.simulation import postprocess
from kineta.simulation.energy_balance import Energies, within_tolerance
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate as move_one
from kineta.simulation.run import singular_mass_matrix_text, start_refusal


@dataclass(frozen=True, eq=False)
class IntegratedEnsemble:
    """Integrated cases: termination status (cases,); times (cases,) and states (cases, n) reached; states at the recorded times
    (cases, k, n), NaN beyond the end; counts (cases,); zeros of events; at the recorded times and the ends, sampled forces
    (cases, k + 1, nv), if any, and observed quantities (cases, k + 1, m) of motions with modes; and changes of mode, impacts
    and notes.
    """

    status: IntArray
    messages: list[str]
    t: FloatArray
    y: FloatArray
    samples: FloatArray
    recorded: IntArray
    nfev: IntArray
    steps: IntArray
    rejected: IntArray
    zeros: EventZeros
    changes: list[tuple[tuple[float, str], ...]]
    impacts: list[tuple[Impact, ...]]
    notes: list[tuple[str, ...]]
    held: FloatArray | None = None
    values: FloatArray | None = None


def integrate(task: SimulationProblem, bar: Progress) -> IntegratedEnsemble:
    """Integrate all cases of *task*. Raises :class:`SimulationError` where none can start."""
    native = task.method in TABLEAUX and not has_discrete_changes(task) and not task.system.constraints
    return _in_lanes(task, bar) if native else _sequentially(task, range(len(task.y0)), _initial_ensemble(task), bar)


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


def _in_lanes(task: SimulationProblem, bar: Progress) -> IntegratedEnsemble:
    """Integrate one case in every SIMD lane, on all cores."""
    code, h, y0, cases = task.made.code, task.made.h, task.y0, len(task.y0)
    assert task.grid is not None

    def rates(t: FloatArray, y: FloatArray) -> FloatArray:
        return code.ensemble_rate.batch(t[:, None], y, h)

    rate0 = rates(np.full(cases, task.t0), y0)
    doubtful = np.full(cases, bool(task.system.constraints)) | ~np.isfinite(rate0).all(axis=1)
    unable = {i: why for i in np.flatnonzero(doubtful).tolist() if (why := start_refusal(task.case(i), rate0[i]))}
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
    runs = EnsembleRun(
        tableau,
        ensemble_loop(tableau, problem.lanes),
        problem,
        task.grid,
        rtol=task.rtol,
        atol=task.atol,
        max_step=task.max_step,
        max_steps=task.max_steps,
    )
    with suppress(KeyboardInterrupt):
        runs.run(min(cores(), -(-cases // problem.lanes)), lambda ended: bar.ended(ended, cases))
    codes = runs.counts[:, ensemble_abi.STATUS]
    messages = [_message(task, runs, i) for i in range(cases)]
    for i, why in unable.items():
        messages[i] = why
    moved = IntegratedEnsemble(
        status=np.array([_STATUS[code] for code in codes.tolist()]),
        messages=messages,
        t=runs.t,
        y=runs.y,
        samples=runs.samples,
        recorded=runs.counts[:, ensemble_abi.RECORDED].copy(),
        nfev=runs.evaluations,
        steps=runs.counts[:, ensemble_abi.ACCEPTED].copy(),
        rejected=runs.counts[:, ensemble_abi.REJECTED].copy(),
        zeros=runs.zeros,
        changes=[()] * cases,
        impacts=[()] * cases,
        notes=[()] * cases,
    )
    rows = moved.samples.reshape(math.prod(moved.samples.shape[:-1]), moved.y.shape[1])
    for states in (moved.y, moved.zeros.y, rows):
        normalise(states, task.quaternions)  # once, as in a run of one case
    # Those in which an event is not defined everywhere are looked at step by step.
    given_up = np.flatnonzero(codes == ensemble_abi.GIVEN_UP).tolist()
    unfinished = bool(np.isin(codes, (ensemble_abi.WAITING, ensemble_abi.RUNNING)).any())
    return moved if unfinished else _sequentially(task, given_up, moved, bar)


def _message(task: SimulationProblem, runs: EnsembleRun, i: int) -> str:
    """Message on the end of case *i*."""
    t, code = float(runs.t[i]), int(runs.counts[i, ensemble_abi.STATUS])
    match _STATUS[code]:
        case status.DONE:
            return status.done(t)
        case status.EVENT:
            return status.stopped(t, task.watched[runs.counts[i, ensemble_abi.ENDED]].name)
        case status.OUT_OF_STEPS:
            edge = _edge(task, i, runs.samples[i], t, runs.y[i], last=True)
            return status.out_of_steps(t, int(runs.counts[i, ensemble_abi.ACCEPTED]), float(runs.size[i]), edge)
        case status.FAILED:
            edge = _edge(task, i, runs.samples[i], t, runs.y[i], last=True)
            return status.failed(t, _FAILURE[code], edge or singular_mass_matrix_text(task.case(i), t, runs.y[i]))
    return status.interrupted(t)


def _edge(task: SimulationProblem, i: int, samples: FloatArray, t: float, y: FloatArray, *, last: bool) -> str:
    """Sentence on the domain left by case *i*, at its end (t, y) or at the recorded times; ``''`` for none."""
    assert task.grid is not None
    domain = DomainWatch(task.equations, task.made.case(i))
    reached = np.isfinite(samples).all(axis=1)
    domain.process(np.append(task.grid[reached], t), np.vstack([samples[reached], y]))
    return domain.edge(last=last)


def _initial_ensemble(task: SimulationProblem) -> IntegratedEnsemble:
    """All cases at their initial states."""
    assert task.grid is not None
    (cases, n), counts = task.y0.shape, np.zeros((4, len(task.y0)), dtype=np.int64)
    recorded, nfev, steps, rejected = counts
    samples = np.full((cases, len(task.grid), n), np.nan)
    if task.grid[0] == task.t0:
        samples[:, 0], recorded[:] = task.y0, 1
    t, messages = np.full(cases, task.t0), [status.interrupted(task.t0)] * cases
    codes, zeros = np.full(cases, INTERRUPTED), EventZeros.listed([], n)
    places = cases, len(task.grid) + 1
    held = np.full((*places, task.system.nv), np.nan) if task.made.forces.sampled else None
    values = None
    if has_discrete_changes(task):
        start = postprocess.observe(task.made, np.full((cases, 1), task.t0), task.y0[:, None])
        values = np.full((*places, start.shape[-1]), np.nan)
        values[:, [0, -1]] = start
    return IntegratedEnsemble(
        status=codes,
        messages=messages,
        t=t,
        y=task.y0.copy(),
        samples=samples,
        recorded=recorded,
        nfev=nfev,
        steps=steps,
        rejected=rejected,
        zeros=zeros,
        changes=[()] * cases,
        impacts=[()] * cases,
        notes=[()] * cases,
        held=held,
        values=values,
    )


def has_discrete_changes(task: SimulationProblem) -> bool:
    """True where the code or its parameters change during a motion."""
    return bool(task.made.forces.sampled) or has_modes(task)


def _sequentially(
    task: SimulationProblem, which: Sequence[int], moved: IntegratedEnsemble, bar: Progress
) -> IntegratedEnsemble:
    """*moved* with the cases *which* integrated one after the other."""
    assert task.grid is not None
    n, cases = task.y0.shape[1], len(task.y0)
    found: list[tuple[int, int, float, FloatArray]] = []
    quiet = Progress(task.t0, task.t1, shown=False)
    refused: list[SimulationError] = []
    with suppress(KeyboardInterrupt):
        for done, i in enumerate(which, 1):
            try:
                motion = move_one(task.case(i), quiet)
            except SimulationError as error:
                moved.status[i], moved.messages[i] = FAILED, str(error)
                refused.append(error)
                continue
            record = motion.record
            moved.status[i], moved.messages[i] = motion.status, motion.message
            moved.t[i], moved.y[i] = record.end
            states = np.concatenate([np.empty((0, n)), *(rows[1] for rows in record.rows)])
            moved.samples[i] = np.nan
            moved.samples[i, : record.on_grid] = states[: record.on_grid]
            moved.recorded[i], moved.nfev[i] = record.on_grid, motion.run.evaluations
            moved.steps[i], moved.rejected[i] = record.steps, motion.run.rejected
            moved.changes[i], moved.impacts[i], moved.notes[i] = motion.changes, motion.impacts, motion.notes
            if moved.held is not None:
                moved.held[i] = motion.sampled_forces(np.append(task.grid, record.reached))
                moved.held[i, record.on_grid : -1] = np.nan
            if moved.values is not None:
                own, (t, y) = task.case(i), record.end
                moved.values[i] = np.nan
                moved.values[i, : record.on_grid] = postprocess.observe_record(own, record)[: record.on_grid]
                moved.values[i, -1:] = postprocess.observe(record.mode or own.made, np.array([t]), y[None])
            found += [(i, e, *zero) for e, zeros in enumerate(motion.watch.found) for zero in zeros]
            bar.ended(cases - len(which) + done, cases)
            if motion.status == INTERRUPTED:
                break
    if len(refused) == cases:
        raise refused[0]
    return replace(moved, zeros=moved.zeros.without(which).and_also(EventZeros.listed(found, n)))


# -- what is given back ----------------------------------------------------------------------------------------------

#: Words on the cases of each status, the best first.
_SUMMARY = {
    DONE: "reached t = {t:g} s",
    EVENT: "stopped by an event",
    UNBALANCED: "out of balance",
    OUT_OF_STEPS: "out of steps",
    FAILED: "failed",
    INTERRUPTED: "interrupted",
}


def result(task: SimulationProblem, motions: IntegratedEnsemble, seconds: float) -> Result:
    """Result of all cases."""
    assert task.grid is not None
    system, made, k, cases = task.system, task.made, len(task.grid), len(motions.y)
    t = np.concatenate([np.broadcast_to(task.grid, (cases, k)), motions.t[:, None]], axis=1)
    y = np.concatenate([motions.samples, motions.y[:, None]], axis=1)
    values = postprocess.observe(made, t, y) if motions.values is None else motions.values
    found = postprocess.run_series(task, t, y, motions.held, values)
    # The end of a case belongs to its record where an event has ended it.
    kept = np.arange(k + 1) < motions.recorded[:, None]
    kept[:, k] = motions.status == EVENT
    balances, codes, messages = _balanced(task, motions, found.energies, t, y, kept)
    names = (*system.q_names, *system.v_names)
    everything = dict(zip(names, np.moveaxis(y[..., : task.states], -1, 0), strict=True)) | found.by_name
    ended = Counter(codes.tolist())
    worst = max(ended, key=list(_SUMMARY).index)
    good = balances[np.isin(codes, (DONE, EVENT))]
    balance = float(max(good if len(good) else balances))
    said = ", ".join(f"{ended[code]} {text.format(t=task.t1)}" for code, text in _SUMMARY.items() if ended[code])
    zeros, events = motions.zeros, range(len(task.watched))
    return Result(
        model=system.name,
        method=task.method,
        t=task.grid,
        y=np.ascontiguousarray(np.swapaxes(motions.samples[..., : task.states], 1, 2)),
        q_names=system.q_names,
        v_names=system.v_names,
        units=postprocess.units_of(task),
        outputs={n: x[:, :k] for n, x in found.outputs.items()},
        kinetic_energy=found.energies.kinetic[:, :k],
        potential_energy=found.energies.potential[:, :k],
        work=found.energies.work[:, :k],
        energy_balance=balance,
        residual=float(np.where(kept, found.residual, 0.0).max(initial=0.0)),
        notes=(*task.notes, *postprocess.undefined_outputs(system, t, found.outputs, kept)),
        parameters=_parameters(system.parameter_names, made.p),
        status=worst,
        message=f"{cases} case{'s' * (cases > 1)}: {said}; energy balance {balance:.1e}",
        nfev=int(motions.nfev.sum()),
        steps=int(motions.steps.sum()),
        rejected=int(motions.rejected.sum()),
        seconds=seconds,
        t_events=tuple(zeros.t[zeros.event == e] for e in events),
        y_events=tuple(zeros.y[zeros.event == e, : task.states] for e in events),
        event_names=tuple(e.name for e in task.watched),
        cases=Cases(
            status=codes,
            messages=tuple(
                f"{m}; energy balance {b:.1e}" if n else m
                for m, b, n in zip(messages, balances, motions.nfev, strict=True)
            ),
            t=motions.t,
            end={n: x[:, k].copy() for n, x in everything.items()},
            recorded=motions.recorded,
            nfev=motions.nfev,
            steps=motions.steps,
            rejected=motions.rejected,
            energy_balance=balances,
            events=tuple(zeros.case[zeros.event == e] for e in events),
            changes=tuple(motions.changes),
            impacts=tuple(motions.impacts),
            notes=tuple(motions.notes),
        ),
    )


def _balanced(
    task: SimulationProblem,
    motions: IntegratedEnsemble,
    energies: Energies,
    t: FloatArray,
    y: FloatArray,
    kept: Mask,
) -> tuple[FloatArray, IntArray, list[str]]:
    """Energy balance of every case at the times *kept*, (cases, k); and status and messages, where a success requires the
    balance.
    """
    held = Energies(*(_held(e, kept) for e in (energies.kinetic, energies.potential, energies.work)))
    balances, codes, messages = held.balance.copy(), motions.status.copy(), list(motions.messages)
    doubtful = np.isin(codes, (DONE, EVENT)) & ~within_tolerance(held.balance, motions.steps, task.rtol)
    for i in np.flatnonzero(doubtful).tolist():
        rows, steps = kept[i], int(motions.steps[i])
        balances[i], explained = postprocess.energy_balance(task.case(i), held.case(i), t[i, rows], y[i, rows], steps)
        if not explained:
            edge = _edge(task, i, motions.samples[i], motions.t[i], motions.y[i], last=False)
            codes[i], messages[i] = UNBALANCED, status.unbalanced(messages[i], edge)
    lost = np.flatnonzero(codes == UNBALANCED)
    if len(lost):
        warn(
            f"Model '{task.system.name}': {len(lost)} of {len(codes)} cases do not keep the balance of energy. Case {lost[0]} "
            f"{messages[lost[0]]}; energy balance {balances[lost[0]]:.1e}."
        )
    return balances, codes, messages


def _held(values: FloatArray, kept: Mask) -> FloatArray:
    """*values* (cases, k), replaced by the first kept one where not *kept*."""
    first = np.take_along_axis(values, kept.argmax(axis=1)[:, None], axis=1)
    return np.where(kept, values, np.where(kept.any(axis=1, keepdims=True), first, 0.0))


def _parameters(names: Sequence[str], p: FloatArray) -> Mapping[str, float | FloatArray]:
    """Parameters by name: a number, or a column (cases, 1) where the cases differ."""
    if p.ndim == 1:
        return dict(zip(names, p.tolist(), strict=True))
    columns = (p[:, [j]] for j in range(len(names)))
    return {n: float(c[0, 0]) if (c == c[0]).all() else c for n, c in zip(names, columns, strict=True)}
