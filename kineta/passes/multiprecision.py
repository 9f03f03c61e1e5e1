"""Evaluation of expressions in multiprecision arithmetic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from kineta.errors import MissingPackageError
from kineta.expr.op import COMPOSED, UNARY, Op

#: Operations of Python's numbers, valid for mpmath's numbers as well.
_PLAIN: dict[int, Callable[..., Any]] = {
    Op.MIN: min,
    Op.MAX: max,
    Op.POW: operator.pow,
    Op.STEP: lambda x: type(x)(x > 0),
    Op.GUARD: lambda x, y: x if y > 0 else x * math.nan,
    Op.WHERE: lambda x, y: x if y > 0 else type(y)(0),
}


def require_mpmath() -> Any:
    """The package mpmath. Raises :class:`MissingPackageError` where it is not installed."""
    try:
        import mpmath
    except ImportError:
        raise MissingPackageError("mpmath", "sympy") from None
    return mpmath


def multiprecision_operations() -> dict[int, Callable[..., Any]]:
    """Operations on arrays of mpmath's numbers, in the precision of its context; NaN for undefined results."""
    import numpy as np

    mpmath = require_mpmath()
    # Sums, products and sizes have values always: arrays take them without another call.
    found: dict[int, Callable[..., Any]] = {Op.CONST: mpmath.mpf, Op.ADD: np.add, Op.MUL: np.multiply, Op.ABS: np.abs}
    for op in Op:
        if op > Op.SYMBOL and op not in COMPOSED | {Op.LOOKUP, *found}:
            single = mpmath.fdiv if op == Op.DIV else _PLAIN.get(op) or getattr(mpmath, op.name.lower())
            found[op] = np.frompyfunc(_real(single, mpmath), 1 if op in UNARY else 2, 1)
    found[Op.LOOKUP] = lambda x, row: np.frompyfunc(lambda one: mpmath.mpf(row.at(one)), 1, 1)(x)
    return found


def _real(function: Callable[..., Any], mpmath: Any) -> Callable[..., Any]:
    """*function* restricted to real results; NaN otherwise."""

    def value(*x: Any) -> Any:
        try:
            found = function(*x)
        except (ValueError, ZeroDivisionError, OverflowError):
            return mpmath.nan
        return mpmath.nan if isinstance(found, mpmath.mpc) else found

    return value
