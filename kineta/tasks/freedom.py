"""How many motions the constraints leave."""

from __future__ import annotations

import numpy as np

from kineta.compiler import Equations
from kineta.expr.graph import ZERO
from kineta.model.system import System
from kineta.tasks.sampling import on_constraints, values
from kineta.tasks.state import initial_state

#: Singular values of the rows, each of length one, below this part of the largest count as zero.
RANK = 1e-7


def freedom(equations: Equations) -> int:
    """Degrees of freedom: speeds less the independent ones of the constraints that reactions keep, at the start moved onto them.

    Where a parameter has no value, or no position near the start meets the constraints, all of them count.
    """
    d, system = equations.derivation, equations.system
    count = system.nv - len(d.rows)
    if not d.rows or any(p.value is None for p in system.parameters):
        return count
    there = on_constraints(d, _start(system))
    if not len(there["t"]):
        return count
    gradients = [r.gradient.get(k, ZERO) for r in d.rows for k in range(system.nv)]
    A = values(d.graph, gradients, there).reshape(len(d.rows), system.nv)
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    sizes = np.linalg.svd(A / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return system.nv - int((sizes > RANK * sizes[0]).sum()) if np.isfinite(sizes).all() else count


def _start(system: System) -> dict[str, np.ndarray]:
    q, v = initial_state(system)
    names = (*system.q_names, *system.v_names, *(p.name for p in system.parameters), "t")
    given = (*q, *v, *(p.value for p in system.parameters), 0.0)
    return {name: np.array([value]) for name, value in zip(names, given, strict=True)}
