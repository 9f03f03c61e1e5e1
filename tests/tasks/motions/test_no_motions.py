"""What is no motion, and what motions do not go with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from tests.models import ARM, FOURBAR, PUMA, SKATE, STOPPED, TIMES
from tests.support import EXAMPLES


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        ({"theta": "0.8 + x"}, "Motion of 'theta': expected an expression of t and parameters, found 'x'"),
        (
            {"theta": "0.8 +"},
            "motion of theta:1:6: the text ends within the expression; expected '(', '+' or '-', a name",
        ),
        ({"theta": "0.8, 2"}, "motion of theta:1:4: expected the end of the text, found ','."),
        ({"theta": np.zeros(3)}, "one value for every time, found shape"),
        ({"thetta": 0.0}, "no coordinate 'thetta'. Did you mean 'theta'?"),
        ({"Crank.x": 0.0}, "no coordinate 'Crank.x'. 'Crank' is a place."),
        ({"theta": "1/t"}, "expected finite numbers, found inf at t = 0 s"),
        ({}, "leaves 1 more open at t = 0 s; give that of one of theta, beta, gamma too"),
        ({"beta": "0.5 + 9*t"}, "no motion of this kind meets the constraint 'pin"),
        (np.zeros((5, 2)), "found shape"),
        ("missing.csv", "missing.csv: the file cannot be read"),
    ],
)
def test_what_is_no_motion_is_said(motion: Any, said: str) -> None:
    with pytest.raises(kn.KinetaError) as error:
        kn.kinematics(FOURBAR, motion, t=None if isinstance(motion, str) else np.linspace(0, 1, 11))
    assert said in str(error.value)


def test_contacts_and_limits_are_not_left_out_in_silence() -> None:
    ball = kn.load(EXAMPLES / "bouncing_ball.kin")
    with pytest.warns(kn.KinetaWarning, match="the inverse problem is of its equations without floor"):
        kn.inverse(ball, {"x": 0.0, "z": "1 + t"}, t=[0.0, 1.0])
    with pytest.warns(kn.KinetaWarning, match=r"goes beyond the limit 'stop' \(q <= 0\.5\), by 0\.5 at t = 1 s"):
        kn.kinematics(STOPPED, {"q": "t"}, t=[0.0, 1.0])
    with pytest.warns(kn.KinetaWarning, match=r"goes beyond the limit 'stop'"):
        kn.statics(STOPPED, q=[0.7])


def test_other_wrong_arguments_are_said() -> None:
    run = kn.simulate(FOURBAR, 0.1)
    with pytest.raises(ArgumentError, match="no body or point 'mas'"):
        kn.kinematics(FOURBAR, run, ["mas"])
    with pytest.raises(ArgumentError, match="no joint 'pinn'"):
        kn.reactions(FOURBAR, run, ["pinn"])
    with pytest.raises(ArgumentError, match="no body 'Crnk'"):
        kn.reactions(FOURBAR, run, frame="Crnk")
    with pytest.raises(ArgumentError, match="the motion of q2, q3, q4, q5, q6 is not given"):
        kn.inverse(PUMA, {"q1": "t"}, t=[0.0])
    with pytest.raises(ArgumentError, match="Expected the times t of the motion"):
        kn.inverse(PUMA, {"q1": "t"})
    with pytest.raises(ArgumentError, match="found one of 'fourbar'"):
        kn.inverse(PUMA, run)
    renamed = kn.loads("parameters m = 1; A | Rz(a), Sx(1) = m; coordinates a;")
    with pytest.raises(
        ArgumentError, match=r"Expected a run of 'text', found one of 'text' with the parameters m\. Give"
    ):
        kn.kinematics(ARM, kn.simulate(renamed, 1.0, samples=2))
    rate: Any
    for rate in ("5", 5.0):
        with pytest.raises(ArgumentError, match="the rate 'a'' follows from 'a' as it is given; leave it out"):
            kn.kinematics(ARM, {"a": "t", "a'": rate}, t=TIMES)
    with pytest.raises(ArgumentError, match="expected 'a'' beside it, of which it is the rate"):
        kn.kinematics(ARM, {"a''": 0 * TIMES}, t=TIMES)
    with pytest.raises(ArgumentError, match="no unknown force 'q1'"):
        kn.inverse(FOURBAR, run, weights={"q1": 2.0})


def test_a_motion_that_needs_no_forces_is_produced_by_any() -> None:
    pendulum = kn.load(EXAMPLES / "double_pendulum.kin")
    found = kn.kinetostatics(pendulum, kn.simulate(pendulum, 1.0, samples=21), ["q1'"])
    assert np.abs(found["tau[q1']"]).max() < 1e-8


def test_a_force_with_a_corner_is_not_proportional_to_a_parameter() -> None:
    pushed = kn.loads("parameters F; A | Rz(q), Sx(1) = 1; force f = max(F, 0) on q;")
    assert kn.kinetostatics(pushed, {"q": "t^2"}, ["F"], t=TIMES)["F"] == pytest.approx(2.0)
    with pytest.raises(ArgumentError, match="the forces are not proportional to 'F'"):
        kn.kinetostatics(pushed, {"q": "-t^2"}, ["F"], t=TIMES)


def test_what_cannot_move_needs_no_forces() -> None:
    still = kn.loads("parameters F = 3; A | Sx(0.3) = 2; force f on A = (0, F, 0);")
    assert kn.statics(still, unknown=["F"])["F"] == pytest.approx([0.0])


def test_reactions_that_quasi_velocities_leave_out_are_told() -> None:
    found = kn.inverse(SKATE, kn.simulate(SKATE, 1.0, samples=3))
    assert (found.redundancy, found.determinate["lambda.edge"]) == (0, True)


def test_where_expressions_are_not_defined_nothing_is_put_out() -> None:
    root = kn.loads("coordinates x; C | Sx(sqrt(x)) = 1;")
    pushed = kn.loads("coordinates x; C | Sx(x) = 1; force f on C = (0, sqrt(x), 0);")
    for find, said in (
        (lambda: kn.kinematics(root, {"x": "-1 - t"}, t=TIMES), "C.x has no finite value at t = 0 s"),
        (lambda: kn.regressor(root, {"x": "t"}, t=TIMES), "the regressor has no finite value at t = 0 s"),
        (lambda: kn.reactions(pushed, {"x": "-1 - t"}, t=TIMES), "C.f[xyz] has no finite value at t = 0 s"),
    ):
        with pytest.raises(SimulationError, match=said):
            find()
