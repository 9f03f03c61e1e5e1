"""What servo-constraints leave free of a motion, about rest: the zero dynamics, and whether they die out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from kineta.numerics.hidden import RANK, balanced
from kineta.numerics.newton import Functions, nearest_zero
from kineta.tasks.hidden import Array, Hold, State

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

#: Part of the largest pole that counts as nothing.
POLE = 1e-6
#: And of the frequency by which equations of coordinates and speeds are balanced.
NOTHING = 1e-12


def poles(hold: Hold, state: State) -> ComplexArray | None:
    """The s of the small motions x e^(s t) that are left free where the programs stay what they are at the time of *state*, about
    the position of rest that is nearest to it; by falling real part. None where none is found.
    """
    array, n = hold.array, hold.array.n
    rest = _rest(array, array.extended(replace(state, x=np.zeros(0)), 2))
    if rest is None:
        return None
    A = _still(array, rest, hold.order)
    rows, columns = balanced(A)
    A = rows[:, None] * A * columns
    own, others = A[:, : 2 * n], A[:, 2 * n :]
    ways = null_space(null_space(others.T, rcond=RANK).T @ own, rcond=RANK)
    follow = -np.linalg.lstsq(others, own @ ways, rcond=RANK)[0]
    rates = columns[n : 3 * n, None] * np.vstack([ways[n:], follow[:n]]) / columns[: 2 * n, None]
    found = np.linalg.eigvals(np.linalg.lstsq(ways, rates, rcond=None)[0]).astype(complex)
    found[np.abs(found) < NOTHING * (columns[n : 2 * n] / columns[:n]).max()] = 0.0
    return np.asarray(found[np.lexsort((found.imag, -found.real.round(9)))])


def words(found: ComplexArray | None) -> str:
    """What the *poles* say, in words."""
    if found is None:
        return "no position of rest that meets the programs is found: whether it dies out is not decided"
    size = np.abs(found).max(initial=0.0)
    if found.real.max() > POLE * size:
        return f"not minimum phase: it grows, by exp({found.real.max():.4g} t) about rest"
    if found.real.max() < -POLE * size:
        return f"minimum phase: it dies out, by exp({found.real.max():.4g} t) at least about rest"
    return "neither dies out nor grows to the first order about rest"


def _own(array: Array, state: State) -> tuple[FloatArray, FloatArray]:
    """The equations that are not differentiated, and their slopes by variables up to order 2."""
    off, A = array.at(state, 2)
    kept = [i for i, (_, times) in enumerate(array.labels(2)) if not times]
    return off[kept], A[kept]


def _rest(array: Array, state: State) -> State | None:
    """The position of rest nearest to *state*, with the multipliers of the constraints there."""
    free = [*range(array.n), *range(array.n + array.size(2))[3 * array.n :]]

    def moved(at: State, change: FloatArray) -> State:
        whole = np.zeros(array.n + array.size(2))
        whole[free] = change
        return array.moved(at, whole)

    functions: Functions[State] = Functions(
        lambda at: _own(array, at)[0], lambda at: _own(array, at)[1][:, free], moved
    )
    found = nearest_zero(state, functions)
    return found.state if found.met else None


def _still(array: Array, rest: State, order: int) -> FloatArray:
    """Slopes of all equations up to *order* at rest, where what is constant is differentiated as often as anyone likes."""
    slopes, n = _own(array, rest)[1], array.n
    starts = [0, *(n + array.size(k) for k in range(order))]
    named = dict(zip((name for name, times in array.labels(2) if not times), slopes, strict=True))
    found = []
    for k in range(order + 1):
        for name, times in array.labels(k)[len(array.labels(k - 1)) if k else 0 :]:
            row = np.zeros(n + array.size(order))
            own = next(o for m, o, _ in array.equations if m == name)
            for j in range(own + 1):
                entries = named[name][starts[j] : n + array.size(j)]
                row[starts[j + times] :][: len(entries)] = entries
            found.append(row)
    return np.array(found)
