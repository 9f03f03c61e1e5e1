"""Whether a state meets the constraints of its system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.tasks.closing import Closing
from kineta.tasks.rank import contradiction

#: By how much a start may miss a constraint, relative to the size of the state.
MISSED = 1e-9


def missed(
    equations: Equations, t: float, q: NDArray[np.float64], v: NDArray[np.float64], p: NDArray[np.float64]
) -> str:
    """Which constraint, or rate of one, the state at *t* misses; ``''`` for none."""
    system = equations.system
    if not system.constraints:
        return ""
    closing = Closing(equations, p)
    values = equations.function("constraints", "numpy")(t, q, v, p=p) if system.quasi else closing.off(t, q, v)
    k = int(np.abs(values).argmax())
    if abs(values[k]) <= MISSED * max(1.0, np.abs(q).max(initial=0), np.abs(v).max(initial=0)):
        return ""
    if not system.quasi and (why := contradiction(closing, t, q, v)):
        return f"Model '{system.name}': {why}"
    return (
        f"Model '{system.name}': the start misses {closing.named(k)}: it is {values[k]:.3g} at t = {t:g} s, and has to be 0. "
        "Give initial values that meet it, or let kn.assemble (kineta assemble) find some."
    )
