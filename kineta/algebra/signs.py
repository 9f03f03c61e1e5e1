"""Signs and powers of expressions as they are written: which operand of a sum stands first, which factor takes a minus into its
sum, so that few texts begin with a minus and none has one in front of a whole sum in brackets, and what is a whole power.
"""

from __future__ import annotations

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable


class Signs:
    """Of the nodes of a *graph*, whether their text, and that of their negatives, can do without a minus at its beginning."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._free: dict[int, tuple[bool, bool]] = {}

    def free(self, ref: Ref) -> bool:
        """Whether *ref* can be written without a minus at the beginning."""
        i = ref >> 1
        if i not in self._free:
            for k in reachable(self._graph, [ref], self._free):
                if k not in self._free:
                    self._free[k] = self._described(k)
        return self._free[i][ref & 1]

    def operands(self, ref: Ref) -> tuple[Ref, Ref]:
        """Both operands of the sum *ref*, with its sign; the first is written without brackets."""
        g, i, sign = self._graph, ref >> 1, ref & 1
        a, b = g.lhs[i] ^ sign, g.rhs[i] ^ sign
        first = [(not self.free(r), g.op[r >> 1] != Op.ADD, k) for k, r in enumerate((a, b))]
        return (a, b) if first[0] < first[1] else (b, a)

    def turned(self, i: int) -> tuple[Ref, Ref] | None:
        """The operands of the product or quotient *i* with a sum in one of them turned, so that its negative has no minus."""
        a, b = self._graph.lhs[i], self._graph.rhs[i]
        if self._turns(a):
            return a ^ 1, b
        return (a, b ^ 1) if self._turns(b) else None

    def _turns(self, ref: Ref) -> bool:
        op = self._graph.op[ref >> 1]
        return op in (Op.ADD, Op.MUL, Op.DIV) and self.free(ref ^ 1)

    def _described(self, i: int) -> tuple[bool, bool]:
        g = self._graph
        op, a, b = g.op[i], g.lhs[i], g.rhs[i]
        if op == Op.ADD:
            return self.free(a) or self.free(b), self.free(a ^ 1) or self.free(b ^ 1)
        if op == Op.GUARD:
            return self.free(a), self.free(a ^ 1)
        if op in (Op.MUL, Op.DIV):
            return True, power(g, 2 * i)[1] == 1 and self.turned(i) is not None
        return True, False


#: Squarings at most by which the graph makes a whole power.
_SQUARINGS = 6


def power(graph: Graph, ref: Ref, squarings: int = _SQUARINGS) -> tuple[Ref, int]:
    """Base and exponent of a whole power that the graph has made of at most so many *squarings*; else *ref* itself and 1."""
    base, n = _squared(graph, ref, squarings)
    if n:
        return base, 1 << n
    i = ref >> 1
    if graph.op[i] == Op.MUL:
        for rest, square in ((graph.lhs[i], graph.rhs[i]), (graph.rhs[i], graph.lhs[i])):
            base, n = _squared(graph, square, squarings - 1)
            root, exponent = power(graph, rest, n) if n else (rest, 0)
            if 0 < exponent < 1 << n and root == base:
                return base, exponent + (1 << n)
    return ref, 1


def _squared(graph: Graph, ref: Ref, squarings: int) -> tuple[Ref, int]:
    """What is squared, and how many times, at most *squarings*."""
    n = 0
    while n < squarings and graph.op[ref >> 1] == Op.MUL and graph.lhs[ref >> 1] == graph.rhs[ref >> 1]:
        ref, n = graph.lhs[ref >> 1], n + 1
    return ref, n
