"""``Series``: values over time by name, with their units, pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.errors import ArgumentError, MissingPackageError, SimulationError, nearest_or_listed, readable, shown
from kineta.files import path_of, write
from kineta.records import dataclass
from kineta.results.ruled_table import ruled, value_text

if TYPE_CHECKING:
    import pandas


class Extremes(NamedTuple):
    """The least and the largest value of a series, and their times [s]."""

    least: float
    t_least: float
    largest: float
    t_largest: float


def first_largest(rows: FloatArray) -> IntArray:
    """The places (n,) in *rows* (n, k) of their first values within rounding of the largest, relative to all of a row."""
    rounding = tolerances.ROUNDING_TOLERANCE * np.abs(rows).max(axis=1)
    found: IntArray = (rows >= (rows.max(axis=1) - rounding)[:, None]).argmax(axis=1)
    return found


@public
@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """Values along a motion of *model*.

    t : (k,) times [s]; series : name to (k,) values; units : name to unit, where known
    """

    model: str
    t: FloatArray
    series: Mapping[str, FloatArray]
    units: Mapping[str, str]
    cases: ClassVar[None] = None  # one motion: no ensemble, unlike a run

    _repr_html_ = notebook

    def __getitem__(self, name: str) -> FloatArray:
        """Return the values (k,) of a series, or the times ``t``. Raises :class:`ArgumentError` for an unknown name."""
        found = {"t": self.t, **self.series}.get(name) if isinstance(name, str) else None
        if found is None:
            near = nearest_or_listed(name, self.series)
            raise ArgumentError(f"Model '{self.model}': there is no series {shown(name)}.{near}")
        return found

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} s" if len(self.t) == 1 else f"{len(self.t)} times to t = {self.t[-1]:g} s"
        return f"<{type(self).__name__} of '{self.model}': {len(self.series)} series, {span}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the whole motion."""
        return ()

    def findings(self) -> dict[str, Any]:
        """Return the results that are no series, as plain data."""
        return {}

    def lines(self, extremes: Mapping[str, Extremes] | None = None) -> list[str]:
        """Return the remarks, and a table of first and last values and of the *extremes*, by default those of the samples; what
        is constant as it is shown has both at the start.
        """
        several = len(self.t) > 1
        head = ("", "start", "end", "least", "at t [s]", "largest", "at t [s]") if several else ("", "")
        text, rows = value_text(self.series, self.units), []
        for name, x in self.series.items():
            unit, values = self.units.get(name, ""), [x[0]]
            if several:
                low, high = first_largest(np.array([-x, x]))
                own = (x[low], self.t[low], x[high], self.t[high]) if extremes is None else extremes[name]
                if text(name, own[0]) == text(name, own[2]):
                    own = (own[0], self.t[0], own[2], self.t[0])
                values += [x[-1], *own]
            # The times of the extremes stand at 3 and 5.
            cells = (f"{v:.6g}" if k in (3, 5) else text(name, v, 0 if k == 0 else -1) for k, v in enumerate(values))
            rows.append((f"{name} [{unit}]" if unit else name, *cells))
        table = ruled(head, *((readable(name), *rest) for name, *rest in rows))
        return [repr(self)[1:-1], *(f"  {note}" for note in self.notes), *table]

    def as_dict(self, extremes: Mapping[str, Extremes] | None = None) -> dict[str, Any]:
        """Return everything as plain data, with the *extremes* where they were sought."""
        most = {} if extremes is None else {"extremes": {n: x._asdict() for n, x in extremes.items()}}
        series = {n: x.tolist() for n, x in self.series.items()}
        return {
            "model": self.model,
            "t": self.t.tolist(),
            "series": series,
            "units": dict(self.units),
            **self.findings(),
            **most,
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with one row per time and one column per series."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("pandas", "xarray") from None
        return pandas.DataFrame({"t": self.t, **self.series}).set_index("t")

    def save(self, path: str | Path, *names: str) -> None:
        """Write a table to a file ``.csv``: the times, then the series *names*, by default all. Tables of coordinates can be read
        as motions.
        """
        path = path_of(path, "the path of a file")
        if path.suffix != ".csv":
            raise ArgumentError(f"Expected a file '.csv', found '{path.name}'.")
        columns = {"t": self.t, **({n: self[n] for n in names} if names else self.series)}
        # The shortest digits that read back as the same number are those of Python.
        rows = (map(repr, row) for row in zip(*(x.tolist() for x in columns.values()), strict=True))
        write({path: "".join(f"{','.join(cells)}\n" for cells in (columns, *rows)).encode()})

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw the series *names* over time; returns the Matplotlib axes."""
        return draw(self, *names, ax=ax)


def check_finite(model: str, t: FloatArray, series: Mapping[str, FloatArray]) -> None:
    """Raise :class:`SimulationError` for a value of the *series* (k, ...) that is not finite, with the first time."""
    for name, values in series.items():
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(t), -1).all(axis=1))
        if len(bad):
            raise SimulationError(
                f"Model '{model}': {name} has no finite value at t = {t[bad[0]]:g} s; check where the expressions of the model "
                "are defined along this motion."
            )
