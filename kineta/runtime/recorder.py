"""Record of a run: times and states for the result, and the dense solution between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError
from kineta.integration.segment import Segment
from kineta.values import numbers

#: Project states (k, n) at times (k,), in a mode of the motion, onto the constraints, in place.
ProjectStates = Callable[[FloatArray, FloatArray, Any], None]
#: Add the work to states (k, n) at times (k,) in a segment, in place.
AddWork = Callable[[Segment, FloatArray, FloatArray], None]


def resized(y: FloatArray, n: int) -> FloatArray:
    """States (k, n) from states *y* of any layout, the quadratures and what else is behind cut off, or zero."""
    found = np.zeros((len(y), n))
    found[:, : y.shape[1]] = y[:, :n]
    return found


def bytes_per_step(states: int, *, every: bool, keep: bool) -> int:
    """Memory of a recorded step with this number of *states*: its time and state, if *every* step is recorded, and with *keep*
    the dense solution, a polynomial of at most 14 vectors.
    """
    return 8 * ((1 + states) * every + (1 + 14 * states) * keep)


def _one_row(rows: Sequence[tuple[FloatArray, FloatArray, Any]]) -> tuple[FloatArray, FloatArray, Any]:
    """*rows* of a record in one mode, joined."""
    t, y, modes = zip(*rows, strict=True)
    return np.concatenate(t), np.concatenate(y), modes[0]


class Recorder:
    """Times and states of a run in the *direction* of time, 1 or -1: those of *grid*, or of every step; with *keep* also the
    segments, for the solution.

    Between the ends of steps *worked* puts the work into the states, where it is given.
    ``mode`` is that of the motion at its last time, recorded or not. Of a state, the first *states*
    numbers are coordinates and speeds; all are *settled*.
    """

    def __init__(
        self,
        grid: FloatArray | None,
        direction: float,
        states: int,
        settled: ProjectStates,
        *,
        keep: bool,
        worked: AddWork | None = None,
    ) -> None:
        self.grid, self.states, self.project, self.keep, self.add_work = grid, states, settled, keep, worked
        # One list for both: an interruption may come between any two statements.
        self.rows: list[tuple[FloatArray, FloatArray, Any]] = []
        self.segments: list[Segment] = []
        self.steps, self.last_step = 0, 0.0
        self.mode: Any = None
        self._end: tuple[float, FloatArray] = np.nan, np.empty(0)
        self._until: float | None = None
        self._next = 0
        # Neither the grid, which may be one time, nor a segment, which may have no length, tells it.
        self._direction = direction

    @property
    def reached(self) -> float:
        """Time reached by the run [s]."""
        return self._end[0]

    @property
    def end(self) -> tuple[float, FloatArray]:
        """Last time and state."""
        t, y = self._end[0], self._end[1][None].copy()
        self.project(np.array([t]), y, self.mode)
        return t, y[0]

    @property
    def on_grid(self) -> int:
        """Number of grid times reached by the run."""
        return self._next

    def series(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Times (k,) and states (k, n) of all rows."""
        runs = self.joined()
        if len(runs) == 1 and runs[0][1].shape[1] == n:
            return runs[0][:2]
        t = [np.empty(0), *(run[0] for run in runs)]
        return np.concatenate(t), np.concatenate([np.empty((0, n)), *(resized(run[1], n) for run in runs)])

    def joined(self) -> list[tuple[FloatArray, FloatArray, Any]]:
        """Rows of the record, joined as long as the mode stays; they are joined for good."""
        if len(self.rows) < 2:
            return self.rows
        runs: list[list[tuple[FloatArray, FloatArray, Any]]] = []
        for row in self.rows:
            if runs and runs[-1][0][2] is row[2]:
                runs[-1].append(row)
            else:
                runs.append([row])
        if len(runs) < len(self.rows):
            self.rows = [_one_row(run) if len(run) > 1 else run[0] for run in runs]
        return self.rows

    def start(self, t: float, y: FloatArray, mode: Any = None) -> None:
        """Record the initial state and its mode."""
        self._end = t, y
        first = self.grid is not None and len(self.grid) > 0 and self.grid[0] == t
        if self.grid is None or first:
            self._add(np.array([t]), y[None], mode)
        self._next = int(first)

    def segment(self, segment: Segment, end: tuple[float, FloatArray] | None) -> None:
        """Record *segment* up to the *end* of the run in it, a time and state."""
        until = None if end is None else end[0]
        if segment.held:
            self._pass_sample(segment)
        reached, count = float(segment.t[-1]), len(segment.t)
        if reached != segment.t0:  # else a switch, or an event at one, has ended the run
            self.steps += count - (0 if segment.changed is None else len(segment.changed.rows))
        self.last_step = abs(reached - (float(segment.t[-2]) if count > 1 else segment.t0))
        self._until = until
        if self.keep:
            self.segments.append(segment)
        self._end = last, y = (reached, segment.y[-1]) if end is None else end
        self.mode = segment.last_mode if end is None else segment.mode_at(last)
        if segment.jumped and self.grid is None:
            self._add(np.array([segment.t0]), segment.y0[None].copy(), segment.mode)
        if self.grid is not None:
            self._on_grid(self.grid, segment, last)
        else:
            if end is not None:
                count = int(((segment.t - last) * np.sign(reached - segment.t0) <= 0).sum())
            for part, mode in segment.rows(count):
                self._add(segment.t[part], segment.y[part].copy(), mode)
        if end is not None and (not self.rows or self.rows[-1][0][-1] != last):
            self._add(np.array([last]), y[None].copy(), self.mode)

    def _pass_sample(self, segment: Segment) -> None:
        """Put the last row, where it is at the start of *segment*, on this side of the sample there, as the forces that are
        shown.
        """
        if self.rows and self.rows[-1][0][-1] == segment.t0 and not (segment.jumped and self.grid is None):
            t, y, mode = self.rows[-1]
            at = segment.y0[None].copy() if segment.jumped else y[-1:]
            if segment.jumped:
                self.project(t[-1:], at, segment.mode)
            self.rows[-1:] = [(t[:-1], y[:-1], mode)] * (len(t) > 1) + [(t[-1:], at, segment.mode)]

    def stop(self) -> None:
        """Record the end of a run that has ended early, where no row has it."""
        t, y = self._end
        if not self.rows or self.rows[-1][0][-1] != t:
            self._add(np.array([t]), y[None].copy(), self.mode)

    def _on_grid(self, grid: FloatArray, segment: Segment, last: float) -> None:
        end = self._next
        while end < len(grid) and (grid[end] - last) * self._direction <= 0:
            end += 1
        times, self._next = grid[self._next : end], end
        if len(times) and segment.solution is not None:
            states = np.ascontiguousarray(segment.solution(times).T)
            if self.add_work is not None:
                self.add_work(segment, times, states)
            for part, mode in segment.modes(times):
                self._add(times[part], states[part], mode)

    def _add(self, t: FloatArray, y: FloatArray, mode: Any) -> None:
        if len(t):
            self.project(t, y, mode)
            self.rows.append((t, y, mode))

    def solution(self, sampled: Callable[..., Any]) -> DenseSolution | None:
        """Dense solution up to a terminal event, with the function *sampled* that evaluates a run at other times."""
        if not self.segments:
            return None
        return DenseSolution(self.segments, self._until, self.states, self.project, self.add_work, sampled)


class DenseSolution:
    """Coordinates and speeds as a function of the time: t -> (states,) or (states, len(t)).

    It holds from ``t_min`` to ``t_max``: over all steps, or up to the event that ended the run. Raises :class:`ArgumentError`
    for other times.

    ``steps`` (m,) are the times of the steps, rising; ``sampled`` makes of a run the same at other times.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        until: float | None,
        states: int,
        settled: ProjectStates,
        worked: AddWork | None,
        sampled: Callable[..., Any],
    ) -> None:
        self._segments, self.sampled = segments, sampled
        self._worked = worked
        self._states = states
        self._settled = settled
        ends = (segments[0].t0, float(segments[-1].t[-1]) if until is None else until)
        self.t_min, self.t_max = min(ends), max(ends)
        self._sign = 1.0 if ends[1] >= ends[0] else -1.0
        self._ends = self._sign * np.array([s.t[-1] for s in segments])

    @property
    def steps(self) -> FloatArray:
        """Times of the steps of the method, rising."""
        times = np.unique(np.concatenate([[self._segments[0].t0], *(s.t for s in self._segments)]))
        return times[(times >= self.t_min) & (times <= self.t_max)]

    def record(self, t: FloatArray) -> Recorder:
        """Record of the run on a grid *t*, in its order, between ``t_min`` and ``t_max``."""
        first = self._segments[0]
        found = Recorder(t, self._sign, self._states, self._settled, keep=False, worked=self._worked)
        found.start(first.t0, first.y0.copy(), first.mode)
        for segment in self._segments:
            if len(segment.t):
                found.segment(segment, None)
        return found

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*."""
        given = numbers("t", t)
        if given.ndim > 1:
            raise ArgumentError(f"Expected a time t or a row of times, found shape {given.shape}.")
        order = np.argsort(self._sign * np.atleast_1d(given), kind="stable")
        times = np.atleast_1d(given)[order]
        slack = tolerances.STATE_TOLERANCE * (self.t_max - self.t_min)  # what sums of time steps may leave
        beyond = ~((times >= self.t_min - slack) & (times <= self.t_max + slack))
        if beyond.any():
            raise ArgumentError(f"Expected t between {self.t_min:g} and {self.t_max:g}, found {times[beyond][0]:g}.")
        which = np.searchsorted(self._ends, self._sign * times).clip(0, len(self._ends) - 1)
        out = np.empty((len(times), self._states))
        for i in np.unique(which):
            segment, own = self._segments[i], times[which == i]
            assert segment.solution is not None
            states = np.ascontiguousarray(segment.solution(own).T)
            for part, mode in segment.modes(own):
                self._settled(own[part], states[part], mode)
            out[order[which == i]] = states[:, : self._states]
        found = out.T
        return found[:, 0] if given.ndim == 0 else found
