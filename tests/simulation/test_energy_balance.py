"""The balance of energy that the tolerances explain, and what is said where they do not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.simulation.energy_balance import Energies
from tests.models import PENDULUM

#: A bead on a circle, which the coordinate cannot follow beyond its height.
CIRCLE = kn.loads("""
model circle;
gravity (0, -9.81, 0);
coordinates q;
P | Sx(acos(q)), Sy(q) = 1;
initial q = 0.5, q' = 0.5;
""")


@pytest.mark.parametrize("options", [{}, {"samples": 2}, {"method": "dopri5"}, {"method": "RK45"}])
def test_a_motion_that_has_left_its_domain_is_no_success(options: dict[str, Any]) -> None:
    with pytest.warns(kn.KinetaWarning, match="tolerances do not explain the balance of energy") as said:
        result = kn.simulate(CIRCLE, 3.0, **options)
    assert (result.status, result.success) == (3, False)
    assert result.energy_balance > 0.1
    assert result.message.startswith(
        "reached t = 3 s, but tolerances do not explain the balance of energy: "
        "'acos(q)' needs -1 <= q <= 1, and q = -1 at t = 1.02566"
    )
    assert str(said[0].message) == f"Model 'circle': {result.message}."
    assert said[0].filename == __file__


def test_an_event_does_not_hide_it() -> None:
    with pytest.warns(kn.KinetaWarning):
        result = kn.simulate(CIRCLE, 5.0, events=kn.event(kn.symbol("t") - 3, terminal=True))
    assert result.status == 3
    assert result.message.startswith("stopped at t = 3 s by the event 't - 3', but tolerances do not explain")


@pytest.mark.parametrize(("method", "end"), [("dop853", 50.0), ("dopri5", 50.0), ("LSODA", 5.0), ("CVODE", 2.0)])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("samples", [None, 2])
def test_what_tolerances_explain_is_a_success(method: str, end: float, rtol: float, samples: int | None) -> None:
    with warnings.catch_warnings(action="error"):
        assert kn.simulate(PENDULUM, end, method=method, rtol=rtol, atol=rtol / 1e3, samples=samples).success


@pytest.mark.parametrize(
    "text",
    [
        "gravity (0, -9.81, 0); P | Rz(q), Sy(-1) = 1;",
        "gravity (0, -9.81, 0); P | Rz(q), Sy(-1) = 1; initial q = 1e-9;",
        "gravity (0, -9.81, 0); coordinates x; P | Sy(1e7), Sx(x) = 1; spring s = 1 on x; initial x = 1e-6;",
        "gravity (0, -9.81, 0); coordinates x; P | Sy(1e7 + x) = 1; spring s = 981 on x; initial x = -0.0100001;",
        "coordinates x; P | Sx(x) = 1; spring s = 1 on x - 1e6; initial x = 1e6 - 1;",
        "coordinates x; P | Sx(x) = 1; force f = -0.3*tanh(x'/1e-3) + sin(t) on x;",
        "coordinates x; P | Sx(x) = 1; force f = sign(sin(5*t)) on x;",
        "gravity (0, -9.81, 0); coordinates y; P | Sy(y) = 1; force f = 1e5*max(0, -y) on y; initial y = 1;",
    ],
)
def test_rest_distance_impacts_and_jumps_are_explained(text: str) -> None:
    assert kn.simulate(kn.loads(f"model m; {text}"), 5.0).status == 0


@pytest.mark.slow
@pytest.mark.parametrize("push", ["5*sin(t) - 5.5", "5*sin(t) - 4.4"])
def test_a_body_that_rests_balances_nothing(push: str) -> None:
    """What rounding makes of its energy is not measured by itself."""
    still = kn.loads(f"A | Sx(x) = 2; coordinates x; friction f = 1 on x; limit l : x >= 0; force d = {push} on x;")
    run = kn.simulate(still, 4.0)
    assert not run.q.any()
    assert run.energy_balance < 1e-9
    assert kn.simulate(still, 4.0, q={"x": np.zeros(2)}, samples=5).energy_balance < 1e-9


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_the_work_of_a_drive_faster_than_the_motion_is_resolved(rtol: float) -> None:
    system = kn.loads(
        "model m; gravity (0, -9.81, 0); crank | Rz(30*t), Sx(0.1) = 1; P | Rz(q), Sy(-1) = 1; initial q = 0.5;"
    )
    result = kn.simulate(system, 10.0, rtol=rtol)
    assert result.status == 0
    assert result.work[-1] == pytest.approx(0.981 * np.sin(300), abs=1e3 * rtol)


def test_energies_that_are_no_numbers_have_no_balance() -> None:
    ones = np.ones(2)
    with warnings.catch_warnings(action="error"):
        assert np.isnan(Energies(np.array([[1.0, np.inf], [1.0, 1.0]]), ones).balance)
    assert Energies(np.ones((0, 2)), ones[:0]).balance == 0.0


@pytest.mark.parametrize(
    ("force", "initial", "said"),
    [
        ("-1 - 1e-9*sqrt(x)", "x = 1", "'sqrt(x)' needs x >= 0, and x = "),
        ("-1 - 1e-9*sqrt(it.x)", "x = 1", "'sqrt(it.x)' needs it.x >= 0, and it.x = "),
        ("-log(x) - 1", "x = 2, x' = -1", "'log(x)' needs x > 0, and x = "),
        ("1/(1 - x)", "x = 2", "'1/(1 - x)' needs 1 - x != 0, and 1 - x = "),
        ("-1 - 1e-9*acos(x/2)", "x = 1", "'acos(0.5*x)' needs -1 <= 0.5*x <= 1, and 0.5*x = -1 at t = "),
        ("-1 + 1e-9*x^1.5", "x = 1", "'x^1.5' needs x >= 0, and x = "),
    ],
)
def test_a_failure_says_which_expression_has_come_to_the_edge_of_its_domain(
    force: str, initial: str, said: str
) -> None:
    system = kn.loads(f"model block; coordinates x; it | Sx(x) = 1; force f = {force} on x; initial {initial};")
    result = kn.simulate(system, 10.0)
    assert result.status == -1
    assert f"; {said}" in result.message
    assert f" at t = {result.t[-1]:.9g} s. What was computed before is kept" in result.message
