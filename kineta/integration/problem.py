"""Initial value problems in machine code."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Hashable, Sequence
from dataclasses import field
from functools import cache
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray, address
from kineta.integration.contact_records import ContactMotion, TransitionWork
from kineta.integration.error_control import error_controlled
from kineta.numerics.random_numbers import UniformNumbers
from kineta.records import constant_record, dataclass

#: Number of directions of a state perturbed by rounding.
_TRIED = 4

_function = cache(ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4))


@dataclass(frozen=True, slots=True)
class Events:
    """Event functions of a run.

    address : of a function as ``rhs`` of :class:`Problem`, with n results
    directions : (n,) 1 for rising zeros in the direction of the run, -1 for falling, 0 for both
    left : (n,) remaining number of wanted zeros; counted down by the run, which ends at 0
    noise : (n,) evaluation error of an event that starts at a zero and has not left it, else -1; the start zero is no zero of
        the run
    beyond : (n,) hysteresis: depth below zero at which an event that was not positive has a zero, too: without it an event
        pushed back before it leaves its start zero would never be found; infinite for none
    """

    address: int
    directions: IntArray
    left: IntArray
    noise: FloatArray
    beyond: FloatArray

    @property
    def n(self) -> int:
        """Number of events."""
        return len(self.left)


#: Roughness of a table at whose knots steps end, relative to the tolerance of the run.
HEEDED = 30.0


@dataclass(frozen=True, slots=True)
class Kinks:
    """What tells of kinks and steps of a rate: addresses of ``guards``, ``clocks`` and ``stored``, ``numbers`` of guards, clocks,
    paces, stored quantities and smooth tables, as in :class:`~kineta.integration.loop_abi.KinkData`, the ``roughness`` of these
    tables, the largest first, and the offset of the ``work`` in the state.
    """

    guards: int
    clocks: int
    stored: int
    numbers: tuple[int, int, int, int, int]
    roughness: tuple[float, ...]
    work: int

    def heeded(self, rtol: float) -> int:
        """The number of smooth tables at whose knots steps end at the tolerance *rtol*."""
        return sum(rough > HEEDED * rtol for rough in self.roughness)


@dataclass(frozen=True, slots=True)
class Slides:
    """Sliding modes of a motion: the address of the rate ``held``, the numbers of its switching functions among the ``guards``
    of kinks, and the ``place`` of their sides in the state, as in :class:`~kineta.integration.loop_abi.SlideData`.
    """

    held: int
    guards: tuple[int, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Manifold:
    """The constraint manifold of a motion.

    position, velocity : addresses of functions as ``rhs`` of :class:`Problem`: one projection step of the coordinates or of the
        speeds
    largest : (m,) pivots of the constraints in regular configurations; the pivots are the last m rates of ``rhs``
    speeds : range of the speeds in the state
    steps : projection steps of the speeds: one for constraints linear in the speeds
    """

    position: int
    velocity: int
    largest: FloatArray
    speeds: tuple[int, int]
    steps: int


@dataclass(frozen=True, slots=True)
class Contacts:
    """Contacts of a motion.

    motion, transitions : memory of the motion, in whose place the functions of the problem have its words as block h; and of its
        transitions; transit : address of the transition
    observed : address of a function as ``rhs`` of :class:`Problem` with ``size`` results, the first kinetic and potential energy
    watched, first : number of the caller's events, and the first event of contacts; work : offset of the work done in the state
    guard_contacts, guard_rows : (guards,) contact of each guard, and what it watches, as in :mod:`kineta.integration.loop_abi`
    """

    motion: ContactMotion
    transitions: TransitionWork
    transit: int
    observed: int
    size: int
    watched: int
    first: int
    work: int
    guard_contacts: IntArray
    guard_rows: IntArray


@dataclass(frozen=True, slots=True)
class Switching:
    """The switches of a motion, as in :class:`~kineta.integration.loop_abi.SwitchData`.

    values, setup : addresses of what they set, and of the block h of so many ``given`` numbers
    found : number of values; hears : (switches, contacts); residuals, misses : those of constraints
    observed, size, watched, work : as in :class:`Contacts`
    """

    values: int
    setup: int
    given: int
    found: int
    first: IntArray
    held: IntArray
    targets: IntArray
    positive: IntArray
    hears: IntArray
    stops: IntArray
    residuals: int
    misses: int
    observed: int
    size: int
    watched: int
    work: int


@constant_record
class Problem:
    """An initial value problem in machine code.

    rhs : address of ``void f(const double *t, const double *y, const double *h, double *ydot)``
    h : the block shared by rhs and events
    y0 : (n,) initial state; quaternions : offsets of the unit quaternions in it
    integrals : number of quadratures, the last states, on which no rate depends. They are not error-controlled if there are
        other states
    contacts : whose transitions the native loop carries out; None for a return at every event zero
    switching : switches, whose transitions :func:`~kineta.kernels.switching.change_at` carries out, or the loop of an ensemble
    alike : what is known of all problems that differ from this one in the numbers of :meth:`further` alone
    """

    rhs: int
    h: FloatArray
    t0: float
    t1: float
    y0: FloatArray
    quaternions: Sequence[int] = ()
    integrals: int = 0
    events: Events | None = None
    manifold: Manifold | None = None
    kinks: Kinks | None = None
    slides: Slides | None = None
    contacts: Contacts | None = None
    switching: Switching | None = None
    alike: dict[Hashable, Any] = field(default_factory=dict, init=False)

    @property
    def steering(self) -> int:
        """Number of error-controlled states, the first ones."""
        return error_controlled(len(self.y0), self.integrals)

    def further(self, h: FloatArray, t0: float, t1: float, y0: FloatArray) -> Problem:
        """The problem from *t0*, *y0* to *t1*, with another block h."""
        own = (self.quaternions, self.integrals, self.events, self.manifold)
        more = (self.kinks, self.slides, self.contacts, self.switching)
        found = Problem(self.rhs, h, t0, t1, y0, *own, *more)  # dataclasses.replace takes longer than a sample may
        object.__setattr__(found, "alike", self.alike)  # dataclasses.replace gives a problem of its own
        return found

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        return self._value(self.rhs, len(self.y0), t, y)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """The event functions, (n,)."""
        return np.empty(0) if self.events is None else self._value(self.events.address, self.events.n, t, y)

    def starting(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The event functions at the start, where the rate is *rate*, and their evaluation errors, as in :class:`Events`."""
        if self.events is None:
            return np.empty(0), np.empty(0)
        found = self._values(self.events.address, self.events.n, *perturbed_starts(self.t0, self.t1, self.y0, rate))
        return np.asarray(found[0]), evaluation_errors(found)

    def _value(self, code: int, size: int, t: float, y: FloatArray) -> FloatArray:
        found: FloatArray = self._values(code, size, np.array([t]), y)[0]
        return found

    def _values(self, code: int, size: int, t: FloatArray, y: FloatArray) -> FloatArray:
        """The results (k, size) of a function at times (k,) and in states (k, n)."""
        # One buffer and one address lookup: lookups would dominate the cost of a call.
        k, function = len(t), _function(code)
        buffer = np.concatenate([t, y.ravel(), self.h, np.empty(k * size)], dtype=np.float64)
        start = address(buffer)
        state, given, result = (start + 8 * (k + offset) for offset in (0, y.size, y.size + len(self.h)))
        for i in range(k):
            function(start + 8 * i, state + 8 * i * (y.size // k), given, result + 8 * i * size)
        return buffer[len(buffer) - k * size :].reshape(k, size)


@cache
def perturbation_signs(rows: int, n: int) -> FloatArray:
    """Perturbation directions (rows, n) of states for evaluation errors, always the same."""
    found = np.array(UniformNumbers(0).signs(rows * n), dtype=np.float64).reshape(rows, n)
    found.flags.writeable = False
    return found


def perturbed_starts(t0: float, t1: float, y0: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Times (k,) and states (k, ..., n): the start *t0*, *y0* (..., n) of motions with this *rate*, then perturbations of
    time and state by rounding errors.
    """
    moment = math.copysign(tolerances.EVENT_TOLERANCE, t1 - t0) * max(abs(t0), abs(t1))
    times = np.array([t0, t0 + moment, *[t0] * _TRIED])
    states = y0 * _factors(y0.ndim, y0.shape[-1])
    states[1] += moment * rate
    return times, states


@cache
def _factors(dimensions: int, n: int) -> FloatArray:
    """Factors of states with *dimensions* axes, the last of size *n*: two rows of 1, then perturbations."""
    changed = 1 + 64 * tolerances.EPS * perturbation_signs(_TRIED, n)
    return np.concatenate([np.ones((2, n)), changed]).reshape(_TRIED + 2, *[1] * (dimensions - 1), n)


def evaluation_errors(values: FloatArray) -> FloatArray:
    """Evaluation errors of events, as ``noise`` of :class:`Events`, from their *values* (k, ...) at :func:`perturbed_starts`."""
    size = np.abs(values[1:] - values[0]).max(axis=0)
    return np.where(np.abs(values[0]) <= size, size, -1.0)
