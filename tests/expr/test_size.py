"""Hundreds of thousands of nodes: nothing recurses, nothing grows faster than the graph."""

from __future__ import annotations

import math

import pytest

from kineta.algebra.infix import text
from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.program import program
from kineta.passes.differentiate import forward, gradient
from kineta.passes.evaluate import evaluate
from kineta.passes.hoist import hoist
from kineta.passes.substitute import substitute

pytestmark = pytest.mark.slow

N = 300_000
VALUES = {"x": 0.3, "y": 0.9}


@pytest.fixture(scope="module")
def chain() -> tuple[Graph, Ref, Ref, Ref]:
    """Y = x (1 + y + y^2 + ... + y^(N/2)), by Horner's rule: one path through N nodes."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    r = x
    for _ in range(N // 2):
        r = g.add(g.mul(r, y), x)
    return g, x, y, r


def test_build_and_evaluate(chain: tuple[Graph, Ref, Ref, Ref]) -> None:
    g, _, _, r = chain
    assert N < len(g) < N + 10
    assert evaluate(g, [r], VALUES)[0] == pytest.approx(0.3 / 0.1, rel=1e-13)


def test_derivatives(chain: tuple[Graph, Ref, Ref, Ref]) -> None:
    g, x, _, r = chain
    derivatives = evaluate(g, [*forward(g, [r], {x: ONE}), gradient(g, r, {x})[x]], VALUES)
    assert derivatives == pytest.approx([10, 10], rel=1e-12)


def test_substitute(chain: tuple[Graph, Ref, Ref, Ref]) -> None:
    g, _, _, r = chain
    other = Graph()
    (copy,) = substitute(g, [r], {"y": other.sin(other.symbol("a"))}, other)
    assert len(other) > N
    assert evaluate(other, [copy], {"x": 0.3, "a": math.asin(0.9)})[0] == pytest.approx(3, rel=1e-12)


def test_count_schedule_hoist(chain: tuple[Graph, Ref, Ref, Ref]) -> None:
    g, x, y, r = chain
    n = program(g, {"in": [x, y]}, {"out": ((), [r])}).operations()
    assert (n.add, n.mul, n.total) == (N // 2, N // 2, N)
    setup, main = hoist(g, {"x": [x]}, {"f": {"out": ((), [r])}}, [y], "f")
    assert (setup.operations().total, main["f"].operations().total) == (0, N)


def test_print(chain: tuple[Graph, Ref, Ref, Ref]) -> None:
    g, _, _, r = chain
    shown = text(g, r)
    assert shown[:20] == "x + y*(x + y*(x + y*"
    assert shown.count("*") == shown.count("+") == N // 2
