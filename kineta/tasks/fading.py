"""What answers programs and falls to nothing while steps become shorter and shorter: when it will have vanished."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Part of its largest value below which an answer that falls may come to vanish; and part of the longest step below which all of
#: the last steps, so many, are short without end.
LOW, SHORT, LAST = 0.05, 1e-7, 10
#: Part of it below which it vanishes where steps become shorter with it, so many of which the rest would take at least.
FAINT, MANY = 1e-4, 3e4
#: The lowest and highest powers of it that may fall like a line, for zeros of high order, and such that it comes to steeply.
POWERS = 0.1, 20.0


class Fading:
    """Follows how large an answer is, from the time *t* on."""

    def __init__(self, t: float) -> None:
        self._t, self.longest, self._recent = t, 0.0, np.zeros(0)
        self._halves: list[tuple[float, float]] = []

    def follow(self, t: FloatArray, sizes: FloatArray) -> int | None:
        """Go on to the times *t* of steps, at the ends of which the answer has these *sizes*: kept are the times in which it fell
        to a half, and to a half again. The number of the step at which it is as good as nothing, if it is at one.
        """
        steps = np.abs(np.diff(t, prepend=self._t))
        self._recent = np.concatenate([self._recent, steps])[-LAST:]
        self.longest = max(self.longest, float(steps.max(initial=0.0)))
        soon = self._foretold()
        for i, (step, time, size) in enumerate(zip(steps.tolist(), t.tolist(), sizes.tolist(), strict=True)):
            self._t, self._size = time, size
            while self._halves and size > 2 * self._halves[-1][1]:
                self._halves.pop()
                soon = self._foretold()
            if not self._halves or 2 * size < self._halves[-1][1]:
                self._halves.append((time, size))
                soon = self._foretold()
            short = step <= SHORT / FAINT * self.longest
            if size <= FAINT and short and soon is not None and abs(soon - time) > MANY * step:
                return i
        return None

    def soon(self, *, stuck: bool) -> float | None:
        """When the answer will have vanished, if it is low, and falls while the last steps have become short without end, or
        while the motion is *stuck*.
        """
        short = len(self._recent) == LAST and self._recent.max() <= SHORT * self.longest
        if not self._halves or not (stuck or (short and self._size <= self._halves[-1][1])):
            return None
        return self._foretold()

    def _foretold(self) -> float | None:
        """When the answer will have vanished, if it is low: a power of it has fallen like a line."""
        if len(self._halves) < 3 or self._halves[-1][1] > LOW:
            return None
        (t0, x0), (t1, x1), (t2, x2) = self._halves[-3:]

        part, near, nearer = (t2 - t1) / (t1 - t0), x1 / x0, x2 / x0

        def bent(power: float) -> float:
            return float((1 - near**power) * part - (near**power - nearer**power))

        if not nearer > 0 or not bent(POWERS[0]) < 0 < bent(POWERS[1]):
            return None
        from scipy.optimize import brentq

        power = float(brentq(bent, *POWERS))
        return t2 + (t2 - t1) / (float((near / nearer) ** power) - 1)
