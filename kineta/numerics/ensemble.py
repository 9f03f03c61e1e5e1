"""Runs of many cases at once by the native loop in lanes: memory, threads, pauses."""

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

from kineta.numerics import lanes as layout
from kineta.numerics.roots import MOST, PARTS
from kineta.numerics.steering import first_steps, steering, tolerances
from kineta.numerics.tableaux import Tableau

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Steps of the lanes between two pauses at first, seconds between two pauses and between two reports, zeros of events kept
#: between two pauses.
STEPS, PAUSE, ROOM = 64, 0.05, 1024
#: Bytes that the address of a vector divides.
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Initial value problems that differ in their states and parameters.

    rhs : address of ``void f(const double *in, double *out)`` for *lanes* states; *in* holds t, y and h one after the other
    rates : the same for all cases at once, of times (cases,) and states (cases, n)
    h : (cases, nh) blocks that rhs and events share, or (1, nh) for all
    y0, rates0 : (cases, n) initial states and their rates; a case whose rate is not finite is not started
    quaternions : offsets of the unit quaternions in a state; its last *integrals* numbers do not steer the step size
    events : address of a function of one state with k results, 0 for none
    values0, left, noise : (cases, k) its initial results, and what else is known of the events, as in
        :class:`~kineta.numerics.problem.Events`; directions : (k,) likewise
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


@dataclass(frozen=True, slots=True)
class Zeros:
    """Zeros of events by case: case and event (m,), time (m,) and state (m, n)."""

    case: IntArray
    event: IntArray
    t: FloatArray
    y: FloatArray

    @classmethod
    def listed(cls, rows: Sequence[tuple[int, int, float, FloatArray]], n: int) -> Zeros:
        """Those in *rows*, with states (n,)."""
        which = np.array([row[:2] for row in rows], dtype=np.int64).reshape(len(rows), 2)
        return cls(
            which[:, 0],
            which[:, 1],
            np.array([r[2] for r in rows]),
            np.array([r[3] for r in rows]).reshape(len(rows), n),
        )

    def without(self, cases: Sequence[int]) -> Zeros:
        """Those of other *cases*."""
        rows = ~np.isin(self.case, cases)
        return Zeros(self.case[rows], self.event[rows], self.t[rows], self.y[rows])

    def and_also(self, others: Zeros) -> Zeros:
        """Both, by case; those of one case stay in their order."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in ("case", "event", "t", "y"))
        case, event, t, y = map(np.concatenate, pairs)
        order = np.argsort(case, kind="stable")
        return Zeros(case[order], event[order], t[order], y[order])


class Runs:
    """Integrations of all cases of an ensemble.

    *integrate* is the compiled loop of the method *tableau* in lanes, a function of addresses as in
    :mod:`kineta.numerics.lanes`; *grid* are the times to record.

    Attributes
    ----------
    counts : (cases, COUNTS) how the cases stand, as in :mod:`kineta.numerics.lanes`
    t, y, size : (cases,), (cases, n), (cases,) how far they have come, and the size of the last step
    samples : (cases, len(grid), n) states at the times of the grid that were reached, NaN beyond
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
        allowed, steered = tolerances(self.n, e.integrals, rtol, atol), steering(self.n, e.integrals)
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
        self._zeros: list[Zeros] = []
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
        """Number of cases that have ended."""
        return int(np.count_nonzero(self.counts[:, layout.STATUS] >= layout.DONE))

    @property
    def evaluations(self) -> IntArray:
        """Evaluations of the right-hand side for every case."""
        c, tableau = self.counts, self.tableau
        tried = c[:, layout.ACCEPTED] + c[:, layout.REJECTED]
        return 2 + tried * tableau.stages + c[:, layout.DENSE] * len(tableau.extra)

    @property
    def zeros(self) -> Zeros:
        """Zeros of events found so far: by case, those of a case in the order of the motion."""
        found = [Zeros.listed([], self.n), *self._zeros]
        case, event, t, y = (np.concatenate([getattr(z, f) for z in found]) for f in ("case", "event", "t", "y"))
        order = np.lexsort((event, abs(t - self.ensemble.t0), case))
        return Zeros(case[order], event[order], t[order], y[order])

    def run(self, threads: int, at: Callable[[int], None]) -> None:
        """Carry all cases to their ends, and report how many have ended; an interruption leaves them where they are."""
        stop = Flag()
        with ThreadPoolExecutor(threads) as pool:
            waiting = {pool.submit(self._work, stop) for _ in range(threads)}
            try:
                while waiting:
                    done, waiting = wait(waiting, PAUSE)
                    for future in done:
                        future.result()
                    at(self.ended)
            finally:
                stop.set()

    def _work(self, stop: Flag) -> None:
        """One thread: take cases until there are none, or until it is told to stop."""
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
                self._zeros.append(Zeros(case, event, reals[:, 0], reals[:, 1:]))
                allowed[layout.LOGGED] = 0
            if status == layout.ALL_DONE:
                return

    def _own(self) -> dict[str, NDArray[Any]]:
        """The memory of one thread."""
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
    """Zeros whose address a vector can have."""
    size = int(np.prod(shape))
    memory = np.zeros(size + _ALIGNED // 8)
    start = -memory.ctypes.data % _ALIGNED // 8
    return memory[start : start + size].reshape(shape)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
