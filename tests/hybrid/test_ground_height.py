"""Round shapes on ground of a given height, beside closed forms and distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import kineta as kn

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
