"""Time derivatives of any order, against derivatives taken one after the other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import BINARY, FLOAT, Op
from kineta.expr.row import StepRow
from kineta.expr.walk import reachable
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from kineta.passes.time_derivatives import TimeDerivatives
from tests.expr.random_graphs import random_graph, random_values

ORDERS = range(5)


def repeated(g: Graph, refs: list[Ref], rates: dict[Ref, Ref], order: int) -> list[Ref]:
    for _ in range(order):
        refs = forward(g, refs, rates)
    return refs


@pytest.mark.parametrize("op", list(FLOAT), ids=lambda op: Op(op).name)
def test_every_operation(op: int) -> None:
    g = Graph()
    x, t = g.symbol("x"), g.symbol("t")
    rates = {t: ONE, x: g.mul(g.const(0.7), g.cos(t))}
    u = g.add(g.const(0.3), g.mul(x, g.mul(x, g.const(0.8))))
    w = g.add(g.const(1.1), g.sin(g.mul(x, t)))
    w = g.const(StepRow([-1.0, 0.5], [2.0, 3.0, -4.0])) if op == Op.LOOKUP else w
    y = g.call(op, *((u, w) if op in BINARY else (u,)))
    levels = TimeDerivatives(g, lambda s: rates.get(s, ZERO))
    values = {"x": 0.37, "t": 0.6}
    for k in ORDERS:
        (found,) = evaluate(g, levels.of([y], k), values)
        (expected,) = evaluate(g, repeated(g, [y], rates, k), values)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed: int) -> None:
    g, refs = random_graph(seed, 25)
    values = random_values(seed)
    rates = {g.symbol("x"): g.symbol("y"), g.symbol("y"): g.mul(g.symbol("x"), g.symbol("z"))}
    levels = TimeDerivatives(g, lambda s: rates.get(s, ZERO))
    for k in range(4):
        expected = evaluate(g, repeated(g, refs, rates, k), values)
        for found, e in zip(evaluate(g, levels.of(refs, k), values), expected, strict=True):
            assert abs(found - e) <= 1e-9 * (1 + abs(e))


def test_a_square_takes_half_of_the_products() -> None:
    g = Graph()
    names = [g.symbol(f"x{k}") for k in range(6)]
    rates = dict(pairwise(names))
    levels = TimeDerivatives(g, lambda s: rates.get(s, ZERO))
    (fourth,) = levels.of([g.mul(names[0], names[0])], 4)
    assert evaluate(g, [fourth], {f"x{k}": float(k + 1) for k in range(6)}) == [2 * 1 * 5 + 8 * 2 * 4 + 6 * 3 * 3]
    assert sum(g.op[i] == Op.MUL for i in reachable(g, [fourth])) == 6


def test_what_is_constant_has_no_derivative_and_makes_none() -> None:
    g = Graph()
    y = g.call(Op.ASIN, g.symbol("one"))  # its partial derivative has a pole at 1
    levels = TimeDerivatives(g, lambda s: ZERO)
    before = len(g)
    assert levels.of([y], 3) == [ZERO]
    assert len(g) == before
