"""The last stretch of a motion before an instant that it cannot pass, made in ever shorter steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.roots import PARTS
from kineta.numerics.segment import Segment

FloatArray = NDArray[np.float64]

#: Steps in each try at least, no whole number, so that the last is none of rounding; how near to the instant tries come, relative
#: to the first; and steps in all of them at most.
SHARES, FINE, MOST = 3.5, 1e-10, 20_000
#: Parts of a step.
N = len(PARTS) - 1

#: Carries the motion of a mode on from a time and a state to an end, in steps no longer than a number.
Carry = Callable[[float, FloatArray, float, float, Any], Iterator[Segment]]


@dataclass(frozen=True)
class Stretch:
    """Steps of a motion one behind the other, and what is between: times (N k + 1,) and states (N k + 1, n), N in each step, the
    first of all where the first step begins.
    """

    t: FloatArray
    y: FloatArray

    @classmethod
    def of(
        cls, t0: float, y0: FloatArray, t: FloatArray, y: FloatArray, solution: Callable[[FloatArray], FloatArray]
    ) -> Stretch:
        """The steps from *t0*, *y0* to the times *t* (k,) and states *y* (k, n)."""
        starts = np.concatenate([[t0], t[:-1]])
        times = starts[:, None] + np.array(PARTS[1:]) * (t - starts)[:, None]
        times[:, -1] = t
        states = np.empty((*times.shape, len(y0)))
        within = np.asarray(solution(times[:, :-1].ravel())).T
        states[:, :-1] = within.reshape(len(t), N - 1, len(y0))
        states[:, -1] = y
        return cls(np.concatenate([[t0], times.ravel()]), np.concatenate([y0[None], states.reshape(-1, len(y0))]))

    def then(self, other: Stretch) -> Stretch:
        """This one and the *other* behind it."""
        return Stretch(np.concatenate([self.t, other.t[1:]]), np.concatenate([self.y, other.y[1:]]))


@dataclass(frozen=True)
class Instant:
    """An instant that a motion has come near to, in ``segments``: the last time and state before it, a time behind it, and
    whether the motion does not come to that.
    """

    t: float
    y: FloatArray
    behind: float
    segments: Sequence[Segment]
    stuck: bool


def near(
    carry: Carry, t: float, y: FloatArray, end: float, mode: Any, find: Callable[[Stretch], tuple[int, int] | None]
) -> Instant | None:
    """The instant that *find* finds between *t*, where the state is *y*, and *end*: of a stretch it gives the number of a state
    before it and of one behind it, or None where there is none.
    """
    kept, first, left, stuck = list[Segment](), abs(end - t), MOST, False
    while left > 0 and abs(end - t) > max(FINE * first, 4 * np.spacing(abs(end))):
        made = [s for s in carry(t, y, end, abs(end - t) / SHARES, mode) if len(s.t)]
        stuck = not made or made[-1].t[-1] != end
        if not made:
            break
        looked = _joined(made)
        left -= (len(looked.t) - 1) // N
        place = find(looked)
        if place is None and not stuck:
            return None
        if place is None or (stuck and place[1] == len(looked.t) - 1):
            place = len(looked.t) - 1, -1
        else:
            end = float(looked.t[place[1]])
        step = place[0] // N
        kept += _up_to(made, step)
        t, y = float(looked.t[N * step]), looked.y[N * step]
    return Instant(t, y, end, kept, stuck or left <= 0)


def _joined(segments: Sequence[Segment]) -> Stretch:
    """What is in and between the steps of *segments*."""
    found: Stretch | None = None
    for s in segments:
        assert s.solution is not None
        one = Stretch.of(s.t0, s.y0, s.t, s.y, s.solution)
        found = one if found is None else found.then(one)
    assert found is not None
    return found


def _up_to(segments: Sequence[Segment], steps: int) -> Iterator[Segment]:
    """The first *steps* of *segments*."""
    for s in segments:
        k = min(steps, len(s.t))
        if k:
            yield replace(s, t=s.t[:k], y=s.y[:k], end=None)
        steps -= k
