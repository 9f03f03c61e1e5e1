"""The equations of motion in matrix form: M vdot + h = tau, with A^T lambda for constraint reactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kineta.equations.formulas import above, gathered, kinds, premises, simplified
from kineta.equations.kept_names import kept_names
from kineta.errors import ArgumentError
from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.equations_of_motion import equations_of_motion
from kineta.mechanics.variables import Symbols
from kineta.model.system import System
from kineta.notation import latex, text
from kineta.notation.defined_names import DefinedNames, shortest_form
from kineta.notation.printed_form import PrintedForm
from kineta.notation.typesetting import Kinds, Notation
from kineta.records import dataclass
from kineta.threads import memo
from kineta.values import flag

#: Characters of a row of matrices at most: in longer rows entries of more than SHORT characters have names and are listed below.
ROW, SHORT = 100, 14
#: Characters of the name of an entry.
NAME = 6


@dataclass(frozen=True, eq=False, repr=False)
class MatrixForm:
    """M, h, the directions of the reactions as columns, the conditions, and the rates of first-order states: references into the
    graph of *symbols*, row by row.

    highest : names of the derivatives that M multiplies
    reactions : names of the unknowns, multipliers of constraints and of programs
    forced : whether added forces stand on the right
    defined : the entries in terms of the named expressions of the system
    """

    symbols: Symbols
    refs: tuple[Ref, ...]
    highest: tuple[str, ...]
    reactions: tuple[str, ...]
    forced: bool = True
    defined: DefinedNames | None = None

    def text(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> str:
        """The matrices side by side, then the named entries. Raises as :meth:`Formulas.text`, with which it shares arguments."""
        notation = text.Text(rising=flag("rising", rising))
        blocks, below, conditions = self._blocks(notation, str, parts, kinds(self.symbols.system, order))
        n = len(self.symbols.v)
        height = max(map(len, blocks))
        columns = [boxed(rows, height) for rows in blocks]
        signs = ["", " + ", " = ", *([" + "] if len(blocks) % 2 == 0 else []), ""]
        middle = (n - 1) // 2
        lines = []
        for k in range(height):
            row = columns[0][k]
            for sign, column in zip(signs, columns[1:], strict=False):
                row += (sign if k == middle else " " * len(sign)) + (column[k] if sign else " " + column[k])
            lines.append(row.rstrip())
        return above("\n".join(lines), below, conditions)

    def latex(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> str:
        """:meth:`text` in LaTeX, for use within ``$$``."""
        notation = latex.Latex(rising=flag("rising", rising))
        blocks, below, conditions = self._blocks(notation, latex.label, parts, kinds(self.symbols.system, order))
        M, z, h, *right = (latex.matrix([c for row in rows for c in row], len(rows[0])) for rows in blocks)
        sides = [right[0]] if len(right) % 2 else []
        sides += [" ".join(right[-2:])] if len(right) > 1 else []
        whole = f"{M} {z} + {h} = {' + '.join(sides)}"
        return gathered(whole, below, conditions)

    def as_dict(
        self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False, typeset: bool = False
    ) -> dict[str, Any]:
        """The matrices by rows, each entry as a whole: ``M``, ``z``, ``h``, with added forces or zeros ``tau``, with reactions
        ``A^T`` and ``lambda``; named parts, conditions and rates of states as lines, and for which signs they hold.
        *typeset* in LaTeX.
        """
        notation, show = (latex.Latex, latex.label) if typeset else (text.Text, str)
        known = kinds(self.symbols.system, order)
        blocks, below, conditions = self._blocks(
            notation(rising=flag("rising", rising)), show, parts, known, whole=True
        )
        names = [
            "M",
            "z",
            "h",
            *(["tau"] if len(blocks) % 2 == 0 else []),
            *(["A^T", "lambda"] if self.reactions else []),
        ]
        vectors = ("z", "h", "tau", "lambda")
        found = {n: [x for (x,) in rows] if n in vectors else rows for n, rows in zip(names, blocks, strict=True)}
        return {**found, "lines": [*(f"{name} = {value}" for name, value in below), *conditions]}

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<MatrixForm of '{self.symbols.system.name}'>"

    def _blocks(
        self, notation: Notation, show: Callable[[str], str], parts: bool, known: Kinds, *, whole: bool = False
    ) -> tuple[list[list[list[str]]], list[tuple[str, str]], list[str]]:
        """M, z, h, tau where forces are added, the columns of reactions and their unknowns, as rows of cells; the
        named entries, of *whole* cells only those that are named parts; and the conditions under which all hold.
        """
        system, n, names = self.symbols.system, len(self.symbols.v), self.symbols.names
        columns = len(self.reactions)
        m = len(self.refs) - n * (n + 1 + columns)
        states = [f"{name}'" for name in system.state_names]
        labels = [*_labels(n, columns), *["0"] * (m - len(states)), *states]
        form = memo(self, (PrintedForm, parts, *known), lambda: self._shortest(labels, known, parts))
        plain = dict(form.lines(text.TEXT, labels))
        long = [False] * (len(labels) - m) if whole else _long([plain[label] for label in labels[: len(labels) - m]], n)
        lines = list(form.lines(notation, [show(label) for label in labels]))
        below, own = lines[: len(lines) - len(labels)], lines[len(lines) - len(labels) :]
        cells = []
        for k, (name, value) in enumerate(own[: len(own) - m]):
            twin = _twin(k, n)
            cells.append(show(labels[twin]) if long[twin] else value)
            if long[k] and twin == k:
                below.append((name, value))
        below += own[len(own) - m :]
        rest = iter(cells)
        M = [[next(rest) for _ in range(n)] for _ in range(n)]
        h = [[next(rest)] for _ in range(n)]
        blocks = [M, [[notation.name(z)] for z in self.highest], h]
        if self.forced:
            blocks.append([[show(f"tau[{v}]")] for v in names])
        elif not self.reactions:
            blocks.append([["0"] for _ in names])
        if self.reactions:
            blocks.append([[next(rest) for _ in self.reactions] for _ in range(n)])
            blocks.append([[show(x)] for x in self.reactions])
        return blocks, below, list(form.conditions(notation))

    def _shortest(self, labels: Sequence[str], known: Kinds, parts: bool) -> PrintedForm:
        given = premises(self.symbols.system)
        return shortest_form(self.symbols.graph, self.refs, labels, known, self.defined, parts=parts, premises=given)


def matrix_form(derivation: Derivation, described: System, *, unforced: bool = False) -> MatrixForm:
    """The matrices of a *derivation* of the system *described*; *unforced* for zeros in the place of added forces. Raises
    :class:`ArgumentError` for a system without motion.
    """
    system, n = derivation.symbols.system, len(derivation.symbols.v)
    if not n:
        raise ArgumentError(f"Model '{system.name}': nothing in it can move, so there are no equations of motion.")
    found = equations_of_motion(derivation)
    columns = [row[k] for k in range(n) for row in found.reactions.values()]
    refs = (*found.inertia, *found.rest, *columns, *found.conditions, *derivation.symbols.state_rates)
    own, simple = simplified(derivation, {"matrices": refs}, system.parameter_names)
    forced = found.order == 2 and not unforced
    defined = kept_names(derivation, described, refs)
    return MatrixForm(own, tuple(simple["matrices"]), found.highest, tuple(found.reactions), forced, defined)


def _labels(n: int, m: int) -> list[str]:
    """Names of the entries of M, h and the transpose of A."""
    places = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1)]
    reactions = [f"A[{j},{i}]" for i in range(1, n + 1) for j in range(1, m + 1)]
    return [*(f"M[{i},{j}]" for i, j in places), *(f"h[{i}]" for i in range(1, n + 1)), *reactions]


def _twin(k: int, n: int) -> int:
    """Position of the entry of the upper half of M equal to entry *k*; *k* itself for other entries."""
    i, j = divmod(k, n)
    return k if k >= n * n or i <= j else j * n + i


def _long(cells: Sequence[str], n: int) -> list[bool]:
    """The indices of *cells* listed below the matrices: the longest, until the others fit side by side."""
    m = (len(cells) - n * n - n) // n
    columns = [range(j, n * n, n) for j in range(n)] + [range(n * n, n * n + n)]
    columns += [range(n * n + n + j, len(cells), m) for j in range(m)]

    def width(limit: int) -> int:
        """Characters of a row where longer cells stand by their names."""
        return sum(
            max(min(len(cells[k]), NAME if len(cells[k]) > limit else limit) for k in own) + 2 for own in columns
        )

    limits = sorted({SHORT, *(len(c) for c in cells)}, reverse=True)
    limit = next((x for x in limits if width(x) <= ROW), SHORT)
    inertia = max(limit, SHORT)
    rest = SHORT if any(len(cell) > inertia for cell in cells[n * n :]) else inertia  # h as a whole or not at all
    return [len(cell) > (inertia if k < n * n else rest) for k, cell in enumerate(cells)]


def boxed(rows: Sequence[Sequence[str]], height: int) -> list[str]:
    """The lines of a matrix, of equal width and the number *height*."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["[ " + "  ".join(cell.center(w) for cell, w in zip(row, widths, strict=True)) + " ]" for row in rows]
    return [*lines, *[" " * len(lines[0])] * (height - len(lines))]
