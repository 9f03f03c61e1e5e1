"""Random states on the assembly branch of the start, reached from it by continuous motion.

A parallelogram projected onto its loop from a random guess is an antiparallelogram half of the time. States are therefore
reached by small steps along the constraints, each with a step of time::

    A x = -f_t dt          step <= the least singular value of A, rows of unit length

The least singular value estimates the distance to a branch point. Near one, and where a step needs a large projection,
another direction is drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.constraints import NumericConstraints
from kineta.numerics.linear_algebra import lstsq, norm, svd
from kineta.records import dataclass

#: Largest step [rad or m].
LARGEST_STEP = 0.2
#: Number of steps between two states, and number of halvings of a step.
STEPS_BETWEEN, STEP_HALVINGS = 6, 6
#: Largest projection of a position, as a part of the step, and least cosine between the directions before and after it.
LARGEST_PROJECTION, LEAST_COSINE = 0.25, 0.9
#: Least singular value, as a part of the one at the start, at a branch point.
SINGULAR_PART = 0.05
#: Span of time [s] covered by the states.
TIME_SPAN = 1.0
#: Name of the computation in error messages.
TANGENT_SPACE = "the motions that constraints allow"


@dataclass(frozen=True)
class _BranchPoint:
    """Point of the branch: a basis ``free`` (k, nv) of its tangent space, the rate ``drift`` (nv,) due to the time, and the
    distance ``room`` to the nearest branch point.
    """

    t: float
    q: FloatArray
    free: FloatArray
    drift: FloatArray
    room: float


class AssemblyBranch:
    """Branch of the *constraints* through the consistent state *q*, *v* at the time *t*.

    Rows *left_out* are redundant; rows nonlinear in the speeds are kept on the position alone: ``rows`` are the indices of
    the remaining ones. Where they are dependent, branches meet, and the choice of a branch is undefined.
    """

    def __init__(
        self, constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray, left_out: Collection[str]
    ) -> None:
        self.constraints, self._v = constraints, v
        linear = constraints.compiled.linear
        kept = (name not in left_out and (linear or order == 0) for name, order in constraints.rows)
        self.rows = np.flatnonzero(list(kept))
        self._start = self._place(t, q)

    def states(self, rng: np.random.Generator) -> Iterator[tuple[float, FloatArray]]:
        """Endless sequence of times and coordinates, the start first."""
        place = self._start
        while True:
            yield place.t, place.q
            way, clock = rng.standard_normal(len(place.drift)), rng.uniform(-1.0, 1.0)
            for _ in range(STEPS_BETWEEN):
                way = place.free.T @ (place.free @ way)
                way /= max(float(norm(way)), tolerances.LEAST_DIVISOR)
                following = self._stride(place, way, clock)
                if following is None:
                    break
                place = following

    def _place(self, t: float, q: FloatArray) -> _BranchPoint:
        A, last, _ = self.constraints.linearised(t, q, self._v)
        A, at_rest = A[self.rows], (last - A @ self._v)[self.rows]
        length = norm(A, axis=1)
        _, sizes, V = svd(A / np.where(length > 0, length, 1.0)[:, None], what=TANGENT_SPACE)
        return _BranchPoint(t, q, V[len(A) :], -lstsq(A, at_rest, what=TANGENT_SPACE), float(sizes.min(initial=np.inf)))

    def _stride(self, place: _BranchPoint, way: FloatArray, clock: float) -> _BranchPoint | None:
        """Point after a step along the unit vector *way*, as long as admissible; None near another branch."""
        rate = way + clock * place.drift
        step = min(LARGEST_STEP, place.room) / max(1.0, float(norm(rate)))
        for _ in range(STEP_HALVINGS):
            t = place.t + step * clock
            guess = self.constraints.retract(place.t, place.q, step * rate)
            q = self.constraints.project_position(t, guess)
            if (
                abs(t) <= TIME_SPAN
                and self._met(t, q)
                and norm(q - guess) <= LARGEST_PROJECTION * norm(guess - place.q)
            ):
                found = self._place(t, q)
                if found.room > SINGULAR_PART * self._start.room and norm(found.free @ way) > LEAST_COSINE * norm(way):
                    return found
            step /= 2
        return None

    def _met(self, t: float, q: FloatArray) -> bool:
        """True where a position satisfies the position constraints."""
        still = np.zeros(len(self.constraints.system.base_speeds))
        off = self.constraints.residuals(t, q, still)[self.constraints.on_position]
        return bool(np.abs(off).max(initial=0.0) <= tolerances.CONSTRAINT_TOLERANCE * self.constraints.scale(q, still))
