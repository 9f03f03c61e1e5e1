"""Runs of the native integration loop: memory, pauses, dense output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray, address
from kineta.integration import loop_abi
from kineta.integration.error_control import error_tolerances, first_steps
from kineta.integration.problem import Events, Problem, perturbation_signs
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW, Segment
from kineta.numerics.roots import MOST
from kineta.numerics.tableaux import Tableau

#: Largest number of steps between two pauses, and bytes of their record.
CHUNK, CHUNK_BYTES = 4096, 2**26
#: Target duration between two pauses [s].
PAUSE = 0.1
#: Event zeros stored between two pauses, in addition to those of the last step.
_ZEROS = 64
#: Smallest number of steps between two pauses.
_FEW = 16
#: Reasons for a failure, by the return value of the loop.
FAILURES = {loop_abi.STEP_TOO_SMALL: STEP_UNDERFLOW, loop_abi.NOT_FINITE: NOT_FINITE}


class NativeRun:
    """A native method applied to a problem; iterate over it for its segments, from one pause of the loop to the next.

    *integrate* is the compiled loop of the method *tableau*, a function of addresses as in
    :mod:`kineta.integration.loop_abi`, for at most *max_steps* steps.
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
        self.n, self.left = len(problem.y0), max_steps
        none = np.zeros(0, dtype=np.int64)
        self._events = problem.events or Events(0, none, none, np.zeros(0), np.zeros(0))
        self._dense = dense or self._events.n > 0
        self.padded = -(-max(self.n, self._events.n, 1) // loop_abi.LANES) * loop_abi.LANES
        per_step = 8 * self.padded * (1 + tableau.coefficients * self._dense) + 8
        self.chunk = int(max(_FEW, min(CHUNK, CHUNK_BYTES // per_step)))
        self._memory = self._blocks(max_step, rtol, atol)
        self._ints, self._reals = self._memory["ints"], self._memory["reals"]
        # Addresses are computed once: each takes as long as a step.
        self._addresses = [address(self._memory[name]) for name in loop_abi.BLOCKS]
        self._start(first_step)

    def _blocks(self, max_step: float, rtol: float, atol: float) -> dict[str, Any]:
        """The blocks of :mod:`kineta.integration.loop_abi` by name."""
        p, events, tableau, padded = self.problem, self._events, self.tableau, self.padded
        ints = np.zeros(loop_abi.INTS, dtype=np.int64)
        ints[[loop_abi.N, loop_abi.N_PADDED, loop_abi.N_QUATERNIONS]] = max(p.steering, 1), padded, len(p.quaternions)
        ints[[loop_abi.N_EVENTS, loop_abi.ROOM, loop_abi.DENSE]] = events.n, _ZEROS, self._dense
        largest, speeds = np.zeros(0), np.zeros(padded)
        if p.manifold is not None:
            largest = p.manifold.largest.copy()
            speeds[slice(*p.manifold.speeds)] = 1.0
            ints[[loop_abi.WATCHED, loop_abi.PIVOTS]] = len(largest), self.n - len(largest)
            ints[[loop_abi.VELOCITY, loop_abi.N_QUATERNIONS]] = p.manifold.steps, 0
        y = np.zeros(padded)
        y[: self.n] = p.y0
        steps = np.array([np.ones(padded), np.zeros(padded)])
        steps[:, : self.n] = error_tolerances(self.n, p.integrals, rtol, atol)
        room, rows = _ZEROS + MOST * events.n, self.chunk + 1
        return {
            "h": np.array(p.h),
            "reals": np.array([p.t0, 0.0, p.t1, max_step, 1.0, 0.0, 0.0, 0.0, p.t0]),
            "ints": ints,
            "y": y,
            "k": np.zeros((tableau.stages + 1 + len(tableau.extra), padded)),
            "work": np.zeros((loop_abi.WORK, padded)),
            "tolerances": steps,
            "quaternions": np.array([*p.quaternions], dtype=np.int64),
            "times": np.empty(rows),
            "states": np.empty((rows, padded)),
            "sizes": np.empty(rows),
            "dense": np.empty((rows * self._dense, tableau.coefficients, padded)),
            "directions": events.directions,
            "left": events.left,
            "noise": events.noise,
            "beyond": events.beyond,
            "which": np.empty(room, dtype=np.int64),
            "zero_times": np.empty(room),
            "zero_states": np.empty((room, padded)),
            "largest": largest,
            "speeds": speeds,
            "bounce_h": np.empty(0),
            "touches": np.empty(0, dtype=np.int64),
            "bounces": np.empty(0),
            "given": np.empty(0),
            "turns": np.full(events.n, -1),
            "least": np.zeros(events.n),
            "tried_h": np.empty(0),
            "trials": np.zeros((loop_abi.TRIALS, padded)),
            "energies": np.empty(0),
            "signs": self._signs(),
            "normals": np.full(events.n, -1),
            "strikes": np.zeros(events.n, dtype=np.int64),
            "partners": np.full(events.n, -1),
            "kept": np.empty(0),
            "leaving": np.zeros(events.n),
            "falls": np.zeros(events.n),
            "changing": np.empty(rows, dtype=np.int64),
            "changed_rows": np.empty(rows, dtype=np.int64),
            "approaches": np.empty(rows),
            "flags": np.empty(0),
        }

    def _signs(self) -> FloatArray:
        """Directions of the perturbed states at which events are evaluated."""
        found = np.zeros((loop_abi.DIRECTIONS, self.padded))
        if self._events.n:
            found[:, : self.n] = perturbation_signs(loop_abi.DIRECTIONS, self.n)
        return found

    def _rate(self, t: float, y: FloatArray) -> FloatArray:
        self._ints[loop_abi.EVALUATIONS] += 1
        return self.problem.rate(t, y)

    def _rates(self, t: FloatArray, y: FloatArray) -> FloatArray:
        return np.array([self._rate(float(t[0]), y[0])])

    def _start(self, first_step: float | None) -> None:
        """Evaluate the first derivative, the first event values, and the initial step size."""
        p, began = self.problem, time.perf_counter()
        f0 = self._rate(p.t0, p.y0)
        self._pace(1, self.tableau.stages * (time.perf_counter() - began))
        self._memory["k"][0, : self.n] = f0
        self._reals[loop_abi.LOW] = self._low(f0)
        if first_step is None:
            steered, order = self._memory["tolerances"][:, : p.steering], self.tableau.error_order
            (first_step,) = first_steps(self._rates, p.t0, p.t1, p.y0[None], f0[None], steered, order)
        self._reals[loop_abi.H] = first_step
        if p.events is not None:
            self._memory["work"][loop_abi.BEFORE, : p.events.n] = p.event_values(p.t0, p.y0)
        self._let_change(p)

    def _low(self, rate: FloatArray) -> float:
        """The smallest pivot of a constraint, relative to its largest value so far."""
        largest = self._memory["largest"]
        if not len(largest):
            return 1.0
        sizes = np.abs(rate[self.n - len(largest) :])
        return float(np.min(np.divide(sizes, largest, out=np.ones_like(sizes), where=largest > 0), initial=1.0))

    def go_on(self, t1: float, h: FloatArray, y: FloatArray | None = None) -> None:
        """Continue to the time *t1* with another block *h*, optionally from another state *y*; the rate is evaluated anew,
        the step size stays.
        """
        if y is not None:
            self._memory["y"][: self.n] = y
        t, y = float(self._reals[loop_abi.T]), self._memory["y"][: self.n].copy()
        self.problem = replace(self.problem, h=h, t0=t, t1=t1, y0=y)
        self._memory["h"][:] = h
        self._reals[loop_abi.T_END] = t1
        self._memory["k"][0, : self.n] = self._rate(t, y)

    def restart(self, problem: Problem, longest: float) -> None:
        """Continue with another problem of the same size, with a next step of at most *longest*. Events at zero at its start
        are no zeros of the run.
        """
        self._put("h", problem.h)
        self.problem, self._events = problem, problem.events or self._events
        self._reals[loop_abi.T], self._reals[loop_abi.T_END] = problem.t0, problem.t1
        self._memory["y"][: self.n] = problem.y0
        self._reals[loop_abi.H] = min(self._reals[loop_abi.H], longest)
        for place in (loop_abi.ENDED, loop_abi.JUST_REJECTED, loop_abi.HOPS):
            self._ints[place] = 0
        self._ints[loop_abi.ANEW] = 1
        self._let_change(problem)

    def _put(self, name: str, values: FloatArray | IntArray) -> None:
        """Replace the values of the block *name*."""
        if len(values) != len(self._memory[name]):
            self._memory[name] = np.array(values)
            self._addresses[loop_abi.BLOCKS.index(name)] = address(self._memory[name])
        self._memory[name][:] = values

    def _let_change(self, problem: Problem) -> None:
        """Enable discrete transitions of contacts in the loop, as far as the *problem* allows."""
        self._ints[[loop_abi.BOUNCE, loop_abi.FLYING, loop_abi.TURN, loop_abi.N_FLAGS]] = 0
        self._memory["strikes"][:] = 0
        bounces, trials = problem.bounces, problem.trials
        if bounces is not None:
            self._ints[[loop_abi.BOUNCE, loop_abi.SPEEDS, loop_abi.WORK_DONE]] = (
                bounces.numbers,
                bounces.speeds,
                bounces.work,
            )
            self._ints[[loop_abi.FIRST, loop_abi.FLYING]] = bounces.first, bounces.flying
            self._reals[[loop_abi.SAME, loop_abi.FASTEST]] = bounces.same, bounces.fastest
            self._put("bounce_h", bounces.h)
            self._put("touches", bounces.touches)
            self._put("bounces", np.zeros(bounces.numbers * bounces.rows))
        if trials is not None:
            self._ints[[loop_abi.TURN, loop_abi.FIRST, loop_abi.WORK_DONE]] = 1, trials.first, trials.work
            self._ints[[loop_abi.SIZE, loop_abi.GIVEN]] = len(problem.h), len(trials.given)
            self._ints[[loop_abi.FLAGGED, loop_abi.N_FLAGS]] = trials.flags
            self._reals[[loop_abi.SAME, loop_abi.UNTIL, loop_abi.CHANGED]] = trials.same, trials.until, problem.t0
            if bounces is not None:
                self._memory["strikes"][:] = trials.striking
            blocks: dict[str, FloatArray | IntArray] = {
                "given": trials.given,
                "kept": trials.given,
                "least": trials.least,
                "turns": trials.turning,
                "normals": trials.normals,
                "partners": trials.partners,
                "tried_h": np.empty(2 * len(problem.h)),
                "energies": np.empty(trials.size),
                "flags": np.empty((self.chunk + 1) * trials.flags[1]),
            }
            for name, values in blocks.items():
                self._put(name, values)

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return int(self._ints[loop_abi.EVALUATIONS])

    @property
    def rejected(self) -> int:
        """Rejected steps so far."""
        return int(self._ints[loop_abi.REJECTED])

    def _pace(self, steps: int, seconds: float) -> None:
        """Choose the number of steps up to the next pause from the duration of the last *steps*."""
        self._steps = int(min(max(_FEW, PAUSE * steps / max(seconds, 1e-9)), self.chunk))

    def __iter__(self) -> Iterator[Segment]:
        """Segments up to the end, a failure, the last wanted event zero, or the last allowed step."""
        while self.left:
            segment = self._segment()
            yield segment
            if segment.end is not None or self._ints[loop_abi.ENDED]:
                return

    def _segment(self) -> Segment:
        t0, y0 = float(self._reals[loop_abi.T]), self._memory["y"][: self.n].copy()
        self._ints[loop_abi.ALLOWED] = min(self._steps, self.left)
        for place in (loop_abi.ACCEPTED, loop_abi.FOUND, loop_abi.LOOK, loop_abi.MADE):
            self._ints[place] = 0
        began = time.perf_counter()
        m = self.problem.manifold
        back = (m.position, m.velocity) if m is not None else (0, 0)
        bounces, trials = self.problem.bounces, self.problem.trials
        bounce = 0 if bounces is None else bounces.address
        observed, setup = (0, 0) if trials is None else (trials.observed, trials.setup)
        functions = (self.problem.rhs, self._events.address, *back, bounce, observed, setup)
        status = self._integrate(*functions, *self._addresses)
        wanted = (loop_abi.ACCEPTED, loop_abi.FOUND, loop_abi.LOOK, loop_abi.MADE)
        k, found, odd, made = (int(self._ints[i]) for i in wanted)
        self._pace(k, time.perf_counter() - began)
        self.left -= k - made
        if made and trials is not None:
            self.problem = replace(self.problem, h=self._memory["h"].copy())
        t, y, sizes, dense = (self._memory[name][:k] for name in ("times", "states", "sizes", "dense"))
        jumps = [self._memory[name][:made].copy() for name in ("changing", "changed_rows", "approaches")]
        flags = 0 if trials is None else trials.flags[1]
        after = self._memory["flags"][: made * flags].reshape(made, flags).copy()
        which, times, states = (self._memory[name][:found] for name in ("which", "zero_times", "zero_states"))
        zeros = which.copy(), times.copy(), states[:, : self.n].copy()
        t, y = t.copy(), y[:, : self.n].copy()
        solution = None
        if self._dense:
            ends = np.concatenate([[t0], t]), np.concatenate([y0[None], y])
            solution = DenseOutput(*ends, sizes.copy(), dense[..., : self.n].copy())
        end = None if status in (loop_abi.PAUSED, loop_abi.EVENT) else FAILURES.get(status, "")
        changed = jumps[0], jumps[1], jumps[2], after
        return Segment(t0, y0, t, y, solution, end, bool(odd), zeros, changed, self.problem)


class DenseOutput:
    """The solution between the first and the last step: a function t -> (n,) or (n, len(t)).

    t, y : times (k + 1,) and states (k + 1, n) at the ends of steps of some *sizes* (k,), with interpolants (k, coefficients,
        n)

    At the ends of steps it returns the states themselves, without the rounding errors of interpolants.
    """

    def __init__(self, t: FloatArray, y: FloatArray, sizes: FloatArray, coefficients: FloatArray) -> None:
        self._t, self._y, self.sizes, self.coefficients = t, y, sizes, coefficients
        self._F = coefficients.swapaxes(0, 1)

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        sign = 1.0 if self._t[-1] >= self._t[0] else -1.0
        step = (sign * self._t[1:-1]).searchsorted(sign * t)
        h = self.sizes[step]
        x = (t - self._t[step]) / np.where(h == 0, 1.0, h)
        between = interpolate(self._F[:, step], x[:, None] if np.ndim(t) else x) + self._y[step]
        ends = np.equal(t, self._t[step + 1])[..., None]
        return np.where(ends, self._y[step + 1], between).T


def interpolate(F: FloatArray, x: FloatArray) -> FloatArray:
    """The increment x (F0 + (1 - x) (F1 + x (F2 + ...))) of interpolants F (coefficients, ..., n)."""
    factors, last = (x, 1 - x), len(F) - 1
    value: FloatArray = F[last] * factors[last % 2]
    for i in range(last - 1, -1, -1):
        value += F[i]
        value *= factors[i % 2]
    return value
