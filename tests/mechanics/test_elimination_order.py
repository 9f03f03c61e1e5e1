"""The order of elimination of blocks of the inertia."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.mechanics.contact.contact_terms import eliminated


@pytest.mark.parametrize("seed", range(20))
def test_factors_are_zero_outside_of_the_fill(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    A = np.diag(np.full(n, 10.0))
    for i, j in rng.integers(0, n, (2 * n, 2)):
        if i != j:
            A[i, j] = A[j, i] = rng.normal()
    speeds = int(rng.integers(1, n + 1))
    (order,), fill = eliminated([tuple(range(n))], [(i, j) for i, j in zip(*np.nonzero(A), strict=True)], speeds)
    assert sorted(order) == list(range(n))
    assert [k >= speeds for k in order] == sorted(k >= speeds for k in order)
    F = A[np.ix_(order, order)].copy()
    for k in range(n):
        F[k + 1 :, k] /= F[k, k]
        F[k + 1 :, k + 1 :] -= np.outer(F[k + 1 :, k], F[k, k + 1 :])
        off = [i for i in range(k + 1, n) if i not in fill[k]]
        assert not F[off, k].any()
        assert not F[k, off].any()


def test_trees_have_no_fill() -> None:
    """Three chains of two speeds on a base: an entry for each pair of which one carries the other."""
    pairs = [(0, k) for k in range(1, 7)] + [(1, 2), (3, 4), (5, 6)]
    (order,), fill = eliminated([tuple(range(7))], pairs, 7)
    assert sum(map(len, fill)) == len(pairs)
    assert len(order) == 7
