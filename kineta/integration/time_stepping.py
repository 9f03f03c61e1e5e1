"""Runs by time stepping: steps of one size between pauses, and what is between the ends of steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil, isinf

import numpy as np

from kineta.arrays import FloatArray
from kineta.integration.contact_records import IMPACT_NUMBERS, law_fault
from kineta.integration.error_control import StepControl
from kineta.integration.problem import Problem
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW, Segment
from kineta.integration.stepping_records import SteppingData
from kineta.memory import CompiledFunction
from kineta.records import dataclass

#: The method of Moreau and Jean, and the size of its steps [s] where none is given.
MOREAU, STEP = "moreau", 1e-3
#: Largest number of steps between two pauses.
CHUNK = 1024
#: Target duration between two pauses [s].
PAUSE = 0.1
#: Part of a step by which a span may be longer than a number of steps.
PART_OF_STEP = 1e-9
#: Largest number of steps: beyond it their times are no longer different.
MAX_STEPPED = 1e15


def largest_step(max_step: float) -> float:
    """The largest step [s] where *max_step* is given, or infinite."""
    return STEP if isinf(max_step) else max_step


def number_of_steps(t0: float, t1: float, max_step: float) -> int:
    """The number of steps of one size from *t0* to *t1*."""
    return max(1, ceil((t1 - t0) / largest_step(max_step) - PART_OF_STEP))


def step_notes(
    largest: float,
    touches: Sequence[tuple[str, str]],
    depths: Sequence[float],
    bounded: int,
    plainly: int,
    unsolved: int,
) -> tuple[str, ...]:
    """Sentences on what steps up to the *largest* average, on the *depths* of *touches*, names and units, and on numbers of steps
    whose impulses do not obey all laws.
    """
    units = [unit for _, unit in touches]
    deep = dict.fromkeys(units or ["m"], 0.0)
    for unit, depth in zip(units, depths, strict=True):
        deep[unit] = max(deep[unit], depth)
    deepest = " and ".join(f"{depth:.1e} {unit}".rstrip() for unit, depth in deep.items())
    said = [
        f"'{MOREAU}': {largest:g} s is the largest step; contact forces, reactions and accelerations are averages over"
        f" steps, and the largest penetration is {deepest}."
    ]
    if bounded:
        said.append(f"In {_steps(bounded)} impulses restore less than restitution says, which would gain energy.")
    if plainly:
        said.append(f"In {_steps(plainly)} impulses neither restore nor push bodies apart, since none did both.")
    if unsolved:
        said.append(f"In {_steps(unsolved)} impulses obey the laws of contact and friction approximately only.")
    return tuple(said)


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


class SteppingRun:
    """Time stepping of a *problem* in the memory *data* by the compiled kernel *march*; iterate over it for its segments.

    Steps have the size ``max_step`` of the *control*, or the largest below it of which a whole number are the span. *touches* are
    names and units of contacts; ``made`` is the number of steps so far, ``chunk`` the largest number between two pauses,
    ``struck`` are the impacts in the last segment: times, and numbers (k, IMPACT_NUMBERS); ``impacts`` are all so far. Steps
    pause where an event has another sign than a step before.
    """

    rejected = 0

    def __init__(
        self,
        problem: Problem,
        data: SteppingData,
        march: Callable[[SteppingData], int],
        touches: Sequence[tuple[str, str]],
        control: StepControl,
    ) -> None:
        self.problem, self.data, self.left = problem, data, control.max_steps
        self.evaluations, self.made, self.chunk, self._touches = 0, 0, CHUNK, touches
        self.struck: list[tuple[float, FloatArray]] = []
        self.impacts: list[tuple[float, FloatArray]] = []
        self._march, self._largest, self._pace = march, largest_step(control.max_step), 1
        data.array("y")[:] = problem.y0
        data.array("time")[0] = problem.t0
        data.update(n_events=0, hears=False)
        if (events := problem.events) is not None:
            values, address = np.zeros(2 * events.n), CompiledFunction(events.address)
            data.update(events=address, n_events=events.n, values=values)
        self._set_span(problem.t0, problem.t1)

    def _set_span(self, t0: float, t1: float) -> None:
        steps, events = number_of_steps(t0, t1, self._largest), self.problem.events
        if events is not None:
            self.data.array("values")[: events.n] = self.problem.event_values(t0, self.problem.y0)
        self.data.update(begin=t0, end=t1, steps=steps, made=0, size=(t1 - t0) / steps)

    def go_on(self, t1: float, h: FloatArray) -> None:
        """Continue to the time *t1* with another block *h* of the problem; iterate again for the segments."""
        t0, y0 = float(self.data.array("time")[0]), self.data.array("y").copy()
        self.problem = self.problem.further(h, t0, t1, y0)
        self.data.motion.array("block")[:] = h
        self._set_span(t0, t1)

    def restart(self, t0: float, y0: FloatArray, t1: float, h: FloatArray) -> None:
        """Continue from another time and state to the time *t1* with another block *h*; iterate again for the segments."""
        self.data.array("time")[0], self.data.array("y")[:] = t0, y0
        self.go_on(t1, h)

    def close(self) -> None:
        """The memory is the caller's."""

    def __iter__(self) -> Iterator[Segment]:
        """Segments up to the end, a failure, or the last allowed step."""
        while self.left:
            events = self.problem.events
            begins = events is not None and bool((events.noise >= 0).any())  # zeros at the start are looked at
            segment = self._segment(1 if begins else min(self._pace, self.chunk, CHUNK))
            yield replace(segment, odd=events is not None and (begins or self.data.crossed))
            if segment.end is not None:
                return

    def notes(self) -> tuple[str, ...]:
        """Sentences on what steps average, on the largest penetration, and on impulses that do not obey all laws."""
        data, largest = self.data, min(self._largest, self.problem.t1 - self.problem.t0)
        return step_notes(
            largest, self._touches, data.array("depths").tolist(), data.bounded, data.plainly, data.unsolved
        )

    def _segment(self, steps: int) -> Segment:
        data = self.data
        t0, y0, n = float(data.array("time")[0]), data.array("y").copy(), len(data.array("y"))
        steps = min(steps, self.left, data.steps - data.made)
        data.allowed = data.made + steps
        began = time.perf_counter()
        first, made = data.made, self._march(data)
        self._pace = max(16, int(PAUSE * steps / max(time.perf_counter() - began, 1e-9)))
        k, own = made if made >= 0 else -1 - made, data.motion.n
        self.evaluations += k + (made < 0)
        self.left -= k
        self.made += k
        t, y = data.array("times")[:k].copy(), data.array("states")[: k * n].reshape(k, n).copy()
        impacts = data.array("impacts")[: IMPACT_NUMBERS * data.struck].reshape(-1, IMPACT_NUMBERS).copy()
        rows = impacts[:, -1].astype(int) - first
        self.struck = [(float(t[row - 1]), one) for row, one in zip(rows.tolist(), impacts, strict=True) if row <= k]
        self.impacts += self.struck
        middles = data.array("middles")[: k * own].reshape(k, own).copy()
        between = StepInterpolant(
            np.append(t0, t), np.vstack([y0, y]), middles, data.motion.coordinates, data.motion.speeds
        )
        end = self._fault() if made < 0 else "" if data.made == data.steps else None
        return Segment(t0, y0, t, y, between, end, problem=self.problem)

    def _fault(self) -> str:
        """Why there is no next step."""
        i, terms = self.data.culprit - 1, self.data.motion.terms
        if self.data.torn:
            return STEP_UNDERFLOW
        if i < 0:
            return NOT_FINITE
        return f"'{self._touches[i][0]}' has {law_fault(terms.array('gap')[i], *terms.array('law')[4 * i : 4 * i + 3])}"


@dataclass(frozen=True, slots=True)
class StepInterpolant:
    """The motion between the ends *t* (k + 1,) of steps with states *y* (k + 1, n): a function t -> (n,) or (n, len(t)).

    Coordinates, and the work, follow the parabola with the rate with which a step begins towards its *middle* (k, states); the
    *speeds* behind the *coordinates* are linear, and what is behind the states is that of the step.
    """

    t: FloatArray
    y: FloatArray
    middles: FloatArray
    coordinates: int
    speeds: int

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*."""
        times = np.atleast_1d(t)
        i = np.searchsorted(self.t[1:-1], times, side="left")
        x = ((times - self.t[i]) / (self.t[i + 1] - self.t[i]))[:, None]
        before, after, n = self.y[i], self.y[i + 1], self.middles.shape[1]
        found, slope = after.copy(), 2.0 * (self.middles[i] - before[:, :n])
        own = slice(self.coordinates, self.coordinates + self.speeds)
        slope[:, own] = (after - before)[:, own]
        found[:, :n] = before[:, :n] + x * (slope + x * (after[:, :n] - before[:, :n] - slope))
        ends = times == self.t[i + 1]
        found[ends] = after[ends]
        return found[0] if np.ndim(t) == 0 else found.T
