"""Systems that are alike, as a thousand four-bars, whose constraints are judged together: steps of Newton's method towards
consistent states are taken for all at once. What is not plain by these is judged system by system.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.derived_equations import Derived
from kineta.consistency.redundancy import ROWS
from kineta.errors import NumericalError
from kineta.numerics.linear_algebra import norm, solve, triangle
from kineta.numerics.weighted_least_change import inverse_root
from kineta.records import dataclass

#: Steps of Newton's method, and the longest of a speed.
STEPS, LONGEST = 12, 1.0


def plainly_independent(equations: Derived, p: FloatArray, q: FloatArray, v: FloatArray) -> Mask:
    """Which of k systems, alike as to their *equations*, with the parameters *p* (k, np), have a consistent state near *q*
    (k, nq), *v* (k, nv), at t = 0 where all rows are clearly independent; False also for those that Newton's method does not
    settle, and for rows that are nonlinear in the speeds.
    """
    constraints, none = NumericConstraints(equations, p[0]), np.zeros(len(p), dtype=bool)
    if not constraints.compiled.linear:
        return none
    try:
        with np.errstate(all="ignore"):
            return _Stack(constraints, p).judged(q, v)
    except NumericalError:  # of one of them
        return none


@dataclass(frozen=True)
class _Stack:
    """Systems with the *constraints* of one, and parameters *p* of their own (k, np). Arrays have an axis of systems in front."""

    constraints: NumericConstraints
    p: FloatArray

    def _values(self, quantity: str, q: FloatArray, v: FloatArray) -> FloatArray:
        compiled, k = self.constraints.compiled, len(self.p)
        shape, places = compiled.places[quantity]
        found = np.zeros((k, int(np.prod(shape))))
        found[:, places] = compiled.functions.interpreted(quantity)(np.zeros((k, 1)), q, v, self.p)
        return found.reshape(k, *shape)

    def judged(self, q: FloatArray, v: FloatArray) -> Mask:
        """:func:`plainly_independent`."""
        position, last, rows = self.constraints.residual_places
        still = np.zeros_like(v)
        for _ in range(STEPS if position else 0):
            off = self._values("constraints", q, still)[:, position]
            if (np.abs(off).max(axis=1) <= tolerances.RESIDUAL_TOLERANCE * self._scale(q, still)).all():
                break
            change = self._least_change(self._weighted(q, still, rows), off)
            q = self._retracted(q, change * np.minimum(1.0, LONGEST / np.abs(change).max(axis=1, keepdims=True)))
        A, W = self._weighted(q, v, range(len(self.constraints.rows)))
        v = v + self._least_change((A, W), self._values("constraints", q, v)[:, last])
        off = np.abs(self._values("constraints", q, v)).max(axis=1, initial=0.0)
        return np.asarray((off <= tolerances.CONSTRAINT_TOLERANCE * self._scale(q, v)) & _well_conditioned(A))

    def _weighted(self, q: FloatArray, v: FloatArray, rows: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """The Jacobian of *rows* in the mass metric, and the root of the inverse metric."""
        W = inverse_root(self._values("mass_matrix", q, v))
        return self._values("constraint_jacobian", q, v)[:, list(rows)] @ W, W

    @staticmethod
    def _least_change(weighted: tuple[FloatArray, FloatArray], off: FloatArray) -> FloatArray:
        A, W = weighted
        what, transposed = "the least change that meets the constraints", np.swapaxes(A, 1, 2)
        return np.asarray(-(W @ transposed @ solve(A @ transposed, off[:, :, None], what=what))[:, :, 0])

    def _retracted(self, q: FloatArray, change: FloatArray) -> FloatArray:
        """Coordinates after a *change* along the speeds, with unit quaternions."""
        q = q + self._values("qdot", q, change) - self._values("qdot", q, np.zeros_like(change))
        for offset in self.constraints.system.quaternions.values():
            q[:, offset : offset + 4] /= norm(q[:, offset : offset + 4], axis=1, keepdims=True)
        return q

    def _scale(self, q: FloatArray, v: FloatArray) -> FloatArray:
        system = self.constraints.system
        moved = np.abs(q[:, : system.nq - system.nz]).max(axis=1, initial=1.0)
        return np.asarray(np.maximum(moved, np.abs(v).max(axis=1, initial=0.0)))


def _well_conditioned(A: FloatArray) -> Mask:
    """Which matrices have clearly independent rows."""
    length = norm(A, axis=2)
    shortest, longest = length.min(axis=1), np.maximum(1.0, length.max(axis=1))
    found = np.asarray(shortest >= tolerances.SINGULARITY_TOLERANCE * longest)
    if A.shape[1] > A.shape[2] or not found.any():
        return np.zeros_like(found)
    R = triangle(np.swapaxes(A[found] / length[found][:, :, None], 1, 2), what=ROWS)
    found[found] = np.abs(np.diagonal(R, axis1=1, axis2=2)).min(axis=1) > tolerances.INDEPENDENCE_TOLERANCE
    return found
