"""A quantity as a vector or a matrix in print: its name, a sign of equality, and its entries in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kineta.equations.formulas import Formulas, above, gathered, kinds
from kineta.equations.matrix_form import boxed
from kineta.errors import ArgumentError
from kineta.mechanics.quantities import QUANTITIES
from kineta.notation import latex, text
from kineta.notation.typesetting import Notation
from kineta.records import dataclass
from kineta.values import flag

#: Characters of a row at most: of longer ones the entries stand by their names and are listed below.
ROW = 100


@dataclass(frozen=True, eq=False, repr=False)
class QuantityMatrix:
    """The entries of *formulas* by rows: ``print(...)``. A vector of named entries, ``p[q1]``, has its names on the left."""

    formulas: Formulas

    def text(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> str:
        """The matrix, then named parts and long entries. Raises as :meth:`Formulas.text`, with which it shares arguments."""
        order = tuple(order)
        left, rows, below = self._cells(text.Text(rising=flag("rising", rising)), str, parts, order, ROW)
        height, middle = len(rows), (len(rows) - 1) // 2
        sides = boxed(left, height) if len(left) > 1 else [left[0][0] if k == middle else "" for k in range(height)]
        width = max(map(len, sides))
        lines = [
            f"{side.ljust(width)}{' = ' if k == middle else '   '}{row}".rstrip()
            for k, (side, row) in enumerate(zip(sides, boxed(rows, height), strict=True))
        ]
        return above("\n".join(lines), below, self._conditions(text.TEXT, parts, order))

    def latex(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> str:
        """:meth:`text` in LaTeX, for use within ``$$``."""
        order = tuple(order)
        left, rows, below = self._cells(latex.Latex(rising=flag("rising", rising)), latex.label, parts, order, ROW)
        side = latex.matrix([x for row in left for x in row], 1) if len(left) > 1 else left[0][0]
        whole = f"{side} = {latex.matrix([x for row in rows for x in row], len(rows[0]))}"
        return gathered(whole, below, self._conditions(latex.LATEX, parts, order))

    def as_dict(
        self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False, typeset: bool = False
    ) -> dict[str, Any]:
        """The entries by rows, each as a whole, and the lines of the named parts and conditions; *typeset* in LaTeX."""
        order = tuple(order)
        notation, show = (latex.Latex, latex.label) if typeset else (text.Text, str)
        left, rows, below = self._cells(notation(rising=flag("rising", rising)), show, parts, order, None)
        names = {"names": [x for row in left for x in row]} if len(left) > 1 else {"name": left[0][0]}
        lines = [*(f"{name} = {value}" for name, value in below), *self._conditions(notation(), parts, order)]
        return {**names, "rows": rows, "parts": lines}

    def __str__(self) -> str:
        return self.text()

    def _conditions(self, notation: Notation, parts: bool, order: Sequence[str]) -> list[str]:
        return list(self.formulas.conditions(notation, parts, kinds(self.formulas.system, order)))

    def _cells(
        self, notation: Notation, show: Callable[[str], str], parts: bool, order: Sequence[str], most: int | None
    ) -> tuple[list[list[str]], list[list[str]], list[tuple[str, str]]]:
        """The cells of the left and of the right, and the lines below; rows of more than *most* characters are listed there."""
        found = self.formulas
        plain = [line.partition(" = ")[2] for line in found.text(parts=parts, order=order)]
        lines = list(found.lines(notation, show, parts, kinds(found.system, order)))
        n, columns = len(found.array.refs), (*found.array.shape, 1)[1]
        below, own = lines[: len(lines) - n], lines[len(lines) - n :]
        rows = [own[k : k + columns] for k in range(0, n, columns)]
        width = sum(max(map(len, plain[len(below) + j :: columns])) + 2 for j in range(columns))
        named = most is not None and width > most
        cells = [[name if named and len(value) > len(name) + 2 else value for name, value in row] for row in rows]
        if columns == 1 and QUANTITIES[found.quantity.partition("(")[0]].entries is not None:
            return [[name] for row in rows for name, _ in row], [[value] for row in rows for _, value in row], below
        shown = {name: value for row in rows for name, value in row if named and len(value) > len(name) + 2}
        quantity = QUANTITIES.get(found.quantity)
        return (
            [[show(quantity.letter or quantity.name if quantity else found.quantity)]],
            cells,
            [*below, *shown.items()],
        )


def quantity_matrix(formulas: Formulas) -> QuantityMatrix:
    """The matrix of a quantity. Raises :class:`ArgumentError` for a number, an empty array, and for what has parts or more than
    two dimensions.
    """
    array = formulas.array
    if not array.refs or array.parts or not 1 <= len(array.shape) <= 2:
        what = "has no entries" if not array.refs else "is one expression" if not array.shape else "is no single matrix"
        raise ArgumentError(
            f"Expected a vector or a matrix, or the equations of motion, to be shown as matrices; {formulas.quantity} {what}."
        )
    return QuantityMatrix(formulas)
