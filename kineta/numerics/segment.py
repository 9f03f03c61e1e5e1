"""A stretch of a run: what all methods give."""

from __future__ import annotations

from collections.abc import Callable
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
    over the last step. ``bounced`` are the events of contacts that struck and left again on the way, the rows of the states after
    that, which are no steps, and the approaches. ``problem`` is what was solved, ``mode`` what the caller
    knows of it, and ``jumped`` tells that (t0, y0) is not where the segment before ended.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray], FloatArray] | None
    end: str | None
    odd: bool = True
    zeros: tuple[IntArray, FloatArray, FloatArray] | None = None
    bounced: tuple[IntArray, IntArray, FloatArray] | None = None
    problem: Problem | None = None
    mode: Any = None
    jumped: bool = False


def failed(t0: float, y0: FloatArray, why: str) -> Segment:
    """The end of a run that got no further than (t0, y0)."""
    return Segment(t0, y0, np.empty(0), np.empty((0, len(y0))), None, why.rstrip("."), odd=False)
