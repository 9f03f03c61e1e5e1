"""Initial value problems for the native loop, with right-hand sides in Python: only their address is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.integration.problem import Events, Problem

FloatArray = NDArray[np.float64]
Rate = Callable[[float, FloatArray], FloatArray]

_pointer = ctypes.POINTER(ctypes.c_double)
_kept: list[Any] = []


def address(f: Rate, n: int) -> int:
    """Address of *f* for states of n numbers."""

    def call(t: Any, y: Any, h: Any, out: Any) -> None:
        value = np.asarray(f(t[0], np.ctypeslib.as_array(y, (n,))))
        np.ctypeslib.as_array(out, value.shape)[:] = value

    function = ctypes.CFUNCTYPE(None, *[_pointer] * 4)(call)
    _kept.append(function)
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def problem(f: Rate, t0: float, t1: float, y0: Any, **more: Any) -> Problem:
    """The problem y' = f(t, y), y(t0) = y0."""
    y0 = np.array(y0, dtype=float)
    return Problem(address(f, len(y0)), np.zeros(1), t0, t1, y0, **more)


def watched(f: Rate, n: int, directions: Any = 0, left: Any = 0) -> Events:
    """The events whose values *f* gives for states of n numbers."""
    given = [np.atleast_1d(np.array(x, dtype=np.int64)) for x in (directions, left)]
    return Events(address(f, n), *given, *(np.full(len(given[0]), x) for x in (-1.0, np.inf)))


def random_rate(seed: int) -> tuple[Rate, FloatArray]:
    """A smooth, bounded rate with terms in the time, and an initial state."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    A, B, w, phase = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.uniform(0.3, 3, n), rng.uniform(0, 6, n)

    def rate(t: float, y: FloatArray) -> FloatArray:
        return A @ np.sin(y + phase) / np.sqrt(n) + 0.3 * (B @ np.cos(w * t))

    return rate, rng.normal(size=n)
