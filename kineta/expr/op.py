"""The operations of the graph and their properties, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum


class Op(IntEnum):
    """Operation of a node. ``CONST`` and ``SYMBOL`` are leaves; the rest take one or two operands."""

    CONST = 0
    SYMBOL = 1
    ADD = 2
    MUL = 3
    DIV = 4
    SQRT = 5
    SIN = 6
    COS = 7
    TAN = 8
    ASIN = 9
    ACOS = 10
    ATAN = 11
    ATAN2 = 12
    SINH = 13
    COSH = 14
    TANH = 15
    EXP = 16
    LOG = 17
    POW = 18
    ABS = 19
    SIGN = 20
    STEP = 21
    MIN = 22
    MAX = 23
    GUARD = 24  # the first operand where the second is positive, else NaN
    FLOOR = 25
    WHERE = 26  # the first operand where the second is positive, else 0, whatever the first operand is there
    IF = 27  # of a pair, the first where the operand before is positive, else the second
    PAIR = 28  # two values for one operand; no number itself
    TABLE = 29  # a function by pieces of the first operand, whose data is a tree of pairs
    LOOKUP = 30  # the value at the first operand of the second, a constant that is a row of numbers


LEAVES = frozenset({Op.CONST, Op.SYMBOL})
BINARY = frozenset(
    {Op.ADD, Op.MUL, Op.DIV, Op.ATAN2, Op.POW, Op.MIN, Op.MAX, Op.GUARD, Op.WHERE, Op.IF, Op.PAIR, Op.TABLE, Op.LOOKUP}
)
#: Operations that :func:`~kineta.expr.lowering.lowered` writes with others, so that no program has them.
COMPOSED = frozenset({Op.IF, Op.PAIR, Op.TABLE})
UNARY = frozenset(Op) - BINARY - LEAVES

#: f(-x) = -f(x): the sign is pulled out of the argument.
ODD = frozenset({Op.SIN, Op.TAN, Op.ASIN, Op.ATAN, Op.SINH, Op.TANH, Op.SIGN})
#: f(-x) = f(x): the sign is dropped.
EVEN = frozenset({Op.COS, Op.COSH, Op.ABS})
#: f(a, b) = f(b, a): the operands are ordered.
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX})


#: Meaning of every operation on Python floats; used to fold constants.
FLOAT: dict[int, Callable[..., float]] = {
    Op.ADD: lambda x, y: x + y,
    Op.MUL: lambda x, y: x * y,
    Op.DIV: lambda x, y: x / y,
    **{Op[n.upper()]: getattr(math, n) for n in "sqrt sin cos tan asin acos atan atan2 sinh cosh tanh exp log".split()},
    Op.POW: lambda x, y: math.nan if x < 0 and not y.is_integer() else x**y,
    Op.ABS: abs,
    Op.SIGN: lambda x: float((x > 0) - (x < 0)),
    Op.STEP: lambda x: float(x > 0),
    Op.MIN: min,
    Op.MAX: max,
    Op.GUARD: lambda x, y: x if y > 0 else math.nan,
    Op.FLOOR: math.floor,
    Op.WHERE: lambda x, y: x if y > 0 else 0.0,
    Op.LOOKUP: lambda x, row: row.at(x),
}

#: Names of functions in the text language and in printed expressions.
FUNCTIONS: dict[str, Op] = {
    op.name.lower(): op
    for op in Op
    if op not in LEAVES | COMPOSED | {Op.ADD, Op.MUL, Op.DIV, Op.POW, Op.GUARD, Op.WHERE, Op.LOOKUP}
}

#: Names of functions in the C library.
LIBM: dict[Op, str] = {
    op: op.name.lower()
    for op in (
        *(Op.SQRT, Op.SIN, Op.COS, Op.TAN, Op.ASIN, Op.ACOS, Op.ATAN, Op.ATAN2),
        *(Op.SINH, Op.COSH, Op.TANH, Op.EXP, Op.LOG, Op.POW),
    )
}
#: Names of operations in NumPy.
NUMPY: dict[Op, str] = (
    {op: name for name, op in FUNCTIONS.items()}
    | {Op.ASIN: "arcsin", Op.ACOS: "arccos", Op.ATAN: "arctan", Op.ATAN2: "arctan2"}
    | {Op.MIN: "minimum", Op.MAX: "maximum"}
    | {Op.ADD: "add", Op.MUL: "multiply", Op.DIV: "divide", Op.POW: "power"}
)

#: Sides of a switching function: by its sign, held below and above zero, half way where contacts keep the motion at zero, and
#: between, with the part of the way from below to above.
FREE, LOW, HIGH, KEPT, SLIDING = 0, 1, 2, 3, 4
