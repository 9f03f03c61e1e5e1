"""Dependent coordinates: the motion of all coordinates from the prescribed motion of some, by the constraints.

Positions solve the constraints where these and the prescribed coordinates determine them; otherwise coordinates are integrated
from the initial values of the model. Rates and accelerations follow from the prescribed ones::

    f(t, q) = 0        A v = -f_t        A vdot = -(A v)'
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
from scipy.integrate import DOP853

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_state import consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import dependent_rows, singular_text
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError
from kineta.model.system import System
from kineta.numerics.linear_algebra import lstsq, matrix_rank, norm, ranked_lstsq, svd
from kineta.tasks.motions.prescribed_motion import Course

#: What errors call what is computed here.
FOLLOWING = "the motion that constraints determine"
#: Largest change of a prescribed coordinate in one step of path following.
LONGEST = 0.25
#: Largest change of a prescribed coordinate that is followed at all: a thousand steps, or seconds of work.
FARTHEST = 1000 * LONGEST
#: Newton steps for speeds that enter constraints nonlinearly.
NONLINEAR = 20
#: Singular value, relative to that beside it, at a dead centre: positions there are known to the root of a residual, 1e-7.
DEAD_CENTRE = 1e-5
#: Positions, and their distance [rad or m], by which a dead centre is told from rows that depend on each other everywhere.
NEIGHBOURS, BESIDE = 3, 0.1
#: Most steps of the integration from one time to the next: half a minute of work.
MOST = 3_000
#: Relative and absolute tolerance of the integration.
TOLERANCES = tolerances.ROUNDING_TOLERANCE, tolerances.RESIDUAL_TOLERANCE


def whole(course: Course, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates, joint speeds and accelerations of a *course* that prescribes all of them."""
    places, driven = course.places, course.driven
    values, rates, second = course.at(t)
    q, v, vdot = (np.zeros((len(t), n)) for n in (course.system.nq, *(len(course.system.base_speeds),) * 2))
    q[:, places], v[:, driven], vdot[:, driven] = values, rates, second
    return q, v, vdot


def beginning(course: Course, constraints: NumericConstraints, t0: float, q: FloatArray) -> FloatArray:
    """Return the coordinates near *q* with which a *course* begins."""
    q = q.copy()
    q[course.places] = course.at(np.array([t0]))[0][0]
    return constraints.project_position(t0, q, course.held)


def completed(
    course: Course, constraints: NumericConstraints, t: FloatArray, q: FloatArray, left_out: Collection[str]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates, joint speeds and accelerations at the times *t* of a *course* that begins at *q*; the constraints
    *left_out* are redundant.

    Raises :class:`SimulationError` for an underdetermined motion, for one through a dead centre, and for one that violates
    constraints.
    """
    motion = _Motion(course, constraints, np.zeros(len(course.system.base_speeds)), left_out)
    values, rates, second = course.at(t)
    if not constraints.compiled.linear:
        motion.v = _guess(course, constraints, float(t[0]), q, rates[0])
    follow = motion.integrated if motion.open(float(t[0]), q) else motion.followed
    kept, before = [], float(t[0])
    for k, time in enumerate(t.tolist()):
        q = follow(before, time, q, values[k])
        _meets(constraints, time, q, motion.v, constraints.on_position, partial(motion.dead_centre, time, q))
        v, vdot = motion.rates(time, q, rates[k], second[k])
        _meets(constraints, time, q, v)
        kept.append((q, v, vdot))
        before = time
    q_all, v_all, vdot_all = (np.array(x) for x in zip(*kept, strict=True))
    return q_all, v_all, vdot_all


class _Motion:
    """The motion from one time to the next: ``v`` are the last speeds."""

    def __init__(
        self, course: Course, constraints: NumericConstraints, v: FloatArray, left_out: Collection[str]
    ) -> None:
        self.course, self.constraints, self.v = course, constraints, v
        self.system = course.system
        self.places, self.held = course.places, course.held
        self.E = np.eye(len(v))[course.driven]
        self.kept = [k for k, (name, _) in enumerate(constraints.rows) if name not in left_out]

    def open(self, t: float, q: FloatArray) -> bool:
        """Return whether prescribed coordinates and position constraints leave motions at *q* undetermined."""
        if len(self.E) == len(self.held) and all(order == 0 for _, order in self.constraints.rows):
            return False
        on_position = [k for k, (_, order) in enumerate(self.constraints.rows) if order == 0]
        A = np.vstack([self.constraints.linearised(t, q, self.v)[0][on_position], self.E[: len(self.held)]])
        return bool(matrix_rank(_scaled(A)[0], tolerances.RANK_TOLERANCE, what=FOLLOWING) < A.shape[1])

    def dead_centre(self, t: float, q: FloatArray, part: float | None = None) -> str:
        """Sentence on the constraints and prescribed motions that depend on each other at *q*, up to a *part*, and not beside it;
        ``''`` for none.
        """
        rows, driven = self.constraints, self.course.driven
        steps = BESIDE * np.random.default_rng(0).uniform(-1.0, 1.0, (NEIGHBOURS, len(self.v)))
        beside = [(rows.project_position(t, rows.retract(t, q, step)), self.v) for step in steps]
        if all(dependent_rows(rows, self.kept, t, state, beside, driven=driven) for state in beside):
            return ""
        return dependent_rows(rows, self.kept, t, (q, self.v), beside, part, driven)

    def followed(self, before: float, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """Return coordinates determined by the constraints, by steps short enough to stay on their branch."""
        return followed(self.constraints, (before, t), q, self.places, given, self.held)

    def integrated(self, before: float, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """Return coordinates integrated from the time *before*."""

        def slope(time: float, y: FloatArray) -> FloatArray:
            values, rates, _ = self.course.at(np.array([time]))
            at = put(self.system, y, self.places, values[0])
            v = self.speeds(time, at, rates[0])
            return np.asarray(self.constraints.coordinate_rates(time, at, v))

        if t > before:
            solver = DOP853(slope, before, q, t, rtol=TOLERANCES[0], atol=TOLERANCES[1])
            steps = 0
            while solver.status == "running":
                if (steps := steps + 1) > MOST:
                    raise SimulationError(
                        f"Model '{self.system.name}': this motion takes more than {MOST} steps from t = {before:g} s, and is at "
                        f"t = {solver.t:g} s of {t:g} s; end it earlier, or give the motion of more coordinates."
                    )
                if message := solver.step():
                    raise SimulationError(
                        f"Model '{self.system.name}': this motion cannot be followed beyond t = {solver.t:g} s: {message}"
                    )
            q = solver.y
        return self.constraints.project_position(t, put(self.system, q, self.places, given), self.held)

    def speeds(self, t: float, q: FloatArray, given: FloatArray) -> FloatArray:
        """Return the speeds, some of them *given*."""
        A, last, _ = self.constraints.linearised(t, q, self.v)
        self.v = self._solved(t, q, A, np.concatenate([A @ self.v - last, given]))
        if not self.constraints.compiled.linear:
            self.v = self.constraints.project_velocity(t, q, self.v, self.course.driven)
        return self.v

    def rates(self, t: float, q: FloatArray, v: FloatArray, vdot: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return speeds and accelerations from the prescribed ones."""
        found = self.speeds(t, q, v)
        A, _, rest = self.constraints.linearised(t, q, found)
        return found, self._solved(t, q, A, np.concatenate([-rest, vdot]))

    def _solved(self, t: float, q: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return the solution of all rows for speeds, or accelerations. Raises for an underdetermined one."""
        rows, lengths = _scaled(np.vstack([A, self.E]))
        found, count = ranked_lstsq(rows, b / lengths, what=FOLLOWING, rcond=DEAD_CENTRE)
        if count < rows.shape[1] or lengths.min() < DEAD_CENTRE * lengths.max():
            if why := self.dead_centre(t, q, DEAD_CENTRE):
                raise SimulationError(singular_text(self.system, t, why, "position"))
            found, count = ranked_lstsq(rows, b / lengths, what=FOLLOWING, rcond=tolerances.RANK_TOLERANCE)
        if count < rows.shape[1]:
            raise SimulationError(_left_open(self.system, t, self.course.names, svd(rows, what=FOLLOWING)[2][count:]))
        return np.asarray(found)


def followed(
    constraints: NumericConstraints,
    times: tuple[float, float],
    q: FloatArray,
    places: Sequence[int],
    given: FloatArray,
    held: Sequence[int],
) -> FloatArray:
    """Return the coordinates after a change of those at *places* to the *given* values, with the dependent ones followed on
    their branch; the speeds number *held* move prescribed coordinates alone. Raises :class:`SimulationError` for a change too
    large to be followed.
    """
    start, (before, t) = q[list(places)], times
    far = np.abs(given - start)
    if far.max(initial=0.0) > FARTHEST:
        name = constraints.system.q_names[places[int(far.argmax())]]
        raise SimulationError(
            f"Model '{constraints.system.name}': {name} is to change by {far.max():.3g} at once, and what follows from it is "
            f"sure over {FARTHEST:g} only. Give initial values nearer to where it goes; kineta assemble finds those of the "
            "others."
        )
    steps = int(np.ceil(far.max(initial=0.0) / LONGEST)) or 1
    for part in (np.arange(steps) + 1.0) / steps:
        q = put(constraints.system, q, places, start + part * (given - start) if part < 1 else given)
        q = constraints.project_position(before + part * (t - before), q, held)
    return q


def put(system: System, q: FloatArray, places: Sequence[int], given: FloatArray) -> FloatArray:
    """Return *q* with the *given* coordinates at *places*, and unit quaternions."""
    q = q.copy()
    q[list(places)] = given
    for offset in system.quaternions.values():
        q[offset : offset + 4] /= norm(q[offset : offset + 4])
    return q


def least(constraints: NumericConstraints, t: float, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least speeds and accelerations at *q* that rheonomic constraints allow: zero without any."""
    v = np.zeros(len(constraints.system.base_speeds))
    for _ in range(1 if constraints.compiled.linear else NONLINEAR):
        A, last, _ = constraints.linearised(t, q, v)
        v = _least(A, A @ v - last)
    A, _, rest = constraints.linearised(t, q, v)
    _meets(constraints, t, q, v)
    return v, _least(A, -rest)


def _guess(course: Course, constraints: NumericConstraints, t: float, q: FloatArray, rates: FloatArray) -> FloatArray:
    """Return speeds on the branch of nonlinear constraints near the model's initial speeds."""
    v = initial_state(constraints.system, p=constraints.p)[1]
    v[course.driven] = rates
    return consistent_state(constraints, t, q, v, ((), course.driven, ())).v


def _least(A: FloatArray, b: FloatArray) -> FloatArray:
    rows, lengths = _scaled(A)
    return lstsq(rows, b / lengths, what=FOLLOWING, rcond=tolerances.RANK_TOLERANCE)


def _scaled(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rows of *A* scaled to unit length, and their lengths."""
    lengths = norm(A, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return A / lengths[:, None], lengths


def _left_open(system: System, t: float, given: Sequence[str], free: FloatArray) -> str:
    """Return the sentence on undetermined motions *free* (m, nv)."""
    size = np.abs(free).max(axis=0)
    moving = [
        s for s, x in zip(system.base_speeds, size.tolist(), strict=True) if x > tolerances.PARTICIPATION_TOLERANCE
    ]
    names = [n.removesuffix("'") for n in moving]
    what = f"the motion of {', '.join(given)}" if given else "this motion"
    return (
        f"Model '{system.name}': {what} leaves {len(free)} more open at t = {t:g} s; give that of one of "
        f"{', '.join(names)} too."
    )


def _meets(
    constraints: NumericConstraints,
    t: float,
    q: FloatArray,
    v: FloatArray,
    places: Sequence[int] | slice = slice(None),
    dead_centre: Callable[[], str] = str,
) -> None:
    """Raise for residuals at *places* beyond tolerance, with the sentence on a *dead_centre* that the motion leads beyond."""
    off = np.full(len(constraints.labels), -np.inf)
    off[places] = np.nan_to_num(np.abs(constraints.residuals(t, q, v)[places]), nan=np.inf)
    if off.max(initial=0.0) <= tolerances.WRITTEN_TOLERANCE * constraints.scale(q, v):
        return
    k = int(off.argmax())
    size = f"{off[k]:.3g} {constraints.unit(k)}".rstrip()
    why = dead_centre()
    raise SimulationError(
        f"Model '{constraints.system.name}': no motion of this kind meets {constraints.described(k)} at t = {t:g} s: the "
        f"nearest one misses it by {size}{f', and {why}' if why else ''}. Give the motion of fewer coordinates, or one within "
        "reach."
    )


def missing(course: Course) -> ArgumentError:
    """Return the error on a *course* that leaves coordinates undetermined."""
    system = course.system
    moved = system.q_names[: system.nq - system.nz]
    names = [n for n in moved if n not in course.coordinates and f"{n}'" not in course.speeds]
    return ArgumentError(
        f"Model '{system.name}': the motion of {', '.join(names)} is not given, and no constraint says it; give all of "
        f"{', '.join(moved)}."
    )
