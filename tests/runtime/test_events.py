"""Events of x = cos 2t, whose zeros are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from kineta.integration.problem import Events
from kineta.numerics.roots import PARTS
from kineta.runtime.events import EventStep
from tests.models import OSCILLATOR, PENDULUM

x, rate, t = (kn.symbol(n) for n in ("x", "x'", "t"))
FALLS, RISES = np.pi / 4 + np.pi * np.arange(3), 3 * np.pi / 4 + np.pi * np.arange(3)
ZEROS = np.sort([*FALLS, *RISES])


def at(time: float) -> dict[str, Any]:
    """The state at *time*."""
    return {"q": [np.cos(2 * time)], "v": [-2 * np.sin(2 * time)]}


X = kn.symbol("x")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "dopri5", "RK45", "Radau", "CVODE"])
def test_zeros_are_found_at_their_times(method: str) -> None:
    events = [x, kn.event(x, direction=1), kn.event(x, direction=-1, name="down"), rate, x - 2, kn.symbol("energy") - 1]
    result = kn.simulate(OSCILLATOR, 10.0, events=events, method=method, rtol=1e-9)
    both, up, down, turns, never, constant = result.t_events
    assert both == pytest.approx(ZEROS, abs=2e-7)
    assert up == pytest.approx(RISES, abs=2e-7)
    assert down == pytest.approx(FALLS, abs=2e-7)
    assert turns == pytest.approx(np.pi / 2 * np.arange(1, 7), abs=2e-7)
    assert never.shape == constant.shape == (0,)
    assert result.event_names[:4] == ("x", "x", "down", "x'")
    assert [y.shape for y in result.y_events] == [(6, 2), (3, 2), (3, 2), (6, 2), (0, 2), (0, 2)]
    assert np.abs(result.y_events[0][:, 0]).max() < 1e-12
    assert result.y_events[0][:, 1] == pytest.approx(2.0 * np.tile([-1, 1], 3), abs=1e-6)


def test_backwards_in_time_zeros_come_in_reverse() -> None:
    result = kn.simulate(OSCILLATOR, (10.0, 0.0), **at(10), events=[x, kn.event(x, direction=1)])
    assert result.t_events[0] == pytest.approx(ZEROS[::-1], abs=1e-8)
    assert result.t_events[1] == pytest.approx(FALLS[::-1], abs=1e-8)  # backwards, x rises where it falls forwards


@pytest.mark.parametrize("recorded", [{}, {"samples": 11}, {"t_eval": [0.5, 9]}])
@pytest.mark.parametrize(("terminal", "index"), [(True, 0), (1, 0), (2, 1), (5, 4)])
def test_a_terminal_event_ends_the_run(terminal: int, index: int, recorded: dict[str, Any]) -> None:
    result = kn.simulate(OSCILLATOR, 10.0, events=kn.event(x, terminal=terminal, name="wall"), **recorded)
    assert (result.status, result.success) == (1, True)
    assert result.message.startswith(f"stopped at t = {ZEROS[index]:.6g} s by the event 'wall'; energy balance ")
    assert result.t[-1] == result.t_events[0][-1] == pytest.approx(ZEROS[index], abs=1e-8)
    assert result.y[:, -1] == pytest.approx(result.y_events[0][-1], abs=1e-14)
    assert len(result.t_events[0]) == index + 1
    assert np.all(np.diff(result.t) > 0)
    if "samples" in recorded:
        assert np.array_equal(result.t[:-1], np.arange(0, result.t[-1], 1.0))


@pytest.mark.parametrize("method", ["dop853", "RK45", "CVODE"])
def test_the_solution_ends_at_a_terminal_event(method: str) -> None:
    result = kn.simulate(OSCILLATOR, 10.0, events=kn.event(x, terminal=2), dense_output=True, method=method)
    assert (result.sol.t_min, result.sol.t_max) == (0.0, result.t_events[0][-1])
    assert result.sol(result.sol.t_max) == pytest.approx(result.y[:, -1], abs=1e-14)
    back = kn.simulate(OSCILLATOR, (10.0, 0.0), **at(10), events=[kn.event(x, terminal=True)], dense_output=True)
    assert (back.sol.t_min, back.sol.t_max) == (back.t_events[0][0], 10.0)
    whole = kn.simulate(OSCILLATOR, 10.0, events=x, dense_output=True, method=method)
    assert (whole.sol.t_min, whole.sol.t_max) == (0.0, 10.0)


def test_an_event_in_the_last_step() -> None:
    result = kn.simulate(OSCILLATOR, 0.8, events=x)
    assert result.t_events[0] == pytest.approx([np.pi / 4], abs=1e-8)
    assert result.t[-2] < np.pi / 4 < result.t[-1] == 0.8
    assert len(result.t) == result.steps + 1


def test_a_terminal_event_backwards() -> None:
    result = kn.simulate(OSCILLATOR, (10.0, 0.0), **at(10), events=[kn.event(x, terminal=True)])
    assert result.t[-1] == pytest.approx(ZEROS[-1], abs=1e-8)
    assert np.all(np.diff(result.t) < 0)


def test_several_events_in_one_step_come_in_order() -> None:
    levels = [0.9, 0.8, 0.7, 0.6]
    events = [kn.event(x - a, name=f"{a}", terminal=a == 0.7) for a in levels]
    result = kn.simulate(OSCILLATOR, 1.0, events=events, rtol=1e-4, atol=1e-4)
    assert result.steps <= 2
    assert [len(times) for times in result.t_events] == [1, 1, 1, 0]
    found = np.concatenate(result.t_events)
    assert found == pytest.approx(np.arccos(levels[:3]) / 2, abs=1e-4)
    assert "by the event '0.7'" in result.message
    together = kn.simulate(OSCILLATOR, 1.0, events=[kn.event(x, name="a"), kn.event(2 * x, name="b", terminal=True)])
    assert "by the event 'b'" in together.message
    assert together.t_events[0] == together.t_events[1]


def test_a_zero_at_the_start_is_no_event() -> None:
    result = kn.simulate(OSCILLATOR, 3.0, q=[0.0], v=[-2.0], events=[kn.event(x, terminal=True)])
    assert result.t_events[0] == pytest.approx([np.pi / 2], abs=1e-8)
    resting = kn.simulate(OSCILLATOR, 1.0, q=[0.0], events=[x, rate])
    assert [len(times) for times in resting.t_events] == [0, 0]


#: Methods that find zeros themselves, and those whose steps are looked at.
BOTH = pytest.mark.parametrize("method", ["dop853", "dopri5", "RK45", "CVODE"])
BALL = kn.loads("model ball; gravity (0, -9.81, 0); coordinates y; ball | Sy(y) = 1; initial y = 1;")


@BOTH
def test_a_run_is_continued_from_its_own_event(method: str) -> None:
    wall = kn.event(x - 0.3, terminal=True)
    state: dict[str, Any] = {}
    at, times = 0.0, []
    for _ in range(6):
        result = kn.simulate(OSCILLATOR, (at, 20.0), events=wall, method=method, **state)
        state, at = {"q": result.q[-1], "v": result.v[-1]}, result.t[-1]
        times.append(at)
    first, half = np.arccos(0.3) / 2, np.pi
    assert times == pytest.approx(
        np.sort([first + half * np.arange(3), half - first + half * np.arange(3)], axis=None), abs=1e-6
    )


@BOTH
@pytest.mark.parametrize("clock", [True, False])
def test_a_ball_bounces(method: str, clock: bool) -> None:
    """Each run starts where the one before has ended, the speed turned round: on the ground, or a rounding below it."""
    ground = kn.event(kn.symbol("y"), terminal=True)
    y, v, at, times = 1.0, 0.0, 0.0, []
    for _ in range(8):
        result = kn.simulate(BALL, (at if clock else 0.0, 9.0), q=[y], v=[v], events=ground, method=method)
        y, v, end = result.q[-1, 0], -0.5 * result.v[-1, 0], result.t[-1]
        at = end if clock else at + end
        times.append(at)
    fall = np.sqrt(2 / 9.81)
    assert times == pytest.approx(fall * np.cumsum([1, *(2 * 0.5 ** np.arange(1, 8))]), abs=1e-7)


@BOTH
def test_the_state_of_a_zero_is_on_it_or_just_past_it(method: str) -> None:
    event = x**3 - 0.1
    result = kn.simulate(OSCILLATOR, 10.0, events=event, method=method)
    (states,) = result.y_events
    passed = (states[:, 0] ** 3 - 0.1) * np.sign(states[:, 1])
    assert len(passed) == 7
    assert np.all(passed >= 0)
    assert passed == pytest.approx(0, abs=1e-13)


@BOTH
def test_a_zero_that_lasts_is_none(method: str) -> None:
    result = kn.simulate(OSCILLATOR, 3.0, q=[0.0], v=[0.0], events=[x, rate], method=method)
    assert [len(times) for times in result.t_events] == [0, 0]


@BOTH
def test_a_jump_through_zero_is_an_event_and_a_pole_is_none(method: str) -> None:
    result = kn.simulate(OSCILLATOR, 3.0, events=[kn.sign(x - 0.5), 1 / (x - 0.5), kn.tan(np.pi * x)], method=method)
    jumps, poles, both = result.t_events
    assert jumps == pytest.approx([np.pi / 6, 5 * np.pi / 6], abs=1e-7)
    assert len(poles) == 0
    assert both == pytest.approx([np.pi / 4, 3 * np.pi / 4], abs=1e-6)


@BOTH
def test_a_zero_in_the_step_that_enters_or_leaves_the_domain_is_found(method: str) -> None:
    """sqrt(x - 1/2) is a number between the times pi/6 and 5 pi/6 of x = sin 2t, halved."""
    start = {"q": [0.0], "v": [2.0], "method": method, "rtol": 1e-10}
    result = kn.simulate(OSCILLATOR, 1.6, events=kn.sqrt(x - 0.5) - 0.5, **start)
    assert result.t_events[0] == pytest.approx([np.arcsin(0.75) / 2, (np.pi - np.arcsin(0.75)) / 2], abs=1e-6)
    near = kn.simulate(OSCILLATOR, 1.6, events=kn.sqrt(x - 0.5) - 1e-3, **start)
    assert near.t_events[0] == pytest.approx([np.pi / 12, 5 * np.pi / 12], abs=1e-5)


@cache
def found_tops(method: str) -> FloatArray:
    """Where the oscillator turns back, the first two times above."""
    return kn.simulate(OSCILLATOR, 4.0, events=rate, **closely(method)).y_events[0][[0, 2], 0]


def closely(method: str) -> dict[str, Any]:
    return {"q": [0.5], "v": [np.sqrt(3)], "method": method, "rtol": 1e-11, "atol": 1e-13, "dense_output": True}


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("width", [0.02, 1e-4, 1e-6])
def test_both_zeros_of_a_dip_within_a_step_are_found(method: str, width: float) -> None:
    """Above cos(width) the value is for as long as *width* about every full turn."""
    top = found_tops(method)
    for k, turn in enumerate(np.pi / 6 + np.pi * np.arange(2)):
        (times,) = kn.simulate(OSCILLATOR, 4.0, events=x - top[k] * np.cos(width), **closely(method)).t_events
        pair = times[np.abs(times - turn) < 1]
        assert pair == pytest.approx([turn - width / 2, turn + width / 2], abs=width / 10 + 1e-9)


def test_a_domain_that_is_left_and_entered_within_a_step() -> None:
    """sqrt((x - 50)^2 - 400) is no number between 30 and 70, which lies within the last step of a motion at constant speed."""
    slider = kn.loads("coordinates x; A | Sx(x) = 1; initial x' = 1;")
    for method in ("dop853", "dopri5", "RK45"):
        run = kn.simulate(slider, 100.0, events=kn.sqrt((x - 50) ** 2 - 400) - 5, method=method)
        assert run.t[-2] < 25
        assert run.t_events[0] == pytest.approx([50 - np.sqrt(425), 50 + np.sqrt(425)], abs=1e-9)


def test_events_of_points_energies_parameters_and_time() -> None:
    bob = kn.symbol("bob.vx")
    result = kn.simulate(
        PENDULUM, 3.0, events=[bob, kn.symbol("q'"), t - 1.25, kn.symbol("kinetic_energy") - kn.symbol("l")]
    )
    points, turns, clock, energy = result.t_events
    assert points == pytest.approx(turns, abs=1e-12)
    assert clock == pytest.approx([1.25], abs=1e-14)
    states = result.y_events[3]
    assert len(energy)
    assert 0.5 * states[:, 1] ** 2 == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("method", ["dop853", "dopri5", "RK45", "LSODA"])
@pytest.mark.parametrize(
    ("value", "zero"),
    [(kn.minimum(X - 2, 0), 2.0), (kn.maximum(0, 1 - X), 1.0), ((X - 1) * kn.step(1 - X), 1.0), (X - 1, 1.0)],
)
def test_a_value_that_stays_zero_is_found_where_it_reaches_it(value: kn.Expr, zero: float, method: str) -> None:
    slider = kn.loads("coordinates x; A | Sx(x) = 1; initial x' = 1;")
    (found,) = kn.simulate(slider, 3.0, events=value, method=method).t_events
    assert found == pytest.approx([zero], abs=1e-9)


def test_steps_are_as_short_as_limits_and_switches_need_to_be_seen() -> None:
    """A body that turns freely would go round many times in one step, and the time alone moves what a switch watches."""
    rotor = "Rotor | Rz(phi), Sx(0.2) = 2, 0.02, 0.03, 0.02; limit stop : Rotor.x >= -0.1, restitution = 1; initial phi' = 20;"
    assert len(kn.simulate(kn.loads(rotor), 3.0, samples=301).changes) == 14
    counter = (
        "parameters k = 0; A | Sx(x) = 1; coordinates x; force f = k on x; when on : sin(100*t) >= 0.5 : k = k + 1;"
    )
    assert len(kn.simulate(kn.loads(counter), 1.0).changes) == 16


@pytest.mark.parametrize(("beyond", "times"), [(1e-3, [1e-3]), (np.inf, [])])
def test_what_falls_from_the_zero_at_which_it_starts_is_found_so_far_beyond(beyond: float, times: list[float]) -> None:
    """As in the loop, also over a step at which that could not look."""
    fall = EventStep(
        0.0, np.zeros(1), 1.0, -np.ones(1), lambda t: -t[None], lambda t, y: y, -np.array(PARTS)[:, None], np.zeros(1)
    )
    events = Events(0, np.array([-1]), np.array([0]), np.array([1e-12]), np.array([beyond]))
    assert [t for _, t in fall.zeros(events, [0])] == pytest.approx(times, abs=1e-15)


BOUNCE = """gravity 9.81; B | Sx(x), Sz(z) = 2; coordinates x, z; initial z = 1, x' = 0.3; output z;
contact floor : point between B and ground axis (0, 0, 1), restitution = 0.8;"""


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"samples": 11}, {"samples": 11, "v": [[0.3, 0.0], [0.3, 0.1]]}])
def test_a_jump_over_zero_at_an_impact_is_an_event(given: dict[str, Any]) -> None:
    falls, fast = kn.symbol("z'"), kn.event(kn.symbol("z'") + 1, direction=1)
    strikes = np.sqrt(2 / 9.81) * np.array([1, 2.6])
    run = kn.simulate(kn.loads(BOUNCE), 1.5, events=[falls, fast, kn.symbol("z")], **given)
    run = run if run.cases is None else run.case(0)
    assert run.t_events[0][::2] == pytest.approx(strikes, abs=1e-9)
    assert run.y_events[0][0, 3] == pytest.approx(0.8 * np.sqrt(2 * 9.81), abs=1e-9)  # the state just past it
    assert run.t_events[1] == pytest.approx(strikes, abs=1e-9)
    assert run.t_events[2] == pytest.approx(strikes, abs=1e-9)  # a zero, and no jump
    ended = kn.simulate(kn.loads(BOUNCE), 1.5, events=kn.event(kn.symbol("z'"), terminal=True), **given)
    ended = ended if ended.cases is None else ended.case(0)
    assert ended.t[-1] == pytest.approx(strikes[0], abs=1e-9)
    assert ended["z'"][-1] > 0


@pytest.mark.parametrize("given", [{}, {"samples": 11}])
def test_a_jump_over_zero_by_a_switch_is_an_event(given: dict[str, Any]) -> None:
    text = "parameters u = -1; M | Sx(x) = 1; coordinates x; force f = u on x; initial x = 1; "
    system = kn.loads(text + "when a : x <= 0 : x' = 1, u = 0.5*u;")
    run = kn.simulate(system, 5.0, events=kn.symbol("x'"), **given)
    assert run.t_events[0] == pytest.approx(np.sqrt(2) + np.array([0, 2]), abs=1e-9)
    ended = kn.simulate(system, 5.0, events=kn.event(kn.symbol("x'"), terminal=1), **given)
    assert (ended.t[-1], ended["x'"][-1]) == (pytest.approx(np.sqrt(2), abs=1e-9), 1.0)
    assert ended.steps <= run.steps


# -- many zeros within a step -------------------------------------------------------------------------------------------

WALK = "B | Sx(x) = 1 kg; coordinates x; initial x' = 1;"


def _oscillations(rng: np.random.Generator) -> tuple[str, FloatArray]:
    """A product of three sines, and its zeros."""
    w, shift = rng.uniform(0.5, 60.0, 3).tolist(), rng.uniform(0.0, 6.0, 3).tolist()
    zeros = [(np.arange(-2, 400) * np.pi - b) / a for a, b in zip(w, shift, strict=True)]
    return "*".join(f"sin({a!r}*x + {b!r})" for a, b in zip(w, shift, strict=True)), np.concatenate(zeros)


def _dips(rng: np.random.Generator) -> tuple[str, FloatArray]:
    """A sine that hardly reaches a height."""
    w, depth = float(rng.uniform(1.0, 20.0)), float(10 ** rng.uniform(-9, -2))
    half, tops = np.arccos(1.0 - depth), np.pi / 2 + 2 * np.pi * np.arange(60)
    return f"sin({w!r}*x) - {1.0 - depth!r}", np.concatenate([tops - half, tops + half]) / w


def _near_double_roots(rng: np.random.Generator) -> tuple[str, FloatArray]:
    """A polynomial with pairs of zeros that are near each other."""
    c, d = rng.uniform(0.5, 4.5, 3), 10 ** rng.uniform(-6, -1, 3)
    text = "*".join(f"((x - {a!r})^2 - {b!r})" for a, b in zip(c.tolist(), (d * d).tolist(), strict=True))
    return text, np.concatenate([c - d, c + d])


@pytest.mark.parametrize("made", [_oscillations, _dips, _near_double_roots])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 5))])
def test_no_zero_of_random_functions_is_lost(made: Callable[..., tuple[str, FloatArray]], seed: int) -> None:
    """A motion without forces, whose steps grow as long as the run."""
    for rng in np.random.default_rng([seed, 9]).spawn(6):
        text, zeros = made(rng)
        zeros = np.sort(zeros[(zeros > 0) & (zeros < 5)])
        system = kn.loads(f"{WALK} output e = {text};")
        found = kn.simulate(system, 5.0, events=system.outputs["e"]).t_events[0]
        assert len(found) == len(zeros), text
        np.testing.assert_allclose(found, zeros, rtol=0, atol=1e-6, err_msg=text)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_no_zero_of_a_fast_sine_is_lost(method: str) -> None:
    """37 whole turns lie between the parts of a step of 4 s."""
    system = kn.loads(f"{WALK} output e = sin(2*pi*37*x) - 0.9;")
    found = kn.simulate(system, 5.0, events=system.outputs["e"], method=method).t_events[0]
    assert len(found) == 2 * 5 * 37


@pytest.mark.slow
def test_cases_lose_no_zeros() -> None:
    """A terminal event at the hundredth zero, in lanes: steps that are made shorter count zeros once."""
    system = kn.loads(f"{WALK} output e = sin(100*x);")
    event = kn.event(system.outputs["e"], terminal=100)
    found = kn.simulate(system, 50.0, events=event, v=[[1.0], [2.0], [0.5]], t_eval=[0.0, 50.0])
    assert [found.case(i).t[-1] for i in range(3)] == pytest.approx([np.pi, np.pi / 2, 2 * np.pi], abs=1e-9)
    assert [len(found.case(i).t_events[0]) for i in range(3)] == [100, 100, 100]
