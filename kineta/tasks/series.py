"""What has a value at every time, by name: to be looked at, drawn and saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, MissingPackageError, SimulationError, did_you_mean, shown
from kineta.files import path_of, write
from kineta.model.infer import few

if TYPE_CHECKING:
    import pandas

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """Values along a motion of *model*.

    t : (k,) times [s]; series : name to (k,) values; units : name to unit, where that is known
    """

    model: str
    t: FloatArray
    series: Mapping[str, FloatArray]
    units: Mapping[str, str]
    cases: ClassVar[None] = None  # one motion, where a run may be several

    def __getitem__(self, name: str) -> FloatArray:
        """The values (k,) of a series, or the times ``t``. Raises :class:`ArgumentError` for an unknown name."""
        found = {"t": self.t, **self.series}.get(name) if isinstance(name, str) else None
        if found is None:
            near = did_you_mean(name, self.series) or f" There are {few(self.series)}."
            raise ArgumentError(f"Model '{self.model}': there is no series {shown(name)}.{near}")
        return found

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} s" if len(self.t) == 1 else f"{len(self.t)} times to t = {self.t[-1]:g} s"
        return f"<{type(self).__name__} of '{self.model}': {len(self.series)} series, {span}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per time and one column per series."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("pandas", "xarray") from None
        return pandas.DataFrame({"t": self.t, **self.series}).set_index("t")

    def save(self, path: str | Path, *names: str) -> None:
        """Write a table to a file ``.csv``: the times, then the series *names*, all if none is given. A table of coordinates is a
        motion again.
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
        from kineta.views.plot import plot

        return plot(self, *names, ax=ax)


def check_finite(model: str, t: FloatArray, series: Mapping[str, FloatArray]) -> None:
    """Raise :class:`SimulationError` where one of the *series* (k, ...) has no finite value: the first, and when."""
    for name, values in series.items():
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(t), -1).all(axis=1))
        if len(bad):
            raise SimulationError(
                f"Model '{model}': {name} has no finite value at t = {t[bad[0]]:g} s; check where the expressions of the model "
                "are defined along this motion."
            )
