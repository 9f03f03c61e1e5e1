"""Memory of runs, which the next run of the same kind uses again."""

from __future__ import annotations

import numpy as np

from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import DOP853
from tests.integration.problems import FloatArray, problem


def rotation(t: float, y: FloatArray) -> FloatArray:
    return np.array([y[1], -y[0]])


def run(of: Problem) -> NativeRun:
    return NativeRun(DOP853, integration_loop(DOP853), of, rtol=1e-9, atol=1e-12, dense=True)


def ended(of: NativeRun) -> tuple[FloatArray, FloatArray, int, int]:
    """Times, states, and counts of a run to its end."""
    pieces = list(of)
    t, y = np.concatenate([p.t for p in pieces]), np.concatenate([p.y for p in pieces])
    return t, y, of.evaluations, of.rejected


def test_a_run_in_memory_of_another_is_that_in_memory_of_its_own() -> None:
    first = problem(rotation, 0.0, 3.0, [1.0, 0.0])
    other = Problem(first.rhs, first.h, 1.0, -2.0, np.array([0.3, 7.0]))
    alone = ended(run(other))
    before = run(first)
    record = before._data
    ended(before)
    before.close()
    again = run(other)
    assert again._data is record
    found = ended(again)
    assert all(np.array_equal(a, b) for a, b in zip(found, alone, strict=True))


def test_runs_at_a_time_share_no_memory() -> None:
    of = problem(rotation, 0.0, 3.0, [1.0, 0.0])
    one = run(of)
    one.close()
    two, three = run(of), run(of)
    assert two._data is not three._data


def test_what_a_run_has_found_stays_when_the_next_one_has_its_memory() -> None:
    of = problem(rotation, 0.0, 3.0, [1.0, 0.0])
    one = run(of)
    (piece, *_) = list(one)
    t, y, between = piece.t.copy(), piece.y.copy(), piece.solution
    assert between is not None
    middle = np.asarray(between(0.5 * t[0])).copy()
    one.close()
    ended(run(Problem(of.rhs, of.h, 0.0, 3.0, np.array([-4.0, 2.0]))))
    assert np.array_equal(piece.t, t)
    assert np.array_equal(piece.y, y)
    assert np.array_equal(between(0.5 * t[0]), middle)
