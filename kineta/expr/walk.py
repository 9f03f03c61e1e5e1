"""Walks over the graph, without recursion."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op

_LEAF = [int(op in LEAVES) for op in Op]
_UNARY = [int(op in UNARY) for op in Op]
_LENGTHS = [4 if op == Op.DIV else 0 if op in LEAVES or op == Op.GUARD else 1 for op in Op]
_ONES = [1 for _ in Op]
_COUNTED = [int(op in (Op.ADD, Op.MUL, Op.DIV)) for op in Op]
_VALUE = [int(op in UNARY or op == Op.GUARD) for op in Op]

#: What stands in the place of a user's operation for roots and for nodes with several uses.
SEVERAL = 255


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


def exceeds(graph: Graph, roots: Iterable[Ref], number: int) -> bool:
    """Whether more than *number* nodes are below *roots*."""
    return _weighed(graph, roots, number, _ONES, _UNARY) > number


def operations(graph: Graph, roots: Iterable[Ref], limit: float = math.inf) -> int:
    """Sums, products and quotients below *roots*, without conditions of guards; from *limit* on some number not below it."""
    return _weighed(graph, roots, limit - 1, _COUNTED, _VALUE)


def length(graph: Graph, roots: Iterable[Ref], limit: float = math.inf) -> int:
    """Operations below *roots*, with quotients counted as four; beyond *limit* some number above it."""
    return _weighed(graph, roots, limit, _LENGTHS, _UNARY)


def _weighed(graph: Graph, roots: Iterable[Ref], limit: float, weights: Sequence[int], one: Sequence[int]) -> int:
    """The sum of *weights* of nodes below *roots*, of which some lead to *one* operand only; counting ends beyond *limit*."""
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    stack = list({r >> 1 for r in roots})
    seen, total = set(stack), 0
    while stack and total <= limit:
        i = stack.pop()
        kind = op[i]
        total += weights[kind]
        if not _LEAF[kind]:
            a = lhs[i] >> 1
            if a not in seen:
                seen.add(a)
                stack.append(a)
            if not one[kind]:
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


def uses(graph: Graph, roots: Iterable[Ref]) -> tuple[list[int], bytearray]:
    """Ids of the nodes below *roots*, operands first; and by id, up to the greatest, for nodes with a single use the operation of
    their user, else ``SEVERAL``, as for roots.
    """
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    known = {r >> 1 for r in roots}
    i = max(known, default=-1) + 1
    seen, user = bytearray(i), bytearray(i)
    for root in known:
        seen[root], user[root] = 1, SEVERAL
    order = []
    while (i := seen.rfind(1, 0, i)) >= 0:
        order.append(i)
        kind = op[i]
        if not _LEAF[kind]:
            a = lhs[i] >> 1
            user[a] = SEVERAL if seen[a] else kind
            seen[a] = 1
            if not _UNARY[kind]:
                b = rhs[i] >> 1
                user[b] = SEVERAL if seen[b] else kind
                seen[b] = 1
    order.reverse()
    return order, user
