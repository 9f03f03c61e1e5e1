"""Newton's method on the laws of contact: against dense algebra and the laws of Signorini and Coulomb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.kernels.contact.alart_curnier import COMPLIANCE, SOFTEST, linearise_law, solve_laws
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.problems import RandomProblem, each_island, fallen, island_work, random_problem
from tests.kernels.contact.test_solvers import signorini_coulomb

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}


def solved(p: RandomProblem, seed: int, way: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Free speeds of a problem, and those after its impulses."""
    work = island_work(p)
    free = fallen(p, work, seed, way)
    v = free.copy()
    for active, count in each_island(p, way):
        given = (p.problem, p.terms, p.solution, work, active, count, v, 1e-11)
        assert way(solve_laws)(*given, COMPLIANCE, SOFTEST, True) >= 0.0
    return free, v


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_impulses_obey_the_laws_of_all_contacts(seed: int) -> None:
    m, mu = 3 + seed % 4, (0.0, 0.2, 0.4)[seed % 3]
    p = random_problem(seed, blocks=5 if seed >= 12 else 2, contacts=m, tied=seed % 2 == 0, mu=mu)
    free, v = solved(p, seed, machine_code)
    r, u = p.solution.impulse, p.W @ v + p.solution.target
    moved = np.linalg.solve(p.K, p.W.T @ r)
    assert v[~p.massless] == pytest.approx((free + moved)[~p.massless], abs=1e-9)
    own = [slice(3 * c, 3 * c + 3) for c in range(m)]
    off = [signorini_coulomb(u[k][0], u[k][1:], r[k][0], r[k][1:], mu) for k, mu in zip(own, p.mu, strict=True)]
    assert max(off) < 1e-8
    assert np.abs(r).max() > 0


def test_machine_code_has_the_bits_of_python() -> None:
    found = []
    for way in WAYS.values():
        p = random_problem(3, blocks=2, contacts=4, mu=0.4)
        found.append((*solved(p, 3, way), p.solution.impulse.copy()))
    for a, b in zip(*found, strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_linear_law_is_that_of_differences(seed: int) -> None:
    """dx = -f - H du keeps x - P(y) at zero to first order: the residual of the changed impulses is of second order."""
    rng = np.random.default_rng(seed)
    x, u, mu, r, R = rng.normal(size=3), rng.normal(size=3), 0.7, 0.3, 0.2
    normal = seed % 4 != 3
    if not normal:
        x[0], x[2], u[2] = 0.0, 0.0, 0.0
    f, H, h = np.zeros(3), np.zeros(9), 1e-7
    linearise_law(x, u, mu, int(normal), r, R, f, H)

    def off(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        y = x - r * u
        if not normal:
            return np.array([x[0], x[1] - np.clip(y[1], -mu, mu), x[2]])
        n, t = max(y[0], 0.0), float(np.hypot(y[1], y[2]))
        return x - np.array([n, *(y[1:] * min(1.0, mu * n / t))])

    du = rng.normal(size=3) * h
    if not normal:
        du[2] = 0.0
    before = off(x, u)
    # The step that removes the residual times h, at velocities that change by du and, over R, with the impulses.
    dx = -h * f - H.reshape(3, 3) @ du / R
    after = off(x + dx, u + du + R * dx)
    assert after == pytest.approx((1 - h) * before, abs=1e-11)
