"""Values of expressions with as many digits as are asked for."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kineta.errors import MissingPackageError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.passes.evaluate import evaluate

#: Operations of Python's numbers, which those of mpmath take as well.
_PLAIN: dict[int, Callable[..., Any]] = {
    Op.ADD: operator.add,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.ABS: abs,
    Op.MIN: min,
    Op.MAX: max,
    Op.POW: operator.pow,
    Op.STEP: lambda x: type(x)(x > 0),
    Op.GUARD: lambda x, y: x if y > 0 else x * math.nan,
}


def library() -> Any:
    """The package mpmath. Raises :class:`MissingPackageError` where it is not installed."""
    try:
        import mpmath
    except ImportError:
        raise MissingPackageError("mpmath", "sympy") from None
    return mpmath


def evaluate_digits(graph: Graph, roots: Sequence[Ref], values: Mapping[str, Any], digits: int) -> list[Any]:
    """Values of *roots* for *values* of mpmath, of *digits* decimal digits."""
    mpmath = library()
    with mpmath.workdps(digits):
        functions: dict[int, Callable[..., Any]] = {
            int(op): _PLAIN.get(op) or getattr(mpmath, op.name.lower()) for op in Op if op > Op.SYMBOL
        }
        return evaluate(graph, roots, values, functions)
