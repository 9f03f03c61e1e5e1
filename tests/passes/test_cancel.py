"""Sums from which opposite terms are taken out."""

from __future__ import annotations

import random

import pytest

import kineta as kn
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.program import program
from kineta.passes.cancel import cancel
from kineta.passes.evaluate import evaluate
from tests.support import EXAMPLES

NAMES = [f"x{i}" for i in range(6)]


def random_sums(rng: random.Random, graph: Graph) -> list[Ref]:
    """Sums of sums and products, with many a term twice."""
    known = [graph.symbol(name) for name in NAMES]
    for _ in range(40):
        a, b = rng.choice(known), rng.choice(known)
        make = rng.choice((graph.add, graph.sub, graph.add, graph.sub, graph.mul))
        known.append(make(a, b))
    return [r for r in known[-6:] if r != ZERO]


def additions(graph: Graph, roots: list[Ref]) -> int:
    inputs = {"x": [graph.symbol(name) for name in NAMES]}
    return program(graph, inputs, {"y": ((len(roots),), roots)}).operations().total


@pytest.mark.parametrize("seed", range(60))
def test_values_stay_and_operations_do_not_grow(seed: int) -> None:
    rng = random.Random(seed)
    graph = Graph()
    roots = random_sums(rng, graph)
    given = {name: rng.uniform(-1, 1) for name in NAMES}
    before = additions(graph, roots)
    found = cancel(graph, roots)
    assert evaluate(graph, found, given) == pytest.approx(evaluate(graph, roots, given), rel=1e-12, abs=1e-12)
    assert additions(graph, found) <= before


def test_what_cancels_deep_inside_goes() -> None:
    graph = Graph()
    a, b, c, z = (graph.symbol(name) for name in "abcz")
    inner = graph.add(graph.add(z, c), b)
    (found,) = cancel(graph, [graph.sub(graph.add(a, inner), z)])
    assert found == graph.add(a, graph.add(c, b))


def test_a_sum_that_others_need_is_left_alone_where_opening_it_costs_more() -> None:
    graph = Graph()
    a, b, c, d, z = (graph.symbol(name) for name in "abcdz")
    shared = graph.add(graph.add(graph.add(graph.add(z, a), b), c), d)
    roots = [graph.sub(shared, z), graph.mul(shared, shared)]
    assert cancel(graph, roots) == roots


def test_the_mass_matrix_of_a_double_pendulum_in_absolute_angles_is_that_of_the_textbook() -> None:
    operations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin")).operations("mass_matrix")
    assert (operations.add, operations.mul, operations.trig) == (1, 1, 1)
