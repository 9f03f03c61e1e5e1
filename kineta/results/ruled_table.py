"""Tables of numbers as text, with rules below the head and between the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from kineta import tolerances

if TYPE_CHECKING:
    from kineta.arrays import FloatArray

#: The part of the samples beside whose values a start is rounding error: what is found beside a whole run that explodes is none.
FIRST = 2


def ruled(*rows: Sequence[str]) -> list[str]:
    """Return the lines of a table: the head, and rows with a name on the left and numbers, which stand to the right."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        first, *rest = (" " * (w - _width(x)) for x, w in zip(row, widths, strict=True))
        cells = [row[0] + first, *(gap + x for gap, x in zip(rest, row[1:], strict=True))]
        lines.append((" │ " if lines else " ┃ ").join(cells))
    return [lines[0], "━╇━".join("━" * w for w in widths), *lines[1:]]


def value_text(series: Mapping[str, FloatArray], units: Mapping[str, str]) -> Callable[..., str]:
    """Return the text of a value of one of the *series*, by name, at a sample, by default the last: 0 where it is rounding error
    beside the largest value of its unit until then, and at the start in the first part of the samples.
    """
    import numpy as np

    largest: dict[str, FloatArray] = {}
    for name, x in series.items():
        unit = units.get(name, "")
        largest[unit] = np.fmax(largest.get(unit, 0.0), abs(x))
    until = {unit: np.fmax.accumulate(x) for unit, x in largest.items()}

    def text(name: str, value: float, sample: int = -1) -> str:
        """Return a *value* of the series *name* with six digits."""
        size = until[units.get(name, "")]
        seen = sample if sample < 0 else min(max(sample + 1, len(size) // FIRST), len(size) - 1)
        zero = abs(value) <= tolerances.ROUNDING_TOLERANCE * size[seen]
        return f"{0.0 if zero else value:.6g}"

    return text


def _width(text: str) -> int:
    """Return the columns that *text* takes in a terminal: two for each wide letter."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)
