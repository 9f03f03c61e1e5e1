"""Runs through kinks and steps of forces and of rates of states, against closed forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.interpolate

import kineta as kn
from kineta.arrays import FloatArray
from kineta.integration.external import CVODE, IDA, SCIPY
from tests.support import slow

CAR = "Car | Sx(x) = m; coordinates x; parameters m = 1 kg; "
#: A force of the time, a time, and the impulse up to it.
FORCES_OF_TIME = [
    ("if(t > 5 and t < 5.2, 10, 0)", 10.0, 2.0),
    ("10*step(t - 5)*step(5.2 - t)", 5.2, 2.0),
    ("if(t >= 5, 1, 0)", 5.0, 0.0),
    ("if(t > 5, 0, 1)", 5.0, 5.0),
    ("if(mod(t, 1) < 0.01, 1, 0)", 10.5, 0.11),
    ("sign(sin(2*pi*50*t))", 1.005, 0.005),
    ("floor(3*t)", 10.0, 145.0),
    ("step(sin(t) - 0.999999)", 10.0, 2 * 2 * np.arccos(0.999999)),
    ("if(exp(-t) < 0.5 and exp(-t) > 0.4999, 1000, 0)", 5.0, 1000 * np.log(0.5 / 0.4999)),
    ("table(t; (0, 0), (5, 0), (5.001, 100), (5.002, 0), (10, 0))", 10.0, 0.1),
    ("table(t; monotone; (0, 0), (4, 0), (5, 0), (5.001, 100), (5.002, 0), (6, 0), (9, 0))", 10.0, 0.1),
    ("table(t; periodic; (0, 0), (0.25, 1), (0.5, 0), (0.75, -1), (1, 0))", 10.5, 0.25),
    ("step(t*(t - 1)*(t - 1.00001))", 2.0, 1.99999),
    ("atan2(sin(2*t), cos(2*t))", 5.0, (10 - 4 * np.pi) ** 2 / 4),
    ("atan2(0, cos(3*t))", 5.0, np.pi * (5 - 5 * np.pi / 6)),
]


@pytest.mark.parametrize(("force", "end", "impulse"), FORCES_OF_TIME)
@pytest.mark.parametrize("on", ["force", "state"])
def test_the_impulse_of_a_force_of_the_time(force: str, end: float, impulse: float, on: str) -> None:
    """m v(T) is the integral of the force, and z(T) that of a rate."""
    what = f"force f = {force} on x;" if on == "force" else f"state z : z' = {force};"
    found = kn.simulate(kn.loads(CAR + what), end)
    assert found.success
    assert found["x'" if on == "force" else "z"][-1] == pytest.approx(impulse, rel=1e-9, abs=1e-12)


def _pulses(seed: int, end: float) -> tuple[str, float]:
    """A train of pulses of random places, lengths and heights, and its impulse."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.uniform(0.0, end, 16)).round(6)
    heights = rng.normal(size=8).round(3)
    force = " + ".join(
        f"if(t > {a} and t < {b}, {h}, 0)" for (a, b), h in zip(places.reshape(8, 2), heights, strict=True)
    )
    return force, float(np.diff(places.reshape(8, 2))[:, 0] @ heights)


@pytest.mark.parametrize("seed", range(4))
def test_random_trains_of_pulses(seed: int) -> None:
    """Forwards, backwards, and by the other native method."""
    force, impulse = _pulses(seed, 20.0)
    system = kn.loads(f"{CAR}force f = {force} on x;")
    for method in ("dop853", "dopri5"):
        found = kn.simulate(system, 20.0, method=method)
        assert found["x'"][-1] == pytest.approx(impulse, abs=1e-12)
        assert abs(found.energy_balance) < 1e-12
    assert kn.simulate(system, (20.0, 0.0))["x'"][-1] == pytest.approx(-impulse, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_random_tables(seed: int) -> None:
    """Tables linear between knots: trapezia."""
    rng = np.random.default_rng(seed)
    t, y = np.sort(rng.uniform(0.0, 9.0, 30)).round(6), rng.normal(size=30).round(3)
    points = ", ".join(f"({a}, {b})" for a, b in zip(t, y, strict=True))
    area = sum((b - a) * (c + d) / 2 for (a, b), (c, d) in zip(pairwise(t), pairwise(y), strict=True))
    exact = area + y[0] * t[0] + y[-1] * (10.0 - t[-1])
    found = kn.simulate(kn.loads(f"{CAR}force f = table(t; {points}) on x;"), 10.0)
    assert found["x'"][-1] == pytest.approx(exact, abs=1e-12)
    assert found.steps < 2.5 * len(t)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-7])
def test_short_pulses_by_ida(width: float) -> None:
    """Its own first step behind a jump would be less than a rounding of the time."""
    pytest.importorskip("sksundae")
    text = f"{CAR}force f = if(t > 5 and t < 5 + {width!r}, 1/{width!r}, 0) on x; initial x' = 1;"
    found = kn.simulate(kn.loads(text), 10.0, method=IDA)
    assert found.success
    assert found["x'"][-1] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("method", [*SCIPY, *CVODE, IDA])
def test_other_methods_stop_too(method: str) -> None:
    """Methods that know nothing of kinks are restarted at them."""
    if method in (*CVODE, IDA):
        pytest.importorskip("sksundae")
    text = f"{CAR}state z : z' = if(x > 1 and x < 1.001, 100, 0); force f = if(t > 5 and t < 5.01, 10, 0) on x; initial x' = 0.3;"
    found = kn.simulate(kn.loads(text), 8.0, method=method)
    assert found["x'"][-1] == pytest.approx(0.4, abs=1e-7)
    assert found["z"][-1] == pytest.approx(0.1 / 0.3, abs=1e-6)


@pytest.mark.slow
def test_cases_of_an_ensemble_have_kinks_of_their_own() -> None:
    """Each lane stops at its own times, and gives the numbers of a run alone."""
    text = "parameters a = 1, w = 1, p = 1; Car | Sx(x) = 1; coordinates x; initial x' = 1;"
    force = "force f = if(t > a and t < a + w, p, 0) + if(x > 30 and x < 30.5, p, 0) on x;"
    system, rng = kn.loads(f"{text} {force}"), np.random.default_rng(3)
    p = np.stack([rng.uniform(0, 9, 19), 10.0 ** rng.uniform(-4, 0, 19), rng.uniform(-0.5, 1, 19)], axis=1)
    found = kn.simulate(system, 10.0, p=p)
    for i in range(0, 19, 6):
        alone = kn.simulate(system, 10.0, p=p[i])
        np.testing.assert_array_equal(found["x'"][i][-1], alone["x'"][-1])
    short = found["x"][:, -1] < 30
    inside = np.minimum(p[:, 0] + p[:, 1], 10.0) - p[:, 0]
    np.testing.assert_allclose(found["x'"][short, -1], 1 + (p[:, 2] * inside)[short], atol=1e-12)


# -- kinks of the state -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-7])
def test_a_force_in_a_window_of_places(width: float) -> None:
    """The work of a force over a short way: v^2 = 1 + 2 F w."""
    system = kn.loads(f"{CAR}force f = if(x > 1 and x < 1 + {width!r}, {0.1 / width!r}, 0) on x; initial x' = 1;")
    found = kn.simulate(system, 3.0)
    assert found["x'"][-1] == pytest.approx(np.sqrt(1.2), abs=3e-15 / width + 1e-10)


@pytest.mark.parametrize("k", [1e2, 1e6, 1e10])
def test_a_short_contact_with_a_spring(k: float) -> None:
    """An elastic stop gives the speed back, and the time of half an oscillation later."""
    found = kn.simulate(kn.loads(f"{CAR}force f = max(0, -{k!r}*x) on x; initial x = 1, x' = -1;"), 3.0)
    assert found["x'"][-1] == pytest.approx(1.0, abs=2e-9)
    assert found["x"][-1] == pytest.approx(2.0 - np.pi / np.sqrt(k), abs=2e-8)


@pytest.mark.parametrize("method", ["dop853", "dopri5", "Radau", "BDF"])
@pytest.mark.parametrize(
    ("rate", "end", "impulse"),
    [
        *slow([("step(sin(20*x) - 0.9999)", 10.0, 2 * np.arccos(0.9999) / 20 * 32)]),
        ("step((x - 5)*(5.01 - x))", 10.0, 0.01),
        ("step((x - 2)*(2.001 - x)*(x - 7)*(x - 7.003))", 10.0, 0.004),
        ("abs(max(0, sin(7*x) - 0.999))", 9.5, 0.0),
    ],
)
def test_pulses_of_a_place_within_one_step(rate: str, end: float, impulse: float, method: str) -> None:
    """Of a guard that comes to zero and goes back, many times in a free flight, which is one step without them."""
    found = kn.simulate(kn.loads(f"{CAR}state z : z' = {rate}; initial x' = 1;"), end, method=method)
    if not impulse:  # the arc of the sine above its bound, at each of the maxima
        half = np.arccos(0.999)
        impulse = (2 * np.sin(half) - 2 * 0.999 * half) / 7 * (np.floor((7 * end - np.pi / 2) / (2 * np.pi)) + 1)
    assert found["z"][-1] == pytest.approx(impulse, rel=1e-6)


def test_an_angle_jumps_by_a_turn() -> None:
    """Twenty turns of a unit vector; steps end at each jump, and at most at one more place of a turn."""
    text, end, fine = f"{CAR}state c : c' = cos(7*x); initial x' = 1;", 18.0, {"rtol": 1e-10, "atol": 1e-12}
    found = kn.simulate(kn.loads(f"{text} state z : z' = atan2(sin(7*x), cos(7*x));"), end, **fine)
    rest = np.remainder(7 * end + np.pi, 2 * np.pi) - np.pi
    assert found["z"][-1] == pytest.approx(rest**2 / 14, abs=1e-8)
    assert found.steps < kn.simulate(kn.loads(text), end, **fine).steps + 20 * 12


@pytest.mark.slow
def test_many_pulses_of_a_place_in_cases_of_an_ensemble() -> None:
    """Lanes look for the pulses of their own guards."""
    system = kn.loads(f"{CAR}parameters k = 20; state z : z' = step(sin(k*x) - 0.999); initial x' = 1;")
    p = np.array([[1.0, k] for k in (3.0, 11.0, 20.0, 31.0)])
    found = kn.simulate(system, 10.0, p=p)
    pulses = np.floor((10.0 * p[:, 1] - np.pi / 2) / (2 * np.pi)) + 1
    np.testing.assert_allclose(found["z"][:, -1], 2 * np.arccos(0.999) / p[:, 1] * pulses, rtol=1e-8)


def test_a_step_of_a_bent_function_of_the_time_costs_few_steps() -> None:
    """Bounds over a long time may be useless where those over a short one tell the place."""
    found = kn.simulate(kn.loads(f"{CAR}force f = step(1/(1 + exp(-(t - 2)*10)) - 0.3) on x;"), 10.0)
    assert found["x'"][-1] == pytest.approx(8.0 - np.log(0.3 / 0.7) / 10, abs=1e-12)
    assert found.steps < 30


def test_a_force_of_constant_size_towards_a_place() -> None:
    """-sign(x) from a start on its step: parabolas of the period 4 v0."""
    found = kn.simulate(kn.loads(f"{CAR}force f = -sign(x) on x; initial x' = 1;"), 101.0)
    assert found["x"][-1] == pytest.approx(0.5, abs=1e-8)
    assert found["x'"][-1] == pytest.approx(0.0, abs=1e-8)
    assert found.steps < 500


def test_a_rectifier() -> None:
    """z' = max(0, sin(10 t))."""
    found = kn.simulate(kn.loads(f"{CAR}state z : z' = max(0, sin(10*t));"), float(np.pi))
    assert found["z"][-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_friction_by_sign_lets_go_and_holds() -> None:
    """A force that turns the motion back at its own step: with a spring it passes, alone it comes to rest."""
    found = kn.simulate(kn.loads(f"{CAR}force f = -10*x - 2*sign(x') on x; initial x = 5;"), 3.0)
    assert found.success
    stuck = kn.simulate(kn.loads(f"{CAR}force f = -sign(x') on x; initial x' = 1;"), 3.0)
    assert stuck.success
    assert stuck["x'"][-1] == pytest.approx(0.0, abs=1e-12)


def test_a_rest_on_a_kink_costs_nothing() -> None:
    """max(0, x) at x = 0."""
    found = kn.simulate(kn.loads(f"{CAR}force f = max(0, -9*x) on x;"), 10.0)
    assert found["x"][-1] == 0.0
    assert found.steps < 20


@pytest.mark.slow
def test_contacts_feel_pulses() -> None:
    """A box that rests with friction is pushed for 0.2 s: v = (30 - 5) 0.2 - 5 0.4."""
    text = "Car | Sx(x), Sz(z) = 1; coordinates x, z; gravity (0, 0, -10);"
    push = "force f = if(t > 5 and t < 5.2, 30, 0) on x; contact c : point between Car and ground axis (0, 0, 1), friction = 0.5;"
    found = kn.simulate(kn.loads(f"{text} {push}"), 5.6)
    assert found["x'"][-1] == pytest.approx(3.0, abs=1e-11)
    assert [what for _, what in found.changes] == ["c slips"]
    many = kn.simulate(kn.loads(f"{text} {push}"), 5.6, q=np.zeros((3, 2)))
    np.testing.assert_allclose(many["x'"][:, -1], 3.0, atol=1e-11)


FRICTION_IN_PULSES = [
    ("friction r = if(t > a and t < a + 0.001, 1000, 0) on x; initial x' = 5;", 4.0),
    ("friction r = if(x > a and x < a + 0.01, 100, 0) on x; initial x' = 5;", np.sqrt(23.0)),
    ("friction r = 1, static = 1 + if(t > a and t < a + 0.001, 0.1, 5) on x; force f = 3 on x;", 4.0),
    (
        "contact c : point between Car and ground axis (0, 0, 1), friction = if(t > a and t < a + 0.01, 10, 0); initial x' = 5;",
        4.0,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "speed"), FRICTION_IN_PULSES)
def test_dry_friction_that_jumps(friction: str, speed: float) -> None:
    """Friction takes away its impulse, or its work, however short it acts; in ensembles, too."""
    text = "parameters a = 1; Car | Sx(x), Sz(z) = 1; coordinates x, z; gravity (0, 0, -10);"
    system = kn.loads(f"{text} constraint k : z = 0; {friction}" if "contact" not in friction else f"{text} {friction}")
    assert kn.simulate(system, 3.0)["x'"][-1] == pytest.approx(speed, abs=1e-9)
    many = kn.simulate(system, 3.0, p=[[1.0], [1.0]])
    np.testing.assert_allclose(many["x'"][:, -1], speed, atol=1e-9)


def test_a_closed_mechanism_feels_pulses() -> None:
    """A bead on a circle, by a constraint: speed and angle after a short moment."""
    text = "B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : x^2 + y^2 = 1; initial x = 1, y = 0;"
    found = kn.simulate(
        kn.loads(
            f"{text} force a = -y*if(t > 3 and t < 3.001, 500, 0) on x; force b = x*if(t > 3 and t < 3.001, 500, 0) on y;"
        ),
        5.0,
    )
    assert np.hypot(found["x'"][-1], found["y'"][-1]) == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize("speed", ["if(t > 2 and t < 3, 1, 0)", "if(x > 2, 1, 0)", "x'*step(t - 2)"])
def test_a_constraint_whose_speed_jumps_ends_the_run(speed: str) -> None:
    """No finite force follows it; the rest of the row, the rate of a step, is zero."""
    text = f"B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : y' = {speed}; initial x' = 1;"
    found = kn.simulate(kn.loads(text), 5.0)
    assert not found.success
    assert found.t[-1] == pytest.approx(2.0, abs=1e-9)
    assert "'c' has a kink or a step there" in found.message


def test_a_constraint_whose_speed_bends() -> None:
    """y = 1.5."""
    text = "B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : y' = table(t; (0, 0), (2, 1), (3, 0));"
    assert kn.simulate(kn.loads(text), 5.0)["y"][-1] == pytest.approx(1.5, abs=1e-12)


# -- smooth models, tables ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_smooth_table_costs_few_steps() -> None:
    """Knots at which a spline jumps by less than the tolerance end no steps."""
    t = np.linspace(0.0, 10.0, 100)
    points = ", ".join(f"({a!r}, {b!r})" for a, b in zip(t.tolist(), np.sin(t / 2).tolist(), strict=True))
    found = kn.simulate(kn.loads(f"{CAR}force f = table(t; natural; {points}) on x;"), 10.0, rtol=1e-6)
    assert found["x'"][-1] == pytest.approx(2 * (1 - np.cos(5.0)), abs=1e-4)
    assert found.steps < 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cubic", "monotone"])
def test_a_smooth_table_of_rough_values_stops_at_knots(kind: str) -> None:
    """Noise: the work of a run is that of a linear table, and as exact."""
    t, rng = np.linspace(0.0, 10.0, 50), np.random.default_rng(3)
    y = (np.sin(3 * t) + 0.3 * rng.normal(size=50)).round(6)
    points = ", ".join(f"({a!r}, {b!r})" for a, b in zip(t.tolist(), y.tolist(), strict=True))
    found = kn.simulate(kn.loads(f"{CAR}force f = table(t; {kind}; {points}) on x;"), 10.0)
    spline = scipy.interpolate.CubicSpline if kind == "cubic" else scipy.interpolate.PchipInterpolator
    assert found["x'"][-1] == pytest.approx(float(spline(t, y).integrate(0.0, 10.0)), abs=1e-13)
    assert found.nfev < 1500


def test_integrals_of_goals_resolve_their_steps() -> None:
    """Integrands that no force contains."""
    system = kn.loads("A | Sx(x) = 1; coordinates x; parameters a = 0.5, b = 0.51; initial x' = 1;")
    x, a, b, t = kn.symbols("x a b t")
    goals: list[tuple[Any, float]] = [
        (kn.step(x - a), 1.5),
        (kn.step(t - a) * kn.step(b - t), 0.01),
        (kn.step(x - a) * kn.step(b - x), 0.01),
        (abs(x - a), 1.25),
    ]
    for goal, exact in goals:
        value, gradient = (one := kn.objective(system, 2.0, ["a"], integral=goal)).value_and_gradient(one.x0)
        assert value == pytest.approx(exact, abs=1e-12)
        assert gradient == pytest.approx([-1.0], abs=1e-9)


def test_derivatives_through_pulses_of_rates_say_what_steps() -> None:
    """z = A w."""
    text = "A | Sx(x) = 1; coordinates x; parameters a = 0.5, w = 0.01, A = 7; state z : z' = if(t > a and t < a + w, A, 0);"
    found = kn.sensitivity(kn.loads(text), 2.0, ["a", "w", "A"], samples=2)
    np.testing.assert_allclose(found["z"][-1], [0.0, 7.0, 0.01], atol=1e-9)
    assert "the rate of 'z' steps at 0.5 s" in found.notes[0]


# -- energies that jump -------------------------------------------------------------------------------------------------

#: Potentials of a car at x = 1 at rest at t = 1: stiffness and length of its spring jump there.
JUMPING = [
    ("potential p = if(t > 1, 50*x^2, 0);", 10.0, 0.0),
    ("potential p = if(t >= 1, 50*x^2, 0);", 10.0, 0.0),
    ("spring s = 100*step(t - 1), 0.5 between Car and ground;", 10.0, 0.5),
    ("spring s = 100, if(t < 1, 1, 0.5) between Car and ground;", 10.0, 0.5),
]


@pytest.mark.parametrize(("text", "w", "middle"), JUMPING)
@pytest.mark.parametrize("method", ["dop853", "CVODE", "IDA", *slow(["Radau"])])
def test_what_the_time_adds_at_once_is_work(text: str, w: float, middle: float, method: str) -> None:
    """The motion is a cosine about the middle, and the work the energy of it, at the times of steps and at given ones."""
    if method in (*CVODE, IDA):
        pytest.importorskip("sksundae")
    system = kn.loads(f"{CAR}{text} initial x = 1;")
    for samples in (None, 9):
        found = kn.simulate(system, 2.0, method=method, samples=samples)
        assert found.success
        assert found["x"][-1] == pytest.approx(middle + (1 - middle) * np.cos(w), abs=1e-6)
        assert found.work[-1] == pytest.approx(0.5 * (w * (1 - middle)) ** 2, rel=1e-6)
        assert found.energy_balance < 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_random_stiffnesses_that_jump(seed: int) -> None:
    """The work is the sum of k x^2/2 of the jumps of k; each piece of the motion is a rotation."""
    rng = np.random.default_rng(seed)
    times, k = np.sort(rng.uniform(0.0, 4.0, 6)), rng.uniform(1.0, 90.0, 7)
    rows = " + ".join(f"({float(b - a)!r})*step(t - {t!r})" for a, b, t in zip(k, k[1:], times.tolist(), strict=False))
    system = kn.loads(f"{CAR}potential p = ({float(k[0])!r} + {rows})*x^2/2; initial x = 1, x' = 0.3;")
    x, v, work, t = 1.0, 0.3, 0.0, 0.0
    for now, before, after in zip(np.append(times, 4.0), k, np.append(k[1:], k[-1]), strict=True):
        w = np.sqrt(before)
        c, s = np.cos(w * (now - t)), np.sin(w * (now - t))
        x, v, t = c * x + s * v / w, c * v - s * w * x, now
        work += 0.5 * (after - before) * x**2
    found = kn.simulate(system, 4.0, rtol=1e-11, atol=1e-12)
    assert (found["x"][-1], found["x'"][-1], found.work[-1]) == pytest.approx((x, v, work), rel=1e-8)
    back = kn.simulate(system, (4.0, 0.0), q=found.q[-1], v=found.v[-1], rtol=1e-11, atol=1e-12)
    assert (back["x"][-1], back["x'"][-1], back.work[-1]) == pytest.approx((1.0, 0.3, -work), rel=1e-7)
    assert max(found.energy_balance, back.energy_balance) < 1e-9


def test_cases_count_their_own_jumps() -> None:
    """At a sample on the jump, too."""
    system = kn.loads(f"{CAR}parameters k = 50, s = 1; potential p = if(t > s, k*x^2, 0); initial x = 1;")
    found = kn.simulate(system, 2.0, p=[[1.0, 50.0, 1.0], [1.0, 20.0, 0.5], [1.0, 5.0, 1.23]], samples=9)
    # The place at a jump is that of a run at the default tolerance, 1e-9 a step.
    np.testing.assert_allclose(found.work[:, -1], [50.0, 20.0, 5.0], rtol=1e-7)
    assert np.max(found.energy_balance) < 1e-7


def test_a_mass_that_is_driven_at_another_speed() -> None:
    """The kinetic energy of what the time alone moves jumps; what it carries along would have to jump, and ends the run."""
    lift = "Lift | Sx({}) = 2 kg; Car | Sx(x) = m; coordinates x; parameters m = 1 kg; initial x' = 0.5;"
    found = kn.simulate(kn.loads(lift.format("table(t; (0, 0), (1, 0), (2, 3), (3, 3))")), 3.0)
    assert found.energy_balance < 1e-12
    carried = kn.loads("Car | Sx(x + table(t; (0, 0), (5, 0), (6, 1), (10, 5))) = 1 kg; coordinates x;")
    for method in ("dop853", "Radau"):
        found = kn.simulate(carried, 10.0, method=method)
        assert not found.success
        assert found.t[-1] == pytest.approx(5.0, rel=1e-12)
        assert "'Car' has a kink or a step there, 'table(t; " in found.message
        assert "make it smooth, as a cubic table is" in found.message


@pytest.mark.parametrize("method", ["dop853", "Radau"])
def test_a_mass_whose_place_jumps_ends_the_run(method: str) -> None:
    """Whatever jumps of it; what carries no mass, or what no coordinate moves, may jump."""
    for text in ("Car | Sx(x + floor(t)) = 1 kg;", "Car | Rz(x + if(t > 1, 1, 0)) = 0, 1, 1, 1;"):
        found = kn.simulate(kn.loads(f"{text} coordinates x; initial x' = 0.3;"), 3.0, method=method)
        assert not found.success
        assert found.t[-1] == pytest.approx(1.0, rel=1e-12)
        assert "'Car' has a kink or a step there" in found.message
    sound = """frame P | Sx(floor(t)); Lift | Sx(floor(t)) = 1 kg; Car | Sx(x) = 1 kg; coordinates x;
        spring s = 1 N/m between P and Car;"""
    assert kn.simulate(kn.loads(sound), 3.0, method=method).success


@pytest.mark.parametrize("method", ["dop853", "Radau"])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_mass_whose_place_jumps_with_the_state_ends_the_run(method: str, way: float) -> None:
    """In either direction, and by whatever it is told; what is continuous goes on."""
    for text, at in (
        ("Car | Sx(x + step(y - 0.7)), Sy(y) = 1 kg; coordinates x, y; initial y = 0.7 - w, y' = w;", 1.0),
        ("Car | Rz(x + if(x > 0.7, 1, 0)) = 0, 1, 1, 1; coordinates x; initial x = 0.7 - w, x' = w;", 1.0),
        ("Car | Sx(x + floor(x - t + 0.3)) = 1 kg; coordinates x; initial x = 0.2, x' = 1 + w/2;", 1.0),
        (
            "Car | Sx(x + step(table(1; (0, 0), (2, y)) - 0.35)), Sy(y) = 1 kg; coordinates x, y; initial y = 0.7 - w, y' = w;",
            1.0,
        ),
    ):
        model = kn.loads(f"parameters w = {way}; {text}")
        found = kn.simulate(model, 3.0, method=method)
        assert not found.success
        assert found.t[-1] == pytest.approx(at, abs=1e-6), text
        assert "'Car' has a kink or a step there" in found.message
    for c in (0.7, 0.0):
        sound = f"Car | Sx(x + if(x > {c}, (x - {c})^2, 0)) = 1 kg; coordinates x; initial x = {c} - w/4, x' = w;"
        assert kn.simulate(kn.loads(f"parameters w = {way}; {sound}"), 1.0, method=method).success


def test_of_many_motions_those_end_that_come_to_where_a_place_jumps() -> None:
    model = kn.loads("Car | Sx(x + step(x - 1)) = 1 kg; coordinates x;")
    found = kn.simulate(model, 3.0, v=[[0.2], [0.5], [-0.5]])
    assert [found.case(k).success for k in range(3)] == [True, False, True]


@pytest.mark.parametrize("method", ["auto", "moreau"])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_mass_above_a_floor_whose_place_jumps_ends_the_run(method: str, way: float) -> None:
    """By the sentence of a run without contacts, by time stepping and where a run could go over to it; in front of the jump."""
    floor = "gravity 9.81; parameters w = 1; coordinates x, y, z; initial y = -w, y' = w;"
    floor += "contact c : point between Car and ground axis (0, 0, 1);"
    for place, at in (("x + step(y)", 1.0), ("x + floor(t/0.7)", 0.7), ("x + if(y > 0.3 and w > 0, 1, 0)", 1.3)):
        model = kn.loads(f"{floor} Car | Sx({place}), Sy(y), Sz(z) = 1 kg;")
        found = kn.simulate(model, 2.0, p={"w": way}, method=method)
        if way < 0 and at > 1:
            assert found.success, found.message
            continue
        assert found.status == -1
        assert found.t[-1] == pytest.approx(at, abs=1e-6), place
        assert "'Car' has a kink or a step there" in found.message
        assert found.y[:, -1] == pytest.approx([0, way * (at - 1), 0, 0, way, 0], abs=1e-6)
    sound = "Car | Sx(x + if(y > 0, y^2, 0)), Sy(y), Sz(z) = 1 kg; frame Far | Sx(floor(3*t));"
    assert kn.simulate(kn.loads(floor + sound), 2.0, p={"w": way}, method=method).success


def test_of_many_stepped_motions_those_end_that_come_to_where_a_place_jumps() -> None:
    """And where one of many bodies jumps, all end."""
    text = "gravity 9.81; Car | Sx(x + step(x - 1)), Sz(z) = 1 kg; coordinates x, z;"
    text += "contact c : point between Car and ground axis (0, 0, 1);"
    found = kn.simulate(kn.loads(text), 3.0, v={"x'": [0.2, 0.5, -0.5]}, method="moreau")
    assert [found.case(k).success for k in range(3)] == [True, False, True]
    assert found.case(1).t[-1] == pytest.approx(2.0, abs=1e-6)
    text = "".join(
        f"B{k} | Sx(x{k} + step(x{k} - {k}/4)), Sz(z{k}) = 1; coordinates x{k}, z{k}; initial z{k} = {0.21 * k - 0.1};"
        for k in (1, 2)
    )
    text += "gravity 9.81; contact pile : box = 0.2, 0.2, 0.2 among B1, B2 and plane among ground axis (0, 0, 1);"
    found = kn.simulate(kn.loads(text), 2.0, v={"x1'": 0.2, "x2'": 1.0})
    assert found.status == -1
    assert found.t[-1] == pytest.approx(0.5, abs=1e-6)
    assert "'B2' has a kink or a step there" in found.message


def test_a_potential_that_jumps_with_the_place_is_no_work() -> None:
    """It asks for an infinite force, which the motion lacks, and the balance tells."""
    with pytest.warns(kn.KinetaWarning, match="balance"):
        found = kn.simulate(kn.loads(f"{CAR}potential p = if(x > 1.5, 0.1, 0); initial x' = 1;"), 3.0)
    assert found.energy_balance > 0.1


# -- smooth tables of a place -------------------------------------------------------------------------------------------


_SPLINES: dict[str, Callable[[FloatArray, FloatArray], Any]] = {
    "natural": lambda x, y: scipy.interpolate.CubicSpline(x, y, bc_type="natural"),
    "cubic": scipy.interpolate.CubicSpline,
    "monotone": scipy.interpolate.PchipInterpolator,
    "quintic": lambda x, y: scipy.interpolate.make_interp_spline(x, y, 5),
}


def _track(kind: str, seed: int) -> tuple[str, float]:
    """A mass that a force by a random table slows down and speeds up on its way, and the time it takes: the integral of 1/v, by
    Gauss's formula on each piece.
    """
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.3, 0.8, 12)).round(3)
    y = rng.normal(0.0, 2.0, 12).round(3)
    work = _SPLINES[kind](x, y).antiderivative()
    nodes, weights = np.polynomial.legendre.leggauss(24)
    ends = np.linspace(x[:-1], x[1:], 5).T
    a, h = ends[:, :-1].ravel(), np.diff(ends).ravel()
    places = a[:, None] + h[:, None] * (1 + nodes) / 2
    time = np.sum(h[:, None] / 2 * weights / np.sqrt(9.0 + 2 * (work(places) - work(x[0]))))
    points = ", ".join(f"({a!r}, {b!r})" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    start = f"initial x = {float(x[0])!r}; initial x' = 3; output gone = x - {float(x[-1])!r};"
    return f"{CAR}force f = table(x; {kind}; {points}) on x; {start}", float(time)


@pytest.mark.parametrize("kind", _SPLINES)
@pytest.mark.parametrize("seed", range(2))
def test_tables_of_a_place_are_as_exact_as_the_tolerance(kind: str, seed: int) -> None:
    """The time of a passage over all knots, alone and in cases."""
    text, time = _track(kind, seed)
    system = kn.loads(text)
    gone = kn.Event(system.outputs["gone"], terminal=True)
    for rtol in (1e-6, 1e-8, 1e-10):
        found = kn.simulate(system, 2 * time, events=gone, rtol=rtol, atol=rtol)
        assert found.t[-1] == pytest.approx(time, rel=20 * rtol), rtol
        assert found.nfev < 1500
    cases = kn.simulate(system, time, v=np.array([[3.0], [4.0]]), rtol=1e-10, atol=1e-10)
    assert cases["gone"][0, -1] == pytest.approx(0.0, abs=1e-8)


def test_tables_whose_values_are_parameters_are_as_exact() -> None:
    """Nothing is known of their jumps when the model is compiled."""
    text, time = _track("cubic", 0)
    points = re.findall(r"\(([^()]*), ([^()]*)\)", text)
    named = ", ".join(f"u{k} = {y}" for k, (_, y) in enumerate(points))
    for k, (x, y) in enumerate(points):
        text = text.replace(f"({x}, {y})", f"({x}, u{k})")
    system = kn.loads(text.replace("m = 1 kg", f"m = 1 kg, {named}"))
    gone = kn.Event(system.outputs["gone"], terminal=True)
    found = kn.simulate(system, 2 * time, events=gone, rtol=1e-10, atol=1e-10)
    assert found.t[-1] == pytest.approx(time, rel=2e-9)
