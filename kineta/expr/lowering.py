"""Operations of programs in place of composed ones: tables become choices between pieces, and choices
sums of which one term is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from kineta.expr.graph import ONE, Graph, Ref, neg
from kineta.expr.op import COMPOSED, UNARY, Op
from kineta.expr.tables import Table, opened, table_of
from kineta.expr.walk import reachable


def lowered(graph: Graph, roots: Sequence[Ref], given: Container[int] = ()) -> list[Ref]:
    """The *roots* without composed operations, in the same graph; nothing below the ids *given* is changed."""
    if COMPOSED.isdisjoint(graph.op):
        return list(roots)

    def choice(a: Ref, b: Ref) -> Ref:
        """The kept one of a pair, of which the other may have no value."""
        other = graph.where(graph.rhs[b >> 1], graph.sub(ONE, a))
        return graph.add(graph.where(graph.lhs[b >> 1], a), other)

    return _replaced(graph, replaced_tables(graph, roots, given), given, Op.IF, choice)


def replaced_tables(
    graph: Graph,
    roots: Sequence[Ref],
    given: Container[int] = (),
    opening: Callable[[Graph, Ref, Table], Ref] = opened,
) -> list[Ref]:
    """The *roots* with what *opening* makes of tables in their place, in the same graph."""
    return _replaced(graph, roots, given, Op.TABLE, lambda a, b: opening(graph, a, table_of(graph, b)))


def _replaced(
    graph: Graph, roots: Sequence[Ref], given: Container[int], gone: Op, make: Callable[[Ref, Ref], Ref]
) -> list[Ref]:
    """The *roots* with what *make* makes of the operands of operations *gone* in their place."""
    order = reachable(graph, roots, given) if gone in graph.op else []
    copy: dict[int, Ref] = {}

    def of(r: Ref) -> Ref:
        found = copy.get(r >> 1, r & -2)
        return neg(found) if r & 1 else found

    for i in order if any(graph.op[i] == gone for i in order) else ():
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if i in given or op <= Op.SYMBOL:
            continue
        if op == gone:
            copy[i] = make(of(a), of(b))
        elif a >> 1 in copy or (op not in UNARY and b >> 1 in copy):
            copy[i] = graph.call(op, of(a), of(b))
    return [of(r) for r in roots]
