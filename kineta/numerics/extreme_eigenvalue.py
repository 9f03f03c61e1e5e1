"""The largest eigenvalue of a symmetric matrix that is known by its products with vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import eigh, norm

#: Products at most, and the part of an eigenvalue up to which it is found.
PRODUCTS, CLOSE = 300, 1e-9


def largest_eigenvalue(product: Callable[[FloatArray], FloatArray], n: int, *, what: str) -> float | None:
    """The largest eigenvalue of the matrix (n, n), positive definite, whose *product* with a vector (n,) is given, by Lanczos'
    method with full orthogonalisation; None where it is not found in :data:`PRODUCTS`, and for products that are not finite.
    """
    start = np.random.default_rng(0).standard_normal(n)
    basis, diagonal, beside = [start / norm(start)], list[float](), list[float]()
    while len(diagonal) < min(n, PRODUCTS):
        found = product(basis[-1])
        if not np.isfinite(found).all():
            return None
        diagonal.append(float(basis[-1] @ found))
        known = np.array(basis)
        for _ in range(2):
            found = found - (known @ found) @ known
        T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        values, vectors = eigh(T, what=what)
        beside.append(float(norm(found)))
        largest = float(values[-1])
        # The error is quadratic in the residual; one vector may be an eigenvector already.
        if abs(beside[-1] * vectors[-1, -1]) <= np.sqrt(CLOSE) * largest or beside[-1] <= tolerances.EPS * largest:
            return largest
        basis.append(found / beside[-1])
    return largest if len(diagonal) == n else None
