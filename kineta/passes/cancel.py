"""Cancellation in nested sums: a - (b + (a + c)) is -b - c.

The constructors of the graph see two levels of a sum. In absolute coordinates the equations contain differences of forces that
cancel deep inside; this pass flattens such sums at any depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable, uses
from kineta.passes.substitute import signed
from kineta.records import dataclass

#: Terms of one flattened sum at most: the bound that keeps the pass linear.
TERMS = 64


@dataclass(slots=True)
class _Term:
    """An occurrence of the node *id*, with its *sign*, in a sum under flattening."""

    id: int
    sign: int
    parent: _Term | None
    parts: tuple[_Term, ...] = ()
    opened: bool = False
    cancelled: bool = False


def cancel(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """The *roots* with the same values and no more operations, cancelling terms removed."""
    order, user = uses(graph, roots)
    found = _cancelled(graph, roots, order, user)
    return found if len(reachable(graph, found)) <= len(order) else list(roots)


def _cancelled(graph: Graph, roots: Sequence[Ref], order: Sequence[int], user: Sequence[int]) -> list[Ref]:
    """The *roots* with every sum rebuilt; more operations are possible where a nested sum was rebuilt before."""
    copy: dict[int, Ref] = {}
    for i in order:
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in LEAVES:
            copy[i] = 2 * i
        elif op == Op.ADD and user[i] != Op.ADD:
            copy[i] = _sum(graph, i, copy, user)
        else:
            copy[i] = graph.call(op, signed(copy[a >> 1], a), ZERO if op in UNARY else signed(copy[b >> 1], b))
    return [signed(copy[r >> 1], r) for r in roots]


def _sum(graph: Graph, i: int, copy: dict[int, Ref], user: Sequence[int]) -> Ref:
    """The sum *i* rebuilt from copies, with cancelling terms removed unless this costs operations."""
    root = _Term(i, 0, None)
    _open(graph, root)
    plain = graph.add(*(signed(copy[r >> 1], r) for r in (graph.lhs[i], graph.rhs[i])))
    if not root.opened:
        return plain
    saved, spent = _cost(root, user)
    return _rebuilt(graph, root, copy) if spent <= saved else plain


def _open(graph: Graph, root: _Term) -> None:
    """Flatten sums from the latest node to earlier ones; mark cancelling pairs and the sums that contain them."""
    waiting: dict[int, list[_Term]] = {root.id: [root]}
    heap = [-root.id]
    terms = 1
    while heap and terms < TERMS:
        i = -heappop(heap)
        here = waiting.pop(i)
        plus, minus = ([t for t in here if t.sign == s] for s in (0, 1))
        pairs = min(len(plus), len(minus))
        for term in (*plus[:pairs], *minus[:pairs]):
            _mark(term)
        if graph.op[i] != Op.ADD:
            continue
        for term in (*plus[pairs:], *minus[pairs:]):
            term.parts = tuple(_Term(r >> 1, term.sign ^ (r & 1), term) for r in (graph.lhs[i], graph.rhs[i]))
            terms += 1
            for part in term.parts:
                if part.id not in waiting:
                    heappush(heap, -part.id)
                waiting.setdefault(part.id, []).append(part)


def _mark(term: _Term) -> None:
    term.cancelled = True
    above = term.parent
    while above is not None and not above.opened:
        above.opened = True
        above = above.parent


def _cost(root: _Term, user: Sequence[int]) -> tuple[int, int]:
    """Additions saved (flattened sums without other users) and additions spent (on the remaining terms)."""
    saved = spent = 0
    stack = [(root, True)]
    while stack:
        term, dispensable = stack.pop()
        saved += dispensable
        left = [p for p in term.parts if not _vanishes(p)]
        spent += len(left) == 2
        stack += [(p, dispensable and user[p.id] == Op.ADD) for p in left if p.opened]
    return saved, spent


def _vanishes(term: _Term) -> bool:
    return term.cancelled or (term.opened and all(_vanishes(p) for p in term.parts))


def _rebuilt(graph: Graph, term: _Term, copy: dict[int, Ref]) -> Ref:
    if term.cancelled:
        return ZERO
    if term.opened:
        return graph.sum(_rebuilt(graph, p, copy) for p in term.parts)
    return signed(copy[term.id], term.sign)
