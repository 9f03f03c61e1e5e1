"""Runs of the native integrator: memory, pauses, dense output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.numerics import layout
from kineta.numerics.problem import Events, Problem
from kineta.numerics.steering import first_steps, tolerances
from kineta.numerics.tableaux import Tableau

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Steps between two pauses at most, the bytes that their record may take, and how long they should take [s].
CHUNK, CHUNK_BYTES, PAUSE = 4096, 2**26, 0.1
#: Zeros of events that are kept between two pauses, and those of one step.
_ZEROS = 64
#: Steps between two pauses at least, unless no more are allowed.
_FEW = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """Accepted steps: times at their ends, (k,), states there, (k, n), and interpolants, (k, coefficients, n) or None.

    ``t0`` and ``y0`` are where the first of them starts. ``zeros`` are those of events: which event's, (m,), times (m,) and
    states (m, n), in the order of the steps, but in any order within one. ``status`` is what the loop returned after the last
    step, and ``odd`` whether it could not tell what the events did over that one; then none of its zeros are among them.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    dense: FloatArray | None
    zeros: tuple[IntArray, FloatArray, FloatArray]
    status: int
    odd: bool


class Run:
    """An integration in progress: iterate over it to get it piece by piece.

    *integrate* is the compiled loop of the method *tableau*, a function of addresses as in :mod:`kineta.numerics.layout`.
    It makes *max_steps* steps at most.
    """

    def __init__(
        self,
        tableau: Tableau,
        integrate: Callable[..., int],
        problem: Problem,
        *,
        rtol: float,
        atol: float,
        max_step: float = np.inf,
        first_step: float | None = None,
        max_steps: int = sys.maxsize,
        dense: bool = False,
    ) -> None:
        self.tableau = tableau
        self.problem = problem
        self._integrate = integrate
        n = len(problem.y0)
        self.n = n
        none = np.zeros(0, dtype=np.int64)
        events = problem.events or Events(0, none, none, none.astype(np.float64))
        self.padded = -(-max(n, events.n, 1) // layout.LANES) * layout.LANES
        self._ints = np.zeros(layout.INTS, dtype=np.int64)
        steering = max(problem.steering, 1)
        self._ints[[layout.N, layout.N_PADDED, layout.N_EVENTS]] = steering, self.padded, events.n
        self._ints[layout.N_QUATERNIONS] = len(problem.quaternions)
        dense = dense or events.n > 0
        self._ints[layout.DENSE] = dense
        self._reals = np.array([problem.t0, 0.0, problem.t1, max_step])
        self._y = np.zeros(self.padded)
        self._y[:n] = problem.y0
        self._k = np.zeros((tableau.stages + 1 + len(tableau.extra), self.padded))
        self._work = np.zeros((layout.WORK, self.padded))
        self._tolerances = np.ones((2, self.padded))
        self._tolerances[1] = 0.0
        self._tolerances[:, :n] = tolerances(n, problem.integrals, rtol, atol)
        per_step = 8 * self.padded * (1 + tableau.coefficients * dense) + 8
        self.chunk = int(max(_FEW, min(CHUNK, CHUNK_BYTES // per_step)))
        self.left = max_steps
        interpolants = (self.chunk if dense else 0, tableau.coefficients, self.padded)
        self._record = np.empty(self.chunk), np.empty((self.chunk, self.padded)), np.empty(interpolants)
        room = _ZEROS + events.n
        self._ints[layout.ROOM] = _ZEROS
        self._zeros = np.empty(room, dtype=np.int64), np.empty(room), np.empty((room, self.padded))
        blocks = (np.ascontiguousarray(problem.h), self._reals, self._ints, self._y, self._k, self._work)
        quaternions = np.array([*problem.quaternions], dtype=np.int64)
        self._blocks = (
            *blocks,
            self._tolerances,
            quaternions,
            *self._record,
            events.directions,
            events.left,
            events.noise,
            *self._zeros,
        )
        self._events = events
        # Looked up once: an address takes as long to find as a step to make.
        self._addresses = [b.ctypes.data for b in self._blocks]
        self._start(first_step)

    def _rate(self, t: float, y: FloatArray) -> FloatArray:
        self._ints[layout.EVALUATIONS] += 1
        return self.problem.rate(t, y)

    def _rates(self, t: FloatArray, y: FloatArray) -> FloatArray:
        return np.array([self._rate(float(t[0]), y[0])])

    def _start(self, first_step: float | None) -> None:
        """First derivative, first event values, and the step to try first."""
        p, began = self.problem, time.perf_counter()
        f0 = self._rate(p.t0, p.y0)
        self._pace(1, self.tableau.stages * (time.perf_counter() - began))
        self._k[0, : self.n] = f0
        if first_step is None:
            steered, order = self._tolerances[:, : p.steering], self.tableau.error_order
            (first_step,) = first_steps(self._rates, p.t0, p.t1, p.y0[None], f0[None], steered, order)
        self._reals[layout.H] = first_step
        if p.events is not None:
            self._work[layout.BEFORE, : p.events.n] = p.event_values(p.t0, p.y0)

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return int(self._ints[layout.EVALUATIONS])

    @property
    def rejected(self) -> int:
        """Steps tried in vain so far."""
        return int(self._ints[layout.REJECTED])

    def _pace(self, steps: int, seconds: float) -> None:
        """Choose how many steps to make without a pause, from how long the last *steps* have taken."""
        self._steps = int(min(max(_FEW, PAUSE * steps / max(seconds, 1e-9)), self.chunk))

    def __iter__(self) -> Iterator[Piece]:
        """Pieces until the end, a failure, the last zero wanted of an event, or the last step allowed."""
        while self.left:
            piece = self._piece()
            yield piece
            if piece.status not in (layout.PAUSED, layout.EVENT) or self._ints[layout.ENDED]:
                return

    def _piece(self) -> Piece:
        t0, y0 = float(self._reals[layout.T]), self._y[: self.n].copy()
        self._ints[layout.ALLOWED] = min(self._steps, self.left)
        self._ints[[layout.ACCEPTED, layout.FOUND, layout.LOOK]] = 0
        began = time.perf_counter()
        status = self._integrate(self.problem.rhs, self._events.address, *self._addresses)
        k, m, odd = (int(self._ints[i]) for i in (layout.ACCEPTED, layout.FOUND, layout.LOOK))
        self._pace(k, time.perf_counter() - began)
        self.left -= k
        times, states, interpolants = self._record
        dense = interpolants[:k, :, : self.n].copy() if self._ints[layout.DENSE] else None
        which, when, where = self._zeros
        zeros = which[:m].copy(), when[:m].copy(), where[:m, : self.n].copy()
        return Piece(t0, y0, times[:k].copy(), states[:k, : self.n].copy(), dense, zeros, status, bool(odd))


class DenseOutput:
    """The solution at any time between the first and the last step: a function t -> (n,) or (n, len(t))."""

    def __init__(self, t: FloatArray, y: FloatArray, coefficients: FloatArray) -> None:
        self._t, self._y, self._F = t, y, coefficients

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        forwards = self._t[-1] >= self._t[0]
        knots = self._t if forwards else -self._t
        step = np.clip(np.searchsorted(knots, times if forwards else -times, side="left") - 1, 0, len(self._F) - 1)
        h = self._t[step + 1] - self._t[step]
        x = ((times - self._t[step]) / np.where(h == 0, 1.0, h))[:, None]
        value = interpolate(self._F[step], x) + self._y[step]
        return value[0] if np.ndim(t) == 0 else value.T


def interpolate(F: FloatArray, x: FloatArray) -> FloatArray:
    """Increment x (F0 + (1 - x) (F1 + x (F2 + ...))) of interpolants F (..., coefficients, n)."""
    value = np.zeros_like(F[..., 0, :])
    for i in range(F.shape[-2] - 1, -1, -1):
        value = (value + F[..., i, :]) * (x if i % 2 == 0 else 1 - x)
    return value
