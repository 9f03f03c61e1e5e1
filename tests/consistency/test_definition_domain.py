"""Conditions under which operations of a model have a value."""

from __future__ import annotations

import pytest

import kineta as kn


@pytest.mark.parametrize(
    ("force", "condition"),
    [
        ("x^(-1.5)", "needs x > 0, and x = 0 at"),
        ("log(x)", "needs x > 0, and x = 0 at"),
        ("1/x", "needs x != 0, and x = 0 at"),
        ("1/sqrt(x^2)", "needs x^2 > 0, and x^2 = 0 at"),
        ("v(A).x/|v(A)|", "needs |v(A)| != 0, and |v(A)| = 0 at"),
    ],
)
def test_the_condition_excludes_an_edge_without_a_value(force: str, condition: str) -> None:
    system = kn.loads(f"model m; coordinates x; A | Sx(x) = 1; force F = {force} on x;")
    with pytest.raises(kn.SimulationError) as found:
        kn.simulate(system, (0, 1), q={"x": 0.0})
    assert condition in str(found.value)


def test_what_comes_to_rest_under_a_force_along_its_speed() -> None:
    """By 2 N from 1 m/s, at t = 0.5 s."""
    system = kn.loads("model m; coordinates x, y; A | Sx(x), Sy(y) = 1; force F on A = -2*v(A)/|v(A)|; initial x' = 1;")
    found = kn.simulate(system, 1.0, max_steps=400)
    assert "needs |v(A)| != 0" in found.message
    assert found.t[-1] == pytest.approx(0.5, abs=1e-8)
