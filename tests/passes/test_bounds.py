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
    (t + 11) ** -3.0,
    (t + 11) ** (t / 9),
    kn.exp(-((t - 1) ** 2)),
    1 / (1 + 9 * t**2),
    kn.acos(t / 9) - kn.cosh(t / 3),
    kn.log(kn.cos(p * t) + 2),
]


def test_a_bound_near_a_place_is_close() -> None:
    """Of powers, waves and quotients the bounds approach the value with the length of the interval."""
    g = DESCRIPTIONS
    for e in (kn.exp(-((t - 1) ** 2)), kn.sin(3 * t) ** 2, 1 / (1 + 9 * t**2), kn.tan(t), kn.cosh(t) ** -4.0):
        with LOCK:
            ((a, b),) = bounds(g, [e.ref], {t.ref: (low.ref, high.ref)})
        known = {"low": 0.7, "high": 0.7001}
        under, over = (float(Expr(g, x).subs(known).value) for x in (a, b))
        assert 0.0 < over - under < 0.002


def test_curvatures_without_a_bound_raise_no_error() -> None:
    """Constants of bounds that are no numbers, as 1/0, are no bounds."""
    g, kinked = DESCRIPTIONS, (kn.asin(kn.sin(t)), kn.acos(kn.cos(t)), kn.sqrt(abs(kn.tan(t))) ** 3)
    with LOCK:
        found = bounds(g, [e.diff(t).diff(t).ref for e in kinked], {t.ref: (low.ref, high.ref)})
    assert len(found) == 3


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
