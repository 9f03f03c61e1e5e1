"""Derivatives through events, against closed forms and central differences of runs at high precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from tests.models import COMPASS, EXAMPLES

TEXTS = {
    "incline": """model incline; gravity 9.81; parameters e = 0.6, m = 1, alpha = 0.3, mu = 0.1, J = 0.004;
        Ball | Sx(x), Sz(z), Ry(w) = m(m), Jy(J*m); frame Slope | Ry(alpha);
        contact floor : ball = 0.1 between Ball and Slope axis (0, 0, 1), restitution = e, friction = mu;
        initial z = 1.0, x = 0, w' = 1;""",
    "thermostat": """model thermostat; parameters heat = 1, low = -0.2, high = 0.2, k = 0.5; T | Sx(x) = m(1);
        force f = heat - k*x' on x; initial x = 0, x' = 0;
        when up : x' >= high : heat = -1 + 0.3*x; when down : x' <= low : heat = 1;""",
    "limit": """gravity 9.81; parameters l = 1, stop = 0.3, e = 0.5; A | Ry(q), Sz(-l) = 1; coordinates q;
        limit L : q <= stop, restitution = e; damper d = 0.1 on q; initial q = -1;""",
    "crank": """gravity (0, -9.81, 0); parameters l1 = 0.15, l2 = 0.3, stop = 1.0, e = 0.5; coordinates phi1, phi2;
        Crank | Rz(phi1) = m(1), Jz(0.01); Rod ~ Crank | Sx(l1), Rz(phi2 - phi1) = m(0.3), Jz(0.003), com = (l2/2, 0, 0);
        Block ~ Rod | Sx(l2) = m(0.2); loop slot : line between ground axis (1, 0, 0) and Block;
        limit s : phi1 <= stop, restitution = e;
        initial phi1 = 0.2, phi1' = 8, phi2 = -asin(l1*sin(0.2)/l2),
            phi2' = -8*l1*cos(0.2)/l2/sqrt(1 - (l1*sin(0.2)/l2)^2);""",
    "pad": """gravity 9.81; parameters k = 1000, d = 8, m = 1; coordinates x, z; B | Sx(x), Sz(z) = m(m);
        contact floor : point between B and ground axis (0, 0, 1), stiffness = k, damping = d;
        force wind = -0.2*x' + 2*step(x - 0.3) on x; initial z = 0.5, x' = 1;""",
    "flat": """gravity 9.81; parameters e = 0.5, h = 1; coordinates x, z, w; B | Sx(x), Sz(z), Ry(w) = m(1), Jy(0.01);
        point L on B = (-0.1, 0, 0); point R on B = (0.1, 0, 0);
        contact f : point between L, R and ground axis (0, 0, 1), restitution = e; initial z = h;""",
    "grazing": """A | Sx(q) = 1; parameters c = 1; spring s = c on q; limit L : q <= 1; initial q' = 1;""",
}


def example(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


BALL = example("bouncing_ball")


def model(name: str) -> kn.System:
    return kn.loads(TEXTS[name]) if name in TEXTS else COMPASS if name == "compass" else example(name)


def differences(system: kn.System, t: float, name: str, h: float) -> FloatArray:
    """Central differences of fourth order of the state at the end of runs at high precision."""
    found = kn.simulate(system, (0.0, 1e-9), method="events")
    known = {p.name: p.value for p in system.parameters}
    known |= dict(zip((*system.q_names, *system.v_names), (*found.q[0], *found.v[0]), strict=True))
    x = float(known[name] or 0.0)
    h *= max(1.0, abs(x))

    def end(value: float) -> FloatArray:
        block = "q" if name in system.q_names else "v" if name in system.v_names else "p"
        given: dict[str, Any] = {block: {name: value}}
        run = kn.simulate(system, t, rtol=1e-13, atol=1e-14, method="events", samples=2, **given)
        return np.concatenate([run.q[-1], run.v[-1]])

    return (8 * (end(x + h) - end(x - h)) - (end(x + 2 * h) - end(x - 2 * h))) / (12 * h)


CASES = [
    ("incline", 1.2, ("e", "alpha", "mu", "w'"), 1e-5, 1e-8),
    ("rocking_block", 0.6, ("tilt", "b"), 1e-6, 1e-7),
    ("hopper", 0.45, ("c", "push", "x'"), 1e-5, 1e-6),
    ("compass", 1.5, ("slope", "s'", "a"), 1e-6, 1e-7),
    ("friction_oscillator", 12.0, ("F", "k", "x"), 1e-5, 1e-7),
    ("thermostat", 2.5, ("k", "high", "heat", "x'"), 1e-5, 1e-8),
    ("limit", 2.5, ("l", "stop", "e", "q"), 1e-5, 1e-8),
    ("crank", 0.4, ("stop", "e", "l1"), 1e-5, 1e-8),
    ("sliding_block", 5.5, ("mu", "mu_s", "rate"), 1e-5, 1e-8),
]


@pytest.mark.parametrize(("name", "t", "by", "h", "digits"), CASES, ids=[c[0] for c in CASES])
def test_derivatives_through_events_are_those_of_neighbouring_motions(
    name: str, t: float, by: tuple[str, ...], h: float, digits: float
) -> None:
    system = model(name)
    found = kn.sensitivity(system, t, by, samples=2)
    own = np.concatenate([found.q_by[-1], found.v_by[-1]])
    for k, variable in enumerate(by):
        expected = differences(system, t, variable, h)
        assert own[:, k] == pytest.approx(expected, abs=digits * max(1.0, float(np.abs(expected).max()))), variable
    assert found.notes[0].startswith("the derivatives hold for th")


@pytest.mark.slow
def test_a_thrown_box_has_derivatives_through_thirty_changes() -> None:
    system, by = example("thrown_box"), ("a", "box.vx", "box.wy")
    found = kn.sensitivity(system, 0.6, by, samples=2)
    own = np.concatenate([found.q_by[-1], found.v_by[-1]])
    for k, variable in enumerate(by):
        assert own[:, k] == pytest.approx(differences(system, 0.6, variable, 1e-6), abs=2e-6), variable


def bounces(n: int, z: float, e: float, g: float = 9.81, r: float = 0.05) -> tuple[float, float]:
    """The time of the impact number *n* of a ball that falls from *z*, and the speed after it."""
    fall, v = np.sqrt(2 * (z - r) / g), np.sqrt(2 * g * (z - r))
    return fall + sum(2 * v * e**k / g for k in range(1, n)), v * e**n


def test_a_ball_that_bounces_has_the_derivatives_of_the_closed_form() -> None:
    z, e, g = 1.05, 0.7, 9.81

    def height(z: float, e: float) -> FloatArray:
        t, v = bounces(4, z, e)
        return np.array([0.05 + v * (2.0 - t) - g * (2.0 - t) ** 2 / 2, v - g * (2.0 - t)])

    found = kn.sensitivity(BALL, 2.0, ["z", "e", "x'", "m"], samples=2)
    h = 1e-20  # a complex step
    exact = np.stack([height(z + 1j * h, e).imag / h, height(z, e + 1j * h).imag / h], axis=1)  # type: ignore[arg-type]
    own = np.stack([found["z"][-1, :2], found["z'"][-1, :2]])
    assert own == pytest.approx(exact, rel=1e-8)
    assert found["x"][-1] == pytest.approx([0, 0, 2, 0], abs=1e-9)
    assert found.notes == (
        "the derivatives hold for these 4 changes in this order: floor strikes at 0.451524 s, floor strikes at 1.08366 s, "
        "floor strikes at 1.52615 s, floor strikes at 1.8359 s",
    )


@pytest.mark.slow
def test_derivatives_go_through_an_accumulation_of_impacts_into_rest() -> None:
    found = kn.sensitivity(BALL, 4.0, ["z", "e", "x'"], t_eval=[2.5, 4.0])
    assert np.abs(found["z"][-1]).max() < 1e-7 < np.abs(found["z"][0]).max()
    assert found["x"][-1] == pytest.approx([0, 0, 4], abs=1e-8)


def test_forces_that_step_are_events() -> None:
    system = model("pad")
    found = kn.sensitivity(system, 0.9, ["k", "d", "z", "x'"], samples=2)
    own = np.concatenate([found.q_by[-1], found.v_by[-1]])
    for k, name in enumerate(("k", "d", "z", "x'")):
        expected = differences(system, 0.9, name, 1e-5)
        assert own[:, k] == pytest.approx(expected, abs=3e-6 * max(1.0, float(np.abs(expected).max()))), name
    assert "a force steps at 0.319275 s" in found.notes[0]


@pytest.mark.slow
def test_goals_and_objectives_go_through_impacts() -> None:
    z, x = kn.symbol("z"), kn.symbol("x'")
    goal = kn.objective(BALL, 2.0, ["e", "z"], final=z**2, integral=x * z, rtol=1e-11)
    value, gradient = goal.value_and_gradient(goal.x0)

    def change(d: FloatArray) -> float:
        return goal(goal.x0 + d) - goal(goal.x0 - d)

    h = 1e-5 * np.eye(2)
    assert gradient == pytest.approx([(8 * change(d) - change(2 * d)) / 12e-5 for d in h], rel=1e-8)
    back = kn.objective(BALL, 2.0, ["e", "z"], final=z**2, integral=x * z, adjoint=True)
    assert back.value_and_gradient(back.x0)[1] == pytest.approx(gradient, rel=1e-7)
    assert value == pytest.approx(
        kn.sensitivity(BALL, 2.0, ["e"], goals={"J": x * z}, samples=2).value("J")[-1]
        + (kn.simulate(BALL, 2.0, samples=2)["z"][-1] ** 2),
        rel=1e-8,
    )


def test_a_restitution_is_fitted_to_bounces() -> None:
    run = kn.simulate(BALL, 2.0, samples=50, p={"e": 0.68})
    assert kn.fit(BALL, run, ["e"]).x == pytest.approx([0.68], rel=1e-9)


def test_events_at_one_time_have_derivatives_where_they_stay_together() -> None:
    flat = model("flat")
    found = kn.sensitivity(flat, 0.8, ["h", "e"], samples=2)
    t, v = np.sqrt(2 / 9.81), np.sqrt(2 * 9.81)
    assert found["z"][-1, 1] == pytest.approx(v * (0.8 - t), rel=1e-8)


SENTENCES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: kn.sensitivity(model("flat"), 0.8, ["w"]),
        "'f.L' and 'f.R' come at one time, and change their order as things",
    ),
    (
        lambda: kn.sensitivity(model("grazing"), 3.0, ["q'"]),
        "'L.upper' grazes its condition: neighbouring motions meet it",
    ),
    (
        lambda: kn.sensitivity(example("rocking_block"), 0.1, ["x", "z"]),
        "'floor.Right' touches at the start, and what varies would part, press in or move it there",
    ),
    (lambda: kn.sensitivity(BALL, (1.0, 0.0), ["e"]), "forwards in time only; t falls from 1 s."),
]


@pytest.mark.parametrize(("call", "message"), SENTENCES, ids=[text[:30] for _, text in SENTENCES])
def test_where_there_is_no_derivative_there_is_a_sentence(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kn.KinetaError) as caught:
        call()
    assert message in str(caught.value)


SPRUNG = """parameters k = 4, a = 0.2, b = 0.9, F = 3; B | Sx(x) = 1; coordinates x;
spring s = k on x; force f = {} on x; initial x = 1;"""


@pytest.mark.parametrize(
    ("force", "size"),
    [("F*step(t - a)", -1.0), ("F*step(a - t)", 1.0), ("F*sign(t - a)", -2.0), ("F*step(t - a)*step(b - t)", -1.0)],
)
def test_steps_in_time_move_the_motion(force: str, size: float) -> None:
    """x changes by an impulse of the step at the time a: dx/da = size F sin(w (T - a))/w."""
    system, T = kn.loads(SPRUNG.format(force)), 1.4
    expected = size * 3 * np.sin(2 * (T - 0.2)) / 2
    found = kn.sensitivity(system, T, by=["a"])
    assert found["x"][-1, 0] == pytest.approx(expected, rel=1e-8)
    assert "a force steps at 0.2 s" in found.notes[0]
    value = kn.objective(system, T, by=["a"], final=kn.symbol("x"))
    assert value.gradient([0.2]) == pytest.approx([expected], rel=1e-8)


def test_goals_that_step_are_derived_through_the_step() -> None:
    """The time at which x = cos(2 t) is above a is acos(a)/2; with x(0) as a factor acos(a/x0)/2."""
    system = kn.loads("parameters k = 4, a = 0.2; B | Sx(x) = 1; coordinates x; spring s = k on x; initial x = 1;")
    found = kn.sensitivity(system, 1.5, by=["a", "x"], goals={"above": kn.step(kn.symbol("x") - kn.symbol("a"))})
    slope = 1 / (2 * np.sqrt(1 - 0.2**2))
    assert found["above"][-1] == pytest.approx([-slope, 0.2 * slope], rel=1e-8)


def test_boxes_on_boxes_are_refused_by_a_sentence() -> None:
    system = kn.loads("""gravity 9.81; A | Free(a) = 1, 0.01, 0.01, 0.01; B | Free(b) = 1, 0.01, 0.01, 0.01;
    contact c : box = 0.2, 0.2, 0.2 on box = 0.2, 0.2, 0.2 between B and A, friction = 0.5; initial b.z = 0.35;""")
    with pytest.raises(kn.SimulationError, match="all 84 places that may touch"):
        kn.sensitivity(system, 0.1, ["b.Sz"])


def test_contacts_whose_friction_nothing_tells_apart_are_named() -> None:
    feet = "".join(
        f"point Foot[{k}] on Plate = ({x}, {y}, -0.1);"
        for k, (x, y) in enumerate([(0.3, 0.2), (-0.3, 0.2), (0.3, -0.25), (-0.3, -0.2)], 1)
    )
    plate = kn.loads(
        f"gravity 9.81; parameters mu = 0.3; Plate | Free(b) = 2, 0.05, 0.05, 0.09; {feet}"
        "for i in 1..4 : contact foot[i] : point between Foot[i] and ground axis (0, 0, 1), friction = mu;"
        "contact far : point between Plate and ground at (0, 0, -9) axis (0, 0, 1), friction = mu;"
        "initial b.z = 0.1, b.vx = 1, b.wz = 3;"
    )
    with pytest.raises(kn.SimulationError) as error:
        kn.sensitivity(plate, by=["mu"], t=[0, 0.1])
    assert "the contacts 'foot[1]', 'foot[2]', 'foot[3]', 'foot[4]' share friction that nothing tells apart" in str(
        error.value
    )
