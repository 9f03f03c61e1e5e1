"""Time derivatives of any order along a motion, by recurrences of Taylor arithmetic; level k of a node is its k-th derivative.

Each level of each node is computed once. Sums, products, quotients and square roots have recurrences of their own::

    (a b)_k = sum of C(k, i) a_i b_k-i          (a / b)_k = (a_k - sum of C(k, i) b_i y_k-i, i > 0) / b

all other operations follow the chain rule; their partial derivatives are nodes with levels themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.op import LEAVES, Op
from kineta.expr.tables import along, derivative
from kineta.expr.walk import operands, reachable
from kineta.passes.differentiate import PARTIALS

_LEAF = [op in LEAVES for op in Op]

#: Levels 0, 1, ... of a node.
Row = list[Ref]


class TimeDerivatives:
    """Derivatives along a motion with the *rate* of every symbol, ZERO for constants."""

    def __init__(self, graph: Graph, rate: Callable[[Ref], Ref]) -> None:
        self.graph = graph
        self.rate = rate
        self._rows: dict[int, Row] = {}
        self._varies: dict[int, bool] = {}

    def of(self, refs: Sequence[Ref], order: int) -> list[Ref]:
        """The derivatives of *refs* of the given *order*."""
        self._extend(refs, order)
        return [self._row(r)[order] for r in refs]

    def _row(self, ref: Ref) -> Row:
        row = self._rows[ref >> 1]
        return [neg(x) for x in row] if ref & 1 else row

    def _extend(self, refs: Sequence[Ref], order: int) -> None:
        """Compute the levels of all nodes below *refs* up to *order*; the recursion descends in the order, never along
        operands.
        """
        g = self.graph
        nodes = [i for i in reachable(g, refs) if len(self._rows.get(i, ())) <= order]
        for i in nodes:
            moved = (self._varies[a >> 1] for a in operands(g, i))
            self._varies[i] = self._rate(i) != ZERO if _LEAF[g.op[i]] else any(moved)
        if order:
            varying = [g.rhs[i] for i in nodes if g.op[i] == Op.TABLE and self._varies[g.rhs[i] >> 1]]
            if varying:
                self._extend(varying, 1)
            self._extend([r for i in nodes for r in self._factors(i)], order - 1)
        for i in nodes:
            op, row = g.op[i], self._rows.setdefault(i, [2 * i])
            inner = [self._row(a) for a in operands(g, i)]
            for k in range(len(row), order + 1):
                if not self._varies[i]:
                    row.append(ZERO)
                elif _LEAF[op]:
                    row.append(self._row(self._rate(i))[k - 1])
                elif op == Op.TABLE:
                    by_quantity, *by_columns = (self._row(p) for p in self._factors(i))
                    row.append(g.sum([_chain(g, k, inner[0], by_quantity), *(r[k - 1] for r in by_columns)]))
                elif op in RECURRENCES:
                    row.append(RECURRENCES[op](g, k, row, *inner))
                else:
                    outer = (self._row(p) for p in self._factors(i))
                    row.append(g.sum(_chain(g, k, a, p) for a, p in zip(inner, outer, strict=True)))

    def _rate(self, leaf: int) -> Ref:
        return self.rate(2 * leaf) if self.graph.op[leaf] == Op.SYMBOL else ZERO

    def _factors(self, i: int) -> tuple[Ref, ...]:
        """The nodes whose level k - 1 enters level k of node *i*: the rate of a symbol, or the partial derivatives of an
        operation.
        """
        g = self.graph
        op = g.op[i]
        if not self._varies[i] or op in RECURRENCES:
            return ()
        if _LEAF[op]:
            return (self._rate(i),)
        if op == Op.TABLE:
            x, data = g.lhs[i], g.rhs[i]
            moved = (along(g, x, data, self._row(data)[1]),) if self._varies[data >> 1] else ()
            return derivative(g, x, data), *moved
        return PARTIALS[op](g, 2 * i, g.lhs[i], g.rhs[i])[: len(operands(g, i))]


def _chain(g: Graph, k: int, x: Row, p: Row) -> Ref:
    """Level k - 1 of the product of p and the rate of x."""
    return g.sum(multiple(g, comb(k - 1, i - 1), g.mul(x[i], p[k - i])) for i in range(1, k + 1))


def multiple(g: Graph, number: int, ref: Ref) -> Ref:
    """*ref* multiplied by the integer *number*."""
    return ref if number == 1 else g.mul(g.const(float(number)), ref)


def _product(g: Graph, k: int, a: Row, b: Row, first: int = 0) -> Ref:
    """Level k of a b without the terms below *first*; half of the terms for a square."""
    if a is not b:
        return g.sum(multiple(g, comb(k, i), g.mul(a[i], b[k - i])) for i in range(first, k - first + 1))
    pairs = [multiple(g, 2 * comb(k, i), g.mul(a[i], a[k - i])) for i in range(first, (k + 1) // 2)]
    if k % 2 == 0 and k // 2 >= first:
        pairs.append(multiple(g, comb(k, k // 2), g.mul(a[k // 2], a[k // 2])))
    return g.sum(pairs)


def _quotient(g: Graph, k: int, y: Row, a: Row, b: Row) -> Ref:
    known = g.sum(multiple(g, comb(k, i), g.mul(b[i], y[k - i])) for i in range(1, k + 1))
    return g.div(g.sub(a[k], known), b[0])


def _root(g: Graph, k: int, y: Row, a: Row) -> Ref:
    """Level k of the square root, from y y = a."""
    return g.div(g.sub(a[k], _product(g, k, y, y, 1)), g.add(y[0], y[0]))


#: Recurrences: level k of y = op(a, b) from the levels of a and b and the lower levels of y.
RECURRENCES: dict[int, Callable[..., Ref]] = {
    Op.ADD: lambda g, k, y, a, b: g.add(a[k], b[k]),
    Op.MUL: lambda g, k, y, a, b: _product(g, k, a, b),
    Op.DIV: _quotient,
    Op.SQRT: _root,
    Op.WHERE: lambda g, k, y, a, b: g.where(a[k], b[0]),
    Op.PAIR: lambda g, k, y, a, b: g.pair(a[k], b[k]),
    Op.IF: lambda g, k, y, a, b: ZERO if b[k] == ZERO else g.choice(a[0], b[k]),
}
