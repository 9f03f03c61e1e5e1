"""Derivatives without the graph's own rules: one evaluation at x + ih, exact to rounding."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kineta.expr.graph import Graph, Ref
from kineta.expr.lowering import lowered
from kineta.expr.op import UNARY, Op
from kineta.expr.row import StepRow
from kineta.expr.walk import reachable

#: So small that its square is nothing beside 1.
STEP = 1e-40


def _atan2(y: complex, x: complex) -> complex:
    """Atan2 of the real parts; to first order in the imaginary ones."""
    angle = cmath.phase(complex(x.real, y.real))
    return complex(angle, (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2))


#: Every operation on complex numbers with a small imaginary part.
COMPLEX: Mapping[int, Callable[..., Any]] = {
    Op.ADD: lambda x, y: x + y,
    Op.MUL: lambda x, y: x * y,
    Op.DIV: lambda x, y: x / y,
    Op.SQRT: cmath.sqrt,
    Op.SIN: cmath.sin,
    Op.COS: cmath.cos,
    Op.TAN: cmath.tan,
    Op.ASIN: cmath.asin,
    Op.ACOS: cmath.acos,
    Op.ATAN: cmath.atan,
    Op.ATAN2: _atan2,
    Op.SINH: cmath.sinh,
    Op.COSH: cmath.cosh,
    Op.TANH: cmath.tanh,
    Op.EXP: cmath.exp,
    Op.LOG: cmath.log,
    Op.POW: lambda x, y: x**y,
    Op.ABS: lambda x: x if x.real > 0 else -x,
    Op.SIGN: lambda x: complex((x.real > 0) - (x.real < 0)),
    Op.STEP: lambda x: complex(x.real > 0),
    Op.MIN: lambda x, y: x if x.real < y.real else y,
    Op.MAX: lambda x, y: x if x.real > y.real else y,
    Op.GUARD: lambda x, y: x if y.real > 0 else complex(math.nan, math.nan),
    Op.FLOOR: lambda x: complex(math.floor(x.real)),
    Op.WHERE: lambda x, y: x if y.real > 0 else 0j,
    Op.LOOKUP: lambda x, row: complex(row.at(x.real)),
}


def derivatives(
    graph: Graph, roots: Sequence[Ref], values: Mapping[str, float], rates: Mapping[str, float]
) -> list[float]:
    """Rates of *roots* where the symbols, at *values*, change at *rates* (0 where not given)."""
    result: dict[int, Any] = {}

    def operand(r: Ref) -> Any:
        return -result[r >> 1] if r & 1 else result[r >> 1]

    roots = lowered(graph, roots)
    for i in reachable(graph, roots):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            constant = graph.constants[a]
            result[i] = constant if isinstance(constant, StepRow) else complex(constant)
        elif op == Op.SYMBOL:
            name = graph.names[a]
            result[i] = complex(values[name], STEP * rates.get(name, 0.0))
        else:
            result[i] = COMPLEX[op](*(operand(r) for r in ((a,) if op in UNARY else (a, b))))
    return [operand(r).imag / STEP for r in roots]
