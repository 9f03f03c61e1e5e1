"""A consistent start: what is near the constraints is brought onto them, a guess goes to the nearest state, the rest stays."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.consistency.consistent_start import consistent, refusal
from kineta.equations.equations import equations_of
from tests.support import EXAMPLES

CIRCLE = equations_of(
    kn.loads(
        "model ring; coordinates x, y; P | Sx(x), Sy(y) = 2;\n"
        "constraint c : x^2 + y^2 = 1; constraint again : 3*x^2 + 3*y^2 = 3; initial x = 1;"
    )
)
RING = equations_of(CIRCLE.system.replace(constraints=CIRCLE.system.constraints[:1]))
P = np.empty(0)


def test_cases_are_brought_back_each_where_they_miss_little() -> None:
    q = np.array([[1.0, 0.0], [0.6 + 3e-6, 0.8], [0.5, 0.0]])
    v = np.array([[0.0, 1.0], [0.8, -0.6], [0.0, 0.0]])
    found = consistent(CIRCLE, np.zeros(3), q, v, P)
    assert np.array_equal(found.q[[0, 2]], q[[0, 2]])  # one meets them, one is too far
    assert np.abs((found.q[1] ** 2).sum() - 1) < 1e-14
    assert abs(found.q[1] @ found.v[1]) < 1e-14
    assert found.notes[0] == "the start missed constraints by up to 1.1e-05 and was brought back onto them"
    assert len(found.equations.derivation.left_out) == 1
    assert "1 of 2 rows of constraints is redundant and left out" in found.notes[1]
    assert "misses the constraint" in refusal(found.equations, 0.0, found.q[2], found.v[2], P, found.regular)
    assert refusal(found.equations, 0.0, found.q[1], found.v[1], P, found.regular) == ""


def test_a_start_on_the_constraints_is_not_touched() -> None:
    q, v = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    found = consistent(CIRCLE, 0.0, q, v, P)
    assert found.q is q
    assert found.v is v


@pytest.mark.parametrize(("reach", "expected"), [(0.0, [3.0, 4.0]), (np.inf, [0.6, 0.8])])
def test_a_guess_goes_to_the_nearest_state(reach: float, expected: list[float]) -> None:
    found = consistent(CIRCLE, 0.0, np.array([3.0, 4.0]), np.zeros(2), P, reach=reach)
    assert found.q == pytest.approx(expected, abs=1e-14)


def test_all_times_of_a_linearisation_are_brought_back() -> None:
    """So far those of one time alone."""
    system = CIRCLE.system.replace(constraints=CIRCLE.system.constraints[:1])
    states = {"x": [1.0, 0.6 + 3e-6], "y": [0.0, 0.8]}
    found = kn.linearize(system, states, t=[0.0, 1.0])
    assert (found.q**2).sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-14)


@pytest.mark.parametrize(
    ("model", "start", "named"),
    [
        ("rattleback", {"p": {"a": 0.4}}, "'contact.n': it is -0.000226 m"),  # whatever its 5 rad/s
        ("fourbar", {"q": {"beta": 0.5383459551871638}}, "'pin.y': it is 0.000773 m"),
        ("bicycle", {"q": {"z": 0.301}}, "'front.n': it is 0.001 m"),
        (
            "car_axis",
            {"q": {"yl": 0.5003}},
            "the rate of the constraint 'across': it is 0.0003",
        ),  # the rod misses 9e-8 m^2
    ],
)
def test_a_start_moves_by_printed_digits_and_no_more(
    model: str, start: dict[str, dict[str, float]], named: str
) -> None:
    system = kn.load(EXAMPLES / f"{model}.kin")
    with pytest.raises(kn.SimulationError, match=f"the start misses .*{named}"):
        kn.simulate(system, 0.01, **start)


def test_positions_are_measured_by_coordinates_and_rates_by_speeds() -> None:
    """The largest coordinate is 1: 1e-4; the largest speed 50: 5e-3."""
    q, v = np.array([1.0 + 4e-5, 0.0]), np.array([0.0, 50.0])
    assert "8.0e-05" in consistent(RING, 0.0, q, v, P).moved
    assert not consistent(RING, 0.0, q + np.array([2e-5, 0.0]), v, P).moved
    assert "4.0e-03" in consistent(RING, 0.0, np.array([1.0, 0.0]), v + np.array([2e-3, 0.0]), P).moved
    assert not consistent(RING, 0.0, np.array([1.0, 0.0]), v + np.array([3e-3, 0.0]), P).moved
    assert not consistent(RING, 0.0, q, v + np.array([1.0, 0.0]), P).moved  # a small miss on the position hides no rate


def test_a_start_that_misses_a_loop_is_told_the_line_that_closes_it() -> None:
    """Of the coordinates that nobody gave, in whichever way is near."""
    text = (EXAMPLES / "fourbar.kin").read_text(encoding="utf-8").partition("initial")[0]
    with pytest.raises(kn.SimulationError, match="beside those given, or let") as raised:
        kn.simulate(kn.loads(f"{text} initial theta = 60 deg, theta' = 2;"), 0.01)
    line = str(raised.value).partition("as with '")[2].partition(";'")[0]
    closed = kn.loads(f"{text} initial theta = 60 deg, theta' = 2; {line};")
    run = kn.simulate(closed, 0.01)
    assert [run["theta"][0], run["theta'"][0]] == pytest.approx([np.pi / 3, 2.0], abs=1e-7)
