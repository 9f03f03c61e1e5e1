"""Removal of the guards of divisors, for expressions shown to readers."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import reachable
from kineta.passes.substitute import signed


def remove_guards(graph: Graph, roots: Sequence[Ref]) -> tuple[Graph, list[Ref]]:
    """The *roots* without guards, in a new graph; *graph* itself if it has none. What is 0 without a change, as derivatives of
    roots are at rest, is guarded, too.
    """
    if Op.GUARD not in graph.op and Op.WHERE not in graph.op:
        return graph, list(roots)
    target = Graph()
    copy: dict[int, Ref] = {}
    for i in reachable(graph, roots, guarding=False):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            copy[i] = target.const(graph.constants[a])
        elif op == Op.SYMBOL:
            copy[i] = target.symbol(graph.names[a])
        elif op == Op.GUARD or (op == Op.WHERE and graph.op[b >> 1] == Op.ABS):
            copy[i] = signed(copy[a >> 1], a)
        else:
            operands = (a,) if op in UNARY else (a, b)
            copy[i] = target.call(op, *(signed(copy[r >> 1], r) for r in operands))
    return target, [signed(copy[r >> 1], r) for r in roots]
