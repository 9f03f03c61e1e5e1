"""From what a run kept to its :class:`~kineta.tasks.result.Result`: energies, outputs, units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kineta.model.infer import ENERGIES, POINT_COMPONENTS, units
from kineta.model.system import System
from kineta.numerics.segments import Integration
from kineta.tasks.code import Bound
from kineta.tasks.events import Watch
from kineta.tasks.record import Record, normalise
from kineta.tasks.result import Result

FloatArray = NDArray[np.float64]

#: Units of what follows the dot in ``P.x`` or ``P.vz``.
_COMPONENTS = {c: "m/s" if c.startswith("v") else "m" for c in POINT_COMPONENTS}


def result(
    system: System,
    made: Bound,
    run: Integration,
    record: Record,
    watch: Watch,
    status: int,
    message: str,
    seconds: float,
) -> Result:
    """The result of *run*, which ended with *status* and *message*."""
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(run.problem.y0))), *(rows[1] for rows in record.rows)])
    observed = made.code.observe(t[:, None], y, made.h)
    kinetic, potential = observed[:, 0], observed[:, 1]
    work = y[:, record.states] if made.code.works else np.zeros(len(t))
    names = [o.name for o in system.outputs]
    events = list(_events(watch, record))
    balance = _balance(kinetic, potential, work)
    return Result(
        model=system.name,
        method=run.method,
        t=t,
        y=np.ascontiguousarray(y[:, : record.states].T),
        q_names=system.q_names,
        v_names=system.v_names,
        units=_units(system),
        outputs=dict(zip(names, observed[:, 2:].T, strict=True)),
        kinetic_energy=kinetic,
        potential_energy=potential,
        work=work,
        energy_balance=balance,
        parameters=dict(zip(system.parameter_names, made.p.tolist(), strict=True)),
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
    )


def _units(system: System) -> dict[str, str]:
    """Units of the series of a run by name; of an output that is more than a name none is known."""
    known = units(system) | dict.fromkeys((*ENERGIES, "work"), "J")
    for output in system.outputs:
        value = str(output.value)
        owner, _, component = value.rpartition(".")
        if value in output.value.symbols() and (value in known or (owner and component in _COMPONENTS)):
            known[output.name] = known[value] if value in known else _COMPONENTS[component]
    return known


def _events(watch: Watch, record: Record) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Times (m,) and states (m, states) of every event."""
    for found in watch.found:
        rows = np.array([y[: record.states] for _, y in found]).reshape(len(found), record.states)
        normalise(rows, record.quaternions)
        yield np.array([t for t, _ in found]), rows


def _balance(kinetic: FloatArray, potential: FloatArray, work: FloatArray) -> float:
    """Largest deviation of energy - work from its first value, relative to the largest change of a form of energy."""
    if not len(kinetic):
        return 0.0
    kept = kinetic + potential - work
    sizes = (np.abs(kinetic).max(), np.abs(potential - potential[0]).max(), np.abs(work).max())
    return float(np.abs(kept - kept[0]).max() / max(*sizes, 1e-300))
