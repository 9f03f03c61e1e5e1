"""Ensembles by the native SIMD loop: memory, threads, pauses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event as Flag
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.arrays import FloatArray, IntArray
from kineta.integration import ensemble_abi as layout
from kineta.integration.error_control import error_controlled, error_tolerances, first_steps
from kineta.integration.segment import EventZeros
from kineta.numerics.roots import MOST, PARTS
from kineta.numerics.tableaux import Tableau

#: Initial number of steps between two pauses, and event zeros stored between them.
STEPS, ROOM = 64, 1024
#: Target duration between two pauses [s].
PAUSE = 0.05
#: Alignment of vectors in bytes.
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Initial value problems that differ in states and parameters.

    rhs : address of ``void f(const double *in, double *out)`` for *lanes* states; *in* holds t, y and h one after the other
    rates : the right-hand side for all cases, of times (cases,) and states (cases, n)
    h : (cases, nh) blocks shared by rhs and events, or (1, nh) for all
    y0, rates0 : (cases, n) initial states and their rates; a case with a rate that is not finite is not started
    quaternions : offsets of the unit quaternions in a state; the last *integrals* states are quadratures
    events : address of a function of one state with k results, 0 for none
    values0, left, noise : (cases, k) initial event values, and data of the events as in
        :class:`~kineta.integration.problem.Events`; directions : (k,) likewise
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


class EnsembleRun:
    """Integrations of all cases of an ensemble.

    *integrate* is the compiled loop of the method *tableau* in lanes, a function of addresses as in
    :mod:`kineta.integration.ensemble_abi`; *grid* are the times to record.

    Attributes
    ----------
    counts : (cases, COUNTS) status and counters, as in :mod:`kineta.integration.ensemble_abi`
    t, y, size : (cases,), (cases, n), (cases,) current times and states, and sizes of the last step
    samples : (cases, len(grid), n) states at the times of the grid, NaN at times not reached
    """

    def __init__(
        self,
        tableau: Tableau,
        integrate: Callable[..., int],
        ensemble: Ensemble,
        grid: FloatArray,
        *,
        rtol: float,
        atol: float,
        max_step: float,
        max_steps: int,
    ) -> None:
        self.tableau, self.ensemble = tableau, ensemble
        self._integrate = integrate
        e = ensemble
        self.cases, self.n = e.y0.shape
        allowed, steered = error_tolerances(self.n, e.integrals, rtol, atol), error_controlled(self.n, e.integrals)
        direction = 1.0 if e.t1 > e.t0 else -1.0
        started = np.isfinite(e.rates0).all(axis=1)
        self.counts = np.zeros((self.cases, layout.COUNTS), dtype=np.int64)
        self.counts[~started, layout.STATUS] = layout.NOT_FINITE
        self.t, self.y = np.full(self.cases, float(e.t0)), np.array(e.y0)
        self.samples = np.full((self.cases, len(grid), self.n), np.nan)
        if len(grid) and grid[0] == e.t0:
            self.samples[:, 0] = e.y0
            self.counts[:, layout.RECORDED] = 1
        queue = np.flatnonzero(started)
        self.size = first_steps(e.rates, e.t0, e.t1, e.y0, e.rates0, allowed[:, :steered], tableau.error_order)
        self._zeros: list[EventZeros] = []
        shared_h = len(e.h) == 1
        quantities = (
            self.n,
            max(steered, 1),
            e.h.shape[1],
            0 if shared_h else e.h.shape[1],
            len(queue),
            len(grid),
            len(e.directions),
            len(e.quaternions),
            max_steps,
        )
        whole = [np.array(x, dtype=np.int64) for x in (quantities, e.quaternions, e.directions)]
        self._blocks: dict[str, NDArray[Any]] = {
            "sizes": whole[0],
            "reals": np.array([e.t1, max_step, direction]),
            "tolerances": np.repeat(allowed, e.lanes, axis=1),
            "quaternions": whole[1],
            "grid": np.append(grid, np.nan),
            "directions": whole[2],
            "next": np.zeros(1, dtype=np.int64),
            "queue": queue,
            "counts": self.counts,
            "t": self.t,
            "size": self.size,
            "y": self.y,
            "rate": np.array(e.rates0),
            "h": np.ascontiguousarray(e.h),
            "samples": self.samples,
            "values": e.values0,
            "left": np.array(e.left, dtype=np.int64),
            "noise": e.noise,
        }

    @property
    def ended(self) -> int:
        """Number of terminated cases."""
        return int(np.count_nonzero(self.counts[:, layout.STATUS] >= layout.DONE))

    @property
    def evaluations(self) -> IntArray:
        """Evaluations of the right-hand side for every case."""
        c, tableau = self.counts, self.tableau
        tried = c[:, layout.ACCEPTED] + c[:, layout.REJECTED]
        return 2 + tried * tableau.stages + c[:, layout.DENSE] * len(tableau.extra)

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
                at(self.ended)
        finally:
            stop.set()
            pool.shutdown()

    def _work(self, stop: Flag) -> None:
        """The work of one thread: take cases until none is left, or until *stop*."""
        e = self.ensemble
        own = self._own()
        blocks = [(self._blocks | own)[name] for name in layout.BLOCKS]
        addresses = [b.ctypes.data for b in blocks]
        allowed, steps = own["allowed"], STEPS
        while not stop.is_set():
            allowed[layout.STEPS], began = steps, time.perf_counter()
            status = self._integrate(e.rhs, e.events, *addresses)
            steps = 2 * steps if time.perf_counter() - began < PAUSE / 2 else max(steps // 2, STEPS)
            if logged := allowed[layout.LOGGED]:
                case, event = own["log"][:logged].T.copy()
                reals = own["log_reals"][:logged].copy()
                self._zeros.append(EventZeros(case, event, reals[:, 0], reals[:, 1:]))
                allowed[layout.LOGGED] = 0
            if status == layout.ALL_DONE:
                return

    def _own(self) -> dict[str, NDArray[Any]]:
        """The workspace of one thread."""
        e, tableau, n, lanes = self.ensemble, self.tableau, self.n, self.ensemble.lanes
        events = len(e.directions)
        room = max(ROOM, 2 * lanes * events * MOST)
        lane = np.zeros((layout.LANE, lanes), dtype=np.int64)
        lane[layout.CASE] = -1
        return {
            "allowed": np.array([0, 0, room]),
            "lane": lane,
            "lane_reals": aligned(layout.LANE_REALS, lanes),
            "x": aligned(1 + n + e.h.shape[1], lanes),
            "lane_y": aligned(n, lanes),
            "k": aligned(tableau.stages + 1 + len(tableau.extra), n, lanes),
            "work": aligned(layout.WORK, n, lanes),
            "dense": aligned(tableau.coefficients, n, lanes),
            "within": aligned(len(PARTS) - 2, n, lanes),
            "known": np.zeros((lanes, len(PARTS), events)),
            "lane_noise": np.zeros((lanes, events)),
            "between": np.zeros(n),
            "tried": np.zeros(events),
            "zeros": np.zeros(events * MOST),
            "zeros_of": np.zeros(events * MOST, dtype=np.int64),
            "log": np.zeros((room if events else 0, 2), dtype=np.int64),
            "log_reals": np.zeros((room if events else 0, 1 + n)),
        }


def aligned(*shape: int) -> FloatArray:
    """Zeros at an address aligned for vectors."""
    size = int(np.prod(shape))
    memory = np.zeros(size + _ALIGNED // 8)
    start = -memory.ctypes.data % _ALIGNED // 8
    return memory[start : start + size].reshape(shape)


def cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
