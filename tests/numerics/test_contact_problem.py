"""Forces of many feet that friction couples: what is found keeps to the laws of contact and of Coulomb."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.numerics.cone_interior_point import interior_forces, interior_forces_on_line, squared_utilisation
from kineta.numerics.contact_problem import solve_contact_problem
from kineta.numerics.friction_cone import Cone


def feet(rng: np.random.Generator, astray: float) -> tuple[np.ndarray, np.ndarray, list[Cone]]:
    """S and b of a rigid body on feet in a plane, some of which come *astray* a little faster than a rigid body's."""
    k, mu = int(rng.integers(4, 8)), float(rng.choice([0.3, 1.0, 2.0]))
    places = np.c_[rng.uniform(-0.3, 0.3, (k, 2)), np.full(k, -0.1)]
    W = np.array([[*e, *np.cross(p, e)] for p in places for e in np.eye(3)[[2, 0, 1]]])
    b = W @ (rng.normal(size=6) * [1, 1, 0.01, 0.01, 0.01, 1] - [0, 0, 0.01, 0, 0, 0])
    b[::3] += astray * rng.normal(size=k)
    return W @ (W / [2, 2, 2, 0.03, 0.05, 0.06]).T, b, [Cone(3 * i, (3 * i + 1, 3 * i + 2), mu) for i in range(k)]


@pytest.mark.parametrize("astray", [0.0, 1e-9, 1e-7, 1e-4])
def test_feet_that_say_the_same_but_for_a_little_find_forces_by_the_laws(astray: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(15):
        S, b, cones = feet(rng, astray)
        found = solve_contact_problem(S.tolist(), b.tolist(), cones)
        assert found is not None
        x, a = np.array(found), S @ found + b
        n, T, rises, slips = x[::3], np.c_[x[1::3], x[2::3]], a[::3], np.c_[a[1::3], a[2::3]]
        small = 1e-8 * max(1.0, np.abs(x).max())
        assert n.min() >= 0
        assert rises.min() >= -small
        assert np.abs(n * rises).max() <= small
        bound = cones[0].bound * n
        assert (np.hypot(*T.T) <= bound + small).all()
        against = bound * np.hypot(*slips.T) + (T * slips).sum(axis=1)
        assert np.abs(against).max() <= small


@pytest.mark.slow
def test_forces_shared_along_a_line_need_the_least_part_of_their_bounds() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        m = int(rng.integers(2, 5))
        cones = [Cone(3 * i, (3 * i + 1, 3 * i + 2), float(rng.uniform(0.2, 1.5))) for i in range(m)]
        x, z = rng.normal(size=3 * m), rng.normal(size=3 * m) * rng.choice([0.0, 1.0, 10.0], 3 * m)
        x[::3] = rng.uniform(0.5, 2.0, m)

        def part(c: float, x: np.ndarray = x, z: np.ndarray = z, cones: list[Cone] = cones) -> float:
            return (
                float(np.sqrt(squared_utilisation(x + c * z, cones).max())) if (x + c * z)[::3].min() >= 0 else np.inf
            )

        shared, most, best = interior_forces_on_line(x, z, cones, set(), part(0.0))
        least = min(part(c) for c in np.tan(np.linspace(-1.57, 1.57, 20001)))
        assert shared[::3].min() >= -1e-12
        assert best - 1e-9 <= least <= most + 1e-3 * least
        assert most - best <= max(abs(1 - best), 1e-9)


@pytest.mark.parametrize("light", [1.0, 1e-8])
def test_forces_within_their_bounds_are_found_wherever_they_are_shared_from(light: float) -> None:
    """Beside a foot that hardly presses, too."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        m = 3 if light < 1 else int(rng.integers(3, 7))
        places = np.c_[rng.uniform(-0.3, 0.3, (m, 2)), np.full(m, -0.1)]
        W = np.array([[*e, *np.cross(p, e)] for p in places for e in np.eye(3)[[2, 0, 1]]])
        Z = np.linalg.svd(W.T)[2][6:].T
        Z[np.abs(Z) < 1e-12] = 0.0
        turn, x = rng.uniform(0, 2 * np.pi, m), np.zeros(3 * m)
        x[::3] = rng.uniform(0.5, 2, m) * [light, *[1.0] * (m - 1)]
        x[1::3], x[2::3] = 0.4 * x[::3] * [np.cos(turn), np.sin(turn)]
        way = rng.normal(size=Z.shape[1])
        way *= 0.9 * min(1.0, *(x[::3] / np.maximum(-Z[::3] @ way, 1e-9)))
        moved = {n for n in range(0, 3 * m, 3) if Z[n].any()}
        shared, most, best = interior_forces(
            x + Z @ way, Z, [Cone(3 * i, (3 * i + 1, 3 * i + 2), 0.5) for i in range(m)], moved
        )
        assert shared[::3].min() > 0
        assert most < 1
        assert best <= 0.8 + 1e-9
