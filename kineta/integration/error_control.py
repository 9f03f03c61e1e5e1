"""Error control: error-controlled states and their tolerances."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.records import constant_record

#: Factor on the tolerances of quadrature states, and the bound of their relative tolerance: unresolved quadratures, as of the
#: work of a drive much faster than the motion, do control the step size.
LOOSE, ROUGH = 100.0, 1e-3


@constant_record
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
