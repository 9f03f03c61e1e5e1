"""Prescribed motions: expressions of the time, or arrays, with their rates.

Expressions are differentiated exactly. Arrays are interpolated by splines of fifth degree, arrays with speeds, or with speeds
and accelerations, by Hermite polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr, symbol
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.errors import ArgumentError, ExpressionError, did_you_mean, shown
from kineta.expr.graph import ONE, Graph
from kineta.model.joints.joint import Joint
from kineta.model.name_inference import point_components
from kineta.model.parameters import named_values
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, solve
from kineta.passes.differentiate import forward, forwards
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.values import numbers

#: Degree of the splines through arrays.
DEGREE = 5

#: A value with its rates at the times (k,): (orders, k).
Rates = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Course:
    """The prescribed motion of *system*.

    coordinates : with their rates and second rates
    speeds : of the joints, with their rates; for joints with prescribed coordinates they replace the rates of these
    """

    system: System
    coordinates: Mapping[str, Rates]
    speeds: Mapping[str, Rates]

    @property
    def places(self) -> list[int]:
        """The places of the prescribed coordinates in q."""
        return [self.system.q_names.index(n) for n in self.coordinates]

    @property
    def held(self) -> list[int]:
        """The places of the joint speeds that move prescribed coordinates alone."""
        own = [n for n in self.coordinates if f"{n}'" in self.system.base_speeds]
        return [self.system.base_speeds.index(n) for n in (*(f"{n}'" for n in own), *self._of_joints)]

    @property
    def driven(self) -> list[int]:
        """The places of the prescribed joint speeds, ``held`` first."""
        return [*self.held, *(self.system.base_speeds.index(n) for n in self._alone)]

    @property
    def names(self) -> list[str]:
        """The names of the prescribed coordinates and speeds."""
        return [*self.coordinates, *self._alone]

    @property
    def _of_joints(self) -> list[str]:
        """The speeds of the ball joints and free bodies with prescribed coordinates."""
        joints = self.system.joints.values()
        return [n for m in joints if m.coordinates[-1] in self.coordinates for n in m.speeds]

    @property
    def _alone(self) -> list[str]:
        """The speeds prescribed without their coordinates."""
        return [n for n in self.speeds if n not in self._of_joints]

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the prescribed coordinates (k, places), and speeds (k, driven) with their rates, at the times *t* (k,)."""
        own = {n: rates(t) for n, rates in self.coordinates.items()}
        speeds = [own[n][1:] for n in own if f"{n}'" in self.system.base_speeds]
        for joint in self.system.joints.values():
            names = joint.coordinates
            if names[-1] in own:
                found = dict(zip(joint.speeds, _of_joint(joint, np.array([own[n] for n in names])), strict=True))
                speeds += (self.speeds[n](t) if n in self.speeds else x for n, x in found.items())
                turned = np.array([own[n][0] for n in joint.quaternion])
                for n, x in zip(joint.quaternion, turned / norm(turned, axis=0), strict=True):
                    own[n] = x[None]
        speeds += [self.speeds[n](t) for n in self._alone]
        rows = np.array(speeds).reshape(len(speeds), 2, len(t))
        return np.array([own[n][0] for n in own]).reshape(len(own), len(t)).T, rows[:, 0].T, rows[:, 1].T


def _of_joint(joint: Joint, x: FloatArray) -> Iterator[FloatArray]:
    """Yield the speeds of a joint and their rates, from coordinates with two rates, (coordinates, 3, k); for a ball joint or
    free body::

    w = 2 q* q'        v = R^T x'
    """
    if not joint.quaternion:
        yield from _by_rates(joint, x)
        return
    (s, *u), (s1, *u1), (s2, *u2) = (x[-4:, order] for order in range(3))
    q, q1, q2 = (np.array([s, *u]), np.array([s1, *u1]), np.array([s2, *u2]))
    size = (q * q).sum(axis=0)
    w = 2 * _vector(q, q1) / size
    wdot = 2 * _vector(q, q2) / size - 2 * w * (q * q1).sum(axis=0) / size
    if len(x) > 4:
        v = _seen(q, x[:3, 1]) / size
        vdot = _seen(q, x[:3, 2]) / size - np.cross(w, v, axis=0)
        yield from np.stack([v, vdot], axis=1)
    yield from np.stack([w, wdot], axis=1)


def _by_rates(joint: Joint, x: FloatArray) -> FloatArray:
    """Return the speeds v of a joint and their rates, (speeds, 2, k), by the rates q' = N v of as many coordinates."""
    g = Graph()
    q, rates, v = (
        [g.symbol(f"{n}{mark}") for n in names]
        for names, mark in ((joint.coordinates, ""), (joint.coordinates, "'"), (joint.speeds, ""))
    )
    found = joint.rates(g, q, *joint.vectors(g, v))
    columns = [r for column in forwards(g, found, [{u: ONE} for u in v]) for r in column]
    known = dict(zip([g.names[g.lhs[r >> 1]] for r in (*q, *rates)], np.concatenate([x[:, 0], x[:, 1]]), strict=True))

    def values(refs: list[int]) -> FloatArray:
        return np.array([np.broadcast_to(value, x.shape[-1]) for value in evaluate(g, refs, known, FUNCTIONS)])

    what = f"the speeds of '{joint.name}'"
    N = values(columns).reshape(len(v), len(q), -1).transpose(2, 1, 0)
    own = solve(N, x[:, 1].T[..., None], what=what)
    known |= dict(zip(joint.speeds, own[..., 0].T, strict=True))
    moving = values(forward(g, found, dict(zip(q, rates, strict=True))))
    more = solve(N, (x[:, 2] - moving).T[..., None], what=what)
    return np.stack([own[..., 0].T, more[..., 0].T], axis=1)


def _vector(q: FloatArray, r: FloatArray) -> FloatArray:
    """Return the vector part of q* r, of quaternions (4, k)."""
    return np.asarray(q[0] * r[1:] - r[0] * q[1:] - np.cross(q[1:], r[1:], axis=0))


def _seen(q: FloatArray, x: FloatArray) -> FloatArray:
    """Return |q|^2 R(q)^T x, the vectors *x* (3, k) in the frame rotated by the quaternions *q* (4, k)."""
    u = q[1:]
    return np.asarray(
        (q[0] ** 2 - (u * u).sum(axis=0)) * x + 2 * (u * x).sum(axis=0) * u - 2 * q[0] * np.cross(u, x, axis=0)
    )


# -- from what users give ----------------------------------------------------------------------------------------------


def _place_hint(system: System, name: object) -> str:
    """Advice on a motion of the point or body *name*, or of a component of it; "" where it is none."""
    places = {*(b.name for b in system.bodies), *(p.name for p in system.points)}
    if name not in places | point_components(system):
        return ""
    found = name if name in places else str(name).rpartition(".")[0]
    return (
        f" '{found}' is a place. Find the coordinates that bring it where it shall be, at each time, by kn.inverse_kinematics "
        "(kineta place), and give these; or let a constraint of the model, with the time in it, lead the place."
    )


def course(system: System, motion: Mapping[str, Any], t: FloatArray, p: FloatArray) -> Course:
    """Return the course of *motion* at the times *t*, with the parameters *p*. Raises :class:`ArgumentError` for no course."""
    own = {n: n for n in system.q_names} | {n: n for n in system.base_speeds}
    marked = {f"{n}{mark}": n for n in own for mark in ("'", "''") if f"{n}{mark}" not in own}
    for name in motion:
        if name not in own and name not in marked:
            hint = _place_hint(system, name) or did_you_mean(name, (*own, *marked))
            raise ArgumentError(f"Model '{system.name}' has no coordinate {shown(name)}.{hint}")
    coordinates = {n: _given(system, n, ("", "'", "''"), motion, t, p) for n in system.q_names if n in motion}
    _whole(system, coordinates)
    _turned(system, coordinates, t)
    found = Course(system, coordinates, {})
    rest = [n for n in system.base_speeds if n in motion and n.removesuffix("'") not in coordinates]
    speeds = {n: _given(system, n, ("", "'"), motion, t, p) for n in rest}
    for name in motion:
        base = name.rstrip("'")
        if not {name, base, f"{base}'"} & {*coordinates, *speeds}:
            raise ArgumentError(f"Motion of '{name}': expected '{name[:-1]}' beside it, of which it is the rate.")
    for name in found._of_joints:
        if name in motion and not _is_array(motion[name]):
            raise ArgumentError(
                f"Motion of '{name}': it follows from the coordinates of its joint, which are given; leave it out."
            )
    return Course(system, coordinates, speeds)


def given_course(system: System, name: str, motion: Mapping[str, Any], t: FloatArray, p: FloatArray) -> FloatArray:
    """Return the first-order state *name* with its rate, (2, k), along a *motion* at the times *t*."""
    if f"{name}'" in motion:
        raise ArgumentError(f"Motion of '{name}': the rate of a state follows from the model; leave {name}' out.")
    return _given(system, name, ("", "'"), motion, t, p)(t)


def is_exact(motion: Mapping[str, Any]) -> bool:
    """Whether a *motion* is expressions of the time alone, whose rates are exact."""
    return not any(map(_is_array, motion.values()))


def _is_array(value: Any) -> bool:
    return not isinstance(value, str | Expr) and np.ndim(value) > 0


def _whole(system: System, given: Mapping[str, Rates]) -> None:
    """Raise for an incomplete set of coordinates of a joint."""
    for joint in system.joints.values():
        names = joint.coordinates
        missing = [n for n in names if n not in given]
        if 0 < len(missing) < len(names):
            raise ArgumentError(
                f"Motion of '{joint.name}': expected all of {', '.join(names)}, or none of them, found none of "
                f"{', '.join(missing)}."
            )


def _turned(system: System, given: Mapping[str, Rates], t: FloatArray) -> None:
    """Raise for a quaternion of length zero, which is no rotation."""
    for joint in system.joints.values():
        names = joint.quaternion
        if given.keys().isdisjoint(names):
            continue
        sizes = norm([given[n](t)[0] for n in names], axis=0)
        if not sizes.all():
            raise ArgumentError(
                f"Motion of '{joint.name}': the quaternion {', '.join(names)} is zero at t = {t[sizes.argmin()]:g} s; expected "
                "one of unit length, (qw, qx, qy, qz) = (cos(a/2), e sin(a/2)), or of another, which is made one."
            )


def _given(
    system: System, name: str, marks: Sequence[str], motion: Mapping[str, Any], t: FloatArray, p: FloatArray
) -> Rates:
    """Return a coordinate or speed with the rates that *marks* name."""
    value, names = motion[name], [f"{name}{mark}" for mark in marks]
    rates = [n for n in names[1:] if n in motion]
    if isinstance(value, str):
        from kineta.model.io.kin_reader import expression

        value = expression(value, f"motion of {name}")
    if rates and not _is_array(value):
        raise ArgumentError(
            f"Motion of '{name}': the rate '{rates[0]}' follows from '{name}' as it is given; leave it out. Rates of their own "
            "go with arrays."
        )
    if isinstance(value, Expr):
        found = _of_expression(system, name, value, p, len(marks))
    else:
        found = _of_arrays([_array(x, motion[x], t) if x in (name, *rates) else None for x in names], t)
    for own, x in zip(names, found(t), strict=True):
        _finite(own, x, t)
    return found


def _of_expression(system: System, name: str, value: Expr, p: FloatArray, orders: int) -> Rates:
    (value,) = system.expand(value)
    known = named_values(system.parameters, p.tolist())
    for unknown in (n for n in value.symbols() if n not in known and n != TIME):
        raise ArgumentError(
            f"Motion of '{name}': expected an expression of t and parameters, found '{unknown}' in it."
            f"{did_you_mean(unknown, [TIME, *known])}"
        )
    try:
        values = [value]
        while len(values) < orders:
            values.append(values[-1].diff(symbol(TIME)))
    except ExpressionError as error:
        raise ArgumentError(f"Motion of '{name}': {error}") from None
    refs = [x.ref for x in values]

    def rates(t: FloatArray) -> FloatArray:
        try:
            with np.errstate(all="ignore"):
                found = evaluate(value.graph, refs, {**known, TIME: t}, FUNCTIONS)
        except ExpressionError as error:
            raise ArgumentError(f"Motion of '{name}': {error}") from None
        return np.array([np.broadcast_to(x, t.shape) for x in found], dtype=np.float64)

    return rates


def _array(name: str, value: Any, t: FloatArray) -> FloatArray:
    values = numbers(f"the motion of {name}", value)
    if values.ndim == 0:
        values = np.full(t.shape, float(values))
    if values.shape != t.shape:
        raise ArgumentError(
            f"Expected the motion of '{name}' of shape {t.shape}, one value for every time, found shape {values.shape}."
        )
    return _finite(name, values, t)


def _of_arrays(given: Sequence[FloatArray | None], t: FloatArray) -> Rates:
    """Return the interpolation of values and, where given, their rates; it reproduces them exactly at the times *t*."""
    from scipy.interpolate import BPoly

    known: list[FloatArray] = []
    for x in given[: 1 + max(k for k, x in enumerate(given) if x is not None)]:
        known.append(_spline(t, known[-1])(t, 1) if x is None else x)
    if len(t) == 1 or not (np.ptp(known[0]) or any(x.any() for x in known[1:])):
        fixed = np.array([known[k][0] if k < len(known) else 0.0 for k in range(len(given))])
        return lambda times: np.repeat(fixed[:, None], len(times), axis=1)
    last = len(known) - 1
    curve, rest = BPoly.from_derivatives(t, np.stack(known, axis=1)), _spline(t, known[-1])

    def rates(times: FloatArray) -> FloatArray:
        inside = [curve(times, nu=k) if last else rest(times, k) for k in range(len(known))]
        exact = known if np.array_equal(times, t) else inside
        return np.array([*exact, *(rest(times, k) for k in range(1, len(given) - last))])

    return rates


def _spline(t: FloatArray, values: FloatArray) -> Callable[[FloatArray, int], FloatArray]:
    """Return the interpolating spline of *values*, a function of times and the order of a derivative."""
    from scipy.interpolate import make_interp_spline

    degree = min(DEGREE, len(t) - 1)
    made = make_interp_spline(t, values, k=degree)
    return lambda times, order: np.asarray(made(times, nu=order) if order <= degree else np.zeros(len(times)))


def _finite(name: str, values: FloatArray, t: FloatArray) -> FloatArray:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ArgumentError(
            f"Motion of '{name}': expected finite numbers, found {values[bad[0]]} at t = {t[bad[0]]:g} s."
        )
    return values
