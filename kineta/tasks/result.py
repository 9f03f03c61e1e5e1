"""``Result``: what a run gave, as arrays with names and units."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, MissingPackageError, did_you_mean
from kineta.files import write
from kineta.model.infer import ENERGIES
from kineta.tasks.status import DONE, EVENT
from kineta.threads import once

if TYPE_CHECKING:
    import pandas
    import xarray

    from kineta.model.system import System

FloatArray = NDArray[np.float64]

_ENERGIES = (*ENERGIES, "work")


def series_names(system: System) -> tuple[str, ...]:
    """Names of the series that a run of *system* has: coordinates, speeds, energies, outputs."""
    named = (*system.q_names, *system.v_names, *_ENERGIES, *(o.name for o in system.outputs))
    return tuple(dict.fromkeys(named))


@dataclass(frozen=True, eq=False)
class Result:
    """A motion. Two results are equal if they are one object.

    Attributes
    ----------
    t : (k,) times [s]; y : (nq + nv, k) states as in SciPy; sol : the solution as a function of t, or None
    t_events, y_events : times (m,) and states (m, nq + nv) of every event
    nfev, status, message, success : as in SciPy: status 0 at the end, 1 at a terminal event, -1 after a failure, 2 after an
        interruption, 3 where tolerances do not explain the energy balance, 4 after as many steps as were allowed
    q_names, v_names, units : what the rows of y are
    outputs : name to (k,) values of the outputs of the model
    kinetic_energy, potential_energy, work : (k,) [J]; work is that of all that is not conservative
    energy_balance : largest deviation of energy - work from its value at the start, relative to the energies at play
    parameters : name to value; steps, rejected : of the method; seconds : run time
    """

    model: str
    method: str
    t: FloatArray
    y: FloatArray
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    units: Mapping[str, str]
    outputs: Mapping[str, FloatArray]
    kinetic_energy: FloatArray
    potential_energy: FloatArray
    work: FloatArray
    energy_balance: float
    parameters: Mapping[str, float]
    status: int
    message: str
    nfev: int
    steps: int
    rejected: int
    seconds: float
    t_events: tuple[FloatArray, ...] = ()
    y_events: tuple[FloatArray, ...] = ()
    event_names: tuple[str, ...] = ()
    sol: Any = field(default=None, repr=False)

    @property
    def success(self) -> bool:
        """True where the run reached its end or a terminal event."""
        return self.status in (DONE, EVENT)

    @property
    def q(self) -> FloatArray:
        """Coordinates, (k, nq)."""
        return self.y[: len(self.q_names)].T

    @property
    def v(self) -> FloatArray:
        """Speeds, (k, nv)."""
        return self.y[len(self.q_names) :].T

    @property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy, (k,) [J]."""
        return self.kinetic_energy + self.potential_energy

    @once
    def series(self) -> dict[str, FloatArray]:
        """Everything that has a value at every time, by name."""
        named = dict(zip((*self.q_names, *self.v_names), self.y, strict=True))
        return named | {n: getattr(self, n) for n in _ENERGIES} | dict(self.outputs)

    def __getitem__(self, name: str) -> FloatArray:
        """The values (k,) of a coordinate, speed, energy or output. Raises :class:`ArgumentError` for an unknown name."""
        if name == "t":
            return self.t
        if name not in self.series:
            raise ArgumentError(f"Run of '{self.model}': there is no series '{name}'.{did_you_mean(name, self.series)}")
        return self.series[name]

    def __repr__(self) -> str:
        return f"<Result of '{self.model}': {self.message}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in self.summary().items())
        return f"<table><caption>{self.model}</caption>{rows}</table>"

    def summary(self) -> dict[str, Any]:
        """The run in a few words and numbers."""
        return {
            "model": self.model,
            "method": self.method,
            "outcome": self.message,
            "success": self.success,
            "t": [float(t) for t in self.t[[0, -1]]] if len(self.t) else [],
            "steps": self.steps,
            "rejected": self.rejected,
            "evaluations": self.nfev,
            "energy_balance": self.energy_balance,
            "seconds": self.seconds,
        }

    # -- elsewhere ------------------------------------------------------------------------------------------------

    def to_xarray(self) -> xarray.Dataset:
        """A data set with the dimensions ``time``, ``coordinate`` and ``speed``; units in the attributes."""
        try:
            import xarray
        except ImportError:
            raise MissingPackageError("xarray", "xarray") from None
        variables: dict[str, Any] = {
            "q": (("time", "coordinate"), self.q, {"units": "see unit_of_coordinate"}),
            "v": (("time", "speed"), self.v, {"units": "see unit_of_speed"}),
            "unit_of_coordinate": ("coordinate", [self.units.get(n, "") for n in self.q_names]),
            "unit_of_speed": ("speed", [self.units.get(n, "") for n in self.v_names]),
        }
        for name in ("kinetic_energy", "potential_energy", "work"):
            variables[name] = ("time", getattr(self, name), {"units": "J"})
        variables |= {f"output.{n}": ("time", x, {"units": self.units.get(n, "")}) for n, x in self.outputs.items()}
        for i, (t, y) in enumerate(zip(self.t_events, self.y_events, strict=True)):
            variables[f"event{i}.t"] = (f"event{i}", t, {"units": "s"})
            variables[f"event{i}.y"] = ((f"event{i}", "state"), y.reshape(len(t), len(self.y)))
        coordinates = {
            "time": ("time", self.t, {"units": "s"}),
            "coordinate": list(self.q_names),
            "speed": list(self.v_names),
        }
        return xarray.Dataset(variables, coordinates, {"kineta": json.dumps(self._attributes())})

    def _attributes(self) -> dict[str, Any]:
        plain = ("model", "method", "status", "message", "nfev", "steps", "rejected", "seconds", "energy_balance")
        return {n: getattr(self, n) for n in plain} | {
            "parameters": dict(self.parameters),
            "units": dict(self.units),
            "event_names": list(self.event_names),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per time and one column per series."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("pandas", "xarray") from None
        return pandas.DataFrame(self.series, index=pandas.Index(self.t, name="t"))

    def save(self, path: str | Path) -> None:
        """Write the run to a file: NetCDF (``.nc``), read back by ``kineta.load_result``, or a table (``.csv``)."""
        path = Path(path)
        if path.suffix not in (".nc", ".csv"):
            raise ArgumentError(f"Expected a file '.nc' or '.csv', found '{path.name}'.")
        write({path: self._table() if path.suffix == ".csv" else self._netcdf()})

    def _table(self) -> bytes:
        # The shortest digits that read back as the same number are those of Python.
        rows = (map(repr, row.tolist()) for row in np.column_stack([self.t, *self.series.values()]))
        return "".join(f"{','.join(cells)}\n" for cells in (("t", *self.series), *rows)).encode()

    def _netcdf(self) -> bytes:
        # In memory: where the disk is full, the HDF5 library ends the process instead of raising an error.
        memory = io.BytesIO()
        self.to_xarray().to_netcdf(memory, engine=_netcdf())
        return memory.getvalue()

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw the series *names* (all coordinates, if not given) over time; returns the Matplotlib axes."""
        from kineta.views.plot import plot

        return plot(self, *names, ax=ax)


def _netcdf() -> Any:
    try:
        import h5netcdf  # noqa: F401  the engine behind xarray
    except ImportError:
        raise MissingPackageError("h5netcdf", "xarray") from None
    return "h5netcdf"
