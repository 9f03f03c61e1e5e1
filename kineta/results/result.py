"""``Result``: the record of a run, as arrays with names and units."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kineta.arrays import FloatArray
from kineta.calls import public
from kineta.drawing import draw, pictured, show
from kineta.errors import ArgumentError, MissingPackageError, did_you_mean, readable, shown
from kineta.files import path_of, write
from kineta.model.contacts.mutual_contact import pair_forces
from kineta.model.name_inference import contact_rows
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, added_force, forced
from kineta.records import dataclass
from kineta.results.cases import Cases
from kineta.results.fingerprint import digest
from kineta.results.impacts import Impact
from kineta.results.outcomes import DONE, EARLY, EVENT
from kineta.results.ruled_table import ruled, value_text
from kineta.threads import once
from kineta.values import numbers

if TYPE_CHECKING:
    import pandas
    import xarray

    from kineta.equations.equations import Equations
    from kineta.model.system import System


_ENERGIES = (*ENERGIES, "work")


def _nothing() -> None:
    """A field that is not given."""


def series_names(equations: Equations) -> tuple[str, ...]:
    """Names of the series that a run of *equations* has: coordinates, speeds, energies, parameters that switches set, outputs,
    rates of first-order states, multipliers of constraints, forces of contacts, added forces.
    """
    system = equations.system
    shown = (*system.switched, *(o.name for o in system.recorded))
    forces = map(added_force, system.v_names)
    named = (*system.q_names, *system.v_names, *_ENERGIES, *shown, *equations.multipliers, *forces)
    touching = (*(f"{MULTIPLIER}{n}" for n in contact_rows(system)), *pair_forces(system))
    return tuple(dict.fromkeys((*named, *touching)))


@public
@dataclass(frozen=True, eq=False)
class Result:
    """A motion, or several cases of it, which have a leading axis (cases,). Two results are equal if they are one object.

    Attributes
    ----------
    t : (k,) times [s]; y : (nq + nv, k) states as in SciPy; sol : the solution as a function of t, or None
    t_events, y_events : times (m,) and states (m, nq + nv) of every event
    nfev, status, message, success : as in SciPy: status 0 at the end, 1 at a terminal event, -1 after a failure, 2 after an
        interruption, 3 where tolerances do not explain the energy balance or the residual of constraints, 4 out of steps
    q_names, v_names, units : what the rows of y are; level_names: derivatives of the speeds that follow there under programs
    outputs : name to (k,) values of the outputs of the model, of rates of first-order states, of parameters that switches set,
        and of forces
    kinetic_energy, potential_energy, work : (k,) [J]; work is that of all that is not conservative
    energy_balance : largest deviation of energy - work from its value at the start, relative to the energies at play
    residual : largest violation of constraints, and of the rates of those on positions
    notes : remarks on the run, as on redundant constraints that were left out
    changes : times and words of what happened on the way: ``(1.2, "foot strikes")``; impacts, rest, slip, switches
    impacts : the impulses of all impacts, each a named tuple :class:`Impact`, as ``pandas.DataFrame`` takes them
    system : the model, for pictures of it; None for a run from a file
    parameters : name to value, or to a column (cases, 1); steps, rejected : of the method; seconds : run time
    cases : how each of them ended; None for one motion. All else that is one number is then that of all of them
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
    residual: float
    parameters: Mapping[str, Any]
    status: int
    message: str
    nfev: int
    steps: int
    rejected: int
    seconds: float
    # A default that is made leaves the class without an attribute, in whose place a field would not be asked for.
    t_events: tuple[FloatArray, ...] = field(default_factory=tuple)
    y_events: tuple[FloatArray, ...] = field(default_factory=tuple)
    event_names: tuple[str, ...] = field(default_factory=tuple)
    sol: Any = field(default_factory=_nothing, repr=False)
    cases: Cases | None = field(default_factory=_nothing)
    notes: tuple[str, ...] = field(default_factory=tuple)
    changes: tuple[tuple[float, str], ...] = field(default_factory=tuple)
    impacts: tuple[Impact, ...] = field(default_factory=tuple)
    level_names: tuple[str, ...] = field(default_factory=tuple)
    system: System | None = field(default_factory=_nothing, repr=False)

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """The field *name*, made with all others of :func:`result_at_look`."""
            own = self.__dict__
            if name in _FIELDS and (rest := own.get("_rest")) is not None:
                for field_name, value in rest().items():
                    own.setdefault(field_name, value)  # of another thread, if it was first
                own.pop("_rest", None)
            if name in own:
                return own[name]
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __getstate__(self) -> dict[str, Any]:
        """All fields, for a copy or another process."""
        return {name: getattr(self, name) for name in _FIELDS}

    @property
    def success(self) -> bool:
        """True where the run reached its end or a terminal event."""
        return self.status in (DONE, EVENT)

    @property
    def q(self) -> FloatArray:
        """Coordinates, (k, nq)."""
        return np.swapaxes(self.y[..., : len(self.q_names), :], -1, -2)

    @property
    def v(self) -> FloatArray:
        """Speeds, (k, nv)."""
        nq, nv = len(self.q_names), len(self.v_names)
        return np.swapaxes(self.y[..., nq : nq + nv, :], -1, -2)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the rows of y."""
        return (*self.q_names, *self.v_names, *self.level_names)

    @property
    def tau(self) -> FloatArray:
        """The forces on the speeds that were given beside those of the model, (k, nv)."""
        zero = np.zeros_like(self.work)
        columns = [self.outputs.get(added_force(n), zero) for n in self.v_names]
        return np.stack(columns, axis=-1) if columns else np.empty((*zero.shape, 0))

    @property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy, (k,) [J]."""
        return self.kinetic_energy + self.potential_energy

    @once
    def series(self) -> dict[str, FloatArray]:
        """All series by name."""
        named = dict(zip(self.states, np.moveaxis(self.y, -2, 0), strict=True))
        return named | {n: getattr(self, n) for n in _ENERGIES} | dict(self.outputs)

    def __getitem__(self, name: str) -> FloatArray:
        """The values (k,) of a coordinate, speed, energy or output. Raises :class:`ArgumentError` for an unknown name."""
        found = {"t": self.t, **self.series}.get(name) if isinstance(name, str) else None
        if found is None and isinstance(name, str) and forced(name) in self.v_names:
            return np.zeros_like(self.work)
        if found is None:
            near = did_you_mean(name, self.series)
            if self.system is not None and name in pair_forces(self.system):
                near = " Pairs that do not press each other have no force."
            raise ArgumentError(f"Run of '{self.model}': there is no series {shown(name)}.{near}")
        return found

    def __repr__(self) -> str:
        return f"<Result of '{self.model}': {self.message}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in self.summary().items())
        return pictured(f"<table><caption>{self.model}</caption>{rows}</table>", self)

    def summary(self) -> dict[str, Any]:
        """Return the run in a few words and numbers."""
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
            "residual": self.residual,
            "notes": list(self.notes),
            "changes": len(self.changes),
            "seconds": self.seconds,
        }

    def lines(self) -> list[str]:
        """Return the outcome, first and last values of all series, and the impacts of each contact, as text."""
        work = f"{self.method}: {self.steps} steps, {self.nfev} evaluations, {self.seconds:.3g} s"
        lines = [f"{self.model}: {self.message}", *(f"  {note}" for note in self.notes), f"  {work}"]
        if len(self.t):
            series = self.series
            units = {n: self.units.get(n, "J" if n.endswith("energy") or n == "work" else "") for n in series}
            text = value_text(series, units)
            heads = {n: readable(f"{n} [{unit}]" if unit else n) for n, unit in units.items()}
            lines += ruled(
                ("", "start", "end"), *((heads[n], text(n, x[0], 0), text(n, x[-1])) for n, x in series.items())
            )
        return [*lines, *(_impact_table(self.impacts) if self.impacts else ())]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary, the impacts, the parameters and the last values as plain data."""
        final = {name: float(values[-1]) for name, values in self.series.items() if len(values)}
        impacts = [x._asdict() for x in self.impacts]
        return {**self.summary(), "impacts": impacts, "parameters": dict(self.parameters), "final": final}

    def at(self, t: Any) -> Result:
        """Return the run at other times *t*, rising or in its order: all series of the dense solution. Raises
        :class:`ArgumentError` for times beyond it, and for a run without ``dense_output``.
        """
        if self.sol is None:
            raise ArgumentError(f"Run of '{self.model}': its solution was not kept; simulate with dense_output=True.")
        times = np.atleast_1d(numbers("t", t))
        self.sol(times)
        found: Result = self.sol.sampled(self, times)
        return found

    def case(self, i: int) -> Result:
        """Case *i* of an ensemble as a run of its own, to its last recorded time, or where it ended before.

        Raises :class:`ArgumentError` where there is no such case.
        """
        cases = self.cases
        if cases is None:
            raise ArgumentError(f"Expected a run of several cases, found {self!r}.")
        if isinstance(i, bool) or not isinstance(i, int | np.integer) or not -len(cases) <= i < len(cases):
            raise ArgumentError(f"Run of '{self.model}': expected a case from 0 to {len(cases) - 1}, found {shown(i)}.")
        i = int(i) % len(cases)
        k = int(cases.recorded[i])
        found = [events == i for events in cases.events]
        early = cases.status[i] in EARLY and cases.nfev[i] > 0
        early = early or any(cases.t[i] in t[mine] for t, mine in zip(self.t_events, found, strict=True))
        # The grid has no place for the time of an early end.
        beyond = early and (k == 0 or self.t[k - 1] != cases.t[i])

        def row(name: str, values: FloatArray) -> FloatArray:
            return np.append(values[i, :k], cases.end[name][i]) if beyond else values[i, :k].copy()

        names = self.states
        rows = [row(n, self.y[:, j]) for j, n in enumerate(names)]
        return replace(
            self,
            t=np.append(self.t[:k], cases.t[i]) if beyond else self.t[:k].copy(),
            y=np.array(rows).reshape(len(names), k + beyond),
            outputs={n: row(n, x) for n, x in self.outputs.items()},
            kinetic_energy=row("kinetic_energy", self.kinetic_energy),
            potential_energy=row("potential_energy", self.potential_energy),
            work=row("work", self.work),
            energy_balance=float(cases.energy_balance[i]),
            residual=float(cases.residual[i]) if len(cases.residual) else self.residual,
            parameters={n: float(np.broadcast_to(x, (len(cases), 1))[i, 0]) for n, x in self.parameters.items()},
            status=int(cases.status[i]),
            message=cases.messages[i],
            nfev=int(cases.nfev[i]),
            steps=int(cases.steps[i]),
            rejected=int(cases.rejected[i]),
            seconds=self.seconds / len(cases),
            t_events=tuple(t[mine] for t, mine in zip(self.t_events, found, strict=True)),
            y_events=tuple(y[mine] for y, mine in zip(self.y_events, found, strict=True)),
            notes=(*self.notes, *cases.notes[i]),
            changes=cases.changes[i],
            impacts=cases.impacts[i],
            cases=None,
        )

    # -- elsewhere ------------------------------------------------------------------------------------------------

    def to_xarray(self) -> xarray.Dataset:
        """A data set with the dimensions ``time``, ``coordinate`` and ``speed``, and ``case`` where there are several; units in
        the attributes.
        """
        import json  # takes as long as much of a short call

        try:
            import xarray
        except ImportError:
            raise MissingPackageError("xarray", "xarray") from None
        lead = () if self.cases is None else ("case",)
        variables: dict[str, Any] = {
            "q": ((*lead, "time", "coordinate"), self.q, {"units": "see unit_of_coordinate"}),
            "v": ((*lead, "time", "speed"), self.v, {"units": "see unit_of_speed"}),
            "unit_of_coordinate": ("coordinate", [self.units.get(n, "") for n in self.q_names]),
            "unit_of_speed": ("speed", [self.units.get(n, "") for n in self.v_names]),
        }
        if self.level_names:
            rows = np.swapaxes(self.y[..., len(self.q_names) + len(self.v_names) :, :], -1, -2)
            variables["levels"] = ((*lead, "time", "level"), rows, {"units": "see unit_of_level"})
            variables["unit_of_level"] = ("level", [self.units.get(n, "") for n in self.level_names])
        for name in ("kinetic_energy", "potential_energy", "work"):
            variables[name] = ((*lead, "time"), getattr(self, name), {"units": "J"})
        for name, values in self.outputs.items():
            variables[f"output.{name}"] = ((*lead, "time"), values, {"units": self.units.get(name, "")})
        for i, (t, y) in enumerate(zip(self.t_events, self.y_events, strict=True)):
            variables[f"event{i}.t"] = (f"event{i}", t, {"units": "s"})
            variables[f"event{i}.y"] = ((f"event{i}", "state"), y.reshape(len(t), self.y.shape[-2]))
        coordinates: dict[str, Any] = {
            "time": ("time", self.t, {"units": "s"}),
            "coordinate": list(self.q_names),
            "speed": list(self.v_names),
        }
        if self.level_names:
            coordinates |= {"level": list(self.level_names)}
        if self.cases is not None:
            coordinates |= {"case": np.arange(len(self.cases)), "series": list(self.cases.end)}
            variables |= self.cases.variables()
            columns = {n: x for n, x in self.parameters.items() if isinstance(x, np.ndarray)}
            variables |= {f"parameter.{n}": ("case", column[:, 0]) for n, column in columns.items()}
        return xarray.Dataset(variables, coordinates, {"kineta": json.dumps(self._attributes())})

    def _attributes(self) -> dict[str, Any]:
        plain = "model method status message nfev steps rejected seconds energy_balance residual".split()
        return {n: getattr(self, n) for n in plain} | {
            "parameters": {n: None if isinstance(x, np.ndarray) else x for n, x in self.parameters.items()},
            "units": dict(self.units),
            "event_names": list(self.event_names),
            "notes": list(self.notes),
            "changes": [list(change) for change in self.changes],
            "impacts": [list(impact) for impact in self.impacts],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per time, of every case that has reached it, and one column per series."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("pandas", "xarray") from None
        index, columns = self._columns()
        return pandas.DataFrame(columns).set_index(index)

    def _columns(self) -> tuple[list[str], dict[str, NDArray[Any]]]:
        """Return index and columns of a table: one row per time, of every case that has reached it."""
        if self.cases is None:
            return ["t"], {"t": self.t, **self.series}
        case, k = np.nonzero(np.arange(len(self.t)) < self.cases.recorded[:, None])
        return ["case", "t"], {"case": case, "t": self.t[k]} | {n: x[case, k] for n, x in self.series.items()}

    def save(self, path: str | Path) -> None:
        """Write the run to a file: NetCDF (``.nc``), read back by ``kineta.load_result``, or a table (``.csv``)."""
        path = path_of(path, "the path of a file")
        if path.suffix not in (".nc", ".csv"):
            raise ArgumentError(f"Expected a file '.nc' or '.csv', found '{path.name}'.")
        write({path: self._table() if path.suffix == ".csv" else self._netcdf()})

    def _table(self) -> bytes:
        columns = self._columns()[1]
        # The shortest digits that read back as the same number are those of Python.
        rows = (map(repr, row) for row in zip(*(values.tolist() for values in columns.values()), strict=True))
        return "".join(f"{','.join(cells)}\n" for cells in (columns, *rows)).encode()

    def _netcdf(self) -> bytes:
        # In memory: where the disk is full, the HDF5 library ends the process instead of raising an error.
        memory = io.BytesIO()
        self.to_xarray().assign_attrs(digest=digest(self)).to_netcdf(memory, engine=_netcdf())
        return memory.getvalue()

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw the series *names* (all coordinates, if not given) over time; returns the Matplotlib axes."""
        return draw(self, *names, ax=ax)

    def picture(self, t: float | None = None, *, case: int = 0, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine at the time *t* [s], by default the last, in the *case* of this number; returns the Matplotlib axes.

        *towards* is the direction, three numbers, from which it is looked at. Raises :class:`ArgumentError` for a time outside of
        the run, and for a run from a file, which knows no model.
        """
        return show(self, t, case=case, towards=towards, ax=ax)

    def show(self, path: str | Path | None = None) -> Path:
        """Write a page of HTML in which the machine moves as in this run, and by its own equations once something is changed; by
        default one that is opened in the browser. Return its path.

        Raises :class:`ArgumentError` for a run of several cases, and for one from a file, which knows no model.
        """
        made: Path = import_module("kineta.page.document").show_run(self, path)
        return made

    def report(self, path: str | Path | None = None) -> Path:
        """Write a page of HTML to be read and printed: pictures, series, events, values, the model, its equations and their
        certificate; by default one that is opened in the browser. Return its path. Raises as :meth:`show`.
        """
        made: Path = import_module("kineta.tasks.report").Report(self).show(path)
        return made

    def animate(
        self, path: str | Path, *, case: int = 0, speed: float = 1.0, towards: Any = None, progress: bool = True
    ) -> None:
        """Write a film of the machine: ``.mp4`` or ``.webm``, which need the package imageio-ffmpeg, or ``.gif``; or its solids
        as they move: ``.glb``, a file of glTF 2.0, which browsers and programs of three dimensions read.

        *speed* is how many seconds of the run pass in one of the film, *progress* whether a bar tells how far it has come. Raises
        :class:`ArgumentError` for another kind of file, and leaves none where the film is not completed.
        """
        path = path_of(path, "the path of a film")
        if path.suffix == ".glb":
            write({path: import_module("kineta.tasks.moving_machine").moving_file(self, case, speed)})
            return
        import_module("kineta.views.film").write(self, path, case, speed, towards, progress=progress)


_FIELDS = frozenset(f.name for f in fields(Result))


def result_at_look(known: Mapping[str, Any], rest: Callable[[], Mapping[str, Any]]) -> Result:
    """Result with fields that are *known*, and all others as *rest* makes them, once, when one of them is asked for."""
    found = object.__new__(Result)
    found.__dict__.update(known, _rest=rest)
    return found


def _impact_table(impacts: Sequence[Impact]) -> list[str]:
    """Return a table of the number of impacts on each contact, the largest impulse with its time, and the energy lost."""
    rows = []
    for name in dict.fromkeys(x.contact for x in impacts):
        own = [x for x in impacts if x.contact == name]
        largest = max(own, key=lambda x: x.size)
        numbers = (f"{x:.6g}" for x in (largest.size, largest.t, sum(x.energy_lost for x in own)))
        rows.append((readable(name), str(len(own)), *numbers))
    return ruled(("impacts of", "", "largest impulse", "at t [s]", "energy lost [J]"), *rows)


def _netcdf() -> Any:
    try:
        import h5netcdf  # noqa: F401  the engine behind xarray
    except ImportError:
        raise MissingPackageError("h5netcdf", "xarray") from None
    return "h5netcdf"
