"""Solution of M x = b for a symmetric matrix of references, with its structural zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.formalism.bounds import stands


class SingularError(ArithmeticError):
    """The row ``row`` of a matrix depends on the rows eliminated before it."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, slots=True)
class Elimination:
    """One row eliminated: its pivot, the inverse of that, and its factors L_ki with the rows i that were left."""

    row: int
    pivot: Ref
    inverse: Ref
    factors: tuple[tuple[int, Ref], ...]


@dataclass(frozen=True, slots=True)
class Factors:
    """A symmetric matrix as L^T D L, one row after the other.

    ``tests`` are positive where the pivots stand on which an entry of a solution hangs: those of all rows that meet.
    """

    graph: Graph
    rows: tuple[Elimination, ...]
    tests: Mapping[int, Sequence[Ref]]

    def solve(self, b: Sequence[Ref]) -> list[Ref]:
        """The x with M x = b; NaN where a pivot is but a rounding error."""
        return [reduce(self.graph.guard, self.tests[k], x) for k, x in enumerate(self.plain(b))]

    def plain(self, b: Sequence[Ref]) -> list[Ref]:
        """The x with M x = b, whatever the pivots."""
        sub, mul = self.graph.sub, self.graph.mul
        x = list(b)
        for row in self.rows:
            for i, L_ki in row.factors:
                x[i] = sub(x[i], mul(L_ki, x[row.row]))
        for row in reversed(self.rows):
            total = mul(x[row.row], row.inverse)
            for i, L_ki in row.factors:
                total = sub(total, mul(L_ki, x[i]))
            x[row.row] = total
        return x

    @property
    def pivots(self) -> dict[int, Ref]:
        """The pivots by row."""
        return {row.row: row.pivot for row in self.rows}


def sparse(entries: Sequence[Ref], columns: int) -> list[dict[int, Ref]]:
    """The rows of a matrix without their zeros, by column."""
    return [
        {j: x for j, x in enumerate(entries[start : start + columns]) if x != ZERO}
        for start in range(0, len(entries), columns or 1)
    ]


def factored(
    graph: Graph,
    M: Sequence[Mapping[int, Ref]],
    order: Sequence[int],
    bounds: Sequence[Ref],
    motions: Sequence[int],
    *,
    watched: bool = False,
) -> Factors:
    """The factors of *M*, rows without zeros; they are eliminated in the sequence *order*.

    From the tips to the ground the factors of a tree keep the zeros of M (RBDA, section 6.5)::

        L_ki = M_ki / M_kk          M_ij -= L_ki M_kj

    Raises :class:`SingularError` for a pivot that is structurally zero. Where one is but a rounding error against its bound,
    solutions are NaN. The *bounds* are those of the diagonal entries of M. Between rows of one of the *motions* errors grow; a
    row without a bound, that of a constraint, is measured by what is taken from it::

        bound_i += L_ki^2 bound_k          bound_i += |L_ki M_ki|

    If *watched*, the pivots of rows without a bound are not measured: the caller looks at what becomes of them.
    """
    add, sub, mul = graph.add, graph.sub, graph.mul
    A = [dict(row) for row in M]
    turn = {row: place for place, row in enumerate(order)}
    sizes = list(bounds)
    tests: list[list[Ref]] = [[] for _ in A]  # of the pivots that a row has met
    found: list[Elimination] = []
    for k in order:
        if k not in A[k]:
            raise SingularError(k)
        inverse = graph.div(ONE, A[k][k])
        own = not (watched and bounds[k] == ZERO)
        regular = [stands(graph, A[k][k], sizes[k], *tests[k])] if own else _all(graph, tests[k])
        active = sorted((i for i in A[k] if turn[i] > turn[k]), key=turn.__getitem__)
        L = [(i, mul(A[k][i], inverse)) for i in active]
        for i, L_ki in L:
            for j in active:
                if j <= i:
                    _set(A, i, j, sub(A[i].get(j, ZERO), mul(L_ki, A[k][j])))
            if bounds[i] == ZERO:
                if not watched:
                    sizes[i] = add(sizes[i], graph.call(Op.ABS, mul(L_ki, A[k][i])))
            elif motions[i] == motions[k]:
                sizes[i] = add(sizes[i], mul(mul(L_ki, L_ki), sizes[k]))
        if active:
            tests[active[0]] += regular
        else:
            tests[k] = regular
        found.append(Elimination(k, A[k][k], inverse, tuple(L)))
    stand: dict[int, list[Ref]] = {}
    for row in reversed(found):
        stand[row.row] = stand[row.factors[0][0]] if row.factors else tests[row.row]
    return Factors(graph, tuple(found), stand)


def _all(graph: Graph, tests: Sequence[Ref]) -> list[Ref]:
    """One test instead of *tests*: of a constraint's row, which has met those of all that it holds, each entry needs but one."""
    return [reduce(graph.guard, tests)] if tests else []


def _set(A: list[dict[int, Ref]], i: int, j: int, entry: Ref) -> None:
    """Set an entry of a symmetric matrix, and its mirror image."""
    if entry != ZERO:
        A[i][j] = A[j][i] = entry
    else:
        A[i].pop(j, None)
        A[j].pop(i, None)
