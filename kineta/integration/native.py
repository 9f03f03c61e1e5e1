"""Runs of the native integration loop: memory, pauses, dense output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import copysign

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.integration import loop_abi
from kineta.integration.loop_abi import ContactData, RunData, SwitchData
from kineta.integration.problem import Problem
from kineta.integration.run_memory import (
    RunForm,
    functions,
    run_form,
    run_memory,
    set_contacts,
    set_functions,
    set_switches,
)
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW, EventRows, Segment, Transitions
from kineta.numerics.tableaux import Tableau

#: Largest number of steps between two pauses, and bytes of their record.
CHUNK, CHUNK_BYTES = 4096, 2**26
#: Target duration between two pauses [s].
PAUSE = 0.1
#: Smallest number of steps between two pauses, and with contacts the number, times the square of that of states.
_FEW, STEADY = 16, 2**15
#: Reasons for a failure, by the return value of the loop.
FAILURES = {loop_abi.STEP_TOO_SMALL: STEP_UNDERFLOW, loop_abi.NOT_FINITE: NOT_FINITE}


def _form(tableau: Tableau, problem: Problem, rtol: float, atol: float, *, dense: bool) -> tuple[bool, int, RunForm]:
    """Whether the loop keeps interpolants for a *problem*, asked for or not; the number of steps for which there is room; and the
    form of the memory.
    """
    events, kinks, switching = problem.events, problem.kinks, problem.switching
    dense = (
        dense
        or (events is not None and events.n > 0)
        or (kinks is not None and kinks.numbers[0] + kinks.heeded(rtol) > 0)
    )
    per_step = 8 * len(problem.y0) * (1 + tableau.coefficients * dense) + 8
    few = _FEW if switching is None else 2 * loop_abi.AT_ONCE * (1 + len(switching.stops))
    chunk = int(max(few, min(CHUNK, CHUNK_BYTES // per_step)))
    return dense, chunk, run_form(tableau, problem, chunk, rtol=rtol, atol=atol, dense=dense)


class NativeRun:
    """A native method applied to a problem; iterate over it for its segments, from one pause of the loop to the next.

    *integrate* is the compiled loop of the method *tableau*, a function of the record of a run, for at most *max_steps* steps;
    a *first_step* of zero is found from the rates.
    """

    def __init__(
        self,
        tableau: Tableau,
        integrate: Callable[[RunData], int],
        problem: Problem,
        *,
        rtol: float,
        atol: float,
        max_step: float = np.inf,
        first_step: float = 0.0,
        max_steps: int = sys.maxsize,
        dense: bool = False,
    ) -> None:
        self.tableau = tableau
        self.problem = problem
        self._integrate = integrate
        self.n, self.left = len(problem.y0), max_steps
        key = tableau, rtol, atol, dense
        if key not in problem.alike:
            problem.alike[key] = _form(tableau, problem, rtol, atol, dense=dense)
        form: RunForm
        self._dense, self.chunk, form = problem.alike[key]
        self._memory = run_memory(form, problem, max_step)
        self._data = self._memory.data
        if not self._memory.seconds:
            began = time.perf_counter()
            self._evaluate()
            self._memory.seconds = tableau.stages * max(time.perf_counter() - began, 1e-9)
        self._data.size, self._data.fresh, self._data.anew = first_step, True, problem.contacts is not None
        if problem.events is not None:
            self._data.events.array("values")[: problem.events.n] = problem.event_values(problem.t0, problem.y0)
        self._let_change(problem)

    def _evaluate(self) -> None:
        """Evaluate the rate at the start of the next step."""
        data = self._data
        data.array("time")[0] = data.t
        data.call("rate", "time", "y", "block", "k")

    def go_on(self, t1: float, h: FloatArray, y: FloatArray | None = None) -> None:
        """Continue to the time *t1* with another block *h*, optionally from another state *y*; the rate is evaluated anew,
        the step size stays.
        """
        data = self._data
        if y is not None:
            data.array("y")[:] = y
        t, y = data.t, data.array("y").copy()
        self.problem = self.problem.further(h, t, t1, y)
        data.array("block")[:] = h
        data.t_end, data.slides.loose = t1, self.problem.slides is not None
        self._evaluate()
        data.evaluations += 1

    def restart(self, problem: Problem, longest: float) -> None:
        """Continue with another problem of the same size, with a next step of at most *longest*. Events at zero at its start
        are no zeros of the run.
        """
        data = self._data
        self.problem, data.block = problem, np.array(problem.h)
        set_functions(data, functions(problem))
        data.t, data.t_end = problem.t0, problem.t1
        data.array("y")[:] = problem.y0
        data.size = min(data.size, longest)
        data.events.ended, data.just_rejected, data.constraints.hops = False, False, 0
        data.anew = True
        self._let_change(problem)

    def resume(self, problem: Problem, size: float) -> None:
        """Continue with another problem of the same size, with a next step of this *size*."""
        self._data.size, self._data.fresh = size, False
        self.restart(problem, size)

    def ahead(self) -> tuple[float, FloatArray]:
        """Time and state a little ahead, straight on with the rate at the start of the next step."""
        data = self._data
        h = copysign(tolerances.SIDE_DISTANCE * max(1.0, abs(data.t)), data.t_end - data.t)
        return data.t + h, data.array("y") + h * data.array("k")[: self.n]

    def close(self) -> None:
        """End the run, and leave its memory to the next."""
        if self.problem.contacts is None and self.problem.switching is None:
            self._memory.give_back()

    def _let_change(self, problem: Problem) -> None:
        """Give the loop the contacts and switches of the *problem*, before any has acted."""
        contacts, data = problem.contacts, self._data
        if contacts is not None and data.contacts.array("motion") is not contacts.motion:
            set_contacts(data, contacts, self.chunk // 2)
        if problem.switching is not None and data.switches.array("given") is None:
            set_switches(data, problem, self.chunk // 2)

    @property
    def has_ended(self) -> bool:
        """Whether the last wanted zero of an event is found."""
        return self._data.events.ended

    @property
    def switches(self) -> SwitchData:
        """The switches of the run."""
        return self._data.switches

    def set_change(self, t: float, y: FloatArray, fired: Sequence[int]) -> RunData:
        """The record of the run at the time *t* in a state *y* where the events *fired* have zeros, before they act."""
        data, events = self._data, self._data.events
        data.t, data.array("new")[:] = t, y
        data.contacts.made, events.found, events.ended = 0, len(fired), False
        if fired:
            events.array("which")[: len(fired)], events.array("times")[: len(fired)] = fired, t
        return data

    @property
    def contacts(self) -> ContactData:
        """The contacts of the run, which are ``apart`` where none is closed or near at its end so far."""
        return self._data.contacts

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return self._data.evaluations

    @property
    def rejected(self) -> int:
        """Rejected steps so far."""
        return self._data.rejected

    @property
    def _pace(self) -> int:
        """Number of steps up to the next pause: with contacts, where steps may be taken back, no clock decides it."""
        many = PAUSE / self._memory.seconds if self.problem.contacts is None else STEADY // self.n**2
        return int(min(max(_FEW, many), self.chunk, self.left))

    def __iter__(self) -> Iterator[Segment]:
        """Segments up to the end, a failure, the last wanted event zero, or the last allowed step."""
        while self.left:
            segment = self._segment()
            yield segment
            if segment.end is not None or self._data.events.ended:
                return

    def _segment(self) -> Segment:
        data, events, contacts, n = self._data, self._data.events, self._data.contacts, self.n
        t0, y0 = data.t, data.array("y").copy()
        data.allowed = self._pace
        data.accepted, events.undefined, contacts.made = 0, False, 0
        began = time.perf_counter()
        status = self._integrate(data)
        k, made = data.accepted, contacts.made
        self._memory.seconds = max(time.perf_counter() - began, 1e-9) / max(k, 1)
        self.left -= k - made
        t = data.array("times")[:k].copy()
        y = data.array("states")[: k * n].reshape(k, n).copy()
        solution = None
        if self._dense:
            times, states = np.empty(k + 1), np.empty((k + 1, n))
            times[0], times[1:], states[0], states[1:] = t0, t, y0, y
            size = self.tableau.coefficients * n
            dense = data.array("interpolants")[: k * size].reshape(k, self.tableau.coefficients, n)
            solution = DenseOutput(times, states, data.array("sizes")[:k].copy(), dense.copy())
        end = None if status in (loop_abi.PAUSED, loop_abi.EVENT) else FAILURES.get(status, "")
        return Segment(
            t0, y0, t, y, solution, end, events.undefined, self.zeros(), self._transitions(made), self.problem
        )

    def zeros(self) -> EventRows:
        """The event zeros since they were last read."""
        events, n = self._data.events, self.n
        found, events.found = events.found, 0
        if not found:
            return _no_rows(n)
        states = events.array("states")[: found * n].reshape(found, n)
        return events.array("which")[:found].copy(), events.array("times")[:found].copy(), states.copy()

    def _transitions(self, made: int) -> Transitions | None:
        """The transitions of contacts since the last pause, and their impacts."""
        if not made:
            return None
        contacts, n = self._data.contacts, self._data.contacts.n_flags
        flags = contacts.array("flags")[: made * n].reshape(made, n).copy()
        return Transitions(contacts.array("changed_rows")[:made].copy(), flags)


@cache
def _no_rows(n: int) -> EventRows:
    """No event zeros, of a motion with n states."""
    return np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, n))


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
        ends = np.equal(t, self._t[step + 1])[..., None]
        if np.count_nonzero(ends) == ends.size:
            return self._y[step + 1].T
        h = self.sizes[step]
        x = (t - self._t[step]) / np.where(h == 0, 1.0, h)
        between = interpolate(self._F[:, step], x[:, None] if np.ndim(t) else x) + self._y[step]
        return np.where(ends, self._y[step + 1], between).T


def interpolate(F: FloatArray, x: FloatArray) -> FloatArray:
    """The increment x (F0 + (1 - x) (F1 + x (F2 + ...))) of interpolants F (coefficients, ..., n)."""
    factors, last = (x, 1 - x), len(F) - 1
    value: FloatArray = F[last] * factors[last % 2]
    for i in range(last - 1, -1, -1):
        value += F[i]
        value *= factors[i % 2]
    return value
