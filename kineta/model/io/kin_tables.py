"""Tables of the text language: ``table(t; cubic; (0 s, 0 N), (1 s, F))``, and of two quantities by a grid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lark import Token, Tree

from kineta.algebra.tables import OUTSIDE, slope, table
from kineta.errors import ModelError, suggestion
from kineta.expr.tables import KINDS
from kineta.model import units
from kineta.model.io import point_files
from kineta.model.io.kin_quantities import DimensionedExpr, Node, joined
from kineta.records import dataclass

#: The word of tables, which stands as a function does, and the rule of points that are numbers, all in one word.
TABLE, NUMBERS = "table", "numbers"

_ROW = re.compile(r"\(([^()]*)\)")
_ENTRY = re.compile(r"[^,\s](?:[^,]*[^,\s])?")


@dataclass(frozen=True, slots=True)
class ReadPoints:
    """What stands behind the semicolon of a table: *words*, and *rows* of quantities, or the name of a *file* with the headings
    of its *columns*.
    """

    words: tuple[str, ...]
    rows: tuple[tuple[DimensionedExpr, ...], ...]
    file: str
    columns: tuple[str, ...]
    node: Node


def read_points(node: Node, children: Sequence[Any]) -> ReadPoints:
    """The points at a *node* of the syntax tree, whose *children* have been read."""
    kinds = [child.data if isinstance(child, Tree) else "" for child in node.children]
    words = children[0] if kinds[0] == "words" else ()
    columns = children[-1] if kinds[-1] == "columns" else ()
    own = [(c, kind) for c, kind in zip(children, kinds, strict=True) if kind not in ("words", "columns")]
    file = str(own[0][0])[1:-1] if isinstance(own[0][0], Token) else ""
    rows = () if file else tuple(row for c, kind in own for row in (c if kind == NUMBERS else (c,)))
    return ReadPoints(words, rows, file, columns, node)


def rows_of_numbers(text: str) -> Iterator[list[tuple[int, str]]]:
    """The rows of numbers in the *text* of points of a table, each number with the place where it begins."""
    for row in _ROW.finditer(text):
        yield [(row.start() + 1 + found.start(), found[0]) for found in _ENTRY.finditer(row[1])]


def arguments_of(name: str, arguments: Sequence[Any]) -> Sequence[Any]:
    """The *arguments* of the table *name*: one or two quantities, and points. Raises :class:`ModelError` for others."""
    if len(arguments) not in (2, 3) or not isinstance(arguments[-1], ReadPoints):
        raise ModelError(
            f"{name} takes a quantity and points behind a semicolon, as in table(x; (0, 0), (1, 2)), or two quantities and a "
            "grid, as in table(x, y; (0, 1), (0, 5, 6), (1, 7, 9))."
        )
    return arguments


def value(quantities: Sequence[DimensionedExpr], points: ReadPoints, order: int, folder: Path) -> DimensionedExpr:
    """The table of one or two *quantities*, or of one its derivative of some *order*. Raises :class:`ModelError` for what makes
    no table.
    """
    kind, options = _options(points.words)
    x, rows = quantities[0], points.rows
    if len(quantities) == 2:
        if order:
            raise ModelError("a table of two quantities has no prime, since it has two derivatives.")
        if points.columns:
            raise ModelError("the file of a table of two quantities is one grid, of which no columns are chosen.")
        if points.file:
            rows = point_files.grid(folder / points.file)
        y = quantities[1]
        whole = _of_grid(x, y, rows)
        at = x.value, y.value
        found = table(at, [[e.value for e in row] for row in rows], kind, **options)  # type: ignore[arg-type]  # as read
        return DimensionedExpr(found, whole.dimension, whole.plain, whole.shown)
    if points.file:
        rows = point_files.points(folder / points.file, 3 if kind == "hermite" else 2, points.columns)
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


def _of_grid(x: DimensionedExpr, y: DimensionedExpr, rows: Sequence[tuple[DimensionedExpr, ...]]) -> DimensionedExpr:
    """The quantity of the values of a grid, whose places are checked."""
    for k, place in enumerate(rows[0]):
        _alike(place, y, f"place {k + 1} in the first row of the table must be")
    whole = None
    for k, (place, *values) in enumerate(rows[1:]):
        _alike(place, x, f"the place of row {k + 2} of the table must be")
        for j, own in enumerate(values):
            whole = (
                own
                if whole is None
                else _alike(own, whole, f"value {j + 1} in row {k + 2} of the table must be, as others,")
            )
    return whole or rows[0][0]


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
        assert a.likely is not None
        assert b.likely is not None
        raise ModelError(f"{what} {units.name(b.likely)}, found {units.name(a.likely)}.") from None
