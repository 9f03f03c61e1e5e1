"""Round shapes on ground of a given height, beside closed forms and distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import kineta as kn
from kineta.arrays import FloatArray

ROLLING = "gravity 9.81; A | Sx(x), Sz(z), Ry(b) = 1, 0.01, 0.016, 0.01; coordinates x, z, b;"


@pytest.mark.slow
def test_a_ball_slides_in_a_paraboloid_as_its_centre_on_a_parallel_curve() -> None:
    r, start, g = 0.2, 0.6, 9.81

    def centre(s: float) -> tuple[float, float]:
        """The centre of the ball that touches where x = s, from ground of the height s^2/2."""
        size = math.sqrt(1 + s * s)
        return s - r * s / size, s * s / 2 + r / size

    def pace(s: float) -> float:
        """The length of the way of the centre by s."""
        return math.sqrt(1 + s * s) - r / (1 + s * s)

    (x, z), top = centre(start), centre(start)[1]
    # With s = start sin(phi) the integrand is smooth: height lost over cos(phi)^2.
    lasts, _ = quad(
        lambda phi: (
            pace(start * math.sin(phi))
            * start
            * math.cos(phi)
            / math.sqrt(2 * g * (top - centre(start * math.sin(phi))[1]))
        ),
        0,
        math.pi / 2 - 1e-9,
    )
    model = kn.loads(
        f"gravity {g}; A | Free(a) = 1, 0.016, 0.016, 0.016;"
        f"contact c : ball = {r} between A and ground axis (0, 0, 1) height 0.5*(A.x^2 + A.y^2);"
        f"initial a.x = {x!r}, a.z = {z!r};"
    )
    run: Any = kn.simulate(model, lasts, method="events")
    assert run.q[-1][:3] == pytest.approx([0, 0, r], abs=1e-6)
    assert run.v[-1][0] == pytest.approx(-math.sqrt(2 * g * (top - r)), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["events", "moreau"])
def test_a_wheel_follows_a_wavy_road(method: str) -> None:
    r, high = 0.3, 0.03
    model = kn.loads(
        ROLLING + f"contact c : wheel = {r} between A axis (0, 1, 0) and ground axis (0, 0, 1)"
        f"height {high}*sin({2 * math.pi!r}*A.x), friction = 2;"
        f"initial z = {r + high}, x' = 0.5, x = 0.25, b' = {0.5 / r};"
    )
    run: Any = kn.simulate(model, 2.5, method=method)
    assert run.status == 0
    assert run.energy_balance < 1e-8
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-7 if method == "events" else 1e-3)  # it rolls
    for x, z, _ in run.q[:: max(1, len(run.q) // 20)]:
        near = minimize_scalar(
            lambda s, x=x, z=z: (s - x) ** 2 + (high * math.sin(2 * math.pi * s) - z) ** 2,
            bounds=(x - 0.15, x + 0.15),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert math.sqrt(near.fun) == pytest.approx(r, abs=1e-8 if method == "events" else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["ball = 0.2 between A and", "wheel = 0.2 between A axis (0, 1, 0) and"])
def test_rows_on_ground_are_those_of_the_touching_place(shape: str) -> None:
    model = kn.loads(
        "gravity 9.81; A | Free(a) = 1, 0.01, 0.02, 0.015;"
        f"contact c : {shape} ground axis (0, 0, 1) height 0.05*sin(3*A.x)*cos(2*A.y + t), friction = 0.4;"
    )
    with pytest.warns(kn.KinetaWarning, match="only runs know contacts"):
        assert kn.verify(model, states=4).holds
    assert kn.loads(kn.dumps(model)) == model


def test_only_round_shapes_touch_ground_of_a_height() -> None:
    with pytest.raises(kn.ModelError, match="only a single point or round shape, and a plane of the ground"):
        kn.loads("A | Free(a) = 1, 1, 1, 1; contact c : box = 1, 1, 1 between A and ground axis (0, 0, 1) height A.x;")


@pytest.mark.slow
def test_a_ball_comes_to_rest_in_a_hollow() -> None:
    model = kn.loads(
        ROLLING
        + "contact c : ball = 0.2 between A and ground axis (0, 0, 1) height 0.5*A.x^2, friction = 0.5, restitution = 0.3;"
        "damper rolls = 0.05 on b; initial x = 0.3, z = 0.6;"
    )
    run: Any = kn.simulate(model, 20)
    assert run.status == 0
    assert run.q[-1][:2] == pytest.approx([0, 0.2], abs=1e-3)
    assert np.abs(run.v[-1]).max() < 1e-2


#: Ground under a thrown disk of 0.1 m: waves, waves hardly longer than the disk, and a slope.
GROUNDS: dict[str, tuple[str, Callable[[FloatArray, FloatArray], FloatArray]]] = {
    "waves": ("0.05*sin(6*B.x)*cos(5*B.y)", lambda x, y: 0.05 * np.sin(6 * x) * np.cos(5 * y)),
    "short waves": ("0.02*sin(15*B.x)*cos(12*B.y)", lambda x, y: 0.02 * np.sin(15 * x) * np.cos(12 * y)),
    "slope": ("0.3*B.x", lambda x, y: 0.3 * x),
}
DISK = 0.1


@cache
def disk_over(height: str) -> kn.Equations:
    return kn.derive(
        kn.loads(f"""gravity 9.81; B | Free(b) = 1, 0.0025, 0.0025, 0.005;
        contact c : wheel = {DISK} between B axis (0, 0, 1) and ground axis (0, 0, 1) height {height}, friction = 0.5;""")
    )


def thrown(height: str, seed: int, method: str, spin: float = 1.0) -> kn.Result:
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    q = dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), turn / np.linalg.norm(turn), strict=True))
    q |= {"b.z": 0.5, "b.x": rng.uniform(-1, 1), "b.y": rng.uniform(-1, 1)}
    rates = rng.normal(size=6) * [1, 1, 1, 5 * spin, 5 * spin, 5 * spin]
    v = dict(zip(("b.vx", "b.vy", "b.vz", "b.wx", "b.wy", "b.wz"), rates, strict=True))
    how = {} if method == "default" else {"method": method}
    return kn.simulate(disk_over(height), 3.0, q=q, v=v, samples=201, **how)


def rim(q: FloatArray) -> FloatArray:
    """Places of the rim of the disk at each state *q*, as rows: (3, states, 360)."""
    w, x, y, z = q[:, 3:7, None].transpose(1, 0, 2)
    first = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    second = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    angles = np.arange(360) * math.pi / 180
    return q[:, :3].T[:, :, None] + DISK * (first * np.cos(angles) + second * np.sin(angles))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["moreau", "events"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_thrown_disk_that_comes_to_lie_on_hills_stays_above_them_and_gains_no_energy(
    ground: str, seed: int, method: str
) -> None:
    text, height = GROUNDS[ground]
    found = thrown(text, seed, method)
    assert found.success, found.message
    by_steps = method == "moreau"
    x, y, z = rim(found.q)
    assert (z - height(x, y)).min() > (-1e-3 if by_steps else -1e-9)
    energy = found.energy
    assert (energy - np.minimum.accumulate(energy)).max() < (1e-4 if by_steps else 1e-6) * np.ptp(energy)


@pytest.mark.slow
def test_a_disk_that_spins_along_a_steep_dome_does_not_sink_by_steps() -> None:
    """Its row is turned by half a step, and tells amidst it that the disk leaves, while it sinks."""
    found = thrown("-0.2*(B.x^2 + B.y^2)", 0, "moreau", spin=4)
    assert found.success, found.message
    x, y, z = rim(found.q)
    assert (z + 0.2 * (x * x + y * y)).min() > -1e-3
    assert (found.energy - np.minimum.accumulate(found.energy)).max() < 1e-5 * np.ptp(found.energy)


@pytest.mark.slow
def test_an_upright_wheel_stands_on_its_own_rim_in_a_groove_that_is_narrower_than_its_radius() -> None:
    """It had a dome as wide as itself, and stood on that, or did not fit."""
    model = kn.loads(
        "gravity 9.81; Wheel | Sx(x), Sy(0.05*pi), Sz(z), Ry(roll) = 1, 0.01, 0.02, 0.01; coordinates x, z, roll;"
        "contact tyre : wheel = 0.3 between Wheel axis (0, 1, 0) and ground axis (0, 0, 1) height 0.03*cos(20*Wheel.y);"
        "initial z = 0.28, x' = 1;"
    )
    run = kn.simulate(model, 0.1, method="events")
    assert run.success
    assert run["z"][-1] == pytest.approx(0.3 - 0.03, abs=1e-9)


#: Hollows that are narrower than the disk.
NARROW = "0.1*sin(8*B.x)*cos(9*B.y)"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["default", "moreau"])
@pytest.mark.parametrize("seed", [2, 12])
def test_hollows_that_are_narrower_than_a_disk_end_a_run_by_a_sentence_that_names_its_contact(
    seed: int, method: str
) -> None:
    found = thrown(NARROW, seed, method)
    assert not found.success
    assert "'c' has a gap without a value" in found.message
    assert "ground of a given height is narrower than its shape" in found.message
    assert "mass matrix" not in found.message
    assert np.abs(found.v).max() < 50


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "events", "moreau"])
def test_a_level_disk_does_not_fall_through_a_hollow_that_is_too_narrow(method: str) -> None:
    found = kn.simulate(disk_over(NARROW), 1.0, q={"b.x": -math.pi / 16, "b.z": 0.2}, method=method)
    assert found.status == -1
    assert "'c' has a gap without a value" in found.message
    assert found.q[-1][2] > 0.1 - 1e-3


def test_what_has_no_rate_at_the_start_is_named() -> None:
    model = kn.loads(
        "A | Free(a) = 1, 1, 1, 1; B | Free(b) = 1, 1, 1, 1; contact c : point on ball = 1 between A and B;"
    )
    with pytest.raises(kn.SimulationError, match="what 'c' watches has no value or no rate in the initial state"):
        kn.simulate(model, 0.1)
