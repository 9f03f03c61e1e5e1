"""Sums and products with their constant parts together: (a x) b is (a b) x where a and b depend on parameters only.

What stands together is computed once per set of parameters, or folded. Only sums and products that nothing else needs are
taken apart, so no operation is ever added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable, users
from kineta.passes.substitute import signed

_NEUTRAL = {int(Op.ADD): ZERO, int(Op.MUL): ONE}


def gather(graph: Graph, roots: Sequence[Ref], parameters: Collection[Ref]) -> list[Ref]:
    """*roots* with the same values, and no more operations that depend on more than *parameters*."""
    order = reachable(graph, roots)
    user = users(graph, order, roots)
    static = {r >> 1 for r in parameters}
    copy: dict[int, Ref] = {}
    parts: dict[int, tuple[Ref, Ref]] = {}  # of a sum or product: what is constant, and the rest
    for i in order:
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in LEAVES:
            copy[i] = 2 * i
            if op == Op.CONST:
                static.add(i)
        elif op in UNARY:
            copy[i] = graph.call(op, signed(copy[a >> 1], a))
            if a >> 1 in static:
                static.add(i)
        elif a >> 1 in static and b >> 1 in static:
            copy[i] = graph.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
            static.add(i)
        elif op in _NEUTRAL:
            call, neutral = graph.add if op == Op.ADD else graph.mul, _NEUTRAL[op]
            constant, rest = neutral, neutral
            for r in (a, b):
                c, x = _split(r, op, neutral, copy, parts if user[r >> 1] == op == graph.op[r >> 1] else {}, static)
                constant, rest = call(constant, c), call(rest, x)
            parts[i] = constant, rest
            copy[i] = call(constant, rest)
        else:
            copy[i] = graph.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
    return [signed(copy[r >> 1], r) for r in roots]


def _split(
    ref: Ref, op: int, neutral: Ref, copy: dict[int, Ref], parts: dict[int, tuple[Ref, Ref]], static: set[int]
) -> tuple[Ref, Ref]:
    """What of a term (or factor) is constant, and the rest."""
    i = ref >> 1
    if i in static:
        return signed(copy[i], ref), neutral
    if i in parts:
        constant, rest = parts[i]
        return (signed(constant, ref), signed(rest, ref)) if op == Op.ADD else (constant, signed(rest, ref))
    return neutral, signed(copy[i], ref)
