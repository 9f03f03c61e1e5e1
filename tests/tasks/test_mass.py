"""Whether a mass matrix is singular does not depend on units."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.tasks.mass import SINGULAR, least_inertia

DEFINITE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]])


@pytest.mark.parametrize("units", [(1, 1, 1), (1e6, 1e-5, 1), (1e-3, 1, 1e4)])
def test_units_do_not_count(units: tuple[float, ...]) -> None:
    smallest, _ = least_inertia(DEFINITE * np.outer(units, units))
    assert smallest == pytest.approx(least_inertia(DEFINITE)[0])
    assert smallest > SINGULAR
    singular = np.ones((3, 3)) * np.outer(units, units)
    assert least_inertia(singular)[0] < SINGULAR


@pytest.mark.parametrize("rest", [0.0, 3.7e-33])
def test_the_speed_that_moves_nothing_is_named(rest: float) -> None:
    assert least_inertia(np.diag([2e5, rest, 1e-8])) == (0.0, 1)


def test_a_negative_inertia_is_not_definite() -> None:
    smallest, idle = least_inertia(np.diag([2.0, 1.0, -0.5]))
    assert (smallest, idle) == (-0.25, 2)


def test_no_inertia_at_all() -> None:
    assert least_inertia(np.zeros((2, 2))) == (0.0, 0)
