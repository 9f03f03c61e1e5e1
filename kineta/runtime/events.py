"""Events of a run: zeros of expressions, located over its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, shown
from kineta.integration.problem import Events, Problem
from kineta.integration.segment import Segment
from kineta.numerics.roots import (
    AWAY,
    BETWEEN,
    LEAST,
    PARTS,
    POLE,
    curvature_bound,
    domain_boundary,
    is_blurred,
    nearest_approach,
    root,
    sign_change,
)
from kineta.records import dataclass
from kineta.runtime.recorder import ProjectStates
from kineta.values import whole, word

Values = Callable[[float, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Event:
    """A zero of *value*, an expression of coordinates, speeds, parameters, the time, and positions of points (``P.z``).

    terminal : True ends the run at the first zero, a number n at the n-th
    direction : 1 counts zeros where the value rises as the run goes on, -1 where it falls, 0 both

    A zero at the start, up to rounding, is none of a run. Of every step the ends and three places between them are looked at:
    zeros are where the value has changed its sign from one to the next, or has come to be a number or ceased to be one, and on
    both sides of a dip through zero between two of them. Where these values bend so much that more may happen between them,
    both halves of the step are looked at so, and halves of halves. A jump through zero, at a transition too, is one; a pole is
    not. The state of a zero is on it, or just past it. Places between them at no regular distance tell of values that go up and
    down many times between two; a step with more than 32 zeros is made shorter.
    """

    value: Expr
    terminal: bool | int = False
    direction: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        word(self.name, "the name of an event")
        if not isinstance(self.value, Expr):
            raise ArgumentError(f"Event: expected an expression, found {shown(self.value)}; events are compiled.")
        whole(f"the direction of event '{self.name}'", self.direction, -1, 1)
        if not isinstance(self.terminal, bool):
            whole(f"terminal of event '{self.name}', or True or False", self.terminal, 0, 2**31)


def event(value: Expr, *, terminal: bool | int = False, direction: int = 0, name: str = "") -> Event:
    """Return an :class:`Event`."""
    own = word(name, "the name of an event") or (str(value) if isinstance(value, Expr) else "")
    return Event(value, terminal, direction, own)


def event_record(events: Sequence[Event], address: int, switches: int = 0, touches: int = 0) -> Events | None:
    """Event functions for a method: *events*, at *address*, followed by the guards of *switches* and of *touches*, which are
    terminal; None without events.
    """
    n = len(events) + switches + touches
    if not n:
        return None
    directions = np.array([*(e.direction for e in events), *[1] * switches, *[-1] * touches], dtype=np.int64)
    left = np.array([*(int(e.terminal) for e in events), *[1] * (switches + touches)], dtype=np.int64)
    return Events(address, directions, left, np.full(n, -1.0), np.full(n, np.inf))


class EventWatch:
    """Events of a run, collected segment by segment, with the zeros that the method has not located; ``ended`` is the name of
    the terminal event.
    """

    def __init__(self, events: Sequence[Event], problem: Problem, settled: ProjectStates) -> None:
        self.events, self.problem, self._settled = events, problem, settled
        self.found: list[list[tuple[float, FloatArray]]] = [[] for _ in events]
        self.ended: str | None = None
        if problem.events is not None:
            problem.events.noise[:] = problem.starting(problem.rate(problem.t0, problem.y0))[1]

    def process(self, segment: Segment) -> tuple[float, FloatArray] | None:
        """Record the events of *segment*; return time and state of the terminal one, if any."""
        if not self.events or not len(segment.t):
            return None
        zeros = list(_located_zeros(segment))
        if segment.odd:
            zeros += self._over_last_step(segment)
        for i, t, y in sorted(zeros, key=lambda zero: abs(zero[1] - segment.t0)):
            at = y[None].copy()
            if not segment.is_jump(t, y):
                self._settled(np.array([t]), at, segment.mode_at(t))
            self.found[i].append((t, at[0]))
            if len(self.found[i]) == int(self.events[i].terminal):
                self.ended = self.events[i].name
                return t, y
        return None

    def truncate(self, t: float) -> None:
        """Drop the events after the end *t* of the run."""
        sign = np.sign(self.problem.t1 - self.problem.t0)
        self.found = [[zero for zero in found if sign * (zero[0] - t) <= 0] for found in self.found]

    def _over_last_step(self, segment: Segment) -> Iterator[tuple[int, float, FloatArray]]:
        """Zeros over the last step of *segment*: event, time and state."""
        problem = segment.problem or self.problem
        step, wanted = EventStep.last(segment, problem.event_values), problem.events
        assert wanted is not None
        for i, t in step.zeros(wanted, range(len(self.events))):
            wanted.left[i] -= 1
            yield i, t, step.state(t)
        wanted.noise[(np.abs(step.known[1:]) > wanted.noise).any(axis=0)] = -1.0


def _located_zeros(segment: Segment) -> Iterator[tuple[int, float, FloatArray]]:
    """Zeros located by the method over *segment*."""
    if segment.zeros is not None:
        which, times, states = segment.zeros
        yield from zip(which.tolist(), times.tolist(), states, strict=True)


@dataclass(frozen=True, slots=True)
class EventStep:
    """Step of a run from (t0, y0) to (t1, y1), or the *share* of one, with its dense *solution*, the event functions, their
    ``known`` values (5, n) at the :data:`~kineta.numerics.roots.PARTS` of the step, and how far they are ``off`` (n,) straight
    lines between these.
    """

    t0: float
    y0: FloatArray
    t1: float
    y1: FloatArray
    solution: Callable[[FloatArray], FloatArray]
    values: Values
    known: FloatArray
    off: FloatArray
    share: float = 1.0

    @classmethod
    def last(cls, segment: Segment, values: Values) -> EventStep:
        """Last step of *segment*."""
        assert segment.solution is not None
        t0, y0 = (float(segment.t[-2]), segment.y[-2]) if len(segment.t) > 1 else (segment.t0, segment.y0)
        whole = cls(t0, y0, float(segment.t[-1]), segment.y[-1], segment.solution, values, *np.empty((2, 0, 0)))
        return whole.piece(whole.t0, whole.t1, 1.0)

    def piece(self, t0: float, t1: float, share: float) -> EventStep:
        """The step between two times in it, which are a *share* of the whole."""
        y0, y1, within = self.state(t0), self.state(t1), t0 + np.array(PARTS[1:-1]) * (t1 - t0)
        states = zip(within.tolist(), np.asarray(self.solution(within)).T, strict=True)
        known = np.array([self.values(t, y) for t, y in ((t0, y0), *states, (t1, y1))])
        off = np.zeros(known.shape[1])
        for part, way in BETWEEN:
            t = t0 + (PARTS[part] + way * PARTS[1]) * (t1 - t0)
            line = known[part] + way * (known[part + 1] - known[part])
            off = np.fmax(off, np.abs(self.values(t, self.state(t)) - line))
        return replace(self, t0=t0, y0=y0, t1=t1, y1=y1, known=known, off=off, share=share)

    def state(self, t: float) -> FloatArray:
        """State at *t*."""
        ends = {self.t0: self.y0, self.t1: self.y1}
        return ends[t] if t in ends else np.asarray(self.solution(np.array([t])))[:, 0]

    def zeros(self, events: Events, which: Sequence[int]) -> Iterator[tuple[int, float]]:
        """Times at which the events numbered *which* have reached zero or just passed it, in a counted direction: of both
        halves of a step that is too long to see them all.
        """
        away = np.any(np.abs(self.known[1:]) > events.noise, axis=0)
        if self.share > LEAST and any(away[i] and self._is_blurred(i) for i in which):
            middle, share = self.t0 + 0.5 * (self.t1 - self.t0), 0.5 * self.share
            first = self.piece(self.t0, middle, share)
            yield from first.zeros(events, which)
            left = np.any(np.abs(first.known[1:]) > events.noise, axis=0)
            later = replace(events, noise=np.where(left, -1.0, events.noise))
            yield from self.piece(middle, self.t1, share).zeros(later, which)
            return
        for i in which:
            known = self.known[:, i].tolist()
            near = curvature_bound(known, float(self.off[i]))
            changed = len({np.sign(f) for f in known}) > 1 or min(map(abs, known)) < near
            if changed or events.noise[i] >= 0:
                for t in self._zeros(i, known, near, float(events.noise[i]), int(events.directions[i])):
                    yield i, t
            if known[0] <= 0 or events.noise[i] >= 0:
                yield from ((i, t) for t in self._passed(i, known, float(events.beyond[i])))

    def _tolerance(self) -> float:
        return 4 * tolerances.EPS * max(abs(self.t0), abs(self.t1))

    def _value(self, i: int, t: float) -> float:
        return float(self.values(t, self.state(t))[i])

    def _passed(self, i: int, known: list[float], beyond: float) -> Iterator[float]:
        """Time at which event i falls *beyond* zero by this hysteresis, if it does."""
        first, last = known[0] + beyond, known[-1] + beyond
        if first > 0 >= last:
            yield root(lambda t: self._value(i, t) + beyond, self.t0, self.t1, first, last, self._tolerance())

    def _is_blurred(self, i: int) -> bool:
        return is_blurred(self.known[:, i].tolist(), float(self.off[i]))

    def _zeros(self, i: int, known: list[float], near: float, noise: float, direction: int) -> Iterator[float]:
        value, tolerance = partial(self._value, i), self._tolerance()
        for (a, fa), (b, fb) in pairwise(self._points(value, known, near, noise)):
            if np.isnan(fa) and not np.isnan(fb):
                a = domain_boundary(value, a, b, tolerance)
                fa = value(a)
            elif np.isnan(fb) and not np.isnan(fa):
                b = domain_boundary(value, b, a, tolerance)
                fb = value(b)
            if not (fa < 0 <= fb or fa > 0 >= fb) or direction * (fb - fa) < 0:
                continue
            t = root(value, a, b, fa, fb, tolerance) if fb else sign_change(value, a, b, fa, tolerance)
            if abs(value(t)) <= POLE * max(abs(fa), abs(fb)):
                yield t

    def _points(
        self, value: Callable[[float], float], known: list[float], near: float, noise: float
    ) -> Iterator[tuple[float, float]]:
        """Times and values with at most one zero between neighbours. With *noise* the event starts at zero, and its values
        below the noise are skipped.
        """
        size = self.t1 - self.t0
        given = [(self.t0 + x * size, f) for x, f in zip(PARTS[:-1], known[:-1], strict=True)]
        given.append((self.t1, known[-1]))
        if noise >= 0:
            early = ((t, value(t)) for t in (self.t0 + x * size for x in AWAY))
            given = [*early, *given[1:]]
            while given and not abs(given[0][1]) > noise:
                del given[0]
        yield from given[:1]
        for (a, fa), (b, fb) in pairwise(given):
            close = fa * fb > 0 and min(abs(fa), abs(fb)) < near
            least = nearest_approach(value, a, b, fa, fb, size) if close else None
            if least is not None and not (f := value(least)) * fa > 0:
                yield least, f
            yield b, fb
