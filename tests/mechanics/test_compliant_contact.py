"""Compliant contacts, against solutions by hand, and against hard contact as their limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kineta as kn

BALL = "gravity {g}; Ball | Sz(z) = 2; contact foot : ball = 0.1 between Ball and ground axis (0, 0, 1), {law}; initial {start};"


def ball(law: str, start: str = "z = 0.1", g: float = 0.0) -> kn.System:
    return kn.loads(BALL.format(g=g, law=law, start=start))


def rebound(law: str, speed: float) -> float:
    """The restitution of the ball that strikes with a *speed*."""
    run: Any = kn.simulate(ball(law, f"z = 0.1 + 1e-6, z' = -{speed}"), 0.2, rtol=1e-12, atol=1e-14)
    assert run.q[-1, 0] > 0.1
    return float(run.v[-1, 0] / speed)


def test_a_mass_leaves_a_spring_after_half_a_period_as_fast_as_it_came() -> None:
    k, m, v = 2000.0, 2.0, 1.5
    lasts = math.pi * math.sqrt(m / k)
    run: Any = kn.simulate(ball(f"stiffness = {k}", f"z' = -{v}, z = 0.1"), 0.3, t_eval=[0, lasts / 2, 0.3])
    assert run.q[:, 0] == pytest.approx([0.1, 0.1 - v * math.sqrt(m / k), 0.1 + v * (0.3 - lasts)], abs=1e-8)
    assert run.v[:, 0] == pytest.approx([-v, 0.0, v], abs=1e-8)


def test_a_damped_spring_lets_go_where_it_would_pull() -> None:
    k, m, c = 2000.0, 2.0, 20.0
    zeta = c / (2 * math.sqrt(k * m))
    # The force k d + c d' of a free vibration from d = 0 vanishes at this phase, with this speed left.
    omega = math.sqrt(k / m) * math.sqrt(1 - zeta**2)
    t = math.atan2(2 * zeta * math.sqrt(1 - zeta**2), 2 * zeta**2 - 1) / omega
    left = -math.exp(-zeta * math.sqrt(k / m) * t) * (
        math.cos(omega * t) - zeta / math.sqrt(1 - zeta**2) * math.sin(omega * t)
    )
    assert rebound(f"stiffness = {k}, damping = {c}", 1.0) == pytest.approx(left, abs=1e-6)


@pytest.mark.parametrize("speed", [0.02, 0.04, 0.08])
def test_the_restitution_of_hunt_and_crossley_falls_with_the_speed(speed: float) -> None:
    a = 0.5
    assert abs(rebound(f"stiffness = 1e6 hunt_crossley, damping = {a}", speed) - (1 - a * speed)) < (a * speed) ** 2


@pytest.mark.parametrize(
    ("law", "sink"),
    [
        ("stiffness = 2000, damping = 3", 2 * 9.81 / 2000),
        ("stiffness = 1e5 hunt_crossley", (2 * 9.81 / 1e5) ** (2 / 3)),
    ],
)
def test_what_rests_sinks_in_by_its_weight(law: str, sink: float) -> None:
    model = ball(law, "z = 0.1 - 1e-3", g=9.81)
    assert kn.equilibrium(model).q == pytest.approx([0.1 - sink], abs=1e-9)


def test_what_rests_vibrates_at_the_frequency_of_its_spring() -> None:
    model = ball("stiffness = 2000", "z = 0.09", g=9.81)
    eigenvalues = kn.linearize(model, about={"z": 0.1 - 2 * 9.81 / 2000}).eigenvalues
    assert sorted(np.abs(eigenvalues.imag)) == pytest.approx([math.sqrt(1000)] * 2)


@pytest.mark.parametrize("state", [0.05, 0.1, 0.2])
def test_slopes_are_finite_where_nothing_touches_and_at_the_touch(state: float) -> None:
    for law in ("stiffness = 2000, damping = 3", "stiffness = 1e5 hunt_crossley, damping = 0.1"):
        assert np.isfinite(kn.linearize(ball(law), about={"z": state}).A).all()


@pytest.mark.parametrize("law", ["stiffness = 2e4, damping = 30", "stiffness = 1e6 hunt_crossley, damping = 0.3"])
def test_energy_is_balanced_over_a_bounce_that_slides(law: str) -> None:
    model = kn.loads(
        "gravity 9.81; Box | Sx(x), Sz(z), Ry(b) = 2, 0.02, 0.03, 0.02; initial x' = 1, z = 0.3, b = 0.4; coordinates x, z, b;"
        f"contact c : point between Box at (0.1, 0, -0.1), Box at (-0.1, 0, -0.1) and ground axis (0, 0, 1), {law}, "
        "friction = 0.3, smooth = 1 cm/s;"
    )
    run: Any = kn.simulate(model, 0.6, rtol=1e-10, atol=1e-10)
    assert run.energy[-1] < run.energy[0] - 0.1
    assert run.energy_balance < 1e-6


def test_smooth_friction_creeps_on_a_slope() -> None:
    mu, slope, v = 0.5, 0.3, 1e-3
    model = kn.loads(
        f"gravity 9.81; frame Slope | Ry({slope}); Box ~ Slope | Sx(x), Sz(z) = 2; coordinates x, z; "
        f"contact c : point between Box and Slope axis (0, 0, 1), stiffness = 1e4, damping = 200, friction = {mu}, smooth = {v};"
    )
    run: Any = kn.simulate(model, 2.0)
    share = math.tan(slope) / mu
    assert run.v[-1] == pytest.approx([v * share / math.sqrt(1 - share**2), 0.0], abs=1e-6)


def test_a_stiffer_contact_comes_nearer_to_a_hard_one() -> None:
    hard: Any = kn.simulate(ball("restitution = 1", "z = 0.2", g=9.81), 0.25)
    away = []
    for k in (1e6, 1e8):
        run: Any = kn.simulate(ball(f"stiffness = {k}", "z = 0.2", g=9.81), 0.25, rtol=1e-9, atol=1e-11)
        away.append(abs(run.q[-1, 0] - hard.q[-1, 0]))
    assert away[1] == pytest.approx(away[0] / 10, rel=0.1)  # the time of contact is pi sqrt(m/k)


def test_text_and_python_say_the_same() -> None:
    law = "stiffness = 2000 hunt_crossley, damping = 0.3, friction = 0.4, smooth = 0.01"
    model = ball(law)
    assert kn.loads(kn.dumps(model)) == model
    assert f"ball = 0.1 between Ball and ground axis (0, 0, 1), {law};" in kn.dumps(model)
    made = kn.contact(
        *("foot", "ball", "Ball", "ground"),
        normal=(0, 0, 1),
        sizes=0.1,
        stiffness=2000,
        law="hunt_crossley",
        damping=0.3,
        friction=0.4,
        smooth=0.01,
    )
    assert model.elements == (made,)
    assert model.contacts == ()
    assert kn.System("text", model.bodies, contacts=[made], initial={"z": 0.1}) == model
    assert kn.verify(model, states=2, digits=0).holds


@pytest.mark.parametrize(
    ("law", "text"),
    [
        ("stiffness = -1", "expected a stiffness above zero, found -1"),
        ("stiffness = 0", "expected a stiffness above zero, found 0"),
        ("stiffness = 1, damping = -1", "expected a damping of zero or more, found -1"),
        ("damping = 3", "contact 'foot': damping says nothing without a stiffness; give both, or a restitution"),
        ("stiffness = 1, restitution = 0.5", "a contact with a stiffness has no restitution: the rebound follows from"),
        ("stiffness = 1, friction = 1, static = 2", "has no static friction: it never sticks; leave out one of them"),
        ("stiffness = 1, friction = 0.5", "grows with the slip; give its speed, as in smooth = 1 mm/s"),
        ("stiffness = 1, smooth = 0.5", "'smooth' says nothing without friction"),
        ("stiffness = 1 while a == 1", "a contact with a stiffness has no conditions"),
        ("stiffness = 1 newton", "expected a law of stiffness (kelvin_voigt, hunt_crossley), found 'newton'"),
        ("restitution = 1 kelvin_voigt", "expected a law of restitution (newton, poisson), found 'kelvin_voigt'"),
        ("stiffness = 1 N", "the stiffness of contact 'foot' must be a stiffness [kg/s^2], found a force"),
        (
            "stiffness = 1 N/m hunt_crossley",
            "the stiffness of contact 'foot' must be a quantity [kg/m^0.5/s^2], found a stiffness",
        ),
        ("stiffness = 1, damping = 1 N", "the damping of contact 'foot' must be a damping [kg/s], found a force"),
    ],
)
def test_mistakes(law: str, text: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        ball(law)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"stiffness": 0}, "Contact 'foot': expected a stiffness above zero, found 0"),
        ({"damping": 1}, "Contact 'foot': damping says nothing without a stiffness"),
        ({"stiffness": 1, "restitution": 0.5}, "Contact 'foot': a contact with a stiffness has no restitution"),
        ({"stiffness": 1, "law": "newton"}, "expected a law of compliant contact \\(kelvin_voigt, hunt_crossley\\)"),
    ],
)
def test_mistakes_from_python(more: dict[str, Any], text: str) -> None:
    with pytest.raises(kn.KinetaError, match=f"(?i){text}"):
        kn.contact("foot", "point", "Ball", "ground", normal=(0, 0, 1), **more)


def test_only_points_balls_capsules_and_boxes_yield() -> None:
    text = BALL.format(g=0, law="stiffness = 1", start="z = 1")
    with pytest.raises(kn.ModelError, match=r"a capsule or a box, which alone may be compliant, found 'wheel'"):
        kn.loads(text.replace("ball =", "wheel =").replace("Ball and", "Ball axis (0, 1, 0) and"))
    with pytest.raises(
        kn.ModelError, match=r"expected a shape \(point, ball, capsule, box\), found 'bal'. Did you mean"
    ):
        kn.loads(text.replace("ball =", "bal ="))


def test_units_have_powers_of_halves() -> None:
    assert ball("stiffness = 2 kN/m^1.5 hunt_crossley") == ball("stiffness = 2000 hunt_crossley")


DROPPED = """parameters m = 1; gravity 10; A | Sz(z) = m;
contact foot : point between A and ground axis (0, 0, 1), {}; initial z = 0.1;"""


@pytest.mark.parametrize(
    "law", ["stiffness = 1e4", "stiffness = 1e5 hunt_crossley, damping = 0.2", "stiffness = 1e4, damping = 10"]
)
def test_sensitivities_through_a_touch_are_differences_of_runs(law: str) -> None:
    system, h = kn.loads(DROPPED.format(law)), 1e-5
    found: Any = kn.sensitivity(system, 0.2, by=["m"], rtol=1e-11, atol=1e-13)
    more, less = (
        kn.simulate(system, 0.2, p={"m": 1 + s * h}, rtol=1e-12, atol=1e-14, t_eval=[0, 0.2]).q[-1, 0] for s in (1, -1)
    )
    assert float(found.q_by[-1, 0, 0]) == pytest.approx((more - less) / (2 * h), rel=1e-4)
