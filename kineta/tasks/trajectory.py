"""A motion as it is given: expressions of the time, arrays, a table in a file, or a run; with its speeds and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations, equations_of, given_equations
from kineta.errors import ArgumentError, SimulationError, shown
from kineta.expr.program import program
from kineta.files import path_of
from kineta.model.system import System
from kineta.tasks import acted, completed
from kineta.tasks.closing import Closing
from kineta.tasks.code import parameters
from kineta.tasks.completed import MISSED
from kineta.tasks.course import Course, course
from kineta.tasks.limits import Within
from kineta.tasks.rank import rank
from kineta.tasks.reading import load_result
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state
from kineta.tasks.table import table
from kineta.threads import once
from kineta.values import numbers

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of *equations* with the parameters *p*, (np,) or (k, np): times t (k,), coordinates q (k, nq), speeds v (k, nv).

    accelerations : (k, nv), or None for a run, which came to be under the forces
    tau : (k, nv) on the speeds, that were given or are controls
    touching : (k, rows) those of contacts, limits and dry friction along their rows; None without any
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
        """The forces on the speeds under which a run came to be, beside those of its model, (k, nv)."""
        assert self.tau is not None
        return self.tau + self.touched

    @once
    def touched(self) -> FloatArray:
        """What contacts, limits and dry friction did on the speeds in a run, (k, nv)."""
        if self.touching is None:
            return np.zeros_like(self.v)
        shares = acted.on_speeds(self.equations, self.t, self.q, self.v, self.p)
        return np.asarray(np.einsum("kr,krn->kn", self.touching, shares))

    @property
    def system(self) -> System:
        """What moves."""
        return self.equations.system


def trajectory(system: System | Equations, motion: Any, t: Any = None, p: Any = None) -> Trajectory:
    """The *motion* of *system* at the times *t*, as a :class:`Trajectory`.

    motion : a run; a mapping of coordinates to expressions of the time, as such or as text, numbers, or arrays (k,); an array
        (k, nq); the path of a run (``.nc``) or of a table (``.csv``) with a column ``t``. Arrays and tables may give speeds and
        accelerations too, by name (``q1'``, ``q1''``); else they are those of splines through the coordinates. A speed of the
        motions alone, ``q1'`` or ``b.wx``, stands for a coordinate that is integrated from ``initial``
    t : (k,) times, or one [s]; not for runs and tables
    p : parameters, as for :class:`~kineta.function.Function`; not for runs

    Raises :class:`ArgumentError` for what is no motion of the system, :class:`SimulationError` for one that its constraints do
    not allow. Warns of one that goes beyond limits.
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
    found = _of_course(equations, course(equations.system, motion, times, values), times, values)
    Within(equations).warn(found.t, found.q, found.p)
    return found


def at_rest(
    equations: Equations, t: float, q: FloatArray, p: FloatArray, named: Mapping[str, float] | None = None
) -> Trajectory:
    """Rest in the position *q*, moved onto the constraints, or, where some coordinates are *named*, in that to which the others
    come from there as these go to their values; where constraints go on with the time, their least motion.
    """
    system, closing, given = equations.system, Closing(equations, p), dict(named or {})
    places = [system.q_names.index(n) for n in given]
    held = [k for k, n in enumerate(system.base_speeds) if n.removesuffix("'") in given]
    q = completed.followed(closing, (t, t), q, places, np.array([*given.values()]), held)
    v, vdot = completed.least(closing, t, q)
    times = np.array([t])
    found = _in_speeds(regular(equations, t, q, p), p, times, q[None], v[None], vdot[None])
    Within(equations).warn(found.t, found.q, found.p)
    return found


def _of_run(equations: Equations, run: Result, t: Any, p: Any) -> Trajectory:
    system = equations.system
    acted.check_of(system, run)
    if run.cases is not None:
        raise ArgumentError(
            f"Run of '{run.model}': expected one motion, found {len(run.cases)} cases; take run.case(i)."
        )
    if t is not None or p is not None:
        raise ArgumentError("A run has times and parameters of its own; leave out t and p.")
    values = acted.parameters(system, run)
    first = values if values.ndim == 1 else values[0]
    own = regular(equations, float(run.t[0]), run.q[0], first)
    tau, touching = acted.given(system, run), acted.touching(equations, run)
    return Trajectory(own, values, run.t, run.q, run.v, tau=tau, touching=touching)


def regular(equations: Equations, t: float, q: FloatArray, p: FloatArray) -> Equations:
    """*equations* without the constraints that are redundant where a motion begins, near to *q*."""
    system = equations.system
    if system.quasi or not system.constraints:
        return equations
    closing, (_, v) = Closing(equations, p), initial_state(system, p=p)
    q = closing.position(t, q)
    return equations.without(rank(closing, t, q, closing.velocity(t, q, v)).left_out)


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
    """The columns of a table that are coordinates, speeds of the motions, or rates of them; and its times."""
    if t is not None:
        raise ArgumentError("A table has times of its own; leave out t.")
    times, columns = table(path)
    known = {f"{n}{mark}" for n in (*system.q_names, *system.base_speeds) for mark in ("", "'", "''")}
    return {n: x for n, x in columns.items() if n in known}, times


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
        return _in_speeds(equations, p, t, *completed.whole(given, t))
    if not system.constraints and len(given.driven) < len(system.base_speeds):
        raise completed.missing(given)
    closing = Closing(equations, p)
    start = completed.beginning(given, closing, float(t[0]), initial_state(system, p=p)[0])
    own = regular(equations, float(t[0]), start, p)
    return _in_speeds(own, p, t, *completed.completed(given, closing, t, start))


def _in_speeds(
    equations: Equations, p: FloatArray, t: FloatArray, q: FloatArray, v: FloatArray, vdot: FloatArray
) -> Trajectory:
    """The motion in the speeds of the equations, from the speeds *v* of the motions and their rates."""
    system = equations.system
    if not system.quasi:
        return Trajectory(equations, p, t, q, v, vdot)
    bare = equations_of(system.unconstrained)
    motions, own = (_rates(x) for x in (bare, equations))
    n, nq = system.nv, system.nq
    wanted = motions.batch(t[:, None], q, v, vdot, p).reshape(len(t), 2, nq)
    unit = np.vstack([np.zeros(n), np.eye(n)])
    rows = [np.repeat(x, n + 1, axis=0) for x in (t[:, None], q)]
    first = own.batch(*rows, np.tile(unit, (len(t), 1)), np.zeros(n), p).reshape(len(t), n + 1, 2, nq)[:, :, 0]
    ways = np.swapaxes(first[:, 1:] - first[:, :1], 1, 2)
    inverse = np.linalg.pinv(ways)
    speeds = np.einsum("kij,kj->ki", inverse, wanted[:, 0] - first[:, 0])
    second = own.batch(t[:, None], q, speeds, np.zeros(n), p).reshape(len(t), 2, nq)
    _allowed(system, t, wanted[:, 0], second[:, 0])
    return Trajectory(equations, p, t, q, speeds, np.einsum("kij,kj->ki", inverse, wanted[:, 1] - second[:, 1]))


def _allowed(system: System, t: FloatArray, qd: FloatArray, possible: FloatArray) -> None:
    """Raise where rates of coordinates are none that the speeds of the system make."""
    off = np.abs(qd - possible)
    k, i = np.unravel_index(int(off.argmax()), off.shape)
    if off[k, i] > MISSED * max(1.0, float(np.abs(qd).max())):
        raise SimulationError(
            f"Model '{system.name}': the constraints do not allow this motion: at t = {t[k]:g} s the rate of "
            f"{system.q_names[i]} is {qd[k, i]:.6g}, and {possible[k, i]:.6g} is the nearest that they allow."
        )


def _rates(equations: Equations) -> llvm.NativeFunction:
    """First and second rates of the coordinates."""
    return equations.kept("rates of coordinates", lambda: _compiled(equations))


def _compiled(equations: Equations) -> llvm.NativeFunction:
    d = equations.alone()
    s = d.symbols
    refs = (*s.qdot, *s.levels.of(s.qdot, 1))
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot, "p": s.p}
    made = program(d.graph, inputs, {"rates": ((len(refs),), refs)}, "rates")
    return llvm.compile([made], batch=True).function("rates")
