"""Many cases in one run: by the native methods in lanes and threads, by the others one after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.lanes import lanes_integrator
from kineta.errors import KinetaWarning, SimulationError
from kineta.numerics import lanes, layout
from kineta.numerics.ensemble import Ensemble, Runs, Zeros, cores
from kineta.numerics.problem import nearby, noise
from kineta.numerics.segments import FAILURES
from kineta.numerics.tableaux import TABLEAUX
from kineta.tasks import outcome, status
from kineta.tasks.balance import Energies, evident
from kineta.tasks.cases import Cases
from kineta.tasks.domain import Domain
from kineta.tasks.modal import modal
from kineta.tasks.motion import cannot_start, singular
from kineta.tasks.motion import move as move_one
from kineta.tasks.progress import Progress
from kineta.tasks.result import Result
from kineta.tasks.settle import normalise
from kineta.tasks.status import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS, UNBALANCED
from kineta.tasks.task import Task
from kineta.tasks.undefined import undefined

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Motions:
    """What became of the cases: how they ended, (cases,); times (cases,) and states (cases, n) that they reached; states at the
    times recorded (cases, k, n), NaN beyond; counts (cases,); the zeros of events; and at the times recorded and the ends the
    sampled forces (cases, k + 1, nv), if there are any, and what was observed (cases, k + 1, m), if the motions have modes; and
    what changed on the way, and what is to be said of that.
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
    zeros: Zeros
    changes: list[tuple[tuple[float, str], ...]]
    notes: list[tuple[str, ...]]
    held: FloatArray | None = None
    values: FloatArray | None = None


def move(task: Task, bar: Progress) -> Motions:
    """Carry all cases of *task* to their ends. Raises :class:`SimulationError` where none of them can start."""
    native = task.method in TABLEAUX and not changing(task) and not task.system.constraints
    moved = _in_lanes(task, bar) if native else _in_turn(task, range(len(task.y0)), _unmoved(task), bar)
    rows = moved.samples.reshape(math.prod(moved.samples.shape[:-1]), moved.y.shape[1])
    for states in (moved.y, moved.zeros.y, rows):
        normalise(states, task.quaternions)
    return moved


#: What the loop in lanes says of a case, and how a run says it.
_STATUS = {
    lanes.WAITING: INTERRUPTED,
    lanes.RUNNING: INTERRUPTED,
    lanes.DONE: DONE,
    lanes.EVENT: EVENT,
    lanes.STEP_TOO_SMALL: FAILED,
    lanes.NOT_FINITE: FAILED,
    lanes.OUT_OF_STEPS: OUT_OF_STEPS,
    lanes.GIVEN_UP: INTERRUPTED,
}
_WHY = {
    lanes.STEP_TOO_SMALL: FAILURES[layout.STEP_TOO_SMALL],
    lanes.NOT_FINITE: FAILURES[layout.NOT_FINITE],
}


def _in_lanes(task: Task, bar: Progress) -> Motions:
    """One case in every lane of a vector, on as many cores as there are."""
    code, h, y0, cases = task.made.code, task.made.h, task.y0, len(task.y0)
    assert task.grid is not None

    def rates(t: FloatArray, y: FloatArray) -> FloatArray:
        return code.rates.batch(t[:, None], y, h)

    rate0 = rates(np.full(cases, task.t0), y0)
    doubtful = np.full(cases, bool(task.system.constraints)) | ~np.isfinite(rate0).all(axis=1)
    unable = {i: why for i in np.flatnonzero(doubtful).tolist() if (why := cannot_start(task.case(i), rate0[i]))}
    if len(unable) == cases:
        raise SimulationError(unable[0])
    rate0[list(unable)] = np.nan

    def values(t: FloatArray, y: FloatArray) -> FloatArray:
        return np.empty((cases, 0)) if code.events is None else code.events.batch(t[:, None], y, h)

    terminal = [int(e.terminal) for e in task.watched]
    problem = Ensemble(
        rhs=code.rates.lanes_address,
        lanes=code.rates.lanes,
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
        noise=noise(
            np.array([values(np.full(cases, t), y) for t, y in zip(*nearby(task.t0, task.t1, y0, rate0), strict=True)])
        ),
        directions=[e.direction for e in task.watched],
    )
    tableau = TABLEAUX[task.method]
    runs = Runs(
        tableau,
        lanes_integrator(tableau, problem.lanes),
        problem,
        task.grid,
        rtol=task.rtol,
        atol=task.atol,
        max_step=task.max_step,
        max_steps=task.max_steps,
    )
    with suppress(KeyboardInterrupt):
        runs.run(min(cores(), -(-cases // problem.lanes)), lambda ended: bar.ended(ended, cases))
    codes = runs.counts[:, lanes.STATUS]
    messages = [_message(task, runs, i) for i in range(cases)]
    for i, why in unable.items():
        messages[i] = why
    moved = Motions(
        status=np.array([_STATUS[code] for code in codes.tolist()]),
        messages=messages,
        t=runs.t,
        y=runs.y,
        samples=runs.samples,
        recorded=runs.counts[:, lanes.RECORDED].copy(),
        nfev=runs.evaluations,
        steps=runs.counts[:, lanes.ACCEPTED].copy(),
        rejected=runs.counts[:, lanes.REJECTED].copy(),
        zeros=runs.zeros,
        changes=[()] * cases,
        notes=[()] * cases,
    )
    # Those in which an event is not defined everywhere are looked at step by step.
    given_up = np.flatnonzero(codes == lanes.GIVEN_UP).tolist()
    unfinished = bool(np.isin(codes, (lanes.WAITING, lanes.RUNNING)).any())
    return moved if unfinished else _in_turn(task, given_up, moved, bar)


def _message(task: Task, runs: Runs, i: int) -> str:
    """How case *i* ended."""
    t, code = float(runs.t[i]), int(runs.counts[i, lanes.STATUS])
    match _STATUS[code]:
        case status.DONE:
            return status.done(t)
        case status.EVENT:
            return status.stopped(t, task.watched[runs.counts[i, lanes.ENDED]].name)
        case status.OUT_OF_STEPS:
            edge = _edge(task, i, runs.samples[i], t, runs.y[i], last=True)
            return status.out_of_steps(t, int(runs.counts[i, lanes.ACCEPTED]), float(runs.size[i]), edge)
        case status.FAILED:
            edge = _edge(task, i, runs.samples[i], t, runs.y[i], last=True)
            return status.failed(t, _WHY[code], edge or singular(task.case(i), t, runs.y[i]))
    return status.interrupted(t)


def _edge(task: Task, i: int, samples: FloatArray, t: float, y: FloatArray, *, last: bool) -> str:
    """What has left its domain in case *i*, at its end (t, y) or at the times recorded; ``''`` where nothing has."""
    assert task.grid is not None
    domain = Domain(task.equations, task.made.case(i))
    reached = np.isfinite(samples).all(axis=1)
    domain.look(np.append(task.grid[reached], t), np.vstack([samples[reached], y]))
    return domain.edge(last=last)


def _unmoved(task: Task) -> Motions:
    """All cases at the start."""
    assert task.grid is not None
    (cases, n), counts = task.y0.shape, np.zeros((4, len(task.y0)), dtype=np.int64)
    recorded, nfev, steps, rejected = counts
    samples = np.full((cases, len(task.grid), n), np.nan)
    if task.grid[0] == task.t0:
        samples[:, 0], recorded[:] = task.y0, 1
    t, messages = np.full(cases, task.t0), [status.interrupted(task.t0)] * cases
    codes, zeros = np.full(cases, INTERRUPTED), Zeros.listed([], n)
    places = cases, len(task.grid) + 1
    held = np.full((*places, task.system.nv), np.nan) if task.made.forces.sampled else None
    values = None
    if changing(task):
        start = outcome.observed(task.made, np.full((cases, 1), task.t0), task.y0[:, None])
        values = np.full((*places, start.shape[-1]), np.nan)
        values[:, [0, -1]] = start
    told: tuple[list[tuple[tuple[float, str], ...]], list[tuple[str, ...]]] = ([()] * cases, [()] * cases)
    return Motions(
        codes, messages, t, task.y0.copy(), samples, recorded, nfev, steps, rejected, zeros, *told, held, values
    )


def changing(task: Task) -> bool:
    """Whether something jumps on the way, so that the code or its numbers change."""
    return bool(task.made.forces.sampled) or modal(task)


def _in_turn(task: Task, which: Sequence[int], moved: Motions, bar: Progress) -> Motions:
    """The motions *moved* with those of the cases *which*, one after the other."""
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
            moved.changes[i], moved.notes[i] = motion.changes, motion.notes
            if moved.held is not None:
                moved.held[i] = motion.held(np.append(task.grid, record.reached))
                moved.held[i, record.on_grid : -1] = np.nan
            if moved.values is not None:
                own, (t, y) = task.case(i), record.end
                moved.values[i] = np.nan
                moved.values[i, : record.on_grid] = outcome.recorded(own, record)[: record.on_grid]
                moved.values[i, -1:] = outcome.observed(record.mode or own.made, np.array([t]), y[None])
            found += [(i, e, *zero) for e, zeros in enumerate(motion.watch.found) for zero in zeros]
            bar.ended(cases - len(which) + done, cases)
            if motion.status == INTERRUPTED:
                break
    if len(refused) == cases:
        raise refused[0]
    return replace(moved, zeros=moved.zeros.without(which).and_also(Zeros.listed(found, n)))


# -- what is given back ----------------------------------------------------------------------------------------------

#: What is said of the cases that ended in this way, the best first.
_SAID = {
    DONE: "reached t = {t:g} s",
    EVENT: "stopped by an event",
    UNBALANCED: "out of balance",
    OUT_OF_STEPS: "out of steps",
    FAILED: "failed",
    INTERRUPTED: "interrupted",
}


def result(task: Task, motions: Motions, seconds: float) -> Result:
    """The result of all cases."""
    assert task.grid is not None
    system, made, k, cases = task.system, task.made, len(task.grid), len(motions.y)
    t = np.concatenate([np.broadcast_to(task.grid, (cases, k)), motions.t[:, None]], axis=1)
    y = np.concatenate([motions.samples, motions.y[:, None]], axis=1)
    values = outcome.observed(made, t, y) if motions.values is None else motions.values
    found = outcome.series(task, t, y, motions.held, values)
    # The end of a case belongs to its record where an event has ended it.
    kept = np.arange(k + 1) < motions.recorded[:, None]
    kept[:, k] = motions.status == EVENT
    balances, codes, messages = _balanced(task, motions, found.energies, t, y, kept)
    names = (*system.q_names, *system.v_names)
    everything = dict(zip(names, np.moveaxis(y[..., : task.states], -1, 0), strict=True)) | found.by_name
    ended = Counter(codes.tolist())
    worst = max(ended, key=list(_SAID).index)
    good = balances[np.isin(codes, (DONE, EVENT))]
    balance = float(max(good if len(good) else balances))
    said = ", ".join(f"{ended[code]} {text.format(t=task.t1)}" for code, text in _SAID.items() if ended[code])
    zeros, events = motions.zeros, range(len(task.watched))
    return Result(
        model=system.name,
        method=task.method,
        t=task.grid,
        y=np.ascontiguousarray(np.swapaxes(motions.samples[..., : task.states], 1, 2)),
        q_names=system.q_names,
        v_names=system.v_names,
        units=outcome.units_of(task),
        outputs={n: x[:, :k] for n, x in found.outputs.items()},
        kinetic_energy=found.energies.kinetic[:, :k],
        potential_energy=found.energies.potential[:, :k],
        work=found.energies.work[:, :k],
        energy_balance=balance,
        residual=float(np.where(kept, found.residual, 0.0).max(initial=0.0)),
        notes=(*task.notes, *undefined(system, t, found.outputs, kept)),
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
            notes=tuple(motions.notes),
        ),
    )


def _balanced(
    task: Task, motions: Motions, energies: Energies, t: FloatArray, y: FloatArray, kept: NDArray[np.bool_]
) -> tuple[FloatArray, IntArray, list[str]]:
    """The balance of energy of every case at the times *kept*, (cases, k); and how the cases ended, if a success must keep it."""
    held = Energies(*(_held(e, kept) for e in (energies.kinetic, energies.potential, energies.work)))
    balances, codes, messages = held.balance.copy(), motions.status.copy(), list(motions.messages)
    doubtful = np.isin(codes, (DONE, EVENT)) & ~evident(held.balance, motions.steps, task.rtol)
    for i in np.flatnonzero(doubtful).tolist():
        rows, steps = kept[i], int(motions.steps[i])
        balances[i], explained = outcome.kept(task.case(i), held.case(i), t[i, rows], y[i, rows], steps)
        if not explained:
            edge = _edge(task, i, motions.samples[i], motions.t[i], motions.y[i], last=False)
            codes[i], messages[i] = UNBALANCED, status.unbalanced(messages[i], edge)
    lost = np.flatnonzero(codes == UNBALANCED)
    if len(lost):
        warn(
            f"Model '{task.system.name}': {len(lost)} of {len(codes)} cases do not keep the balance of energy. Case {lost[0]} "
            f"{messages[lost[0]]}; energy balance {balances[lost[0]]:.1e}.",
            KinetaWarning,
            stacklevel=4,
        )
    return balances, codes, messages


def _held(values: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """*values* (cases, k), and where they are not *kept* the first that is."""
    first = np.take_along_axis(values, kept.argmax(axis=1)[:, None], axis=1)
    return np.where(kept, values, np.where(kept.any(axis=1, keepdims=True), first, 0.0))


def _parameters(names: Sequence[str], p: FloatArray) -> Mapping[str, float | FloatArray]:
    """Parameters by name: a number, or a column (cases, 1) where the cases differ."""
    if p.ndim == 1:
        return dict(zip(names, p.tolist(), strict=True))
    columns = (p[:, [j]] for j in range(len(names)))
    return {n: float(c[0, 0]) if (c == c[0]).all() else c for n, c in zip(names, columns, strict=True)}
