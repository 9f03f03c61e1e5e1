"""Chattering: steps by events, and changes, that pile up within what would be one step of time stepping."""

from __future__ import annotations

from collections import deque

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.integration.segment import Segment
from kineta.integration.time_stepping import STEP
from kineta.runtime.compiled import NO_FLAGS
from kineta.runtime.problem import SimulationProblem

#: Largest part of a run that is one step of time stepping.
PART = 1e-3
#: Steps of the method by events within this part of one of time stepping that are too many.
CROWD, CROWDED = 500, 0.5
#: Changes without an impact within one step of time stepping that are too many.
PILE = 100
#: Steps, and changes, that may be too many in a motion by events alone: some seconds for a table on sprung feet, or a humanoid.
MOST_STEPS, MOST_CHANGES = 150_000, 3000


def step_size(task: SimulationProblem) -> float:
    """The step of time stepping of *task* [s], without one that it gives."""
    return float(min(task.control.max_step, STEP, PART * (task.t1 - task.t0)))


class ChatterWatch:
    """The steps of a motion by events with something closed that are too many within a part of a step of the *size* [s]."""

    def __init__(self, size: float) -> None:
        self._short = CROWDED * size
        self._flags, self._closed = NO_FLAGS, False
        self.begin()

    def words(self, closed: str) -> str:
        """What is too many, with the names of what is *closed*."""
        return f"{CROWD} steps by events with {closed} closed take less than {self._short:g} s"

    @property
    def shortest(self) -> float:
        """Mean size of steps [s] below which they are too many."""
        return self._short / CROWD

    def begin(self) -> None:
        """Begin anew: steps so far are none."""
        self._parts: deque[FloatArray] = deque(maxlen=CROWD)

    def first(self, segment: Segment) -> tuple[int, FloatArray] | None:
        """The first step of a *segment* that is too many, and the flags of its mode; None for none."""
        if self._passes(segment):
            return None
        crowded = self._crowded(segment)
        for part, mode in segment.rows(len(segment.t)) if crowded.any() else ():
            rows = np.flatnonzero(crowded[part])
            if len(rows) and mode.flags.any():
                return part.start + int(rows[0]), mode.flags
        return None

    def count(self, segment: Segment) -> int:
        """The number of steps of a *segment* that are too many."""
        if self._passes(segment):
            return 0
        crowded = self._crowded(segment)
        if not crowded.any():
            return 0
        return sum(int(crowded[part].sum()) for part, mode in segment.rows(len(segment.t)) if mode.flags.any())

    def _passes(self, segment: Segment) -> bool:
        """Whether nothing is closed in a *segment*."""
        flags = segment.mode.flags
        if flags is not self._flags:  # those of many samples are one array
            self._flags, self._closed = flags, any(flags.tolist())
        if segment.later or self._closed:
            return False
        if len(segment.t):
            self._parts.append(segment.t)  # put together where something is closed
        return True

    def _crowded(self, segment: Segment) -> Mask:
        """Which steps of a *segment* end less than ``short`` after the one that is CROWD steps before."""
        moved = np.append(segment.t0, segment.t[:-1]) < segment.t
        own, before = segment.t[moved], np.concatenate([np.empty(0), *self._parts])[-CROWD:]
        known, times = len(before), np.append(before, own)
        self._parts.clear()
        self._parts.append(times[-CROWD:])
        found = np.zeros(len(segment.t), dtype=np.bool_)
        found[np.flatnonzero(moved)[CROWD - known :]] = times[CROWD:] - times[:-CROWD] < self._short
        return found
