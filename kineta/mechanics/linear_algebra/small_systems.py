"""Solution of small systems of linear equations, with simplified entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from kineta import tolerances
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.mechanics.linear_algebra.ldl import factored, sparse
from kineta.passes.expand import SumsOfProducts

#: Ratio to the largest number of its column from which on a number may be a pivot.
THRESHOLD = 0.1

#: Largest block solved by determinants; for four unknowns they take as many operations as the normal equations.
BLOCK = 3

#: Largest number of nodes of an entry that is simplified: longer entries gain little and take long.
SMALL = 200


def eliminated(opened: SumsOfProducts, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref]) -> list[Ref]:
    """The x with sum of rows[i][k] x_k = right[i], for as many *rows* as unknowns, in the graph of *opened* forms.

    Only numbers are pivots, with least fill-in first, since a symbolic entry may vanish for independent rows, as every entry of
    a rotation matrix does. The remainder is solved in square blocks by quantities that vanish for dependent rows only: small
    blocks by determinants, large blocks by normal equations.
    """
    graph = opened.graph
    A, b = [dict(row) for row in rows], list(right)
    x = [ZERO] * len(A)
    waiting = set(range(len(A)))
    least = tolerances.RANK_TOLERANCE * max(
        (abs(graph.value(a) or 0.0) for row in A for a in row.values()), default=0.0
    )
    order: list[tuple[int, int]] = []
    while waiting:
        pivots = _pivots(graph, A, waiting, least)
        if not pivots:
            block = _block(A, waiting)
            waiting -= set(block)
            solved = _by_cramer if len(block) <= BLOCK else _by_squares
            for k, value in solved(opened, [A[i] for i in block], [b[i] for i in block]).items():
                x[k] = value
                for j in waiting:
                    if k in A[j]:
                        b[j] = _shorter(opened, graph.sub(b[j], graph.mul(A[j].pop(k), value)))
            continue
        i, k = min(pivots, key=lambda at: _filled(A, waiting, at))
        waiting.remove(i)
        order.append((i, k))
        for j in waiting:
            if k in A[j]:
                share = _shorter(opened, graph.div(A[j].pop(k), A[i][k]))
                _subtract(graph, opened, A[j], share, A[i], k)
                b[j] = _shorter(opened, graph.sub(b[j], graph.mul(share, b[i])))
    for i, k in reversed(order):
        known = graph.sum(graph.mul(a, x[m]) for m, a in A[i].items() if m != k)
        x[k] = _shorter(opened, graph.div(graph.sub(b[i], known), A[i][k]))
    return x


def _pivots(graph: Graph, A: Sequence[Mapping[int, Ref]], waiting: set[int], least: float) -> list[tuple[int, int]]:
    """Numerical entries above *least* that are not small relative to their columns."""
    sizes = {(i, k): abs(graph.value(a) or 0.0) for i in sorted(waiting) for k, a in A[i].items()}
    largest: dict[int, float] = {}
    for (_, k), size in sizes.items():
        largest[k] = max(size, largest.get(k, least))
    return [at for at, size in sizes.items() if size > least and size >= THRESHOLD * largest[at[1]]]


def _shorter(opened: SumsOfProducts, ref: Ref) -> Ref:
    """*ref*, expanded and simplified if it is small."""
    return opened.shorter(ref) if len(reachable(opened.graph, [ref])) <= SMALL else ref


def _block(A: Sequence[Mapping[int, Ref]], waiting: set[int]) -> list[int]:
    """A smallest set of rows with as many unknowns as rows; at most all rows *waiting*."""
    for i in sorted(waiting, key=lambda i: (len(A[i]), i)):
        within = [j for j in sorted(waiting) if A[j].keys() <= A[i].keys()]
        if len(within) == len(A[i]):
            return within
    return sorted(waiting)


def _by_squares(opened: SumsOfProducts, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref]) -> dict[int, Ref]:
    """The unknowns of a block as x = A^T y with A A^T y = b, whose pivots are squares; NaN for dependent rows."""
    g, n = opened.graph, len(rows)
    squares = [
        [_shorter(opened, g.sum(g.mul(row[k], other[k]) for k in row if k in other)) for other in rows] for row in rows
    ]
    M = sparse([a for row in squares for a in row], n)
    y = factored(g, M, range(n), [ZERO] * n, range(n)).solve(right)
    columns = sorted(set(chain.from_iterable(rows)))
    return {k: g.sum(g.mul(row[k], x) for row, x in zip(rows, y, strict=True) if k in row) for k in columns}


def _by_cramer(opened: SumsOfProducts, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref]) -> dict[int, Ref]:
    """The unknowns of a block by Cramer's rule."""
    g, columns = opened.graph, sorted(set(chain.from_iterable(rows)))
    M = [[row.get(k, ZERO) for k in columns] for row in rows]
    n = range(len(M))
    cofactors = [[_shorter(opened, _cofactor(g, M, i, k)) for k in n] for i in n]
    determinant = _shorter(opened, g.sum(g.mul(M[0][k], cofactors[0][k]) for k in n))
    above = [_shorter(opened, g.sum(g.mul(cofactors[i][k], right[i]) for i in n)) for k in n]
    return {columns[k]: _shorter(opened, g.div(above[k], determinant)) for k in n}


def _cofactor(graph: Graph, M: Sequence[Sequence[Ref]], i: int, k: int) -> Ref:
    minor = [[a for m, a in enumerate(row) if m != k] for j, row in enumerate(M) if j != i]
    return neg(_determinant(graph, minor)) if (i + k) % 2 else _determinant(graph, minor)


def _determinant(graph: Graph, M: Sequence[Sequence[Ref]]) -> Ref:
    if not M:
        return ONE
    return graph.sum(graph.mul(a, _cofactor(graph, M, 0, k)) for k, a in enumerate(M[0]) if a != ZERO)


def _subtract(
    graph: Graph, opened: SumsOfProducts, row: dict[int, Ref], share: Ref, other: Mapping[int, Ref], k: int
) -> None:
    """Subtract *share* times the *other* row from *row*, except in column k."""
    for m, a in other.items():
        if m != k:
            left = _shorter(opened, graph.sub(row.get(m, ZERO), graph.mul(share, a)))
            row.pop(m, None)
            if left != ZERO:
                row[m] = left


def _filled(A: Sequence[Mapping[int, Ref]], waiting: set[int], at: tuple[int, int]) -> int:
    """Upper bound of the fill-in of a pivot (Markowitz)."""
    i, k = at
    return (len(A[i]) - 1) * (sum(k in A[j] for j in waiting) - 1)
