"""What steers the step size: how many of the states, their tolerances, and the step that is tried first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


#: How many times looser the tolerances of a state are that should not steer, but not rougher than this: it does steer where
#: it is hardly resolved at all, as the work of a drive much faster than the motion may be.
LOOSE, ROUGH = 100.0, 1e-3


def steering(states: int, integrals: int) -> int:
    """How many of the first of so many *states* steer, where the last are integrals along the others: all, if there are no
    others.
    """
    return states - integrals or states


def tolerances(states: int, integrals: int, rtol: float, atol: float) -> FloatArray:
    """Absolute and relative tolerances, (2, states)."""
    found = np.repeat([[atol], [rtol]], states, axis=1)
    found[:, steering(states, integrals) :] *= max(1.0, min(LOOSE, ROUGH / rtol))
    return found


def first_steps(
    rates: Callable[[FloatArray, FloatArray], FloatArray],
    t0: float,
    t1: float,
    y0: FloatArray,
    rates0: FloatArray,
    tolerances: FloatArray,
    error_order: int,
) -> FloatArray:
    """Sizes (m,) for motions from the states *y0* (m, n) with the rates *rates0* (Hairer, II.4).

    rates : of times (m,) and states (m, n), asked once
    tolerances : (2, k) absolute and relative, of the first k states; the others steer nothing
    """
    absolute, relative = tolerances
    k, span = len(absolute), abs(t1 - t0)
    scale = absolute + relative * np.abs(y0[:, :k])

    def norm(x: FloatArray) -> FloatArray:
        return np.sqrt(np.mean((x[:, :k] / scale) ** 2, axis=1)) if k else np.zeros(len(x))

    with np.errstate(all="ignore"):  # a rate that is not finite makes the step h0, or as small as may be
        d0, d1 = norm(y0), norm(rates0)
        h0 = np.minimum(np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1), span)
        h = np.copysign(h0, t1 - t0)
        d2 = norm(rates(t0 + h, y0 + h[:, None] * rates0) - rates0) / h0
        largest = np.fmax(d1, d2)
        h1 = np.where(largest <= 1e-15, np.maximum(1e-6, h0 * 1e-3), (0.01 / largest) ** (1 / error_order))
        h1 = np.where(np.isfinite(h1), h1, h0)
        found = np.minimum(np.minimum(100 * h0, h1), span)
    return np.where(np.isfinite(h0) & (h0 > 0), found, min(1e-6, span))
