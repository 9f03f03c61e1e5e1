"""Derivatives: every rule of the table, forward and reverse sweeps, rates in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest

from kineta.expr.graph import ONE, Graph, Ref, neg
from kineta.expr.op import BINARY, COMPOSED, FLOAT, Op
from kineta.expr.program import program
from kineta.expr.row import StepRow
from kineta.passes.differentiate import GROUP, PARTIALS, forward, forwards, gradient
from kineta.passes.evaluate import evaluate
from tests.expr.random_graphs import random_graph, random_values
from tests.passes.complex_step import COMPLEX, derivatives

NAMES = ("x", "y", "z")


def close(found: float, expected: float, tolerance: float = 1e-11) -> bool:
    return abs(found - expected) <= tolerance * (1 + abs(expected))


def test_the_tables_are_complete() -> None:
    assert set(PARTIALS) - COMPOSED == set(FLOAT) == set(COMPLEX)


@pytest.mark.parametrize("seed", range(3))
def test_directions_together_are_each_alone(seed: int) -> None:
    g, refs = random_graph(seed, 40)
    symbols = [g.symbol(n) for n in (*NAMES, "absent")]
    directions = [{x: g.const(float(k)), symbols[k % 4]: ONE} for k in range(GROUP + 3) for x in symbols[k % 3 :]]
    directions += [{symbols[0]: g.symbol("rate")}, {}]
    assert list(forwards(g, refs, directions)) == [forward(g, refs, each) for each in directions]


def test_seeds_that_are_not_below_cost_nothing() -> None:
    class Seeds(dict[Ref, Ref]):
        asked = 0

        def get(self, key: Ref, default: Ref = 0) -> Ref:  # type: ignore[override]
            self.asked += 1
            return super().get(key, default)

        def items(self) -> NoReturn:
            raise AssertionError

    g = Graph()
    x = g.symbol("x")
    seeds = Seeds({g.symbol(f"x{k}"): ONE for k in range(1000)} | {x: ONE})
    assert forward(g, [g.mul(x, x)], seeds) == [g.add(x, x)]
    assert seeds.asked == 1


@pytest.mark.parametrize("op", list(FLOAT), ids=lambda op: Op(op).name)
@pytest.mark.parametrize("signs", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_every_rule_against_the_complex_step(op: int, signs: tuple[int, int]) -> None:
    g = Graph()
    x = g.symbol("x")
    u = g.add(g.const(0.3), g.mul(x, g.mul(x, g.const(0.8))))
    w = g.add(g.const(1.1), g.sin(x))
    positive = op in (Op.SQRT, Op.LOG, Op.POW)
    a, b = u if positive else u ^ signs[0], w if op in (Op.GUARD, Op.WHERE) else w ^ signs[1]
    b = g.const(StepRow([-1.0, 0.5], [2.0, 3.0, -4.0])) if op == Op.LOOKUP else b
    y = g.call(op, *((a, b) if op in BINARY else (a,)))
    values = {"x": 0.37}
    (expected,) = derivatives(g, [y], values, {"x": 1.0})
    assert close(evaluate(g, forward(g, [y], {x: ONE}), values)[0], expected, 1e-14)
    assert close(evaluate(g, [gradient(g, y, {x}).get(x, 0)], values)[0], expected, 1e-14)
    assert expected != 0 or op in (Op.SIGN, Op.STEP, Op.FLOOR, Op.LOOKUP)


@pytest.mark.parametrize("exponent", [-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0, 65.0])
def test_powers_by_numbers_need_no_logarithm(exponent: float) -> None:
    g = Graph()
    x = g.symbol("x")
    (rate,) = forward(g, [g.call(Op.POW, x, g.const(exponent))], {x: ONE})
    assert close(evaluate(g, [rate], {"x": 0.9})[0], exponent * 0.9 ** (exponent - 1), 1e-14)
    assert Op.LOG not in g.op


@pytest.mark.parametrize("seed", range(10))
def test_forward_and_reverse_agree_with_the_complex_step(seed: int) -> None:
    g, refs = random_graph(seed, 40)
    values = random_values(seed)
    symbols = {n: g.symbol(n) for n in NAMES}
    gradients = [gradient(g, r, set(symbols.values())) for r in refs]
    for name, s in symbols.items():
        expected = derivatives(g, refs, values, {name: 1.0})
        ahead = evaluate(g, forward(g, refs, {s: ONE}), values)
        back = evaluate(g, [found.get(s, 0) for found in gradients], values)
        assert all(map(close, ahead, expected))
        assert all(map(close, back, expected))


@pytest.mark.parametrize("seed", range(4))
def test_second_derivatives_are_symmetric(seed: int) -> None:
    g, refs = random_graph(seed, 25)
    x, y = g.symbol("x"), g.symbol("y")
    first = gradient(g, refs[-1], {x, y})
    (xy,), (yx,) = (forward(g, [first.get(a, 0)], {b: ONE}) for a, b in ((x, y), (y, x)))
    one, other = evaluate(g, [xy, yx], random_values(seed))
    assert close(one, other, 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rates_in_time_follow_the_motion(seed: int) -> None:
    """With seeds q -> q', q' -> q'', t -> 1 the forward sweep is d/dt along any motion with these rates."""
    names = ("q", "q'", "t")
    g, refs = random_graph(seed, 30, names)
    q, speed, t = (g.symbol(n) for n in names)
    rates = forward(g, refs, {q: speed, speed: g.symbol("q''"), t: ONE})
    values = random_values(seed, (*names, "q''"))
    expected = derivatives(g, refs, values, {"q": values["q'"], "q'": values["q''"], "t": 1.0})
    assert all(map(close, evaluate(g, rates, values), expected))


def test_signs_weights_and_what_is_left_out() -> None:
    g = Graph()
    x, y, z, w = (g.symbol(n) for n in "xyzw")
    y2 = g.mul(x, y)
    assert forward(g, [neg(y2), z, g.const(2)], {x: ONE}) == [neg(y), 0, 0]
    assert gradient(g, neg(y2), {x, y, z}) == {x: neg(y), y: neg(x)}
    assert gradient(g, neg(y2), {x, z}, weight=neg(w)) == {x: g.mul(w, y)}
    assert gradient(g, x, [x]) == {x: ONE}
    assert gradient(g, g.const(2), {x}) == {}


@pytest.mark.parametrize(
    "step",
    [
        lambda g, r, x: g.mul(r, x),
        lambda g, r, x: g.add(g.sin(r), g.mul(x, r)),
        lambda g, r, x: g.div(r, g.add(x, r)),
    ],
)
def test_the_gradient_costs_a_fixed_multiple_of_the_function(step: Callable[[Graph, Ref, Ref], Ref]) -> None:
    """Baur and Strassen: all partial derivatives for at most five times the work, however many symbols there are."""
    for n in (10, 400):
        g = Graph()
        symbols = [g.symbol(f"x{i}") for i in range(n)]
        r = symbols[0]
        for x in symbols[1:]:
            r = step(g, r, x)
        work = program(g, {"x": symbols}, {"f": ((), [r])}).operations()
        partials = list(gradient(g, r, set(symbols)).values())
        assert len(partials) == n
        both = program(g, {"x": symbols}, {"f": ((), [r]), "df": ((n,), partials)}).operations()
        assert both.total + both.trig <= 5 * (work.total + work.trig)
