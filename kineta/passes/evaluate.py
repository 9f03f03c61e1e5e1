"""Values of expressions for given values of their symbols: the reference meaning, on floats, or on what other functions take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kineta.errors import ExpressionError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import FLOAT, UNARY, Op
from kineta.expr.walk import reachable

_UNARY = [op in UNARY for op in Op]


def evaluate(
    graph: Graph,
    roots: Sequence[Ref],
    values: Mapping[str, Any],
    functions: Mapping[int, Callable[..., Any]] = FLOAT,
) -> list[Any]:
    """Values of *roots* by the *functions* of the operations: on floats, or on arrays or numbers of any precision.

    Raises :class:`ExpressionError` for a symbol without a value or an operation without a result.
    """
    result: dict[int, Any] = {}
    for i in reachable(graph, roots):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            result[i] = graph.constants[a]
        elif op == Op.SYMBOL:
            name = graph.names[a]
            if name not in values:
                raise ExpressionError(f"The symbol '{name}' has no value.")
            result[i] = values[name]
        else:
            x = -result[a >> 1] if a & 1 else result[a >> 1]
            arguments = (x,) if _UNARY[op] else (x, -result[b >> 1] if b & 1 else result[b >> 1])
            try:
                result[i] = functions[op](*arguments)
            except (ValueError, ZeroDivisionError, OverflowError):
                shown = ", ".join(f"{value:g}" for value in arguments)
                raise ExpressionError(f"{Op(op).name.lower()}({shown}) is not a finite number.") from None
    return [-result[r >> 1] if r & 1 else result[r >> 1] for r in roots]
