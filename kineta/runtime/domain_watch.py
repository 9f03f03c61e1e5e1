"""Distance of a run from the edges of the domain of definition of its expressions."""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import domain_conditions, domain_violation, operand_values
from kineta.equations.equations import Equations
from kineta.errors import SimulationError
from kineta.runtime.applied_forces import AppliedForces
from kineta.runtime.compiled import BoundSystem


class DomainWatch:
    """Distances of operands from the edges of their domains, over the steps of a run."""

    def __init__(self, equations: Equations, run: BoundSystem) -> None:
        acting = tuple(run.forces.expressions.values())
        keep = equations.bounded_memo if acting else equations.memo
        self.conditions = keep((DomainWatch, acting), lambda: domain_conditions(equations.system, acting))
        if not self.conditions:
            return
        self._operands = operand_values(equations, tuple(n.operand for n in self.conditions))
        self._p, self._states = run.p, equations.system.nq + equations.system.nv
        m = len(self.conditions)
        self._farthest = np.zeros(m)
        self._nearest = self._last = np.full((3, m), np.inf)  # distances, values, times
        self._before = np.empty((0, m))

    def begin(self, t: float, y: FloatArray) -> None:
        """Process the state *y* (n,) at the first time."""
        if self.conditions:
            self.process(np.array([t]), y[None])

    def process(self, t: FloatArray, y: FloatArray) -> None:
        """Process the times *t* (k,) with the states *y* (k, n)."""
        if not self.conditions:
            return
        values = self._operands(t[:, None], y[:, : self._states], self._p)
        signed = np.stack([n.rule.distance(x) for n, x in zip(self.conditions, values.T, strict=True)], axis=1)
        distances = np.where(np.isfinite(signed), np.abs(signed), np.inf)
        self._farthest = np.maximum(
            self._farthest, np.max(distances, axis=0, where=np.isfinite(distances), initial=0.0)
        )
        before = np.vstack([self._before if len(self._before) else signed[:1], signed[:-1]])
        distances[signed * before < 0] = 0.0  # past the edge between two times
        rows = np.stack([distances, values, np.broadcast_to(t[:, None], values.shape)])
        nearest = np.take_along_axis(rows, distances.argmin(axis=0)[None, None], axis=1)[:, 0]
        self._nearest = np.where(nearest[0] < self._nearest[0], nearest, self._nearest)
        self._last, self._before = rows[:, -1], signed[-1:]

    def edge(self, *, last: bool) -> str:
        """Sentence on the operand that reached the edge of its domain, with time and value: at the *last* of the times, or at
        any. ``""`` for none.
        """
        if not self.conditions:
            return ""
        distances, values, times = self._last if last else self._nearest
        relative = distances / np.maximum(self._farthest, tolerances.LEAST_DIVISOR)
        if relative.min() > tolerances.STALL_TOLERANCE:
            return ""
        i = int(relative.argmin())
        return self.conditions[i].sentence(float(values[i]), float(times[i]))


def check_defined(equations: Equations, forces: AppliedForces, p: FloatArray, t: float, y: FloatArray) -> None:
    """Raise :class:`SimulationError` where the model is undefined in the state *y* at *t*, with the undefined operation."""
    if why := domain_violation(equations, p, t, y, tuple(forces.expressions.values())):
        raise SimulationError(
            f"Model '{equations.system.name}': the state is outside of what the model is defined for: {why}."
        )
