"""Modes of few contacts against all that there are: an admissible mode is found wherever there is one, and it obeys the laws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.optimize import linprog

from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from tests.kernels.contact.problems import RandomProblem, problem_of, random_problem, solved

#: Problems in a plane with an only mode at which sweeps and changes of the worst contact fail, or with none.
HARD = (343, 467, 595, 655, 707, 641, 827, 1367, 1411, 1487)


def plane_problem(seed: int) -> RandomProblem:
    """Up to four contacts in a plane, some of which slip already: of random blocks, or of bodies on one another, whose rows
    depend on each other.
    """
    rng = np.random.default_rng(seed)
    m = 1 + seed % 4
    if seed % 3:
        p = random_problem(seed, blocks=seed % 3, contacts=m, tied=False, tangents=1)
        p.terms.bias[:] = rng.normal(size=3 * m)
        p.terms.bias[::3] -= 2.0
        p.terms.bias[2::3] = 0.0
    else:
        W, touched = np.zeros((3 * m, 6)), [[0, 1] if c % 2 else [0] for c in range(m)]
        for c in range(m):
            for body, sign in zip(reversed(touched[c]), (1.0, -1.0), strict=False):
                x, y = rng.normal(size=2) * [1.0, 0.2]
                W[3 * c, 3 * body : 3 * body + 3] = sign * np.array([0.0, 1.0, x])
                W[3 * c + 1, 3 * body : 3 * body + 3] = sign * np.array([1.0, 0.0, -y])
        inertia = [np.diag([a, a, 0.5 * a]) for a in 10.0 ** rng.uniform(-1, 1, 2)]
        force = rng.normal(size=6) - [0, 2, 0, 0, 2, 0]
        p = problem_of(inertia, [[0, 1, 2], [3, 4, 5]], W, touched, rng.uniform(0, 1.2, m), force)
    if seed % 2:
        p.terms.law[::4] *= 2.0
        p.terms.law[1::4] *= 2.0 + seed % 5 / 10
    p.terms.velocity[1::3] = np.where(rng.uniform(size=m) < 0.35, rng.normal(size=m), 0.0)
    return p


def disagreement(p: RandomProblem, modes: list[int], directions: np.ndarray, x: np.ndarray, a: np.ndarray) -> float:
    """How far forces x (m, 3) and accelerations a of contacts in a mode are from the laws."""
    rates = (p.W @ a + p.terms.bias).reshape(-1, 3)
    off = [float(np.abs(p.K @ a - p.terms.force - p.W.T @ x.ravel()).max())]
    for c, mode in enumerate(modes):
        kinetic, static = p.terms.law[4 * c : 4 * c + 2]
        slips = p.terms.velocity[3 * c + 1 : 3 * c + 3].any()
        if mode == OPEN:
            off += [np.abs(x[c]).max(), -rates[c, 0]]
        else:
            off += [-x[c, 0], abs(rates[c, 0])]
        if mode == STICKING:
            off += [np.hypot(*x[c, 1:]) - static * x[c, 0], np.abs(rates[c]).max(), float(slips)]
        if mode == SLIPPING:
            d = directions[c]
            off.append(np.abs(x[c, 1:] + kinetic * x[c, 0] * d).max())
            if not slips and kinetic > 0:
                off.append(np.abs(rates[c, 1:] - np.linalg.norm(rates[c, 1:]) * d).max() * min(1.0, x[c, 0]))
    return max(off) / max(1.0, np.abs(x).max())


def admissible_modes(p: RandomProblem) -> list[tuple[float | str, ...]]:
    """All modes of a problem in a plane under which there are forces that obey the laws: a contact is open (0), sticks, or slips
    to one side.
    """
    m, rows = len(p.mu), [3 * c + i for c in range(len(p.mu)) for i in (0, 1)]
    S = (p.W @ np.linalg.solve(p.K, p.W.T))[np.ix_(rows, rows)]
    b = (p.W @ np.linalg.solve(p.K, p.terms.force) + p.terms.bias)[rows]
    E, found = np.eye(2 * m), []
    sides = np.sign(p.terms.velocity[1::3])
    for modes in itertools.product(*((0, s) if s else (0, "sticks", 1.0, -1.0) for s in sides)):
        equal: list[tuple[np.ndarray, float]] = []
        below: list[tuple[np.ndarray, float]] = []
        for c, mode in enumerate(modes):
            n, t = 2 * c, 2 * c + 1
            kinetic, static = p.terms.law[4 * c : 4 * c + 2]
            if mode == 0:
                equal += [(E[n], 0.0), (E[t], 0.0)]
                below.append((-S[n], b[n]))
            else:
                equal.append((S[n], -b[n]))
                below.append((-E[n], 0.0))
            if mode == "sticks":
                equal.append((S[t], -b[t]))
                below += [(E[t] - static * E[n], 0.0), (-E[t] - static * E[n], 0.0)]
            elif mode:
                equal.append((E[t] + kinetic * mode * E[n], 0.0))
                below += [] if sides[c] else [(-mode * S[t], mode * b[t])]
        (A, r), (G, h) = (map(np.array, zip(*some, strict=True)) for some in (equal, below))
        if linprog(np.zeros(2 * m), A_ub=G, b_ub=h + 1e-10, A_eq=A, b_eq=r, bounds=(None, None)).status == 0:
            found.append(modes)
    return found


@pytest.mark.parametrize("seeds", [range(100), range(100, 200), HARD])
def test_an_admissible_mode_is_found_wherever_there_is_one(seeds: Sequence[int]) -> None:
    for seed in seeds:
        p = plane_problem(seed)
        found, contacts, work, a = solved(p)
        if found:
            x, directions = work.force.reshape(-1, 3), contacts.direction.reshape(-1, 2)
            assert disagreement(plane_problem(seed), contacts.mode.tolist(), directions, x, a) < 1e-7, seed
        else:
            assert not admissible_modes(plane_problem(seed)), seed


def space_problem(seed: int) -> RandomProblem:
    """Up to five contacts in space, some of which slip already."""
    rng = np.random.default_rng(seed)
    m = 1 + seed % 5
    p = random_problem(seed, blocks=2, contacts=m, tied=seed % 2 == 0)
    p.terms.bias[:] = rng.normal(size=3 * m)
    p.terms.bias[::3] -= 2.0 * rng.uniform()
    p.terms.velocity.reshape(m, 3)[:, 1:] = rng.normal(size=(m, 2)) * (rng.uniform(size=(m, 1)) < 0.3)
    return p


@pytest.mark.parametrize("seeds", [range(40), (72, 322, 437, 667, 1188)])
def test_contacts_in_space_begin_to_slip_along_their_accelerations(seeds: Sequence[int]) -> None:
    for seed in seeds:
        found, contacts, work, a = solved(space_problem(seed))
        assert found, seed
        x, directions = work.force.reshape(-1, 3), contacts.direction.reshape(-1, 2)
        assert disagreement(space_problem(seed), contacts.mode.tolist(), directions, x, a) < 1e-6, seed


def stack_on_feet(seed: int, bodies: int) -> RandomProblem:
    """Bodies of unlike masses on one another, each on four feet, pushed and turned at random."""
    rng = np.random.default_rng(seed)
    W, touched = np.zeros((12 * bodies, 6 * bodies)), []
    for c in range(4 * bodies):
        body, (x, y) = c // 4, rng.uniform(-1, 1, 2)
        for own, z, sign in ((body, -0.3, 1.0), (body - 1, 0.3, -1.0)):
            if own >= 0:
                for i, d in enumerate(np.eye(3)[[2, 0, 1]]):
                    W[3 * c + i, 6 * own : 6 * own + 6] = sign * np.concatenate([d, np.cross([x, y, z], d)])
        touched.append([body - 1, body] if body else [0])
    inertia = [np.diag([a, a, a, *(a * rng.uniform(0.1, 1, 3))]) for a in 10.0 ** rng.uniform(-1, 1, bodies)]
    push = [a[0, 0] * (rng.normal(size=6) * rng.choice([0.1, 1.0]) - [0, 0, 5, 0, 0, 0]) for a in inertia]
    mu = np.full(4 * bodies, rng.uniform(0.2, 0.8))
    own = [list(range(6 * b, 6 * b + 6)) for b in range(bodies)]
    return problem_of(inertia, own, W, touched, mu, np.concatenate(push))


@pytest.mark.parametrize(("bodies", "seeds"), [(1, range(10)), (2, (0, 1, 35, 233)), (3, (0, 63, 67, 79))])
def test_bodies_on_feet_have_a_mode(bodies: int, seeds: Sequence[int]) -> None:
    for seed in seeds:
        found, contacts, work, a = solved(stack_on_feet(seed, bodies))
        assert found, seed
        x, directions = work.force.reshape(-1, 3), contacts.direction.reshape(-1, 2)
        assert disagreement(stack_on_feet(seed, bodies), contacts.mode.tolist(), directions, x, a) < 1e-4, (
            seed
        )  # directions of slip converge slowly
