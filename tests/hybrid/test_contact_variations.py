"""Forty variations at random of bodies that rock, stand on sprung feet, slide on ice and are thrown, by default and by time
stepping: a motion comes out, no corner is below its plane, energy does not grow, forces stay within their cones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.hybrid.random_machines import rounded
from tests.hybrid.test_contact_faults import BAR, CART, CUBE, TABLE, Model, above, body_and_springs, boxes, within
from tests.support import quick_but

#: Depths below planes [m] by method: steps of 1 ms lift corners that turn fast from where they are amidst them.
DEPTH = {"auto": 1e-6, "moreau": 1e-5}
#: Forces beyond their cones in parts of the largest force, and growth of energy in parts of its range.
CONE, GROWTH = 1e-7, 1e-4
#: What a variation is: a model, a span, and arguments of the run.
Variation = tuple[Model, float, dict[str, Any]]


def cube(rng: np.random.Generator) -> Variation:
    q, a, b = rounded(rng, -1.5, 1.5), rounded(rng, 0.05, 0.2), rounded(rng, 0.05, 0.2)
    p = {"a": a, "b": b, "mu": rounded(rng, 0.1, 1), "e": float(rng.choice([0, rounded(rng, 0, 0.9)]))}
    z = above(a, b, q, rounded(rng, 0, 0.3))
    return CUBE, 2.0, {"p": p, "q": {"q": q, "z": z}, "v": {"x'": rounded(rng, -1, 1)}}


def bar(rng: np.random.Generator) -> Variation:
    p = {"m": rounded(rng, 5, 20), "c": rounded(rng, 1e3, 5e3), "d": rounded(rng, 20, 200), "mu": rounded(rng, 0.2, 1)}
    p["w"], th = rounded(rng, 0.2, 0.8), rounded(rng, -0.05, 0.05)
    z = 0.5 * cos(th) + p["w"] * abs(sin(th)) + float(rng.choice([0.0, 0.05]))
    return BAR, 1.0, {"p": p, "q": {"z": z, "th": th}, "v": {"x'": rounded(rng, -1, 1)}}


def box(rng: np.random.Generator) -> Variation:
    p = {"mu": rounded(rng, 0.1, 1), "e": float(rng.choice([0, rounded(rng, 0, 0.9)]))}
    return boxes(1), 1.5, {"p": p, "v": {f"b0.{n}": rounded(rng, -4, 4) for n in ("wx", "wy", "wz", "vx", "vy")}}


def table(rng: np.random.Generator) -> Variation:
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    return TABLE, 2.0, {"p": p, "v": {"x'": rounded(rng, -1, 1)}, "samples": 201}


def cart(rng: np.random.Generator) -> Variation:
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "ice": rounded(rng, 0, 0.1)}
    v = {"x'": rounded(rng, 0, 6), "y'": rounded(rng, -1, 1), "psi'": rounded(rng, -1, 1)}
    return CART, 1.0, {"p": p, "v": v, "samples": 101}


def judge(model: Model, result: kn.Result, method: str) -> None:
    """Assert what holds of every run with contacts."""
    assert result.status == 0, result.message
    largest = max(1.0, *(np.abs(result[f"{prefix}.n"]).max() for _, prefix, _ in model.names()))
    for place, prefix, named in model.names():
        mu = float(result.parameters[named]) if isinstance(named, str) else named
        n, u, w = (result[f"{prefix}.{c}"] for c in "nuw")
        assert result[f"{place}.z"].min() > -DEPTH[method]
        assert n.min() > -CONE * largest
        assert (np.hypot(u, w) - mu * n).max() <= CONE * largest
    reach = max(1e-3, float(np.ptp(result.energy)), float(result["kinetic_energy"].max()))
    if not model.driven:
        assert (result.energy - np.minimum.accumulate(result.energy)).max() < GROWTH * reach


@pytest.mark.parametrize("seed", quick_but(range(40), range(4, 40)))
@pytest.mark.parametrize(
    ("vary", "method"),
    [(cube, "auto"), (bar, "auto"), (box, "auto"), *((vary, "moreau") for vary in (cube, bar, box, table, cart))],
)
def test_variations(vary: Callable[[np.random.Generator], Variation], method: str, seed: int) -> None:
    model, span, given = vary(np.random.default_rng(1000 + seed))
    with within(20.0):
        judge(model, kn.simulate(model.equations(), span, method=method, **given), method)
