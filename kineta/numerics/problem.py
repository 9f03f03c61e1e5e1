"""Initial value problems in machine code."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.steering import steering

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: What counts as rounding of times and states, and how many directions of it are tried.
_ROUNDING, _TRIED = 64 * 2.0**-52, 4

_function = cache(ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4))


@dataclass(frozen=True, slots=True)
class Events:
    """Functions whose zeros a run looks for.

    address : of a function as ``rhs`` of :class:`Problem`, with n results
    directions : (n,) 1 if zeros count where the value rises as the run goes on, -1 where it falls, 0 both
    left : (n,) how many more zeros are wanted; it changes as they are found, and the run ends when one comes to 0
    noise : (n,) of an event that is zero at the start of the run and has not left that zero, which is none of the run's: what
        its value must exceed to have left it; -1 for all others
    beyond : (n,) how far an event that was not above zero falls below it to count as a zero, too: what is pushed back before it
        has left a zero has no other that tells; infinite for none
    """

    address: int
    directions: IntArray
    left: IntArray
    noise: FloatArray
    beyond: FloatArray

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.left)


@dataclass(frozen=True, slots=True)
class Manifold:
    """Constraints that a motion keeps to.

    position, velocity : addresses of functions as ``rhs`` of :class:`Problem`, whose results are the state with coordinates,
        or with speeds, nearer to the constraints
    largest : (m,) sizes in regular positions of the pivots of the constraints, which are the last m rates of ``rhs``
    speeds : where the speeds begin and end in the state
    steps : how often speeds have to be brought nearer to be there: once, where constraints are linear in them
    """

    position: int
    velocity: int
    largest: FloatArray
    speeds: tuple[int, int]
    steps: int


@dataclass(frozen=True, slots=True)
class Bounces:
    """Contacts that strike alone, and bounce where all others are open, ``flying``.

    address : of a function as ``rhs`` of :class:`Problem` with the numbers of each in a row, as in
        :mod:`kineta.numerics.layout`, in place of the state after it the speeds; h : its block
    touches : (n,) for every event the row of its contact, -1 for none
    numbers : how many there are in a row, of ``rows``
    first : the first event of touches; speeds, work : where the speeds and the work done begin in the state
    same : the gap up to which contacts are closed; fastest : the fastest approach so far
    """

    address: int
    h: FloatArray
    touches: IntArray
    numbers: int
    rows: int
    first: int
    speeds: int
    work: int
    same: float
    fastest: float
    flying: bool


@dataclass(frozen=True, slots=True)
class Trials:
    """What the method needs to try modes, where a touch changes what it does, and all others go on or leave.

    setup : address of ``void setup(const double *given, double *h)``, which makes the block h; given : of what
    flags : where in it the numbers of touches begin, and how many there are
    turning : (n,) for every event that tells of friction along a line where the numbers of its touch begin, -1 for all others
    normals : (n,) the same for those that tell of gaps and normal forces; striking : (n,) 1 if what strikes may be decided,
        beside others that are closed; partners : (n,) for events of normals those of friction of their touches, and for these
        those of normals, -1 for none
    least : (n,) what the value of every other event must exceed
    observed : address of a function as ``rhs`` of :class:`Problem`, whose results, ``size`` of them, begin with kinetic and
        potential energy
    first : the first event of touches; work : where the work done is in the state; same : the gap up to which contacts are
        closed; until : the largest time of the run [s]
    """

    setup: int
    given: FloatArray
    flags: tuple[int, int]
    turning: IntArray
    normals: IntArray
    striking: IntArray
    partners: IntArray
    least: FloatArray
    observed: int
    size: int
    first: int
    work: int
    same: float
    until: float

    def beside(self, given: FloatArray) -> Trials:
        """The same with a block h that is made of other numbers."""
        return replace(self, given=given)


@dataclass(frozen=True, slots=True)
class Problem:
    """An initial value problem in machine code.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot)``
    h : the block that rhs and events share
    y0 : (n,) initial state; quaternions : offsets of the unit quaternions in it
    integrals : how many of the last states are integrals along the others, which do not depend on them. Their errors should
        not steer the step size, unless there is nothing else to steer it
    bounces : what the method lets bounce on its own, and trials : how it tries modes; None where it hands back at every zero
    """

    rhs: int
    h: FloatArray
    t0: float
    t1: float
    y0: FloatArray
    quaternions: Sequence[int] = ()
    integrals: int = 0
    events: Events | None = None
    manifold: Manifold | None = None
    bounces: Bounces | None = None
    trials: Trials | None = None

    @property
    def steering(self) -> int:
        """How many of the first states steer the step size."""
        return steering(len(self.y0), self.integrals)

    def at(
        self,
        h: FloatArray,
        t0: float,
        y0: FloatArray,
        t1: float,
        bounces: Bounces | None = None,
        trials: Trials | None = None,
    ) -> Problem:
        """The same with another block *h*, from *t0*, *y0* to *t1*, with other *bounces* and *trials*."""
        rest = self.quaternions, self.integrals, self.events, self.manifold
        return Problem(self.rhs, h, t0, t1, y0, *rest, bounces, trials)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        return self._value(self.rhs, len(self.y0), t, y)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n,)."""
        return np.empty(0) if self.events is None else self._value(self.events.address, self.events.n, t, y)

    def starting(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The event functions at the start, where the rate is *rate*, and their noise, as in :class:`Events`."""
        if self.events is None:
            return np.empty(0), np.empty(0)
        found = self._values(self.events.address, self.events.n, *nearby(self.t0, self.t1, self.y0, rate))
        return np.asarray(found[0]), noise(found)

    def _value(self, address: int, size: int, t: float, y: FloatArray) -> FloatArray:
        found: FloatArray = self._values(address, size, np.array([t]), y)[0]
        return found

    def _values(self, address: int, size: int, t: FloatArray, y: FloatArray) -> FloatArray:
        """The results (k, size) of a function at times (k,) and in states (k, n)."""
        # One buffer for all and one address: looking up addresses is what a call would cost otherwise.
        k, function = len(t), _function(address)
        buffer = np.concatenate([t, y.ravel(), self.h, np.empty(k * size)], dtype=np.float64)
        start = buffer.ctypes.data
        state, given, result = (start + 8 * (k + offset) for offset in (0, y.size, y.size + len(self.h)))
        for i in range(k):
            function(start + 8 * i, state + 8 * i * (y.size // k), given, result + 8 * i * size)
        return buffer[len(buffer) - k * size :].reshape(k, size)


@cache
def signs(rows: int, n: int) -> FloatArray:
    """Directions (rows, n) in which states are changed to see what rounding does: always the same."""
    found = np.random.default_rng(0).choice([-1.0, 1.0], (rows, n))
    found.flags.writeable = False
    return found


def nearby(t0: float, t1: float, y0: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Times (k,) and states (k, ..., n) that are the start *t0*, *y0* (..., n) of motions with this *rate*, which is the first
    of them, but for rounding of the time and of the states.
    """
    moment = math.copysign(_ROUNDING, t1 - t0) * max(abs(t0), abs(t1))
    times = np.array([t0, t0 + moment, *[t0] * _TRIED])
    states = y0 * _factors(y0.ndim, y0.shape[-1])
    states[1] += moment * rate
    return times, states


@cache
def _factors(dimensions: int, n: int) -> FloatArray:
    """By what states of so many *dimensions*, *n* the last, are multiplied to see what rounding does: first twice by 1."""
    changed = 1 + _ROUNDING * signs(_TRIED, n)
    return np.concatenate([np.ones((2, n)), changed]).reshape(_TRIED + 2, *[1] * (dimensions - 1), n)


def noise(values: FloatArray) -> FloatArray:
    """The noise of events, as in :class:`Events`, from their *values* (k, ...) where :func:`nearby` says: how much of them may be
    rounding is tried.
    """
    size = np.abs(values[1:] - values[0]).max(axis=0)
    return np.where(np.abs(values[0]) <= size, size, -1.0)
