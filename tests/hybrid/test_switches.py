"""Switches that follow each other, and values that are none."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

RELAY = """
parameters u = -1; M | Sx(x) = 1; coordinates x; force f = u on x; initial x = 1;
when a : x + x'*1 s >= {0} : u = -1; when b : x + x'*1 s <= -{0} : u = 1;
"""


def test_a_relay_without_hysteresis_switches_without_end_where_it_would_slide() -> None:
    run = kn.simulate(kn.loads(RELAY.format(0)), 10.0)
    assert "one change follows another without end (b switches; a switches" in run.message
    assert run.t[-1] == pytest.approx(np.sqrt(3) - 1, abs=1e-12)


def test_a_relay_that_its_motion_passes_switches_once_at_every_passing() -> None:
    """Where the force turns the state through the line, there is no sliding."""
    run = kn.simulate(kn.loads(RELAY.replace("x + x'*1 s", "x").format(0)), 6.0)
    times = np.sqrt(2) * np.array([1, 3])
    assert [what for _, what in run.changes] == ["b switches", "a switches"]
    assert [t for t, _ in run.changes] == pytest.approx(times, abs=1e-9)


def test_conditions_that_come_true_within_rounding_of_each_other_all_switch_once() -> None:
    text = "parameters n = 0, m = 0; A | Sx(x) = 1; coordinates x; initial x = 0.3, x' = 1e-4; output n, m; "
    text += "when a : x >= 0.30003 : n = n + 1; when b : x >= 0.30003 + 1e-15 : m = m + 1;"
    run = kn.simulate(kn.loads(text), 1.0)
    assert (run["n"][-1], run["m"][-1]) == (1, 1)


def test_a_condition_that_another_switch_makes_true_switches_once() -> None:
    text = (
        "parameters n = 0; A | Sx(x) = 1; coordinates x; output n; initial x' = 1; when a : t >= 1 : x = 5, n = n + 1; "
    )
    run = kn.simulate(kn.loads(text + "when b : x >= 5 : n = n + 10;"), 2.0)
    assert run["n"][-1] == 11


@pytest.mark.parametrize("sets", ["p = sqrt(-x)", "x = sqrt(-x)", "x' = log(-x)"])
def test_switches_set_finite_values_only(sets: str) -> None:
    text = "B | Sx(x) = 1; coordinates x; parameters p = 1; initial x' = 1; output p; when a : x >= 0.5 : "
    run = kn.simulate(kn.loads(f"{text}{sets};"), 1.0)
    assert f"at t = 0.5 s, when 'a' switches: {sets} is nan; expected a finite number" in run.message
    assert np.isfinite(run.y).all()
    assert np.isfinite(run["p"]).all()


@pytest.mark.slow
def test_outputs_without_a_value_are_named_with_the_first_time() -> None:
    system = kn.loads("B | Sx(x) = 1; coordinates x; initial x' = 1; output o = sqrt(0.45 - x), x;")
    (note,) = kn.simulate(system, 1.0, samples=11).notes
    assert note.startswith("The output 'o' is not finite at 6 of 11 times, first at t = 0.5 s:")
    (note,) = kn.simulate(system, 1.0, samples=11, v=[[0.0], [1.0], [2.0]]).notes
    assert "first in case 2 at t = 0.3 s" in note


@pytest.mark.parametrize("x", [3, 0.5])
def test_a_switch_that_throws_a_bead_off_its_wire_is_named_with_the_wire(x: float) -> None:
    bead = "B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : x^2 + y^2 = 1; initial x = 1;"
    run = kn.simulate(kn.loads(f"{bead} when a : t >= 0.5 : x = {x};"), 1.0)
    assert "at t = 0.5 s, when 'a' switches, the motion is thrown off the constraint 'c'" in run.message


def test_a_limit_that_has_no_value_at_the_start_names_its_expression() -> None:
    text = r"defined for: 'sqrt\(x - 0.5\)' needs x - 0.5 >= 0, and x - 0.5 = -0.5 at t = 0 s"
    with pytest.raises(kn.SimulationError, match=text):
        kn.simulate(kn.loads("B | Sx(x) = 1; coordinates x; limit a : sqrt(x - 0.5) <= 1;"), 1.0)
