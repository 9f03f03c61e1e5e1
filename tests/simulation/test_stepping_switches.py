"""Switches, sampled control and cases in time stepping."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.simulation.test_stepping import BALL, COIN, FOUR_BAR, PENDULUM

SWITCHED = """gravity 9.81; parameters k = 0;
B | Sx(x), Sz(z) = 1; coordinates x, z; force push = k on x;
contact floor : point between B and ground axis (0, 0, 1), restitution = 0.6, friction = 0.3; initial z = 0.5, x' = 0.6;
when a : t >= 0.7 : k = 5;
when b : x - 0.7 >= 0 : k = -5, x' = x'/2;
when c : floor strikes and k == 0 : x' = x' + 0.1;
"""


def test_switches_act_at_their_zeros() -> None:
    model = kn.loads(SWITCHED)
    exact = kn.simulate(model, 1.6, samples=17)
    errors = []
    for step in (1e-3, 1e-4):
        run = kn.simulate(model, 1.6, method="moreau", max_step=step, samples=17)
        errors.append(float(np.abs(run.q - exact.q).max()))
        (found, known) = ([what for _, what in one.changes if "switches" in what] for one in (run, exact))
        assert found == known == ["c switches", "a switches", "b switches"]
        assert run.energy_balance < 1e-11
    assert errors[1] < 4e-4 < errors[0] < 5e-3
    assert {what: t for t, what in run.changes}["a switches"] == pytest.approx(0.7, abs=1e-12)


def test_a_switch_hears_an_impact_and_stops() -> None:
    model = kn.loads(BALL.replace("z = 1;", "z = 1, x' = 1;") + "when hit : floor strikes : stop;")
    run = kn.simulate(model, 2.0, method="moreau")
    assert run.status == 1
    assert run.t[-1] == pytest.approx(0.452, abs=1e-3)
    assert "stopped at t = 0.452 s by the event 'hit'" in run.message


def test_switches_samples_events_and_cases_compose() -> None:
    model, z = kn.loads(BALL + "when up : z - 0.3 >= 0 : x' = x' + 1;"), kn.symbol("z")
    more = {
        "events": [kn.event(z - 0.3), kn.event(z - 0.2, direction=1)],
        "tau": kn.sampled(lambda t, q, v: [t, 0.0], 50),
    }
    exact = kn.simulate(model, 1.2, **more)
    run = kn.simulate(model, 1.2, method="moreau", max_step=2.5e-4, **more)
    for found, known in zip(run.t_events, exact.t_events, strict=True):
        assert found == pytest.approx(known, abs=2e-3)
    both = kn.simulate(model, 1.0, method="moreau", q=np.array([[0.0, 1.0], [0.0, 0.5]]), samples=11)
    alone = kn.simulate(model, 1.0, method="moreau", q=[0.0, 0.5], samples=11)
    assert (both.y[1] == alone.y).all()
    assert both.case(1).changes == alone.changes


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        ("theta = 1.3", "when 'w' switches, the motion is thrown off the constraint 'pin.x'"),
        ("theta' = sqrt(-theta)", "when 'w' switches: theta' = .* is nan; expected a finite number"),
    ],
)
def test_what_a_switch_sets_meets_constraints(switch: str, said: str) -> None:
    run = kn.simulate(kn.loads(FOUR_BAR + f"when w : t >= 0.2 : {switch};"), 1.0, method="moreau")
    assert run.status == -1
    assert re.search(said, run.message)


def test_what_a_switch_sets_is_not_below_the_ground() -> None:
    run = kn.simulate(kn.loads(BALL + "when down : t - 0.2 >= 0 : z = -0.5;"), 1.0, method="moreau")
    assert run.status == -1
    assert "at t = 0.2 s 'floor' is 0.5 m beyond its contact; expected a gap of zero or more" in run.message


def test_samples_hold_forces() -> None:
    model, control = kn.loads(BALL), kn.sampled(lambda t, q, v: [np.sin(t) - v[0], 0.0], 70.0)
    exact = kn.simulate(model, 0.4, tau=control)
    run = kn.simulate(model, 0.4, tau=control, method="moreau")
    assert run.y[:, -1] == pytest.approx(exact.y[:, -1], abs=1e-7)


def same_as_alone(model: kn.System, t: float, cases: int, **given: Any) -> kn.Result:
    """The run of so many *cases*, each of which has the bits, notes and impacts of its own run."""
    both = kn.simulate(model, t, method="moreau", **given)
    one_by_one = {"q", "v", "p"} & {*given}
    for i in range(cases):
        own = {
            name: {n: x[i] for n, x in value.items()} if isinstance(value, dict) else value[i]
            for name, value in given.items()
            if name in one_by_one
        }
        alone, case = kn.simulate(model, t, method="moreau", **(given | own)), both.case(i)
        assert (both.y[i] == alone.y).all()
        assert all((both.outputs[name][i] == x).all() for name, x in alone.outputs.items())
        assert (case.notes, case.impacts, case.changes) == (alone.notes, alone.impacts, alone.changes)
        assert (case.message, case.energy_balance, case.nfev) == (alone.message, alone.energy_balance, alone.nfev)
    return both


@pytest.mark.parametrize(
    ("text", "speeds"),
    [
        (BALL, [[0, 0], [1, -2], [0.3, 4]]),
        (PENDULUM, [[0], [3], [-4]]),
        (FOUR_BAR, [[9, -2.094085512590407, 1.4383863170941085], [0, 0, 0]]),
        (COIN, [[1.5, 0, 0, 0, 0, 15], [0, 0, 0, 1, 2, 3]]),
    ],
)
def test_cases_are_those_alone(text: str, speeds: list[list[float]]) -> None:
    v = np.array(speeds, dtype=float)
    same_as_alone(kn.loads(text), 0.6, len(v), v=v, t_eval=np.linspace(0.05, 0.6, 6))


def test_cases_with_parameters_of_their_own() -> None:
    model = kn.loads(
        BALL.replace("gravity", "parameters e = 0.8;\ngravity").replace("= 0.8;\ninitial", "= e;\ninitial")
    )
    run = same_as_alone(model, 1.5, 3, p={"e": np.array([0.0, 0.5, 0.9])}, samples=7, max_step=2e-3)
    assert run.status == 0
    assert [len(run.case(i).impacts) for i in range(3)] == [1, 8, 2]


def test_cases_that_cannot_start_or_go_on_say_why() -> None:
    model = kn.loads(BALL.replace("restitution = 0.8", "friction = 0.5 - t*x"))
    run = kn.simulate(model, 1.0, method="moreau", q={"x": np.array([0.0, 1.0, 0.0]), "z": [1.0, 1.0, -0.5]})
    assert run.cases.status.tolist() == [0, -1, -1]
    assert "'floor' has the friction -" in run.case(1).message
    assert "'floor' is 0.5 m beyond its contact" in run.case(2).message
