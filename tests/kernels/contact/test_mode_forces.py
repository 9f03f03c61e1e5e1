"""Forces and accelerations in a mode against dense algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.kernels.contact import mode_forces, pivoting
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING, ContactMode, ModeWork
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.problems import RandomProblem, random_problem

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


def memory(p: RandomProblem, modes: np.ndarray, toward: np.ndarray) -> tuple[ContactMode, ModeWork]:
    m, n = len(p.mu), len(p.K)
    contacts = ContactMode(mode=modes, candidate=modes, direction=toward.ravel().copy(), reference=np.zeros(3 * m))
    work = ModeWork(
        force=np.zeros(3 * m),
        toward=np.zeros(2 * m),
        speeds=np.zeros(2 * n),
        rows=np.zeros(6 * m, dtype=np.int64),
        matrix=np.zeros(9 * m * m),
        **{name: np.zeros(3 * m) for name in ("right", "found", "centre")},
        order=np.zeros(6 * m, dtype=np.int64),
    )
    return contacts, work


@pytest.mark.parametrize("seed", range(12))
def test_elimination_finds_rank_and_solution(seed: int, way: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(seed)
    n, rank = 6, 6 - seed % 3
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    b, x, order = A @ rng.normal(size=n), np.zeros(n), np.zeros(2 * n, dtype=np.int64)
    LU = A.ravel().copy()
    assert way(pivoting.eliminate)(LU, n, order, 1e-10 * np.abs(A).max()) == rank
    way(pivoting.back_substitute)(LU, n, order, rank, b, x)
    assert A @ x == pytest.approx(b, abs=1e-10)


@pytest.mark.parametrize("seed", range(16))
def test_forces_of_a_mode_keep_its_rows(seed: int, way: Callable[[Any], Any]) -> None:
    """Sticking rows and normals have no acceleration; friction of what slips opposes its slip; what is open has no force."""
    rng = np.random.default_rng(seed)
    m = 3
    p = random_problem(seed, blocks=3, contacts=m, tied=seed % 2 == 0, mu=0.3)
    modes = rng.integers(0, 3, m).astype(np.int64)
    rows = [3 * c + i for c in range(m) for i in range(3 if modes[c] == STICKING else int(modes[c] != OPEN))]
    free = p.K[np.ix_(~p.massless, ~p.massless)].shape[0] - int(p.problem.multipliers)
    if np.linalg.matrix_rank(p.W[rows]) < len(rows) or len(rows) > free:
        modes[0] = OPEN
    slip = rng.normal(size=(m, 2))
    toward = slip / np.linalg.norm(slip, axis=1, keepdims=True)
    p.terms.velocity.reshape(m, 3)[:, 1:] = slip
    p.terms.bias[:] = rng.normal(size=3 * m)
    contacts, work = memory(p, modes, toward)
    a = np.zeros(len(p.K))
    way(mode_forces.mode_accelerations)(p.problem, p.terms, p.solution, contacts, work, a)
    x = work.force.reshape(m, 3)
    assert a == pytest.approx(np.linalg.solve(p.K, p.terms.force + p.W.T @ work.force), abs=1e-9)
    rates = (p.W @ a + p.terms.bias).reshape(m, 3)
    for c in range(m):
        if modes[c] == OPEN:
            assert not x[c].any()
        else:
            assert abs(rates[c, 0]) < 1e-8
        if modes[c] == STICKING:
            assert np.abs(rates[c]).max() < 1e-8
        if modes[c] == SLIPPING:
            assert x[c, 1:] == pytest.approx(-0.3 * x[c, 0] * toward[c], abs=1e-5 * abs(x[c, 0]))


def test_forces_over_dependent_rows_are_those_near_the_reference() -> None:
    """A beam on three supports: their sum and moment are given, the rest is that of the reference."""
    p = random_problem(0, blocks=1, contacts=3, tied=False, tangents=0)
    n = len(p.K)
    # Two degrees of freedom, three rows: (1, -1), (1, 0), (1, 1).
    p.W[:] = 0.0
    p.terms.jacobian[:] = 0.0
    speeds = p.problem.block_speeds
    for c, arm in enumerate((-1.0, 0.0, 1.0)):
        row = p.terms.jacobian[3 * n * c :]
        row[0], row[1] = 1.0, arm
        p.W[3 * c, speeds[0]], p.W[3 * c, speeds[1]] = 1.0, arm
    own = np.array([[1, -1], [1, 0], [1, 1]])
    for reference in ([0.0, 0.0, 0.0], [1.0, 2.0, 1.0], [0.0, 5.0, 0.0]):
        q = random_problem(0, blocks=1, contacts=3, tied=False, tangents=0)
        q.terms.jacobian[:] = p.terms.jacobian
        q.terms.force[:] = 0.0
        q.terms.force[speeds[0]] = -4.0
        contacts, work = memory(q, np.full(3, STICKING, dtype=np.int64), np.ones((3, 2)))
        contacts.reference[::3] = reference
        a = np.zeros(n)
        mode_forces.mode_accelerations(q.problem, q.terms, q.solution, contacts, work, a)
        x = work.force[::3]
        assert np.abs(own @ a[speeds[:2]]).max() < 1e-9
        # The part along (1, -2, 1), which moves nothing, is that of the reference.
        kernel = np.array([1.0, -2.0, 1.0])
        assert kernel @ x == pytest.approx(kernel @ reference, abs=1e-6)
