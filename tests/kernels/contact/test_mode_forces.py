"""Forces and accelerations in a mode against dense algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.kernels.contact import mode_forces, pivoting, proximal_iteration
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.problems import mode_memory, motion_of_problem, pile, problem_of, random_problem

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


@pytest.mark.parametrize("seed", range(12))
def test_elimination_solves_for_unknowns_of_unlike_sizes(seed: int, way: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(seed)
    n = 1 + seed % 6
    scale = 10.0 ** rng.uniform(-6, 6, n)
    A = rng.normal(size=(n, n)) * np.outer(scale, scale)
    x, order = rng.normal(size=n) / scale, np.zeros(n, dtype=np.int64)
    LU, found = A.ravel().copy(), A @ x
    way(pivoting.eliminate)(LU, n, scale**2, order)
    way(pivoting.back_substitute)(LU, n, order, found)
    assert found * scale == pytest.approx(x * scale, abs=1e-10)


def test_what_has_no_pivot_is_zero(way: Callable[[Any], Any]) -> None:
    LU, order, x = np.array([2.0, 0.0, 4.0, 0.0]), np.zeros(2, dtype=np.int64), np.array([6.0, 12.0])
    way(pivoting.eliminate)(LU, 2, np.ones(2), order)
    way(pivoting.back_substitute)(LU, 2, order, x)
    assert x == pytest.approx([3.0, 0.0])


@pytest.mark.slow
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
    contacts, work = mode_memory(m, len(p.K), modes, toward)
    a = np.zeros(len(p.K))
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), a)
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_many_more_than_speeds_have_the_forces_of_elimination(
    seed: int, way: Callable[[Any], Any]
) -> None:
    rng = np.random.default_rng(seed)
    p, m = random_problem(seed, blocks=1, contacts=6, tied=False, mu=0.3), 6
    slip = rng.normal(size=(m, 2))
    toward = slip / np.linalg.norm(slip, axis=1, keepdims=True)
    contacts, work = mode_memory(m, len(p.K), [STICKING] * 4 + [SLIPPING] * 2, toward)
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), np.zeros(len(p.K)))
    work.ease[:] = rng.choice([0.0, 1.0, 30.0], m)
    n = way(mode_forces.independent_rows)(contacts, p.solution, np.arange(m), m, work.rows)
    assert n == 4 * 3 + 2
    bias, a = p.W @ rng.normal(size=len(p.K)), np.zeros(len(p.K))
    reference = np.abs(rng.normal(size=3 * m))
    way(mode_forces.assemble_rows)(motion_of_problem(p, contacts, work), n, bias, a)
    way(proximal_iteration.solve_rows)(p.solution, work, n, reference)
    eliminated = work.found[:n].copy()
    speeds = way(mode_forces.place_speeds)(p.problem, work, n)
    assert speeds == len(p.K)
    way(mode_forces.gather_rows)(motion_of_problem(p, contacts, work), n, speeds)
    assert way(proximal_iteration.solve_by_speeds)(p.solution, work, n, speeds, reference)
    assert work.found[:n] == pytest.approx(eliminated, abs=1e-7 * np.abs(eliminated).max())


def test_speeds_that_many_rows_do_not_hold_are_left_to_elimination() -> None:
    p = random_problem(0, blocks=1, contacts=6, tied=True, mu=0.3)
    contacts, work = mode_memory(6, len(p.K), [STICKING] * 6)
    mode_forces.mode_accelerations(motion_of_problem(p, contacts, work), np.zeros(len(p.K)))
    n = mode_forces.independent_rows(contacts, p.solution, np.arange(6), 6, work.rows)
    speeds = mode_forces.place_speeds(p.problem, work, n)
    mode_forces.gather_rows(motion_of_problem(p, contacts, work), n, speeds)
    assert not proximal_iteration.solve_by_speeds(p.solution, work, n, speeds, np.zeros(18))


@pytest.mark.parametrize("seed", range(8))
def test_forces_with_a_given_resultant_are_those_that_rows_come_to(seed: int, way: Callable[[Any], Any]) -> None:
    """Those of least x' R x, which the proximal iteration about zero approaches for the same rows."""
    rng = np.random.default_rng(seed)
    p, m = random_problem(seed, blocks=1, contacts=4, tied=False, mu=0.3), 4
    contacts, work = mode_memory(m, len(p.K), [STICKING] * m)
    motion = motion_of_problem(p, contacts, work)
    way(mode_forces.mode_accelerations)(motion, np.zeros(len(p.K)))
    n = way(mode_forces.independent_rows)(contacts, p.solution, np.arange(m), m, work.rows)
    way(mode_forces.assemble_rows)(motion, n, p.W @ rng.normal(size=len(p.K)), np.zeros(len(p.K)))
    speeds, none = way(mode_forces.place_speeds)(p.problem, work, n), np.zeros(3 * m)
    way(proximal_iteration.solve_rows)(p.solution, work, n, none)
    way(mode_forces.gather_resultant)(motion, np.arange(m), m, n, speeds)
    assert work.shares
    W = work.matrix[n * n :][: n * speeds].reshape(n, speeds)
    resultant = W.T @ work.found[:n]
    assert work.matrix[n * n + (n + speeds) * speeds :][:speeds] == pytest.approx(resultant, rel=1e-12)
    work.ease[:] = rng.choice([1.0, 30.0], m)
    way(proximal_iteration.begin_near)(p.solution, work, n, none)
    R = work.proximity[:n].copy()
    assert way(proximal_iteration.share_resultant)(p.solution, work, n, speeds, none)
    shared, scale = work.found[:n].copy(), np.abs(work.found[:n]).max()
    expected = np.linalg.solve(W.T @ (W / R[:, None]), resultant)
    assert shared == pytest.approx(W @ expected / R, abs=1e-9 * scale)
    way(proximal_iteration.solve_rows)(p.solution, work, n, none)
    assert shared == pytest.approx(work.found[:n], abs=1e-8 * scale)


def test_a_resultant_of_speeds_that_rows_do_not_hold_is_not_shared(way: Callable[[Any], Any]) -> None:
    """Two speeds that all rows move in one ratio."""
    _, work = mode_memory(2, 2)
    p = random_problem(0, blocks=1, contacts=2, tied=False)
    n, W, none = 4, np.outer([1.0, 2.0, -1.0, 3.0], [1.0, 2.0]), np.zeros(6)
    work.matrix[n * n :][: W.size], work.ease[:] = W.ravel(), 1.0
    work.rows[: 2 * n] = [0, 1, 0, 2, 1, 1, 1, 2]
    way(proximal_iteration.square_rows)(p.solution, work, n, 2)
    assert not way(proximal_iteration.share_resultant)(p.solution, work, n, 2, none)


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
        contacts, work = mode_memory(3, n, [STICKING] * 3)
        contacts.reference[::3] = reference
        a = np.zeros(n)
        mode_forces.mode_accelerations(motion_of_problem(q, contacts, work), a)
        x = work.force[::3]
        assert np.abs(own @ a[speeds[:2]]).max() < 1e-9
        # The part along (1, -2, 1), which moves nothing, is that of the reference, measured by what each force moves.
        kernel = np.array([1.0, -2.0, 1.0]) * q.solution.delassus[::9]
        assert kernel @ x == pytest.approx(kernel @ reference, abs=1e-6)


@pytest.mark.parametrize("masses", [(1.0, 1e-6), (1e6, 1.0, 1e-6), (1.0, 1e-3, 1.0)])
def test_a_pile_of_unlike_masses_weighs_what_its_parts_weigh(
    masses: tuple[float, ...], way: Callable[[Any], Any]
) -> None:
    p = pile(masses)
    n = len(masses)
    contacts, work = mode_memory(n, n, [STICKING] * n)
    a = np.zeros(n)
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), a)
    assert work.force[::3] == pytest.approx(np.cumsum(masses[::-1])[::-1], rel=1e-12)


def test_friction_that_moves_nothing_follows_its_normal_force(way: Callable[[Any], Any]) -> None:
    """A body that two feet clamp between them: half as heavy, it is clamped half as much."""
    W = np.zeros((6, 3))
    W[0], W[1], W[3], W[4] = [1, 0, -1], [0, 1, 0], [1, 0, 1], [0, 1, 0]
    p = problem_of([np.eye(3)], [[0, 1, 2]], W, [[0], [0]], np.full(2, 0.5), np.array([-10.0, 1.0, 0.0]))
    contacts, work = mode_memory(2, 3, [STICKING] * 2)
    contacts.reference[:] = [10.0, 4.0, 0.0, 10.0, -4.0, 0.0]
    a = np.zeros(3)
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), a)
    # The clamping force is that of normal forces after one iteration, which have six digits.
    assert work.force == pytest.approx([5.0, 1.5, 0.0, 5.0, -2.5, 0.0], rel=1e-5)
    assert a == pytest.approx(0.0, abs=1e-12)


def test_a_contact_that_no_speed_moves_bears_no_force(way: Callable[[Any], Any]) -> None:
    W = np.zeros((6, 1))
    W[3, 0] = 1.0
    p = problem_of([np.eye(1)], [[0]], W, [[], [0]], np.full(2, 0.5), np.array([-1.0]))
    p.problem.has_normal[:] = 1
    contacts, work = mode_memory(2, 1, [STICKING, STICKING])
    a = np.zeros(1)
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), a)
    assert work.force == pytest.approx([0, 0, 0, 1, 0, 0], abs=1e-12)
    assert a == pytest.approx(0, abs=1e-12)


def test_smooth_friction_grows_with_the_slip(way: Callable[[Any], Any]) -> None:
    mu, scale, slip = 0.5, 0.1, np.array([0.03, -0.04])
    p = problem_of([2.0 * np.eye(3)], [[0, 1, 2]], np.eye(3), [[0]], np.array([mu]), np.array([-20.0, 0.0, 0.0]))
    p.terms.law[3] = scale
    p.terms.velocity[1:] = slip
    contacts, work = mode_memory(1, 3, [SLIPPING], np.array([1.0, 0.0]))
    a = np.zeros(3)
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), a)
    expected = -mu * 20.0 * slip / np.hypot(np.linalg.norm(slip), scale)
    assert work.force == pytest.approx([20.0, *expected], rel=1e-12)
    assert a == pytest.approx([0.0, *expected / 2], abs=1e-12)


@pytest.mark.parametrize("normal", [True, False])
def test_friction_below_zero_is_none(normal: bool, way: Callable[[Any], Any]) -> None:
    W = np.diag([1.0 * normal, 1.0, 1.0])
    p = problem_of([np.eye(3)], [[0, 1, 2]], W, [[0]], np.array([-0.5]), np.array([-20.0, 0.0, 0.0]))
    p.terms.velocity[1:] = 3.0, 4.0
    contacts, work = mode_memory(1, 3, [SLIPPING], np.array([0.6, 0.8]))
    way(mode_forces.mode_accelerations)(motion_of_problem(p, contacts, work), np.zeros(3))
    assert work.force == pytest.approx([20.0 * normal, 0.0, 0.0], rel=1e-12)
