"""The largest eigenvalue from products against that of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.numerics.extreme_eigenvalue import largest_eigenvalue


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2, 7, 150])
def test_it_is_that_of_the_matrix(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n)) * rng.uniform(1e-3, 1.0, n)
    M = root @ root.T
    found = largest_eigenvalue(lambda x: M @ x, n, what="a test")
    assert found == pytest.approx(np.linalg.eigvalsh(M)[-1], rel=1e-8)


def test_equal_eigenvalues_and_no_numbers() -> None:
    assert largest_eigenvalue(lambda x: 3 * x, 50, what="a test") == pytest.approx(3.0)
    assert largest_eigenvalue(lambda x: x * np.nan, 50, what="a test") is None
