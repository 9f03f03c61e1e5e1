"""Restart of a motion from any of its states by the native method with projection, for any method of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from kineta.arrays import FloatArray
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.compiled import BoundSystem, projected_system
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.functions import StateLayout
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection, manifold

#: Method, and its largest number of steps.
METHOD, STEP_LIMIT = "dop853", 5000


class NativeRestart:
    """Restart of the motion of *task*; states of this method alone are hidden."""

    def __init__(self, task: SimulationProblem) -> None:
        self._task = task
        self._own = task.made if task.made.code.treatment == PROJECTED else projected_system(task.equations, task.made)
        self._ours, self._theirs = (_state_entries(task.states, made.code.layout) for made in (self._own, task.made))
        self._manifold = manifold(task, self._own, self._whole(task.y0[None])[0])
        self._settle = Projection(task.quaternions, self._own)

    def __call__(
        self, t: float, y: FloatArray, end: float, longest: float, mode: BoundSystem | None
    ) -> Iterator[Segment]:
        """Segments from the state *y* at *t* to the *end*, in steps no longer than *longest*, under the forces of a *mode*."""
        task, own = self._task, self._own if mode is None else self._own.with_forces(mode.forces.constant)
        problem = Problem(
            rhs=own.code.rate.address,
            h=own.h,
            t0=t,
            t1=end,
            y0=self._whole(self.projected(np.array([t]), y[None]))[0],
            quaternions=task.quaternions,
            integrals=own.code.layout.integrals,
            manifold=self._manifold,
        )
        run = NativeRun(
            TABLEAUX[METHOD],
            integration_loop(TABLEAUX[METHOD], projecting=True),
            problem,
            **vars(replace(task.control, max_step=min(longest, task.control.max_step), max_steps=STEP_LIMIT)),
            dense=True,
        )
        return map(partial(self._seen, y), run)

    def projected(self, t: FloatArray, y: FloatArray) -> FloatArray:
        """States *y* (k, n) at the times *t* (k,), projected onto constraints and programs."""
        rows = self._whole(y)
        self._settle(t, rows)
        found = y.copy()
        found[:, : self._task.states] = rows[:, : self._task.states]
        return found

    def _whole(self, y: FloatArray) -> FloatArray:
        """States (k, n) with all entries of this method."""
        rows = np.zeros((len(y), len(self._ours)))
        for i, name in enumerate(self._ours):
            if name in self._theirs:
                rows[:, i] = y[:, self._theirs.index(name)]
        return rows

    def _seen(self, y: FloatArray, segment: Segment) -> Segment:
        """*segment* with the entries of the motion, continued from the state *y*."""
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


def _state_entries(states: int, layout: StateLayout) -> list[str]:
    """Names of the entries of a state."""
    works = (*("work",) * layout.works, *("control",) * layout.controls)
    beside = (
        *layout.guards,
        *(f"load {i}" for i in range(layout.loads)),
        *(f"pivot {i}" for i in range(layout.pivots)),
    )
    return [*map(str, range(states)), *works, *beside]
