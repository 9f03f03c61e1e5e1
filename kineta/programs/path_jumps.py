"""Discontinuities of programs along a path, which continuous states cannot follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.model.system import System
from kineta.programs.initialisation import derivative_text
from kineta.runtime.compiled import BoundSystem


def jumping_entries(change: Callable[[float], FloatArray], beside: float, least: float) -> IntArray:
    """Indices of the entries that jump: their *change* (n,) from one side of a point to the other, as a function of the distance,
    is more than *least* at the distance *beside* and does not double with it, as a smooth change would.
    """
    near, far = change(beside), change(2 * beside)
    return np.flatnonzero((near > least) & (far < 1.5 * near))


def discontinuous_program(system: System, made: BoundSystem, t: float, y: FloatArray, beside: float) -> str:
    """Program, or derivative of one below the order of the equations, that jumps in the state *y* at *t*, compared at the
    distance *beside*, in words; ``''`` for none.
    """
    own = made.code.layout.programs
    rate = made.code.rate(np.array([t]), y, made.h)[: len(y)]
    rate = np.where(np.isfinite(rate), rate, 0.0)

    def change(by: float) -> FloatArray:
        times = np.array([t - by, t + by])
        levels = made.code.observe(times[:, None], np.array([y - by * rate, y + by * rate]), made.h)[:, -len(own) :]
        return np.asarray(np.abs(levels[1] - levels[0]))

    size = max(1.0, float(np.abs(y).max(initial=0.0)))
    for i in jumping_entries(change, beside, tolerances.STATE_TOLERANCE * size):
        return derivative_text("program", system.programs[own[i]].name, own[:i].count(own[i]))
    return ""
