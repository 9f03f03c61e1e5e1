"""Solution of M x = b for a symmetric matrix of references, with structural zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from kineta import tolerances
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.records import dataclass


class SingularError(ArithmeticError):
    """The error for a row ``row`` that depends on the rows eliminated before it."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, slots=True)
class EliminatedRow:
    """An eliminated row: its pivot, the inverse of the pivot, and the factors L_ki of the remaining rows i."""

    row: int
    pivot: Ref
    inverse: Ref
    factors: tuple[tuple[int, Ref], ...]


@dataclass(frozen=True, slots=True)
class Factors:
    """A symmetric matrix as L^T D L, one row after the other.

    ``tests`` are positive where the pivots on which an entry of a solution depends exceed rounding errors.
    """

    graph: Graph
    rows: tuple[EliminatedRow, ...]
    tests: Mapping[int, Sequence[Ref]]

    def solve(self, b: Sequence[Ref]) -> list[Ref]:
        """The x with M x = b; NaN where a pivot is a rounding error."""
        return [reduce(self.graph.guard, self.tests[k], x) for k, x in enumerate(self.plain(b))]

    def plain(self, b: Sequence[Ref]) -> list[Ref]:
        """The x with M x = b, without tests of the pivots."""
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


def stands(graph: Graph, pivot: Ref, bound: Ref, *others: Ref) -> Ref:
    """A reference that is positive where *pivot* exceeds a rounding error relative to its *bound*, and all *others* are
    positive.
    """
    excess = graph.sub(graph.call(Op.ABS, pivot), graph.mul(graph.const(tolerances.ROUNDING_TOLERANCE), bound))
    return reduce(graph.guard, others, excess)


def sparse(entries: Sequence[Ref], columns: int) -> list[dict[int, Ref]]:
    """The rows of a matrix without zeros, by column."""
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
    """The factors of *M*, rows without zeros, eliminated in the sequence *order*.

    From the tips to the ground the factors of a tree preserve the zeros of M (RBDA, section 6.5)::

        L_ki = M_ki / M_kk          M_ij -= L_ki M_kj

    Raise :class:`SingularError` for a pivot that is structurally zero. Where a pivot is a rounding error relative to its bound,
    solutions are NaN. *bounds* are those of the diagonal entries of M. Errors grow between rows of the same of the *motions*;
    for a row without a bound, a constraint, the bound is the sum of the subtracted terms::

        bound_i += L_ki^2 bound_k          bound_i += |L_ki M_ki|

    If *watched*, pivots of rows without a bound are not tested, as the caller monitors them.
    """
    add, sub, mul = graph.add, graph.sub, graph.mul
    A = [dict(row) for row in M]
    turn = {row: place for place, row in enumerate(order)}
    sizes = list(bounds)
    tests: list[list[Ref]] = [[] for _ in A]  # of the pivots eliminated from a row
    found: list[EliminatedRow] = []
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
        found.append(EliminatedRow(k, A[k][k], inverse, tuple(L)))
    stand: dict[int, list[Ref]] = {}
    for row in reversed(found):
        stand[row.row] = stand[row.factors[0][0]] if row.factors else tests[row.row]
    return Factors(graph, tuple(found), stand)


def _all(graph: Graph, tests: Sequence[Ref]) -> list[Ref]:
    """The conjunction of *tests* as a single test, for the row of a constraint, on which many entries depend."""
    return [reduce(graph.guard, tests)] if tests else []


def _set(A: list[dict[int, Ref]], i: int, j: int, entry: Ref) -> None:
    """Set an entry of a symmetric matrix, and its mirror image."""
    if entry != ZERO:
        A[i][j] = A[j][i] = entry
    else:
        A[i].pop(j, None)
        A[j].pop(i, None)
