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
    roots = replaced_tables(graph, roots, given)
    order = reachable(graph, roots, given)
    if not any(graph.op[i] in COMPOSED for i in order):
        return roots
    copy: dict[int, Ref] = {}

    def of(r: Ref) -> Ref:
        found = copy.get(r >> 1, r & -2)
        return neg(found) if r & 1 else found

    for i in order:
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if i in given or op <= Op.SYMBOL or op == Op.PAIR:
            continue
        if op == Op.IF:
            condition, pair = of(a), b >> 1
            first, second = of(graph.lhs[pair]), of(graph.rhs[pair])
            other = graph.where(second, graph.sub(ONE, condition))
            copy[i] = graph.add(graph.where(first, condition), other)
        elif a >> 1 in copy or (op not in UNARY and b >> 1 in copy):
            copy[i] = graph.call(op, of(a), of(b))
    return [of(r) for r in roots]


def replaced_tables(
    graph: Graph,
    roots: Sequence[Ref],
    given: Container[int] = (),
    opening: Callable[[Graph, Ref, Table], Ref] = opened,
) -> list[Ref]:
    """The *roots* with what *opening* makes of tables in their place, in the same graph."""
    order = reachable(graph, roots, given) if Op.TABLE in graph.op else ()
    copy: dict[int, Ref] = {}

    def of(r: Ref) -> Ref:
        found = copy.get(r >> 1, r & -2)
        return neg(found) if r & 1 else found

    if any(graph.op[i] == Op.TABLE for i in order):
        for i in order:
            op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
            if i in given or op <= Op.SYMBOL:
                continue
            if op == Op.TABLE:
                copy[i] = opening(graph, of(a), table_of(graph, of(b)))
            elif a >> 1 in copy or (op not in UNARY and b >> 1 in copy):
                copy[i] = graph.call(op, of(a), of(b))
    return [of(r) for r in roots]
