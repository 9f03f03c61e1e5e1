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
    ],
)
def test_the_condition_excludes_an_edge_without_a_value(force: str, condition: str) -> None:
    system = kn.loads(f"model m; coordinates x; A | Sx(x) = 1; force F = {force} on x;")
    with pytest.raises(kn.SimulationError) as found:
        kn.simulate(system, (0, 1), q={"x": 0.0})
    assert condition in str(found.value)
