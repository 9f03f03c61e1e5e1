"""Mobility: the number of degrees of freedom."""

from __future__ import annotations

import numpy as np

from kineta.consistency.consistent_start import consistent
from kineta.equations.equations import Equations
from kineta.equations.function import parameter_values
from kineta.equations.initial_values import initial_state


def freedom(equations: Equations) -> int:
    """Return the degrees of freedom: speeds less the independent constraint reactions, at the projected start.

    Parameters without a value are one. Without a consistent position near the start, the constraints independent at the
    nearest position count.
    """
    system = equations.system
    if system.quasi or not system.constraints:
        return system.nv
    values = parameter_values(system, {p.name: 1.0 for p in system.parameters if p.value is None and not p.fixed})
    found = consistent(equations, 0.0, *initial_state(system, p=values), values, reach=np.inf)
    # Inconsistent rows are never dropped, and may outnumber the speeds.
    return max(0, system.nv - len(found.equations.rows))
