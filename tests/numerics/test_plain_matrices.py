"""Plain matrices and random numbers agree with those of arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kineta.errors import NumericalError, SingularMatrixError
from kineta.numerics import linear_algebra, plain_matrices
from kineta.numerics.random_numbers import UniformNumbers


@pytest.mark.parametrize("seed", [0, 1, 61000, 2**40 + 7, 2**127])
def test_random_numbers_are_those_of_numpy(seed: int) -> None:
    ours, theirs = UniformNumbers(seed), np.random.default_rng(seed)
    for low, high in [(-1.0, 1.0), (0.5, 1.5)] * 20:
        assert ours.uniform(low, high) == theirs.uniform(low, high)
    for n in (1, 2, 7):
        assert UniformNumbers(seed).signs(n) == np.random.default_rng(seed).choice([-1.0, 1.0], n).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
def test_matrices_are_those_of_arrays(n: int) -> None:
    rng = np.random.default_rng(n)
    for A in (rng.standard_normal((n, n)), np.diag(rng.integers(1, 3, n)) * 1.0, np.eye(n), np.ones((n, n))):
        S = A @ A.T
        found = plain_matrices.symmetric_eigenvalues(S.tolist(), what="it")
        np.testing.assert_allclose(found, np.linalg.eigvalsh(S), rtol=0, atol=1e-13 * np.abs(S).sum())
        M, b = S + np.eye(n), rng.standard_normal(n)
        L = plain_matrices.cholesky(M.tolist(), what="it")
        np.testing.assert_allclose(plain_matrices.solve_positive(L, b.tolist()), np.linalg.solve(M, b), rtol=1e-9)
    with pytest.raises(SingularMatrixError, match="There is no value for it"):
        plain_matrices.cholesky(np.zeros((n, n)).tolist(), what="it")


def test_dependent_rows_and_independent_columns_are_those_of_arrays() -> None:
    rng = np.random.default_rng(0)
    for rows in range(3, 9):
        A = rng.standard_normal((rows, rows + 4))
        chosen = plain_matrices.independent_columns(A.tolist(), what="it")
        assert chosen == scipy.linalg.qr(A, mode="r", pivoting=True)[1][:rows].tolist()
        assert plain_matrices.dependent_row(plain_matrices.unit_rows(A.tolist()), 1e-9, what="it") is None
        A[-1] = 2 * A[0] - 3 * A[rows // 2]
        G = linear_algebra.unit_rows(A)
        (k, own), (other, weights) = (
            module.dependent_row(G.tolist(), 1e-9, what="it") for module in (plain_matrices, linear_algebra)
        )
        assert k == other == rows - 1
        np.testing.assert_allclose(own, weights, atol=1e-12)
        with pytest.raises(NumericalError, match="nan in row 2, column 1 of its matrix"):
            plain_matrices.dependent_row([[1.0], [np.nan]], 1e-9, what="it")
