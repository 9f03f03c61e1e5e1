"""Derivatives where the rate of a first-order state jumps, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

CAR = "A | Sx(x) = 1; coordinates x; parameters c = 0.5; initial x' = 1; "


@pytest.mark.parametrize(
    "rate",
    [
        "step(x - c)",
        "if(x > c, 1, 0)",
        "(1 + sign(x - c))/2",
        "floor(1 + x - c)",
        "0.5 + (atan2(x - c, -1) + atan(x - c))/(2*pi)",
        "0.5 + (atan2(x - c, x - 1.7) + atan((x - c)/(1.7 - x)))/(2*pi)",
    ],
)
def test_a_count_of_time_beyond_a_place(rate: str) -> None:
    """z = T - (c - x0)/v."""
    system = kn.loads(f"{CAR} state z : z' = {rate};")
    found = kn.sensitivity(system, 1.0, ["c", "x"], samples=2)
    np.testing.assert_allclose(found["z"][-1], [-1.0, 1.0], atol=1e-9)
    for adjoint in (False, True):
        goal = kn.objective(system, 1.0, ["c", "x"], final=kn.symbol("z"), adjoint=adjoint)
        np.testing.assert_allclose(goal.gradient(goal.x0), [-1.0, 1.0], atol=1e-8)


def test_a_force_by_a_state_whose_rate_jumps() -> None:
    """x = T + (T - c)^3/6."""
    found = kn.sensitivity(kn.loads(f"{CAR} state z : z' = step(x - c); force f = z on x;"), 2.0, ["c"], samples=2)
    assert found["z"][-1] == pytest.approx([-1.0], abs=1e-8)
    assert found["x"][-1] == pytest.approx([-1.125], abs=1e-8)


def test_measurements_at_a_jump_count() -> None:
    """A fit whose times are those at which forces jump."""
    text = "A | Sx(x) = 1; coordinates x; parameters w = 0.3, P = 4; force f = if(mod(t, 1) < w, P, 0) - x on x; initial x' = 1;"
    system, t = kn.loads(text), np.linspace(0.0, 3.0, 13)
    seen = kn.simulate(system, 3.0, t_eval=t)
    found = kn.fit(system, {"x": seen["x"]}, ["w", "P"], t=t, p={"w": 0.27, "P": 4.4})
    assert [found.values[n] for n in ("w", "P")] == pytest.approx([0.3, 4.0], abs=1e-7)
