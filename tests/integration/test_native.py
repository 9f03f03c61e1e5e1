"""The native loop: its steps, its order, its interpolants, its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate

from kineta.integration import loop_abi
from kineta.integration.native import FAILURES, NativeRun
from kineta.integration.problem import Problem
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import DOP853, DOPRI5, Tableau
from tests.integration.problems import FloatArray, problem, random_rate, watched

PEERS = [(DOP853, scipy.integrate.DOP853), (DOPRI5, scipy.integrate.RK45)]
WITH_PEER = pytest.mark.parametrize(("tableau", "peer"), PEERS, ids=["dop853", "dopri5"])
EACH = pytest.mark.parametrize("tableau", [DOP853, DOPRI5], ids=["dop853", "dopri5"])


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses, however slow the machine is."""
    monkeypatch.setattr("kineta.integration.native.PAUSE", np.inf)


def start(tableau: Tableau, problem: Problem, **options: Any) -> NativeRun:
    return NativeRun(tableau, integration_loop(tableau), problem, **options)


def steps(run: NativeRun) -> tuple[FloatArray, FloatArray, str | None]:
    """Times and states at all steps, the start included, and the end."""
    pieces = list(run)
    t = np.concatenate([[run.problem.t0], *(p.t for p in pieces)])
    return t, np.vstack([run.problem.y0, *(p.y for p in pieces)]), pieces[-1].end


def rotation(t: float, y: FloatArray) -> FloatArray:
    return np.array([y[1], -y[0]])


@WITH_PEER
@pytest.mark.parametrize("seed", range(8))
def test_steps_are_those_of_scipy(tableau: Tableau, peer: Any, seed: int) -> None:
    rate, y0 = random_rate(seed)
    t0, t1 = (0.0, 4.0) if seed % 2 else (3.0, -1.0)
    rtol = 10.0 ** -(2 + seed % 5)
    atol = rtol / 100
    noise = 1e-7  # of a step size: the estimated error is a small difference of large numbers
    run = start(tableau, problem(rate, t0, t1, y0), rtol=rtol, atol=atol, dense=True)
    (piece,) = run
    theirs = scipy.integrate.solve_ivp(rate, (t0, t1), y0, method=peer, rtol=rtol, atol=atol, dense_output=True)
    assert piece.end == ""
    assert np.r_[t0, piece.t] == pytest.approx(theirs.t, abs=noise)
    assert piece.y == pytest.approx(theirs.y.T[1:], abs=10 * noise)
    extra = len(tableau.extra) * len(piece.t)
    assert run.evaluations - extra == theirs.nfev - (extra if tableau is DOP853 else 0)
    dense = piece.solution
    times = np.linspace(t0, t1, 57)
    assert dense(times) == pytest.approx(theirs.sol(times), abs=10 * noise)
    assert dense(times[5]) == pytest.approx(dense(times)[:, 5], abs=1e-15)


@EACH
def test_error_falls_with_the_order_of_the_method(tableau: Tableau) -> None:
    counts = np.array([8, 16, 32]) if tableau is DOP853 else np.array([20, 40, 80])
    errors = []
    for count in counts:
        size = 6.0 / count
        run = start(tableau, problem(rotation, 0.0, 6.0, [1, 0]), rtol=0.1, atol=1e9, max_step=size, first_step=size)
        t, y, _ = steps(run)
        assert len(t) == count + 1
        errors.append(np.abs(y[-1] - [np.cos(6), -np.sin(6)]).max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(1 / counts))
    assert slopes == pytest.approx(tableau.order, abs=0.5)


@EACH
def test_interpolant_is_as_good_as_the_tolerance(tableau: Tableau) -> None:
    (piece,) = start(tableau, problem(rotation, 0.0, 10.0, [1, 0]), rtol=1e-10, atol=1e-10, dense=True)
    dense = piece.solution
    t = np.linspace(0, 10, 301)
    assert dense(t) == pytest.approx(np.array([np.cos(t), -np.sin(t)]), abs=2e-8)
    assert dense(piece.t) == pytest.approx(piece.y.T, abs=1e-15)


@EACH
def test_at_the_ends_of_steps_the_interpolant_is_the_state(tableau: Tableau) -> None:
    """Where they are asked for by themselves, and beside other times."""
    (piece,) = start(tableau, problem(rotation, 0.0, 10.0, [1, 0]), rtol=1e-8, atol=1e-8, dense=True)
    among = np.sort(np.concatenate([piece.t, 0.5 * (piece.t[:-1] + piece.t[1:])]))
    assert (piece.solution(piece.t) == piece.y.T).all()
    assert (piece.solution(piece.t[-1]) == piece.y[-1]).all()
    assert (piece.solution(among)[:, ::2] == piece.y.T).all()


def test_a_pause_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(start(DOPRI5, problem(rotation, 0.0, 40.0, [1, 0]), rtol=1e-8, atol=1e-8))
    monkeypatch.setattr("kineta.integration.native.PAUSE", 0.0)
    parts = list(start(DOPRI5, problem(rotation, 0.0, 40.0, [1, 0]), rtol=1e-8, atol=1e-8))
    assert (len(whole), len(parts)) == (1, -(-len(whole[0].t) // 16))
    assert np.array_equal(whole[0].t, np.concatenate([p.t for p in parts]))
    assert np.array_equal(whole[0].y, np.concatenate([p.y for p in parts]))


def test_no_more_steps_are_made_than_allowed() -> None:
    *_, last = start(DOPRI5, problem(rotation, 0.0, 40.0, [1, 0]), rtol=1e-8, atol=1e-8, max_steps=50)
    all_of_them = steps(start(DOPRI5, problem(rotation, 0.0, 40.0, [1, 0]), rtol=1e-8, atol=1e-8))
    assert (last.end, last.t[-1]) == (None, all_of_them[0][50])


def falling(t: float, y: FloatArray) -> FloatArray:
    return y[:1]


def test_zeros_of_an_event_are_found_on_the_way() -> None:
    (piece,) = start(DOP853, problem(rotation, 0.0, 10.0, [1, 0], events=watched(falling, 2)), rtol=1e-10, atol=1e-10)
    which, times, states = piece.zeros
    assert (piece.end, piece.odd) == ("", False)
    assert np.array_equal(which, [0, 0, 0])
    assert times == pytest.approx(np.pi * np.array([0.5, 1.5, 2.5]), abs=1e-9)
    assert states[:, 1] == pytest.approx([-1, 1, -1], abs=1e-9)
    assert np.abs(states[:, 0]).max() < 1e-14


@pytest.mark.parametrize(("direction", "left", "zeros"), [(-1, 2, [0.5, 2.5]), (1, 1, [1.5]), (0, 3, [0.5, 1.5, 2.5])])
def test_the_last_zero_wanted_ends_the_run(direction: int, left: int, zeros: list[float]) -> None:
    events = watched(falling, 2, direction, left)
    *_, last = start(DOP853, problem(rotation, 0.0, 10.0, [1, 0], events=events), rtol=1e-10, atol=1e-10)
    assert (last.end, last.odd, events.left[0]) == (None, False, 0)
    assert last.zeros[1] == pytest.approx(np.pi * np.array(zeros), abs=1e-9)
    assert last.t[-2] < last.zeros[1][-1] <= last.t[-1]


def test_a_zero_in_the_last_step_ends_the_run_with_it() -> None:
    events = watched(falling, 2, 0, 1)
    *_, last = start(DOP853, problem(rotation, 0.0, np.pi / 2 + 1e-3, [1, 0], events=events), rtol=1e-6, atol=1e-6)
    assert (last.end, len(last.zeros[0])) == ("", 1)
    assert np.all(np.diff(last.t) > 0)


@pytest.mark.parametrize(("beyond", "times"), [(1e-3, [1e-3]), (np.inf, [])])
def test_an_event_that_falls_from_the_zero_at_which_it_starts_counts_so_far_beyond(beyond: float, times: Any) -> None:
    events = watched(lambda t, y: y[:1], 1, -1, 0)
    events.noise[:], events.beyond[:] = 1e-12, beyond
    fall = problem(lambda t, y: np.array([-1.0]), 0.0, 1.0, [0.0], events=events)
    (piece,) = start(DOP853, fall, rtol=1e-6, atol=1e-6)
    assert piece.zeros[1] == pytest.approx(times, abs=1e-15)


def test_a_pause_where_an_event_has_no_value_at_one_end_of_a_step() -> None:
    def root(t: float, y: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.sqrt(y[:1]) - 0.5

    pieces = list(start(DOP853, problem(rotation, 0.0, 4.0, [1, 0], events=watched(root, 2)), rtol=1e-6, atol=1e-6))
    assert [(p.end, p.odd) for p in pieces] == [(None, True), ("", False)]
    assert pieces[0].y[-2, 0] > 0 > pieces[0].y[-1, 0]


def test_more_zeros_than_there_is_room_for() -> None:
    fast = watched(lambda t, y: np.sin(50 * t * np.arange(1, 4)), 2, [0, 0, 0], [0, 0, 0])
    pieces = list(start(DOP853, problem(rotation, 0.1, 10.0, [1, 0], events=fast), rtol=1e-6, atol=1e-6, max_step=0.01))
    assert len(pieces) > 10
    which, times = (np.concatenate([p.zeros[r] for p in pieces]) for r in range(2))
    for i in range(3):
        spacing = np.pi / (50 * (i + 1))
        assert np.sort(times[which == i]) == pytest.approx(
            spacing * np.arange(np.ceil(0.1 / spacing), 10 / spacing), abs=1e-12
        )


def test_quaternions_are_made_units_at_every_step() -> None:
    def turn(t: float, y: FloatArray) -> FloatArray:
        w, x, y_, z = y[1:]
        p, q, r = 3.0, -2.0, 1.0
        return (
            np.array(
                [0.0, -x * p - y_ * q - z * r, w * p + y_ * r - z * q, w * q + z * p - x * r, w * r + x * q - y_ * p]
            )
            / 2
        )

    spin = Problem(problem(turn, 0, 1, np.zeros(5)).rhs, np.zeros(1), 0.0, 9.0, np.array([5.0, 1, 0, 0, 0]), (1,))
    _, y, _ = steps(start(DOPRI5, spin, rtol=1e-3, atol=1e-3))
    assert np.linalg.norm(y[:, 1:], axis=1) == pytest.approx(1, abs=1e-15)
    assert np.array_equal(y[:, 0], np.full(len(y), 5.0))


@EACH
def test_a_pole_ends_the_run_before_it(tableau: Tableau) -> None:
    t, y, end = steps(start(tableau, problem(lambda t, y: y**2, 0.0, 2.0, [1.0]), rtol=1e-8, atol=1e-10))
    assert end in FAILURES.values()
    assert 1 - 1e-6 < t[-1] < 1 + 1e-6
    early = t < 0.9
    assert y[early, 0] == pytest.approx(1 / (1 - t[early]), rel=1e-5)


@EACH
def test_a_rate_that_stops_being_finite_ends_the_run(tableau: Tableau) -> None:
    def rate(t: float, y: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return -1 - 0 * np.sqrt(y)

    t, y, end = steps(start(tableau, problem(rate, 0.0, 2.0, [1.0]), rtol=1e-8, atol=1e-10))
    assert end == FAILURES[loop_abi.NOT_FINITE]
    assert t[-1] == pytest.approx(1.0, abs=1e-6)
    assert np.isfinite(y).all()
