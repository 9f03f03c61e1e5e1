"""Newton's method on a manifold: zeros of few or many functions of few or many variables, by the least change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
State = TypeVar("State")

#: Steps at most, and the parts of one that are tried.
STEPS, PARTS = 100, tuple(0.5**k for k in range(12))
#: Steps after which more than this part of the functions is left where they end in a hollow.
SLOW, STUCK = 8, 0.8
#: Part of the largest singular value below which a direction counts as one in which nothing changes.
RANK = 1e-10
#: Part of the largest slope that a function counts with where its own is less.
LITTLE = 1e-3
#: A zero is one where a change of the variables by this part of their size may make all functions zero.
MET = 1e-10


@dataclass(frozen=True)
class Found(Generic[State]):
    """The nearest state that was found: *off* are the functions there (m,), *parts* their :func:`misses`."""

    state: State
    off: FloatArray
    parts: FloatArray

    @property
    def missed(self) -> float:
        """The largest miss."""
        return float(self.parts.max(initial=0.0))

    @property
    def met(self) -> bool:
        """Whether the state counts as a zero."""
        return self.missed <= MET


@dataclass(frozen=True)
class Functions(Generic[State]):
    """What is to vanish.

    off : (m,) of a state
    slope : derivatives of ``off`` by changes of the state, (m, n)
    moved : the state after a change (n,)
    longest : largest changes of the variables in one step
    drag : (m, n) of a state: resistance that lets ``off`` come to rest where it is a force, None without any
    """

    off: Callable[[State], FloatArray]
    slope: Callable[[State], FloatArray]
    moved: Callable[[State, FloatArray], State]
    longest: FloatArray | float = 1.0
    drag: Callable[[State], FloatArray] | None = None

    def step(self, values: FloatArray, A: FloatArray) -> FloatArray:
        """The least change that makes the *values* with the slope *A* zero, or a part of it."""
        lengths = _lengths(A)
        change = -np.linalg.lstsq(A / lengths[:, None], values / lengths, rcond=RANK)[0]
        return np.asarray(change / max(1.0, float((np.abs(change) / self.longest).max(initial=0.0))))


def nearest_zero(state: State, functions: Functions[State]) -> Found[State]:
    """The zero that steps of least length find from *state*, or where they come no further.

    Where they end in a hollow in which the functions do not vanish, and there is a ``drag``, the state sinks as in a thick
    liquid, in longer and longer steps (pseudo-transient continuation).
    """
    found = _descended(state, functions)
    if found.met or functions.drag is None:
        return found
    sunk = _descended(_sunk(state, functions), functions)
    return sunk if sunk.missed < found.missed else found


def _descended(state: State, functions: Functions[State]) -> Found[State]:
    """By steps of which each leads nearer."""
    values, A = functions.off(state), functions.slope(state)
    weight = 1.0 / _lengths(A)
    sizes = [float(np.linalg.norm(weight * values))]
    for _ in range(STEPS):
        if not _finite(values, A) or (len(sizes) > SLOW and sizes[-1] > STUCK * sizes[-1 - SLOW]):
            break
        change = functions.step(values, A)
        for part in PARTS:
            tried = functions.moved(state, part * change)
            left = functions.off(tried)
            if (size := float(np.linalg.norm(weight * left))) < sizes[-1]:
                break
        else:
            break
        state, values, A = tried, left, functions.slope(tried)
        sizes.append(size)
    return Found(state, values, misses(values, A))


def _sunk(state: State, functions: Functions[State]) -> State:
    """By steps against a drag that grows less as the functions do."""
    assert functions.drag is not None
    values, A, D = functions.off(state), functions.slope(state), functions.drag(state)
    much = float(np.linalg.norm(A)) / max(float(np.linalg.norm(D)), 1e-300)
    for _ in range(STEPS):
        if not _finite(values, A + D):
            break
        state = functions.moved(state, functions.step(values, A + much * D))
        left, A, D = functions.off(state), functions.slope(state), functions.drag(state)
        much *= float(np.clip(np.linalg.norm(left) / max(float(np.linalg.norm(values)), 1e-300), 0.2, 2.0))
        values = left
    return state


def _finite(values: FloatArray, A: FloatArray) -> bool:
    return bool(np.isfinite(values).all() and np.isfinite(A).all())


def misses(values: FloatArray, A: FloatArray) -> FloatArray:
    """How far functions with these *values* and slopes *A* are from zero, as changes of the variables; infinite where they, or
    all that change them, have no value. What hardly anything changes is measured by a part of what changes the others.
    """
    if not _finite(values, A):
        return np.where(np.isfinite(values) & np.isfinite(A).all(axis=1), 0.0, np.inf)
    return np.where(values == 0.0, 0.0, np.abs(values) / _lengths(A) if A.any() else np.inf)


def _lengths(A: FloatArray) -> FloatArray:
    """What the functions with the slopes *A* are measured by."""
    lengths = np.linalg.norm(A, axis=1)
    lengths = np.maximum(lengths, LITTLE * lengths.max(initial=0.0))
    return np.where(lengths > 0, lengths, 1.0)
