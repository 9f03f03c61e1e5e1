"""A motion carried on from any of its states by the native method that keeps to what holds it, whatever its own method is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.integrator import integrator
from kineta.numerics.problem import Problem
from kineta.numerics.segment import Segment
from kineta.numerics.segments import Integration
from kineta.tasks.code import Bound, projected
from kineta.tasks.computed import Layout
from kineta.tasks.implicit import implicit
from kineta.tasks.jacobian import jacobian
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.manifold import manifold
from kineta.tasks.settle import Settle
from kineta.tasks.task import Task

FloatArray = NDArray[np.float64]

#: The method, and how many steps it makes at most.
METHOD, MOST = "dop853", 5000


class Carrying:
    """Carries the motion of *task* on. What only this method integrates beside its states is not seen."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._own = task.made if task.made.code.kept == PROJECTED else projected(task.equations, task.made)
        self._ours, self._theirs = (_numbers(task.states, made.code.layout) for made in (self._own, task.made))
        self._manifold = manifold(task, self._own, self._whole(task.y0[None])[0])
        self._settle = Settle(task.quaternions, self._own)

    def __call__(self, t: float, y: FloatArray, end: float, longest: float, mode: Bound | None) -> Iterator[Segment]:
        """Segments from the state *y* at *t* to the *end*, in steps no longer than *longest*, under the forces of a *mode*."""
        task, own = self._task, self._own if mode is None else self._own.under(mode.forces.constant)
        problem = Problem(
            rhs=own.code.rate.address,
            h=own.h,
            t0=t,
            t1=end,
            y0=self._whole(self.met(np.array([t]), y[None]))[0],
            quaternions=task.quaternions,
            integrals=own.code.layout.integrals,
            manifold=self._manifold,
        )
        run = Integration(
            partial(integrator, projecting=True),
            lambda: jacobian(task.equations, own),
            lambda: implicit(task.equations, own),
            METHOD,
            problem,
            rtol=task.rtol,
            atol=task.atol,
            max_step=min(longest, task.max_step),
            max_steps=MOST,
            dense=True,
            kept=True,
        )
        return map(partial(self._seen, y), run)

    def met(self, t: FloatArray, y: FloatArray) -> FloatArray:
        """The states *y* (k, n) at the times *t* (k,) brought back to what holds them."""
        rows = self._whole(y)
        self._settle(t, rows)
        found = y.copy()
        found[:, : self._task.states] = rows[:, : self._task.states]
        return found

    def _whole(self, y: FloatArray) -> FloatArray:
        """States (k, n) with all that this method integrates."""
        rows = np.zeros((len(y), len(self._ours)))
        for i, name in enumerate(self._ours):
            if name in self._theirs:
                rows[:, i] = y[:, self._theirs.index(name)]
        return rows

    def _seen(self, y: FloatArray, segment: Segment) -> Segment:
        """A *segment* of states as the motion has them that is carried on from the state *y*."""
        known = [i for i, name in enumerate(self._theirs) if name in self._ours]
        places = [self._ours.index(self._theirs[i]) for i in known]
        solution = segment.solution
        assert solution is not None

        def own(rows: FloatArray) -> FloatArray:
            found = np.repeat(y[None], len(rows), axis=0)
            found[:, known] = rows[:, places]
            return found

        return replace(
            segment,
            y0=own(segment.y0[None])[0],
            y=own(segment.y),
            solution=lambda t: own(np.atleast_2d(solution(t).T)).T,
        )


def _numbers(states: int, layout: Layout) -> list[str]:
    """What the numbers in a state are, by name."""
    works = (*("work",) * layout.works, *("control",) * layout.controls)
    beside = (
        *layout.shown,
        *(f"load {i}" for i in range(layout.loads)),
        *(f"pivot {i}" for i in range(layout.watched)),
    )
    return [*map(str, range(states)), *works, *beside]
