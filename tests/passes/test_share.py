"""Pairs that several sums or products have in common."""

from __future__ import annotations

from kineta.expr.graph import Graph, neg
from kineta.passes.share import share
from tests.passes.test_fold_constants import operations


def test_sums_share_a_pair_with_either_sign() -> None:
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in "xyz")
    s = graph.sin(x)
    roots = [graph.sub(graph.add(x, z), y), graph.add(graph.sub(y, s), neg(x))]
    found = share(graph, roots, (), graph)
    assert (operations(graph, roots), operations(graph, found)) == (4, 3)
    pair = graph.sub(x, y)
    assert found == [graph.add(pair, z), neg(graph.add(pair, s))]


def test_products_share_a_pair_and_keep_their_signs() -> None:
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in "xyz")
    mul = graph.mul
    roots = [mul(mul(x, z), y), neg(mul(mul(y, graph.sin(x)), x))]
    found = share(graph, roots, (), graph)
    assert found == [mul(mul(x, y), z), neg(mul(mul(x, y), graph.sin(x)))]


def test_constants_stay_together() -> None:
    graph = Graph()
    a, b, x, y = (graph.symbol(name) for name in "abxy")
    mul = graph.mul
    roots = [mul(mul(a, b), x), mul(mul(a, x), y)]
    assert operations(graph, share(graph, roots, "ab", graph)) <= operations(graph, roots)
