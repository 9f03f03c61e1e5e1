"""Tables of the text language: ``table(t; cubic; (0 s, 0 N), (1 s, F))`` and ``table(s; "torque.csv")``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kineta.algebra.expression import expr
from kineta.algebra.tables import OUTSIDE, slope, table
from kineta.errors import ModelError, suggestion
from kineta.expr.tables import KINDS
from kineta.model import units
from kineta.model.io.kin_quantities import DimensionedExpr, Node, joined
from kineta.model.io.text_file import read_text
from kineta.model.units import NUMBER

#: The word of tables, which stands as a function does.
TABLE = "table"


@dataclass(frozen=True, slots=True)
class ReadPoints:
    """What stands behind the semicolon of a table: *words*, and *rows* of quantities or the name of a *file*."""

    words: tuple[str, ...]
    rows: tuple[tuple[DimensionedExpr, ...], ...]
    file: str
    node: Node


def value(x: DimensionedExpr, points: ReadPoints, order: int, folder: Path) -> DimensionedExpr:
    """The table of the quantity *x*, or its derivative of some *order*. Raises :class:`ModelError` for what makes no table."""
    kind, options = _options(points.words)
    rows = _in_file(folder / points.file, kind) if points.file else points.rows
    whole = rows[0][1]
    for k, (place, own, *_) in enumerate(rows):
        _alike(place, x, f"place {k + 1} of the table must be")
        whole = _alike(own, whole, f"value {k + 1} of the table must be, as those before,")
    found = table(x.value, [[e.value for e in row] for row in rows], kind, **options)  # type: ignore[arg-type]  # as read
    for _ in range(order):
        found = slope(found)
    known = whole.dimension is not None and x.dimension is not None and not (whole.plain or x.plain)
    if order and known:
        assert whole.dimension is not None
        assert x.dimension is not None
        return DimensionedExpr(found, units.times(whole.dimension, x.dimension, -order), shown=whole.shown or x.shown)
    return DimensionedExpr(found, None if order else whole.dimension, whole.plain and not order, whole.shown)


def _options(words: Sequence[str]) -> tuple[str, Mapping[str, object]]:
    """The kind of the table, and what else the *words* say."""
    kinds = [w for w in words if w in KINDS]
    for k, word in enumerate(words):
        if word not in (*KINDS, *OUTSIDE, "periodic"):
            near = suggestion(word, [*KINDS, *OUTSIDE, "periodic"])
            raise ModelError(
                f"unknown kind of table '{word}'; the kinds are {', '.join(KINDS)}, with periodic, hold or extrapolate.{near}"
            )
        if word in words[:k] or (word in KINDS and word != kinds[0]):
            raise ModelError(
                f"a table has one kind, found {' and '.join(kinds) if word in KINDS else f'{word} twice'}."
            )
    ends = [w for w in words if w in OUTSIDE]
    if len(ends) + ("periodic" in words) > 1:
        raise ModelError("a table is periodic, or holds or extrapolates beyond its ends; one of these.")
    return (kinds or ["linear"])[0], {"periodic": "periodic" in words, "outside": (ends or ["hold"])[0]}


def _alike(a: DimensionedExpr, b: DimensionedExpr, what: str) -> DimensionedExpr:
    try:
        return joined(a, b, a.value)
    except ModelError:
        assert a.dimension is not None
        assert b.dimension is not None
        raise ModelError(f"{what} {units.name(b.dimension)}, found {units.name(a.dimension)}.") from None


def _in_file(path: Path, kind: str) -> tuple[tuple[DimensionedExpr, ...], ...]:
    """The points in a file, a line each: numbers in SI with commas between them. A first line of words is a heading."""
    rows: list[tuple[DimensionedExpr, ...]] = []
    width = 3 if kind == "hermite" else 2
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = [c.strip() for c in line.split(",")]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (
            not rows
            and not any(map(_is_number, cells))
            and all(re.fullmatch(r"[^\W\d].*", c) for c in cells)
            and number == 1
        ):
            continue
        where = f"{path}:{number}"
        if len(cells) != width:
            advice = ", with commas between them and points in them" if ";" in line or "\t" in line.strip() else ""
            raise ModelError(f"{where}: expected {width} numbers{advice}, found '{_short(line)}'.")
        for cell in cells:
            if not _is_number(cell):
                raise ModelError(f"{where}: expected a finite number, found '{_short(cell)}'.")
        rows.append(tuple(DimensionedExpr(expr(float(c)), NUMBER, plain=True) for c in cells))
    if not rows:
        raise ModelError(f"{path}: the file has no points; expected lines of {width} numbers, as in '0, 1.5'.")
    return tuple(rows)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 40 else f"{text[:40]} ..."
