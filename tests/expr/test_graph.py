"""Interning, folding and snapping: what the constructors of the graph promise."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from kineta.errors import ExpressionError
from kineta.expr.graph import MINUS_ONE, ONE, ZERO, Graph, Ref, neg, snap
from kineta.expr.op import BINARY, COMMUTATIVE, COMPOSED, EVEN, FLOAT, LEAVES, ODD, UNARY, Op
from kineta.passes.evaluate import evaluate

EQUAL: dict[str, Callable[[Graph, Ref, Ref, Ref], tuple[Ref, Ref]]] = {
    "x + y = y + x": lambda g, x, y, z: (g.add(x, y), g.add(y, x)),
    "x y = y x": lambda g, x, y, z: (g.mul(x, y), g.mul(y, x)),
    "x - y = -(y - x)": lambda g, x, y, z: (g.sub(x, y), neg(g.sub(y, x))),
    "-x - y = -(x + y)": lambda g, x, y, z: (g.sub(neg(x), y), neg(g.add(x, y))),
    "x (-y) = -(x y)": lambda g, x, y, z: (g.mul(x, neg(y)), neg(g.mul(x, y))),
    "(-x) (-y) = x y": lambda g, x, y, z: (g.mul(neg(x), neg(y)), g.mul(x, y)),
    "(-x) / y = x / (-y)": lambda g, x, y, z: (g.div(neg(x), y), g.div(x, neg(y))),
    "--x = x": lambda g, x, y, z: (neg(neg(x)), x),
    "x + 0 = x": lambda g, x, y, z: (g.add(x, ZERO), x),
    "0 - x = -x": lambda g, x, y, z: (g.sub(ZERO, x), neg(x)),
    "x - x = 0": lambda g, x, y, z: (g.sub(x, x), ZERO),
    "(x + y) - x = y": lambda g, x, y, z: (g.sub(g.add(x, y), x), y),
    "x - (x + y) = -y": lambda g, x, y, z: (g.sub(x, g.add(x, y)), neg(y)),
    "(x - y) + y = x": lambda g, x, y, z: (g.add(g.sub(x, y), y), x),
    "y - (y - x) = x": lambda g, x, y, z: (g.sub(y, g.sub(y, x)), x),
    "c + (1 - c) = 1": lambda g, x, y, z: (g.add(g.cos(x), g.sub(ONE, g.cos(x))), ONE),
    "1 x = x": lambda g, x, y, z: (g.mul(ONE, x), x),
    "-1 x = -x": lambda g, x, y, z: (g.mul(x, MINUS_ONE), neg(x)),
    "0 x = 0": lambda g, x, y, z: (g.mul(neg(x), ZERO), ZERO),
    "0 / x = 0": lambda g, x, y, z: (g.div(ZERO, x), ZERO),
    "x / 1 = x": lambda g, x, y, z: (g.div(x, ONE), x),
    "x / -1 = -x": lambda g, x, y, z: (g.div(x, MINUS_ONE), neg(x)),
    "x / |x| = sign x": lambda g, x, y, z: (g.div(x, g.call(Op.ABS, neg(x))), g.call(Op.SIGN, x)),
    "z (-x) y / |x| = -z y sign x": lambda g, x, y, z: (
        g.div(g.mul(g.mul(z, neg(x)), y), g.call(Op.ABS, x)),
        neg(g.mul(g.mul(z, y), g.call(Op.SIGN, x))),
    ),
    "x / -x = -1": lambda g, x, y, z: (g.div(x, neg(x)), MINUS_ONE),
    "x / 4 = 0.25 x": lambda g, x, y, z: (g.div(x, g.const(4)), g.mul(g.const(0.25), x)),
    "x^0 = 1": lambda g, x, y, z: (g.call(Op.POW, x, ZERO), ONE),
    "x^1 = x": lambda g, x, y, z: (g.call(Op.POW, x, ONE), x),
    "(-x)^3 = -(x x^2)": lambda g, x, y, z: (g.call(Op.POW, neg(x), g.const(3)), neg(g.mul(x, g.mul(x, x)))),
    "x^-2 = 1 / x^2": lambda g, x, y, z: (g.call(Op.POW, x, g.const(-2)), g.div(ONE, g.mul(x, x))),
    "x^0.5 = sqrt x": lambda g, x, y, z: (g.call(Op.POW, x, g.const(0.5)), g.sqrt(x)),
    "2 + 3 = 5": lambda g, x, y, z: (g.add(g.const(2), g.const(3)), g.const(5)),
    "2 - 2 = 0": lambda g, x, y, z: (g.sub(g.const(2), g.const(2)), ZERO),
    "exp 0 = 1": lambda g, x, y, z: (g.call(Op.EXP, ZERO), ONE),
    "log 1 = 0": lambda g, x, y, z: (g.call(Op.LOG, ONE), ZERO),
    "atan2(0, -1) = pi": lambda g, x, y, z: (g.call(Op.ATAN2, ZERO, MINUS_ONE), g.const(math.pi)),
}


@pytest.mark.parametrize("law", EQUAL)
def test_equal_by_a_local_law_is_the_same_node(law: str) -> None:
    g = Graph()
    left, right = EQUAL[law](g, *(g.symbol(n) for n in "xyz"))
    assert left == right


@pytest.mark.parametrize("op", sorted(ODD | EVEN | COMMUTATIVE))
def test_signs_and_order_of_arguments_as_the_tables_say(op: Op) -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    if op in COMMUTATIVE:
        assert g.call(op, x, neg(y)) == g.call(op, neg(y), x)
    else:
        assert g.call(op, neg(x)) == (neg(g.call(op, x)) if op in ODD else g.call(op, x))


def test_numbers_are_interned_by_value_and_zero_has_no_sign() -> None:
    g = Graph()
    assert g.const(0.0) == g.const(-0.0) == g.const(0) == ZERO == neg(ZERO)
    assert g.const(1) == g.const(1.0) == ONE
    assert g.const(-2.5) == neg(g.const(2.5))
    assert math.copysign(1, g.value(g.const(-0.0)) or 0.0) == 1
    assert g.const(math.nextafter(1, 2)) != ONE
    assert g.symbol("x") == g.symbol("x") != g.symbol("X")


@pytest.mark.parametrize(
    ("value", "found"), [(True, "truth value True"), (math.nan, "found nan"), (math.inf, "found inf")]
)
def test_what_is_no_number_is_refused(value: float, found: str) -> None:
    with pytest.raises(ExpressionError, match=f"^Expected a (finite )?number, .*{found}.$"):
        Graph().const(value)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda g, x: g.div(x, g.sub(x, x)), "Division by zero."),
        (lambda g, x: g.call(Op.POW, ZERO, g.const(-1)), "Division by zero."),
        (lambda g, x: g.call(Op.LOG, ZERO), "log(0) is not a finite number."),
        (lambda g, x: g.sqrt(MINUS_ONE), "sqrt(-1) is not a finite number."),
        (lambda g, x: g.call(Op.POW, g.const(-2), g.const(1.5)), "(-2)^1.5 is not a finite number."),
        (lambda g, x: g.mul(g.const(1e200), g.const(1e200)), "1e+200*1e+200 is not a finite number."),
        (lambda g, x: g.call(Op.EXP, g.const(1000)), "exp(1000) is not a finite number."),
    ],
)
def test_numbers_without_a_result(build: Callable[[Graph, Ref], Ref], message: str) -> None:
    g = Graph()
    with pytest.raises(ExpressionError) as error:
        build(g, g.symbol("x"))
    assert str(error.value) == message


@pytest.mark.parametrize("quarter", range(-8, 9))
def test_turns_by_quarters_have_exact_sines_and_cosines(quarter: int) -> None:
    g = Graph()
    angle = g.const(quarter * math.pi / 2)
    assert g.value(g.cos(angle)) == (1, 0, -1, 0)[quarter % 4]
    assert g.value(g.sin(angle)) == (0, 1, 0, -1)[quarter % 4]


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (math.cos(math.pi / 3), 0.5),
        (math.sin(-math.pi / 6), -0.5),
        (math.cos(3 * math.pi / 4), -math.sqrt(0.5)),
        (math.sin(math.pi / 3), math.sqrt(0.75)),
        (math.tan(math.pi / 4), 1.0),
        (-1.2e-16, 0.0),
        (0.5 + 1e-15, 0.5 + 1e-15),  # more than a rounding error away
        (1e-15, 1e-15),
    ],
)
def test_snapping(value: float, exact: float) -> None:
    assert snap(value) == exact
    assert math.copysign(1, snap(-1.2e-16)) == 1


def test_every_operation_has_a_meaning_and_an_arity() -> None:
    assert set(Op) - LEAVES - COMPOSED == set(FLOAT)
    assert not (UNARY & BINARY)
    assert set(FLOAT) == (UNARY | BINARY) - COMPOSED
    assert ODD | EVEN <= UNARY
    assert COMMUTATIVE <= BINARY


@pytest.mark.parametrize("seed", range(12))
def test_folding_keeps_the_meaning_of_every_operation(seed: int) -> None:
    """Random operations on nodes that are often equal, opposite, constant or sums of each other.

    What the constructor returns has the value that the operation gives for the values of its operands, whatever local
    rule it took; where the operation has no value for constants, the constructor says so.
    """
    rng = random.Random(seed)
    g = Graph()
    values = {n: rng.uniform(-2, 2) for n in "xyz"}

    def value(r: Ref) -> float:
        return evaluate(g, [r], values)[0]

    pool = [ZERO, ONE, *(g.symbol(n) for n in values), *(g.const(c) for c in (0.5, 2, 3, math.pi / 2, 1 / 3))]
    for _ in range(500):
        op = rng.choice([Op.ADD, Op.ADD, Op.MUL, *(op for op in FLOAT if op != Op.LOOKUP)])
        a, b = (neg(r) if rng.random() < 0.4 else r for r in rng.choices(pool[-25:], k=2))
        arguments = (a,) if op in UNARY else (a, b)
        x = [value(r) for r in arguments]
        try:
            expected = FLOAT[op](*x)
        except (ValueError, ZeroDivisionError, OverflowError):
            if all(g.value(r) is not None for r in arguments):
                with pytest.raises(ExpressionError):
                    g.call(op, *arguments)
            continue
        if not abs(expected) < 1e3:
            continue
        result = g.call(op, *arguments)
        scale = 1 + abs(expected) + sum(abs(v) for v in x)
        assert value(result) == pytest.approx(expected, abs=1e-13 * scale), (op.name, x)
        pool.append(result)
        rng.shuffle(pool)
    assert len(g) > 150


@pytest.mark.parametrize("seed", range(4))
def test_nodes_are_unique_and_stand_after_their_operands(seed: int) -> None:
    rng = random.Random(seed)
    g = Graph()
    pool = [g.symbol(f"x{i}") for i in range(4)]
    for _ in range(2000):
        pool.append(g.call(rng.choice((Op.ADD, Op.MUL, Op.DIV, Op.SIN, Op.MAX)), *rng.choices(pool, k=2)))
        pool = pool[-50:] if ZERO not in pool else [r for r in pool if r != ZERO]
    operations = [(g.op[i], g.lhs[i], g.rhs[i]) for i in range(len(g)) if g.op[i] not in LEAVES]
    assert len(set(operations)) == len(operations) > 500
    assert all(g.lhs[i] >> 1 < i and g.rhs[i] >> 1 < i for i in range(len(g)) if g.op[i] not in LEAVES)


def test_an_exact_graph_folds_only_what_is_not_rounded() -> None:
    g = Graph(exact=True)
    three, x = g.const(3.0), g.symbol("x")
    assert g.value(g.div(g.const(6.0), three)) == 2.0
    assert g.value(g.sqrt(g.const(2.25))) == 1.5
    assert g.value(g.sin(g.const(math.pi / 2))) == 1.0
    assert g.div(x, g.const(4.0)) == g.mul(x, g.const(0.25))
    for rounded in (
        g.div(ONE, three),
        g.sqrt(three),
        g.sin(three),
        g.mul(g.const(0.1), g.const(0.1)),
        g.add(g.const(0.1), g.const(0.2)),
        g.fraction(Fraction(1, 3)),
    ):
        assert g.value(rounded) is None
    assert g.fraction(Fraction(1, 3)) == g.div(ONE, three)
    plain = Graph()
    assert plain.value(plain.fraction(Fraction(1, 3))) == 1 / 3
    with pytest.raises(OverflowError):
        g.fraction(Fraction(1, 3**40))
