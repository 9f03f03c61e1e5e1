"""Magnitudes of the terms of a sum, and rounding errors: scales for the values of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import BINARY, LEAVES, Op
from kineta.expr.walk import reachable
from kineta.passes.differentiate import PARTIALS

#: Sizes by reference.
_Size = Callable[[Ref], Ref]
#: Rule for the size of a result from the operands of its operation.
_Rule = Callable[[Graph, _Size, Ref, Ref], Ref]

#: Size of op(a, b); for all other operations the absolute value.
_SIZES: dict[int, _Rule] = {
    Op.ADD: lambda g, size, a, b: g.add(size(a), size(b)),
    Op.MUL: lambda g, size, a, b: g.mul(size(a), size(b)),
    Op.DIV: lambda g, size, a, b: g.div(size(a), g.call(Op.ABS, b)),
    Op.SIN: lambda g, size, a, b: g.call(Op.MIN, ONE, size(a)),
    Op.COS: lambda g, size, a, b: ONE,
}


def _product_error(g: Graph, size: _Size, a: Ref, b: Ref) -> Ref:
    """|a| error(b) + error(a) |b|; one term for an operand without propagated error."""
    own, other = g.call(Op.ABS, a), g.call(Op.ABS, b)
    if size(a) == own or size(b) == other:
        return g.mul(size(a), size(b))
    return g.add(g.mul(own, size(b)), g.mul(size(a), other))


def _quotient_error(g: Graph, size: _Size, a: Ref, b: Ref) -> Ref:
    """(error(a) + |a / b| error(b)) / |b|, without the second term for a b without propagated error."""
    below = g.call(Op.ABS, b)
    if size(b) == below:
        return g.div(size(a), below)
    return g.div(g.add(size(a), g.mul(g.call(Op.ABS, g.div(a, b)), size(b))), below)


#: Error of op(a, b) in units of roundoff.
_ERRORS = {**_SIZES, Op.MUL: _product_error, Op.DIV: _quotient_error}


def magnitude(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """Sizes of *roots*: sums of absolute values, with sines and cosines at their largest.

    A value many digits below its size is a rounding error.
    """
    return _by_rules(graph, roots, _SIZES)


def running_errors(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """First-order running error bounds of *roots* in units of roundoff, at least their absolute values (Higham, 3.3): unlike
    sizes these do not multiply in products of sums. Functions other than sine and cosine count as exact: the error of a
    square root at zero is unbounded.
    """
    return _by_rules(graph, roots, _ERRORS)


def _by_rules(graph: Graph, roots: Sequence[Ref], rules: Mapping[int, _Rule]) -> list[Ref]:
    sizes: dict[int, Ref] = {}

    def size(ref: Ref) -> Ref:
        return sizes[ref >> 1]

    for i in reachable(graph, roots):
        if graph.op[i] == Op.PAIR:
            continue
        rule = rules.get(graph.op[i])
        if rule is not None:
            sizes[i] = rule(graph, size, graph.lhs[i], graph.rhs[i])
        else:
            sizes[i] = 2 * i if graph.op[i] == Op.CONST else graph.call(Op.ABS, 2 * i)
    return [size(r) for r in roots]


def rounding_errors(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """First-order rounding errors of *roots* for a unit relative error of every intermediate value: |y| + sum |dy/dx| error(x)
    [Higham, Accuracy and Stability of Numerical Algorithms, 3.3].

    Unlike the size it does not grow with powers of sums; a value large in proportion to it is significant.
    """
    errors: dict[int, Ref] = {}
    for i in reachable(graph, roots):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.PAIR:
            errors[i] = graph.pair(errors[a >> 1], errors[b >> 1])
            continue
        error = graph.call(Op.ABS, 2 * i)
        if op == Op.IF:
            error = graph.add(error, graph.choice(a, errors[b >> 1]))
        elif op not in LEAVES:
            operands = (a, b) if op in BINARY else (a,)
            for x, partial in zip(operands, PARTIALS[op](graph, 2 * i, a, b), strict=False):
                error = graph.add(error, graph.mul(graph.call(Op.ABS, partial), errors[x >> 1]))
        errors[i] = error
    return [errors[r >> 1] for r in roots]
