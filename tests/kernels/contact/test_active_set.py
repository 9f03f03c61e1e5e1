"""Active sets: the laws on accelerations, and the modes and accelerations of the automaton."""

from __future__ import annotations

import numpy as np
import pytest
from kineta.hybrid.active_set import solve_active_set as expected_set
from kineta.hybrid.contact_state import ContactRows, ContactState

from kineta.kernels.contact import mode_search
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from tests.kernels.contact.problems import mode_memory, problem_of, random_problem, solved


@pytest.mark.parametrize("rests", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_modes_and_accelerations_are_those_of_the_automaton(seed: int, rests: bool) -> None:
    rng = np.random.default_rng(seed)
    m = 1 + seed % 3
    p = random_problem(seed, blocks=2, contacts=m, tied=seed % 2 == 0, mu=(0.0, 0.2, 0.5)[seed % 3])
    p.terms.bias[:] = rng.normal(size=3 * m)
    p.terms.bias[::3] -= 4.0
    slip = rng.normal(size=(m, 2)) * (not rests)
    p.terms.velocity.reshape(m, 3)[:, 1:] = slip
    found, contacts, _, a = solved(p)
    assert found
    S = p.W @ np.linalg.solve(p.K, p.W.T)
    drift = (p.W @ np.linalg.solve(p.K, p.terms.force) + p.terms.bias).tolist()
    rows = tuple(ContactRows(3 * c, (3 * c + 1, 3 * c + 2)) for c in range(m))
    none, laws = [0.0] * m, p.mu.tolist()
    along = p.terms.velocity.tolist()
    look = ContactState(rows, none, laws, laws, none, none, along, drift, S.tolist(), np.zeros((3 * m, 1)), 1.0)
    expected = expected_set(look, set(range(m)), [False] * m)
    assert expected is not None
    kinds = {(0, 0): OPEN, (1, 1): STICKING, (1, 0): SLIPPING}
    own = [kinds[int(f[0]), int(f[1])] for f in expected.flags]
    if p.mu[0] > 0:
        assert contacts.mode.tolist() == own
    assert p.W @ a + p.terms.bias == pytest.approx(np.array(expected.a), abs=2e-5)


@pytest.mark.parametrize("seed", range(30))
def test_forces_keep_to_their_cones_and_nothing_is_pulled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 6
    p = random_problem(seed, blocks=3, contacts=m, tied=seed % 2 == 0, mu=0.5)
    p.terms.bias[:] = rng.normal(size=3 * m)
    p.terms.bias[::3] -= 3.0
    p.terms.velocity.reshape(m, 3)[:, 1:] = rng.normal(size=(m, 2)) * (rng.uniform(size=(m, 1)) < 0.3)
    found, contacts, work, a = solved(p)
    assert found
    x, rates = work.force.reshape(m, 3), (p.W @ a + p.terms.bias).reshape(m, 3)
    size = max(1.0, np.abs(x).max())
    for c, mode in enumerate(contacts.mode):
        assert x[c, 0] >= -1e-8 * size
        assert np.hypot(*x[c, 1:]) <= 0.5 * x[c, 0] + 1e-6 * size
        assert rates[c, 0] >= -1e-6 * size
        if mode == STICKING:
            assert np.abs(rates[c]).max() < 1e-6 * size
        if mode == SLIPPING:
            toward = contacts.direction[2 * c : 2 * c + 2]
            assert x[c, 1:] == pytest.approx(-0.5 * x[c, 0] * toward, abs=1e-6 * size)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_smooth_friction_never_sticks(slip: float) -> None:
    p = problem_of([np.eye(3)], [[0, 1, 2]], np.eye(3), [[0]], np.array([0.5]), np.array([-10.0, 1.0, 0.0]))
    p.terms.law[3] = 0.1
    p.terms.velocity[1] = slip
    found, contacts, work, a = solved(p)
    assert found
    assert contacts.mode.tolist() == [SLIPPING]
    friction = 5.0 * slip / np.hypot(slip, 0.1)
    assert work.force == pytest.approx([10.0, -friction, 0.0], abs=1e-9)
    assert a == pytest.approx([0.0, 1.0 - friction, 0.0], abs=1e-9)


def test_friction_below_zero_does_not_stick() -> None:
    for W in (np.eye(3), np.diag([0.0, 1.0, 0.0])):
        p = problem_of([np.eye(3)], [[0, 1, 2]], W, [[0]], np.array([-0.5]), np.array([-10.0, 1.0, 0.0]))
        found, contacts, work, a = solved(p)
        assert found
        assert contacts.mode.tolist() == [SLIPPING]
        assert work.force == pytest.approx([10.0 * W[0, 0], 0.0, 0.0], abs=1e-9)
        assert a[1] == pytest.approx(1.0, abs=1e-9)


def test_friction_of_joints_has_part_in_the_scale_of_accelerations() -> None:
    p = problem_of([2.0 * np.eye(1)], [[0]], np.array([[0.0], [1.0], [0.0]]), [[0]], np.array([30.0]), np.zeros(1))
    p.solution.response[:], p.solution.delassus[4] = [0.0, 0.5, 0.0], 0.5
    contacts, work = mode_memory(1, 1, [SLIPPING], np.array([1.0, 0.0]))
    start, a = mode_search.start_forces, np.zeros(1)
    assert start(p.problem, p.terms, p.solution, contacts, work, 1, np.zeros(1), a) == pytest.approx(15.0)
    assert a == pytest.approx([-15.0])
