"""Rows of numbers as constants of the graph: step functions, which long tables are made of."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from math import nan


class StepRow(float):
    """A step function: *values*, one more than *knots*, which rise; from each knot on the next value holds.

    It stands where numbers stand, among the constants of graphs and programs, but is none: as a number it is NaN. Rows of equal
    entries are equal.
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]
    _content: tuple[int, bytes]

    def __new__(cls, knots: Sequence[float], values: Sequence[float]) -> StepRow:
        """The row of *knots* and *values*."""
        self = super().__new__(cls, nan)
        self.knots, self.values = tuple(knots), tuple(values)
        self._content = len(self.knots), array("d", (*self.knots, *self.values)).tobytes()
        return self

    def at(self, x: float) -> float:
        """The value at *x*; the last one for what is not a number."""
        return self.values[bisect_right(self.knots, x)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepRow) and self._content == other._content

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._content)

    def hex(self) -> str:
        """The entries, which tell rows apart as the digits of a number do."""
        return f"{self._content[0]}:{self._content[1].hex()}"

    def __reduce__(self) -> tuple[type[StepRow], tuple[tuple[float, ...], tuple[float, ...]]]:
        return StepRow, (self.knots, self.values)
