"""From what a run kept to its :class:`~kineta.tasks.result.Result`: energies, outputs, units."""

from __future__ import annotations

from collections.abc import Iterator
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from kineta.errors import KinetaWarning
from kineta.model.dimensions import output_units
from kineta.model.infer import ENERGIES, units
from kineta.model.system import System
from kineta.numerics.segments import Integration
from kineta.tasks.balance import Energies, explained
from kineta.tasks.code import Bound
from kineta.tasks.domain import Domain
from kineta.tasks.events import Watch
from kineta.tasks.record import Record, normalise
from kineta.tasks.result import Result
from kineta.tasks.status import DONE, EVENT, UNBALANCED

FloatArray = NDArray[np.float64]


def result(
    system: System,
    made: Bound,
    run: Integration,
    record: Record,
    watch: Watch,
    domain: Domain,
    status: int,
    message: str,
    seconds: float,
) -> Result:
    """The result of *run*, which ended with *status* and *message*; a success must keep the balance of energy."""
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(run.problem.y0))), *(rows[1] for rows in record.rows)])
    observed = made.code.observe(t[:, None], y, made.h)
    kinetic, potential = observed[:, 0], observed[:, 1]
    work = y[:, record.states] if made.code.works else np.zeros(len(t))
    names = [o.name for o in system.outputs]
    events = list(_events(watch, record))
    energies = Energies(kinetic, potential, work)
    if status in (DONE, EVENT) and not _is_explained(energies, made, run, record, t, y):
        why = domain.edge(last=False) or (
            "an expression may have left its domain, a force have jumped, or a drive be faster than the steps (max_step)"
        )
        status, message = UNBALANCED, f"{message}, but tolerances do not explain the balance of energy: {why}"
        warn(f"Model '{system.name}': {message}; energy balance {energies.balance:.1e}.", KinetaWarning, stacklevel=3)
    return Result(
        model=system.name,
        method=run.method,
        t=t,
        y=np.ascontiguousarray(y[:, : record.states].T),
        q_names=system.q_names,
        v_names=system.v_names,
        units=units(system) | dict.fromkeys((*ENERGIES, "work"), "J") | output_units(system),
        outputs=dict(zip(names, observed[:, 2:].T, strict=True)),
        kinetic_energy=kinetic,
        potential_energy=potential,
        work=work,
        energy_balance=energies.balance,
        parameters=dict(zip(system.parameter_names, made.p.tolist(), strict=True)),
        status=status,
        message=f"{message}; energy balance {energies.balance:.1e}",
        nfev=run.evaluations,
        steps=record.steps,
        rejected=run.rejected,
        seconds=seconds,
        t_events=tuple(e[0] for e in events),
        y_events=tuple(e[1] for e in events),
        event_names=tuple(e.name for e in watch.events),
        sol=record.solution(),
    )


def _events(watch: Watch, record: Record) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Times (m,) and states (m, states) of every event."""
    for found in watch.found:
        rows = np.array([y[: record.states] for _, y in found]).reshape(len(found), record.states)
        normalise(rows, record.quaternions)
        yield np.array([t for t, _ in found]), rows


def _is_explained(
    energies: Energies, made: Bound, run: Integration, record: Record, t: FloatArray, y: FloatArray
) -> bool:
    """Whether the tolerances of *run* explain the balance of its *energies*."""

    def energy(t: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(made.code.observe(t[:, None], y, made.h)[:, :2].sum(axis=1))

    steered = run.problem.steering
    return explained(energies, energy, t, y, steered, rtol=run.rtol, atol=run.atol, steps=record.steps)
