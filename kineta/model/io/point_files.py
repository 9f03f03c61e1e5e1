"""Files of points for tables: numbers with commas between them, a line a point, below a line of headings or none."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kineta.algebra.expression import expr
from kineta.algebra.tables import MOST
from kineta.errors import ModelError, suggestion
from kineta.model import units
from kineta.model.io.column_headings import parted, shortened, unit_of
from kineta.model.io.kin_quantities import DimensionedExpr
from kineta.model.io.text_file import read_text
from kineta.model.units import NUMBER

#: A number in a cell: without the underscores and the digits of other scripts that Python takes.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

_Line = tuple[str, list[str]]
_Row = tuple[DimensionedExpr, ...]


def points(path: Path, width: int, columns: Sequence[str]) -> tuple[_Row, ...]:
    """The points in a file, rows of *width* numbers: all of its columns, or those below the headings *columns*; one less of them
    stand beside the first column, that of places. A heading may have a unit, ``torque [N*m]``; else numbers are in SI.

    Raises :class:`ModelError`, with the line, for files that are none.
    """
    heads, lines = _content(path)
    if columns and len(columns) not in (width - 1, width):
        raise ModelError(
            f"a table of this kind has {width} columns, of which the first one need not be named, found {len(columns)} names."
        )
    if columns and not heads:
        raise ModelError(f"{path}: the file has no headings, so that no columns can be chosen by name.")
    names = [parted(head)[0] for head in heads]
    if not columns and len(heads) > width:
        raise ModelError(
            f"{path}: the file has {len(heads)} columns, {', '.join(names)}; expected {width}, or names of those to be taken, "
            f'as in table(x; "{path.name}"; {", ".join(_quoted(n) for n in names[1:width])}).'
        )
    chosen = [_column(path, name, names, heads) for name in columns]
    chosen = [0, *chosen] if columns and len(columns) == width - 1 else chosen or list(range(width))
    cells = max(len(heads), width) if columns else width
    of = [unit_of(path, heads[k]) if k < len(heads) else None for k in range(cells)]
    rows, last = [], -math.inf
    for where, line in lines:
        _counted(where, line, cells)
        numbers = [_number(where, line[k]) for k in chosen]
        if numbers[0] <= last:
            raise ModelError(f"{where}: expected places that rise, found {numbers[0]:g} after {last:g}.")
        last = numbers[0]
        rows.append(tuple(_quantity(n, of[k]) for n, k in zip(numbers, chosen, strict=True)))
    if not rows:
        raise ModelError(f"{path}: the file has no points; expected lines of {width} numbers, as in '0, 1.5'.")
    return tuple(rows)


def grid(path: Path) -> tuple[_Row, ...]:
    """The grid in a file: a line of places of the second quantity, whose first cell is empty or says what the grid is, then
    lines of a place of the first one and the values there. Raises :class:`ModelError`, with the line, for files that are none.
    """
    _, lines = _content(path, headed=False)
    if not lines:
        raise ModelError(f"{path}: the file has no grid; expected a line of places and lines of a place and values.")
    (where, (corner, *places)), *rest = lines
    if _is_number(corner) or not places:
        raise ModelError(f"{where}: expected an empty cell or a word, then places, found '{shortened(corner)}'.")
    found = [tuple(_quantity(_number(where, cell), None) for cell in places)]
    for at, line in rest:
        _counted(at, line, len(places) + 1)
        found.append(tuple(_quantity(_number(at, cell), None) for cell in line))
    return tuple(found)


def _content(path: Path, *, headed: bool = True) -> tuple[list[str], list[_Line]]:
    """The headings of a file, if there are any, and its lines, each with its place."""
    lines = list(_lines(path))
    first = lines[0][1] if headed and lines else []
    if first and all(re.match(r"[^\W\d]", cell) and not _is_number(cell) for cell in first):
        return first, lines[1:]
    return [], lines


def _lines(path: Path) -> Iterator[_Line]:
    lines = read_text(path, "a file of points").split("\n")
    if len(lines) > 2 * MOST:  # headings and remarks included
        raise ModelError(
            f"{path}: expected {MOST} lines of points at most, found {len(lines)}; take some of them only."
        )
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                cells = next(csv.reader([line], skipinitialspace=True))
            except csv.Error as error:
                raise ModelError(
                    f"{path}:{number}: expected numbers with commas between them, found a line that is not divided: {error}."
                ) from None
            yield f"{path}:{number}", [c.strip() for c in cells]


def _column(path: Path, name: str, names: Sequence[str], heads: Sequence[str]) -> int:
    """The place of the column *name*."""
    for known in (names, heads):
        if known.count(name) == 1:
            return known.index(name)
    if name in names:
        raise ModelError(f"{path}: the heading '{name}' stands {names.count(name)} times.")
    raise ModelError(
        f"{path}: there is no column '{name}'; the headings are {', '.join(names)}.{suggestion(name, names)}"
    )


def _quoted(name: str) -> str:
    """A heading as it is named in the language."""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f'"{name}"'


def _quantity(number: float, unit: units.Unit | None) -> DimensionedExpr:
    if unit is None:
        return DimensionedExpr(expr(number), NUMBER, plain=True)
    return DimensionedExpr(expr(number * unit.factor), unit.dimension)


def _counted(where: str, line: Sequence[str], wanted: int) -> None:
    if len(line) != wanted:
        whole = ", ".join(line)
        advice = ", with commas between them and points in them" if ";" in whole or "\t" in whole else ""
        raise ModelError(f"{where}: expected {wanted} numbers{advice}, found '{shortened(whole)}'.")


def _number(where: str, cell: str) -> float:
    if not _is_number(cell):
        raise ModelError(f"{where}: expected a finite number, found '{shortened(cell)}'.")
    return float(cell)


def _is_number(cell: str) -> bool:
    """Whether *cell* is a finite number of plain digits, without the underscores that Python allows."""
    return _NUMBER.fullmatch(cell) is not None and math.isfinite(float(cell))
