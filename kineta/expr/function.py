"""Elementary functions of expressions: ``kn.sin(q1)``."""

from __future__ import annotations

from kineta.expr.node import LOCK, Expr, Scalar, expr
from kineta.expr.op import Op


def call(op: Op, *arguments: Scalar) -> Expr:
    """The operation *op* of one or two arguments."""
    first = next((a for a in arguments if isinstance(a, Expr)), None)
    first = expr(arguments[0]) if first is None else first
    with LOCK:
        return Expr(first.graph, first.graph.call(op, *(first.beside(a) for a in arguments)))


def sqrt(x: Scalar) -> Expr:
    """Square root."""
    return call(Op.SQRT, x)


def sin(x: Scalar) -> Expr:
    """Sine of an angle in radians."""
    return call(Op.SIN, x)


def cos(x: Scalar) -> Expr:
    """Cosine of an angle in radians."""
    return call(Op.COS, x)


def tan(x: Scalar) -> Expr:
    """Tangent of an angle in radians."""
    return call(Op.TAN, x)


def asin(x: Scalar) -> Expr:
    """Arc sine, in [-pi/2, pi/2]."""
    return call(Op.ASIN, x)


def acos(x: Scalar) -> Expr:
    """Arc cosine, in [0, pi]."""
    return call(Op.ACOS, x)


def atan(x: Scalar) -> Expr:
    """Arc tangent, in (-pi/2, pi/2)."""
    return call(Op.ATAN, x)


def atan2(y: Scalar, x: Scalar) -> Expr:
    """Angle of the point (x, y), in (-pi, pi]."""
    return call(Op.ATAN2, y, x)


def sinh(x: Scalar) -> Expr:
    """Hyperbolic sine."""
    return call(Op.SINH, x)


def cosh(x: Scalar) -> Expr:
    """Hyperbolic cosine."""
    return call(Op.COSH, x)


def tanh(x: Scalar) -> Expr:
    """Hyperbolic tangent."""
    return call(Op.TANH, x)


def exp(x: Scalar) -> Expr:
    """Exponential."""
    return call(Op.EXP, x)


def log(x: Scalar) -> Expr:
    """Natural logarithm."""
    return call(Op.LOG, x)


def sign(x: Scalar) -> Expr:
    """-1, 0 or 1."""
    return call(Op.SIGN, x)


def step(x: Scalar) -> Expr:
    """1 where x > 0, else 0."""
    return call(Op.STEP, x)


def minimum(x: Scalar, y: Scalar) -> Expr:
    """The smaller of two values."""
    return call(Op.MIN, x, y)


def maximum(x: Scalar, y: Scalar) -> Expr:
    """The larger of two values."""
    return call(Op.MAX, x, y)
