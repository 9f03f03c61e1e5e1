"""Zeros of events within one step: all that its interpolant shows, by the loop of one motion and by that of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.integration.native import NativeRun
from kineta.integration.native_ensemble import EnsembleRun
from kineta.integration.problem import Events
from kineta.kernels.integrate import integration_loop
from kineta.numerics.roots import PARTS, curvature_bound, nearest_approach
from kineta.numerics.tableaux import DOP853
from kineta.runtime.events import EventStep
from tests.integration.problems import FloatArray, problem, watched
from tests.kernels.test_ensemble import begun

Function = Callable[[float], float]


def alone(events: Events) -> FloatArray:
    """The times of the zeros of *events* of the time in a single step from 0 to 1."""
    still = problem(lambda t, y: 0 * y, 0.0, 1.0, [0], events=events)
    (piece,) = NativeRun(DOP853, integration_loop(DOP853), still, rtol=1.0, atol=1.0, first_step=1.0)
    return piece.zeros[1]


def in_lanes(f: Function, direction: int, left: int, grid: Any = ()) -> EnsembleRun:
    """Three cases of the same."""
    found = begun(
        lambda t, y, h: 0 * y, 0.0, 1.0, np.zeros((3, 1)), rtol=1.0, atol=1.0, values0=np.full((3, 1), f(0.0)),
        events=lambda t, y: np.array([f(t)]), directions=(direction,), left=(left,), grid=grid,
    )  # fmt: skip
    found.size[:] = 1.0
    found.run(1, lambda _: None)
    return found


def in_one_step(f: Function, direction: int = 0) -> FloatArray:
    """The zeros of f(t) found in a single step, the same by both loops."""
    found = alone(watched(lambda t, y: np.array([f(t)]), 1, direction))
    assert np.array_equal(in_lanes(f, direction, 0).zeros.t, np.tile(found, 3))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_both_zeros_of_a_dip_are_found_however_thin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    middle, width = rng.uniform(0.02, 0.98), 10.0 ** rng.uniform(-6, -2)
    slope, sign = rng.uniform(-0.7, 0.7, 2), rng.choice([-1, 1])

    def f(t: float) -> float:
        x = t - middle
        return sign * (x * x - width**2 / 4) * (1 + slope[0] * x) * (2 + np.sin(slope[1] + 2 * t))

    assert in_one_step(f) == pytest.approx([middle - width / 2, middle + width / 2], abs=1e-13 / width + 1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_zeros_of_one_event_come_in_their_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    zeros = np.cumsum(rng.uniform(0.26, 0.33, 3)) - 0.1
    assert in_one_step(lambda t: float(np.prod(t - zeros))) == pytest.approx(zeros, abs=1e-14)
    assert in_one_step(lambda t: float(np.prod(t - zeros)), direction=1) == pytest.approx(zeros[::2], abs=1e-14)
    assert in_one_step(lambda t: float(np.prod(t - zeros)), direction=-1) == pytest.approx(zeros[1:2], abs=1e-14)


def looked_at(f: Function) -> FloatArray:
    """The zeros of f(t) in a step from 0 to 1 of a method whose steps are looked at."""
    whole = EventStep(
        0.0, np.zeros(1), 1.0, np.zeros(1), lambda t: 0 * t[None], lambda t, y: np.array([f(t)]), *np.empty((2, 0, 0))
    )
    events = Events(0, np.array([0]), np.array([0]), np.array([-1.0]), np.array([np.inf]))
    return np.array([t for _, t in whole.piece(0.0, 1.0, 1.0).zeros(events, [0])])


@pytest.mark.parametrize("seed", range(20))
def test_a_dip_behind_a_rise_is_found(seed: int) -> None:
    """Two extrema between two places of a step that are looked at, as of the distance of two thrown balls."""
    rng = np.random.default_rng(seed)
    first, last = np.sort(rng.uniform(0.02, 0.24, 2))
    steep = (1 / first + 1 / last) * rng.uniform(1.05, 3)

    def f(t: float) -> float:
        return float((t - first) * (t - last) * (1 + steep * t))

    assert f(1e-4) > f(0.0) > 0
    assert in_one_step(f) == pytest.approx([first, last], abs=1e-13)
    assert looked_at(f) == pytest.approx([first, last], abs=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_all_zeros_of_what_turns_twice_in_a_step_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level, speed, angle = rng.uniform(-0.95, 0.95), rng.uniform(3, 11), rng.uniform(0, 2 * np.pi)
    turns = 2 * np.pi * np.arange(-1, 5)
    zeros = (np.concatenate([turns + np.arccos(level), turns - np.arccos(level)]) - angle) / speed
    zeros = np.sort(zeros[(zeros > 0) & (zeros < 1)])
    assert in_one_step(lambda t: float(np.cos(angle + speed * t) - level)) == pytest.approx(zeros, abs=1e-13)
    assert looked_at(lambda t: float(np.cos(angle + speed * t) - level)) == pytest.approx(zeros, abs=1e-13)


def test_a_count_of_zeros_may_end_within_a_step() -> None:
    def f(t: float) -> float:
        return (t - 0.2) * (t - 0.45) * (t - 0.8)

    cases = in_lanes(f, 0, 2, grid=[0.3, 0.6])
    assert cases.t == pytest.approx([0.45] * 3, abs=1e-14)
    assert cases.zeros.t == pytest.approx([0.2, 0.45] * 3, abs=1e-14)
    assert np.array_equal(np.isfinite(cases.samples[:, :, 0]), [[True, False]] * 3)


@pytest.mark.parametrize("middle", [0.1, 0.25, 0.4, 0.5, 0.9, 1.0])
def test_a_value_that_only_touches_zero_is_found_there_or_not_at_all(middle: float) -> None:
    found = in_one_step(lambda t: (t - middle) ** 2)
    assert found == pytest.approx([middle] * len(found), abs=1e-6)
    assert len(found) <= 2


def test_a_value_that_does_not_come_to_zero_has_none() -> None:
    assert not len(in_one_step(lambda t: 1e-12 + (t - 0.3) ** 2))
    assert not len(in_one_step(lambda t: -1e-12 - abs(t - 0.3)))


def test_noise_in_a_step_that_is_short_already_is_looked_at_in_few_pieces() -> None:
    calls = 0

    def noise(t: float, y: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        return np.array([1.1 + np.sin(1e12 * t)])

    still = problem(lambda t, y: 0 * y, 0.0, 1.0, [0], events=watched(noise, 1, 0))
    next(iter(NativeRun(DOP853, integration_loop(DOP853), still, rtol=1.0, atol=1.0, first_step=1e-6, max_steps=1)))
    assert calls < 2000  # 186 570 in all pieces down to the shortest


def test_an_event_that_leaves_the_zero_of_the_start_and_returns_in_the_first_step() -> None:
    events = watched(lambda t, y: np.array([t * (0.6 - t)]), 1)
    events.noise[:] = 1e-14
    assert alone(events) == pytest.approx([0.6], abs=1e-14)


def test_bend_bounds_how_far_a_parabola_dips() -> None:
    for middle in np.linspace(0.01, 0.99, 23):
        values = [(x - middle) ** 2 for x in PARTS]
        assert min(values) < curvature_bound(values)
        assert min(v + 0.04 for v in values) > curvature_bound(values)


def test_a_dip_is_where_a_function_turns() -> None:
    assert nearest_approach(np.cosh, -0.3, 0.2, np.cosh(-0.3), np.cosh(0.2), 1.0) == pytest.approx(0, abs=1e-9)
    assert nearest_approach(np.exp, -0.3, 0.2, np.exp(-0.3), np.exp(0.2), 1.0) is None
