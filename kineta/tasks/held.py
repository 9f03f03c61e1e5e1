"""Runs under forces that are held between samples: cut into pieces, in each of which nothing jumps."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from kineta.errors import SimulationError
from kineta.numerics.problem import Problem
from kineta.numerics.segment import Segment
from kineta.numerics.segments import Integration
from kineta.tasks.control import forces_of
from kineta.tasks.settle import normalise
from kineta.tasks.task import Task

FloatArray = NDArray[np.float64]


class Control:
    """The sampled forces of a task as its motion goes on: what is held, and all that has been."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.made = task.made
        self._sampled = task.made.forces.sampled
        self._sign = 1.0 if task.t1 > task.t0 else -1.0
        starts = map(self._starts_of, range(len(self._sampled)))
        self._starts = groupby(heapq.merge(*starts), key=itemgetter(0))
        self._next: tuple[float, list[int]] | None = self._following()
        self.times: list[float] = []
        self.forces: list[FloatArray] = []

    def _starts_of(self, i: int) -> Iterator[tuple[float, int]]:
        """When samples of the force number i are taken, rising as the motion goes on."""
        for t in self._sampled[i][0].starts(self.task.t0, self.task.t1):
            yield self._sign * t, i

    def _following(self) -> tuple[float, list[int]] | None:
        """The next time of samples, and which are taken then."""
        found = next(self._starts, None)
        return None if found is None else (self._sign * found[0], [i for _, i in found[1]])

    def take(self, y: FloatArray) -> float | None:
        """Take the samples that are due in the state *y*: :attr:`made` holds them up to the time returned, None where none are
        left. Raises :class:`SimulationError` where a sample is not what it should be.
        """
        if self._next is None:
            return None
        t, due = self._next
        system, forces = self.task.system, self.made.forces.constant.copy()
        y = y[None].copy()
        normalise(y, self.task.quaternions)
        q, v = np.split(y[0, : self.task.states], [system.nq])
        for i in due:
            one, speeds = self._sampled[i]
            try:
                sample = one.sample(self.task.t0, t, self._sign < 0, q.copy(), v.copy())
            except Exception as error:
                raise SimulationError(f"the control raised {type(error).__name__}: {error}") from error
            forces[[system.v_names.index(n) for n in speeds]] = forces_of(sample, speeds)
        self.times.append(t)
        self.forces.append(forces)
        self.made = self.made.under(forces)
        self._next = self._following()
        return self.task.t1 if self._next is None else self._next[0]

    def at(self, t: FloatArray) -> FloatArray:
        """The forces (k, nv) that were held from the times *t* (k,) on."""
        which = np.searchsorted(self._sign * np.array(self.times), self._sign * t, side="right") - 1
        return np.asarray(np.array(self.forces)[which.clip(0)])


class Held:
    """An integration under a *control*, piece by piece; iterate over it for its segments.

    The method starts anew with every piece, a native one with the size of the last step.
    """

    def __init__(self, problem: Problem, run: Integration, control: Control) -> None:
        self.problem, self.control = problem, control
        self._run = run

    @property
    def method(self) -> str:
        """The method at work."""
        return self._run.method

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return self._run.evaluations

    @property
    def rejected(self) -> int:
        """Steps tried in vain so far, where the method tells."""
        return self._run.rejected

    def __iter__(self) -> Iterator[Segment]:
        y, end = self.problem.y0, self._run.problem.t1
        while True:
            reached = None
            for segment in self._run:
                yield replace(segment, mode=self.control.made)
                if segment.end:
                    return
                reached, y = float(segment.t[-1]), segment.y[-1]
            if reached != end:
                return
            following = self.control.take(y)
            if following is None:
                return
            end = following
            self._run.go_on(end, self.control.made.h)
