"""Initial value problems in machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.steering import steering

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: What counts as rounding of times and states.
_ROUNDING = 64 * 2.0**-52

_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


@dataclass(frozen=True, slots=True)
class Events:
    """Functions whose zeros a run looks for.

    address : of a function as ``rhs`` of :class:`Problem`, with n results
    directions : (n,) 1 if zeros count where the value rises as the run goes on, -1 where it falls, 0 both
    left : (n,) how many more zeros are wanted; it changes as they are found, and the run ends when one comes to 0
    noise : (n,) of an event that is zero at the start of the run and has not left that zero, which is none of the run's: what
        its value must exceed to have left it; -1 for all others
    """

    address: int
    directions: IntArray
    left: IntArray
    noise: FloatArray

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
class Problem:
    """An initial value problem in machine code.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot)``
    h : the block that rhs and events share
    y0 : (n,) initial state; quaternions : offsets of the unit quaternions in it
    integrals : how many of the last states are integrals along the others, which do not depend on them. Their errors should
        not steer the step size, unless there is nothing else to steer it
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

    @property
    def steering(self) -> int:
        """How many of the first states steer the step size."""
        return steering(len(self.y0), self.integrals)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        return self._value(self.rhs, len(self.y0), t, y)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n,)."""
        return np.empty(0) if self.events is None else self._value(self.events.address, self.events.n, t, y)

    def event_noise(self) -> FloatArray:
        """The noise of the events at the start, as in :class:`Events`."""

        def values(t: FloatArray, y: FloatArray) -> FloatArray:
            return np.array([self.event_values(float(t[0]), y[0])])

        rate = self.rate(self.t0, self.y0)
        return np.asarray(event_noise(values, self.t0, self.t1, self.y0[None], rate[None])[0])

    def _value(self, address: int, size: int, t: float, y: FloatArray) -> FloatArray:
        time, out = np.array([t], dtype=np.float64), np.empty(size)
        blocks = (time, np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(self.h), out)
        _FUNCTION(address)(*[b.ctypes.data for b in blocks])
        return out


def event_noise(
    values: Callable[[FloatArray, FloatArray], FloatArray],
    t0: float,
    t1: float,
    y0: FloatArray,
    rates0: FloatArray,
) -> FloatArray:
    """The noise of events, as in :class:`Events`, of motions from the states *y0* (m, n) with the rates *rates0*: (m, k).

    values : the event functions (m, k) of times (m,) and states (m, n). How much of them may be rounding, of the state or of
        the time, is tried.
    """
    times = np.full(len(y0), t0)
    moment = np.sign(t1 - t0) * _ROUNDING * max(abs(t0), abs(t1))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (4, y0.shape[1]))
    near = [(times + moment, y0 + moment * rates0), *((times, y0 * (1 + _ROUNDING * s)) for s in signs)]
    at_start = values(times, y0)
    noise = np.max([np.abs(values(*place) - at_start) for place in near], axis=0)
    return np.where(np.abs(at_start) <= noise, noise, -1.0)
