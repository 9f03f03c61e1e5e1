"""The stiffness of an equilibrium, by names and with units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import MissingPackageError
from kineta.model.reserved_symbols import added_force
from kineta.numerics.linear_algebra import inv, pivoted_qr
from kineta.records import dataclass
from kineta.results.labelled_matrix import labelled
from kineta.tasks.linear.stability import Stability

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Stiffness:
    """The restoring forces of small displacements: force = -matrix displacement.

    names : of the independent coordinates (f,); dependent coordinates follow by the constraints, and steady motions keep their
        momenta. The coordinate ``b.wx`` is the rotation about that axis of the body
    matrix : (f, f), a row for every force, a column for every displacement
    units : (f, f) of the entries, ``""`` where unknown
    """

    names: tuple[str, ...]
    matrix: FloatArray
    units: tuple[tuple[str, ...], ...]

    def as_dict(self) -> dict[str, object]:
        """Return names, matrix and units as plain data."""
        return {"names": list(self.names), "matrix": self.matrix.tolist(), "units": [list(row) for row in self.units]}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with the names as index and columns. Raises :class:`MissingPackageError` without pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("pandas", "xarray") from None
        return pandas.DataFrame(self.matrix, index=self.names, columns=self.names)

    def __str__(self) -> str:
        units = dict.fromkeys(unit for row in self.units for unit in row if unit)
        corner = f"K [{next(iter(units))}]" if len(units) == 1 else "K"
        lines = labelled(corner, self.names, self.names, self.matrix)
        if len(units) > 1:
            own = zip(self.names, self.units, strict=True)
            lines += [f"units of {name}: {', '.join(unit or '?' for unit in row)}" for name, row in own]
        return "\n".join(lines)


def named(
    stability: Stability, speeds: Sequence[str], units: Mapping[str, str], forces: Mapping[str, str]
) -> Stiffness:
    """Return the stiffness of *stability* in physical coordinates: as many *speeds* as degrees of freedom, chosen by pivoting.
    *units* of coordinates and speeds, and of *forces* ``tau[q1']``, by name.
    """
    Z = stability.directions
    if not Z.size:
        return Stiffness((), np.zeros((0, 0)), ())
    _, _, order = pivoted_qr(Z.T, what="the independent coordinates of the stiffness")
    chosen = sorted(order[: Z.shape[1]].tolist())
    W = inv(Z[chosen], what="the independent coordinates of the stiffness")
    names = tuple(speeds[k].removesuffix("'") for k in chosen)
    by = [_of_displacement(speeds[k], units) for k in chosen]
    of = [forces.get(added_force(speeds[k]), "") for k in chosen]
    return Stiffness(
        names, W.T @ stability.stiffness @ W, tuple(tuple(f"{f}/{u}" if f and u else "" for u in by) for f in of)
    )


def _of_displacement(speed: str, units: Mapping[str, str]) -> str:
    """Return the unit of the displacement whose rate is the *speed*: of its coordinate, or of a quasi-velocity times time."""
    coordinate = units.get(speed.removesuffix("'"), "") if speed.endswith("'") else ""
    return coordinate or units.get(speed, "").removesuffix("/s")
