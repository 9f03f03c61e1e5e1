"""Solution of small sets of linear equations of any shape, entries kept short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.passes.expand import Opened

#: What is smaller at the state that decides about pivots vanishes.
VANISHING = 1e-9

#: Unknowns of a block that is solved by determinants, at most.
BLOCK = 3


def eliminated(
    graph: Graph, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref], number: Callable[[Ref], float]
) -> list[Ref]:
    """The x with sum of rows[i][k] x_k = right[i], for as many *rows* as unknowns.

    Pivots are numbers where there are any. Then come blocks, as many rows as unknowns in them, by Cramer's rule: an entry as a
    pivot may vanish where the rows do not depend on each other, as every entry of a rotation does, a determinant may not.
    What is left goes by pivots that fill in least, then by the shortest. ``number`` gives the value of an entry at some
    state: what vanishes there is no pivot.
    """
    opened = Opened(graph)
    A, b = [dict(row) for row in rows], list(right)
    x = [ZERO] * len(A)
    waiting = set(range(len(A)))
    order: list[tuple[int, int]] = []
    while waiting:
        entries = [(i, k) for i in sorted(waiting) for k, a in A[i].items() if abs(number(a)) > VANISHING]
        i, k = min(entries, key=lambda at: _effort(graph, A, waiting, at))
        block = [] if graph.value(A[i][k]) is not None else _block(A, waiting)
        if block:
            waiting -= set(block)
            for k, value in _by_cramer(opened, [A[i] for i in block], [b[i] for i in block]).items():
                x[k] = value
                for j in waiting:
                    if k in A[j]:
                        b[j] = opened.shorter(graph.sub(b[j], graph.mul(A[j].pop(k), value)))
            continue
        waiting.remove(i)
        order.append((i, k))
        for j in waiting:
            if k in A[j]:
                share = opened.shorter(graph.div(A[j].pop(k), A[i][k]))
                _subtract(graph, opened, A[j], share, A[i], k)
                b[j] = opened.shorter(graph.sub(b[j], graph.mul(share, b[i])))
    for i, k in reversed(order):
        known = graph.sum(graph.mul(a, x[m]) for m, a in A[i].items() if m != k)
        x[k] = opened.shorter(graph.div(graph.sub(b[i], known), A[i][k]))
    return x


def _block(A: Sequence[Mapping[int, Ref]], waiting: set[int]) -> list[int]:
    """Rows that hold no more unknowns than they are, the fewest that there are; none where all such blocks are large."""
    for i in sorted(waiting, key=lambda i: (len(A[i]), i)):
        within = [j for j in sorted(waiting) if A[j].keys() <= A[i].keys()]
        if len(within) == len(A[i]) <= BLOCK:
            return within
    return []


def _by_cramer(opened: Opened, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref]) -> dict[int, Ref]:
    """The unknowns of a block by determinants."""
    g, columns = opened.graph, sorted(set(chain.from_iterable(rows)))
    M = [[row.get(k, ZERO) for k in columns] for row in rows]
    n = range(len(M))
    cofactors = [[opened.shorter(_cofactor(g, M, i, k)) for k in n] for i in n]
    determinant = opened.shorter(g.sum(g.mul(M[0][k], cofactors[0][k]) for k in n))
    above = [opened.shorter(g.sum(g.mul(cofactors[i][k], right[i]) for i in n)) for k in n]
    return {columns[k]: opened.shorter(g.div(above[k], determinant)) for k in n}


def _cofactor(graph: Graph, M: Sequence[Sequence[Ref]], i: int, k: int) -> Ref:
    minor = [[a for m, a in enumerate(row) if m != k] for j, row in enumerate(M) if j != i]
    return neg(_determinant(graph, minor)) if (i + k) % 2 else _determinant(graph, minor)


def _determinant(graph: Graph, M: Sequence[Sequence[Ref]]) -> Ref:
    if not M:
        return ONE
    return graph.sum(graph.mul(a, _cofactor(graph, M, 0, k)) for k, a in enumerate(M[0]) if a != ZERO)


def _subtract(graph: Graph, opened: Opened, row: dict[int, Ref], share: Ref, other: Mapping[int, Ref], k: int) -> None:
    """Take *share* of the *other* row from *row*, but for column k."""
    for m, a in other.items():
        if m != k:
            left = opened.shorter(graph.sub(row.get(m, ZERO), graph.mul(share, a)))
            row.pop(m, None)
            if left != ZERO:
                row[m] = left


def _effort(
    graph: Graph, A: Sequence[Mapping[int, Ref]], waiting: set[int], at: tuple[int, int]
) -> tuple[int, int, int]:
    """What a pivot costs: nothing where it is a number; what it fills in (Markowitz); the nodes of the entry."""
    i, k = at
    filled = (len(A[i]) - 1) * (sum(k in A[j] for j in waiting) - 1)
    return int(graph.value(A[i][k]) is None), filled, len(reachable(graph, [A[i][k]]))
