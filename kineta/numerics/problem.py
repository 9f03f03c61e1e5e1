"""Initial value problems in machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    @property
    def steering(self) -> int:
        """How many of the first states steer the step size."""
        return len(self.y0) - self.integrals or len(self.y0)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        return self._value(self.rhs, len(self.y0), t, y)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n,)."""
        return np.empty(0) if self.events is None else self._value(self.events.address, self.events.n, t, y)

    def event_noise(self) -> FloatArray:
        """How much of the event functions at the start may be rounding, of the state or of the time, (n,)."""
        t, y = self.t0, self.y0
        moment = np.sign(self.t1 - t) * _ROUNDING * max(abs(t), abs(self.t1))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (4, len(y)))
        near = [(t + moment, y + moment * self.rate(t, y)), *((t, y * (1 + _ROUNDING * s)) for s in signs)]
        changes = np.abs([self.event_values(*place) - self.event_values(t, y) for place in near])
        return np.asarray(changes.max(axis=0))

    def _value(self, address: int, size: int, t: float, y: FloatArray) -> FloatArray:
        time, out = np.array([t], dtype=np.float64), np.empty(size)
        blocks = (time, np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(self.h), out)
        _FUNCTION(address)(*[b.ctypes.data for b in blocks])
        return out
