"""Solution of small sets of linear equations of any shape, entries kept short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.walk import reachable
from kineta.passes.expand import Opened

#: What is smaller at the state that decides about pivots vanishes.
VANISHING = 1e-9


def eliminated(
    graph: Graph, rows: Sequence[Mapping[int, Ref]], right: Sequence[Ref], number: Callable[[Ref], float]
) -> list[Ref]:
    """The x with sum of rows[i][k] x_k = right[i], for as many *rows* as unknowns.

    Pivots are numbers where there are any, then what fills in least, then what is shortest. ``number`` gives the value of an
    entry at some state: what vanishes there is no pivot.
    """
    opened = Opened(graph)
    A, b = [dict(row) for row in rows], list(right)
    waiting = set(range(len(A)))
    order: list[tuple[int, int]] = []
    while waiting:
        entries = [(i, k) for i in sorted(waiting) for k, a in A[i].items() if abs(number(a)) > VANISHING]
        i, k = min(entries, key=lambda at: _effort(graph, A, waiting, at))
        waiting.remove(i)
        order.append((i, k))
        for j in waiting:
            if k in A[j]:
                share = opened.shorter(graph.div(A[j].pop(k), A[i][k]))
                _subtract(graph, opened, A[j], share, A[i], k)
                b[j] = opened.shorter(graph.sub(b[j], graph.mul(share, b[i])))
    x = [ZERO] * len(A)
    for i, k in reversed(order):
        known = graph.sum(graph.mul(a, x[m]) for m, a in A[i].items() if m != k)
        x[k] = opened.shorter(graph.div(graph.sub(b[i], known), A[i][k]))
    return x


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
