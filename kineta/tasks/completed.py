"""The motion of all coordinates from that of some: the others follow from the constraints.

Where the constraints on the position say with what is given where everything is, it is so; else coordinates are integrated
along their rates, from the initial values of the model. Rates and accelerations follow from those given::

    f(t, q) = 0        A v = -f_t        A vdot = -(A v)'
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from kineta.errors import ArgumentError, SimulationError
from kineta.model.system import System
from kineta.tasks.closing import Closing
from kineta.tasks.course import Course

FloatArray = NDArray[np.float64]

#: Part of the state by which a given motion may miss constraints.
MISSED = 1e-6
#: Largest change of a given coordinate over which the others are followed at once.
LONGEST = 0.25
#: Steps of Newton's method to speeds that are in constraints to higher powers.
NONLINEAR = 20
#: Part of the largest below which a pivot counts as nothing.
RANK = 1e-8
#: Part of a free motion, of length one, from which on a speed takes part in it: rounding of what has none is far below.
MOVES = 1e-6
#: Relative and absolute tolerance of what is integrated.
TOLERANCES = 1e-12, 1e-14


def whole(course: Course, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates, and speeds and accelerations of the motions, of a *course* that gives all of them."""
    places, driven = course.places, course.driven
    values, rates, second = course.at(t)
    q, v, vdot = (np.zeros((len(t), n)) for n in (course.system.nq, *(len(course.system.base_speeds),) * 2))
    q[:, places], v[:, driven], vdot[:, driven] = values, rates, second
    return q, v, vdot


def beginning(course: Course, closing: Closing, t0: float, q: FloatArray) -> FloatArray:
    """The coordinates with which a *course* begins, near to *q*."""
    q = q.copy()
    q[course.places] = course.at(np.array([t0]))[0][0]
    return closing.position(t0, q, course.held)


def completed(
    course: Course, closing: Closing, t: FloatArray, q: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates, and speeds and accelerations of the motions, at the times *t* of a *course* that begins at *q*.

    Raises :class:`SimulationError` where it leaves something open, or does what constraints do not allow.
    """
    motion = _Motion(course, closing, np.zeros(len(course.system.base_speeds)))
    values, rates, second = course.at(t)
    follow = motion.integrated if motion.open(float(t[0]), q) else motion.followed
    kept, before = [], float(t[0])
    for k, time in enumerate(t.tolist()):
        q = follow(before, time, q, values[k])
        v, vdot = motion.rates(time, q, rates[k], second[k])
        _meets(closing, time, q, v)
        kept.append((q, v, vdot))
        before = time
    q_all, v_all, vdot_all = (np.array(x) for x in zip(*kept, strict=True))
    return q_all, v_all, vdot_all


class _Motion:
    """The motion as it goes on: ``v`` are the last speeds."""

    def __init__(self, course: Course, closing: Closing, v: FloatArray) -> None:
        self.course, self.closing, self.v = course, closing, v
        self.system = course.system
        self.places, self.held = course.places, course.held
        self.E = np.eye(len(v))[course.driven]

    def open(self, t: float, q: FloatArray) -> bool:
        """Whether something moves at *q* that neither given coordinates nor constraints on the position determine."""
        if len(self.E) == len(self.held) and all(order == 0 for _, order in self.closing.rows):
            return False
        on_position = [k for k, (_, order) in enumerate(self.closing.rows) if order == 0]
        A = np.vstack([self.closing.jacobian(t, q, self.v)[on_position], self.E[: len(self.held)]])
        return bool(np.linalg.matrix_rank(_scaled(A)[0], RANK) < A.shape[1])

    def followed(self, before: float, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """Coordinates that constraints determine, on a way so short that they stay on their branch."""
        return followed(self.closing, (before, t), q, self.places, given, self.held)

    def integrated(self, before: float, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """Coordinates that their rates determine, from the time *before*."""

        def slope(time: float, y: FloatArray) -> FloatArray:
            values, rates, _ = self.course.at(np.array([time]))
            at = put(self.system, y, self.places, values[0])
            v = self.speeds(time, at, rates[0])
            return np.asarray(self.closing.coordinate_rates(time, at, v))

        if t > before:
            solver = DOP853(slope, before, q, t, rtol=TOLERANCES[0], atol=TOLERANCES[1])
            while solver.status == "running":
                if message := solver.step():
                    raise SimulationError(
                        f"Model '{self.system.name}': this motion cannot be followed beyond t = {solver.t:g} s: {message}"
                    )
            q = solver.y
        return self.closing.position(t, put(self.system, q, self.places, given), self.held)

    def speeds(self, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """The speeds of which some are *given*."""
        for _ in range(1 if self.closing.closures.linear else NONLINEAR):
            A, last, _ = self.closing.linear(t, q, self.v)
            self.v = self._solved(t, A, np.concatenate([A @ self.v - last, given]))
        return self.v

    def rates(self, t: float, q: FloatArray, v: FloatArray, vdot: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Speeds and accelerations from those given."""
        found = self.speeds(t, q, v)
        A, _, rest = self.closing.linear(t, q, found)
        return found, self._solved(t, A, np.concatenate([-rest, vdot]))

    def _solved(self, t: float, A: FloatArray, b: FloatArray) -> FloatArray:
        """The speeds, or accelerations, that all rows ask for. Raises where they leave some open."""
        rows, lengths = _scaled(np.vstack([A, self.E]))
        found, _, count, _ = np.linalg.lstsq(rows, b / lengths, rcond=RANK)
        if count < rows.shape[1]:
            raise SimulationError(_left_open(self.system, t, self.course.names, np.linalg.svd(rows)[2][count:]))
        return np.asarray(found)


def followed(
    closing: Closing,
    times: tuple[float, float],
    q: FloatArray,
    places: Sequence[int],
    given: FloatArray,
    held: Sequence[int],
) -> FloatArray:
    """The coordinates after those at *places* have gone to the *given* values, on a way so short that the others, which
    constraints determine, stay on their branch; the speeds number *held* move nothing but what is given.
    """
    start, (before, t) = q[list(places)], times
    steps = int(np.ceil(np.abs(given - start).max(initial=0.0) / LONGEST)) or 1
    for part in (np.arange(steps) + 1.0) / steps:
        q = put(closing.system, q, places, start + part * (given - start) if part < 1 else given)
        q = closing.position(before + part * (t - before), q, held)
    return q


def put(system: System, q: FloatArray, places: Sequence[int], given: FloatArray) -> FloatArray:
    """*q* with the *given* coordinates at *places*, and units for quaternions."""
    q = q.copy()
    q[list(places)] = given
    for offset in system.quaternions.values():
        q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
    return q


def least(closing: Closing, t: float, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least speeds and accelerations at *q* that constraints which go on with the time leave: zero where none do."""
    v = np.zeros(len(closing.system.base_speeds))
    for _ in range(1 if closing.closures.linear else NONLINEAR):
        A, last, _ = closing.linear(t, q, v)
        v = _least(A, A @ v - last)
    A, _, rest = closing.linear(t, q, v)
    _meets(closing, t, q, v)
    return v, _least(A, -rest)


def _least(A: FloatArray, b: FloatArray) -> FloatArray:
    rows, lengths = _scaled(A)
    return np.asarray(np.linalg.lstsq(rows, b / lengths, rcond=RANK)[0])


def _scaled(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rows of *A* with the length one, and the lengths that they had."""
    lengths = np.linalg.norm(A, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return A / lengths[:, None], lengths


def _left_open(system: System, t: float, given: Sequence[str], free: FloatArray) -> str:
    """What to say of motions *free* (m, nv) that nothing determines."""
    size = np.abs(free).max(axis=0)
    moving = [s for s, x in zip(system.base_speeds, size.tolist(), strict=True) if x > MOVES]
    names = [n.removesuffix("'") for n in moving]
    what = f"the motion of {', '.join(given)}" if given else "this motion"
    return (
        f"Model '{system.name}': {what} leaves {len(free)} more open at t = {t:g} s; give that of one of "
        f"{', '.join(names)} too."
    )


def _meets(closing: Closing, t: float, q: FloatArray, v: FloatArray) -> None:
    off = np.abs(closing.off(t, q, v))
    off = np.where(np.isfinite(off), off, np.inf)
    if not len(off) or off.max() <= MISSED * closing.size(q, v):
        return
    k = int(off.argmax())
    size = f"{off[k]:.3g} {closing.unit(k)}".rstrip()
    raise SimulationError(
        f"Model '{closing.system.name}': no motion of this kind meets {closing.named(k)} at t = {t:g} s: the nearest one misses "
        f"it by {size}. Give the motion of fewer coordinates, or one within reach."
    )


def missing(course: Course) -> ArgumentError:
    """The error on a *course* that leaves coordinates open which nothing else determines."""
    system = course.system
    names = [n for n in system.q_names if n not in course.coordinates and f"{n}'" not in course.speeds]
    return ArgumentError(
        f"Model '{system.name}': the motion of {', '.join(names)} is not given, and no constraint says it; give all of "
        f"{', '.join(system.q_names)}."
    )
