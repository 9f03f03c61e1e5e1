"""Bounds of expressions, against their values at random places."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, symbol
from kineta.passes.bounds import bounds, largest

t, low, high, p = (symbol(n) for n in ("t", "low", "high", "p"))
EXPRESSIONS = [
    3 * t - p,
    t * t - p * t + 1,
    kn.sin(p * t) * t,
    kn.exp(-t) - 0.5,
    t**3 - 2 * t,
    kn.sqrt(t + 9) / (t + 10),
    abs(t) * kn.cos(t) - kn.floor(t),
    kn.minimum(t, p) * kn.maximum(t, -p),
    kn.tanh(t) + kn.atan(t) * kn.sign(t),
    (t + 11) ** 0.5,
]


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_values_lie_within_bounds(e: Expr) -> None:
    """At places of random intervals, of expressions and of their curvature."""
    rng, g = np.random.default_rng(0), DESCRIPTIONS
    with LOCK:
        ((a, b),) = bounds(g, [e.ref], {t.ref: (low.ref, high.ref)})
        edges, size = (Expr(g, a), Expr(g, b)), Expr(g, largest(g, (a, b)))
    for _ in range(20):
        ends = np.sort(rng.uniform(-8, 8, 2))
        known = {"low": ends[0], "high": ends[1], "p": rng.uniform(-2, 2)}
        under, over, most = (float(x.subs(known).value) if isinstance(x, Expr) else float(x) for x in (*edges, size))
        for place in rng.uniform(*ends, 10):
            value = float(e.subs(known | {"t": place}).value)
            assert under - 1e-9 <= value <= over + 1e-9
            assert abs(value) <= most + 1e-9 or math.isinf(most)
