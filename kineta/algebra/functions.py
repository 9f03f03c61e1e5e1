"""Elementary functions of expressions: ``kn.sin(q1)``."""

from __future__ import annotations

from kineta.algebra.expression import LOCK, UFUNCS, Comparison, Expr, Scalar, apply, expr
from kineta.errors import ExpressionError, shown
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


def floor(x: Scalar) -> Expr:
    """The largest whole number that is not above x."""
    return apply(Op.FLOOR, x)


def ceil(x: Scalar) -> Expr:
    """The smallest whole number that is not below x."""
    return -apply(Op.FLOOR, -expr(x))


def mod(x: Scalar, y: Scalar) -> Expr:
    """The remainder x - y floor(x/y), which has the sign of y."""
    return expr(x) % expr(y)


def hypot(x: Scalar, y: Scalar) -> Expr:
    """The length sqrt(x^2 + y^2)."""
    found: Expr = UFUNCS["hypot"](expr(x), expr(y))
    return found


def where(condition: Comparison, x: Scalar, y: Scalar) -> Expr:
    """The value x where the *condition* holds, else y: ``kn.where(s < 0, -k*s, 0)``.

    Derivatives are those of what is chosen, and what is not chosen need have no value. Raises :class:`ExpressionError` for a
    *condition* that is no comparison.
    """
    if not isinstance(condition, Comparison):
        raise ExpressionError(f"kineta.where takes a comparison first, as x < 0, found {shown(condition)}.")
    number = condition.number
    with LOCK:
        g = number.graph
        return Expr(g, g.choice(number.ref, g.pair(number.beside(x), number.beside(y))))
