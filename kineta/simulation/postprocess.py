"""Postprocessing of a run to its :class:`~kineta.results.result.Result`: energies, outputs, residuals, units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.consistency.consistent_start import START_TOLERANCE
from kineta.errors import warn
from kineta.integration.error_control import tolerances
from kineta.integration.external import MULTISTEP
from kineta.mechanics.programs.dynamics import CONTROL
from kineta.model.dimensions import output_units, variable_units
from kineta.model.reserved_symbols import ENERGIES
from kineta.model.system import System
from kineta.results.outcomes import DONE, EVENT, UNBALANCED, missed, unbalanced
from kineta.results.result import Result, force_name
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.events import EventWatch
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.recorder import Recorder
from kineta.simulation.energy_balance import Energies, assess_balance
from kineta.simulation.run import IntegratedRun

#: Residual of stabilised constraints in units of the tolerance, and its largest part of the states.
BAUMGARTE_TOLERANCE, LARGEST_VIOLATION = 1e4, 1e-3
#: Name of the work of controls.
CONTROL_WORK = f"{CONTROL}work"
#: Units of the force on a speed, by that of the speed.
_FORCES = {"m/s": "N", "rad/s": "N*m"}


@dataclass(frozen=True, eq=False)
class RunSeries:
    """Series of recorded states, (k,) or (cases, k): energies; ``outputs`` by name, with applied forces and multipliers; and
    absolute residuals of constraints and programs, (m, ...).
    """

    energies: Energies
    outputs: Mapping[str, FloatArray]
    off: FloatArray

    @property
    def residual(self) -> FloatArray:
        """Largest residual at each time."""
        return np.asarray(self.off.max(axis=0, initial=0.0))

    @property
    def by_name(self) -> dict[str, FloatArray]:
        """All series by name."""
        e = self.energies
        values = (e.kinetic, e.potential, e.kinetic + e.potential)
        return dict(zip(ENERGIES, values, strict=True)) | {"work": e.work} | dict(self.outputs)


def run_series(
    task: SimulationProblem, t: FloatArray, y: FloatArray, held: FloatArray | None, values: FloatArray
) -> RunSeries:
    """Series of *task* at times *t* (..., k) in states *y* (..., k, n), with sampled forces *held* (..., k, nv), from the
    observed *values*.
    """
    made = task.made
    kinetic, potential, *others = np.moveaxis(values, -1, 0)
    levels = len(others) - made.code.layout.levels
    off, others = others[levels:], others[:levels]
    names = [*task.system.switched, *(o.name for o in task.system.outputs)]
    names += [force_name(n) for n in made.forces.expressions]
    names += made.code.layout.multipliers
    outputs = dict(zip(names, others, strict=True))
    for name, force in zip(task.system.v_names, np.moveaxis(made.forces.constant, -1, 0), strict=True):
        if force.any():
            outputs[force_name(name)] = np.broadcast_to(force[..., None], t.shape).copy()
    driven = {n for _, speeds in made.forces.sampled for n in speeds}
    for k, name in enumerate(task.system.v_names):
        if held is not None and name in driven:
            outputs[force_name(name)] = held[..., k].copy()
    layout = made.code.layout
    work = y[..., task.states].copy() if layout.works else np.zeros(t.shape)
    if layout.controls:
        outputs[CONTROL_WORK] = y[..., task.states + layout.works].copy()
    return RunSeries(Energies(kinetic, potential, work), outputs, np.abs(np.reshape(off, (len(off), *t.shape))))


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
        loose = float(tolerances(y.shape[1], layout.integrals, task.rtol, task.atol)[0, -1])
    each = {"rtol": task.rtol, "atol": task.atol, "loose": loose}
    return assess_balance(energies, energy, power, t, y, task.steering, steps=steps, **each)


def result(task: SimulationProblem, motion: IntegratedRun, seconds: float) -> Result:
    """Result of *motion*; a success requires the energy balance."""
    system, record, watch, run = task.system, motion.record, motion.watch, motion.run
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(task.y0))), *(rows[1] for rows in record.rows)])
    found = run_series(task, t, y, motion.sampled_forces(t), observe_record(task, record))
    energies, events = found.energies, list(_events(watch, record))
    balance = float(energies.balance)
    status, message = motion.status, motion.message
    residual = float(found.residual.max(initial=0.0))
    if status in (DONE, EVENT):
        beyond = ~(found.off.max(axis=1, initial=0.0) <= residual_tolerances(task, t, y))
        if beyond.any():
            what = "programs" if beyond[len(beyond) - len(task.made.code.layout.programs) :].any() else "constraints"
            status, message = UNBALANCED, missed(message, what, residual)
        else:
            balance, explained = energy_balance(task, energies, t, y, record.steps)
            if not explained:
                status, message = UNBALANCED, unbalanced(message, motion.domain.edge(last=False))
    if status == UNBALANCED:
        warn(f"Model '{system.name}': {message}; energy balance {balance:.1e}.")
    return Result(
        model=system.name,
        method=task.method,
        t=t,
        y=np.ascontiguousarray(y[:, : record.states].T),
        q_names=system.q_names,
        v_names=system.v_names,
        level_names=tuple(name for name, *_ in task.levels),
        units=units_of(task),
        outputs=found.outputs,
        kinetic_energy=energies.kinetic,
        potential_energy=energies.potential,
        work=energies.work,
        energy_balance=balance,
        residual=residual,
        parameters=dict(zip(system.parameter_names, task.made.p.tolist(), strict=True)),
        status=status,
        message=f"{message}; energy balance {balance:.1e}",
        nfev=run.evaluations,
        steps=record.steps,
        rejected=run.rejected,
        seconds=seconds,
        t_events=tuple(e[0] for e in events),
        y_events=tuple(e[1] for e in events),
        event_names=tuple(e.name for e in watch.events),
        sol=record.solution(partial(_resampled, task, motion)),
        notes=(
            *task.notes,
            *motion.notes,
            *control_work(t, found.outputs),
            *undefined_outputs(system, t, found.outputs, np.ones(len(t), dtype=np.bool_)),
        ),
        changes=motion.changes,
        impacts=motion.impacts,
    )


def _resampled(task: SimulationProblem, motion: IntegratedRun, run: Result, times: FloatArray) -> Result:
    """*run* at other times."""
    record = run.sol.record(times)
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(task.y0))), *(rows[1] for rows in record.rows)])
    found = run_series(task, t, y, motion.sampled_forces(t), observe_record(task, record))
    e, states = found.energies, np.ascontiguousarray(y[:, : record.states].T)
    kinetic, potential = e.kinetic, e.potential
    return replace(
        run, t=t, y=states, outputs=found.outputs, kinetic_energy=kinetic, potential_energy=potential, work=e.work
    )


def observe(made: BoundSystem, t: FloatArray, y: FloatArray) -> FloatArray:
    """Observed quantities at times *t* (..., k) in states *y* (..., k, n), of one case or many."""
    if made.h.ndim > 1:
        return np.array([made.code.observe(t[i, :, None], y[i], made.h[i]) for i in range(len(t))])
    rows = made.code.observe(t.reshape(-1, 1), y.reshape(t.size, y.shape[-1]), made.h)
    return np.asarray(rows.reshape(*t.shape, rows.shape[-1]))


def observe_record(task: SimulationProblem, record: Recorder) -> FloatArray:
    """Observed quantities at all times of a *record*, each in its mode."""
    none = observe(task.made, np.empty(0), np.empty((0, len(task.y0))))
    return np.concatenate([none, *(observe(mode or task.made, t, y) for t, y, mode in record.rows)])


def residual_tolerances(task: SimulationProblem, t: FloatArray, y: FloatArray) -> FloatArray:
    """Allowed residuals of constraints and programs in the states *y* (k, n) at *t*, (m,): rounding after projection, else the
    tolerance of Baumgarte stabilisation. Programs are scaled by their gradients.
    """
    layout = task.made.code.layout
    size = max(1.0, float(np.abs(y[:, : task.states]).max(initial=0.0)))
    pulled = 0.0 if task.made.code.treatment == PROJECTED else min(BAUMGARTE_TOLERANCE * task.rtol, LARGEST_VIOLATION)
    sizes = np.ones(layout.levels)
    if layout.programs:
        gradients = np.abs(task.made.regularity(t, y)[0]).max(axis=(0, 2))
        sizes[layout.levels - len(layout.programs) :] = gradients[list(layout.programs)]
    return np.asarray(size * (START_TOLERANCE + pulled) * sizes)


def units_of(task: SimulationProblem) -> dict[str, str]:
    """Units of the series of a run by name, where known."""
    known = task.equations.memo("units of a run", lambda: _units_of(task.system))
    return (
        known
        | {n: unit for n, unit in task.made.code.layout.multipliers.items() if unit}
        | {n: f"{known[bare]}^{1 + marks}" for n, bare, marks in task.levels if known.get(bare)}
    )


def _units_of(system: System) -> dict[str, str]:
    known = variable_units(system) | dict.fromkeys((*ENERGIES, "work"), "J") | output_units(system)
    forces = {n: _FORCES[known[n]] for n in system.v_names if known.get(n) in _FORCES}
    known |= {force_name(n): unit for n, unit in forces.items()}
    if system.programs:
        known |= {f"{CONTROL}{n}": unit for n, unit in forces.items()} | {f"{CONTROL}power": "W", CONTROL_WORK: "J"}
    return known


def _events(watch: EventWatch, record: Recorder) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Times (m,) and states (m, states) of every event."""
    for found in watch.found:
        times = np.array([t for t, _ in found])
        rows = np.array([y for _, y in found]).reshape(len(found), len(record.end[1]))
        yield times, rows[:, : record.states]


def undefined_outputs(
    system: System, t: FloatArray, outputs: Mapping[str, FloatArray], recorded: Mask
) -> Iterator[str]:
    """Sentences on the outputs of *system* that are not finite at some of the *recorded* times *t* (..., k), with the first
    such time; of several cases, the earliest.
    """
    for name in (o.name for o in system.outputs):
        bad = recorded & ~np.isfinite(outputs[name])
        if bad.any():
            first = np.unravel_index(np.where(bad, t, np.inf).argmin(), bad.shape)
            where = f"in case {first[0]} " if bad.ndim > 1 else ""
            yield (
                f"The output '{name}' is not finite at {bad.sum()} of {recorded.sum()} times, first {where}at "
                f"t = {t[first]:g} s: an expression in it has left its domain."
            )


def control_work(t: FloatArray, outputs: Mapping[str, FloatArray]) -> Iterator[str]:
    """Sentence on the work and the peak power of controls along a run."""
    if CONTROL_WORK in outputs and len(t):
        power = outputs[f"{CONTROL}power"]
        k = int(np.abs(power).argmax())
        work = outputs[CONTROL_WORK][-1]
        yield f"control: work {work:.4g} J, peak power {power[k] + 0.0:.4g} W at t = {t[k]:.4g} s"
