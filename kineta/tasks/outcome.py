"""From what a run kept to its :class:`~kineta.tasks.result.Result`: energies, outputs, units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from kineta.errors import KinetaWarning
from kineta.formalism.programmed import CONTROL
from kineta.model.dimensions import output_units, variable_units
from kineta.model.infer import ENERGIES
from kineta.model.switch import changed
from kineta.model.system import System
from kineta.numerics.foreign import OF_STEPS
from kineta.numerics.steering import tolerances
from kineta.tasks.balance import Energies, judged
from kineta.tasks.code import Bound
from kineta.tasks.events import Watch
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.met import MISSED
from kineta.tasks.motion import Motion
from kineta.tasks.programmed import CONTROL_WORK, spent
from kineta.tasks.record import Record
from kineta.tasks.result import Result, force_name
from kineta.tasks.status import DONE, EVENT, UNBALANCED, missed, unbalanced
from kineta.tasks.task import Task
from kineta.tasks.undefined import undefined

FloatArray = NDArray[np.float64]

#: Tolerances by which a run may miss constraints that its accelerations pull it back to, and the largest part of its states.
PULLED, ROUGHEST = 1e4, 1e-3
#: Units of the force on a speed, by that of the speed.
_FORCES = {"m/s": "N", "rad/s": "N*m"}


@dataclass(frozen=True, eq=False)
class Series:
    """What is computed from recorded states, (k,) or (cases, k); ``outputs`` by name, with the forces given
    beside the model's and the multipliers of constraints; and by how much each constraint and program is missed, (m, ...).
    """

    energies: Energies
    outputs: Mapping[str, FloatArray]
    off: FloatArray

    @property
    def residual(self) -> FloatArray:
        """By how much they are missed at most."""
        return np.asarray(self.off.max(axis=0, initial=0.0))

    @property
    def by_name(self) -> dict[str, FloatArray]:
        """All of them."""
        e = self.energies
        values = (e.kinetic, e.potential, e.kinetic + e.potential)
        return dict(zip(ENERGIES, values, strict=True)) | {"work": e.work} | dict(self.outputs)


def series(task: Task, t: FloatArray, y: FloatArray, held: FloatArray | None, values: FloatArray) -> Series:
    """The series of *task* for times *t* (..., k), states *y* (..., k, n), and sampled forces *held* then, (..., k, nv), from the
    *values* that were observed.
    """
    made = task.made
    kinetic, potential, *others = np.moveaxis(values, -1, 0)
    levels = len(others) - made.code.layout.levels
    off, others = others[levels:], others[:levels]
    names = [*changed(task.system), *(o.name for o in task.system.outputs)]
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
    return Series(Energies(kinetic, potential, work), outputs, np.abs(np.reshape(off, (len(off), *t.shape))))


def kept(task: Task, energies: Energies, t: FloatArray, y: FloatArray, steps: int) -> tuple[float, bool]:
    """The balance of *energies* at the states *y* (k, n), and whether so many *steps* by the tolerances of *task* explain it."""

    def energy(t: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(task.made.code.observe(t[:, None], y, task.made.h)[:, :2].sum(axis=1))

    def power(t: FloatArray, y: FloatArray) -> FloatArray:
        made = task.made
        if not made.code.layout.works:
            return np.zeros(len(t))
        return np.array([made.code.rate(*at, made.h)[task.states] for at in zip(t[:, None], y, strict=True)])

    loose, layout = 0.0, task.made.code.layout
    if layout.works and (task.method in OF_STEPS or layout.touches):  # out of rest work begins again and again
        loose = float(tolerances(y.shape[1], layout.integrals, task.rtol, task.atol)[0, -1])
    each = {"rtol": task.rtol, "atol": task.atol, "loose": loose}
    return judged(energies, energy, power, t, y, task.steering, steps=steps, **each)


def result(task: Task, motion: Motion, seconds: float) -> Result:
    """The result of *motion*; a success must keep the balance of energy."""
    system, record, watch, run = task.system, motion.record, motion.watch, motion.run
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(task.y0))), *(rows[1] for rows in record.rows)])
    found = series(task, t, y, motion.held(t), recorded(task, record))
    energies, events = found.energies, list(_events(watch, record))
    balance = float(energies.balance)
    status, message = motion.status, motion.message
    residual = float(found.residual.max(initial=0.0))
    if status in (DONE, EVENT):
        beyond = ~(found.off.max(axis=1, initial=0.0) <= allowed(task, t, y))
        if beyond.any():
            what = "programs" if beyond[len(beyond) - len(task.made.code.layout.programs) :].any() else "constraints"
            status, message = UNBALANCED, missed(message, what, residual)
        else:
            balance, explained = kept(task, energies, t, y, record.steps)
            if not explained:
                status, message = UNBALANCED, unbalanced(message, motion.domain.edge(last=False))
    if status == UNBALANCED:
        warn(f"Model '{system.name}': {message}; energy balance {balance:.1e}.", KinetaWarning, stacklevel=3)
    return Result(
        model=system.name,
        method=run.method,
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
        sol=record.solution(),
        notes=(
            *task.notes,
            *motion.notes,
            *spent(t, found.outputs),
            *undefined(system, t, found.outputs, np.ones(len(t), dtype=np.bool_)),
        ),
        changes=motion.changes,
    )


def observed(made: Bound, t: FloatArray, y: FloatArray) -> FloatArray:
    """What is observed at times *t* (..., k) in states *y* (..., k, n), of cases with their own numbers or not."""
    if made.h.ndim > 1:
        return np.array([made.code.observe(t[i, :, None], y[i], made.h[i]) for i in range(len(t))])
    rows = made.code.observe(t.reshape(-1, 1), y.reshape(t.size, y.shape[-1]), made.h)
    return np.asarray(rows.reshape(*t.shape, rows.shape[-1]))


def recorded(task: Task, record: Record) -> FloatArray:
    """What is observed at all times of a *record*, each in its mode."""
    none = observed(task.made, np.empty(0), np.empty((0, len(task.y0))))
    return np.concatenate([none, *(observed(mode or task.made, t, y) for t, y, mode in record.rows)])


def allowed(task: Task, t: FloatArray, y: FloatArray) -> FloatArray:
    """By how much the states *y* (k, n) at *t* may miss constraints and programs, (m,): rounding, where they are brought back to
    them, else what the tolerance of a run makes of a pull. Programs are measured by their gradients.
    """
    layout = task.made.code.layout
    size = max(1.0, float(np.abs(y[:, : task.states]).max(initial=0.0)))
    pulled = 0.0 if task.made.code.kept == PROJECTED else min(PULLED * task.rtol, ROUGHEST)
    sizes = np.ones(layout.levels)
    if layout.programs:
        gradients = np.abs(task.made.gradients(t, y)[0]).max(axis=(0, 2))
        sizes[layout.levels - len(layout.programs) :] = gradients[list(layout.programs)]
    return np.asarray(size * (MISSED + pulled) * sizes)


def units_of(task: Task) -> dict[str, str]:
    """Units of the series of a run by name, where they are known."""
    known = task.equations.kept("units of a run", lambda: _units_of(task.system))
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


def _events(watch: Watch, record: Record) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Times (m,) and states (m, states) of every event."""
    for found in watch.found:
        times = np.array([t for t, _ in found])
        rows = np.array([y for _, y in found]).reshape(len(found), len(record.end[1]))
        yield times, rows[:, : record.states]
