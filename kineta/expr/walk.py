"""Walks over the graph, without recursion."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op

_LEAF = [int(op in LEAVES) for op in Op]
_UNARY = [int(op in UNARY) for op in Op]
_LENGTHS = [4 if op == Op.DIV else 0 if op in LEAVES or op == Op.GUARD else 1 for op in Op]
_VALUE = [int(op in UNARY or op == Op.GUARD) for op in Op]


def reachable(graph: Graph, roots: Iterable[Ref], given: Container[int] = (), *, guarding: bool = True) -> list[int]:
    """Ids of the nodes below *roots*, operands first. The walk stops at the ids *given*, and without *guarding* at
    conditions of guards.
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


def length(graph: Graph, roots: Iterable[Ref], limit: float = math.inf) -> int:
    """Operations below *roots*, with quotients counted as four; beyond *limit* some number above it."""
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    stack = list({r >> 1 for r in roots})
    seen, total = set(stack), 0
    while stack and total <= limit:
        i = stack.pop()
        kind = op[i]
        if not _LEAF[kind]:
            total += _LENGTHS[kind]
            a = lhs[i] >> 1
            if a not in seen:
                seen.add(a)
                stack.append(a)
            if not _UNARY[kind]:
                b = rhs[i] >> 1
                if b not in seen:
                    seen.add(b)
                    stack.append(b)
    return total


def operands(graph: Graph, i: int) -> tuple[Ref, ...]:
    """The operands of node *i*."""
    op = graph.op[i]
    if _LEAF[op]:
        return ()
    return (graph.lhs[i],) if _UNARY[op] else (graph.lhs[i], graph.rhs[i])


def reachable_below(graph: Graph, root: Ref, given: Container[int]) -> list[int]:
    """:func:`reachable` for one root, which is entered even if it is among *given*."""
    return [*reachable(graph, operands(graph, root >> 1), given), root >> 1]


def users(graph: Graph, order: Iterable[int], roots: Iterable[Ref]) -> dict[int, int]:
    """For every node of *order* with a single use, the operation of its user; -1 for roots and for nodes with several uses."""
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
