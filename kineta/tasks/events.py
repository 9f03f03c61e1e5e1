"""Events: expressions whose zeros a run looks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError
from kineta.expr.node import Expr
from kineta.numerics.roots import root
from kineta.numerics.segments import Segment

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Event:
    """A zero of *value*, an expression of coordinates, speeds, parameters, the time, and positions of points (``P.z``).

    terminal : True ends the run at the first zero, a number n at the n-th
    direction : 1 counts zeros where the value rises as the run goes on, -1 where it falls, 0 both

    A zero at the start is none of a run. Zeros are looked for where the value has changed its sign over a step: of
    two within one step nothing is seen, unless ``max_step`` parts them; nor is one where the value is not a number on
    either side.
    """

    value: Expr
    terminal: bool | int = False
    direction: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.value, Expr):
            raise ArgumentError(f"Event: expected an expression, found {self.value!r}; events are compiled.")
        if self.direction not in (-1, 0, 1):
            raise ArgumentError(f"Event '{self.name}': expected the direction -1, 0 or 1, found {self.direction!r}.")
        if not isinstance(self.terminal, int) or self.terminal < 0:
            raise ArgumentError(
                f"Event '{self.name}': expected terminal as True, False or a count, found {self.terminal!r}."
            )


def event(value: Expr, *, terminal: bool | int = False, direction: int = 0, name: str = "") -> Event:
    """An :class:`Event`."""
    return Event(value, terminal, direction, name or (str(value) if isinstance(value, Expr) else ""))


class Watch:
    """Finds the events of a run, segment by segment; ``ended`` is the name of the one that ended it."""

    def __init__(self, events: Sequence[Event], values: Callable[[float, FloatArray], FloatArray]) -> None:
        self.events = events
        self.values = values
        self.found: list[list[tuple[float, FloatArray]]] = [[] for _ in events]
        self.ended: str | None = None

    def look(self, segment: Segment) -> float | None:
        """Record the events of *segment*; the time of the one that ends the run, if any."""
        if not self.events or not segment.crossed:
            return None
        (t1, y1), solution = (float(segment.t[-1]), segment.y[-1]), segment.solution
        t0, y0 = (float(segment.t[-2]), segment.y[-2]) if len(segment.t) > 1 else (segment.t0, segment.y0)
        assert solution is not None
        before, after = self.values(t0, y0), self.values(t1, y1)
        crossed = (before < 0) & (after >= 0) | (before > 0) & (after <= 0)
        zeros = []
        for i in np.flatnonzero(crossed).tolist():
            direction = self.events[i].direction
            if direction == 0 or direction == np.sign(after[i] - before[i]):
                zeros.append((self._root(i, t0, t1, before[i], after[i], y1, solution), i))
        for (t, y), i in sorted(zeros, key=lambda f: abs(f[0][0] - t0)):
            self.found[i].append((t, y))
            terminal = self.events[i].terminal
            if terminal and len(self.found[i]) >= int(terminal):
                self.ended = self.events[i].name
                return t
        return None

    def _root(
        self,
        i: int,
        t0: float,
        t1: float,
        before: float,
        after: float,
        y1: FloatArray,
        solution: Callable[[FloatArray], FloatArray],
    ) -> tuple[float, FloatArray]:
        """Time and state of the zero of event i between t0 and t1."""
        if after == 0.0:
            return t1, y1

        def value(t: float) -> float:
            return float(self.values(t, state(t))[i])

        def state(t: float) -> FloatArray:
            return np.asarray(solution(np.array([t])))[:, 0]

        t = root(value, t0, t1, float(before), float(after), 4 * np.finfo(float).eps * max(abs(t0), abs(t1)))
        return t, state(t)
