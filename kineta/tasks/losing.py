"""Where gradients of programs are lost in the steps of a motion: what they are there, and what finds the instant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.roots import DIP
from kineta.tasks.nearing import Instant, N, Stretch

FloatArray = NDArray[np.float64]

#: Part of what a size is in a step that is zero to rounding, or zero where no step leads on; how many times more than it may
#: bend between two looks is no zero; and to which part of what it is a little before a size falls at the end of a run, just
#: before it vanishes.
ZERO, STUCK, CLEAR, FALLING = 1e-12, 1e-6, 4.0, 0.25
#: Part of a stretch before its end that is its end but for rounding.
ROUNDED = 1e-2


@dataclass(frozen=True)
class Looked:
    """What programs are in the states of a stretch: their gradients, and what answers them, (m, programs, nv), and ``sizes``
    (m, 1 + edges) of the least influence on them and of what is zero where one has no gradient, each of the second order; and
    what changes its sign at ``kinks`` (m, kinks).
    """

    stretch: Stretch
    B: FloatArray
    Z: FloatArray
    sizes: FloatArray
    kinks: FloatArray

    @property
    def bent(self) -> NDArray[np.bool_]:
        """Between which states, (m - 1,), a program has a kink or a step; none is at the first."""
        one, other = self.kinks[:-1], self.kinks[1:]
        leaves = (one == 0) & (other != 0) & (np.arange(len(one)) > 0)[:, None]
        return np.asarray(np.logical_or.reduce((one * other < 0) | leaves, axis=1))

    @property
    def answers(self) -> FloatArray:
        """How much each program is answered, (m, programs), of the order of its gradient."""
        return np.asarray(np.sqrt(np.abs(np.einsum("kan,kan->ka", self.B, self.Z))))

    @property
    def turned(self) -> NDArray[np.bool_]:
        """Between which states, (m - 1,), a gradient turns round, or has no value."""
        goes_on = answered(self.B[:-1], self.Z[1:]) * np.sign(answered(self.B[1:], self.Z[1:])) > 0
        return np.asarray(~goes_on & self._known[:-1] & self._known[1:])

    @property
    def _known(self) -> NDArray[np.bool_]:
        """Which of the states are known, (m,): at an edge of what has a value there is nothing between two of them."""
        return np.asarray(np.isfinite(self.stretch.y).all(axis=1))

    def size(self, k: int) -> FloatArray:
        """The size number *k* in the states, (m,): nothing where it has no value, and infinite in states that are not known."""
        return np.where(self._known, np.nan_to_num(self.sizes[:, k], nan=0.0), np.inf)

    @property
    def bends(self) -> FloatArray:
        """How far each of the sizes may come nearer to zero between two states of a step, (steps, sizes)."""
        second = np.diff(self._steps, 2, axis=1)
        third = np.diff(second, axis=1)
        most = (np.abs(x).max(axis=1) for x in (second, third, np.diff(third, axis=1)))
        return np.asarray(DIP * sum(most))

    @property
    def dipping(self) -> NDArray[np.bool_]:
        """Which of the sizes may come to zero in a step, (steps, sizes)."""
        least = self._steps.min(axis=1)
        return np.asarray(np.isnan(least) | (least <= self.bends))

    @property
    def _steps(self) -> FloatArray:
        """The sizes by step, (steps, N + 1, sizes)."""
        steps = (len(self.sizes) - 1) // N
        return np.asarray(self.sizes[N * np.arange(steps)[:, None] + np.arange(N + 1)])


class Turn:
    """Finds where a gradient turns round."""

    def __init__(self, look: Callable[[Stretch], Looked]) -> None:
        self._look = look
        self.around: tuple[Looked, int, int] | None = None

    def __call__(self, stretch: Stretch) -> tuple[int, int] | None:
        """The numbers of the states between which it does, None for nowhere."""
        looked = self._look(stretch)
        turned = np.flatnonzero(looked.turned)
        if not len(turned):
            return None
        i = int(turned[0])
        self.around = looked, i, i + 1
        return i, i + 1

    def when(self, instant: Instant) -> float | None:
        """The time at which it does, near the *instant*; None where it does not."""
        if self.around is None:
            return None
        return instant.t if instant.stuck else instant.behind


class Bend:
    """Finds where a program has a kink or a step."""

    def __init__(self, look: Callable[[Stretch], Looked]) -> None:
        self._look = look

    def __call__(self, stretch: Stretch) -> tuple[int, int] | None:
        """The numbers of the states between which it is, None for nowhere."""
        bent = np.flatnonzero(self._look(stretch).bent)
        return (int(bent[0]), int(bent[0]) + 1) if len(bent) else None


class Dip:
    """Finds where the size number *k* comes to zero, and where it comes to nothing at an end."""

    def __init__(self, look: Callable[[Stretch], Looked], k: int) -> None:
        self._look, self.k = look, k
        self.around: tuple[Looked, int, int] | None = None
        self._first = 0.0

    def __call__(self, stretch: Stretch) -> tuple[int, int] | None:
        """The numbers of states around it, None where it stays away from zero."""
        looked = self._look(stretch)
        sizes = looked.size(self.k)
        most = float(sizes.max(where=np.isfinite(sizes), initial=0.0))
        self._first = self._first or most
        i, last = int(sizes.argmin()), len(sizes) - 1
        before, after = max(i - 1, 0), min(i + 1, last)
        bend = looked.bends[[before // N, (after - 1) // N], self.k].max()
        inside = abs(stretch.t[-1] - stretch.t[i]) > ROUNDED * abs(stretch.t[-1] - stretch.t[0])
        self.around = looked, before, i
        self._t, self._least = float(stretch.t[i]), float(sizes[i])
        self._falls = bool(inside or sizes[i] <= FALLING * most)
        return None if sizes[i] > max(CLEAR * bend, ZERO * self._first) else (before, after)

    def when(self, instant: Instant) -> float | None:
        """The time at which it does, near the *instant*; None where it only comes near to zero."""
        if instant.stuck:
            return self._t if self._least <= STUCK * self._first else None
        return self._t if self._falls and self._least <= ZERO * self._first else None


def answered(B: FloatArray, Z: FloatArray) -> FloatArray:
    """How much *Z* answers the gradients *B*, (k, programs, nv) each: its sign changes where these turn round."""
    with np.errstate(invalid="ignore"):  # where there is no gradient there is no sign
        return np.asarray(np.linalg.det(np.einsum("kan,kbn->kab", B, Z)))
