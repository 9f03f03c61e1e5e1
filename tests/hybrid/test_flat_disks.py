"""Disks and wheels that fall and come to lie flat: heights of their rims and energies by plain kinematics."""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.contact.rims import FLAT
from tests.hybrid.random_machines import rounded
from tests.support import quick_but

G, R = 9.81, 0.3
#: Growth of energy in parts of its range, and depth of the rim [m], of motions that pass quick wobbles by steps of 1 ms: twice to
#: three times the worst of 120 throws.
GROWTH, DEPTH = 1e-3, 1e-3


@cache
def coin() -> kn.Equations:
    return kn.derive(
        kn.loads(f"""gravity {G}; parameters mu = 0.5, e = 0; Coin | Free(b) = 1, {R**2 / 4}, {R**2 / 4}, {R**2 / 2};
        contact edge : disk = {R} between Coin axis (0, 0, 1) and ground axis (0, 0, 1), friction = mu, restitution = e;""")
    )


@cache
def axle() -> kn.Equations:
    """Two wheels that turn on an axle."""
    return kn.derive(
        kn.loads(f"""gravity {G}; Axle | Free(b) = 5, 0.3, 0.01, 0.3;
        W0 ~ Axle | Sy(0.5), Ry(p0) = 1, 0.02, 0.04, 0.02; W1 ~ Axle | Sy(-0.5), Ry(p1) = 1, 0.02, 0.04, 0.02;
        contact road : wheel = {R} between W0 axis (0, 1, 0), W1 axis (0, 1, 0) and ground axis (0, 0, 1), friction = 0.6;
        output W0.z, W1.z;""")
    )


@cache
def car() -> kn.Equations:
    wheels = "".join(
        f"W{k} ~ Chassis | Sx({x}), Sy({y}), Sz(s{k} - 0.3), Ry(p{k}) = 20, 0.4, 0.8, 0.4;"
        f"spring c{k} = 4e4 on s{k}; damper d{k} = 3e3 on s{k}';"
        for k, (x, y) in enumerate([(1.2, 0.7), (1.2, -0.7), (-1.2, 0.7), (-1.2, -0.7)])
    )
    tyres = ", ".join(f"W{k} axis (0, 1, 0)" for k in range(4))
    return kn.derive(
        kn.loads(f"""gravity {G}; Chassis | Free(c) = 800, 150, 700, 800; {wheels}
        contact road : wheel = {R} between {tyres} and ground axis (0, 0, 1), friction = 0.8;
        contact side : box = 3, 1.2, 0.6 between Chassis and ground axis (0, 0, 1), friction = 0.8;""")
    )


def lowest(q: np.ndarray) -> np.ndarray:
    """Least height of the rim of a coin at each state *q*, as rows."""
    w, x, y, z = (q[:, 3:7] / np.linalg.norm(q[:, 3:7], axis=1)[:, None]).T
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x)])
    return q[:, 2] - R * np.hypot(*axis)


def grown(found: kn.Result) -> float:
    """By how much the energy of a motion that came to its end grew, in parts of its range."""
    assert found.success, found.message
    return float((found.energy - np.minimum.accumulate(found.energy)).max() / np.ptp(found.energy))


@pytest.mark.parametrize("method", ["events", "moreau"])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_disk_that_is_parallel_to_the_ground_falls_slides_spins_and_rests_flat(method: str, e: float) -> None:
    found = kn.simulate(coin(), 2.5, p={"e": e}, q={"b.z": 0.5}, v={"b.vx": 1, "b.wz": 10}, samples=201, method=method)
    assert grown(found) < 1e-5
    t = np.sqrt(2 * (0.5 - FLAT * R) / G)
    early = found.t < t
    np.testing.assert_allclose(found["b.z"][early], 0.5 - G * found.t[early] ** 2 / 2, atol=1e-9)
    assert found["b.z"][-1] == pytest.approx(FLAT * R, abs=1e-8)
    assert np.abs(found.v[-1]).max() < 1e-9
    assert sum(found[f"lambda.edge.rim{k}.n"][-1] for k in range(1, 5)) == pytest.approx(G, abs=1e-9)


@pytest.mark.parametrize("lean", [1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 0.3, 1.2])
@pytest.mark.parametrize("method", ["events", "moreau"])
def test_a_disk_that_leans_slaps_down_and_rests_flat(method: str, lean: float) -> None:
    q = {"b.z": 0.5, "b.qw": cos(lean / 2), "b.qx": sin(lean / 2)}
    found = kn.simulate(coin(), 2.0, q=q, samples=201, method=method)
    assert grown(found) < 1e-5
    assert found["b.z"][-1] == pytest.approx(FLAT * R, abs=1e-8)
    assert np.abs(found.v[-1]).max() < 1e-12


@pytest.mark.parametrize("method", ["default", "moreau"])
@pytest.mark.parametrize("seed", quick_but(range(40), range(1, 40)))
def test_a_thrown_disk_stays_above_the_ground_and_gains_no_energy(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4).round(3)
    q = {"b.z": rounded(rng, 0.4, 1.5), **dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), turn, strict=True))}
    q |= {n: q[n] / np.linalg.norm(turn) for n in ("b.qw", "b.qx", "b.qy", "b.qz")}
    rates = (rng.normal(size=6) * [2, 2, 1, 5, 5, 5]).round(3)
    v = dict(zip(("b.vx", "b.vy", "b.vz", "b.wx", "b.wy", "b.wz"), rates, strict=True))
    p = {"e": float(rng.choice([0, 0, 0.3])), "mu": rounded(rng, 0.1, 1)}
    how = {} if method == "default" else {"method": method}
    found = kn.simulate(coin(), 3.0, q=q, v=v, p=p, samples=301, **how)
    by_steps = any("'moreau'" in note for note in found.notes)
    assert grown(found) < (GROWTH if by_steps else 1e-8)
    assert lowest(found.q).min() > (-DEPTH if by_steps else -1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["default", "moreau"])
@pytest.mark.parametrize("seed", range(8))
def test_thrown_wheels_on_an_axle_and_a_car_that_tips_gain_no_energy(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    how = {} if method == "default" else {"method": method}
    turn = rng.normal(size=4)
    q = dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), turn / np.linalg.norm(turn), strict=True)) | {"b.z": 1.2}
    v = dict(zip(("b.vx", "b.vy", "b.wx", "b.wy", "b.wz"), rng.normal(size=5) * [3, 3, 4, 4, 4], strict=True))
    assert grown(kn.simulate(axle(), 2.0, q=q, v=v, samples=201, **how)) < GROWTH
    slide = {"c.vy": -rng.uniform(6, 12), "c.vx": rng.uniform(-5, 10), "c.wx": rng.uniform(2, 5)}
    found = kn.simulate(car(), 2.5, q={"c.z": 0.8}, v=slide, samples=251, **how)
    assert grown(found) < GROWTH


@pytest.mark.slow
@pytest.mark.parametrize("method", ["default", "moreau"])
def test_a_car_comes_to_lie_on_its_side(method: str) -> None:
    how = {} if method == "default" else {"method": method}
    q = {"c.z": 1.2, "c.qw": cos(pi / 4), "c.qx": -sin(pi / 4)}
    found = kn.simulate(car(), 2.0, q=q, samples=51, **how)
    assert grown(found) < 1e-8
    assert found["c.z"][-1] == pytest.approx(0.7 + FLAT * R, abs=1e-9)
    assert np.abs(found.v[-1]).max() < 1e-9
