"""Rank structure of linear equations with hidden equations: solutions of least change in a hierarchy of unknowns.

A x = -residual has more unknowns than equations. Eliminating all but the first m unknowns leaves the equations that determine
these m unknowns alone::

    A = (B, C)      Q^T C = 0      Q^T B x = -Q^T residual      C y = -residual - B x
"""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import null_space, pivoted_qr, solve_positive, solve_triangular, svd, svdvals
from kineta.records import dataclass

#: Name of the computed quantity in errors.
DECIDED = "what the equations decide"
#: Addition to the normal equations of the scales that fixes the undetermined common factor of rows and columns.
GAUGE = 1e-9


def equilibrated(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Row and column scalings that bring all entries near to one, by least squares of their logarithms [Curtis and Reid
    1972]. Equations and unknowns of any unit, derivatives included, then have equal weight, and scaling an equation
    changes its row weight only.
    """
    largest = np.abs(A).max(axis=1, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    sizes = np.abs(A) / largest[:, None]
    there = sizes > tolerances.ROUNDING_TOLERANCE
    logs, counts = np.log(sizes, out=np.zeros_like(sizes), where=there), there.astype(float)
    normal = np.block([[np.diag(counts.sum(axis=1)), counts], [counts.T, np.diag(counts.sum(axis=0))]])
    normal[np.diag_indices_from(normal)] += GAUGE
    found = solve_positive(
        normal, -np.concatenate([logs.sum(axis=1), logs.sum(axis=0)]), what="the scales of the equations"
    )
    weights = np.exp(found)
    return weights[: len(A)] / largest, weights[len(A) :]


@dataclass(frozen=True)
class RankStructure:
    """The rank structure of equations with the Jacobian A (m, n).

    free : number of undetermined directions of the first unknowns
    open : number of undetermined directions of the next unknowns, for given first unknowns
    repeated : (r, m) combinations of equations without unknowns
    rest : rank of the Jacobian by all unknowns after the first
    """

    free: int
    open: int
    repeated: FloatArray
    rest: int


def rank_structure(A: FloatArray, first: int, more: int) -> RankStructure:
    """The rank structure of equilibrated equations with respect to their *first* unknowns and the *more* unknowns after
    them.
    """
    Q = null_space(A[:, first:].T, what=DECIDED, rcond=tolerances.RANK_TOLERANCE)
    Q_more = null_space(A[:, first + more :].T, what=DECIDED, rcond=tolerances.RANK_TOLERANCE)
    return RankStructure(
        free=first - rank(Q.T @ A[:, :first]),
        open=more - rank(Q_more.T @ A[:, first : first + more]),
        repeated=null_space(A.T, what=DECIDED, rcond=tolerances.RANK_TOLERANCE).T,
        rest=len(A) - Q.shape[1],
    )


def rank(A: FloatArray) -> int:
    """The rank of equilibrated equations."""
    sizes = svdvals(A, what=DECIDED) if A.size else np.zeros(0)
    return int((sizes > tolerances.RANK_TOLERANCE).sum())


def least_change(A: FloatArray, off: FloatArray, first: int, rest: int) -> FloatArray:
    """The change of least norm in the *first* unknowns that makes *off* (m,) zero, or the changes for the columns of *off*
    (m, k), completed by the other unknowns with the rank *rest*. Not finite for a lower rank.
    """
    B, (Q, R, order) = A[:, :first], pivoted_qr(A[:, first:], what=DECIDED)
    U, s, V = svd(Q[:, rest:].T @ B, what=DECIDED, full_matrices=False)
    if not (s.all() and np.diagonal(R)[:rest].all()):
        return np.full((A.shape[1], *off.shape[1:]), np.nan)
    x = -V.T @ ((U.T @ (Q[:, rest:].T @ off)).T / s).T
    y = np.zeros((R.shape[1], *off.shape[1:]))
    y[order[:rest]] = -solve_triangular(R[:rest, :rest], Q[:, :rest].T @ (off + B @ x), what=DECIDED)
    return np.concatenate([x, y])


def determined(A: FloatArray, asked: slice) -> FloatArray:
    """The equations for the unknowns *asked* after elimination of all later unknowns."""
    after = A[:, asked.stop :]
    U, s, _ = svd(after, what=DECIDED, full_matrices=False)
    U = U[:, s > tolerances.RANK_TOLERANCE * s.max(initial=0.0)]
    own = A[:, asked]
    return np.asarray(own - U @ (U.T @ own))
