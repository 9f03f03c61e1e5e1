"""Impulses that do not obey all laws: what they may do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kineta.kernels.time_stepping.step_impulses import keep_energy

SPEEDS, CONTACTS = 9, 5


def island(rng: np.random.Generator, scale: float) -> Any:
    """A step of an island at random, with impulses of this *scale*."""
    inertia = rng.normal(size=(SPEEDS, SPEEDS))
    inertia = inertia @ inertia.T + np.eye(SPEEDS)
    rows = rng.normal(size=(CONTACTS, 3, SPEEDS))
    before, drift = rng.normal(size=SPEEDS), rng.normal(size=(CONTACTS, 3))
    free = before + 0.1 * rng.normal(size=SPEEDS)
    impulse = scale * np.abs(rng.normal(size=(CONTACTS, 3))) * [1, 0.3, 0.3]
    response = np.linalg.solve(inertia, rows[..., None]).reshape(CONTACTS, 3, SPEEDS)
    return SimpleNamespace(
        free=free,
        tried=free + np.einsum("ci,cik->k", impulse, response),
        motion=SimpleNamespace(
            problem=SimpleNamespace(
                row_start=np.arange(CONTACTS + 1) * SPEEDS, row_speeds=np.tile(np.arange(SPEEDS), CONTACTS)
            ),
            terms=SimpleNamespace(jacobian=rows.ravel(), velocity=(rows @ before + drift).ravel()),
            solution=SimpleNamespace(before=before, impulse=impulse.ravel(), response=response.ravel()),
        ),
    )


def work(run: Any, active: list[int]) -> float:
    """The work of the impulses of the *active* contacts on the mean relative velocities."""
    motion = run.motion
    rows, x = motion.terms.jacobian.reshape(-1, SPEEDS), motion.solution.impulse
    mean = motion.terms.velocity + 0.5 * rows @ (run.tried - motion.solution.before)
    return float((mean * x).reshape(-1, 3)[active].sum())


@pytest.mark.parametrize("scale", [0.01, 0.3, 10])
def test_they_gain_no_energy_and_stay_what_they_are_where_they_lose_some(scale: float) -> None:
    rng, reduced = np.random.default_rng(1), 0
    for _ in range(50):
        run = island(rng, scale)
        active, impulse = [3, 0, 2], run.motion.solution.impulse.copy()
        for c in {*range(CONTACTS)} - {*active}:
            run.motion.solution.impulse[3 * c : 3 * c + 3] = impulse[3 * c : 3 * c + 3] = 0
        response = run.motion.solution.response.reshape(-1, SPEEDS)
        run.tried = run.free + impulse @ response
        had = work(run, active)
        keep_energy(run, np.array(active), len(active))
        now, x = work(run, active), run.motion.solution.impulse
        size = np.abs(impulse).sum()
        if had <= 0:
            np.testing.assert_array_equal(x, impulse)
        else:
            reduced += 1
            part = x[9] / impulse[9]
            assert 0 <= part < 1
            np.testing.assert_allclose(x, part * impulse, atol=1e-14 * size)
            assert abs(now) < 1e-12 * size
        np.testing.assert_allclose(run.tried, run.free + x @ response, atol=1e-12 * max(1, size))
    assert reduced > 0
