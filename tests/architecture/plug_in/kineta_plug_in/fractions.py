"""A backend in rational numbers: sums, products and quotients without rounding, all else as NumPy has it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kineta.codegen import numpy as floating
from kineta.expr.op import UNARY, Op
from kineta.expr.program import StraightLineProgram

EXACT = {Op.ADD: lambda a, b: a + b, Op.MUL: lambda a, b: a * b, Op.DIV: lambda a, b: a / b}


def compile(program: StraightLineProgram) -> Callable[..., Any]:
    """A function of one array (..., size) per input block that returns the results, (..., n_outputs)."""

    def state(*blocks: Any) -> Any:
        values = [Fraction(x) for b, block in zip(blocks, program.inputs) for x in b[: block.size]]
        values += map(Fraction, program.constants)
        for op, a, b in zip(program.op, program.lhs, program.rhs):
            own = [_signed(values, x) for x in ((a,) if op in UNARY else (a, b))]
            exact = EXACT.get(Op(op))
            values.append(exact(*own) if exact else Fraction(float(floating.FUNCTIONS[Op(op)](*map(float, own)))))
        return np.array([float(_signed(values, r)) for r in program.results])

    return np.vectorize(state, signature=",".join(f"(n{k})" for k in range(len(program.inputs))) + "->(m)")


def _signed(values: list[Fraction], ref: int) -> Fraction:
    return -values[ref >> 1] if ref & 1 else values[ref >> 1]
