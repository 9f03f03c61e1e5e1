"""Trajectories: motions from expressions of the time, arrays, a table in a file, or a run, with speeds and accelerations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import consistent
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.definition_domain import domain_violation, position_text
from kineta.equations.equations import Equations, equations_of, given_equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, excerpt, shown
from kineta.expr.program import StraightLineProgram, program
from kineta.files import path_of
from kineta.mechanics.derivation import Derivation
from kineta.model.dimensions import series_dimensions
from kineta.model.system import System
from kineta.numerics.linear_algebra import pinv
from kineta.records import dataclass
from kineta.results.csv_table import table
from kineta.results.netcdf import load_result
from kineta.results.result import Result
from kineta.runtime.joint_limits import LimitDistances
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.motions import dependent_coordinates, forces_of_run
from kineta.tasks.motions.prescribed_motion import Course, course, given_course, is_exact
from kineta.threads import once
from kineta.values import numbers

#: Part of the change of a first-order state by which one given by samples may differ from the model; and part of the difference
#: between two integrals of samples that counts as the error of them.
STATES, SAMPLED = 1e-3, 1.0


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of *equations* with the parameters *p*, (np,) or (k, np): times t (k,), coordinates q (k, nq), speeds v (k, nv).

    accelerations : (k, nv), or None for a run, whose accelerations follow from its forces
    tau : (k, nv) added forces and controls on the speeds
    touching : (k, rows) forces of contacts, limits and dry friction along their rows; None without any
    """

    equations: Equations
    p: FloatArray
    t: FloatArray
    q: FloatArray
    v: FloatArray
    accelerations: FloatArray | None = None
    tau: FloatArray | None = None
    touching: FloatArray | None = None

    @once
    def vdot(self) -> FloatArray:
        """The accelerations (k, nv)."""
        if self.accelerations is not None:
            return self.accelerations
        return np.asarray(self.equations.function("forward")(self.t, self.q, self.v, self.forces, p=self.p))

    @property
    def forces(self) -> FloatArray:
        """The added forces on the speeds of a run, (k, nv)."""
        assert self.tau is not None
        return self.tau + self.touched

    @once
    def touched(self) -> FloatArray:
        """The generalised forces of contacts, limits and dry friction in a run, (k, nv)."""
        if self.touching is None:
            return np.zeros_like(self.v)
        shares = forces_of_run.on_speeds(self.equations, self.t, self.q, self.v, self.p)
        return np.asarray(np.einsum("kr,krn->kn", self.touching, shares))

    @property
    def system(self) -> System:
        """The system."""
        return self.equations.system


def trajectory(system: System | Equations, motion: Any, t: Any = None, p: Any = None) -> Trajectory:
    """Return the *motion* of *system* at the times *t* as a :class:`Trajectory`.

    motion : a run; a mapping of coordinates to expressions of the time, as such or as text, numbers, or arrays (k,); an array
        (k, nq); the path of a run (``.nc``) or of a table (``.csv``) with a column ``t``. Arrays and tables may give speeds and
        accelerations too, by name (``q1'``, ``q1''``), which are derivatives of splines otherwise. A speed alone, ``q1'`` or
        ``b.wx``, stands for a coordinate integrated from ``initial``
    t : (k,) times, or one [s]; not for runs and tables
    p : parameters, as for :class:`~kineta.equations.function.Function`; not for runs

    Raises :class:`ArgumentError` for an invalid motion, :class:`SimulationError` for a motion that violates constraints. Warns
    of motions beyond limits.
    """
    equations = given_equations(system)
    if isinstance(motion, str | Path) and path_of(motion, "the path of a motion").suffix == ".nc":
        motion = load_result(motion)
    if isinstance(motion, Result):
        return _of_run(equations, motion, t, p)
    values = parameters(equations.system, p)
    if values.ndim > 1:
        raise ArgumentError(f"Expected one set of parameters for a motion, found p of shape {values.shape}.")
    if isinstance(motion, str | Path):
        motion, t = _table(equations.system, Path(motion), t)
    elif not isinstance(motion, Mapping):
        motion = _rows(equations.system, motion)
    times = _times(t)
    states = _states(equations.system, motion, times, values)
    moved = {n: x for n, x in motion.items() if str(n).rstrip("'") not in equations.system.state_names}
    found = _of_course(equations, course(equations.system, moved, times, values), times, values)
    found.q[:, len(found.q[0]) - len(states) :] = states[:, 0].T
    _check_states(found, states, exact=is_exact(motion))
    LimitDistances(equations).warn(found.t, found.q, found.p)
    return found


def _states(system: System, motion: Mapping[str, Any], t: FloatArray, p: FloatArray) -> FloatArray:
    """Return the first-order states along a *motion* with their rates, (nz, 2, k): as given, at a single time else as at the
    start, at a rate that is not known. Raises :class:`ArgumentError` for a state without a course.
    """
    rows = []
    for name in system.state_names:
        if name in motion:
            rows.append(given_course(system, name, motion, t, p))
        elif len(t) == 1:
            rows.append(np.array([[initial_state(system, p=p)[0][system.q_names.index(name)]], [np.nan]]))
        else:
            raise ArgumentError(
                f"Model '{system.name}': the motion does not say its state '{name}'; give it beside the coordinates, as an "
                "expression of the time or as an array, or take a run, which has it."
            )
    return np.array(rows).reshape(len(rows), 2, len(t))


def _check_states(found: Trajectory, given: FloatArray, *, exact: bool) -> None:
    """Raise for first-order states *given* with their rates, (nz, 2, k), that do not follow from the rates of the model along the
    motion *found*. Rates are compared where they are *exact*; else changes of states with the integrals of rates, as far as the
    times tell these, since rates may jump between two of them. States that switches set, and those at one time, are not judged.
    """
    system, t = found.system, found.t
    switched = {n for switch in system.switches for n, _ in switch.sets}
    places = [k for k, n in enumerate(system.state_names) if n not in switched]
    if not places or len(t) == 1:
        return
    rates = found.equations.compiled("rates of coordinates", _programs)["rates"]
    own = rates.batch(t[:, None], found.q, found.v, found.vdot, found.p).reshape(len(t), 2, system.nq)[:, 0].T
    for k in places:
        name, (z, wanted) = system.state_names[k], given[k]
        rate = own[len(own) - len(given) + k]
        if exact:
            off, allowed, what = np.abs(wanted - rate), tolerances.WRITTEN_TOLERANCE * _size(rate, wanted), "rate"
            told, model = wanted, rate
        else:
            model, rough = (made(rate, t) for made in (_primitive, _trapezia))
            told, what = z - z[0], "change since the start"
            off, allowed = np.abs(told - model), STATES * _size(told, model) + SAMPLED * _size(model - rough)
        i = int(np.nan_to_num(off).argmax())
        if off[i] > allowed:
            raise SimulationError(
                f"Model '{system.name}': the motion contradicts the rate of the state '{name}': at t = {t[i]:g} s its {what} is "
                f"{told[i]:.6g}, and {model[i]:.6g} by the model. Give the {name} that goes with it, as a run has it."
            )


def _size(*values: FloatArray) -> float:
    return max(float(np.abs(x).max()) for x in values)


def _trapezia(rate: FloatArray, t: FloatArray) -> FloatArray:
    """The integral (k,) of a *rate* from the first time on, by straight lines."""
    return np.concatenate([[0.0], np.cumsum(np.diff(t) * (rate[1:] + rate[:-1]) / 2)])


def _primitive(rate: FloatArray, t: FloatArray) -> FloatArray:
    """The integral (k,) of a *rate* from the first time on, by a spline."""
    from scipy.interpolate import make_interp_spline

    curve = make_interp_spline(t, rate, k=min(3, len(t) - 1)).antiderivative()
    return np.asarray(curve(t) - curve(t[0]))


def at_rest(
    equations: Equations, t: float, q: FloatArray, p: FloatArray, named: Mapping[str, float] | None = None
) -> Trajectory:
    """Return the trajectory of rest in the position *q*, projected onto the constraints; where coordinates are *named*, the
    others follow as these move to their values. Rheonomic constraints proceed with the least motion.
    """
    system, constraints = equations.system, NumericConstraints(equations, p)
    given, q = dict(named or {}), q.copy()
    for name in given.keys() & {*system.state_names}:
        q[system.q_names.index(name)] = given.pop(name)
    places = [system.q_names.index(n) for n in given]
    held = [k for k, n in enumerate(system.base_speeds) if n.removesuffix("'") in given]
    q = dependent_coordinates.followed(constraints, (t, t), q, places, np.array([*given.values()]), held)
    v, vdot = dependent_coordinates.least(constraints, t, q)
    times = np.array([t])
    found = _in_speeds(regular(equations, t, q, p), p, times, q[None], v[None], vdot[None])
    LimitDistances(equations).warn(found.t, found.q, found.p)
    return found


def _of_run(equations: Equations, run: Result, t: Any, p: Any) -> Trajectory:
    system = equations.system
    forces_of_run.check_of(system, run)
    if run.cases is not None:
        raise ArgumentError(
            f"Run of '{run.model}': expected one motion, found {len(run.cases)} cases; take run.case(i)."
        )
    if t is not None or p is not None:
        raise ArgumentError("A run has times and parameters of its own; leave out t and p.")
    values = forces_of_run.parameters(system, run)
    first = values if values.ndim == 1 else values[0]
    own = regular(equations, float(run.t[0]), run.q[0], first)
    tau, touching = forces_of_run.given(system, run), forces_of_run.touching(equations, run)
    return Trajectory(own, values, run.t, run.q, run.v, tau=tau, touching=touching)


def regular(equations: Equations, t: float, q: FloatArray, p: FloatArray) -> Equations:
    """Return *equations* without the constraints that are redundant at the start of a motion, near *q*."""
    v = initial_state(equations.system, p=p)[1]
    return consistent(equations, t, q, v, p, reach=np.inf).equations


# -- what is given -----------------------------------------------------------------------------------------------------


def _rows(system: System, motion: Any) -> dict[str, FloatArray]:
    rows = numbers("a motion", motion)
    if rows.ndim != 2 or rows.shape[1] != system.nq:
        raise ArgumentError(
            f"Expected a motion as a run, a mapping of coordinates to expressions or arrays, or an array (k, {system.nq}) for "
            f"({', '.join(system.q_names)}), found shape {rows.shape}."
        )
    return dict(zip(system.q_names, rows.T, strict=True))


def _table(system: System, path: Path, t: Any) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the columns of coordinates, joint speeds and their rates in a table, and the times."""
    if t is not None:
        raise ArgumentError(
            f"The text {shown(str(path))} is the path of a table, which has times of its own; leave out t, or give expressions "
            f"by name: {{'{system.q_names[0] if system.q_names else 'q1'}': 'sin(t)'}}."
        )
    times, columns = table(path, known=series_dimensions(system))
    return moving(system, columns), times


def moving(system: System, columns: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the *columns* of coordinates, joint speeds and their rates; rates of first-order states follow from the model.

    Raises :class:`ArgumentError` where there are none.
    """
    marks = ("", "'", "''")
    known = {f"{n}{mark}" for n in (*system.q_names, *system.base_speeds) for mark in marks}
    known -= {f"{n}{mark}" for n in system.state_names for mark in marks[1:]}
    found = {n: x for n, x in columns.items() if n in known}
    if not found and system.nq:
        raise ArgumentError(
            f"Model '{system.name}': expected columns of its coordinates, {excerpt(system.q_names)}, found {excerpt(columns)}. "
            f"On the command line, --column {system.q_names[0]}=... says which is meant."
        )
    return found


def _times(t: Any) -> FloatArray:
    if t is None:
        raise ArgumentError("Expected the times t of the motion, as in t=np.linspace(0, 1, 101), found none.")
    times = np.atleast_1d(numbers("t", t))
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ArgumentError(f"Expected t as a row of finite times, found {shown(t)}.")
    if (np.diff(times) <= 0).any():
        k = int((np.diff(times) <= 0).argmax())
        raise ArgumentError(f"Expected t in rising order, found {times[k + 1]:g} after {times[k]:g}.")
    return times


# -- what follows ------------------------------------------------------------------------------------------------------


def _of_course(equations: Equations, given: Course, t: FloatArray, p: FloatArray) -> Trajectory:
    system = equations.system
    everything = len(given.held) == len(system.base_speeds)
    if everything and (system.quasi or not system.constraints):
        return _in_speeds(equations, p, t, *dependent_coordinates.whole(given, t))
    if not system.constraints and len(given.driven) < len(system.base_speeds):
        raise dependent_coordinates.missing(given)
    constraints = NumericConstraints(equations, p)
    start = dependent_coordinates.beginning(given, constraints, float(t[0]), initial_state(system, p=p)[0])
    own = regular(equations, float(t[0]), start, p)
    left_out = own.left_out
    return _in_speeds(own, p, t, *dependent_coordinates.completed(given, constraints, t, start, left_out))


def _in_speeds(
    equations: Equations, p: FloatArray, t: FloatArray, q: FloatArray, v: FloatArray, vdot: FloatArray
) -> Trajectory:
    """Return the motion in the speeds of the equations, from the joint speeds *v* and their rates."""
    system = equations.system
    if not system.quasi:
        return Trajectory(equations, p, t, q, v, vdot)
    bare = equations_of(system.unconstrained)
    motions, own = (x.compiled("rates of coordinates", _programs)["rates"] for x in (bare, equations))
    n, nq = system.nv, system.nq
    wanted = motions.batch(t[:, None], q, v, vdot, p).reshape(len(t), 2, nq)
    unit = np.vstack([np.zeros(n), np.eye(n)])
    rows = [np.repeat(x, n + 1, axis=0) for x in (t[:, None], q)]
    first = own.batch(*rows, np.tile(unit, (len(t), 1)), np.zeros(n), p).reshape(len(t), n + 1, 2, nq)[:, :, 0]
    ways = np.swapaxes(first[:, 1:] - first[:, :1], 1, 2)
    _check_valued(equations, p, t, q, ways)
    inverse = pinv(ways, what="the speeds along the motion")
    speeds = np.einsum("kij,kj->ki", inverse, wanted[:, 0] - first[:, 0])
    second = own.batch(t[:, None], q, speeds, np.zeros(n), p).reshape(len(t), 2, nq)
    _allowed(system, t, wanted[:, 0], second[:, 0])
    return Trajectory(equations, p, t, q, speeds, np.einsum("kij,kj->ki", inverse, wanted[:, 1] - second[:, 1]))


def _check_valued(equations: Equations, p: FloatArray, t: FloatArray, q: FloatArray, ways: FloatArray) -> None:
    """Raise where the derivatives of q' by the speeds, *ways* (k, nq, nv), have no value."""
    finite = np.isfinite(ways).all(axis=(1, 2))
    if finite.all():
        return
    system, k = equations.system, int(finite.argmin())
    why = domain_violation(equations, p, float(t[k]), np.concatenate([q[k], np.zeros(system.nv)]))
    raise SimulationError(
        f"Model '{system.name}': the speeds {excerpt(system.v_names)} make no motion at t = {t[k]:g} s, where "
        f"{position_text(system, q[k])}{f': {why}' if why else ''}. Give a motion that does not go there, or take other speeds."
    )


def _allowed(system: System, t: FloatArray, qd: FloatArray, possible: FloatArray) -> None:
    """Raise for rates of coordinates outside the range of the speeds of the system."""
    off = np.abs(qd - possible)
    k, i = np.unravel_index(int(off.argmax()), off.shape)
    if off[k, i] > tolerances.WRITTEN_TOLERANCE * max(1.0, float(np.abs(qd).max())):
        raise SimulationError(
            f"Model '{system.name}': the constraints do not allow this motion: at t = {t[k]:g} s the rate of "
            f"{system.q_names[i]} is {qd[k, i]:.6g}, and {possible[k, i]:.6g} is the nearest that they allow."
        )


def _programs(d: Derivation) -> Iterator[StraightLineProgram]:
    s = d.symbols
    refs = (*s.qdot, *s.levels.of(s.qdot, 1))
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot, "p": s.p}
    yield program(d.graph, inputs, {"rates": ((len(refs),), refs)}, "rates")
