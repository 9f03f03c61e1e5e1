"""Ensembles by the native loop, in the lanes of a vector or one motion with contacts at a time: memory, threads, pauses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from threading import Event as Flag
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration import loop_abi
from kineta.integration.contact_records import IMPACT_NUMBERS
from kineta.integration.handover import Pace
from kineta.integration.loop_abi import CaseData, EnsembleData, RunData
from kineta.integration.problem import Problem
from kineta.integration.run_memory import run_form, run_memory, set_contacts, set_switches
from kineta.integration.segment import EventZeros
from kineta.memory import LaneRecord
from kineta.numerics.tableaux import Tableau
from kineta.records import dataclass

#: Initial number of steps between two pauses, and event zeros of a lane and transitions of contacts stored between them.
STEPS, ROOM, CHANGES = 64, 128, 2048
#: Largest number of steps between two pauses: those for want of room are early, however many are allowed.
MOST = 2**30
#: Target duration between two pauses [s].
PAUSE = 0.05


#: Memory of one motion with contacts, for the time of a run: a problem of its own for every thread.
MotionMemory = Callable[[], AbstractContextManager[Problem]]


@dataclass(frozen=True, slots=True)
class HybridCases:
    """What cases with contacts or switches have in place of rates, event values and pivots at the start.

    memory : of a motion; same : (cases,) contact tolerances; regular : (k, n) states with independent constraints
    pace : steps and changes that are not for compiled code
    flags, observed : numbers of flags of a mode, and of observed quantities; given : (cases, k) parameters and constant forces
    ends, held, places : (m,), (m, j), (j,) sampled forces, the times up to which they are held, and their places in ``given``
    """

    memory: MotionMemory
    same: FloatArray
    regular: FloatArray
    pace: Callable[[], Pace]
    flags: int
    observed: int
    given: FloatArray
    ends: FloatArray
    held: FloatArray
    places: IntArray


@dataclass(frozen=True, slots=True)
class CaseTransitions:
    """Changes by contacts and switches of an ensemble in the order of cases and times, with contacts that of the start the first
    of each.

    t, what, flags : (m,) times, (m,) the switch that acted or -1, (m, n) modes
    impacts : (k, IMPACT_NUMBERS), the last their change
    first, struck : (cases + 1,) the first change and the first impact of each case
    """

    t: FloatArray
    what: IntArray
    flags: FloatArray
    impacts: FloatArray
    first: IntArray
    struck: IntArray

    @classmethod
    def ordered(
        cls, parts: Sequence[tuple[IntArray, FloatArray, IntArray, FloatArray, FloatArray]], cases: int, n: int
    ) -> CaseTransitions:
        """The changes of *parts*, those of one case in their order: their cases, times, switches, flags, and impacts with the
        number of their change in the part.
        """
        none = np.empty(0, dtype=np.int64)
        parts = [(none, np.empty(0), none, np.empty((0, n)), np.empty((0, IMPACT_NUMBERS))), *parts]
        case, t, what, flags, impacts = (np.concatenate([part[k] for part in parts]) for k in range(5))
        order = np.argsort(case, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        starts = np.cumsum([0, *(len(part[0]) for part in parts[:-1])])
        own = np.repeat(starts, [len(part[4]) for part in parts]) + impacts[:, -1].astype(np.int64)
        impacts[:, -1] = place[own]
        impacts = impacts[np.argsort(impacts[:, -1], kind="stable")]
        first = np.searchsorted(case[order], np.arange(cases + 1))
        return cls(t[order], what[order], flags[order], impacts, first, np.searchsorted(impacts[:, -1], first))


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Initial value problems that differ in states and parameters.

    problem : of the first case. Its functions are for *lanes* states, number i of all side by side; their last argument, an
        integer, has a bit for every lane whose results are stored
    rates : the right-hand side for all cases, of times (cases,) and states (cases, n)
    h : (cases, nh) blocks, or (1, nh) for all
    y0, rates0 : (cases, n) initial states and their rates; a case with a rate that is not finite is not started
    values0, noise : (cases, k) initial event values, and as in :class:`~kineta.integration.problem.Events`
    largest : (cases, m) as in :class:`~kineta.integration.problem.Manifold`
    hybrid : of cases with contacts or switches, which run in no lanes, from the states before their first mode
    """

    problem: Problem
    lanes: int
    h: FloatArray
    y0: FloatArray
    rates0: FloatArray
    values0: FloatArray
    noise: FloatArray
    largest: FloatArray
    hybrid: HybridCases | None = None


class EnsembleRun:
    """Integrations of all cases of an ensemble.

    *integrate* is the compiled loop of the method *tableau*, a function of the records of runs in lanes; *grid* are the times to
    record.

    Attributes
    ----------
    t, y, size : (cases,), (cases, n), (cases,) current times and states, and sizes of the last step
    samples : (cases, len(grid), n) states at the times of the grid, NaN at times not reached
    observed : (cases, len(grid) + 1, m) with contacts, what is observed at these times and at the end
    transitions : of contacts, in the parts that :meth:`CaseTransitions.ordered` puts in order
    status, ended, accepted, rejected, evaluations, recorded : (cases,) as in :class:`~kineta.integration.loop_abi.EnsembleData`
    """

    def __init__(
        self,
        tableau: Tableau,
        integrate: Callable[[Any], object],
        ensemble: Ensemble,
        grid: FloatArray,
        *,
        rtol: float,
        atol: float,
        max_step: float,
        max_steps: int,
    ) -> None:
        self._integrate, self.ensemble = integrate, ensemble
        e, p = ensemble, ensemble.problem
        self.cases, self.n = e.y0.shape
        started = np.isfinite(e.rates0).all(axis=1)
        first = int(len(grid) > 0 and grid[0] == p.t0)
        self.status = np.where(started, loop_abi.PAUSED, loop_abi.NOT_FINITE)
        self.ended, self.accepted, self.rejected = np.zeros((3, self.cases), dtype=np.int64)
        self.evaluations, self.recorded = np.where(started, 2, 0), np.full(self.cases, first)
        self.t, self.y = np.full(self.cases, float(p.t0)), np.array(e.y0)
        self.samples = np.full((self.cases, len(grid), self.n), np.nan)
        self.samples[:, :first] = e.y0[:, None]
        contacts, own, self.size = e.hybrid, dict[str, Any](), np.zeros(self.cases)
        if contacts is not None:
            self.observed = np.full((self.cases, len(grid) + 1, contacts.observed), np.nan)
            own = {
                "quaternions": len(p.quaternions),
                "same": contacts.same,
                "n_regular": len(contacts.regular),
                "regular": _flat(contacts.regular),
                "n_observed": contacts.observed,
                "observed": self.observed.reshape(-1),
                "given": _flat(contacts.given),
                "segments": len(contacts.ends),
                "ends": contacts.ends,
                "held": _flat(contacts.held),
                "n_held": len(contacts.places),
                "places": contacts.places,
            }
        self._zeros: list[EventZeros] = []
        self.transitions: list[tuple[IntArray, FloatArray, IntArray, FloatArray, FloatArray]] = []
        queue = np.flatnonzero(started)
        left = np.empty(0, dtype=np.int64) if p.events is None else np.tile(p.events.left, self.cases)
        data = EnsembleData(
            next=np.zeros(1, dtype=np.int64),
            queue=queue,
            queued=len(queue),
            grid=np.array(grid),
            times=len(grid),
            first=first,
            direction=1.0 if p.t1 > p.t0 else -1.0,
            max_steps=max_steps,
            block=e.h.shape[1],
            stride=0 if len(e.h) == 1 else e.h.shape[1],
            left=left,
            blocks=_flat(e.h),
            rates=_flat(e.rates0),
            values=_flat(e.values0),
            noise=_flat(e.noise),
            largest=_flat(e.largest),
            **{name: getattr(self, name).reshape(-1) for name in ("y", "samples")},
            **{name: getattr(self, name) for name in ("t", "size", "status", "ended", "accepted", "rejected")},
            **{name: getattr(self, name) for name in ("evaluations", "recorded")},
            **own,
        )
        self._shared = data
        self._form = partial(run_form, tableau, chunk=0, rtol=rtol, atol=atol, dense=True, zeros=ROOM)
        self._max_step = max_step

    @property
    def terminated(self) -> int:
        """Number of terminated cases."""
        return int(np.count_nonzero(self.status != loop_abi.PAUSED))

    @property
    def zeros(self) -> EventZeros:
        """Event zeros found so far: by case, and in the order of the motion."""
        found = [EventZeros.listed([], self.n), *self._zeros]
        case, event, t, y = (np.concatenate([getattr(z, f) for z in found]) for f in ("case", "event", "t", "y"))
        order = np.lexsort((event, abs(t - self.ensemble.problem.t0), case))
        return EventZeros(case[order], event[order], t[order], y[order])

    def run(self, threads: int, at: Callable[[int], None]) -> None:
        """Integrate all cases to their ends, and report the number of terminated cases; an interruption leaves them where
        they are.
        """
        stop, pool = Flag(), ThreadPoolExecutor(threads)
        try:  # encloses every start of a thread, so that any exception ends the threads
            waiting = {pool.submit(self._work, stop) for _ in range(threads)}
            while waiting:
                done, waiting = wait(waiting, PAUSE)
                for future in done:
                    future.result()
                at(self.terminated)
        finally:
            stop.set()
            pool.shutdown()

    def _work(self, stop: Flag) -> None:
        """The work of one thread: take cases until none is left, or until *stop*."""
        contacts = self.ensemble.hybrid
        if contacts is None:
            lanes = LaneRecord(self._run_data(self.ensemble.problem), self.ensemble.lanes)
            self._advance(stop, lanes, partial(self._integrate, lanes))
        else:
            with contacts.memory() as problem:
                data = self._run_data(problem)
                switching = problem.switching
                ahead = 0 if switching is None else loop_abi.SPARE * (len(switching.stops) + loop_abi.SPARE)
                if problem.contacts is not None:
                    set_contacts(data, problem.contacts, CHANGES + ahead)
                if switching is not None:
                    set_switches(data, problem, CHANGES + ahead)
                data.contacts.update(pace=contacts.pace())
                self._advance(stop, LaneRecord.of_one(data), partial(self._integrate, data))

    def _run_data(self, problem: Problem) -> RunData:
        """Memory of a run of cases like *problem*."""
        data = run_memory(self._form(problem), problem, self._max_step).data
        found = data.events.array("which")
        cases = np.zeros(0 if found is None else len(found), dtype=np.int64)
        data.update(sampling=CaseData(ensemble=self._shared, number=-1, cases=cases))
        return data

    def _advance(self, stop: Flag, run: LaneRecord, integrate: Callable[[], object]) -> None:
        """Call *integrate* for the motions in *run*, and read what they have found."""
        steps, done = STEPS, False
        while not (done or stop.is_set()):
            run["allowed"][:], began = steps, time.perf_counter()
            done = bool(np.all(integrate() == np.int64(loop_abi.DONE)))
            steps = min(2 * steps, MOST) if time.perf_counter() - began < PAUSE / 2 else max(steps // 2, STEPS)
            self._read_zeros(run)
            if self.ensemble.hybrid is not None:
                self._read_transitions(run["contacts"], self.ensemble.hybrid.flags)

    def _read_zeros(self, run: LaneRecord) -> None:
        """Read the event zeros found since the last pause."""
        events = run["events"]
        for lane in np.flatnonzero(events["found"]):
            found = int(events["found"][lane])
            case, event = (x[:found, lane].copy() for x in (run["sampling"]["cases"], events["which"]))
            states = events["states"][: found * self.n, lane].reshape(found, self.n).copy()
            self._zeros.append(EventZeros(case, event, events["times"][:found, lane].copy(), states))
        events["found"][:] = 0

    def _read_transitions(self, contacts: LaneRecord, n: int) -> None:
        """Read the transitions since the last pause, with *n* flags each, and their impacts."""
        made, impacts = int(contacts["made"][0]), np.empty((0, IMPACT_NUMBERS))
        work = contacts["transitions"]
        if work is not None:
            impacts = work["impacts"][: IMPACT_NUMBERS * int(work["made"][0]), 0].reshape(-1, IMPACT_NUMBERS).copy()
            work["made"][0] = 0
        flags = contacts["flags"][: made * n, 0].reshape(made, n).copy()
        case, t, what = (contacts[name][:made, 0].copy() for name in ("changed_rows", "times", "what"))
        self.transitions.append((case, t, what, flags, impacts))
        contacts["made"][0] = 0


def _flat(x: FloatArray) -> FloatArray:
    return np.ascontiguousarray(x, dtype=float).reshape(-1)


def cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
