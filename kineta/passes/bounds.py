"""Bounds of expressions whose symbols lie in intervals [Moore, Interval Analysis (1966)]."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from kineta.expr import tables
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import reachable

#: A lower and an upper bound; equal references for what is known.
Interval = tuple[Ref, Ref]
#: In place of a bound where there is none.
UNBOUNDED = 1e300

_RISING = frozenset(
    {Op.ASIN, Op.ATAN, Op.SINH, Op.TANH, Op.EXP, Op.SIGN, Op.STEP, Op.FLOOR, Op.SQRT, Op.LOG, Op.MIN, Op.MAX}
)


def bounds(graph: Graph, roots: Sequence[Ref], given: Mapping[Ref, Interval]) -> list[Interval]:
    """Bounds of *roots* with symbols *given* in intervals and all others known; :data:`UNBOUNDED` where an operation may have
    no bound.
    """
    found: dict[int, Interval] = {}

    def of(r: Ref) -> Interval:
        low, high = found[r >> 1]
        return (neg(high), neg(low)) if r & 1 else (low, high)

    for i in reachable(graph, roots):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in (Op.CONST, Op.SYMBOL):
            found[i] = given.get(2 * i, (2 * i, 2 * i))
            continue
        x = of(a)
        y = x if op in UNARY or op == Op.TABLE else of(b)
        if x[0] == x[1] and y[0] == y[1]:
            found[i] = 2 * i, 2 * i
        elif op == Op.TABLE:
            size = tables.largest(graph, b)
            found[i] = _nothing(graph, x, x) if size is None else (graph.const(-size), graph.const(size))
        else:
            found[i] = _RULES[op](graph, x, y)
    return [of(r) for r in roots]


def largest(graph: Graph, interval: Interval) -> Ref:
    """The largest absolute value in an *interval*."""
    low, high = interval
    if low == high:
        return graph.call(Op.ABS, low)
    return graph.call(Op.MAX, graph.call(Op.ABS, low), graph.call(Op.ABS, high))


def _hull(g: Graph, x: Interval, y: Interval) -> Interval:
    return x if x == y else (g.call(Op.MIN, x[0], y[0]), g.call(Op.MAX, x[1], y[1]))


def _product(g: Graph, x: Interval, y: Interval) -> Interval:
    every = list(dict.fromkeys(g.mul(a, b) for a in x for b in y))
    low = high = every[0]
    for one in every[1:]:
        low, high = g.call(Op.MIN, low, one), g.call(Op.MAX, high, one)
    return low, high


def _reciprocal(g: Graph, y: Interval) -> Interval:
    if y[0] == y[1]:
        known = g.div(ONE, y[0])
        return known, known
    one_side = g.call(Op.STEP, g.mul(*y))
    low, high = ((y[1], -UNBOUNDED), (y[0], UNBOUNDED))
    return (
        g.choice(one_side, g.pair(g.div(ONE, low[0]), g.const(low[1]))),
        g.choice(one_side, g.pair(g.div(ONE, high[0]), g.const(high[1]))),
    )


def _power(g: Graph, x: Interval, y: Interval) -> Interval:
    exponent = g.value(y[0]) if y[0] == y[1] else None
    if exponent is None or exponent < 0:
        return _nothing(g, x, y)
    if exponent.is_integer():
        size = g.call(Op.POW, largest(g, x), y[0])
        return neg(size), size
    low, high = (g.call(Op.POW, g.call(Op.MAX, one, ZERO), y[0]) for one in x)
    return low, high


def _nothing(g: Graph, x: Interval, y: Interval) -> Interval:
    return g.const(-UNBOUNDED), g.const(UNBOUNDED)


def _within(low: float, high: float) -> Callable[[Graph, Interval, Interval], Interval]:
    return lambda g, x, y: (g.const(low), g.const(high))


def _rising(op: Op) -> Callable[[Graph, Interval, Interval], Interval]:
    if op in (Op.MIN, Op.MAX):
        return lambda g, x, y: (g.call(op, x[0], y[0]), g.call(op, x[1], y[1]))
    return lambda g, x, y: (g.call(op, x[0]), g.call(op, x[1]))


def _size(g: Graph, x: Interval, y: Interval) -> Interval:
    return g.call(Op.MAX, ZERO, g.call(Op.MAX, x[0], neg(x[1]))), g.call(Op.MAX, neg(x[0]), x[1])


def _cosh(g: Graph, x: Interval, y: Interval) -> Interval:
    return ONE, g.call(Op.COSH, largest(g, x))


_RULES: dict[int, Callable[[Graph, Interval, Interval], Interval]] = {
    **{op: _rising(op) for op in _RISING},
    Op.ADD: lambda g, x, y: (g.add(x[0], y[0]), g.add(x[1], y[1])),
    Op.MUL: _product,
    Op.DIV: lambda g, x, y: _product(g, x, _reciprocal(g, y)),
    Op.SIN: _within(-1.0, 1.0),
    Op.COS: _within(-1.0, 1.0),
    Op.TAN: _nothing,
    Op.ACOS: _within(0.0, math.pi),
    Op.ATAN2: _within(-math.pi, math.pi),
    Op.COSH: _cosh,
    Op.POW: _power,
    Op.ABS: _size,
    Op.GUARD: lambda g, x, y: x,
    Op.WHERE: lambda g, x, y: _hull(g, x, (ZERO, ZERO)),
    Op.IF: lambda g, x, y: y,
    Op.PAIR: _hull,
}
