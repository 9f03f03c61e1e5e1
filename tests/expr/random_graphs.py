"""Seeded random graphs over all operations."""

from __future__ import annotations

import random

from kineta.expr.graph import Graph, Ref
from tests.codegen.random_programs import _operation as operation


def random_graph(
    seed: int, n: int, names: tuple[str, ...] = ("x", "y", "z"), graph: Graph | None = None
) -> tuple[Graph, list[Ref]]:
    """*n* random operations on the symbols *names*, each of a recent pair of results with random signs."""
    rng = random.Random(seed)
    g = Graph() if graph is None else graph
    pool = [g.symbol(name) for name in names]
    for _ in range(n):
        a, b = (rng.choice(pool[-12:]) ^ rng.randint(0, 1) for _ in range(2))
        if a > 1 and b > 1:
            pool.append(operation(g, rng, a, b))
    return g, [r ^ rng.randint(0, 1) for r in pool if r > 3]


def random_values(seed: int, names: tuple[str, ...] = ("x", "y", "z")) -> dict[str, float]:
    """A value for each of *names*."""
    rng = random.Random(seed)
    return {name: rng.uniform(-1.5, 1.5) for name in names}
