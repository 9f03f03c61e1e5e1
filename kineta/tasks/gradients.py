"""Whether programs of motion can be influenced along a motion: the watch over their gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.model.system import System
from kineta.numerics.segment import Segment
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

#: Part of its largest value below which the least answer of programs to their controls has vanished.
VANISHED = 1e-10


class Gradients:
    """Watches whether the programs of a motion can be influenced along it: what answers them must not vanish nor turn round
    between two steps, which no residual shows.
    """

    def __init__(self, made: Bound, t: float, y: FloatArray) -> None:
        self._made = made
        self._t, self._y = t, y
        self._gradients = self._parts(np.array([t]), y[None])[0][0]
        self._sizes = np.zeros(made.code.layout.gradients[0])

    def _parts(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradients and answers at the times *t* (k,), (k, programs, nv) each."""
        found = self._made.code.regularity.batch(t[:, None], y, self._made.h)
        shape = (len(t), 2, *self._made.code.layout.gradients)
        parts = np.asarray(found).reshape(shape)
        return parts[:, 0], parts[:, 1]

    def _least(self, B: FloatArray, Z: FloatArray) -> FloatArray:
        """The least influence of the controls on combinations of programs, relative to the largest that each has had."""
        S = np.einsum("kan,kbn->kab", B, Z)
        sizes = np.sqrt(np.maximum(np.abs(np.diagonal(S, axis1=1, axis2=2)), 1e-300))
        largest = np.maximum.accumulate(np.vstack([self._sizes, sizes]))[1:]
        self._sizes = largest[-1] if len(largest) else self._sizes
        S = S / (largest[:, :, None] * largest[:, None, :])
        return np.linalg.svd(S, compute_uv=False)[:, -1]

    def stand(self, t: float, y: FloatArray) -> bool:
        """Whether the programs can be influenced at the end of a motion."""
        B, Z = self._parts(np.array([t]), y[None])
        return bool(np.isfinite([B, Z]).all()) and bool(self._least(B, Z)[0] > VANISHED)

    def named(self, system: System) -> str:
        """The programs in words."""
        names = ", ".join(f"'{own.name}'" for own in system.programs)
        return (
            f"the program {names}"
            if len(system.programs) == 1
            else f"the programs {names}, or of a combination of them,"
        )

    def look(self, segment: Segment, end: tuple[float, FloatArray] | None) -> tuple[float, FloatArray, float] | None:
        """Where the motion has to end in *segment*, before its *end*: the last time and state before the influence vanishes, and
        when it does.
        """
        t, y = segment.t, segment.y
        if end is not None:
            inside = (t - end[0]) * np.sign(t[-1] - segment.t0) <= 0
            t, y = t[inside], y[inside]
        if not len(t):
            return None
        B, Z = self._parts(t, y)
        before = np.concatenate([self._gradients[None], B[:-1]])
        turned = np.linalg.det(np.einsum("kan,kbn->kab", before, Z))
        least = self._least(B, Z)
        here = np.linalg.det(np.einsum("kan,kbn->kab", B, Z))
        bad = np.flatnonzero((turned * np.sign(here) <= 0) | ~(least > VANISHED))
        if len(bad):
            i = int(bad[0])
            last = (float(t[i - 1]), y[i - 1]) if i else (self._t, self._y)
            there = float(t[i])
            if turned[i] * np.sign(here[i]) < 0:  # the lengths of the gradients, which vanish in proportion to the time
                there = last[0] + (there - last[0]) * turned[i] / (turned[i] - here[i])
            return *last, there
        self._t, self._y, self._gradients = float(t[-1]), y[-1], B[-1]
        return None
