"""Runs of the native integrator: memory, pauses, dense output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.numerics import native
from kineta.numerics.tableaux import Tableau

FloatArray = NDArray[np.float64]

#: Steps between two looks at the clock, and the bytes that their record may take.
CHUNK, CHUNK_BYTES = 4096, 2**26


@dataclass(frozen=True, slots=True)
class Problem:
    """An initial value problem in machine code.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot)``
    h : the block that rhs and events share
    y0 : (n,) initial state; quaternions : offsets of the unit quaternions in it
    events : address of a function as rhs with ``n_events`` results, 0 for none
    """

    rhs: int
    h: FloatArray
    t0: float
    t1: float
    y0: FloatArray
    quaternions: Sequence[int] = ()
    events: int = 0
    n_events: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Accepted steps: times at their ends, (k,), states there, (k, n), and interpolants, (k, coefficients, n) or None.

    ``t0`` and ``y0`` are where the first of them starts. ``status`` is what the loop returned after the last of them.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    dense: FloatArray | None
    status: int


class Run:
    """An integration in progress: iterate over it to get it piece by piece."""

    def __init__(
        self,
        tableau: Tableau,
        problem: Problem,
        *,
        rtol: FloatArray | float,
        atol: FloatArray | float,
        max_step: float = np.inf,
        first_step: float | None = None,
        dense: bool = False,
    ) -> None:
        self.tableau = tableau
        self.problem = problem
        self._loop = native.integrator(tableau)
        n = len(problem.y0)
        self.n = n
        self.padded = -(-max(n, problem.n_events, 1) // native.LANES) * native.LANES
        self._ints = np.zeros(10, dtype=np.int64)
        self._ints[[native.N, native.N_PADDED, native.N_EVENTS]] = n, self.padded, problem.n_events
        self._ints[native.N_QUATERNIONS] = len(problem.quaternions)
        self._ints[native.DENSE] = dense
        self._reals = np.array([problem.t0, 0.0, problem.t1, max_step, problem.t0])
        self._y = np.zeros(self.padded)
        self._y[:n] = problem.y0
        self._k = np.zeros((tableau.stages + 1 + len(tableau.extra), self.padded))
        self._work = np.zeros((4, self.padded))
        self._tolerances = np.ones((2, self.padded))
        self._tolerances[0, :n], self._tolerances[1] = atol, 0.0
        self._tolerances[1, :n] = rtol
        self._quaternions = np.array([*problem.quaternions], dtype=np.int64)
        per_step = 8 * self.padded * (1 + tableau.coefficients * dense) + 8
        self.chunk = int(max(16, min(CHUNK, CHUNK_BYTES // per_step)))
        self._h = np.ascontiguousarray(problem.h)
        self._start(first_step)

    def _call(self, address: int, t: float, y: FloatArray, out: FloatArray) -> None:
        argument = np.array([t])
        native.call(address, argument.ctypes.data, y.ctypes.data, self._h.ctypes.data, out.ctypes.data)

    def derivative(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        out = np.zeros(self.padded)
        padded = np.zeros(self.padded)
        padded[: self.n] = y
        self._call(self.problem.rhs, t, padded, out)
        self._ints[native.EVALUATIONS] += 1
        return out[: self.n]

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n_events,)."""
        out = np.zeros(self.padded)
        padded = np.zeros(self.padded)
        padded[: self.n] = y
        self._call(self.problem.events, t, padded, out)
        return out[: self.problem.n_events]

    def _start(self, first_step: float | None) -> None:
        """First derivative, first event values, and the step to try first (Hairer, II.4)."""
        p = self.problem
        f0 = self.derivative(p.t0, p.y0)
        self._k[0, : self.n] = f0
        if p.n_events:
            self._work[2, : p.n_events] = self.event_values(p.t0, p.y0)
        self._reals[native.H] = self._first_step(f0) if first_step is None else first_step

    def _first_step(self, f0: FloatArray) -> float:
        p, span = self.problem, abs(self.problem.t1 - self.problem.t0)
        scale = self._tolerances[0, : self.n] + self._tolerances[1, : self.n] * np.abs(p.y0)

        def norm(x: FloatArray) -> float:
            return float(np.sqrt(np.mean((x / scale) ** 2))) if len(x) else 0.0

        d0, d1 = norm(p.y0), norm(f0)
        h0 = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
        if not np.isfinite(h0) or h0 == 0.0:
            return min(1e-6, span)
        direction = np.sign(p.t1 - p.t0)
        f1 = self.derivative(p.t0 + direction * h0, p.y0 + direction * h0 * f0)
        with np.errstate(invalid="ignore"):  # a rate that is not finite there makes the first step h0
            d2 = norm(f1 - f0) / h0
        largest = max(d1, d2)
        h1 = max(1e-6, h0 * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1 / self.tableau.error_order)
        h1 = h1 if np.isfinite(h1) else h0
        return float(min(100 * h0, h1, span))

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return int(self._ints[native.EVALUATIONS])

    @property
    def rejected(self) -> int:
        """Steps tried in vain so far."""
        return int(self._ints[native.REJECTED])

    def __iter__(self) -> Iterator[Piece]:
        """Pieces until the end or a failure; the last has a status that says which."""
        while True:
            piece = self._piece()
            yield piece
            if piece.status not in (native.PAUSED, native.EVENT):
                return

    def _piece(self) -> Piece:
        t0, y0 = float(self._reals[native.T]), self._y[: self.n].copy()
        times, states = np.empty(self.chunk), np.empty((self.chunk, self.padded))
        dense = bool(self._ints[native.DENSE])
        interpolants = np.empty((self.chunk if dense else 0, self.tableau.coefficients, self.padded))
        self._ints[[native.ACCEPTED, native.ALLOWED]] = 0, self.chunk
        arrays = (self._h, self._reals, self._ints, self._y, self._k, self._work, self._tolerances, self._quaternions)
        addresses = [a.ctypes.data for a in (*arrays, times, states, interpolants)]
        status = self._loop(self.problem.rhs, self.problem.events, *addresses)
        k = int(self._ints[native.ACCEPTED])
        kept = interpolants[:k, :, : self.n] if dense else None
        return Piece(t0, y0, times[:k].copy(), states[:k, : self.n].copy(), kept, status)


class DenseOutput:
    """The solution at any time between the first and the last step: a function t -> (n,) or (n, len(t))."""

    def __init__(self, t: FloatArray, y: FloatArray, coefficients: FloatArray) -> None:
        self.t_min, self.t_max = min(t[0], t[-1]), max(t[0], t[-1])
        self.ts = t
        self._y = y
        self._F = coefficients

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        forwards = self.ts[-1] >= self.ts[0]
        knots = self.ts if forwards else -self.ts
        step = np.clip(np.searchsorted(knots, times if forwards else -times, side="left") - 1, 0, len(self._F) - 1)
        h = self.ts[step + 1] - self.ts[step]
        x = ((times - self.ts[step]) / np.where(h == 0, 1.0, h))[:, None]
        value = interpolate(self._F[step], x) + self._y[step]
        return value[0] if np.ndim(t) == 0 else value.T


def interpolate(F: FloatArray, x: FloatArray) -> FloatArray:
    """Increment x (F0 + (1 - x) (F1 + x (F2 + ...))) of interpolants F (..., coefficients, n)."""
    value = np.zeros_like(F[..., 0, :])
    for i in range(F.shape[-2] - 1, -1, -1):
        value = (value + F[..., i, :]) * (x if i % 2 == 0 else 1 - x)
    return value
