"""Solvers of contact problems against dense algebra and the laws of Signorini and Coulomb, in Python and in machine code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from kineta.kernels.contact import block_inertia, friction_cone, gauss_seidel, islands
from kineta.kernels.contact.alart_curnier import COMPLIANCE, SOFTEST, solve_laws
from kineta.kernels.contact.impact import complement
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.problems import RandomProblem, each_island, fallen, island_work, problem_of, random_problem
from tests.kernels.test_language import in_c

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


def prepared(p: RandomProblem, way: Callable[[Any], Any]) -> None:
    """Factor the inertia, and compute the responses of all contacts."""
    way(block_inertia.factor_blocks)(p.problem, p.terms.inertia)
    for c in range(len(p.mu)):
        way(block_inertia.respond)(p.problem, p.terms, p.solution, c, np.zeros(3 * len(p.K)))


def signorini_coulomb(n: float, u: np.ndarray, f: float, t: np.ndarray, mu: float, least: float = 0.0) -> float:
    """How far velocities (n, u) and impulses (f, t) of a contact are from the laws, with a normal impulse of *least* at least."""
    off = max(-n, least - f, abs(min(n, f - least)), np.linalg.norm(t) - mu * f)
    size = np.linalg.norm(u)
    return float(max(off, np.linalg.norm(t * size + mu * f * u) / (1 + size)))


@pytest.mark.parametrize("seed", range(8))
def test_accelerations_are_those_of_the_constrained_system(seed: int, way: Callable[[Any], Any]) -> None:
    p = random_problem(seed)
    found = np.zeros(len(p.K))
    way(block_inertia.factor_blocks)(p.problem, p.terms.inertia)
    way(block_inertia.accelerations)(p.problem, p.terms.inertia, p.terms.force, np.zeros(3 * len(p.K)), found)
    assert found == pytest.approx(np.linalg.solve(p.K, p.terms.force), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("apart", [1.0, 1e-1, 1e-2])
def test_constraints_are_met_that_are_nearly_alike(apart: float, way: Callable[[Any], Any]) -> None:
    """As refinements remove what the factors miss them by: the nearer they are, the more."""
    rng = np.random.default_rng(3)
    A, J = rng.normal(size=(6, 6)), rng.normal(size=(2, 6))
    J[1] = J[0] + apart * J[1]
    K = np.block([[A @ A.T + np.eye(6), -J.T], [-J, np.zeros((2, 2))]])
    force, W = rng.normal(size=8), np.zeros((3, 8))
    W[:, :3] = np.eye(3)
    p = problem_of([K], [range(8)], W, [[0]], np.ones(1), force, 2)
    prepared(p, way)
    found = np.zeros(8)
    way(block_inertia.accelerations)(p.problem, p.terms.inertia, p.terms.force, np.zeros(24), found)
    for x, wanted in ((found, force), *zip(p.solution.response.reshape(3, 8), W, strict=True)):
        part = np.diag(J @ np.linalg.solve(K[:6, :6], J.T)).max() * np.abs(x[6:]).max()
        assert np.abs(K @ x - wanted)[6:].max() <= 1e-13 * part + 1e-14 * np.abs(J).max() * np.abs(x[:6]).max()


@pytest.mark.parametrize("seed", range(4))
def test_responses_are_those_of_the_delassus_operator(seed: int, way: Callable[[Any], Any]) -> None:
    p = random_problem(seed)
    prepared(p, way)
    whole = p.W @ np.linalg.solve(p.K, p.W.T)
    v = np.zeros(len(p.K))
    for c in range(len(p.mu)):
        own = whole[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]
        D = p.solution.delassus[9 * c : 9 * c + 9].reshape(3, 3)
        assert D - np.diag(np.diag(D)) == pytest.approx(own - np.diag(np.diag(own)), abs=1e-11)
        assert np.diag(D) == pytest.approx((1 + block_inertia.STIFFENING) * np.diag(own), rel=1e-11)
        way(block_inertia.push)(p.problem, p.solution, c, 1.0, 2.0, -3.0, v)
    assert v == pytest.approx(np.linalg.solve(p.K, p.W.T @ np.tile([1.0, 2.0, -3.0], len(p.mu))), abs=1e-11)


@pytest.mark.parametrize("seed", range(160))
def test_an_impulse_obeys_the_laws_of_its_contact(seed: int, way: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 6)) * 10.0 ** rng.uniform(-1, 1, (3, 1))
    D, b, mu, x = A @ A.T, rng.normal(size=3), float(rng.uniform(0, 1.5)), np.zeros(4)
    if seed >= 30:  # much friction, and stiffnesses far apart
        D, mu = D * np.outer(scale := 10.0 ** rng.uniform(-1, 1, 3), scale), float(rng.uniform(0.5, 3))
    if seed % 4 == 3:
        D[2], D[:, 2], b[2] = 0.0, 0.0, 0.0
    least = 0.0 if seed % 3 else float(rng.uniform(0, 1)) / D[0, 0]
    way(friction_cone.contact_impulse)(D.ravel().copy(), *b.tolist(), mu, least, x)
    v = D @ x[:3] + b
    assert signorini_coulomb(v[0], v[1:], x[0], x[1:3], mu, least) < 1e-9 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize("seed", range(12))
def test_islands_are_the_connected_components(seed: int, way: Callable[[Any], Any]) -> None:
    p = random_problem(seed, blocks=7, contacts=5)
    graph = np.zeros((7, 7))
    start, blocks = p.problem.coupled_start, p.problem.coupled_blocks
    touched = [blocks[start[c] : start[c + 1]].tolist() for c in range(5)]
    for some in touched:
        graph[some[0], some[-1]] = 1
    _, own = connected_components(graph, directed=False)
    active, first, found = p.solution.active, 0, []
    way(islands.label_islands)(p.problem, active, 5, p.solution.label)
    while first < 5:
        count = way(islands.gather_island)(p.problem, active[first:], 5 - first, p.solution.label)
        found.append(sorted(active[first : first + count].tolist()))
        first += count
    components = {own[some[0]] for some in touched}
    assert sorted(found) == sorted(sorted(c for c in range(5) if own[touched[c][0]] == k) for k in components)


def test_contacts_that_no_speed_moves_are_islands_of_their_own(way: Callable[[Any], Any]) -> None:
    touched = [[], [0], [1], [], [0]]
    p = problem_of([np.eye(1)] * 2, [[0], [1]], np.zeros((15, 2)), touched, np.zeros(5), np.zeros(2))
    first, found = 0, []
    way(islands.label_islands)(p.problem, p.solution.active, 5, p.solution.label)
    while first < 5:
        count = way(islands.gather_island)(p.problem, p.solution.active[first:], 5 - first, p.solution.label)
        found.append(p.solution.active[first : first + count].tolist())
        first += count
    assert found == [[0], [1, 4], [2], [3]]


@pytest.mark.parametrize("seed", range(10))
def test_sweeps_converge_to_the_laws_of_all_contacts(seed: int) -> None:
    p = random_problem(seed, blocks=3, contacts=3, tied=seed % 2 == 0, mu=0.4)
    prepared(p, machine_code)
    rng = np.random.default_rng(seed)
    free = rng.normal(size=len(p.K)) * ~p.massless
    p.solution.target[::3] = -3.0
    v, run = free.copy(), machine_code(gauss_seidel.sweep)
    for _ in range(5000):
        if run(p.problem, p.terms, p.solution, p.solution.active, 3, v) < 1e-14:
            break
    r = p.solution.impulse
    assert v == pytest.approx(free + np.linalg.solve(p.K, p.W.T @ r), abs=1e-9)
    u = p.W @ v + p.solution.target
    off = [
        signorini_coulomb(u[3 * c], u[3 * c + 1 : 3 * c + 3], r[3 * c], r[3 * c + 1 : 3 * c + 3], 0.4) for c in range(3)
    ]
    assert max(off) < 1e-9
    assert np.abs(r).max() > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_impulses_of_an_island_obey_the_laws_of_all_its_contacts(seed: int) -> None:
    m, mu = 3 + seed % 4, (0.0, 0.4, 1.0)[seed % 3]
    blocks = 5 if seed >= 8 and mu < 1.0 else 2  # fewer impulses than speeds; with much friction forces need not settle
    p = random_problem(seed, blocks=blocks, contacts=m, tied=seed % 2 == 0, mu=mu)
    work = island_work(p)
    free = fallen(p, work, seed, machine_code)
    v = free.copy()
    for active, count in each_island(p, machine_code):
        assert machine_code(complement)(p.problem, p.terms, p.solution, work, active, count, v, 1e-13)
    r, u = p.solution.impulse, p.W @ v + p.solution.target
    moved = np.linalg.solve(p.K, p.W.T @ r)
    assert v[~p.massless] == pytest.approx((free + moved)[~p.massless], abs=1e-8)
    own = [slice(3 * c, 3 * c + 3) for c in range(m)]
    off = [signorini_coulomb(u[k][0], u[k][1:], r[k][0], r[k][1:], mu) for k, mu in zip(own, p.mu, strict=True)]
    assert max(off) < 1e-7
    assert np.abs(r).max() > 0


@pytest.mark.slow
def test_all_back_ends_make_the_same_bits(tmp_path: Path) -> None:
    ends = []
    for way in (lambda f: f, machine_code, partial(in_c, folder=tmp_path)):
        p = random_problem(5, contacts=3)
        work, v = island_work(p), p.terms.force * ~p.massless
        p.solution.target[::3] = -3.0
        way(block_inertia.copy_blocks)(p.problem, p.terms.inertia, work.inertia)
        for c in range(3):
            way(block_inertia.respond)(p.problem, p.terms, p.solution, c, np.zeros(3 * len(p.K)))
        for _ in range(3):
            way(gauss_seidel.sweep)(p.problem, p.terms, p.solution, p.solution.active, 3, v)
        way(islands.label_islands)(p.problem, p.solution.active, 3, p.solution.label)
        count = way(islands.gather_island)(p.problem, p.solution.active, 3, p.solution.label)
        moved = way(solve_laws)(
            p.problem, p.terms, p.solution, work, p.solution.active, count, v, 1e-10, COMPLIANCE, SOFTEST, False
        )
        ends.append((moved, v.tobytes(), p.solution.impulse.tobytes()))
    assert ends[0] == ends[1] == ends[2]
