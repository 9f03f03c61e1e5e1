"""Ensembles by the native loop in the lanes of a vector: memory, threads, pauses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event as Flag

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration import loop_abi
from kineta.integration.error_control import error_controlled, error_tolerances, first_steps
from kineta.integration.loop_abi import CaseData, ConstraintData, ContactData, EnsembleData, EventData, RunData
from kineta.integration.problem import Manifold
from kineta.integration.segment import EventZeros
from kineta.memory import CompiledFunction, LaneRecord
from kineta.numerics.roots import MOST
from kineta.numerics.tableaux import Tableau

#: Initial number of steps between two pauses, and event zeros of a lane stored between them.
STEPS, ROOM = 64, 128
#: Target duration between two pauses [s].
PAUSE = 0.05
#: Alignment of vectors in bytes.
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Initial value problems that differ in states and parameters.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot, int mask)`` for *lanes* states,
        number i of all side by side, which stores the rates of the lanes whose bits are set
    rates : the right-hand side for all cases, of times (cases,) and states (cases, n)
    h : (cases, nh) blocks shared by rhs and events, or (1, nh) for all
    y0, rates0 : (cases, n) initial states and their rates; a case with a rate that is not finite is not started
    quaternions : offsets of the unit quaternions in a state; the last *integrals* states are quadratures
    events : address of a function as ``rhs`` with k results, 0 for none
    values0, left, noise : (cases, k) initial event values, and data of the events as in
        :class:`~kineta.integration.problem.Events`; directions : (k,) likewise
    manifold : the constraint manifold, with functions as ``rhs``, or None; largest : (cases, m) as in
        :class:`~kineta.integration.problem.Manifold`
    """

    rhs: int
    lanes: int
    rates: Callable[[FloatArray, FloatArray], FloatArray]
    h: FloatArray
    t0: float
    t1: float
    y0: FloatArray
    rates0: FloatArray
    quaternions: Sequence[int]
    integrals: int
    events: int
    values0: FloatArray
    left: IntArray
    noise: FloatArray
    directions: Sequence[int]
    manifold: Manifold | None = None
    largest: FloatArray | None = None


class EnsembleRun:
    """Integrations of all cases of an ensemble.

    *integrate* is the compiled loop of the method *tableau*, a function of the records of runs in lanes; *grid* are the times to
    record.

    Attributes
    ----------
    t, y, size : (cases,), (cases, n), (cases,) current times and states, and sizes of the last step
    samples : (cases, len(grid), n) states at the times of the grid, NaN at times not reached
    status, ended, accepted, rejected, evaluations, recorded : (cases,) as in :class:`~kineta.integration.loop_abi.EnsembleData`
    """

    def __init__(
        self,
        tableau: Tableau,
        integrate: Callable[[LaneRecord], object],
        ensemble: Ensemble,
        grid: FloatArray,
        *,
        rtol: float,
        atol: float,
        max_step: float,
        max_steps: int,
    ) -> None:
        self.tableau, self.ensemble, self.grid, self.max_step = tableau, ensemble, grid, max_step
        self._integrate = integrate
        e = ensemble
        self.cases, self.n = e.y0.shape
        self._allowed = error_tolerances(self.n, e.integrals, rtol, atol)
        self._steered = error_controlled(self.n, e.integrals)
        started = np.isfinite(e.rates0).all(axis=1)
        first = int(len(grid) > 0 and grid[0] == e.t0)
        self.status = np.where(started, loop_abi.PAUSED, loop_abi.NOT_FINITE)
        self.ended, self.accepted, self.rejected = np.zeros((3, self.cases), dtype=np.int64)
        self.evaluations, self.recorded = np.full(self.cases, 2), np.full(self.cases, first)
        self.t, self.y = np.full(self.cases, float(e.t0)), np.array(e.y0)
        self.samples = np.full((self.cases, len(grid), self.n), np.nan)
        self.samples[:, :first] = e.y0[:, None]
        steered = self._allowed[:, : self._steered]
        self.size = first_steps(e.rates, e.t0, e.t1, e.y0, e.rates0, steered, tableau.error_order)
        self._zeros: list[EventZeros] = []
        queue = np.flatnonzero(started)
        self._data = EnsembleData(
            next=np.zeros(1, dtype=np.int64),
            queue=queue,
            queued=len(queue),
            grid=np.array(grid),
            times=len(grid),
            first=first,
            direction=1.0 if e.t1 > e.t0 else -1.0,
            max_steps=max_steps,
            block=e.h.shape[1],
            stride=0 if len(e.h) == 1 else e.h.shape[1],
            blocks=_flat(e.h),
            rates=_flat(e.rates0),
            values=_flat(e.values0),
            left=np.array(e.left, dtype=np.int64).reshape(-1),
            noise=_flat(e.noise),
            largest=_flat(np.empty(0) if e.largest is None else e.largest),
            **{name: getattr(self, name).reshape(-1) for name in ("y", "samples")},
            **{name: getattr(self, name) for name in ("t", "size", "status", "ended", "accepted", "rejected")},
            **{name: getattr(self, name) for name in ("evaluations", "recorded")},
        )

    @property
    def terminated(self) -> int:
        """Number of terminated cases."""
        return int(np.count_nonzero(self.status != loop_abi.PAUSED))

    @property
    def zeros(self) -> EventZeros:
        """Event zeros found so far: by case, and in the order of the motion."""
        found = [EventZeros.listed([], self.n), *self._zeros]
        case, event, t, y = (np.concatenate([getattr(z, f) for z in found]) for f in ("case", "event", "t", "y"))
        order = np.lexsort((event, abs(t - self.ensemble.t0), case))
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
        run = self._run_data()
        steps, done = STEPS, False
        while not (done or stop.is_set()):
            run["allowed"][:], began = steps, time.perf_counter()
            done = bool(np.all(self._integrate(run) == np.int64(loop_abi.DONE)))
            steps = 2 * steps if time.perf_counter() - began < PAUSE / 2 else max(steps // 2, STEPS)
            events = run["events"]
            for lane in np.flatnonzero(events["found"]):
                found = int(events["found"][lane])
                case, event = (x[:found, lane].copy() for x in (run["sampling"]["cases"], events["which"]))
                states = events["states"][: found * self.n, lane].reshape(found, self.n).copy()
                self._zeros.append(EventZeros(case, event, events["times"][:found, lane].copy(), states))
            events["found"][:] = 0

    def _run_data(self) -> LaneRecord:
        """The records of a run in all lanes, with the memory of one thread."""
        e, tableau, n, lanes = self.ensemble, self.tableau, self.n, self.ensemble.lanes
        room = ROOM + MOST * len(e.directions)

        def integers(size: int) -> IntArray:
            return np.zeros((size, lanes), dtype=np.int64)

        return LaneRecord(
            RunData,
            lanes,
            rate=CompiledFunction(e.rhs),
            n=n,
            steered=max(self._steered, 1),
            block=aligned(e.h.shape[1], lanes),
            time=aligned(1, lanes),
            t_end=e.t1,
            max_step=self.max_step,
            **{name: aligned(n, lanes) for name in ("y", "new", "between")},
            k=aligned((tableau.stages + 1 + len(tableau.extra)) * n, lanes),
            tolerances=self._allowed.reshape(-1),
            n_quaternions=0 if e.manifold else len(e.quaternions),
            quaternions=np.array([*e.quaternions], dtype=np.int64),
            sizes=aligned(1, lanes),
            interpolants=aligned(tableau.coefficients * n, lanes),
            events=self._event_data(),
            constraints=self._constraint_data(),
            contacts=LaneRecord(ContactData, lanes),
            sampling=LaneRecord(CaseData, lanes, ensemble=self._data, number=-1, cases=integers(room)),
        )

    def _event_data(self) -> LaneRecord:
        e, n, lanes, events = self.ensemble, self.n, self.ensemble.lanes, len(self.ensemble.directions)
        if not events:
            return LaneRecord(EventData, lanes)
        room = ROOM + MOST * events
        return LaneRecord(
            EventData,
            lanes,
            function=CompiledFunction(e.events),
            n=events,
            directions=np.array(e.directions, dtype=np.int64),
            left=np.zeros((events, lanes), dtype=np.int64),
            noise=aligned(events, lanes),
            beyond=np.full(events, np.inf),
            values=aligned(loop_abi.ROWS * events, lanes),
            tried=aligned(events, lanes),
            within=aligned(n, lanes),
            room=ROOM,
            which=np.zeros((room, lanes), dtype=np.int64),
            times=aligned(room, lanes),
            states=aligned(room * n, lanes),
            **{name: aligned(MOST + 1, lanes) for name in ("x", "f")},
        )

    def _constraint_data(self) -> LaneRecord:
        m, n, lanes = self.ensemble.manifold, self.n, self.ensemble.lanes
        if m is None:
            return LaneRecord(ConstraintData, lanes)
        speeds = np.zeros(n)
        speeds[slice(*m.speeds)] = 1.0
        return LaneRecord(
            ConstraintData,
            lanes,
            position=CompiledFunction(m.position),
            velocity=CompiledFunction(m.velocity),
            velocity_steps=m.steps,
            watched=len(m.largest),
            pivots=n - len(m.largest),
            largest=aligned(len(m.largest), lanes),
            speeds=speeds,
            **{name: aligned(n, lanes) for name in ("before", "after")},
        )


def _flat(x: FloatArray) -> FloatArray:
    return np.ascontiguousarray(x, dtype=float).reshape(-1)


def aligned(*shape: int) -> FloatArray:
    """Zeros at an address aligned for vectors."""
    size = int(np.prod(shape))
    memory = np.zeros(size + _ALIGNED // 8)
    start = -memory.ctypes.data % _ALIGNED // 8
    return memory[start : start + size].reshape(shape)


def cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
