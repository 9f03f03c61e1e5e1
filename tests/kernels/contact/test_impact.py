"""Impacts: the laws of restitution, energy, and impulses that other equations give."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.kernels.contact import block_inertia
from kineta.kernels.contact.impact import impact
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.impact_laws import law_impulses, newton_impulses, poisson_impulses, without_gain
from tests.kernels.contact.problems import RandomProblem, island_work, pile, problem_of, random_problem


def struck(p: RandomProblem, v: np.ndarray) -> tuple[int, np.ndarray]:
    """The number of struck islands, and the speeds after an impact of all contacts."""
    m, work, after = len(p.mu), island_work(p), v.copy()
    p.terms.velocity[:] += p.W @ v
    machine_code(block_inertia.copy_blocks)(p.problem, p.terms.inertia, work.inertia)
    for c in range(m):
        machine_code(block_inertia.respond)(p.problem, p.terms, p.solution, c, np.zeros(3 * len(p.K)))
    p.solution.active[:] = np.arange(m)
    found = machine_code(impact)(p.problem, p.terms, p.solution, work, p.solution.active, m, 1e-9, 1e-6, after)
    return found, after


def approaching(p: RandomProblem, rng: np.random.Generator) -> np.ndarray:
    """Speeds that keep constraints, with which all contacts close."""
    free = ~p.massless
    J = -p.K[np.ix_(p.massless, free)]
    v = rng.normal(size=free.sum())
    # The first speed of each block opens all its contacts, and no constraint holds it.
    firsts = p.problem.block_speeds[p.problem.block_start[:-1]]
    keep = np.zeros(len(free), dtype=bool)
    keep[firsts] = True
    if len(J):
        v -= np.linalg.pinv(J) @ (J @ v)
    whole = np.zeros(len(free))
    whole[free] = v
    for _ in range(200):
        u = (p.W @ whole)[::3]
        if u.max() < -0.1:
            break
        whole[firsts] -= 0.2
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("poisson", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_impulses_are_those_of_the_laws_of_restitution(seed: int, poisson: bool) -> None:
    """Over dependent rows the laws determine velocities; by Poisson's law those after the impulses while contacts closed."""
    rng = np.random.default_rng(seed)
    m = 1 + seed % 3
    p = random_problem(seed, blocks=2, contacts=m, tied=seed % 2 == 0, mu=(0.0, 0.2, 0.5, 1.0)[seed % 4])
    e = rng.uniform(0.1, 1.0, m)
    p.terms.law[2::4] = e
    p.problem.poisson[:] = int(poisson)
    v = approaching(p, rng)
    found, after = struck(p, v)
    assert found >= 1
    S, before = p.W @ np.linalg.solve(p.K, p.W.T), p.W @ v
    if poisson:
        closing = p.solution.compression
        stopped = law_impulses(S, before, p.mu, np.zeros(m))
        assert S @ closing == pytest.approx(S @ stopped, abs=1e-9)
        expected = without_gain(S, before, e, lambda e: poisson_impulses(S, before, p.mu, e, closing))
    else:
        expected = without_gain(S, before, e, lambda e: newton_impulses(S, before, p.mu, e))
    if np.linalg.matrix_rank(S, 1e-9) == 3 * m:
        assert p.solution.impulse == pytest.approx(expected, abs=1e-9)
    assert p.W @ after == pytest.approx(before + S @ expected, abs=1e-9)
    assert after == pytest.approx(v + np.linalg.solve(p.K, p.W.T @ p.solution.impulse), abs=1e-9)
    assert (p.W @ after)[::3].min() > -1e-9


@pytest.mark.parametrize("seed", range(20))
def test_no_impact_gains_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(seed, blocks=3, contacts=5, tied=seed % 2 == 0, mu=1.0)
    p.terms.law[2::4] = 1.0
    p.problem.poisson[:] = rng.integers(0, 2, 5)
    v = approaching(p, rng)
    found, after = struck(p, v)
    assert found >= 1
    free = ~p.massless
    M = p.K[np.ix_(free, free)]
    before, then = (x[free] @ M @ x[free] for x in (v, after))
    assert then <= before * (1 + 1e-9)
    assert p.K[np.ix_(p.massless, free)] @ after[free] == pytest.approx(0, abs=1e-9)
    assert (p.W @ after)[::3].min() > -1e-8


def test_what_does_not_approach_is_not_struck() -> None:
    p = random_problem(3, blocks=3, contacts=4)
    v = -approaching(p, np.random.default_rng(3))
    found, after = struck(p, v)
    assert found == 0
    assert np.array_equal(after, v)


def test_numbers_that_are_none_are_no_impulses() -> None:
    p = random_problem(1, blocks=2, contacts=2, tied=False)
    v = approaching(p, np.random.default_rng(1))
    p.terms.jacobian[0] = np.nan
    found, _ = struck(p, v)
    assert found == -1


@pytest.mark.parametrize("poisson", [False, True])
def test_slow_approaches_do_not_rebound(poisson: bool) -> None:
    for speed, expected in ((-1.0, 0.5), (-2e-6, 1e-6), (-0.5e-6, 0.0)):
        q = pile([2.0])
        q.terms.law[2] = 0.5
        q.problem.poisson[:] = int(poisson)
        found, after = struck(q, np.array([speed]))
        assert found == 1
        assert after == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("contacts", [2, 5])
def test_friction_in_a_joint_has_no_impulse(contacts: int) -> None:
    """The friction force of a joint is finite, and an impact takes no time."""
    p, q = (random_problem(2, blocks=1, contacts=contacts, mu=0.4) for _ in range(2))
    joint = slice(3 * (contacts - 1), 3 * contacts)
    n = len(p.K)
    p.terms.jacobian[3 * n * (contacts - 1) :][:n] = 0.0
    q.terms.jacobian[3 * n * (contacts - 1) :] = 0.0
    p.problem.has_normal[-1] = 0
    p.terms.law[-4:] = [100.0, 100.0, 0.0, 0.0]
    p.W[joint.start], q.W[joint] = 0.0, 0.0
    v = approaching(q, np.random.default_rng(0))
    found, after = struck(p, v)
    _, expected = struck(q, v)
    assert found == 1
    assert not p.solution.impulse[joint].any()
    assert after == pytest.approx(expected, abs=1e-12)


def test_a_contact_that_no_speed_moves_is_not_struck() -> None:
    W = np.zeros((6, 1))
    W[3, 0] = 1.0
    p = problem_of([np.eye(1)], [[0]], W, [[], [0]], np.full(2, 0.5), np.array([-1.0]))
    p.problem.has_normal[:] = 1
    found, after = struck(p, np.array([-1.0]))
    assert found == 1
    assert after == pytest.approx(0, abs=1e-12)
    assert p.solution.impulse == pytest.approx([0, 0, 0, 1, 0, 0], abs=1e-12)


def test_friction_below_zero_has_no_impulse() -> None:
    p = problem_of([np.eye(3)], [[0, 1, 2]], np.eye(3), [[0]], np.array([-0.5]), np.zeros(3))
    found, after = struck(p, np.array([-1.0, 1.0, 0.0]))
    assert found == 1
    assert after == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("poisson", [False, True])
def test_what_time_moves_strikes_as_well(poisson: bool) -> None:
    """A belt that rises with 2 m/s and runs with 1 m/s takes along what it strikes."""
    p = problem_of([2.0 * np.eye(3)], [[0, 1, 2]], np.eye(3), [[0]], np.array([0.1]), np.zeros(3))
    p.terms.law[2] = 0.5
    p.problem.poisson[:] = int(poisson)
    p.terms.velocity[:] = -2.0, -1.0, 0.0
    found, after = struck(p, np.zeros(3))
    assert found == 1
    assert after == pytest.approx([3.0, 0.3, 0.0], abs=1e-12)
