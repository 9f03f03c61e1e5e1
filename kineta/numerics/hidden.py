"""Equations of which some are hidden in others: least changes of variables, the first of them before the rest.

A x = -off has more unknowns than equations; what the equations say of the first m unknowns alone is what is left of them where
the rest is eliminated::

    A = (B, C)      Q^T C = 0      Q^T B x = -Q^T off      C y = -off - B x
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space, qr, solve, solve_triangular

FloatArray = NDArray[np.float64]

#: Part of the largest singular value of balanced equations that counts as nothing.
RANK = 1e-9
#: Part of the largest entry of a row that is nothing but rounding.
DUST = 1e-12
#: What weights cost that make no entry nearer to one.
FREE = 1e-9


def balanced(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of the rows and columns with which all entries are as near to one as they may, by the squares of their logarithms;
    equations and unknowns of whatever units, of derivatives too, then count alike [Curtis and Reid 1972]. An equation that is
    written larger has a row that weighs less, and all else is the same.
    """
    largest = np.abs(A).max(axis=1, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    sizes = np.abs(A) / largest[:, None]
    there = sizes > DUST
    logs, counts = np.log(sizes, out=np.zeros_like(sizes), where=there), there.astype(float)
    normal = np.block([[np.diag(counts.sum(axis=1)), counts], [counts.T, np.diag(counts.sum(axis=0))]])
    normal[np.diag_indices_from(normal)] += FREE  # rows against columns, where nothing says which
    found = solve(normal, -np.concatenate([logs.sum(axis=1), logs.sum(axis=0)]), assume_a="pos", check_finite=False)
    weights = np.exp(found)
    return weights[: len(A)] / largest, weights[len(A) :]


@dataclass(frozen=True)
class Structure:
    """What equations with the slopes A (m, n) decide.

    free : dimension of what they leave open of the first unknowns
    open : and of the unknowns that come next, where the first are held
    repeated : (r, m) combinations of equations that hold no unknowns
    rest : rank of the slopes by the unknowns that are not the first
    """

    free: int
    open: int
    repeated: FloatArray
    rest: int


def structure(A: FloatArray, first: int, more: int) -> Structure:
    """What balanced equations decide of their *first* unknowns, and with these of the *more* that come next."""
    Q = null_space(A[:, first:].T, rcond=RANK)
    Q_more = null_space(A[:, first + more :].T, rcond=RANK)
    return Structure(
        free=first - rank(Q.T @ A[:, :first]),
        open=more - rank(Q_more.T @ A[:, first : first + more]),
        repeated=null_space(A.T, rcond=RANK).T,
        rest=len(A) - Q.shape[1],
    )


def rank(A: FloatArray) -> int:
    """The rank of what balanced equations leave of themselves."""
    sizes = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int((sizes > RANK).sum())


def least_change(A: FloatArray, off: FloatArray, first: int, rest: int) -> FloatArray:
    """A change that makes *off* zero, the least of the *first* unknowns, and of as many others as A has the rank *rest* on these.
    Not finite where it does not have it.
    """
    B, (Q, R, order) = A[:, :first], qr(A[:, first:], pivoting=True)
    U, s, V = np.linalg.svd(Q[:, rest:].T @ B, full_matrices=False)
    if not (s.all() and np.diagonal(R)[:rest].all()):
        return np.full(A.shape[1], np.nan)
    x = -V.T @ ((U.T @ (Q[:, rest:].T @ off)) / s)
    y = np.zeros(R.shape[1])
    y[order[:rest]] = -solve_triangular(R[:rest, :rest], Q[:, :rest].T @ (off + B @ x), check_finite=False)
    return np.concatenate([x, y])


def decided(A: FloatArray, asked: slice) -> FloatArray:
    """What the slopes say of the unknowns *asked* for where those after them are eliminated."""
    after = A[:, asked.stop :]
    U, s, _ = np.linalg.svd(after, full_matrices=False)
    U = U[:, s > RANK * s.max(initial=0.0)]
    own = A[:, asked]
    return np.asarray(own - U @ (U.T @ own))
