"""Disks and wheels that fall and come to lie flat, by default settings: heights of their rims by plain kinematics."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import quick_but

R = 0.3
COIN = f"""gravity 9.81; Coin | Free(b) = 1, {R**2 / 4}, {R**2 / 4}, {R**2 / 2};
contact edge : disk = {R} between Coin axis (0, 0, 1) and ground axis (0, 0, 1), friction = 0.5;"""
CAR = """gravity 9.81; Chassis | Free(c) = 800, 150, 700, 800; W0 ~ Chassis | Sy(0.7), Ry(p) = 20, 0.4, 0.8, 0.4;
contact road : wheel = 0.3 between W0 axis (0, 1, 0) and ground axis (0, 0, 1), friction = 0.8;
contact side : point between Chassis at (1, 0.8, 0.4), Chassis at (-1, 0.8, 0.4), Chassis at (1, 0.8, -0.4),
    Chassis at (-1, 0.8, -0.4) and ground axis (0, 0, 1), friction = 0.5;
initial c.z = 1.2, c.qw = cos(pi/4 + 0.05), c.qx = -sin(pi/4 + 0.05);"""


def lowest(q: np.ndarray) -> np.ndarray:
    """Least height of the rim of a coin at each state *q*, as rows."""
    w, x, y, z = (q[:, 3:7] / np.linalg.norm(q[:, 3:7], axis=1)[:, None]).T
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x)])
    return q[:, 2] - R * np.hypot(*axis)


def test_a_disk_that_is_parallel_to_the_ground_falls_and_lies() -> None:
    found = kn.simulate(kn.loads(COIN), 1.0, q={"b.z": 1.0})
    np.testing.assert_allclose(found["b.z"], np.maximum(1 - 9.81 * found.t**2 / 2, 0), atol=2e-5 * R)
    assert found.success


@pytest.mark.slow
def test_a_disk_that_is_dropped_aslant_slaps_down() -> None:
    """Its place of contact runs round the rim within one step of 1 ms: the depth is told, and it does not stay."""
    found = kn.simulate(kn.loads(COIN), 2.0, q={"b.z": 0.45}, v={"b.wx": 1, "b.wy": 0.3})
    assert found.success, found.message
    depth = lowest(found.q)
    assert depth.min() > -0.02 * R
    assert any("the largest penetration is" in note for note in found.notes)
    assert depth[-1] > -1e-8
    assert found["b.z"][-1] < 0.02 * R


@pytest.mark.parametrize("seed", quick_but(range(12), range(1, 12)))
def test_a_disk_that_is_thrown_stays_above_the_ground(seed: int) -> None:
    """It rolls and wobbles on; where wobbling is too quick for events, time stepping of 1 ms goes on for a while."""
    rng = np.random.default_rng(seed)
    v = dict(zip(("b.wx", "b.wy", "b.wz", "b.vx"), rng.uniform(-2, 2, 4).round(2), strict=True))
    found = kn.simulate(kn.loads(COIN), 4.0, q={"b.z": 0.5}, v=v)
    assert found.success, found.message
    assert lowest(found.q).min() > (-1e-3 * R if found.notes else -1e-9)


def test_a_car_comes_to_lie_on_its_side() -> None:
    found = kn.simulate(kn.loads(CAR), 2.0)
    assert found.success, found.message
    assert np.abs(found.v[-1]).max() < 1e-6
