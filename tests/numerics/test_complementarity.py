"""Forces of many feet that friction couples: what is found keeps to the laws of contact and of Coulomb."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.numerics.complementarity import forces
from kineta.numerics.cone import Cone


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
        found = forces(S.tolist(), b.tolist(), cones)
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
