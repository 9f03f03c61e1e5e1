"""Chattering: steps by events, and changes, that pile up within what would be one step of time stepping."""

from __future__ import annotations

from collections import deque

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.integration.contact_records import CLOSED, FLAGS
from kineta.integration.handover import PART, StepCrowd
from kineta.integration.segment import Segment
from kineta.integration.time_stepping import STEP
from kineta.runtime.problem import SimulationProblem

#: Steps of the method by events within this part of one of time stepping that are too many.
CROWD, CROWDED = 500, 0.5
#: Closed contacts up to which so many steps are not too many, and the fewest that are: an evaluation by events takes a time that
#: grows as the cube of the closed contacts, and one step of time stepping does not.
SPARSE, FEWEST = 8, 10
#: Steps, and changes, that may be too many in a motion by events alone: some seconds for a table on sprung feet, or a humanoid.
MOST_STEPS, MOST_CHANGES = 150_000, 3000


def step_size(task: SimulationProblem) -> float:
    """The step of time stepping of *task* [s], without one that it gives."""
    return float(min(task.control.max_step, STEP, PART * (task.t1 - task.t0)))


def crowd(flags: FloatArray) -> int:
    """The number of steps within a part of one of time stepping that are too many in the mode of these *flags*."""
    return most_steps(int((flags[CLOSED::FLAGS] > 0.0).sum()))


def most_steps(closed: int) -> int:
    """The number of steps within a part of one of time stepping that are too many with so many contacts *closed*."""
    return min(CROWD, max(FEWEST, int(CROWD * (SPARSE / max(closed, 1)) ** 3)))


def step_crowd(contacts: int, narrow: float) -> StepCrowd:
    """A record of the steps of a motion with so many *contacts*, of which some are too many within a *narrow* time [s]."""
    fewest = np.array([most_steps(k) for k in range(contacts + 1)], dtype=np.int64)
    return StepCrowd(fewest=fewest, most=CROWD, narrow=narrow, ends=np.zeros(CROWD))


class ChatterWatch:
    """The steps of a motion by events with something closed that are too many within a part of a step of the *size* [s]."""

    def __init__(self, size: float) -> None:
        self._short = CROWDED * size
        self._most = CROWD
        self.begin()

    def words(self, closed: str) -> str:
        """What is too many, with the names of what is *closed*."""
        return f"{self._most} steps by events with {closed} closed take less than {self._short:g} s"

    @property
    def shortest(self) -> float:
        """Mean size of steps [s] below which they are too many."""
        return self._short / self._most

    def begin(self) -> None:
        """Begin anew: steps so far are none. ``passed`` is given the times of those with nothing closed."""
        self._parts: deque[FloatArray] = deque(maxlen=CROWD)  # put together where something is closed
        self.passed = self._parts.append  # a call of a method takes longer than a sample may

    def first(self, segment: Segment) -> tuple[int, FloatArray] | None:
        """The first step of a *segment* that is too many, and the flags of its mode; None for none."""
        crowded = self._crowded(segment)
        for part, mode in segment.rows(len(segment.t)) if crowded.any() else ():
            rows = np.flatnonzero(crowded[part])
            if len(rows) and mode.flags.any():
                self._most = crowd(mode.flags)
                return part.start + int(rows[0]), mode.flags
        return None

    def count(self, segment: Segment) -> int:
        """The number of steps of a *segment* that are too many."""
        if not (segment.later or segment.mode.closed):
            self.passed(segment.t)
            return 0
        crowded = self._crowded(segment)
        if not crowded.any():
            return 0
        return sum(int(crowded[part].sum()) for part, mode in segment.rows(len(segment.t)) if mode.flags.any())

    def _crowded(self, segment: Segment) -> Mask:
        """Which steps of a *segment* are too many: in their mode so many end within ``short``."""
        moved = np.append(segment.t0, segment.t[:-1]) < segment.t
        own, before = segment.t[moved], np.concatenate([np.empty(0), *self._parts])[-CROWD:]
        known, times = len(before), np.append(before, own)
        self._parts.clear()
        self._parts.append(times[-CROWD:])
        found = np.zeros(len(segment.t), dtype=np.bool_)
        most = np.full(len(segment.t), CROWD)
        if len(segment.mode.flags) > SPARSE * FLAGS:  # each step by its own mode, however segments are put together
            for part, mode in segment.rows(len(segment.t)):
                most[part] = crowd(mode.flags)
        most = most[moved]
        ends = np.flatnonzero(known + np.arange(len(own)) >= most)
        found[np.flatnonzero(moved)[ends]] = own[ends] - times[known + ends - most[ends]] < self._short
        return found
