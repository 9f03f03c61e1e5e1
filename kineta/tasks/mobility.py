"""Mobility: the number of degrees of freedom."""

from __future__ import annotations

from kineta.equations.equations import Equations
from kineta.equations.written_start import written_start


def freedom(equations: Equations) -> int:
    """Return the degrees of freedom: speeds less the independent constraint reactions, at the projected start.

    Parameters without a value are one. Without a consistent position near the start, the constraints independent at the
    nearest position count.
    """
    system = equations.system
    if system.quasi or not system.constraints:
        return system.nv
    start = written_start(system)
    if start.regular:
        return system.nv - len(equations.constraint_rows)
    # Lazy: a regular start needs no NumPy.
    import numpy as np

    from kineta.consistency.consistent_start import consistent

    p, q, v = map(np.asarray, (start.p, start.q, start.v))
    found = consistent(equations, 0.0, q, v, p, reach=np.inf)
    # Inconsistent rows are never dropped, and may outnumber the speeds.
    return max(0, system.nv - len(found.equations.rows))
