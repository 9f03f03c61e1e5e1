"""Elementary functions of expressions: ``kn.sin(q1)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kineta.algebra.expression import LOCK, UFUNCS, Comparison, Expr, Scalar, apply, expr
from kineta.errors import ExpressionError, shown
from kineta.expr.op import Op

F = TypeVar("F", bound=Callable[..., Any])


def _of_one(op: Op, name: str, meaning: str) -> Callable[[Scalar], Expr]:
    """The public function *name* of one argument."""

    def function(x: Scalar) -> Expr:
        return apply(op, x)

    return _public(function, name, meaning)


def _of_two(op: Op, name: str, meaning: str) -> Callable[[Scalar, Scalar], Expr]:
    """The public function *name* of two arguments."""

    def function(x: Scalar, y: Scalar) -> Expr:
        return apply(op, x, y)

    return _public(function, name, meaning)


def _public(function: F, name: str, meaning: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return function


sqrt = _of_one(Op.SQRT, "sqrt", "Square root.")
sin = _of_one(Op.SIN, "sin", "Sine of an angle in radians.")
cos = _of_one(Op.COS, "cos", "Cosine of an angle in radians.")
tan = _of_one(Op.TAN, "tan", "Tangent of an angle in radians.")
asin = _of_one(Op.ASIN, "asin", "Arc sine, in [-pi/2, pi/2].")
acos = _of_one(Op.ACOS, "acos", "Arc cosine, in [0, pi].")
atan = _of_one(Op.ATAN, "atan", "Arc tangent, in (-pi/2, pi/2).")
sinh = _of_one(Op.SINH, "sinh", "Hyperbolic sine.")
cosh = _of_one(Op.COSH, "cosh", "Hyperbolic cosine.")
tanh = _of_one(Op.TANH, "tanh", "Hyperbolic tangent.")
exp = _of_one(Op.EXP, "exp", "Exponential.")
log = _of_one(Op.LOG, "log", "Natural logarithm.")
sign = _of_one(Op.SIGN, "sign", "-1, 0 or 1.")
step = _of_one(Op.STEP, "step", "1 where x > 0, else 0.")
floor = _of_one(Op.FLOOR, "floor", "The largest whole number that is not above x.")
minimum = _of_two(Op.MIN, "minimum", "The smaller of two values.")
maximum = _of_two(Op.MAX, "maximum", "The larger of two values.")


def atan2(y: Scalar, x: Scalar) -> Expr:
    """Angle of the point (x, y), in (-pi, pi]."""
    return apply(Op.ATAN2, y, x)


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
