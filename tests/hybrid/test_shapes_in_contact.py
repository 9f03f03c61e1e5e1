"""Motions of shapes that touch each other, beside closed forms, balances, and both methods beside each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.support import quick_but

METHODS = ("events", "moreau")


def run(text: str, t: float, method: str = "events", **options: Any) -> Any:
    found: Any = kn.simulate(kn.loads(text), t, method=method, **options)
    assert found.status >= 0, found.message
    return found


@pytest.mark.parametrize("method", METHODS)
def test_balls_that_strike_centrally_change_their_velocities(method: str) -> None:
    m, M, e = 1.0, 3.0, 0.6
    found = run(
        f"A | Sx(x) = {m}; B | Sx(y) = {M}; coordinates x, y; initial x = -0.5, x' = 2, y = 0.1, y' = -0.5;"
        f"contact c : ball = 0.1 on ball = 0.2 between A and B, restitution = {e};",
        1,
        method,
    )
    mean, apart = (m * 2 - M * 0.5) / (m + M), -e * 2.5
    assert found.v[-1] == pytest.approx([mean + M / (m + M) * apart, mean - m / (m + M) * apart], abs=1e-12)
    struck = 0.3 / 2.5  # a gap of 0.3 m
    there = [-0.5 + 2 * struck, 0.1 - 0.5 * struck]
    reached = [x + v * (1 - struck) for x, v in zip(there, found.v[-1], strict=True)]
    assert found.q[-1] == pytest.approx(reached, abs=1e-9 if method == "events" else 5e-3)


def test_balls_that_strike_obliquely_keep_what_is_along_their_surface() -> None:
    r, b, e = 0.1, 0.08, 0.7
    found = run(
        "A | Sx(x), Sy(y) = 1; B | Sx(u), Sy(v) = 2; coordinates x, y, u, v;"
        f"initial x = -1, y = {b}, x' = 1; contact c : ball = {r} on ball = {r} between A and B, restitution = {e};",
        2,
    )
    sine = b / (2 * r)
    n = np.array([-math.sqrt(1 - sine**2), sine])
    along = n @ [1.0, 0.0]
    first, second = (
        np.array([1.0, 0.0]) - n * (1 + e) * along * 2 / 3,
        n * (1 + e) * along / 3,
    )
    assert found.v[-1] == pytest.approx([*first, *second], abs=1e-9)
    assert found.impacts[0].t == pytest.approx(1 - math.sqrt(4 * r * r - b * b), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", quick_but(METHODS, ["events"]))
def test_momentum_is_kept_where_bodies_strike_each_other(method: str) -> None:
    found = run(
        "A | Free(a) = 1, 0.01, 0.02, 0.015; B | Free(b) = 2, 0.02, 0.01, 0.03;"
        "contact c : capsule = 0.1, 0.6 on capsule = 0.2, 0.5 between A axis (0, 1, 1) and B axis (1, 0, 0),"
        "restitution = 0.5, friction = 0.4; initial a.x = 0.1, a.z = 0.6, a.vz = -1, a.wy = 2, b.wx = 1;"
        "output X = a.vx + 0, hit = lambda.c.across.n;",
        1,
        method,
    )
    equations = kn.derive(found.system)
    p, L = (equations.function(name) for name in ("linear_momentum", "angular_momentum"))
    allowed = 1e-9 if method == "events" else 5e-4  # speeds are components in the axes of bodies that turn
    for quantity in (p, L):
        before, after = (quantity(0.0, found.q[i], found.v[i]) for i in (0, -1))
        assert np.asarray(after) == pytest.approx(np.asarray(before), abs=allowed)
    assert found.energy[-1] < found.energy[0] - 0.05
    assert found.energy_balance < (1e-8 if method == "events" else 1e-4)


def test_a_ball_rolls_over_a_capsule_and_leaves_it() -> None:
    R, r, v = 0.5, 0.1, 0.2
    found = run(
        "gravity 9.81; A | Sx(x), Sz(z), Ry(b) = 1, 0.004, 0.004, 0.004; coordinates x, z, b;"
        f"contact c : ball = {r} on capsule = {R}, 2 between A and ground axis (0, 1, 0), friction = 1e4;"
        f"initial z = {R + r}, x' = {v}, b' = {v / r};",
        2,
        events=kn.event(kn.symbol("lambda.c.n") - 1e-9, direction=-1, terminal=True),
    )
    # Energy with the inertia of a solid ball, 7/10 m v^2, and the load m g cos - m v^2/(R + r) that vanishes.
    cosine = 10 / 17 * (1 + 0.7 * v**2 / (9.81 * (R + r)))
    assert found.q[-1][1] / (R + r) == pytest.approx(cosine, abs=1e-6)
    assert np.hypot(*found.q[-1][:2]) == pytest.approx(R + r, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_block_slides_down_a_wedge_that_gives_way(method: str) -> None:
    M, m, alpha, g = 3.0, 1.0, 0.4, 9.81
    found = run(
        f"gravity {g}; Wedge | Sx(X) = {M}; frame Slope ~ Wedge | Ry({alpha});"
        f"Block | Sx(x), Sz(z), Ry(b) = {m}, 0.01, 0.01, 0.01;"
        "coordinates X, x, z, b; point P on Block = (-0.1, 0, -0.05); point Q on Block = (0.1, 0, -0.05);"
        "contact c : point on box = 4, 1, 0.2 between P, Q and Slope;"
        f"initial x = 0.15*sin({alpha}), z = 0.15*cos({alpha}), b = {alpha};",
        0.5,
        method,
    )
    away = -m * g * math.sin(alpha) * math.cos(alpha) / (M + m * math.sin(alpha) ** 2)
    assert found.q[-1][0] == pytest.approx(away * 0.125, abs=1e-9)
    down = (M + m) * g * math.sin(alpha) / (M + m * math.sin(alpha) ** 2)  # along the slope, against the wedge
    assert found.q[-1][1] == pytest.approx(0.15 * math.sin(alpha) + (away + down * math.cos(alpha)) * 0.125, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_point_falls_from_the_edge_of_a_box(method: str) -> None:
    mu, v, half, g = 0.05, 1.5, 0.5, 9.81
    found = run(
        f"gravity {g}; A | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z; initial z = 0.5, x' = {v};"
        f"contact c : point on box = 1, 1, 1 between A and ground, friction = {mu};",
        1,
        method,
    )
    left = math.sqrt(v * v - 2 * mu * g * half)
    falls = 1 - (v - left) / (mu * g)
    allowed = 1e-8 if method == "events" else 2e-3
    assert found.q[-1] == pytest.approx([half + left * falls, 0, half - g * falls**2 / 2], abs=allowed)


def test_what_has_left_a_box_strikes_its_side() -> None:
    found = run(
        "A | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z; initial z = 0.3, y = 0.2, x = 1, x' = -1;"
        "contact c : point on box = 1, 1, 1 between A and ground, restitution = 0.5;",
        1.5,
    )
    assert found.q[-1] == pytest.approx([1.0, 0.2, 0.3], abs=1e-9)
    assert [i.contact for i in found.impacts] == ["c.x"]


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_rolls_off_a_box(method: str) -> None:
    """Both methods follow the edge: the ball turns about it, and leaves it as a ball leaves a corner."""
    found = run(
        "gravity 9.81; A | Sx(x), Sz(z), Ry(b) = 1, 0.004, 0.004, 0.004; coordinates x, z, b;"
        "contact c : ball = 0.1 on box = 1, 1, 1 between A and ground, friction = 5; initial z = 0.6, x' = 0.2, b' = 2, x = 0.4;",
        0.92,
        method,
        **({} if method == "events" else {"max_step": 2e-4}),
    )
    assert found.energy_balance < 1e-6
    leaving = math.acos(10 / 17 * (1 + 0.7 * 0.2**2 / (9.81 * 0.1)))
    assert found.energy[-1] == pytest.approx(found.energy[0], abs=1e-4)
    assert found.q[-1][0] > 0.5 + 0.1 * math.sin(leaving)


@pytest.mark.slow
@pytest.mark.parametrize("method", quick_but(METHODS, ["events"]))
def test_logs_lie_in_the_groove_of_two_others(method: str) -> None:
    text = "gravity 9.81; A | Free(a) = 1, 0.1, 0.02, 0.1; initial a.z = sqrt(0.04 - 0.0081);"
    for name, y in (("c", 0.09), ("d", -0.09)):
        text += f"contact {name} : capsule = 0.1, 0.6 on capsule = 0.1, 1 between A axis (1, 0, 0)"
        text += f"and ground at (0, {y}, 0) axis (1, 0, 0), friction = 0.4;"
    found = run(text, 0.5, method)
    assert found.q[-1] == pytest.approx(found.q[0], abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("turn", [0.0, 0.4, math.pi / 4])
def test_boxes_stand_on_boxes(method: str, turn: float) -> None:
    """Corners on faces, or where faces cross as octagons, edges on edges; five boxes would take minutes to compile."""
    found = run(
        "gravity 9.81; A | Free(a) = 1, 0.007, 0.007, 0.007; B | Free(b) = 2, 0.014, 0.014, 0.014;"
        "contact floor : box = 0.2, 0.2, 0.2 between A and ground axis (0, 0, 1), friction = 0.4;"
        "contact c : box = 0.2, 0.2, 0.2 on box = 0.2, 0.2, 0.2 between B and A, friction = 0.4;"
        "initial a.z = 0.1, b.z = 0.3, b.x = 0.02;",
        1,
        method,
        q={"b.qw": math.cos(turn / 2), "b.qz": math.sin(turn / 2)},
    )
    assert found.q[-1] == pytest.approx(found.q[0], abs=1e-8)


@pytest.mark.slow
def test_planks_lie_across_each_other_on_their_edges_alone() -> None:
    for method in METHODS:
        found = run(
            "gravity 9.81; A | Free(a) = 1, 0.007, 0.007, 0.007; initial a.z = 0.12, a.x = 0.02;"
            "contact c : box = 1, 0.1, 0.1 on box = 0.1, 1, 0.1 between A and ground, friction = 0.4;",
            1,
            method,
        )
        assert found.q[-1] == pytest.approx([0.02, 0, 0.1, 1, 0, 0, 0], abs=1e-6)


@pytest.mark.slow
def test_both_methods_tumble_a_box_over_a_box_alike() -> None:
    text = (
        "gravity 9.81; A | Free(a) = 1, 0.0067, 0.0067, 0.0067; initial a.z = 0.8, a.x = 0.3, a.vx = 0.5, a.wy = 7, a.wx = 3;"
        "contact c : box = 0.2, 0.3, 0.1 on box = 1, 1, 1 between A and ground, friction = 0.3, restitution = 0.3;"
    )
    one, other = run(text, 0.6), run(text, 0.6, "moreau", max_step=1e-4)
    assert one.energy_balance < 1e-8
    assert other.q[-1] == pytest.approx(one.q[-1], abs=3e-3)


def test_compliant_balls_bounce_off_each_other_in_half_a_period() -> None:
    m, M, k = 1.0, 3.0, 5e4
    found: Any = kn.simulate(
        kn.loads(
            f"A | Sx(x) = {m}; B | Sx(y) = {M}; coordinates x, y; initial x' = 1, y = 0.3;"
            f"contact c : ball = 0.1 on ball = 0.2 between A and B, stiffness = {k};"
        ),
        0.1,
        rtol=1e-11,
        atol=1e-13,
    )
    lasts = math.pi * math.sqrt(m * M / (m + M) / k)
    u, w = (m - M) / (m + M), 2 * m / (m + M)
    middle = 1 / (m + M) * lasts  # of the mass centre, meanwhile
    assert found.v[-1] == pytest.approx([u, w], abs=1e-7)
    assert found.q[-1] == pytest.approx([middle + u * (0.1 - lasts), 0.3 + middle + w * (0.1 - lasts)], abs=1e-7)


@pytest.mark.slow
def test_a_compliant_capsule_rests_on_a_box_that_rests() -> None:
    model = kn.loads(
        "gravity 9.81; Log | Sx(x), Sz(z), Ry(b) = 2, 0.1, 0.1, 0.1; Crate | Sz(y) = 5; coordinates x, z, b, y;"
        "contact floor : box = 1, 1, 0.4 between Crate and ground axis (0, 0, 1), stiffness = 1e4;"
        "contact log : capsule = 0.1, 0.6 on box = 1, 1, 0.4 between Log axis (1, 0, 0) and Crate, stiffness = 1e4, damping = 10,"
        "friction = 0.3, smooth = 1 mm/s; initial z = 0.5, y = 0.2;"
    )
    sunk = 7 * 9.81 / 4e4
    found = kn.equilibrium(model, q={"x": 0, "z": 0.499, "b": 0, "y": 0.199})
    assert found.q == pytest.approx([0, 0.5 - sunk - 2 * 9.81 / 2e4, 0, 0.2 - sunk], abs=1e-8)
