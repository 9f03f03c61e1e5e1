"""Bounds of limits and surfaces of contacts that move in short pulses, or bend: what touches them, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

#: A limit at rest at 2 that comes for a time 2 w at the speed v, and goes back.
WALL = """
Car | Sx(x) = 1 kg; coordinates x; parameters w = 0.01, v = 150, e = 0.5, x0 = 1.9;
limit l : x <= BOUND, restitution = e;
initial x = x0, x' = 0;
"""
BOUNDS = {
    "max": "2 - v*max(0, w - abs(t - 5 - w))",
    "if": "2 - if(t > 5 and t < 5 + w, v*(t - 5), if(t >= 5 + w and t < 5 + 2*w, v*(5 + 2*w - t), 0))",
}
HEAVY = "Box | Sz(z) = 1 kg; coordinates z; force weight = -10 on z; limit l : z >= BOUND; initial z = 0;"
BELT = """
Belt | Sx(table(t; (0, 0), (1, 0), (2, 1), (3, 1), (4, 0))) = 0 kg; Box | Sx(x), Sz(z) = 1 kg; coordinates x, z;
force weight = -10 on z; contact c : point between Box and Belt axis (0, 0, 1), friction = 0.5;
"""
GROUND = """
Ball | Sx(x), Sz(z) = 1 kg; coordinates x, z; force weight = -10 on z; initial x' = 1;
contact floor : point between Ball and ground axis (0, 0, 1) height HEIGHT;
"""


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("method", ["dop853", pytest.param("dopri5", marks=pytest.mark.slow)])
def test_a_wall_that_comes_in_a_pulse_strikes(bound: str, method: str) -> None:
    """A wall at the speed v leaves what it strikes with (1 + e) v."""
    system = kn.loads(WALL.replace("BOUND", BOUNDS[bound]))
    found = kn.simulate(system, 10.0, method=method)
    struck = 5.0 + 0.1 / 150.0
    assert found["x'"][-1] == pytest.approx(-225.0, rel=1e-12)
    assert found["x"][-1] == pytest.approx(1.9 - 225.0 * (10.0 - struck), rel=1e-12)
    assert found.energy_balance < 1e-12
    assert found.steps < 40


@pytest.mark.slow
def test_cases_meet_their_own_walls() -> None:
    """An ensemble, with pulses down to some microseconds."""
    rng = np.random.default_rng(2)
    width, speed = 10.0 ** rng.uniform(-5.5, -1.0, 9), rng.uniform(0.5, 9.0, 9)
    start = 2.0 - speed * width * rng.uniform(0.5, 1.5, 9)
    e = rng.uniform(0.0, 1.0, 9)
    system = kn.loads(WALL.replace("BOUND", BOUNDS["max"]))
    found = kn.simulate(system, 8.0, p=np.stack([width, speed, e, start], axis=1))
    gone = np.where(start > 2.0 - speed * width, -(1.0 + e) * speed, 0.0)
    assert 0 < np.count_nonzero(gone) < 9
    np.testing.assert_allclose(found["x'"][:, -1], gone, rtol=1e-9)


@pytest.mark.slow
def test_random_jolts_of_a_floor() -> None:
    """A box at rest on a floor that rises at a speed for a time: it is thrown, flies, and lands."""
    rng = np.random.default_rng(5)
    for speed, rise in rng.uniform([0.5, 0.01], [3.0, 0.1], (3, 2)).tolist():
        system = kn.loads(HEAVY.replace("BOUND", f"if(t < 1, 0, min({rise!r}, {speed!r}*(t - 1)))"))
        t, flown = 1.0 + rise / speed, 0.5 * speed / 10.0
        lifted, thrown, lands = (kn.simulate(system, end) for end in (0.5 * (1.0 + t), t + flown, t + 5.0 * flown))
        assert lifted["z'"][-1] == pytest.approx(speed, rel=1e-9)
        assert thrown["z'"][-1] == pytest.approx(speed - 10.0 * flown, rel=1e-9)
        assert thrown["z"][-1] == pytest.approx(rise + speed * flown - 5.0 * flown**2, rel=1e-9)
        assert (lands["z"][-1], lands["z'"][-1]) == (pytest.approx(rise, rel=1e-9), 0.0)
        assert max(x.energy_balance for x in (lifted, thrown, lands)) < 1e-12


def test_a_floor_that_falls_away_at_once() -> None:
    found = kn.simulate(kn.loads(HEAVY.replace("BOUND", "if(t < 1, 0, -0.05)")), 1.3)
    assert [what for _, what in found.changes] == ["l.lower leaves", "l.lower strikes", "l.lower rests"]
    assert [t for t, _ in found.changes] == pytest.approx([1.0, 1.1, 1.1], rel=1e-12)
    assert found["z"][-1] == pytest.approx(-0.05)
    assert found.energy_balance < 1e-12


def test_a_belt_whose_speed_jumps() -> None:
    """Friction 5 m/s^2 brings the box to the speed of the belt each time."""
    system = kn.loads(BELT)
    for end, speed, place in (
        (1.1, 0.5, 0.025),
        (1.5, 1.0, 0.4),
        (2.1, 0.5, 0.975),
        (2.5, 0.0, 1.0),
        (3.1, -0.5, 0.975),
    ):
        found = kn.simulate(system, end)
        assert found["x'"][-1] == pytest.approx(speed, abs=1e-9)
        assert found["x"][-1] == pytest.approx(place, abs=1e-9)
        assert found.energy_balance < 1e-9


@pytest.mark.slow
def test_bumps_and_bends_of_the_ground() -> None:
    """What slides over a bend strikes the other side, and keeps its speed along it; at an edge it leaves."""
    system = kn.loads(GROUND.replace("HEIGHT", "max(0, Ball.x - 1)"))
    found = kn.simulate(system, 1.02)
    slope = (found["x'"][-1], found["z'"][-1])
    assert slope == pytest.approx((0.5 - 5.0 * 0.02,) * 2, rel=1e-9)
    assert found.energy_balance < 1e-12
    found = kn.simulate(kn.loads(GROUND.replace("HEIGHT", "-0.2*step(Ball.x - 1)")), 1.1)
    assert found["z"][-1] == pytest.approx(-5.0 * 0.1**2, rel=1e-9)
    thin = "0.5*max(0, 0.001 - abs(Ball.x - 1))/0.001"
    text = GROUND.replace("x' = 1", "x' = 10, z = 0.4").replace("HEIGHT", thin).replace("weight = -10", "weight = 0")
    found = kn.simulate(kn.loads(text), 0.2)
    assert found["x'"][-1] < 10.0 - 1e-6
    assert found["x"][-1] < 1.0


@pytest.mark.parametrize(
    ("text", "at", "where"),
    [
        (WALL.replace("BOUND", "if(t > 5 and t < 5.01, 0.5, 2)"), 5.0, "step"),
        (WALL.replace("BOUND", "if(x > 1 and x < 1.0001, 0.5, 3)").replace("x' = 0", "x' = 1").replace("1.9", "0"), 1.0, "step"),
        (GROUND.replace("HEIGHT", "0.2*step(Ball.x - 1)"), 1.0, "step"),
    ],
)  # fmt: skip
def test_a_bound_that_jumps_into_what_it_limits_ends_the_run(text: str, at: float, where: str) -> None:
    """No finite speed leads out: neither events nor time stepping go on."""
    found = kn.simulate(kn.loads(text), 10.0)
    assert not found.success
    assert found.t[-1] == pytest.approx(at, rel=1e-9)
    assert f"'{where}" in found.message
    assert "neither go on nor strike; make it smooth over a short length or time" in found.message
