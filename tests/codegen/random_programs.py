"""Seeded random programs over all operations, kept where the values stay tame."""

from __future__ import annotations

import random

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import Op
from kineta.expr.program import StraightLineProgram, program
from kineta.expr.row import StepRow


def random_program(
    seed: int, n: int = 60, name: str = "f", blocks: tuple[int, ...] = (1, 5, 3, 0), *, rows: bool = True
) -> StraightLineProgram:
    """*n* random operations on input blocks of the given sizes, and with *rows* a few of rows of numbers; as many results as
    survive.
    """
    rng = random.Random(seed)
    g = Graph()
    inputs = {f"b{i}": [g.symbol(f"x{i}_{j}") for j in range(size)] for i, size in enumerate(blocks)}
    values: list[Ref] = [r for refs in inputs.values() for r in refs]
    while n > 0:
        a, b = (rng.choice(values[-40:]) ^ rng.randint(0, 1) for _ in range(2))
        values.append(_operation(g, rng, a, b))
        n -= 1
    knots = sorted(rng.uniform(-2, 2) for _ in range(37))
    steps = [StepRow(knots, [rng.uniform(-1, 1) for _ in range(38)]) for _ in range(2)]
    if rows:
        values += [g.call(Op.LOOKUP, rng.choice(values[-5:]) ^ 1, g.const(row)) for row in (*steps, steps[0])]
        values += [g.mul(values[-1], values[-2])]
    outputs = [v ^ rng.randint(0, 1) for v in values[-max(5, len(values) // 10) :]] + [
        values[0],
        values[1] ^ 1,
        ONE,
        0,
        3,
    ]
    return program(g, inputs, {"out": ((len(outputs),), outputs)}, name)


def _operation(g: Graph, rng: random.Random, a: Ref, b: Ref) -> Ref:
    """A random operation of bounded growth."""
    tame = g.sin(a)
    square = g.add(ONE, g.mul(tame, tame))
    match rng.randrange(24):
        case 0:
            return g.div(a, square)
        case 1:
            return g.sqrt(square)
        case 2:
            return g.cos(b)
        case 3:
            return g.call(Op.TAN, tame)
        case 4:
            return g.call(Op.ATAN2, a, b)
        case 5:
            return g.call(Op.EXP, tame)
        case 6:
            return g.call(Op.LOG, square)
        case 7:
            return g.call(Op.POW, square, g.sin(b))
        case 8:
            return g.call(rng.choice((Op.ASIN, Op.ACOS)), g.mul(g.const(0.9), tame))
        case 9:
            return g.call(rng.choice((Op.SINH, Op.COSH)), tame)
        case 10:
            return g.call(rng.choice((Op.TANH, Op.ATAN)), a)
        case 11:
            return g.call(rng.choice((Op.ABS, Op.SIGN, Op.STEP)), a)
        case 12:
            return g.call(rng.choice((Op.MIN, Op.MAX)), a, b)
        case 13 | 14 | 15:
            return g.mul(g.sin(a), b)
        case 16:
            return g.mul(g.const(rng.uniform(-1, 1)), a)
        case 17:
            return g.add(g.const(0.37), g.call(Op.FLOOR, g.mul(g.const(3.0), tame)))
        case 18:
            return g.call(Op.IF, g.call(Op.STEP, a), g.call(Op.PAIR, g.sqrt(square), tame))
        case _:
            return g.add(a, b)
