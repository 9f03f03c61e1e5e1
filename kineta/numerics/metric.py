"""Least changes in a metric: of all changes x that make A x + off = 0 that with the least x . M x."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Part of the largest singular value below which a direction counts as one in which nothing changes.
RANK = 1e-9


def inverse_root(M: FloatArray) -> FloatArray:
    """W with W W^T = M^-1, (..., n, n); the identity where M is not positive definite."""
    try:
        return np.swapaxes(np.linalg.inv(np.linalg.cholesky(M)), -1, -2)
    except np.linalg.LinAlgError:
        return np.broadcast_to(np.eye(M.shape[-1]), M.shape)


def least_change(A: FloatArray, W: FloatArray, off: FloatArray) -> FloatArray:
    """The change W y, (n,), for a root W (n, k) of the inverse metric that makes *off* zero, or misses that least."""
    return np.asarray(-W @ np.linalg.lstsq(A @ W, off, rcond=RANK)[0])
