"""Consistency of initial states with the constraints."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import contradiction
from kineta.equations import case_arguments
from kineta.equations.equations import Equations

#: Tolerance of a consistent start, relative to the size of the state; and of a start that is projected: the six digits of
#: printed results.
START_TOLERANCE, PRINTED_TOLERANCE = 1e-9, 1e-4


def projected_start(
    equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Start *q*, *v* of a motion, or of several cases, projected onto the constraints where its violation is of the order of
    printed digits; and a note on it.
    """
    system = equations.system
    if not system.constraints:
        return q, v, ()
    cases = case_arguments.case_count({"q": q, "v": v, "p": p})
    lead = () if cases is None else (cases,)
    starts = [np.broadcast_to(x, (cases or 1, x.shape[-1])) for x in (q, v, p)]
    moved, worst = [starts[0].copy(), starts[1].copy()], 0.0
    for i, (one, speeds, own) in enumerate(zip(*starts, strict=True)):
        constraints = NumericConstraints(equations, own)
        known = constraints.on_position if system.quasi else slice(None)
        off, size = _violation(constraints, t, one, speeds, known), constraints.scale(one, speeds)
        if START_TOLERANCE * size < off <= PRINTED_TOLERANCE * size:
            there = constraints.project_position(t, one)
            rates = speeds if system.quasi else constraints.project_velocity(t, there, speeds)
            if _violation(constraints, t, there, rates, known) <= START_TOLERANCE * size:
                moved[0][i], moved[1][i], worst = there, rates, max(worst, off)
    if not worst:
        return q, v, ()
    q, v = (x.reshape(*lead, x.shape[-1]) for x in moved)
    return q, v, (f"the start missed constraints by up to {worst:.1e} and was brought back onto them",)


def _violation(
    constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray, known: list[int] | slice
) -> float:
    """Largest residual of a state among the residuals *known*."""
    speeds = np.zeros(len(constraints.system.base_speeds)) if constraints.system.quasi else v
    return float(np.abs(constraints.residuals(t, q, speeds)[known]).max(initial=0.0))


def start_violation(equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray) -> str:
    """Sentence on the constraint, or rate of a constraint, violated by the state at *t*; ``''`` for none."""
    system = equations.system
    if not system.constraints:
        return ""
    constraints = NumericConstraints(equations, p)
    k, value = largest_violation(equations, constraints, t, q, v)
    if abs(value) <= START_TOLERANCE * constraints.scale(q, v):
        return ""
    if not system.quasi and (why := contradiction(constraints, t, q, v)):
        return f"Model '{system.name}': {why}"
    size = f"{value:.3g} {constraints.unit(k)}".rstrip()
    return (
        f"Model '{system.name}': the start misses {constraints.described(k)}: it is {size} at t = {t:g} s, and has to be 0. "
        "Give initial values that meet it, or let kn.assemble (kineta assemble) find some."
    )


def largest_violation(
    equations: Equations, constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray
) -> tuple[int, float]:
    """Index and value of the largest residual of the state at *t*: on the position, where one of these is violated."""
    own = equations.system.quasi
    values = (
        equations.function("constraints", "numpy")(t, q, v, p=constraints.p) if own else constraints.residuals(t, q, v)
    )
    off, allowed = np.where(np.isfinite(values), np.abs(values), np.inf), START_TOLERANCE * constraints.scale(q, v)
    first = [k for k in constraints.on_position if off[k] > allowed] or range(len(off))
    k = max(first, key=lambda k: float(off[k]))
    return k, float(values[k])
