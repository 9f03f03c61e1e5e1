"""The equations of motion as matrices: M vdot + h = tau, and A^T lambda where constraints add reactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from kineta.codegen import latex, text
from kineta.codegen.bindings import bindings
from kineta.codegen.written import Notation
from kineta.expr.graph import ZERO, Ref
from kineta.formalism.derivation import Derivation
from kineta.formalism.symbols import Symbols
from kineta.formulas import aligned, kinds, readable, simplified
from kineta.model.infer import MULTIPLIER

#: Characters of a row of all entries, at most: where one is longer, entries of more than SHORT get names and stand below.
ROW, SHORT = 100, 14
#: Characters of such a name.
NAME = 6


@dataclass(frozen=True, eq=False, repr=False)
class MatrixForm:
    """M, h and, of constraints, the transpose of A: references into the graph of *symbols*, row by row."""

    symbols: Symbols
    refs: tuple[Ref, ...]
    constraints: tuple[str, ...]

    def text(self, *, parts: bool = True) -> str:
        """The matrices side by side, then what has a name in them. Raises as :meth:`Formulas.text`."""
        blocks, below = self._blocks(text.TEXT, str, parts)
        n = len(self.symbols.v)
        height = max(map(len, blocks))
        columns = [_boxed(rows, height) for rows in blocks]
        signs = ["", " + ", " = ", " + ", ""]
        middle = (n - 1) // 2
        lines = []
        for k in range(height):
            row = columns[0][k]
            for sign, column in zip(signs, columns[1:], strict=False):
                row += (sign if k == middle else " " * len(sign)) + (column[k] if sign else " " + column[k])
            lines.append(row.rstrip())
        return "\n".join([*lines, *([""] if below else []), *(f"{name} = {value}" for name, value in below)])

    def latex(self, *, parts: bool = True) -> str:
        """:meth:`text` in LaTeX, for use within ``$$``."""
        blocks, below = self._blocks(latex.LATEX, latex.label, parts)
        M, vdot, h, tau, *reactions = (latex.matrix([c for row in rows for c in row], len(rows[0])) for rows in blocks)
        whole = f"{M} {vdot} + {h} = {tau}" + (f" + {' '.join(reactions)}" if reactions else "")
        if not below:
            return whole
        return f"\\begin{{gathered}}\n{whole} \\\\\n{aligned((f'{n} = {v}' for n, v in below), 'aligned')}\n\\end{{gathered}}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<MatrixForm of '{self.symbols.system.name}'>"

    def _blocks(
        self, notation: Notation, show: Callable[[str], str], parts: bool
    ) -> tuple[list[list[list[str]]], list[tuple[str, str]]]:
        """M, vdot, h, tau, and A^T, lambda where there are constraints, as rows of cells; what stands below."""
        system, n, names = self.symbols.system, len(self.symbols.v), self.symbols.names
        graph, refs = readable(self.symbols.graph, self.refs, system, parts=parts)
        labels = _labels(n, len(self.constraints))
        known = kinds(system)
        plain = dict(bindings(graph, dict(zip(labels, refs, strict=True)), parts=parts).lines(text.TEXT, known))
        long = _long([plain[label] for label in labels], n)
        named = dict(zip([show(label) for label in labels], refs, strict=True))
        lines = list(bindings(graph, named, parts=parts, show=show).lines(notation, known))
        below = lines[: len(lines) - len(labels)]
        cells = []
        for k, (name, value) in enumerate(islice(lines, len(below), None)):
            twin = _twin(k, n)
            cells.append(show(labels[twin]) if long[twin] else value)
            if long[k] and twin == k:
                below.append((name, value))
        rest = iter(cells)
        M = [[next(rest) for _ in range(n)] for _ in range(n)]
        h = [[next(rest)] for _ in range(n)]
        blocks = [M, [[notation.name(f"{v}'")] for v in names], h, [[show(f"tau[{v}]")] for v in names]]
        if self.constraints:
            blocks.append([[next(rest) for _ in self.constraints] for _ in range(n)])
            blocks.append([[show(f"{MULTIPLIER}{c}")] for c in self.constraints])
        return blocks, below


def matrix_form(derivation: Derivation) -> MatrixForm:
    """The matrices of a *derivation*."""
    rows = derivation.rows
    A = [r.gradient.get(k, ZERO) for k in range(len(derivation.symbols.v)) for r in rows]
    refs = (*derivation["mass_and_bias"].refs, *A)
    own, found = simplified(derivation, {"matrices": refs}, derivation.symbols.system.parameter_names)
    return MatrixForm(own, tuple(found["matrices"]), tuple(r.constraint for r in rows))


def _labels(n: int, m: int) -> list[str]:
    """Names of the entries of M, h and the transpose of A."""
    places = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1)]
    reactions = [f"A[{j},{i}]" for i in range(1, n + 1) for j in range(1, m + 1)]
    return [*(f"M[{i},{j}]" for i, j in places), *(f"h[{i}]" for i in range(1, n + 1)), *reactions]


def _twin(k: int, n: int) -> int:
    """Place of the entry of the upper half of M that is the same as entry *k*; *k* itself elsewhere."""
    i, j = divmod(k, n)
    return k if k >= n * n or i <= j else j * n + i


def _long(cells: Sequence[str], n: int) -> list[bool]:
    """Which of *cells* stand below the matrices: the longest ones, until the others fit beside each other."""
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
    rest = SHORT if any(len(cell) > inertia for cell in cells[n * n :]) else inertia  # all of h, or nothing of it
    return [len(cell) > (inertia if k < n * n else rest) for k, cell in enumerate(cells)]


def _boxed(rows: Sequence[Sequence[str]], height: int) -> list[str]:
    """A matrix as lines of one width, as many as *height*."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["[ " + "  ".join(cell.center(w) for cell, w in zip(row, widths, strict=True)) + " ]" for row in rows]
    return [*lines, *[" " * len(lines[0])] * (height - len(lines))]
