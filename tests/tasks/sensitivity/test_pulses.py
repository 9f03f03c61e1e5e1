"""Derivatives of motions through short pulses, and through kinks and steps at one time, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

PULSE = "parameters a = 5, w = {!r}; Car | Sx(x) = 1 kg; coordinates x; initial x' = 1; force f = {} on x;"
#: Pulses of the time and of the place, and the speed behind them.
PULSES = [
    ("if(t > a and t < a + w, 1/w, 0)", 2.0),
    ("if(t > a and t < a + w, 1/w, 0)*x'", np.e),
    ("if(x > a and x < a + w, 1/w, 0)", np.sqrt(3.0)),
]


@pytest.mark.parametrize("width", [1e-2, 1e-5, 1e-6])
@pytest.mark.parametrize(("force", "v"), PULSES)
def test_a_pulse_of_a_given_impulse(force: str, v: float, width: float) -> None:
    """The speed behind does not depend on the place and the width, the place at the end on that of the pulse alone, in the
    limit of short ones. Terms of the size 1/w cancel, each with the error of the integration.
    """
    found = kn.sensitivity(kn.loads(PULSE.format(width, force)), 10.0, by=["a"], rtol=1e-9)
    error = 1e-7 / width if "*x'" in force or "x >" in force else 1e-12 / width
    assert found.v_by[-1, 0, 0] == pytest.approx(0.0, abs=error)
    assert found.q_by[-1, 0, 0] == pytest.approx(1.0 - v, abs=10.0 * error)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9])
def test_a_pulse_of_a_given_force(width: float) -> None:
    """v = 1 + f w: by the width f, by the place 0; however short, to rounding."""
    system = kn.loads(PULSE.format(width, "if(t > a and t < a + w, 5, 0)"))
    found = kn.sensitivity(system, 10.0, by=["a", "w"])
    np.testing.assert_allclose(found.v_by[-1, 0], [0.0, 5.0], atol=1e-12)
    np.testing.assert_allclose(found.q_by[-1, 0], [-5.0 * width, 5.0 * (5.0 - width)], atol=1e-11)


#: Forces with two kinks near each other, depending on a = 2 and b, and the derivatives of the speed at t = 10.
TOGETHER = [
    ("abs(t - a) + step(t - b)", 2.0, (-6.0, -1.0)),
    ("table(t - a; (-9, 0), (0, 1), (5, 0)) + 3*step(t - b)", 2.0, (1.0 / 9 * -2 + 1.0, -3.0)),
    ("3*step(t - a) + step(t - b)", 2.000000001, (-3.0, -1.0)),
    ("3*step(t - a)*step(b - t)", 2.000000001, (-3.0, 3.0)),
    ("step(t - a) + step(2*t - 2*a) + 0*b", 2.0, (-2.0, 0.0)),
]


@pytest.mark.parametrize(("force", "b", "by"), TOGETHER)
def test_kinks_near_each_other(force: str, b: float, by: tuple[float, float]) -> None:
    """A bend does not shift a step, and steps a nanosecond apart are two."""
    system = kn.loads(f"parameters a = 2, b = {b!r}; Car | Sx(x) = 1 kg; coordinates x; force f = {force} on x;")
    found = kn.sensitivity(system, 10.0, by=["a", "b"])
    np.testing.assert_allclose(found.v_by[-1, 0], by, rtol=1e-9, atol=1e-9)


#: Forces with steps at one time a = b = c = 1, of a car that starts at x with the speed v, and whether they add up.
AT_ONCE = [
    ("step(t - a) + 2*step(t - b) + 0*c", 0.0, 0.0),
    ("step(t - a) - step(t - b)*x + 0*c", 1.0, 0.0),
    ("step(t - a) - step(x - b)*x + 0*c", 0.0, 1.0),
    ("step(t - a) + 2*step(t - a*b) + step(t - c)*x", 1.0, 0.3),
    ("step(t - a) + 2*step(x - b) - 3*step(t - c)*x'", 0.0, 1.0),
]


@pytest.mark.parametrize(("force", "x", "v"), AT_ONCE)
def test_steps_at_one_time_that_add_up(force: str, x: float, v: float) -> None:
    """Beside differences of runs in which they come one after the other, in either order; also where their sum does not step."""
    given = f"parameters a = 1, b = 1, c = 1; Car | Sx(x) = 1 kg; coordinates x; initial x = {x}, x' = {v};"
    system = kn.loads(f"{given} force f = {force} on x;")
    found = kn.sensitivity(system, 2.0, by=["a", "b", "c"])
    h = 1e-5
    p = np.concatenate([1 + h * np.eye(3), 1 - h * np.eye(3)])
    runs = kn.simulate(system, 2.0, p=p, rtol=1e-11, atol=1e-13)
    for name, by in (("x", found.q_by), ("x'", found.v_by)):
        ends = runs[name][:, -1]
        # Second derivatives are others on both sides.
        np.testing.assert_allclose(by[-1, 0], (ends[:3] - ends[3:]) / (2 * h), atol=10 * h)


@pytest.mark.parametrize(
    "force",
    [
        "step(t - a)*step(t - b)*x + step(t - b)",
        "step(t - a)*step(t - b)",
        "step(t - a) + step(x' - b)*x",
        "max(step(t - a), step(t - b))",
    ],
)
def test_steps_whose_order_varies_are_refused(force: str) -> None:
    text = f"parameters a = 2, b = 2; Car | Sx(x) = 1 kg; coordinates x; force f = {force} on x; force g = 1 on x; initial x = 1;"
    with pytest.raises(kn.SimulationError, match="come at one time, and change their order as things vary"):
        kn.sensitivity(kn.loads(text), 10.0, by=["a", "b"])
