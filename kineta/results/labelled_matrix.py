"""Matrices as text, with the names of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray


def labelled(
    name: str, rows: Sequence[str], columns: Sequence[str], values: FloatArray, *, mixed: bool = False
) -> list[str]:
    """Return the lines of a table of *values* (rows, columns), with *name* in its corner and zeros for rounding errors:
    beside the largest value, or, of values of *mixed* units, beside the largest of the row and the largest of the column.
    """
    own = abs(values)
    sizes = own.max(initial=0.0)
    if mixed and values.size:
        sizes = np.minimum(own.max(axis=1, keepdims=True), own.max(axis=0, keepdims=True))
    shown = np.where(own <= tolerances.ROUNDING_TOLERANCE * sizes, 0.0, values)
    cells = [[f"{x:.6g}" for x in row] for row in shown.tolist()]
    lines = aligned((name, *columns), *((head, *row) for head, row in zip(rows, cells, strict=True)))
    return [line.rstrip() for line in lines]


def aligned(*rows: Sequence[str]) -> list[str]:
    """Return the lines of a table: names on the left, numbers to the right of their columns."""
    first, *rest = (max(map(len, column)) for column in zip(*rows, strict=True))
    return ["  ".join([name.ljust(first), *map(str.rjust, cells, rest)]) for name, *cells in rows]
