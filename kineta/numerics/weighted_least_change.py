"""Least changes in a metric: the solution x of A x + residual = 0 with the least x . M x."""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import NumericalError
from kineta.numerics.linear_algebra import cholesky, inv, lstsq


def inverse_root(M: FloatArray) -> FloatArray:
    """A root W of the inverse metric, W W^T = M^-1, (..., n, n); the identity where M is not positive definite."""
    try:
        return np.swapaxes(inv(cholesky(M, what="the mass matrix"), what="the mass matrix"), -1, -2)
    except NumericalError:
        return np.broadcast_to(np.eye(M.shape[-1]), M.shape)


def least_change(A: FloatArray, W: FloatArray, off: FloatArray) -> FloatArray:
    """The least change W y, (n,), for a root W (n, k) of the inverse metric, that makes the residual *off* zero in the
    least-squares sense.
    """
    change = lstsq(A @ W, off, what="the least change that meets the constraints", rcond=tolerances.RANK_TOLERANCE)
    return np.asarray(-W @ change)
