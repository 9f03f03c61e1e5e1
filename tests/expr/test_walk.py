"""Walks over random graphs, against their meaning."""

from __future__ import annotations

import pytest

from kineta.expr.count import count
from kineta.expr.walk import SEVERAL, exceeds, operands, operations, reachable, uses
from tests.expr.random_graphs import random_graph


@pytest.mark.parametrize("seed", range(4))
def test_uses_are_those_of_operands_and_roots(seed: int) -> None:
    g, refs = random_graph(seed, 60)
    roots = refs[-1 - seed :]
    order, user = uses(g, roots)
    assert order == reachable(g, roots)
    found: dict[int, list[int]] = {i: [] for i in order}
    for i in order:
        for x in operands(g, i):
            found[x >> 1].append(g.op[i])
    for x in roots:
        found[x >> 1] += [SEVERAL, SEVERAL]
    assert {i: user[i] for i in order} == {i: own[0] if len(own) == 1 else SEVERAL for i, own in found.items()}
    assert all(user[i] == 0 for i in range(len(user)) if i not in found)


@pytest.mark.parametrize("seed", range(4))
def test_counting_ends_at_a_limit(seed: int) -> None:
    g, refs = random_graph(seed, 60)
    nodes = len(reachable(g, refs))
    total = count(g.op[i] for i in reachable(g, refs, guarding=False)).total
    assert operations(g, refs) == operations(g, refs, total + 1) == total
    assert operations(g, refs, total) >= total
    assert operations(g, refs, total // 2) >= total // 2
    assert exceeds(g, refs, nodes - 1)
    assert not exceeds(g, refs, nodes)
