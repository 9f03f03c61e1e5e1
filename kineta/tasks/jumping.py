"""Programs that jump on the way: what would have to jump with them are states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.model.system import System
from kineta.tasks.begun import named
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

#: The least jump, of what is measured by the state, that is one.
JUMP = 1e-9


def jumping(system: System, made: Bound, t: float, y: FloatArray, beside: float) -> str:
    """Which program, or derivative of one below the order of the equations, jumps in the state *y* at *t*, as seen this far
    *beside* it, in words; ``''`` for none.
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
    for i in np.flatnonzero((near > JUMP * size) & (far < 1.5 * near)):
        return named("program", system.programs[own[i]].name, own[:i].count(own[i]))
    return ""
