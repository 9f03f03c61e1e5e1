"""Discontinuities of programs along a path, which continuous states cannot follow."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.model.system import System
from kineta.programs.initialisation import derivative_text
from kineta.runtime.compiled import BoundSystem

#: Least jump, relative to the state.
JUMP_TOLERANCE = 1e-9


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

    near, far = change(beside), change(2 * beside)
    size = max(1.0, float(np.abs(y).max(initial=0.0)))
    # What is smooth changes twice as much in twice the time.
    for i in np.flatnonzero((near > JUMP_TOLERANCE * size) & (far < 1.5 * near)):
        return derivative_text("program", system.programs[own[i]].name, own[:i].count(own[i]))
    return ""
