"""Work at samples: methods say what it is at the ends of their steps, and little between where it does not steer these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.segment import Segment

if TYPE_CHECKING:
    from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

#: Places between 0 and 1 and weights of Gauss's rule for an integral.
NODES, WEIGHTS = ((x / 2 + shift) for x, shift in zip(np.polynomial.legendre.leggauss(8), (0.5, 0.0), strict=True))


class Working:
    """Puts the work into states of a motion of *made*, of which the first *states* numbers are what moves."""

    def __init__(self, made: Bound, states: int) -> None:
        layout = made.code.layout
        self._made, self._own = made, slice(states, states + layout.works + layout.controls)

    def __call__(self, segment: Segment, t: FloatArray, y: FloatArray) -> None:
        """Put it into the states *y* (k, n) at the times *t* (k,) of a *segment*: the power along its solution, integrated from
        the beginning of each step.
        """
        assert segment.solution is not None
        made: Bound = segment.mode or self._made
        ends, rows = np.append(segment.t0, segment.t), np.vstack([segment.y0, segment.y])
        sign = np.sign(ends[-1] - ends[0])
        i = np.searchsorted(sign * ends[1:-1], sign * t, side="left")
        size = (t - ends[i])[:, None]
        times = (ends[i][:, None] + size * NODES).ravel()
        rate = made.code.rate.batch(times[:, None], np.asarray(segment.solution(times)).T, made.h)[:, self._own]
        found = rows[i, self._own] + size * np.einsum("kjn,j->kn", rate.reshape(len(t), len(NODES), -1), WEIGHTS)
        better = np.isfinite(found).all(axis=1) & (t != ends[i + 1])
        y[better, self._own] = found[better]
