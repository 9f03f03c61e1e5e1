"""States of a run made to meet exactly what they meet up to errors of interpolation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kineta.tasks.code import Bound
from kineta.tasks.keeping import PROJECTED

FloatArray = NDArray[np.float64]


def normalise(rows: FloatArray, quaternions: Sequence[int]) -> None:
    """Make the quaternions of states (k, n) units again."""
    for offset in quaternions:
        rows[:, offset : offset + 4] /= np.linalg.norm(rows[:, offset : offset + 4], axis=1, keepdims=True)


class Settle:
    """Brings states back to the constraints of their motion, in place: unit quaternions at *quaternions*, and what the
    loop projects onto.
    """

    def __init__(self, quaternions: Sequence[int], made: Bound) -> None:
        self.quaternions = quaternions
        self._made = made if made.code.kept == PROJECTED else None

    def __call__(self, t: FloatArray, rows: FloatArray, made: Bound | None = None) -> None:
        """The states *rows* (k, n) at the times *t* (k,), of a motion with other code if there is one."""
        normalise(rows, self.quaternions)
        if self._made is None or not len(rows):
            return
        made = made or self._made
        position, velocity = made.code.returns
        for step in (position, position, velocity):
            nearer = step.batch(t[:, None], rows, made.h)
            rows[:] = np.where(np.isfinite(nearer), nearer, rows)
