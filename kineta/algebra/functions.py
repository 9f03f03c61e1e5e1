"""Elementary functions of expressions: ``kn.sin(q1)``."""

from __future__ import annotations

from kineta.algebra.expression import Expr, Scalar, apply
from kineta.expr.op import Op


def sqrt(x: Scalar) -> Expr:
    """Square root."""
    return apply(Op.SQRT, x)


def sin(x: Scalar) -> Expr:
    """Sine of an angle in radians."""
    return apply(Op.SIN, x)


def cos(x: Scalar) -> Expr:
    """Cosine of an angle in radians."""
    return apply(Op.COS, x)


def tan(x: Scalar) -> Expr:
    """Tangent of an angle in radians."""
    return apply(Op.TAN, x)


def asin(x: Scalar) -> Expr:
    """Arc sine, in [-pi/2, pi/2]."""
    return apply(Op.ASIN, x)


def acos(x: Scalar) -> Expr:
    """Arc cosine, in [0, pi]."""
    return apply(Op.ACOS, x)


def atan(x: Scalar) -> Expr:
    """Arc tangent, in (-pi/2, pi/2)."""
    return apply(Op.ATAN, x)


def atan2(y: Scalar, x: Scalar) -> Expr:
    """Angle of the point (x, y), in (-pi, pi]."""
    return apply(Op.ATAN2, y, x)


def sinh(x: Scalar) -> Expr:
    """Hyperbolic sine."""
    return apply(Op.SINH, x)


def cosh(x: Scalar) -> Expr:
    """Hyperbolic cosine."""
    return apply(Op.COSH, x)


def tanh(x: Scalar) -> Expr:
    """Hyperbolic tangent."""
    return apply(Op.TANH, x)


def exp(x: Scalar) -> Expr:
    """Exponential."""
    return apply(Op.EXP, x)


def log(x: Scalar) -> Expr:
    """Natural logarithm."""
    return apply(Op.LOG, x)


def sign(x: Scalar) -> Expr:
    """-1, 0 or 1."""
    return apply(Op.SIGN, x)


def step(x: Scalar) -> Expr:
    """1 where x > 0, else 0."""
    return apply(Op.STEP, x)


def minimum(x: Scalar, y: Scalar) -> Expr:
    """The smaller of two values."""
    return apply(Op.MIN, x, y)


def maximum(x: Scalar, y: Scalar) -> Expr:
    """The larger of two values."""
    return apply(Op.MAX, x, y)
