"""Walks over the graph, without recursion."""

from __future__ import annotations

from collections.abc import Container, Iterable

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op

_LEAF = [int(op in LEAVES) for op in Op]
_UNARY = [int(op in UNARY) for op in Op]
_VALUE = [int(op in UNARY or op == Op.GUARD) for op in Op]


def reachable(graph: Graph, roots: Iterable[Ref], given: Container[int] = (), *, guarding: bool = True) -> list[int]:
    """Ids of the nodes that *roots* need, operands first; the walk does not go below the ids *given*, nor into what only
    decides whether a value stands, unless *guarding*.
    """
    one = _UNARY if guarding else _VALUE
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    seen = {r >> 1 for r in roots}
    stack = list(seen)
    while stack:
        i = stack.pop()
        kind = op[i]
        if not _LEAF[kind] and i not in given:
            a = lhs[i] >> 1
            if a not in seen:
                seen.add(a)
                stack.append(a)
            if not one[kind]:
                b = rhs[i] >> 1
                if b not in seen:
                    seen.add(b)
                    stack.append(b)
    return sorted(seen)


def reachable_below(graph: Graph, root: Ref, given: Container[int]) -> list[int]:
    """:func:`reachable` for one root that is walked into even if it is among *given*."""
    i = root >> 1
    op = graph.op[i]
    if _LEAF[op]:
        return [i]
    operands = [graph.lhs[i]] if _UNARY[op] else [graph.lhs[i], graph.rhs[i]]
    return [*reachable(graph, operands, given), i]


def users(graph: Graph, order: Iterable[int], roots: Iterable[Ref]) -> dict[int, int]:
    """For every node of *order* the operation of the one node that uses it, once; -1 for roots and what is used more often."""
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    user = {r >> 1: -1 for r in roots}
    for i in order:
        kind = op[i]
        if _LEAF[kind]:
            continue
        a = lhs[i] >> 1
        user[a] = -1 if a in user else kind
        if not _UNARY[kind]:
            b = rhs[i] >> 1
            user[b] = -1 if b in user else kind
    return user
