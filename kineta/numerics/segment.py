"""A stretch of a run: what all methods give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.problem import Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Segment:
    """Accepted steps from (t0, y0): times (k,), states (k, n), and the solution between them.

    ``end`` is None where the run goes on, ``""`` at its end, and a sentence where it failed. ``zeros`` are those of events that
    the method has found: which event's, (m,), times (m,) and states (m, n). Where ``odd`` is set, they are still to be found
    over the last step. ``changed`` are the events of touches that changed what they do on the way, the rows of the states
    after that, which are no steps, the approaches of those that struck, and the flags of all from there on, if they
    are others. ``problem`` is what was solved last, ``mode`` what the caller knows of its start,
    ``later`` the rows from which on there are other modes, with what gives these, and ``jumped`` tells that (t0, y0) is not where
    the segment before ended.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray | float], FloatArray] | None
    end: str | None
    odd: bool = True
    zeros: tuple[IntArray, FloatArray, FloatArray] | None = None
    changed: tuple[IntArray, IntArray, FloatArray, FloatArray] | None = None
    problem: Problem | None = None
    mode: Any = None
    later: Sequence[tuple[int, Callable[[], Any]]] = ()
    jumped: bool = False

    def modes(self, t: FloatArray) -> Iterator[tuple[slice, Any]]:
        """Which of the times *t*, in their order, are in which mode; where one ends and the next begins is in the first."""
        if not self.later:
            return self._parts([len(t)])
        sign = 1.0 if self.t[-1] >= self.t0 else -1.0
        ends = np.searchsorted(sign * t, sign * self.t[[row for row, _ in self.later]], side="right")
        return self._parts([*ends.tolist(), len(t)])

    def mode_at(self, t: float) -> Any:
        """The mode at the time *t*."""
        ((_, mode),) = self.modes(np.array([t]))
        return mode

    @property
    def last_mode(self) -> Any:
        """The mode in which it ends."""
        return self.later[-1][1]() if self.later else self.mode

    def rows(self, count: int) -> Iterator[tuple[slice, Any]]:
        """Which of the first *count* rows are in which mode."""
        return self._parts([*(min(row, count) for row, _ in self.later), count])

    def _parts(self, ends: Sequence[int]) -> Iterator[tuple[slice, Any]]:
        modes = [lambda: self.mode, *(mode for _, mode in self.later)]
        for start, end, mode in zip([0, *ends], ends, modes, strict=False):
            if end > start:
                yield slice(start, end), mode()


def failed(t0: float, y0: FloatArray, why: str) -> Segment:
    """The end of a run that got no further than (t0, y0)."""
    return Segment(t0, y0, np.empty(0), np.empty((0, len(y0))), None, why.rstrip("."), odd=False)
