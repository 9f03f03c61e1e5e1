"""What a run keeps to, as its loop needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.problem import Manifold
from kineta.tasks.closing import Closing
from kineta.tasks.code import Bound
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.task import Task

FloatArray = NDArray[np.float64]


def manifold(task: Task, made: Bound, y: FloatArray) -> Manifold | None:
    """What the loop of *task* with the code *made*, whose states are as *y* (n,), keeps to, if it projects."""
    code, system = made.code, task.system
    if code.kept != PROJECTED:
        return None
    position, velocity = code.returns
    largest = np.zeros(code.layout.watched)
    for q, v in task.regular:
        rate = code.rate(np.array([task.t0]), np.concatenate([q, v, y[len(q) + len(v) :]]), made.h)
        largest = np.maximum(largest, np.abs(rate[len(rate) - len(largest) :]))
    order = code.layout.order
    steps = order if system.programs else 1 if Closing(task.equations, made.p).closures.linear else 2
    return Manifold(position.address, velocity.address, largest, (system.nq, task.states), steps)
