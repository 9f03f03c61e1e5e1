"""Initial value problems in machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


@dataclass(frozen=True, slots=True)
class Problem:
    """An initial value problem in machine code.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot)``
    h : the block that rhs and events share
    y0 : (n,) initial state; quaternions : offsets of the unit quaternions in it
    integrals : how many of the last states are integrals along the others, which do not depend on them. Their errors should
        not steer the step size, unless there is nothing else to steer it
    events : address of a function as rhs with ``n_events`` results, 0 for none
    """

    rhs: int
    h: FloatArray
    t0: float
    t1: float
    y0: FloatArray
    quaternions: Sequence[int] = ()
    integrals: int = 0
    events: int = 0
    n_events: int = 0

    @property
    def steering(self) -> int:
        """How many of the first states steer the step size."""
        return len(self.y0) - self.integrals or len(self.y0)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        return self._value(self.rhs, len(self.y0), t, y)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n_events,)."""
        return self._value(self.events, self.n_events, t, y)

    def _value(self, address: int, size: int, t: float, y: FloatArray) -> FloatArray:
        time, out = np.array([t], dtype=np.float64), np.empty(size)
        blocks = (time, np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(self.h), out)
        _FUNCTION(address)(*[b.ctypes.data for b in blocks])
        return out
