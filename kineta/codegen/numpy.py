"""The backend ``numpy``: the reference meaning of a program, operation by operation, on arrays of any shape."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.expr.op import BINARY, COMPOSED, FLOAT, LIBM, NUMPY, UNARY, Op
from kineta.expr.program import StraightLineProgram
from kineta.expr.row import StepRow

#: A function of one array per input block.
Function = Callable[..., FloatArray]

#: Operations on arrays.
FUNCTIONS: dict[int, Callable[..., Any]] = {
    **{op: getattr(np, name) for op, name in NUMPY.items() if op != Op.STEP},
    Op.STEP: lambda x: np.where(x > 0, 1.0, 0.0),
    Op.GUARD: lambda x, y: np.where(y > 0, x, np.nan),
    Op.WHERE: lambda x, y: np.where(y > 0, x, 0.0),
    Op.LOOKUP: lambda x, row: np.asarray(row.values)[np.searchsorted(row.knots, x, side="right")],
}
assert FUNCTIONS.keys() == (UNARY | BINARY) - COMPOSED


def _of_c_library(op: Op) -> Callable[..., Any]:
    """The operation on NumPy's scalars with the bits of the C library, which machine code and exported code call; NumPy's own
    on arrays, and where it is not defined.
    """
    one, several = FLOAT[op], FUNCTIONS[op]

    def call(*operands: Any) -> Any:
        if not any(map(np.ndim, operands)):
            try:
                return np.float64(one(*map(float, operands)))
            except (ArithmeticError, ValueError):
                pass
        return several(*operands)

    return call


#: Faster operations on NumPy's scalars.
_QUICK: dict[int, Callable[..., Any]] = {
    **FUNCTIONS,
    **{op: _of_c_library(op) for op in LIBM if op != Op.SQRT},
    Op.ADD: operator.add,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
}


def compile(program: StraightLineProgram) -> Function:
    """A function of one array (..., size) per input block that returns the results, (..., n_outputs).

    Leading axes broadcast. Undefined results are NaN, as in the other backends.
    """
    steps = [(_QUICK[Op(op)], op in UNARY, a, b) for op, a, b in zip(program.op, program.lhs, program.rhs, strict=True)]

    def run(*blocks: FloatArray) -> FloatArray:
        values: list[Any] = [
            x for b, block in zip(blocks, program.inputs, strict=True) for x in np.moveaxis(b, -1, 0)[: block.size]
        ]
        values.extend(c if isinstance(c, StepRow) else np.float64(c) for c in program.constants)

        with np.errstate(all="ignore"):
            # Signs are applied inline: a call would take longer than the arithmetic of one state.
            for function, alone, a, b in steps:
                x = -values[a >> 1] if a & 1 else values[a >> 1]
                values.append(function(x) if alone else function(x, -values[b >> 1] if b & 1 else values[b >> 1]))
        lead = np.broadcast_shapes(*(np.shape(b)[:-1] for b in blocks))
        out = np.empty((*lead, program.n_outputs))
        for i, r in enumerate(program.results):
            out[..., i] = -values[r >> 1] if r & 1 else values[r >> 1]
        return out

    return run
