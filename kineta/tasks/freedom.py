"""How many motions the constraints leave."""

from __future__ import annotations

from kineta.compiler import Equations
from kineta.function import parameter_values
from kineta.tasks.closing import Closing
from kineta.tasks.rank import rank
from kineta.tasks.state import initial_state


def freedom(equations: Equations) -> int:
    """Degrees of freedom: speeds less the constraints that reactions keep and that are independent, at the start moved onto them.

    A parameter without a value counts as one. Where no position near the start meets the constraints, those are counted that
    are independent in the nearest one.
    """
    system = equations.system
    if system.quasi or not system.constraints:
        return system.nv
    values = parameter_values(system, {p.name: 1.0 for p in system.parameters if p.value is None and not p.fixed})
    closing, (q, v) = Closing(equations, values), initial_state(system, p=values)
    q = closing.position(0.0, q)
    v = closing.velocity(0.0, q, v)
    return system.nv - len(closing.rows) + len(rank(closing, 0.0, q, v).left_out)
