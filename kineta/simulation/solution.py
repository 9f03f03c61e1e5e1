"""The solution of a simulation problem: its motions, one or many, as they were integrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.hybrid.sampling import SampledControl
from kineta.integration.segment import EventZeros
from kineta.records import dataclass
from kineta.results import outcomes
from kineta.results.impacts import Impact
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.domain_watch import DomainWatch
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.recorder import Recorder, resized


@dataclass(eq=False)
class Solution:
    """Integrated motions, with a leading axis of cases also for one alone.

    t, y : times (cases, k) and states (cases, k, n): of one motion those recorded; of an ensemble those at the times of the
        grid, NaN where a case has not been, and those at its end
    counts : (6, cases) integers: status, number of recorded times without the end, evaluations, steps, rejected steps, and
        steps of time stepping
    zeros : zeros of events, in the order of the cases and of their motions
    domains : distances from the domain of definition, of cases that were watched
    values, forces : of an ensemble of motions with modes, observed quantities (cases, k, m), and sampled forces (cases, k, nv);
        None for none
    record, control : of one motion, its record and its sampled control, if any
    transitions : of one motion with modes, those of its log, :attr:`kineta.hybrid.contact_log.ContactLog.transitions`
    """

    t: FloatArray
    y: FloatArray
    counts: IntArray
    messages: list[str]
    zeros: EventZeros
    changes: Sequence[tuple[tuple[float, str], ...]]
    impacts: Sequence[tuple[Impact, ...]]
    notes: Sequence[tuple[str, ...]]
    domains: dict[int, DomainWatch] = field(default_factory=dict)
    values: FloatArray | None = None
    forces: FloatArray | None = None
    record: Recorder | None = None
    control: SampledControl | None = None
    transitions: Sequence[tuple[tuple[int, int], ...]] = ()

    @property
    def status(self) -> IntArray:
        """Status of the cases, (cases,)."""
        return np.asarray(self.counts[0])

    @property
    def recorded(self) -> IntArray:
        """Numbers of recorded times of the cases, without their ends, (cases,)."""
        return np.asarray(self.counts[1])

    @property
    def nfev(self) -> IntArray:
        """Numbers of evaluations of the right-hand side, (cases,)."""
        return np.asarray(self.counts[2])

    @property
    def steps(self) -> IntArray:
        """Numbers of steps, (cases,)."""
        return np.asarray(self.counts[3])

    @property
    def rejected(self) -> IntArray:
        """Numbers of rejected steps, (cases,)."""
        return np.asarray(self.counts[4])

    @property
    def stepped(self) -> IntArray:
        """Numbers of steps of time stepping, (cases,)."""
        return np.asarray(self.counts[5])

    def edge(self, task: SimulationProblem, i: int, *, last: bool) -> str:
        """Sentence on the domain that case *i* has left, at its *last* time or at any; ``''`` for none."""
        domain = self.domains.get(i)
        if domain is None:
            domain = DomainWatch(task.equations, task.made.case(i))
            reached = np.isfinite(self.y[i]).all(axis=1)
            reached[-1] = True
            domain.process(self.t[i, reached], self.y[i, reached])
        return domain.edge(last=last)

    def sampled_forces(self, t: FloatArray) -> FloatArray | None:
        """Sampled forces (k, nv) of one motion held from the times *t* (k,) on; None without any."""
        return self.control.at(t) if self.control is not None and self.control.times else None

    def put(self, i: int, task: SimulationProblem, one: Solution) -> None:
        """Put the solution *one* of the *task* of case *i* in its place, without the zeros of its events."""
        record = one.record
        assert record is not None
        k, (t, y) = record.on_grid, record.end
        self.t[i, -1], self.y[i], self.y[i, :k] = t, np.nan, one.y[0, :k]
        self.y[i, -1] = resized(y[None], self.y.shape[-1])[0]
        self.counts[:, i], self.domains[i] = one.counts[:, 0], one.domains[0]
        self.recorded[i] = k
        for own, other in ((x, getattr(one, name)) for name, x in vars(self).items() if name in _OF_CASES):
            own[i] = other[0]
        if self.forces is not None:
            self.forces[i] = one.sampled_forces(self.t[i])
            self.forces[i, k:-1] = np.nan
        if self.values is not None:
            self.values[i] = np.nan
            self.values[i, :k] = observe_record(task, record)[:k]
            self.values[i, -1:] = observe(record.mode or task.made, np.array([t]), y[None])


#: Lists of which a solution has one entry for each case.
_OF_CASES = ("messages", "changes", "impacts", "notes")


def one_motion(
    n: int,
    record: Recorder,
    domain: DomainWatch,
    ended: tuple[int, str],
    counts: tuple[int, int, int],
    *,
    zeros: Sequence[tuple[int, int, float, FloatArray]] = (),
    changes: tuple[tuple[float, str], ...] = (),
    impacts: tuple[Impact, ...] = (),
    notes: tuple[str, ...] = (),
    control: SampledControl | None = None,
    transitions: Sequence[tuple[tuple[int, int], ...]] = (),
) -> Solution:
    """The solution of one motion of *n* states with its *record*: how it *ended*, status and message, and *counts* of
    evaluations, rejected steps and steps of time stepping.
    """
    t, y = record.series(n)
    return Solution(
        t=t[None],
        y=y[None],
        counts=np.array((ended[0], len(t), counts[0], record.steps, counts[1], counts[2]))[:, None],
        messages=[ended[1]],
        zeros=EventZeros.listed(zeros, n),
        changes=[changes],
        impacts=[impacts],
        notes=[notes],
        domains={0: domain},
        record=record,
        control=control,
        transitions=transitions,
    )


def unmoved(task: SimulationProblem) -> Solution:
    """All cases of an ensemble at their initial states."""
    assert task.grid is not None
    (cases, n), k = task.y0.shape, len(task.grid)
    t, y = np.empty((cases, k + 1)), np.full((cases, k + 1, n), np.nan)
    t[:, :k], t[:, -1], y[:, -1] = task.grid, task.t0, task.y0
    counts = np.zeros((6, cases), dtype=np.int64)
    counts[0] = outcomes.INTERRUPTED
    if k and task.grid[0] == task.t0:
        y[:, 0], counts[1] = task.y0, 1
    values = None
    if has_discrete_changes(task):
        start = observe(task.made, np.full((cases, 1), task.t0), task.y0[:, None])
        values = np.where(np.isfinite(y[..., :1]), start, np.nan)
    return Solution(
        t=t,
        y=y,
        counts=counts,
        messages=[outcomes.interrupted(task.t0)] * cases,
        zeros=EventZeros.listed([], n),
        changes=[()] * cases,
        impacts=[()] * cases,
        notes=[()] * cases,
        values=values,
        forces=np.full((cases, k + 1, task.system.nv), np.nan) if task.made.forces.sampled else None,
    )


def has_discrete_changes(task: SimulationProblem) -> bool:
    """True where the code or its parameters change during a motion."""
    return bool(task.made.forces.sampled) or task.has_modes


def observe(made: BoundSystem, t: FloatArray, y: FloatArray) -> FloatArray:
    """Observed quantities at times *t* (..., k) in states *y* (..., k, n), of one case or many."""
    if made.h.ndim > 1 and y.shape[1] > 1:
        return np.array([made.code.observe(t[i, :, None], y[i], made.h[i]) for i in range(len(t))])
    rows = made.code.observe(t.reshape(-1, 1), y.reshape(t.size, y.shape[-1]), made.h)
    return np.asarray(rows.reshape(*t.shape, rows.shape[-1]))


def observe_record(task: SimulationProblem, record: Recorder) -> FloatArray:
    """Observed quantities (k, m) at all times of a *record*, each in its mode."""
    found = list[FloatArray]()
    for t, y, mode in record.joined():
        made: BoundSystem = mode or task.made
        found.append(made.code.observe(t.reshape(-1, 1), y, made.h))
    if len(found) == 1:
        return found[0]
    return np.concatenate(found) if found else observe(task.made, np.empty(0), np.empty((0, len(task.y0))))
