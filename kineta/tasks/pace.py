"""Whether a run gets on."""

from __future__ import annotations

#: Steps between two looks, and how many more the rest may take at their pace.
LOOK, MOST = 100_000, 1e11


class Pace:
    """Watches how fast a run comes nearer to its end: one whose steps become short without end never does."""

    def __init__(self, t0: float, t1: float) -> None:
        self._t, self._t1, self._steps = t0, t1, 0

    def left(self, t: float, steps: int) -> float:
        """How many steps the rest takes at the present pace, where that is more than a run can make; else 0."""
        made = steps - self._steps
        if made < LOOK:
            return 0.0
        left = made * abs(self._t1 - t) / max(abs(t - self._t), 1e-300)
        self._t, self._steps = t, steps
        return left if left > MOST else 0.0
