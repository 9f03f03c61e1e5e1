"""Sums and products whose constant parts are brought together."""

from __future__ import annotations

import random

import pytest

from kineta.expr.graph import Graph, Ref
from kineta.passes.evaluate import evaluate
from kineta.passes.fold_constants import fold_constants
from kineta.passes.hoist import hoist

PARAMETERS, VARIABLES = ["a", "b", "c"], ["x", "y", "z"]


def random_expressions(rng: random.Random, graph: Graph) -> list[Ref]:
    known = [graph.symbol(name) for name in (*PARAMETERS, *VARIABLES)] + [graph.const(1.5)]
    for _ in range(40):
        make = rng.choice((graph.add, graph.sub, graph.mul, graph.mul, lambda a, _: graph.sin(a)))
        known.append(make(rng.choice(known), rng.choice(known)))
    return known[-6:]


def operations(graph: Graph, roots: list[Ref]) -> int:
    """Operations at run time: those that depend on variables."""
    inputs = {"x": [graph.symbol(name) for name in VARIABLES]}
    parameters = [graph.symbol(name) for name in PARAMETERS]
    return hoist(graph, inputs, {"f": {"y": ((len(roots),), roots)}}, parameters, "f")[1]["f"].operations().total


@pytest.mark.parametrize("seed", range(60))
def test_values_stay_and_work_at_run_time_does_not_grow(seed: int) -> None:
    rng = random.Random(seed)
    graph = Graph()
    roots = random_expressions(rng, graph)
    given = {name: rng.uniform(-1, 1) for name in (*PARAMETERS, *VARIABLES)}
    target = Graph()
    found = fold_constants(graph, roots, PARAMETERS, target)
    assert evaluate(target, found, given) == pytest.approx(evaluate(graph, roots, given), rel=1e-12, abs=1e-12)
    assert operations(target, found) <= operations(graph, roots)


def test_parameters_meet_across_a_variable() -> None:
    graph = Graph()
    a, b, c, x, y = (graph.symbol(name) for name in "abcxy")
    product = graph.mul(graph.mul(graph.mul(a, x), b), graph.mul(y, c))
    total = graph.sub(graph.add(graph.add(a, x), b), graph.sub(y, c))
    found = fold_constants(graph, [product, total], "abc", graph)
    assert found == [
        graph.mul(graph.mul(graph.mul(a, b), c), graph.mul(x, y)),
        graph.add(graph.add(graph.add(a, b), c), graph.sub(x, y)),
    ]


def test_a_sum_that_others_need_stays_whole() -> None:
    graph = Graph()
    a, b, x = (graph.symbol(name) for name in "abx")
    shared = graph.add(a, x)
    roots = [graph.add(shared, b), graph.mul(shared, shared)]
    assert fold_constants(graph, roots, "ab", graph) == roots
