"""What a run keeps to, as its loop needs it."""

from __future__ import annotations

import numpy as np

from kineta.numerics.problem import Manifold
from kineta.tasks.closing import Closing
from kineta.tasks.code import Bound
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.task import Task


def manifold(task: Task, made: Bound) -> Manifold | None:
    """What the loop of *task* with the code *made* keeps to, if it projects."""
    code, system = made.code, task.system
    if code.kept != PROJECTED:
        return None
    position, velocity = code.returns
    largest, integrals = np.zeros(code.layout.watched), np.zeros(code.layout.integrals)
    for q, v in task.regular:
        rate = code.rate(
            np.array([task.t0]), np.concatenate([q, v, task.y0[len(q) + len(v) : task.states], integrals]), made.h
        )
        largest = np.maximum(largest, np.abs(rate[len(rate) - len(largest) :]))
    order = code.layout.order
    steps = order if system.programs else 1 if Closing(task.equations, made.p).closures.linear else 2
    return Manifold(position.address, velocity.address, largest, (system.nq, task.states), steps)
