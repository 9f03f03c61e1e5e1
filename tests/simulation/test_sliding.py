"""Motions that slide along surfaces where a force or a rate jumps, against closed forms and dry friction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import kineta as kn
from kineta.integration.external import IDA
from kineta.kernels.sliding.sides import share_weights
from kineta.runtime.compiled import bind_system
from kineta.runtime.constraint_treatment import FREE
from kineta.runtime.functions import HELD

CAR = "coordinates x; Car | Sx(x) = 1;"
CROSS = "coordinates x, y; Car | Sx(x), Sy(y) = 1;"
PUSH = "force u = A*sin(t) + 0.3*cos(2.7*t) on x; parameters A = 1.5; initial x' = 1;"
FINE = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.slow
def test_a_relay_is_dry_friction() -> None:
    """-sign(x') beside the friction of 1: the mass sticks and slips."""
    times = np.linspace(0.0, 20.0, 201)
    relay = kn.simulate(
        kn.loads(f"{CAR}{PUSH}force f = -sign(x') on x; output r = -sign(x');"), 20.0, t_eval=times, **FINE
    )
    dry = kn.simulate(kn.loads(f"{CAR}{PUSH}friction f = 1 on x;"), 20.0, t_eval=times, **FINE)
    np.testing.assert_allclose(relay["x"], dry["x"], atol=1e-10)
    np.testing.assert_allclose(relay["x'"], dry["x'"], atol=1e-10)
    held = np.abs(dry["x'"]) < 1e-13
    assert 20 < held.sum() < 180
    load = 1.5 * np.sin(times) + 0.3 * np.cos(2.7 * times)
    np.testing.assert_allclose(relay["r"][held], -load[held], atol=1e-9)
    assert relay.success
    assert relay.steps < 200


def test_a_number_over_its_magnitude_is_its_sign() -> None:
    """Up to 5 s, when 0.3 N a second overcome 1.5 N; at rest x'/|x'| has no value but as a sign."""
    for written in ("sign(x')", "x'/abs(x')", "x'*sin(1)/|x'|/sin(1)"):
        found = kn.simulate(kn.loads(f"{CAR}force f = -1.5*{written} on x; force u = 0.3*t on x;"), 6.0)
        assert found.success
        assert found["x'"][-1] == pytest.approx(0.15, abs=1e-9)


def test_changes_tell_where_a_motion_slides() -> None:
    """From x' = 1 against 1 N: at rest from 1 s on; a load of t/4 lets it go at 4 s."""
    found = kn.simulate(
        kn.loads(f"{CAR}force f = -sign(x') on x; force u = step(t - 2)*t/4 on x; initial x' = 1;"), 5.0
    )
    (began, how), (ended, where) = found.changes
    assert (began, ended) == (pytest.approx(1.0, abs=1e-12), pytest.approx(4.0, abs=1e-7))
    assert how == "the motion begins to slide where 'sign(x')' of 'f' (<text>:1:38) jumps"
    assert where == "the motion no longer slides where 'sign(x')' of 'f' (<text>:1:38) jumps"
    assert found["x'"][-1] == pytest.approx(0.125, abs=1e-10)


def test_a_choice_by_a_speed() -> None:
    """Up to x' = 1.5 by 3, then along it: x(10) = 15 - 0.375."""
    found = kn.simulate(kn.loads(f"{CAR}force f = if(x' < 1.5, 3, -1) on x; output f1 = if(x' < 1.5, 3, -1);"), 10.0)
    assert found["x"][-1] == pytest.approx(14.625, abs=1e-12)
    assert found["f1"][-1] == pytest.approx(0.0, abs=1e-12)
    assert found.steps < 30


@pytest.mark.parametrize(
    ("force", "met"),
    [  # from x' = 1: the times between steps of the force, and the integral of 1/(pi - atan(v)) by two others
        ("-floor(3*x') - 0.5", 1 / 7.5 + 1 / 4.5 + 2 / 3),
        ("floor(1 - 2*x') - 0.25", 0.5 / 1.25 + 0.5 / 0.25),
        ("atan2(-x', -1)", quad(lambda v: 1 / (np.pi - np.arctan(v)), 0.0, 1.0)[0]),
        ("atan2(-x', x - 9)", None),
        ("atan2(0, x') - 1", 1.0),
    ],
)
def test_whole_numbers_and_angles_jump(force: str, met: float | None) -> None:
    """It comes to rest where both sides of floor or of the branch cut of atan2 drive it to."""
    found = kn.simulate(kn.loads(f"{CAR}force f = {force} on x; initial x' = 1; output f1 = {force};"), 4.0)
    ((began, _),) = found.changes
    assert found.success
    assert found.steps < 40
    assert met is None or began == pytest.approx(met, abs=1e-9)
    assert found["x'"][-1] == pytest.approx(0.0, abs=1e-12)
    assert found["f1"][-1] == pytest.approx(0.0, abs=1e-9)


def test_an_angle_has_no_cut_to_the_right() -> None:
    """The speed comes to y = 0 with x > 0, through the line where the switching function vanishes, too: nothing jumps."""
    text = f"{CAR}force f = -atan2(x' - 1, {{}}) on x; initial x' = -9;"
    found, plain = (kn.simulate(kn.loads(text.format(x)), 9.0, **FINE) for x in ("2 + sin(x)", "abs(2 + sin(x))"))
    assert not found.changes
    np.testing.assert_allclose(found.y[:, -1], plain.y[:, -1], atol=1e-9)


def test_sliding_mode_control() -> None:
    """On s = 2 x + x' = 0 the disturbance is without effect: x decays as exp(-2 t), and the control cancels it."""
    text = f"{CAR}let s = 2*x + x'; force f = -4*sign(s) on x; force d = sin(3*t) on x; initial x = 1; output u = -4*sign(s);"
    found = kn.simulate(kn.loads(text), 6.0, samples=61, **FINE)
    t, x = found.t[20:], found["x"][20:]
    np.testing.assert_allclose(x, x[0] * np.exp(-2 * (t - t[0])), atol=1e-12)
    np.testing.assert_allclose(found["u"][20:], 4 * x - np.sin(3 * t), atol=1e-9)  # x'' = 4 x there


def test_filippov_in_the_plane() -> None:
    """w' = u/2 - sign(w), u' = 1: onto w = 0 at 1 - 1/sqrt(3) ..., along it up to u = 2, then w = (u - 2)^2/4."""
    text = f"{CAR}state u : u' = 1; state w : w' = u/2 - sign(w); initial w = 0.5;"
    found = kn.simulate(kn.loads(text), 5.0, samples=51)
    u = found["u"]
    met = 2.0 - np.sqrt(2.0)
    expected = np.where(u < met, 0.5 + u**2 / 4 - u, np.where(u < 2.0, 0.0, (u - 2.0) ** 2 / 4))
    np.testing.assert_allclose(found["w"], expected, atol=1e-12)


def test_a_surface_that_is_a_circle() -> None:
    """Radius 2 exp(-t) down to 1, and along it with the angle t."""
    text = f"{CAR}state p : p' = -q - p*sign(p^2 + q^2 - 1); state q : q' = p - q*sign(p^2 + q^2 - 1); initial p = 2;"
    found = kn.simulate(kn.loads(text), 10.0, samples=101, **FINE)
    radius = np.maximum(2 * np.exp(-found.t), 1.0)
    np.testing.assert_allclose(found["p"], radius * np.cos(found.t), atol=2e-10)
    np.testing.assert_allclose(found["q"], radius * np.sin(found.t), atol=2e-10)


@pytest.mark.parametrize("amplitude", [1.0, 1.0 - 1e-9, 1.0 + 1e-6, 1.001])
def test_a_load_that_grazes_the_limit(amplitude: float) -> None:
    """A sin t against friction of 1: at rest for A <= 1, else for a while off rest, by 2 sqrt(2 (A - 1))^3/3 at most."""
    text = f"{CAR}parameters A = 1; force f = -sign(x') on x; force u = A*sin(t) on x;"
    found = kn.simulate(kn.loads(text), 12.0, p={"A": amplitude}, **FINE)
    assert found.success
    assert found.steps < 150
    off, leaves = max(amplitude - 1.0, 0.0), amplitude > 1.0
    rise = 9.0 * off**2 / 2.0  # of x' = off s - s^3/6 ... from -sqrt(2 off) on, to leading order
    assert np.ptp(found["x"]) == pytest.approx(rise if leaves else 0.0, rel=2e-2, abs=1e-11)


def test_two_surfaces_at_once() -> None:
    """A mass between two relays, each of which feels the other, stays where both hold: outputs solve the linear equations."""
    text = (
        f"{CROSS}let a = sign(x'); let b = sign(y'); force f = -a - 0.3*b on x; force g = 0.2*a - b on y; output a, b;"
        "force u = 0.4*sin(t) on x; force w = 0.5*cos(1.7*t) on y; initial x' = 1, y' = 0.5;"
    )
    found = kn.simulate(kn.loads(text), 10.0, samples=101)
    first, second = sorted((how for _, how in found.changes), key=lambda how: "sign(y')" in how)
    assert "slide where 'sign(x')' of 'a'" in first
    assert "slide where 'sign(y')' of 'b'" in second
    late = found.t > 3.0
    np.testing.assert_allclose(found["x'"][late], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["y'"][late], 0.0, atol=1e-12)
    load = np.array([0.4 * np.sin(found.t), 0.5 * np.cos(1.7 * found.t)])[:, late]
    a, b = np.linalg.solve([[1.0, 0.3], [-0.2, 1.0]], load)
    np.testing.assert_allclose(found["a"][late], a, atol=1e-8)
    np.testing.assert_allclose(found["b"][late], b, atol=1e-8)


def test_sides_that_cannot_be_told_apart() -> None:
    """Each relay changes what the other one does: a sentence names both."""
    text = f"{CROSS}force f = -sign(x')*(2 + sign(y')) on x; force g = -sign(y')*(2 + sign(x')) on y; initial x' = 1, y' = 1.5;"
    found = kn.simulate(kn.loads(text), 5.0)
    assert found.steps < 300
    assert "from both sides to where 'sign(x')' of 'f' (<text>:1:" in found.message
    assert "'sign(y')' of 'g'" in found.message
    assert "cannot be told apart" in found.message


@pytest.mark.slow
def test_motions_under_programs_say_that_they_do_not_slide() -> None:
    """The speed beside a program comes to its jump at 1 s."""
    text = f"{CROSS}force f = -sign(y') on y; program p : x = sin(t); initial x' = 1, y' = 1;"
    found = kn.simulate(kn.loads(text), 5.0)
    assert found.t[-1] == pytest.approx(1.0, abs=1e-4)
    assert "jumps; under programs of motion it does not slide there" in found.message


@pytest.mark.parametrize("method", ["RK45", IDA])
def test_other_methods_say_who_slides(method: str) -> None:
    """A method that others wrote has no sliding modes."""
    if method == IDA:
        pytest.importorskip("sksundae")
    found = kn.simulate(kn.loads(f"{CAR}force f = -sign(x') on x; initial x' = 1;"), 3.0, method=method, max_steps=300)
    assert "where 'sign(x')' of 'f' (<text>:1:38) jumps; the method 'dop853' lets it slide there" in found.message


def test_sensitivities_say_that_they_do_not_slide() -> None:
    """The motion comes to rest at 1 s, up to which it has derivatives."""
    system = kn.loads(f"{CAR}parameters F = 1; force f = -F*sign(x') on x; initial x' = 1;")
    assert kn.sensitivity(system, 0.8, by=["F"]).q_by[-1, 0, 0] == pytest.approx(-0.32, abs=1e-9)
    with pytest.raises(kn.SimulationError, match=r"at t = 1 s .*'sign\(x'\)' of 'f'.* sensitivities do not go"):
        kn.sensitivity(system, 2.0, by=["F"])


def test_forces_that_exist_on_one_side() -> None:
    """A root of the speed that is defined for x' > 0 alone."""
    found = kn.simulate(kn.loads(f"{CAR}force f = if(x' > 0, -1 - sqrt(x'), 1) on x; initial x' = 1;"), 3.0)
    assert found.success
    assert found["x'"][-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_cases_of_an_ensemble_slide() -> None:
    """Each case has the bits of a motion alone, outputs included."""
    system = kn.loads(f"{CAR}{PUSH}force f = -sign(x') on x; output r = -sign(x');")
    times, loads = np.linspace(0.0, 10.0, 51), np.linspace(0.2, 2.5, 9)
    many = kn.simulate(system, 10.0, p={"A": loads}, t_eval=times)
    for i, load in enumerate(loads):
        one = kn.simulate(system, 10.0, p={"A": load}, t_eval=times)
        np.testing.assert_array_equal(many["x"][i], one["x"])
        np.testing.assert_array_equal(many["r"][i], one["r"])
        assert many.case(i).changes == one.changes


def test_motions_without_jumps_of_speeds_have_no_sides() -> None:
    """Where no force drives towards its own jump the functions and the state of a run are those that they were."""
    made = bind_system(
        kn.derive(kn.loads(f"{CAR}force f = -sign(x) + step(t - 1) - x' on x;")), np.zeros(0), None, (), FREE
    )
    assert not made.code.layout.slides
    assert HELD not in made.code.programs


@pytest.mark.parametrize("coefficients", [3, 4, 7])
def test_interpolants_through_values(coefficients: int) -> None:
    """Polynomials of the degree of the interpolant are met."""
    factors = np.random.default_rng(coefficients).normal(size=coefficients + 1)
    factors[-1] = 0.0

    def value(x: float) -> float:
        return float(np.polyval(factors, x))

    change = value(1.0)
    places = [k / coefficients for k in range(1, coefficients)]
    rest = [value(x) - x * change for x in places]
    own = [change, *(float(np.dot(row, rest)) for row in share_weights(coefficients))]
    x, total = 0.37, 0.0
    for r in range(coefficients - 1, -1, -1):
        total = (total + own[r]) * (1 - x if r % 2 else x)
    assert total == pytest.approx(value(x), abs=1e-12)
