"""A motion as it is given: expressions of the time, arrays, a table in a file, or a run; with its speeds and accelerations.

Expressions are differentiated exactly, arrays as splines of fifth degree. In a closed system the motion of as many coordinates
as move independently is enough: the others follow from the constraints, and their rates from the rates of these::

    f(t, q) = 0        A v = -f_t        A vdot = -(A v)'
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.codegen.numpy import FUNCTIONS
from kineta.compiler import Equations, given_equations
from kineta.errors import ArgumentError, ExpressionError, SimulationError, did_you_mean, shown
from kineta.expr.node import Expr, symbol
from kineta.expr.program import program
from kineta.files import path_of
from kineta.model.contacts.limit import Limit
from kineta.model.infer import TIME
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.tasks.closing import Closing
from kineta.tasks.code import parameters
from kineta.tasks.rank import rank
from kineta.tasks.reading import load_result
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state
from kineta.threads import once
from kineta.values import numbers

FloatArray = NDArray[np.float64]

#: Degree of the splines through arrays.
DEGREE = 5
#: Part of the state by which a given motion may miss constraints.
MISSED = 1e-6
#: Largest change of a given coordinate over which the others are followed at once.
LONGEST = 0.25
#: Steps of Newton's method to speeds that are in constraints to higher powers.
NONLINEAR = 20
#: Part of the largest below which a pivot counts as nothing.
RANK = 1e-8


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of *equations* with the parameters *p*: times t (k,), coordinates q (k, nq) and speeds v (k, nv); and its
    ``accelerations`` (k, nv), or the forces ``tau`` (k, nv) under which it came to be.
    """

    equations: Equations
    p: FloatArray
    t: FloatArray
    q: FloatArray
    v: FloatArray
    accelerations: FloatArray | None = None
    tau: FloatArray | None = None

    @once
    def vdot(self) -> FloatArray:
        """The accelerations (k, nv)."""
        if self.accelerations is not None:
            return self.accelerations
        return np.asarray(self.equations.function("forward")(self.t, self.q, self.v, self.tau, p=self.p))

    @property
    def system(self) -> System:
        """What moves."""
        return self.equations.system


def trajectory(system: System | Equations, motion: Any, t: Any = None, p: Any = None) -> Trajectory:
    """The *motion* of *system* at the times *t*, as a :class:`Trajectory`.

    motion : a run; a mapping of coordinates to expressions of the time, as such or as text, numbers, or arrays (k,); an array
        (k, nq); the path of a run (``.nc``) or of a table (``.csv``) with a column ``t``. Arrays and tables may give speeds and
        accelerations too, by name (``q1'``, ``q1''``); else they are those of splines through the coordinates
    t : (k,) times, or one [s]; not for runs and tables
    p : parameters, as for :class:`~kineta.function.Function`; not for runs

    Raises :class:`ArgumentError` for what is no motion of the system, :class:`SimulationError` for one that its constraints do
    not allow.
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
    times = _times(t, motion)
    given = dict(_series(equations.system, motion, times, values))
    return _completed(regular(equations, times, given, values), times, given, values)


def _of_run(equations: Equations, run: Result, t: Any, p: Any) -> Trajectory:
    system = equations.system
    if (run.q_names, run.v_names) != (system.q_names, system.v_names):
        raise ArgumentError(f"Expected a run of '{system.name}', found one of '{run.model}' with other coordinates.")
    if names := ", ".join(c.name for c in system.contacts if not isinstance(c, Limit)):
        raise ArgumentError(
            f"Model '{system.name}': along its run contacts and dry friction act ({names}), whose forces are not known here; "
            "give the motion itself (--motion on the command line), and forces of your own in place of theirs."
        )
    if run.changes:
        at, what = run.changes[0]
        raise ArgumentError(
            f"Model '{system.name}': at t = {at:g} s of its run {what}, and what acts from there on is not known here; "
            "end the run before, or give the motion itself (--motion on the command line)."
        )
    if run.cases is not None:
        raise ArgumentError(
            f"Run of '{run.model}': expected one motion, found {len(run.cases)} cases; take run.case(i)."
        )
    if t is not None or p is not None:
        raise ArgumentError("A run has times and parameters of its own; leave out t and p.")
    values = np.array([run.parameters[n] for n in system.parameter_names])
    start = dict(zip(system.q_names, run.q[:1].T, strict=True))
    own = regular(equations, run.t[:1], {n: (x, x, x) for n, x in start.items()}, values)
    return Trajectory(own, values, run.t, run.q, run.v, tau=run.tau)


def regular(
    equations: Equations, t: FloatArray, given: Mapping[str, tuple[FloatArray, ...]], p: FloatArray
) -> Equations:
    """*equations* without the constraints that are redundant where a motion begins."""
    system = equations.system
    if system.quasi or not system.constraints:
        return equations
    q, v = initial_state(system, p=p)
    for name, (x, *_) in given.items():
        q[system.q_names.index(name)] = x[0]
    closing, t0 = Closing(equations, p), float(t[0])
    q = closing.position(t0, q, _held(system, given))
    return equations.without(rank(closing, t0, q, closing.velocity(t0, q, v)).left_out)


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
    """The columns of a table that are coordinates or rates of them, and its times."""
    if t is not None:
        raise ArgumentError("A table has times of its own; leave out t.")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
            columns = np.array(rows, dtype=np.float64).T
    except OSError as error:
        raise ArgumentError(f"{path}: the file cannot be read ({error.strerror}).") from None
    except (ValueError, UnicodeDecodeError, csv.Error) as error:
        raise ArgumentError(f"{path}: expected a table of numbers with names in the first line ({error}).") from None
    if TIME not in names or columns.ndim != 2 or len(columns) != len(names):
        raise ArgumentError(f"{path}: expected a column 't' and columns of coordinates, found {', '.join(names)}.")
    found = dict(zip(names, columns, strict=True))
    return {n: x for n, x in found.items() if n.rstrip("'") in system.q_names}, found[TIME]


def _times(t: Any, motion: Mapping[str, Any]) -> FloatArray:
    if t is None:
        raise ArgumentError("Expected the times t of the motion, as in t=np.linspace(0, 1, 101), found none.")
    times = np.atleast_1d(numbers("t", t))
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ArgumentError(f"Expected t as a row of finite times, found {shown(t)}.")
    if (np.diff(times) <= 0).any():
        k = int((np.diff(times) <= 0).argmax())
        raise ArgumentError(f"Expected t in rising order, found {times[k + 1]:g} after {times[k]:g}.")
    return times


def _series(
    system: System, motion: Mapping[str, Any], t: FloatArray, p: FloatArray
) -> Iterator[tuple[str, tuple[FloatArray, FloatArray, FloatArray]]]:
    """Coordinates with their values, rates and second rates."""
    rates = {f"{n}{mark}": n for n in system.q_names for mark in ("'", "''")}
    for name in motion:
        if name not in system.q_names and name not in rates:
            known = (*system.q_names, *rates)
            raise ArgumentError(f"Model '{system.name}' has no coordinate {shown(name)}.{did_you_mean(name, known)}")
    for name in (n for n in system.q_names if n in motion):
        value = motion[name]
        if isinstance(value, str):
            from kineta.model.io.kin import definitions

            value = definitions(f"x = {value}", f"motion of {name}")["x"]
        if isinstance(value, Expr):
            yield name, _of_expression(system, name, value, t, p)
        else:
            own = [motion.get(f"{name}{mark}") for mark in ("", "'", "''")]
            yield name, _of_array(name, own, t)


def _of_expression(
    system: System, name: str, value: Expr, t: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    (value,) = system.expand(value)
    fixed = {x.name: x.value for x in system.parameters if x.fixed and x.value is not None}
    known = {TIME: t, **fixed, **dict(zip(system.parameter_names, p.tolist(), strict=True))}
    for unknown in (n for n in value.symbols() if n not in known):
        raise ArgumentError(
            f"Motion of '{name}': expected an expression of t and parameters, found '{unknown}' in it."
            f"{did_you_mean(unknown, known)}"
        )
    found = []
    try:
        for _ in range(3):
            with np.errstate(all="ignore"):
                (values,) = evaluate(value.graph, [value.ref], known, FUNCTIONS)
            found.append(_finite(name, np.broadcast_to(values, t.shape).astype(np.float64), t))
            value = value.diff(symbol(TIME))
    except ExpressionError as error:
        raise ArgumentError(f"Motion of '{name}': {error}") from None
    q, v, a = found
    return q, v, a


def _of_array(name: str, given: Sequence[Any], t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    found: list[FloatArray | None] = []
    for mark, value in zip(("", "'", "''"), given, strict=True):
        values = None if value is None and mark else numbers(f"the motion of {name}{mark}", value)
        if values is not None and values.ndim == 0:
            values = np.full(t.shape, float(values))
        if values is not None and values.shape != t.shape:
            raise ArgumentError(
                f"Expected the motion of '{name}{mark}' of shape {t.shape}, one value for every time, found shape {values.shape}."
            )
        found.append(values if values is None else _finite(f"{name}{mark}", values, t))
    q, v, a = found
    assert q is not None
    return (
        q,
        _slope(q, t, 1) if v is None else v,
        (_slope(q, t, 2) if v is None else _slope(v, t, 1)) if a is None else a,
    )


def _slope(values: FloatArray, t: FloatArray, order: int) -> FloatArray:
    """The derivative of a spline through *values*."""
    from scipy.interpolate import make_interp_spline

    degree = min(DEGREE, len(t) - 1)
    if degree < order or not np.ptp(values):
        return np.zeros_like(values)
    return np.asarray(make_interp_spline(t, values, k=degree).derivative(order)(t))


def _finite(name: str, values: FloatArray, t: FloatArray) -> FloatArray:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ArgumentError(
            f"Motion of '{name}': expected finite numbers, found {values[bad[0]]} at t = {t[bad[0]]:g} s."
        )
    return values


# -- what follows ------------------------------------------------------------------------------------------------------


def _held(system: System, given: Mapping[str, Any]) -> list[int]:
    """The speeds of the given coordinates that have one of their own."""
    return [k for k, n in enumerate(system.base_speeds) if n.removesuffix("'") in given]


def _completed(
    equations: Equations, t: FloatArray, given: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]], p: FloatArray
) -> Trajectory:
    system = equations.system
    missing = [n for n in system.q_names if n not in given]
    if not missing and (system.quasi or not system.constraints):
        series = np.array([given[n] for n in system.q_names]).reshape(system.nq, 3, len(t))
        q, qd, qdd = (np.ascontiguousarray(series[:, k].T) for k in range(3))
        return _in_speeds(equations, p, t, _units(system, q), qd, qdd)
    if system.quasi or not system.constraints:
        raise ArgumentError(
            f"Model '{system.name}': the motion of {', '.join(missing)} is not given, and no constraint says it; give all of "
            f"{', '.join(system.q_names)}."
        )
    return _closed(equations, t, given, p)


def _units(system: System, q: FloatArray) -> FloatArray:
    for offset in system.quaternions.values():
        q[:, offset : offset + 4] /= np.linalg.norm(q[:, offset : offset + 4], axis=1, keepdims=True)
    return q


def _in_speeds(
    equations: Equations, p: FloatArray, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> Trajectory:
    """The motion in the speeds of the equations: v and vdot whose rates of coordinates are *qd* and *qdd*."""
    system = equations.system
    if not system.quasi and not system.joints:
        return Trajectory(equations, p, t, q, qd, qdd)
    made = equations.kept("rates of coordinates", lambda: _rates(equations))
    n, nq = system.nv, system.nq
    unit = np.vstack([np.zeros(n), np.eye(n)])
    rows = [np.repeat(x, n + 1, axis=0) for x in (t[:, None], q)]
    first = made.batch(*rows, np.tile(unit, (len(t), 1)), np.zeros(n), p).reshape(len(t), n + 1, 2, nq)[:, :, 0]
    ways = np.swapaxes(first[:, 1:] - first[:, :1], 1, 2)
    inverse = np.linalg.pinv(ways)
    v = np.einsum("kij,kj->ki", inverse, qd - first[:, 0])
    second = made.batch(t[:, None], q, v, np.zeros(n), p).reshape(len(t), 2, nq)
    _allowed(system, t, qd, second[:, 0])
    return Trajectory(equations, p, t, q, v, np.einsum("kij,kj->ki", inverse, qdd - second[:, 1]))


def _allowed(system: System, t: FloatArray, qd: FloatArray, possible: FloatArray) -> None:
    """Raise where rates of coordinates are none that the speeds of the system make."""
    off = np.abs(qd - possible)
    off[:, [o + k for o in system.quaternions.values() for k in range(4)]] = 0.0  # made units, whatever they were
    k, i = np.unravel_index(int(off.argmax()), off.shape)
    if off[k, i] > MISSED * max(1.0, float(np.abs(qd).max())):
        raise SimulationError(
            f"Model '{system.name}': the constraints do not allow this motion: at t = {t[k]:g} s the rate of "
            f"{system.q_names[i]} is {qd[k, i]:.6g}, and {possible[k, i]:.6g} is the nearest that they allow."
        )


def _rates(equations: Equations) -> llvm.NativeFunction:
    """First and second rates of the coordinates."""
    d = equations.alone()
    s = d.symbols
    refs = (*s.qdot, *s.levels.of(s.qdot, 1))
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot, "p": s.p}
    made = program(d.graph, inputs, {"rates": ((len(refs),), refs)}, "rates")
    return llvm.compile([made], batch=True).function("rates")


def _closed(
    equations: Equations, t: FloatArray, given: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]], p: FloatArray
) -> Trajectory:
    """The motion of a closed system from that of some of its coordinates, time after time."""
    system, closing = equations.system, Closing(equations, p)
    places = {n: k for k, n in enumerate(system.q_names)}
    held = _held(system, given)
    own = [n for n in given if f"{n}'" in system.base_speeds]
    E = np.eye(len(system.base_speeds))[[system.base_speeds.index(f"{n}'") for n in own]]
    q, v = initial_state(system, p=p)
    kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    before = float(t[0])
    for k, time in enumerate(t.tolist()):
        # On a short way the others stay on their branch.
        change = {n: (q[places[n]], x[k]) for n, (x, _, _) in given.items()}
        steps = int(np.ceil(max((abs(b - a) for a, b in change.values()), default=0.0) / LONGEST)) or 1
        for part in (np.arange(steps) + 1.0) / steps:
            q = q.copy()
            for n, (a, b) in change.items():
                q[places[n]] = a + part * (b - a) if part < 1 else b
            q = _units(system, q[None])[0]
            q = closing.position(before + part * (time - before), q, held)
        before = time
        for _ in range(1 if closing.closures.linear else NONLINEAR):
            A, last, _ = closing.linear(time, q, v)
            b = np.concatenate([A @ v - last, [given[n][1][k] for n in own]])
            v = _solved(system, time, np.vstack([A, E]), b, own)
        A, _, rest = closing.linear(time, q, v)
        vdot = _solved(system, time, np.vstack([A, E]), np.concatenate([-rest, [given[n][2][k] for n in own]]), own)
        _meets(closing, time, q, v)
        kept.append((q, v, vdot))
    q_all, v_all, vdot_all = (np.array(x) for x in zip(*kept, strict=True))
    return Trajectory(equations, p, t, q_all, v_all, vdot_all)


def _solved(system: System, t: float, A: FloatArray, b: FloatArray, given: Sequence[str]) -> FloatArray:
    """The speeds, or accelerations, that all rows ask for. Raises where they leave some open."""
    lengths = np.linalg.norm(A, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    found, _, count, _ = np.linalg.lstsq(A / lengths[:, None], b / lengths, rcond=RANK)
    n = A.shape[1]
    if count < n:
        free = np.linalg.svd(A / lengths[:, None])[2][count:]
        moving = [
            s.removesuffix("'") for s, x in zip(system.base_speeds, np.abs(free).max(axis=0), strict=True) if x > 1e-6
        ]
        what = f"the motion of {', '.join(given)}" if given else "this motion"
        raise SimulationError(
            f"Model '{system.name}': {what} leaves {n - count} more open at t = {t:g} s; give that of one of "
            f"{', '.join(moving)} too."
        )
    return np.asarray(found)


def _meets(closing: Closing, t: float, q: FloatArray, v: FloatArray) -> None:
    off = np.abs(closing.off(t, q, v))
    off = np.where(np.isfinite(off), off, np.inf)
    k = int(off.argmax())
    if off[k] > MISSED * closing.size(q, v):
        name = closing.labels[k]
        what = f"the rate of the constraint '{name[:-1]}'" if name.endswith("'") else f"the constraint '{name}'"
        raise SimulationError(
            f"Model '{closing.system.name}': no motion of this kind meets {what} at t = {t:g} s: the nearest one misses it by "
            f"{off[k]:.3g}. Give the motion of fewer coordinates, or one within reach."
        )
