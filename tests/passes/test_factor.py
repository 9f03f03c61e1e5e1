"""Sums from which common factors are taken out, and the pipeline of passes."""

from __future__ import annotations

import random

import pytest

from kineta.expr.graph import Graph
from kineta.passes.evaluate import evaluate
from kineta.passes.factor import factor
from kineta.passes.simplify import PASSES, stages
from tests.passes.test_fold_constants import PARAMETERS, VARIABLES, operations, random_expressions


@pytest.mark.parametrize("seed", range(60))
def test_every_pass_keeps_values_and_adds_no_operation(seed: int) -> None:
    rng = random.Random(seed)
    graph = Graph()
    roots = random_expressions(rng, graph)
    given = {name: rng.uniform(-1, 1) for name in (*PARAMETERS, *VARIABLES)}
    expected, cost = evaluate(graph, roots, given), operations(graph, roots)
    for name, run in PASSES:
        target = Graph()
        graph, roots = target, run(graph, roots, PARAMETERS, target)
        assert evaluate(graph, roots, given) == pytest.approx(expected, rel=1e-12, abs=1e-12), name
        assert operations(graph, roots) <= cost, name
        cost = operations(graph, roots)


@pytest.mark.parametrize("seed", range(60))
def test_the_pipeline_keeps_values_and_ends_with_its_passes(seed: int) -> None:
    rng = random.Random(seed)
    graph = Graph()
    roots = random_expressions(rng, graph)
    given = {name: rng.uniform(-1, 1) for name in (*PARAMETERS, *VARIABLES)}
    expected = evaluate(graph, roots, given)
    seen = list(stages(graph, roots, PARAMETERS))
    for name, target, refs in seen:
        assert evaluate(target, refs, given) == pytest.approx(expected, rel=1e-11, abs=1e-11), name
    assert [name for name, _, _ in seen if name != "expand"] == [name for name, _ in PASSES]


def test_factors_are_taken_out_of_each_other() -> None:
    graph = Graph()
    a, b, x, y, z = (graph.symbol(name) for name in "abxyz")
    mul, add, sub = graph.mul, graph.add, graph.sub
    total = sub(add(mul(mul(a, x), y), mul(mul(b, y), x)), mul(x, z))
    found = factor(graph, [total], "ab", graph)
    assert (operations(graph, [total]), operations(graph, found)) == (7, 3)  # x (y (a + b) - z)


def test_a_product_that_others_need_is_not_taken_apart() -> None:
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in "xyz")
    shared = graph.mul(x, y)
    roots = [graph.add(shared, graph.mul(x, z)), graph.sin(shared)]
    assert factor(graph, roots, (), graph) == roots
