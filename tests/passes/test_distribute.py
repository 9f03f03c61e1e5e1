"""Constant factors that are taken into sums where it pays."""

from __future__ import annotations

from kineta.expr.graph import Graph
from kineta.passes.distribute import distribute
from tests.passes.test_fold_constants import operations


def test_the_sum_and_the_difference_of_two_terms_meet() -> None:
    graph = Graph()
    a, b, x, y, z = (graph.symbol(name) for name in "abxyz")
    mul, add, sub = graph.mul, graph.add, graph.sub
    total = add(z, add(mul(a, add(x, y)), mul(b, sub(x, y))))
    (found,) = distribute(graph, [total], "ab", graph)
    assert (operations(graph, [total]), operations(graph, [found])) == (6, 4)
    assert found == add(add(z, mul(add(a, b), x)), mul(sub(a, b), y))


def test_sums_that_others_need_are_opened_where_all_of_their_terms_meet_others_alone() -> None:
    graph = Graph()
    a, b, x, y = (graph.symbol(name) for name in "abxy")
    mul, add, sub = graph.mul, graph.add, graph.sub
    shared = add(x, y)
    roots = [add(mul(a, shared), mul(b, sub(x, y))), graph.sin(shared)]
    found = distribute(graph, roots, "ab", graph)
    assert (operations(graph, roots), operations(graph, found)) == (5, 4)
    alone = [add(mul(a, shared), mul(b, x)), graph.sin(shared)]
    assert distribute(graph, alone, "ab", graph) == alone


def test_a_term_that_cancels_is_gone() -> None:
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    two = graph.const(2.0)
    total = graph.sub(graph.mul(two, graph.add(x, y)), graph.mul(two, graph.sub(x, y)))
    assert distribute(graph, [total], (), graph) == [graph.mul(graph.const(4.0), y)]
