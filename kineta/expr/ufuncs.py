"""NumPy's functions of expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kineta.errors import ExpressionError
from kineta.expr import function as f
from kineta.expr.node import Expr

#: What NumPy calls the functions of expressions, and those that are made of them.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": f.sqrt,
    "sin": f.sin,
    "cos": f.cos,
    "tan": f.tan,
    "arcsin": f.asin,
    "arccos": f.acos,
    "arctan": f.atan,
    "arctan2": f.atan2,
    "sinh": f.sinh,
    "cosh": f.cosh,
    "tanh": f.tanh,
    "exp": f.exp,
    "log": f.log,
    "sign": f.sign,
    "maximum": f.maximum,
    "minimum": f.minimum,
    "fabs": abs,
    "conjugate": lambda x: x,
    "hypot": lambda x, y: f.sqrt(x * x + y * y),
    "exp2": lambda x: 2**x,
    "log2": lambda x: f.log(x) / math.log(2),
    "log10": lambda x: f.log(x) / math.log(10),
    "deg2rad": lambda x: x * math.radians(1),
    "radians": lambda x: x * math.radians(1),
    "rad2deg": lambda x: x * math.degrees(1),
    "degrees": lambda x: x * math.degrees(1),
}


def apply(ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The NumPy function *ufunc* of *inputs* with expressions among them, entry by entry."""
    arrays = [np.array(x, dtype=object) if isinstance(x, Expr) else x for x in inputs]
    by_entry = ufunc.__name__ in FUNCTIONS and method == "__call__"
    function = np.frompyfunc(FUNCTIONS[ufunc.__name__], ufunc.nin, 1) if by_entry else getattr(ufunc, method)
    try:
        return function(*arrays, **options)
    except TypeError as error:
        raise ExpressionError(f"NumPy's {ufunc.__name__} does not take expressions ({error}).") from None
