"""Postprocessing of a run to its :class:`~kineta.results.result.Result`: energies, outputs, residuals, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.errors import warn
from kineta.integration.error_control import error_tolerances
from kineta.integration.external import MULTISTEP
from kineta.mechanics.programs.dynamics import CONTROL
from kineta.model.dimensions import output_units, variable_units
from kineta.model.reserved_symbols import ENERGIES, added_force
from kineta.model.system import System
from kineta.records import constant_record
from kineta.results.cases import Cases
from kineta.results.outcomes import (
    DONE,
    EARLY,
    EVENT,
    FAILED,
    INTERRUPTED,
    OUT_OF_STEPS,
    UNBALANCED,
    balanced,
    missed,
    unbalanced,
)
from kineta.results.result import Result, result_at_look
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.energy_balance import Energies, assess_balance, joint_balance, within_tolerance
from kineta.simulation.solution import Solution, observe, observe_record
from kineta.threads import memo, once

T = TypeVar("T")

#: Residual of stabilised constraints in units of the tolerance, and its largest part of the states.
BAUMGARTE_TOLERANCE, LARGEST_VIOLATION = 1e4, 1e-3
#: Name of the work of controls.
CONTROL_WORK = f"{CONTROL}work"
#: Words on the cases of each status, the best first.
SUMMARY = {
    DONE: "reached t = {t:g} s",
    EVENT: "stopped by an event",
    UNBALANCED: "out of balance",
    OUT_OF_STEPS: "out of steps",
    FAILED: "failed",
    INTERRUPTED: "interrupted",
}
#: Rank of each status, the worst highest.
_RANKS = {code: rank for rank, code in enumerate(SUMMARY)}
#: Units of the force on a speed, by that of the speed.
_FORCES = {"m/s": "N", "rad/s": "N*m"}


@constant_record
class RunSeries:
    """Series of *task* at times *t* (..., k) in states *y* (..., k, n), from the observed *values* (..., k, m) and the sampled
    forces *held* (..., k, nv), each made when it is asked for.
    """

    task: SimulationProblem
    t: FloatArray
    y: FloatArray
    held: FloatArray | None
    values: FloatArray

    @once
    def energies(self) -> Energies:
        """Energies and work, (..., k)."""
        works = self.task.made.code.layout.works
        return Energies(self.values, self.y[..., self.task.states].copy() if works else None)

    @once
    def off(self) -> FloatArray:
        """Absolute residuals of constraints and programs, (m, ..., k)."""
        if not self.task.made.code.layout.levels:
            return np.empty((0, *self.t.shape))
        rows = self.values[..., self._observed :]
        return np.abs(rows.transpose(-1, *range(rows.ndim - 1)))

    @once
    def outputs(self) -> dict[str, FloatArray]:
        """Outputs by name, with applied forces and multipliers, (..., k)."""
        task, made = self.task, self.task.made
        names = made.observed_names(task.system)
        found = {n: self.values[..., k] for k, n in zip(range(2, self._observed), names, strict=True)}
        if not made.forces.none:
            driven = {n for _, speeds in made.forces.sampled for n in speeds}
            for k, name in enumerate(task.system.v_names):
                if (force := made.forces.constant[..., k]).any():
                    found[added_force(name)] = np.broadcast_to(force[..., None], self.t.shape).copy()
                if self.held is not None and name in driven:
                    found[added_force(name)] = self.held[..., k].copy()
        layout = made.code.layout
        if layout.controls:
            found[CONTROL_WORK] = self.y[..., task.states + layout.works].copy()
        return found

    @property
    def by_name(self) -> dict[str, FloatArray]:
        """All series by name."""
        e = self.energies
        values = (e.kinetic, e.potential, e.kinetic + e.potential)
        return dict(zip(ENERGIES, values, strict=True)) | {"work": e.work} | self.outputs

    @property
    def _observed(self) -> int:
        """Number of what is observed before residuals."""
        return int(self.values.shape[-1]) - self.task.made.code.layout.levels


def energy_balance(
    task: SimulationProblem, energies: Energies, t: FloatArray, y: FloatArray, steps: int
) -> tuple[float, bool]:
    """Balance of *energies* at the states *y* (k, n), and True where *steps* with the tolerances of *task* explain it."""

    def energy(t: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(task.made.code.observe(t[:, None], y, task.made.h)[:, :2].sum(axis=1))

    def power(t: FloatArray, y: FloatArray) -> FloatArray:
        made = task.made
        if not made.code.layout.works:
            return np.zeros(len(t))
        return np.array([made.code.rate(*at, made.h)[task.states] for at in zip(t[:, None], y, strict=True)])

    loose, layout = 0.0, task.made.code.layout
    if layout.works and (task.method in MULTISTEP or layout.touches):  # out of rest work begins again and again
        loose = float(error_tolerances(y.shape[1], layout.integrals, task.control.rtol, task.control.atol)[0, -1])
    each = {"rtol": task.control.rtol, "atol": task.control.atol, "loose": loose}
    return assess_balance(energies, energy, power, t, y, task.steering, steps=steps, **each)


@constant_record
class Verdict:
    """What is found on the motions of *task*: the energy ``balances``, ``codes`` of status and ``messages`` of all cases; and
    ``astray``, for the cases that violate them, constraints or programs.
    """

    task: SimulationProblem
    balances: list[float]
    codes: list[int]
    messages: list[str]
    astray: Mapping[int, str]

    @property
    def status(self) -> int:
        """The worst status."""
        return self.codes[0] if len(self.codes) == 1 else max({*self.codes}, key=_RANKS.__getitem__)

    @property
    def balance(self) -> float:
        """The worst balance of the motions that have reached their end, of all if none has."""
        good = [balance for balance, code in zip(self.balances, self.codes, strict=True) if code in (DONE, EVENT)]
        return max(good or self.balances)

    @property
    def message(self) -> str:
        """The message of one motion, or how many cases have ended in each way; with the balance."""
        said, codes = self.messages[0], self.codes
        if self.task.cases is not None:
            order, t = sorted(range(len(codes)), key=lambda i: _RANKS[codes[i]]), self.task.t1
            each = Counter(
                f"off {self.astray[i]}" if i in self.astray else SUMMARY[codes[i]].format(t=t) for i in order
            )
            said = f"{len(codes)} case{'s' * (len(codes) > 1)}: {', '.join(f'{n} {word}' for word, n in each.items())}"
        return balanced(said, self.balance)


def result(task: SimulationProblem, solution: Solution, seconds: float) -> Result:
    """Result of a *solution*; a success requires small residuals and the energy balance. Beyond these, it is made when it is
    looked at.
    """
    made, alone = task.made, task.cases is None
    t, y, record = solution.t, solution.y, solution.record
    values = solution.values if record is None else observe_record(task, record)[None]
    forces = solution.forces if record is None else _sampled_forces(solution, t[0])
    found = RunSeries(task, t, y, forces, observe(made, t, y) if values is None else values)
    kept = None if alone else recorded_times(solution)
    verdict = _judged(task, solution, found, kept)
    known = {"status": verdict.status, "seconds": seconds}
    return result_at_look(known, lambda: _fields(task, solution, found, kept, verdict))


def recorded_times(solution: Solution) -> Mask:
    """The mask (cases, k) of the times of a *solution* with cases that belong to their records: the end where it comes early."""
    kept = np.empty(solution.t.shape, dtype=np.bool_)
    kept[:, :-1] = np.arange(solution.t.shape[1] - 1) < solution.recorded[:, None]
    kept[:, -1] = np.isin(solution.status, EARLY) & (solution.nfev > 0)
    return kept


def _fields(
    task: SimulationProblem, solution: Solution, found: RunSeries, kept: Mask | None, verdict: Verdict
) -> dict[str, Any]:
    """Fields of the result of a *solution* beside the status of the *verdict* and the time that it took."""
    system, alone, t, y, record = task.system, task.cases is None, solution.t, solution.y, solution.record
    places, zeros = range(len(task.watched)), solution.zeros
    # One motion without the axis of cases, of many the rows without those of the ends.
    row: Any = 0 if alone else np.s_[:, :-1]
    outputs = {n: x[row] for n, x in found.outputs.items()}
    levels = tuple(name for name, *_ in task.levels)
    return {
        "model": system.name,
        "system": system,
        "method": task.method,
        "t": t[row] if alone else t[0, :-1].copy(),
        "y": np.ascontiguousarray(y[row][..., : task.states].swapaxes(-1, -2)),
        "q_names": system.q_names,
        "v_names": system.v_names,
        "level_names": levels,
        "units": units_of(task),
        "outputs": outputs,
        "kinetic_energy": found.energies.kinetic[row],
        "potential_energy": found.energies.potential[row],
        "work": found.energies.work[row],
        "message": verdict.message,
        "energy_balance": verdict.balance,
        "residual": float(found.off.max(initial=0.0, where=True if kept is None else kept)) if found.off.size else 0.0,
        "parameters": parameter_columns(system.parameter_names, task.made.p),
        "nfev": sum(solution.nfev.tolist()),
        "steps": sum(solution.steps.tolist()),
        "rejected": sum(solution.rejected.tolist()),
        "t_events": tuple(zeros.t[zeros.event == e] for e in places),
        "y_events": tuple(zeros.y[zeros.event == e, : task.states] for e in places),
        "event_names": tuple(e.name for e in task.watched),
        "sol": None if record is None else record.solution(partial(_resampled, task, solution)),
        "notes": (
            *task.notes,
            *(solution.notes[0] if alone else ()),
            *control_work(t[0], outputs),
            *undefined_outputs(system, t, found.outputs, kept),
        ),
        "changes": solution.changes[0] if alone else (),
        "impacts": solution.impacts[0] if alone else (),
        "cases": None if kept is None else _cases(task, solution, found, kept, verdict),
    }


def _cases(task: SimulationProblem, solution: Solution, found: RunSeries, kept: Mask, verdict: Verdict) -> Cases:
    """How each case of a *solution* ended."""
    system, t, y, zeros = task.system, solution.t, solution.y, solution.zeros
    names = (*system.q_names, *system.v_names, *(name for name, *_ in task.levels))
    told = zip(verdict.messages, verdict.balances, solution.nfev, strict=True)
    return Cases(
        status=np.array(verdict.codes),
        messages=tuple(balanced(m, b) if n else m for m, b, n in told),
        t=t[:, -1].copy(),
        end={n: y[:, -1, i].copy() for i, n in enumerate(names)}
        | {n: x[:, -1].copy() for n, x in found.by_name.items()},
        recorded=solution.recorded,
        nfev=solution.nfev,
        steps=solution.steps,
        rejected=solution.rejected,
        energy_balance=np.array(verdict.balances),
        events=tuple(zeros.case[zeros.event == e] for e in range(len(task.watched))),
        changes=_kept(solution.changes),
        impacts=_kept(solution.impacts),
        notes=_kept(solution.notes),
        residual=np.where(kept, found.off, 0.0).max(axis=(0, 2), initial=0.0),
    )


def _judged(task: SimulationProblem, solution: Solution, found: RunSeries, kept: Mask | None) -> Verdict:
    """Verdict on the series *found* of a *solution*, at the times *kept*, (cases, k), None for all: a success requires the
    balance of energy, and small residuals. Those that fail are warned of.
    """
    t, y, held = solution.t, solution.y, found.energies
    if kept is not None:
        held = recorded_energies(held, kept)
    balances, messages = held.balance.tolist(), list(solution.messages)
    codes, _, _, numbers, _, stepped = solution.counts.tolist()
    # Residuals that rounding explains in any state are not looked at by case; programs are scaled by their gradients.
    astray = dict[int, str]()
    programs, rtol = task.made.code.layout.programs, task.control.rtol
    levels = task.made.code.layout.levels
    near = not programs and (not levels or not found.off.size or found.off.max() <= tolerances.STATE_TOLERANCE)
    for i, steps in enumerate(numbers):
        if stepped[i]:  # without error control there is no tolerance
            balances[i] = joint_balance(held.case(i), max(1, stepped[i]))
        if codes[i] not in (DONE, EVENT) or stepped[i]:
            continue
        doubtful = not within_tolerance(balances[i], steps, rtol)
        if near and not doubtful:
            continue
        own, rows = task if task.cases is None else task.case(i), np.s_[:] if kept is None else kept[i]
        off = found.off[:, i, rows]
        beyond = ~(off.max(axis=1, initial=0.0) <= residual_tolerances(own, t[i, rows], y[i, rows]))
        if beyond.any():
            astray[i] = "programs" if beyond[len(beyond) - len(programs) :].any() else "constraints"
            codes[i], messages[i] = UNBALANCED, missed(messages[i], astray[i], float(off.max()))
        elif doubtful:
            balances[i], explained = energy_balance(own, held.case(i), t[i, rows], y[i, rows], steps)
            if not explained:
                edge = solution.edge(own, i, last=False)
                codes[i], messages[i] = UNBALANCED, unbalanced(messages[i], edge)
    lost = [i for i, code in enumerate(codes) if code == UNBALANCED]
    if lost:
        kinds = Counter(f"miss {astray[i]}" if i in astray else "do not keep the balance of energy" for i in lost)
        many = ", ".join(f"{n} of {len(codes)} cases {what}" for what, n in kinds.items())
        of = "" if task.cases is None else f"{many}. Case {lost[0]} "
        warn(f"Model '{task.system.name}': {of}{messages[lost[0]]}; energy balance {balances[lost[0]]:.1e}.")
    return Verdict(task, balances, codes, messages, astray)


def _kept(told: Sequence[T]) -> Sequence[T]:
    """*told* of all cases as a tuple, unless it is put into words when asked for."""
    return tuple(told) if isinstance(told, list) else told


def recorded_energies(energies: Energies, kept: Mask) -> Energies:
    """*energies* (cases, k), of those not *kept* the first that is."""
    if kept.all():
        return energies
    forms = np.stack([_held(x, kept) for x in (energies.kinetic, energies.potential)], axis=-1)
    return Energies(forms, None if energies.done is None else _held(energies.done, kept))


def _held(values: FloatArray, kept: Mask) -> FloatArray:
    """*values* (cases, k), replaced by the first kept one where not *kept*."""
    first = np.take_along_axis(values, kept.argmax(axis=1)[:, None], axis=1)
    return np.where(kept, values, np.where(kept.any(axis=1, keepdims=True), first, 0.0))


def parameter_columns(names: Sequence[str], p: FloatArray) -> Mapping[str, float | FloatArray]:
    """Parameters by name: a number, or a column (cases, 1) where the cases differ."""
    if p.ndim == 1:
        return dict(zip(names, p.tolist(), strict=True))
    columns = (p[:, [j]] for j in range(len(names)))
    return {n: float(c[0, 0]) if (c == c[0]).all() else c for n, c in zip(names, columns, strict=True)}


def _sampled_forces(solution: Solution, t: FloatArray) -> FloatArray | None:
    """Sampled forces (1, k, nv) of one motion at the times *t* (k,)."""
    forces = solution.sampled_forces(t)
    return None if forces is None else forces[None]


def _resampled(task: SimulationProblem, solution: Solution, run: Result, times: FloatArray) -> Result:
    """*run* at other times."""
    record = run.sol.record(times)
    t, y = record.series(len(task.y0))
    found = RunSeries(task, t, y, solution.sampled_forces(t), observe_record(task, record))
    e, states = found.energies, np.ascontiguousarray(y[:, : record.states].T)
    kinetic, potential = e.kinetic, e.potential
    return replace(
        run, t=t, y=states, outputs=found.outputs, kinetic_energy=kinetic, potential_energy=potential, work=e.work
    )


def residual_tolerances(task: SimulationProblem, t: FloatArray, y: FloatArray) -> FloatArray:
    """Allowed residuals of constraints and programs in the states *y* (k, n) at *t*, (m,): rounding after projection, else the
    tolerance of Baumgarte stabilisation. Programs are scaled by their gradients.
    """
    layout = task.made.code.layout
    size = max(1.0, float(np.abs(y[:, : task.states]).max(initial=0.0)))
    pulled = (
        0.0
        if task.made.code.treatment == PROJECTED
        else min(BAUMGARTE_TOLERANCE * task.control.rtol, LARGEST_VIOLATION)
    )
    sizes = np.ones(layout.levels)
    if layout.programs:
        gradients = np.abs(task.made.regularity(t, y)[0]).max(axis=(0, 2))
        sizes[layout.levels - len(layout.programs) :] = gradients[list(layout.programs)]
    return np.asarray(size * (tolerances.STATE_TOLERANCE + pulled) * sizes)


def units_of(task: SimulationProblem) -> dict[str, str]:
    """Units of the series of a run by name, where known."""
    return memo(task.made.code, units_of, lambda: _units_of(task)).copy()


def _units_of(task: SimulationProblem) -> dict[str, str]:
    system = task.system
    known = variable_units(system) | dict.fromkeys((*ENERGIES, "work"), "J") | output_units(system)
    forces = {n: _FORCES[known[n]] for n in system.v_names if known.get(n) in _FORCES}
    known |= {added_force(n): unit for n, unit in forces.items()}
    if system.programs:
        known |= {f"{CONTROL}{n}": unit for n, unit in forces.items()} | {f"{CONTROL}power": "W", CONTROL_WORK: "J"}
    known |= {n: unit for n, unit in task.made.code.layout.multipliers.items() if unit}
    return known | {n: f"{known[bare]}^{1 + marks}" for n, bare, marks in task.levels if known.get(bare)}


def undefined_outputs(
    system: System, t: FloatArray, outputs: Mapping[str, FloatArray], recorded: Mask | None
) -> Iterator[str]:
    """Sentences on the outputs of *system* that are not finite at some of the *recorded* times *t* (cases, k), None for all times
    of one motion, with the first such time.
    """
    for name in (o.name for o in system.outputs):
        finite = np.isfinite(outputs[name])
        if not finite.all() and (bad := ~finite if recorded is None else recorded & ~finite).any():
            first = np.unravel_index(np.where(bad, t, np.inf).argmin(), bad.shape)
            where, times = ("", t.size) if recorded is None else (f"in case {first[0]} ", recorded.sum())
            yield (
                f"The output '{name}' is not finite at {bad.sum()} of {times} times, first {where}at "
                f"t = {t[first]:g} s: an expression in it has left its domain."
            )


def control_work(t: FloatArray, outputs: Mapping[str, FloatArray]) -> Iterator[str]:
    """Sentence on the work and the peak power of controls along a motion."""
    if CONTROL_WORK in outputs and len(t):
        power = outputs[f"{CONTROL}power"]
        k = int(np.abs(power).argmax())
        work = outputs[CONTROL_WORK][-1]
        yield f"control: work {work:.4g} J, peak power {power[k] + 0.0:.4g} W at t = {t[k]:.4g} s"
