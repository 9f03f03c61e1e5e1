"""Segments of a solution, the common result of all methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray, Mask
from kineta.integration.problem import Problem
from kineta.records import constant_record, dataclass

#: Reasons for a failure of any method.
STEP_UNDERFLOW = "the step size became too small to be seen in the time"
NOT_FINITE = "the accelerations are not finite, however small the step"


#: Event zeros: event index (m,), times (m,) and states (m, n).
EventRows = tuple[IntArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Transitions:
    """Transitions of contacts: the ``rows`` (k,) of the states after them, which are no steps, and the ``flags`` (k, n) of the
    modes from then on.
    """

    rows: IntArray
    flags: FloatArray


@constant_record
class Segment:
    """Accepted steps from (t0, y0): times (k,), states (k, n), and the solution between them.

    ``end`` is None while the run goes on, ``""`` at its end, and a sentence at a failure. ``zeros`` are event zeros located
    by the method; with ``odd`` the events of the last step are still to be
    located. ``changed`` are transitions of contacts. ``problem`` is the last solved problem, ``mode`` the caller's mode
    at its start, ``later`` the rows from which on other modes hold, with these modes; ``jumped`` marks a start (t0, y0) that
    differs from the end of the previous segment, and ``held`` one from which on other sampled forces are held.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray | float], FloatArray] | None
    end: str | None
    odd: bool = True
    zeros: EventRows | None = None
    changed: Transitions | None = None
    problem: Problem | None = None
    mode: Any = None
    later: Sequence[tuple[int, Callable[[], Any]]] = ()
    jumped: bool = False
    held: bool = False

    def within(
        self,
        mode: Any,
        later: Sequence[tuple[int, Callable[[], Any]]] = (),
        *,
        jumped: bool = False,
        held: bool = False,
    ) -> Segment:
        """The segment in a *mode*, and in *later* ones."""
        own = (
            self.t0,
            self.y0,
            self.t,
            self.y,
            self.solution,
            self.end,
            self.odd,
            self.zeros,
            self.changed,
            self.problem,
        )
        return Segment(*own, mode, later, jumped, held)  # dataclasses.replace takes longer than a sample may

    def modes(self, t: FloatArray) -> Iterator[tuple[slice, Any]]:
        """The modes of the sorted times *t*, as slices; a time of transition belongs to the mode before it."""
        if not self.later:
            return self._parts([len(t)])
        sign = 1.0 if self.t[-1] >= self.t0 else -1.0
        ends = np.searchsorted(sign * t, sign * self.t[[row for row, _ in self.later]], side="right")
        return self._parts([*ends.tolist(), len(t)])

    def mode_at(self, t: float) -> Any:
        """The mode at the time *t*."""
        ((_, mode),) = self.modes(np.array([t]))
        return mode

    def is_jump(self, t: float, y: FloatArray) -> bool:
        """Whether y is the state after a transition at the time *t*."""
        if t == self.t0 and (y == self.y0).all():
            return True
        rows = () if self.changed is None else self.changed.rows
        return any(self.t[row] == t and (self.y[row] == y).all() for row in rows)

    def until(self, row: int) -> Segment:
        """The steps before the *row*, after which the run goes on."""
        rows, last = [k for k, _ in self.later if k < row], self.t[row - 1] if row else self.t0
        changed, zeros = self.changed, self.zeros
        if changed is not None:
            made = changed.rows < row
            changed = Transitions(changed.rows[made], changed.flags[made])
        if zeros is not None:
            own = np.abs(zeros[1] - self.t0) <= np.abs(last - self.t0)
            zeros = zeros[0][own], zeros[1][own], zeros[2][own]
        return replace(
            self,
            t=self.t[:row],
            y=self.y[:row],
            end=None,
            odd=False,
            zeros=zeros,
            changed=changed,
            later=self.later[: len(rows)],
        )

    @property
    def last_mode(self) -> Any:
        """The mode at the end."""
        return self.later[-1][1]() if self.later else self.mode

    def rows(self, count: int) -> Iterator[tuple[slice, Any]]:
        """The modes of the first *count* rows, as slices."""
        return self._parts([*(min(row, count) for row, _ in self.later), count])

    def _parts(self, ends: Sequence[int]) -> Iterator[tuple[slice, Any]]:
        if ends[0]:
            yield slice(0, ends[0]), self.mode
        for (start, end), (_, mode) in zip(pairwise(ends), self.later, strict=True):
            if end > start:
                yield slice(start, end), mode()


@dataclass(frozen=True, slots=True)
class EventZeros:
    """Event zeros of an ensemble: case and event (m,), time (m,) and state (m, n)."""

    case: IntArray
    event: IntArray
    t: FloatArray
    y: FloatArray

    @classmethod
    def listed(cls, rows: Sequence[tuple[int, int, float, FloatArray]], n: int) -> EventZeros:
        """The event zeros in *rows*, with states (n,)."""
        if not rows:
            return _no_zeros(n)
        which = np.array([row[:2] for row in rows], dtype=np.int64).reshape(len(rows), 2)
        return cls(
            which[:, 0],
            which[:, 1],
            np.array([r[2] for r in rows]),
            np.array([r[3] for r in rows]).reshape(len(rows), n),
        )

    def of_cases(self, which: Mask) -> EventZeros:
        """The event zeros of cases *which* (cases,)."""
        own = which[self.case]
        return EventZeros(self.case[own], self.event[own], self.t[own], self.y[own])

    def replaced(self, others: Mapping[int, EventZeros]) -> EventZeros:
        """These event zeros, with those of some cases replaced by the only case of *others*; the order within a case stays."""
        kept = ~np.isin(self.case, [*others])
        names = ("event", "t", "y")
        parts = [np.concatenate([getattr(self, n)[kept], *(getattr(z, n) for z in others.values())]) for n in names]
        case = np.concatenate([self.case[kept], *(np.full(len(z.t), i) for i, z in others.items())])
        order = np.argsort(case, kind="stable")
        return EventZeros(case[order], *(part[order] for part in parts))


@cache
def _no_zeros(n: int) -> EventZeros:
    """No event zeros, of motions with n states."""
    none = np.empty(0, dtype=np.int64)
    return EventZeros(none, none, np.empty(0), np.empty((0, n)))


def failed(t0: float, y0: FloatArray, why: str) -> Segment:
    """A segment that ends at (t0, y0) for the reason *why*."""
    return Segment(t0, y0, np.empty(0), np.empty((0, len(y0))), None, why.rstrip("."), odd=False)
