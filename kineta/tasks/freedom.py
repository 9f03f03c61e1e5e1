"""How many motions the constraints leave."""

from __future__ import annotations

import numpy as np

from kineta.compiler import Equations
from kineta.function import parameter_values
from kineta.tasks.closing import Closing
from kineta.tasks.met import MISSED
from kineta.tasks.rank import rank
from kineta.tasks.state import initial_state


def freedom(equations: Equations) -> int:
    """Degrees of freedom: speeds less the constraints that reactions keep and that are independent, at the start moved onto them.

    Where a parameter has no value, or no position near the start meets the constraints, all of them count.
    """
    system = equations.system
    if system.quasi or not system.constraints:
        return system.nv
    left = system.nv - len(equations.derivation.closures)
    if any(p.value is None for p in system.parameters):
        return left
    closing = Closing(equations, parameter_values(system))
    q, v = initial_state(system)
    q = closing.position(0.0, q)
    v = closing.velocity(0.0, q, v)
    if not np.abs(closing.off(0.0, q, v)).max() < MISSED * closing.size(q, v):
        return left
    return left + len(rank(closing, 0.0, q, v).left_out)
