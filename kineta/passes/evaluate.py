"""Values of expressions for given values of their symbols: the reference meaning, on floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.errors import ExpressionError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import FLOAT, UNARY, Op
from kineta.expr.walk import reachable


def evaluate(graph: Graph, roots: Sequence[Ref], values: Mapping[str, float]) -> list[float]:
    """Values of *roots*. Raises :class:`ExpressionError` for a symbol without a value or an operation without a result."""
    result: dict[int, float] = {}
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
            arguments = (a,) if op in UNARY else (a, b)
            x = [-result[r >> 1] if r & 1 else result[r >> 1] for r in arguments]
            try:
                result[i] = FLOAT[Op(op)](*x)
            except (ValueError, ZeroDivisionError, OverflowError):
                shown = ", ".join(f"{value:g}" for value in x)
                raise ExpressionError(f"{Op(op).name.lower()}({shown}) is not a finite number.") from None
    return [-result[r >> 1] if r & 1 else result[r >> 1] for r in roots]
