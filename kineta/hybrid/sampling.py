"""Sampled-data control: runs under zero-order hold, integrated from sample to sample."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from kineta.arrays import FloatArray
from kineta.calls import call_user_function
from kineta.errors import ArgumentError, SimulationError, nearest_or_listed
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment
from kineta.integration.solver import Solver
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import normalise
from kineta.runtime.sampled_forces import sample_forces


class SampledControl:
    """Sampled forces of a task along its motion: the current values, held ``until`` the next, and all values so far."""

    def __init__(self, task: SimulationProblem) -> None:
        self.task = task
        self.made = task.made
        self.until = task.t1
        self.times: list[float] = []
        self.forces: list[FloatArray] = []
        self._read: list[list[int]] = []
        self._next: tuple[float, list[int]] | None = None
        if task.made.forces.sampled:
            self._prepare(task)

    def _prepare(self, task: SimulationProblem) -> None:
        """Find what samples read, and the times of all."""
        self._sampled = task.made.forces.sampled
        names = task.made.observed_names(task.system)
        self._read = [[_place(names, name) for name in one.reads] for one, _ in self._sampled]
        self._places = [[task.system.v_names.index(name) for name in speeds] for _, speeds in self._sampled]
        self._sign = 1.0 if task.t1 > task.t0 else -1.0
        starts = map(self._starts_of, range(len(self._sampled)))
        self._starts = groupby(heapq.merge(*starts), key=itemgetter(0))
        self._next = self._following()

    def _starts_of(self, i: int) -> Iterator[tuple[float, int]]:
        """Sample times of the force number i, rising along the motion."""
        for t in self._sampled[i][0].starts(self.task.t0, self.task.t1):
            yield self._sign * t, i

    def _following(self) -> tuple[float, list[int]] | None:
        """Next sample time, and the forces sampled then."""
        found = next(self._starts, None)
        return None if found is None else (self._sign * found[0], [i for _, i in found[1]])

    @property
    def reads(self) -> bool:
        """Whether some of the forces depend on more than the state."""
        return any(self._read)

    def take(self, y: FloatArray, seen: tuple[FloatArray, BoundSystem] | None = None) -> float | None:
        """Take the samples due in the state *y*: :attr:`made` holds them up to the time returned, None after the last. What they
        read is that in *y* so far, or else that *seen*: a state and a system. Raises :class:`SimulationError` for an invalid
        sample.
        """
        if self._next is None:
            return None
        t, due = self._next
        state, made = seen or (y, self.made)
        read = made.code.observed_call(t, state, made.h) if self.reads else np.empty(0)
        system, t_start, forces = self.task.system, self.task.t0, self.made.forces.constant.copy()
        y = y[None].copy()
        normalise(y, self.task.quaternions)
        q, v = y[0, : system.nq], y[0, system.nq : self.task.states]
        for i in due:
            one, speeds = self._sampled[i]
            own = (q.copy(), v.copy(), *([read[self._read[i]]] if one.reads else ()))
            sample = call_user_function("the control", SimulationError, one.sample, t_start, t, self._sign < 0, *own)
            forces[self._places[i]] = sample_forces(sample, speeds)
        self.times.append(t)
        self.forces.append(forces)
        self.made = self.made.with_forces(forces)
        self._next = self._following()
        self.until = self.task.t1 if self._next is None else self._next[0]
        return self.until

    def at(self, t: FloatArray) -> FloatArray:
        """Forces (k, nv) held from the times *t* (k,) of a motion on; before them for the former of two rows at one time."""
        times, at = self._sign * np.array(self.times), self._sign * t
        before, which = (np.searchsorted(times, at, side=side) - 1 for side in ("left", "right"))
        return np.asarray(np.array(self.forces)[np.where(np.diff(at, append=np.nan) == 0, before, which).clip(0)])


def _place(names: Sequence[str], name: str) -> int:
    """The place of a series among what is observed: two energies, then *names*."""
    if name not in names:
        raise ArgumentError(
            f"The control reads '{name}'; expected an output of the model, or a force of a constraint or contact."
            f"{nearest_or_listed(name, names)}"
        )
    return 2 + names.index(name)


class SampledRun:
    """Integration under a *control*, from sample to sample; iterable over its segments.

    The method restarts at every sample, a native one with its last step size. ``ended`` is the reason why the motion ended
    before its time, None where it did not; ``changes`` are those of modes, with their times.
    """

    ended: str | None = None
    changes: Sequence[tuple[float, str]] = ()

    def __init__(self, problem: Problem, run: Solver, control: SampledControl) -> None:
        self.problem, self.control = problem, control
        self._run = run

    def jam(self) -> str:
        """Sentence on the contact whose force has grown without bound up to the end of the mode; ``''`` for none."""
        return ""

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the right-hand side."""
        return self._run.evaluations

    @property
    def rejected(self) -> int:
        """Number of rejected steps, if known."""
        return self._run.rejected

    def __iter__(self) -> Iterator[Segment]:
        y, end, held = self.problem.y0, self._run.problem.t1, False
        while True:
            reached = None
            for segment in self._run:
                yield segment.within(self.control.made, held=held)
                if segment.end:
                    return
                held = False
                reached, y = float(segment.t[-1]), segment.y[-1]
            if reached != end:
                return
            following = self.control.take(y)
            if following is None:
                return
            end, held = following, True
            self._run.go_on(end, self.control.made.h)
