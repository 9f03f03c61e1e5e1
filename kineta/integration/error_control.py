"""Error control: error-controlled states, tolerances, and the initial step size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kineta.arrays import FloatArray

#: Factor on the tolerances of quadrature states, and the bound of their relative tolerance: unresolved quadratures, as of the
#: work of a drive much faster than the motion, do control the step size.
LOOSE, ROUGH = 100.0, 1e-3


@dataclass(frozen=True)
class StepControl:
    """Relative and absolute tolerance of every state, largest step [s], and largest number of steps."""

    rtol: float
    atol: float
    max_step: float
    max_steps: int


def error_controlled(states: int, integrals: int) -> int:
    """The number of error-controlled states: all but the *integrals*, or all if there are no other states."""
    return states - integrals or states


def error_tolerances(states: int, integrals: int, rtol: float, atol: float) -> FloatArray:
    """Absolute and relative tolerances (2, states)."""
    found = np.empty((2, states))
    found[0], found[1] = atol, rtol
    found[:, error_controlled(states, integrals) :] *= max(1.0, min(LOOSE, ROUGH / rtol))
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
    """Initial step sizes (m,) for the states *y0* (m, n) with the rates *rates0* (Hairer, II.4).

    rates : right-hand side of times (m,) and states (m, n), called once
    tolerances : (2, k) absolute and relative, of the first k states, which are error-controlled
    """
    absolute, relative = tolerances
    k, span = len(absolute), abs(t1 - t0)
    scale = absolute + relative * np.abs(y0[:, :k])

    def norm(x: FloatArray) -> FloatArray:
        # In the order of the states: NumPy's own order depends on their number and on that of the cases.
        if not k:
            return np.zeros(x.shape[:-1])
        return np.asarray(np.sqrt(np.add.accumulate((x[..., :k] / scale) ** 2, axis=-1)[..., -1] / k))

    def power(x: float) -> float:
        """Of the C library, as in compiled loops."""
        return math.pow(x, 1 / error_order) if x >= 0.0 else math.nan

    with np.errstate(all="ignore"):  # a rate that is not finite gives the step h0 or the smallest step
        d0, d1 = norm(np.array([y0, rates0]))
        h0 = np.minimum(np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1), span)
        h = np.copysign(h0, t1 - t0)
        d2 = norm(rates(t0 + h, y0 + h[:, None] * rates0) - rates0) / h0
        largest = np.fmax(d1, d2)
        powers = np.array([power(x) for x in (0.01 / largest).tolist()])
        h1 = np.where(largest <= 1e-15, np.maximum(1e-6, h0 * 1e-3), powers)
        h1 = np.where(np.isfinite(h1), h1, h0)
        found = np.minimum(np.minimum(100 * h0, h1), span)
    return np.where(h0 > 0, found, min(1e-6, span))
