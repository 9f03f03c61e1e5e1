"""Matrices as text, with the names of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from kineta import tolerances
from kineta.arrays import FloatArray


def labelled(name: str, rows: Sequence[str], columns: Sequence[str], values: FloatArray) -> list[str]:
    """Return the lines of a table of *values* (rows, columns), with *name* in its corner and zeros for rounding errors."""
    size = abs(values).max(initial=0.0)
    cells = [
        [f"{0.0 if abs(x) <= tolerances.ROUNDING_TOLERANCE * size else x:.6g}" for x in row] for row in values.tolist()
    ]
    own = aligned((name, *columns), *((head, *row) for head, row in zip(rows, cells, strict=True)))
    return [line.rstrip() for line in own]


def aligned(*rows: Sequence[str]) -> list[str]:
    """Return the lines of a table: names on the left, numbers to the right of their columns."""
    first, *rest = (max(map(len, column)) for column in zip(*rows, strict=True))
    return ["  ".join([name.ljust(first), *map(str.rjust, cells, rest)]) for name, *cells in rows]
