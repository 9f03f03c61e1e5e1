"""Piles of balls in a V, thrown at random: no gap is passed unseen, by one motion or by many."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray

RADIUS, STEEP = 0.1, np.pi / 6


@cache
def pile(balls: int) -> kn.System:
    """A pile of this many *balls*, whose distances are limits."""
    names = [f"P{i}" for i in range(1, balls + 1)]
    bodies = "".join(f"{p} | Sx(x{p}), Sz(z{p}), Ry(q{p}) = m(1), Jy(0.004);" for p in names)
    walls = "".join(
        f"contact {name} : ball = r between {', '.join(names)} and ground axis ({side}*sin(steep), 0, cos(steep)),"
        "friction = 0.3;"
        for name, side in (("floor", 1), ("wall", -1))
    )
    apart = "".join(
        f"limit {a}{b} : ({a}.x - {b}.x)^2 + ({a}.z - {b}.z)^2 >= (2*r)^2, restitution = 0.2;"
        for a, b in combinations(names, 2)
    )
    return kn.loads(
        f"gravity 9.81; parameters r = {RADIUS}, steep = {STEEP}; {bodies}{walls}{apart}"
        f"coordinates {', '.join(f'x{p}, z{p}, q{p}' for p in names)};"
    )


def thrown(balls: int, seed: int) -> dict[str, FloatArray]:
    """Balls above each other, thrown at random."""
    rng = np.random.default_rng(seed)
    q, v = np.zeros((balls, 3)), np.zeros((balls, 3))
    q[:, 0] = rng.uniform(-0.05, 0.05, balls)
    q[:, 1] = 0.55 + 0.25 * np.arange(balls) + rng.uniform(0, 0.04, balls)
    v[:, :2] = 0.5 * rng.normal(size=(balls, 2))
    return {"q": q.ravel(), "v": v.ravel()}


def gaps(q: FloatArray) -> FloatArray:
    """All gaps (k, gaps) in coordinates (k, 3 balls)."""
    x, z = q[:, 0::3], q[:, 1::3]
    a, b = np.triu_indices(x.shape[1], 1)
    walls = [side * np.sin(STEEP) * x + np.cos(STEEP) * z - RADIUS for side in (1, -1)]
    return np.hstack([*walls, (x[:, a] - x[:, b]) ** 2 + (z[:, a] - z[:, b]) ** 2 - 4 * RADIUS**2])


def check(balls: int, seed: int) -> None:
    """No gap is passed after any step, or between two."""
    run = kn.simulate(pile(balls), 3.0, **thrown(balls, seed), method="events", dense_output=True)
    assert run.status == 0, run.message
    assert gaps(run.q).min() > -1e-6
    within = np.linspace(0.0, 3.0, 3001)
    assert gaps(np.asarray(run.sol(within)).T[:, : 3 * balls]).min() > -1e-6


#: Throws in which two balls part before they meet, within what would be one step.
PARTING = (7, 46, 69, 70, 72, 78, 92, 95, 120, 142, 148)


@pytest.mark.parametrize("seed", PARTING[:4])
def test_an_impact_is_seen_where_balls_part_before_they_meet_within_one_step(seed: int) -> None:
    check(3, seed)


def test_impacts_of_many_piles_are_seen() -> None:
    cases = [thrown(3, seed) for seed in PARTING]
    given = {name: np.array([case[name] for case in cases]) for name in ("q", "v")}
    run = kn.simulate(pile(3), 3.0, **given, samples=301)
    assert run.cases is not None
    assert np.all(run.status == 0)
    assert gaps(run.q.reshape(-1, 9)).min() > -1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 18, 19, 23, 47])
def test_no_impact_of_a_large_pile_is_missed(seed: int) -> None:
    check(6, seed)
