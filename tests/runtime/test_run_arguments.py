"""What users get wrong when they start a run, and the sentence that they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.runtime import run_arguments
from tests.models import PENDULUM, block

q, nan = kn.symbol("q"), float("nan")
BARE = kn.loads("model bare; parameters l, k; bob | Rz(q), Sy(-l) = 1; spring s = k on q;")
TOP = kn.loads("model top; body | Ball(b) = 1, 2, 2, 1;")

MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"t": nan}, "Expected a finite time t, found nan."),
    ({"t": 0}, "Expected an end after or before the start, found t = 0 for both."),
    ({"t": (0, 1, 2)}, "Expected the time t as an end or as (start, end), found (0, 1, 2)."),
    ({"t": "1"}, "Expected numbers for t, found '1'."),
    ({"t": (0, "1")}, "Expected numbers for t, found (0, '1')."),
    ({"q": [1, 2]}, "Expected q of shape (1,) or (cases, 1) for (q), found shape (2,)."),
    ({"v": 1}, "Expected v of shape (1,) or (cases, 1) for (q'), found shape ()."),
    ({"q": ["a"]}, "Expected numbers for q, found ['a']."),
    ({"q": {"Q": 1}}, "Model 'pendulum' has no coordinate 'Q'. Did you mean 'q'?"),
    ({"v": {"q": 1}}, "Model 'pendulum' has no speed 'q'. Did you mean 'q''?"),
    ({"q": {"q": "a"}}, "Expected numbers for 'q', found 'a'."),
    ({"q": {"q": nan}}, "Model 'pendulum': the value of 'q' is nan; expected a finite number."),
    ({"v": [float("inf")]}, "Model 'pendulum': the value of 'q'' is inf; expected a finite number."),
    ({"p": [1, 2]}, "Expected p of shape (1,) for (l), found shape (2,)."),
    ({"p": {"L": 2}}, "Model 'pendulum': 'L' is not a parameter. Did you mean 'l'?"),
    ({"p": {"l": nan}}, "Model 'pendulum': the parameter 'l' is nan; expected a finite number."),
    ({"tau": [1, 2]}, "Expected tau of shape (1,) or (cases, 1) for (q'), found shape (2,)."),
    ({"tau": [q, 0]}, "Expected tau of shape (1,) or (cases, 1) for (q'), found shape (2,)."),
    ({"tau": [nan]}, "Model 'pendulum': the force on 'q'' is nan; expected a finite number."),
    ({"tau": {"q'": [[1]]}}, "Expected a number for the force on 'q'', or one for every case, found shape (1, 1)."),
    ({"tau": ["1 N"]}, "Expected numbers for tau, found ['1 N']."),
    ({"tau": {"q": 1}}, "Model 'pendulum' has no speed 'q'. Did you mean 'q''?"),
    ({"tau": {"q'": kn.symbol("ll")}}, "Model 'pendulum': the force on 'q'' has the unknown symbol 'll'. Did you mean 'l'?"),
    (
        {"tau": lambda t: t},
        "Expected forces tau as numbers or expressions, found a Python function; kineta.sampled(f, rate) calls it at a rate.",
    ),
    ({"rtol": 0}, "Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = 0, atol = 1e-12."),
    ({"rtol": nan}, "Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = nan, atol = 1e-12."),
    ({"atol": -1e-9}, "Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = 1e-09, atol = -1e-09."),
    ({"atol": [1e-9]}, "Expected a number for atol, found [1e-09]."),
    ({"max_step": 0}, "Expected max_step > 0, found 0."),
    ({"t_eval": [0, 2]}, "Expected t_eval between 0 and 1, found 2."),
    ({"t_eval": [0, nan]}, "Expected t_eval between 0 and 1, found nan."),
    ({"t_eval": [0, 0.5, 0.2]}, "Expected t_eval in the order of the motion, found 0.2 after 0.5."),
    ({"t_eval": [[0, 1]]}, "Expected t_eval as a row of times, found shape (1, 2)."),
    ({"t_eval": [0, 1], "samples": 3}, "Expected either the times t_eval or a number of samples, found both."),
    ({"samples": 1}, "Expected a whole number from 2 to 100000000 for samples, found 1."),
    ({"samples": 2.5}, "Expected a whole number from 2 to 100000000 for samples, found 2.5."),
    ({"samples": 10**12}, "Expected a whole number from 2 to 100000000 for samples, found 1000000000000."),
    ({"events": kn.symbol("bobb.y")}, "Model 'pendulum': event 'bobb.y' has the unknown symbol 'bobb.y'. Did you mean 'bob.y'?"),
    ({"events": [1.0]}, "Expected a list of events, which are compiled, as in [kn.event(q1)], found 1.0 in it."),
    ({"events": lambda t, y: y[0]}, "Expected a list of events, which are compiled, as in [kn.event(q1)], found a function."),
    ({"q": {0: 1.0}}, "Model 'pendulum' has no coordinate '0'. There is q."),
    ({"q": None, "v": [None]}, "Expected numbers for v, found [None]."),
    ({"q": [[1], [1, 2]]}, "Expected rows of the same length for q, found [[1], [1, 2]]."),
    ({"q": np.ma.masked_array([1.0], [True])}, "Expected real numbers for q, found masked ones."),
    ({"q": ["0.5"]}, "Expected numbers for q, found ['0.5']."),
    ({"q": [np.datetime64("2020-01-01")]}, "Expected real numbers for q, found dates."),
    ({"q": [10**400]}, "Expected numbers that a float can hold for q, found a list."),
    ({"q": [True]}, "Expected numbers for q, found [True]."),
    ({"dense_output": 1}, "Expected True or False for dense_output, found 1."),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "sentence"), MISTAKES)
def test_a_wrong_argument_is_named(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        kn.simulate(PENDULUM, **{"t": 1.0, **wrong})
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("found", "near"), [("dop835", "dop853"), ("cvode", "CVODE"), ("Rk45", "RK45")])
def test_an_unknown_method_gets_the_near_name(found: str, near: str) -> None:
    with pytest.raises(
        kn.ArgumentError, match=rf"Expected a method \(dop853, .*CVODE.*\), found '{found}'. Did you mean '{near}'\?"
    ):
        kn.simulate(PENDULUM, 1.0, method=found)


def test_inertia_is_that_of_a_body_whatever_the_parameters() -> None:
    system = kn.loads("model m; parameters M = 1, c = 1; B | Rz(q) = M, 1, 1, 1; spring s = c on q;")
    message = r"^Body 'B' \(<text>:1:35\): mass is -1 kg; expected zero or more\.$"
    with pytest.raises(kn.ModelError, match=message):
        kn.simulate(system, 1.0, p={"M": -1})
    with pytest.raises(kn.ModelError, match=message):
        kn.simulate(system, 1.0, p=[-1, 1])
    assert kn.simulate(system, 0.1, p={"c": -1}).success


BOUNDED = """
parameters F = 0.05, w = 0.02, r = 0.1, e = 0.5, mu = 0.1, l = 1;
coordinates q, x, y; gravity (0, -9.81, 0); initial y = 1;
Arm | Rz(q) = Jz(0.25);
friction hinge = 2*F, smooth = w on q;
Ball | Sx(x), Sy(y) = 1;
contact floor : ball = r between Ball and ground axis (0, 1, 0), friction = mu, restitution = e;
loop rod : distance = l between Ball and ground;
"""


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"F": -0.02}, r"^Friction 'hinge' \(.*\): expected a force of zero or more, found -0\.04\.$"),
        ({"w": -0.02}, r"^Friction 'hinge' .*: expected 'smooth' above zero, found -0\.02\.$"),
        ({"w": [0.1, 0.0]}, r"^Friction 'hinge' .*: expected 'smooth' above zero, found 0\.$"),
        ({"r": -1}, r"^Contact 'floor' .*: expected a radius above zero, found -1\.$"),
        ({"e": 1.2}, r"^Contact 'floor' .*: expected a restitution from 0 to 1, found 1\.2\.$"),
        ({"mu": -1}, r"^Contact 'floor' .*: expected a coefficient of friction of zero or more, found -1\.$"),
        ({"l": 0}, r"^Loop 'rod' .*: expected a distance above zero, found 0\. A joint 'ball' holds"),
    ],
)
def test_no_run_has_values_that_a_model_may_not_have(values: dict[str, Any], sentence: str) -> None:
    system = kn.loads(BOUNDED)
    with pytest.raises(kn.ModelError, match=sentence):
        kn.simulate(system, 0.1, p=values)


def test_a_system_is_expected() -> None:
    with pytest.raises(
        kn.ArgumentError, match=r"Expected a System or its Equations, found 'a.kin'; kineta.load reads a file."
    ):
        kn.simulate("a.kin", 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "Model 'bare': the parameters l, k need a value: give p={'l': ...} or a value in the model."),
        ({"l": 1}, "Model 'bare': the parameter k needs a value: give p={'k': ...} or a value in the model."),
    ],
)
def test_a_parameter_without_a_value_is_named(given: Any, sentence: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        kn.simulate(BARE, 1.0, p=given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"direction": 2}, "Expected a whole number from -1 to 1 for the direction of event 'q', found 2."),
        (
            {"terminal": -1},
            "Expected a whole number from 0 to 2147483648 for terminal of event 'q', or True or False, found -1.",
        ),
    ],
)
def test_a_wrong_event_is_named(arguments: Any, sentence: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        kn.event(q, **arguments)
    assert str(caught.value) == sentence


def test_an_event_is_an_expression() -> None:
    with pytest.raises(
        kn.ArgumentError, match=r"Event: expected an expression, found a function; events are compiled\."
    ):
        kn.event(lambda t, y: y[0])  # type: ignore[arg-type]


def test_a_quaternion_has_unit_length() -> None:
    with pytest.raises(kn.ArgumentError, match=r"Model 'top': the quaternion of 'b' has the length 2; expected 1 \(qw"):
        kn.simulate(TOP, 1.0, q=[2, 0, 0, 0])
    nearly = np.array([1 + 5e-7, 0, 0, 0])
    assert kn.simulate(TOP, 1.0, q=nearly, v={"b.wz": 1}).q[0] == pytest.approx([1, 0, 0, 0], abs=1e-15)


@pytest.mark.parametrize(
    ("system", "given", "sentence"),
    [
        (
            PENDULUM,
            {"p": {"l": 0}},
            "Model 'pendulum': the mass matrix is singular at t = 0 s: the speed 'q'' moves no inertia. "
            "Give a body that it moves a mass or a moment of inertia, or start elsewhere.",
        ),
        (
            kn.loads("model far; parameters m = 1e18; a | Sx(x) = 1; b ~ a | Sx(y) = m; coordinates x, y;"),
            {},
            "Model 'far': the mass matrix is singular at t = 0 s: the combination x' - y' of its speeds moves no inertia, "
            "up to rounding. The masses lie between 1 and 1e+18 kg, and beside the largest the smallest are lost in "
            "rounding: let heavy bodies carry light ones, or choose values that differ less.",
        ),
        (
            block("sqrt(x)", "x = -1"),
            {},
            "Model 'block': x'' is not finite in the initial state; 'sqrt(x)' of 'f' (<text>:1:51) needs x >= 0, and x = -1 "
            "at t = 0 s.",
        ),
    ],
)
def test_a_motion_that_cannot_start_says_why(system: kn.System, given: Any, sentence: str) -> None:
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(system, 1.0, **given)
    assert str(caught.value) == sentence


def test_a_speed_without_inertia_is_named() -> None:
    system = kn.loads("model w; coordinates x, y; a | Sx(x) = 0; b | Sx(y) = 1;")
    with pytest.raises(
        kn.ModelError, match="Model 'w': the speed 'x'' moves nothing that has inertia, so the mass matrix is singular"
    ):
        kn.simulate(system, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_equidistant_times_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (t0, t1), count = rng.normal(size=2) * 10.0 ** rng.integers(-6, 7), int(rng.integers(2, 1000))
    times = run_arguments.equidistant(t0, t1, count)
    assert (times == np.linspace(t0, t1, count)).all()
    assert times[-1] == t1
