"""Bounds of expressions whose symbols lie in intervals [Moore, Interval Analysis (1966)]."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from kineta.errors import ExpressionError
from kineta.expr import tables
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import reachable

#: A lower and an upper bound; equal references for what is known.
Interval = tuple[Ref, Ref]
#: In place of a bound where there is none; where that shows at the time of evaluation only, bounds are infinite or no numbers.
UNBOUNDED = 1e300

#: Bounds of operations that have them whatever their operand is.
_RANGES: Mapping[int, tuple[float, float]] = {
    **dict.fromkeys((Op.SIN, Op.COS, Op.TANH, Op.SIGN), (-1.0, 1.0)),
    Op.STEP: (0.0, 1.0),
    Op.ATAN: (-math.pi / 2, math.pi / 2),
    Op.ACOS: (0.0, math.pi),
    Op.ATAN2: (-math.pi, math.pi),
}


def bounds(graph: Graph, roots: Sequence[Ref], given: Mapping[Ref, Interval]) -> list[Interval]:
    """Bounds of *roots* with symbols *given* in intervals and all others known; :data:`UNBOUNDED` where an operation may have
    no bound.
    """
    found: dict[int, Interval | None] = {}

    def of(r: Ref) -> Interval | None:
        own = found[r >> 1]
        return (neg(own[1]), neg(own[0])) if own is not None and r & 1 else own

    for i in reachable(graph, roots):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in (Op.CONST, Op.SYMBOL):
            found[i] = given.get(2 * i, (2 * i, 2 * i))
            continue
        x = of(a)
        y = x if op in UNARY or op == Op.TABLE else of(b)
        if x is not None and y is not None and x[0] == x[1] and y[0] == y[1]:
            found[i] = 2 * i, 2 * i
        elif op == Op.TABLE:
            size = tables.largest(graph, b)
            found[i] = None if size is None else (graph.const(-size), graph.const(size))
        elif op == Op.IF:
            found[i] = y
        else:
            found[i] = _bound(graph, op, x, y, same=op == Op.MUL and a == b)
    nothing = graph.const(-UNBOUNDED), graph.const(UNBOUNDED)
    return [of(r) or nothing for r in roots]


def largest(graph: Graph, interval: Interval) -> Ref:
    """The largest absolute value in an *interval*."""
    low, high = interval
    if low == high:
        return graph.call(Op.ABS, low)
    return graph.call(Op.MAX, graph.call(Op.ABS, low), graph.call(Op.ABS, high))


def _bound(g: Graph, op: int, x: Interval | None, y: Interval | None, *, same: bool) -> Interval | None:
    """Bounds of an operation; None for none. Numbers that are none, or too large, as of 1/0, have none."""
    try:
        if x is not None and y is not None:
            return _square(g, x) if same else _RULES[op](g, x, y)
        if op in _RANGES:
            low, high = _RANGES[op]
            return g.const(low), g.const(high)
    except ExpressionError:
        pass
    return None


def _hull(g: Graph, x: Interval, y: Interval) -> Interval:
    return x if x == y else (g.call(Op.MIN, x[0], y[0]), g.call(Op.MAX, x[1], y[1]))


def _product(g: Graph, x: Interval, y: Interval) -> Interval:
    every = list(dict.fromkeys(g.mul(a, b) for a in x for b in y))
    low = high = every[0]
    for one in every[1:]:
        low, high = g.call(Op.MIN, low, one), g.call(Op.MAX, high, one)
    return low, high


def _square(g: Graph, x: Interval) -> Interval:
    low, high = _size(g, x, x)
    return g.mul(low, low), g.mul(high, high)


def _reciprocal(g: Graph, y: Interval) -> Interval:
    if y[0] == y[1]:
        known = g.div(ONE, y[0])
        return known, known
    one_side = g.call(Op.STEP, g.mul(*y))
    least, most = (g.choice(one_side, g.pair(r, ZERO)) for r in (neg(y[1]), y[0]))
    return neg(g.div(ONE, least)), g.div(ONE, most)


def _power(g: Graph, x: Interval, y: Interval) -> Interval | None:
    exponent = g.value(y[0]) if y[0] == y[1] else None
    if exponent is None:
        logarithm = tuple(g.call(Op.LOG, g.call(Op.MAX, one, ZERO)) for one in x)
        low, high = _product(g, (logarithm[0], logarithm[1]), y)
        return g.call(Op.EXP, low), g.call(Op.EXP, high)
    size = g.const(abs(exponent))
    if not exponent.is_integer():
        x = g.call(Op.MAX, x[0], ZERO), g.call(Op.MAX, x[1], ZERO)
    elif exponent % 2 == 0:
        x = _size(g, x, x)
    own = g.call(Op.POW, x[0], size), g.call(Op.POW, x[1], size)
    return own if exponent >= 0 else _reciprocal(g, own)


def _wave(op: Op) -> Callable[[Graph, Interval, Interval], Interval]:
    """Sine and cosine change by at most as much as their angle."""

    def rule(g: Graph, x: Interval, y: Interval) -> Interval:
        half = g.const(0.5)
        middle, off = g.call(op, g.mul(half, g.add(*x))), g.mul(half, g.sub(x[1], x[0]))
        return g.call(Op.MAX, neg(ONE), g.sub(middle, off)), g.call(Op.MIN, ONE, g.add(middle, off))

    return rule


def _tangent(g: Graph, x: Interval, y: Interval) -> Interval:
    return _product(g, _wave(Op.SIN)(g, x, y), _reciprocal(g, _wave(Op.COS)(g, x, y)))


def _within(op: Op) -> Callable[[Graph, Interval, Interval], Interval]:
    low, high = _RANGES[op]
    return lambda g, x, y: (g.const(low), g.const(high))


def _rising(op: Op) -> Callable[[Graph, Interval, Interval], Interval]:
    if op in (Op.MIN, Op.MAX):
        return lambda g, x, y: (g.call(op, x[0], y[0]), g.call(op, x[1], y[1]))
    return lambda g, x, y: (g.call(op, x[0]), g.call(op, x[1]))


def _root(g: Graph, x: Interval, y: Interval) -> Interval:
    return g.call(Op.SQRT, g.call(Op.MAX, x[0], ZERO)), g.call(Op.SQRT, g.call(Op.MAX, x[1], ZERO))


def _size(g: Graph, x: Interval, y: Interval) -> Interval:
    return g.call(Op.MAX, ZERO, g.call(Op.MAX, x[0], neg(x[1]))), g.call(Op.MAX, neg(x[0]), x[1])


def _cosh(g: Graph, x: Interval, y: Interval) -> Interval:
    low, high = _size(g, x, y)
    return g.call(Op.COSH, low), g.call(Op.COSH, high)


_RULES: dict[int, Callable[[Graph, Interval, Interval], Interval | None]] = {
    **{
        op: _rising(op)
        for op in (Op.ASIN, Op.SINH, Op.EXP, Op.FLOOR, Op.LOG, Op.ATAN, Op.TANH, Op.SIGN, Op.STEP, Op.MIN, Op.MAX)
    },
    Op.ADD: lambda g, x, y: (g.add(x[0], y[0]), g.add(x[1], y[1])),
    Op.MUL: _product,
    Op.DIV: lambda g, x, y: _product(g, x, _reciprocal(g, y)),
    Op.SIN: _wave(Op.SIN),
    Op.COS: _wave(Op.COS),
    Op.TAN: _tangent,
    Op.ACOS: lambda g, x, y: (g.call(Op.ACOS, x[1]), g.call(Op.ACOS, x[0])),
    Op.ATAN2: _within(Op.ATAN2),
    Op.COSH: _cosh,
    Op.SQRT: _root,
    Op.POW: _power,
    Op.ABS: _size,
    Op.GUARD: lambda g, x, y: x,
    Op.WHERE: lambda g, x, y: _hull(g, x, (ZERO, ZERO)),
    Op.PAIR: _hull,
}
