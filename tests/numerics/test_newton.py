"""Damped Newton's method: it converges from afar, takes the least change, and stops where nothing decreases."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import lstsq
from kineta.numerics.newton import NonlinearSystem, damped_newton, nearest_zero


def test_a_step_that_makes_the_residual_larger_is_halved() -> None:
    """Newton's method for arctan diverges from 10 without damping."""
    x, off = damped_newton(
        np.array([10.0]), np.arctan, lambda x, off: -off * (1 + x**2) if abs(off).max() > 1e-15 else None, np.add
    )
    assert abs(x[0]) < 1e-15
    assert off == np.arctan(x)


def test_the_least_change_leads_to_the_nearest_point_of_a_plane() -> None:
    A, q = np.array([[1.0, 2.0, 2.0]]), np.array([3.0, -1.0, 0.5])
    found, off = damped_newton(q, lambda x: A @ x - 4.5, lambda _, off: -lstsq(A, off, what="a plane"), np.add)
    assert found == pytest.approx(q + A[0] * (4.5 - A[0] @ q) / 9, abs=1e-15)
    assert np.abs(off).max() < 1e-15


def test_an_iteration_without_a_zero_ends_at_the_least_residual() -> None:
    system: NonlinearSystem[FloatArray] = NonlinearSystem(lambda x: x**2 + 1.0, lambda x: np.diag(2 * x), np.add)
    found = nearest_zero(np.array([2.0]), system)
    assert not found.converged
    assert found.residual[0] == pytest.approx(1.0, abs=0.1)
