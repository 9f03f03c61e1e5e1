"""Matrices as text, with the names of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.arrays import FloatArray

#: Ratio to the largest entry below which one is rounding error.
ROUNDING = 1e-14


def labelled(name: str, rows: Sequence[str], columns: Sequence[str], values: FloatArray) -> list[str]:
    """Return the lines of a table of *values* (rows, columns), with *name* in its corner and zeros for rounding errors."""
    size = abs(values).max(initial=0.0)
    cells = [[f"{0.0 if abs(x) <= ROUNDING * size else x:.6g}" for x in row] for row in values.tolist()]
    heads = [(name, *columns), *((head, *row) for head, row in zip(rows, cells, strict=True))]
    widths = [max(map(len, column)) for column in zip(*heads, strict=True)]
    return [
        "  ".join([first.ljust(widths[0]), *(x.rjust(w) for x, w in zip(rest, widths[1:], strict=True))]).rstrip()
        for first, *rest in heads
    ]
