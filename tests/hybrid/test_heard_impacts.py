"""Switches that hear impacts: of a contact, of one place of it, of an end of a limit."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

BALL = """
gravity 9.81; parameters e = 0.5, n = 0; B | Sx(x), Sz(z) = 2; coordinates x, z;
contact floor : point between B and ground axis (0, 0, 1), restitution = e; initial z = 1; output n;
"""
FALL = np.sqrt(2 / 9.81)


@pytest.mark.slow
def test_impacts_are_counted_and_lie_where_they_did() -> None:
    system = kn.loads(BALL + "when count : floor strikes : n = n + 1;")
    run, alone = kn.simulate(system, 1.6, p={"e": 0.8}), kn.simulate(kn.loads(BALL), 1.6, p={"e": 0.8})
    assert [x.t for x in run.impacts] == pytest.approx([FALL, FALL * (1 + 1.6)], abs=1e-12)
    assert [x.t for x in run.impacts] == pytest.approx([x.t for x in alone.impacts], abs=1e-12)
    assert [what for _, what in run.changes] == ["floor strikes", "count switches"] * 2
    assert run["n"][-1] == 2
    assert run["z"][-1] == pytest.approx(alone["z"][-1], abs=1e-12)


def test_new_values_are_those_after_the_impact() -> None:
    """A restitution of a half whose speeds a switch doubles is one of 1: the ball rises to where it was dropped."""
    system = kn.loads(BALL + "when kick : floor strikes : z' = 2*z', n = z';")
    run = kn.simulate(system, 4 * FALL, samples=5)
    assert run["z"] == pytest.approx([1, 0, 1, 0, 1], abs=1e-9)
    assert run["n"][-1] == pytest.approx(9.81 * FALL / 2, abs=1e-9)
    assert run.energy_balance < 1e-12


def test_a_law_that_an_impact_changes_holds_from_the_next_one_on() -> None:
    run = kn.simulate(kn.loads(BALL + "when soft : floor strikes : e = e/2;"), 1.5, p={"e": 0.8})
    assert [-x.after / x.before for x in run.impacts] == pytest.approx([0.8, 0.4, 0.2], abs=1e-9)


def test_a_switch_may_hear_one_place_or_all_at_once() -> None:
    """A bar that falls flat strikes with both ends, which is one impact; tilted it strikes with the lower end first."""
    text = """gravity 9.81; parameters any = 0, left = 0; B | Sx(x), Sz(z), Ry(q) = 1, 0.1, 0.1, 0.1; coordinates x, z, q;
    point L on B = (-0.5, 0, 0); point R on B = (0.5, 0, 0); initial z = 1; output any, left;
    contact bar : point between L, R and ground axis (0, 0, 1), restitution = 1;
    when one : bar strikes : any = any + 1; when two : bar.L strikes : left = left + 1;"""
    flat = kn.simulate(kn.loads(text), 1.1 * FALL)
    assert (flat["any"][-1], flat["left"][-1], len(flat.impacts)) == (1, 1, 2)
    tilted = kn.simulate(kn.loads(text), 0.95 * FALL, q=[0, 1, 0.2])
    assert (tilted["any"][-1], tilted["left"][-1], len(tilted.impacts)) == (1, 0, 1)


def test_an_end_of_a_limit_is_heard_and_guards_hold() -> None:
    text = (
        "parameters n = 0; M | Sx(x) = 1; coordinates x; initial x' = 2; limit stop : -1 <= x <= 1, restitution = 1; "
    )
    text += "output n; when up : stop.upper strikes : n = n + 1; when late : stop strikes and n == 2 : stop;"
    run = kn.simulate(kn.loads(text), 10.0)
    assert run.t[-1] == pytest.approx(2.5, abs=1e-12)
    assert [what for _, what in run.changes if what.endswith("switches")] == ["up switches"] * 2 + ["late switches"]


def test_an_impact_at_the_start_is_heard() -> None:
    system = kn.loads(BALL + "when count : floor strikes : n = n + 1;")
    run = kn.simulate(system, 0.1, q=[0, 0], v=[0, -2])
    assert [x for x in run.changes if x[1] == "count switches"] == [(0.0, "count switches")]
    assert run["n"][-1] == 1
    ended = kn.simulate(kn.loads(BALL + "when hit : floor strikes : stop;"), 0.1, q=[0, 0], v=[0, -2])
    assert (ended.t[-1], ended.v[-1, 1]) == (0.0, pytest.approx(1.0))


@pytest.mark.slow
def test_cases_hear_what_single_motions_hear() -> None:
    system = kn.loads(BALL + "when soft : floor strikes : e = e/2, n = n + 1;")
    runs = kn.simulate(system, 1.2, q=[[0, 1], [0, 0.5]], samples=4)
    for i, z in enumerate((1, 0.5)):
        one = kn.simulate(system, 1.2, q=[0, z], samples=4)
        assert np.array_equal(runs.case(i).y, one.y)
        assert runs.case(i).changes == one.changes


def test_a_switch_that_strikes_again_without_end_is_told() -> None:
    run = kn.simulate(kn.loads(BALL + "when again : floor strikes : z' = -1;"), 1.0)
    assert "one change follows another without end" in run.message


def test_python_gives_the_switch_of_the_text() -> None:
    n = kn.symbol("n")
    switch = kn.switch("count", strikes="floor", sets={"n": n + 1}, guards={"n": 2})
    assert kn.loads(BALL + "when count : floor strikes and n == 2 : n = n + 1;").switches == (switch,)


@pytest.mark.parametrize("samples", [None, 7, 50])
def test_the_state_in_which_a_switch_stops_a_run_is_its_last(samples: int | None) -> None:
    """At the third impact, counted and left with the speed after it, wherever samples lie."""
    text = """gravity 9.81; parameters n = 0; B | Sz(z) = 1; coordinates z; initial z = 1; output n;
        contact f : point between B and ground axis (0, 0, 1), restitution = 0.5;
        when hit : f strikes : n = n + 1; when third : f strikes and n == 3 : stop;"""
    run = kn.simulate(kn.loads(text), 3.0, samples=samples)
    fall = np.sqrt(2 / 9.81)
    assert run.t[-1] == pytest.approx(fall * (1 + 1 + 0.5), rel=1e-9)
    assert run["n"][-1] == 3
    assert run["z'"][-1] == pytest.approx(9.81 * fall / 8, rel=1e-9)
