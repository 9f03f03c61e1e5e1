"""Projection of states onto quaternion norms and constraints, which interpolation satisfies only approximately."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.constraints import NumericConstraints
from kineta.integration.problem import Manifold
from kineta.numerics.linear_algebra import norm
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.problem import SimulationProblem


def normalise(rows: FloatArray, quaternions: Sequence[int]) -> None:
    """Normalise the quaternions of states (k, n) in place."""
    for offset in quaternions:
        rows[:, offset : offset + 4] /= norm(rows[:, offset : offset + 4], axis=1, keepdims=True)


class Projection:
    """Projection of states onto the constraints of their motion, in place: unit *quaternions*, and the manifold of the loop."""

    def __init__(self, quaternions: Sequence[int], made: BoundSystem) -> None:
        self.quaternions = quaternions
        self._made = made if made.code.treatment == PROJECTED else None

    def __call__(self, t: FloatArray, rows: FloatArray, made: BoundSystem | None = None) -> None:
        """Project the states *rows* (k, n) at the times *t* (k,), of a mode with other code if given."""
        if self.quaternions:
            normalise(rows, self.quaternions)
        if self._made is None or not len(rows):
            return
        made = made or self._made
        if made.code.treatment != PROJECTED:
            return
        position, velocity = made.code.projections
        for step in (position, position, velocity):
            nearer = step.batch(t[:, None], rows, made.h)
            rows[:] = np.where(np.isfinite(nearer), nearer, rows)


def manifold(task: SimulationProblem, made: BoundSystem, y: FloatArray) -> Manifold | None:
    """Constraint manifold for the loop of *task* with the code *made*, for states like *y* (n,); None without projection."""
    code, system = made.code, task.system
    if code.treatment != PROJECTED:
        return None
    position, velocity = code.projections
    largest, speeds = regular_pivots(task, made, y), (system.nq, task.states)
    return Manifold(position.address, velocity.address, largest, speeds, velocity_steps(task))


def regular_pivots(task: SimulationProblem, made: BoundSystem, y: FloatArray) -> FloatArray:
    """Largest pivots (m,) of the constraints in the regular states of *task*, for states like *y* (n,)."""
    largest = np.zeros(made.code.layout.pivots)
    for q, v in task.regular:
        rate = made.code.rate(np.array([task.t0]), np.concatenate([q, v, y[len(q) + len(v) :]]), made.h)
        largest = np.maximum(largest, np.abs(rate[len(rate) - len(largest) :]))
    return largest


def velocity_steps(task: SimulationProblem) -> int:
    """Number of projection steps of the speeds of *task*: one for constraints linear in the speeds."""
    system = task.system
    if system.programs:
        return task.made.code.layout.order
    linear = not system.constraints or NumericConstraints(task.equations, task.made.p).compiled.linear
    return 1 if linear else 2
