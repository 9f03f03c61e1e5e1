"""How large the terms are that an expression adds up: what its rounding errors are measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable

#: From references to their sizes.
_Size = Callable[[Ref], Ref]

#: Size of op(a, b); that of any other operation is the size of its value.
_SIZES: dict[int, Callable[[Graph, _Size, Ref, Ref], Ref]] = {
    Op.ADD: lambda g, size, a, b: g.add(size(a), size(b)),
    Op.MUL: lambda g, size, a, b: g.mul(size(a), size(b)),
    Op.DIV: lambda g, size, a, b: g.div(size(a), g.call(Op.ABS, b)),
    Op.SIN: lambda g, size, a, b: g.call(Op.MIN, ONE, size(a)),
    Op.COS: lambda g, size, a, b: ONE,
}


def magnitude(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """Sizes of *roots*: sums without signs, sines and cosines at their largest.

    What is many digits below its size is a rounding error.
    """
    sizes: dict[int, Ref] = {}

    def size(ref: Ref) -> Ref:
        return sizes[ref >> 1]

    for i in reachable(graph, roots):
        rule = _SIZES.get(graph.op[i])
        if rule is not None:
            sizes[i] = rule(graph, size, graph.lhs[i], graph.rhs[i])
        else:
            sizes[i] = 2 * i if graph.op[i] == Op.CONST else graph.call(Op.ABS, 2 * i)
    return [size(r) for r in roots]
