"""Rigid motion in numbers: products of the frames of the description, as Taylor series in time.

Nothing of the equations enters, so that it is an independent reference for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph
from kineta.model.body import GROUND, Body, Station
from kineta.model.elements.coordinate import Coordinate, Length
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.model.name_inference import derivative_order
from kineta.model.reserved_symbols import NAME, POINT_COMPONENTS, TIME
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.tasks.verification.taylor_series import Numbers, TaylorSeries, functions, integrate
from kineta.threads import once

#: Arrays of series, or of constant numbers: vectors (3,), matrices (3, 3).
Vector = Any
#: Axes (body to ground) and origin of a frame.
Frame = tuple[Any, Vector]


#: Names of vectors by their order of differentiation: of positions, and of angular velocities.
_MOVES, _TURNS = ("r", "v", "a", "jerk"), ("w", "eps")
_VECTOR = re.compile(
    rf"\|?(?P<kind>{'|'.join((*_MOVES, *_TURNS))})\((?P<of>{NAME.pattern})(?: in (?P<frame>{NAME.pattern}))?\)"
    r"(?:\||\.(?P<part>[xyz]))(?P<primes>'*)"
)


class UnknownNameError(KeyError):
    """A name unknown to the reference kinematics."""


def norm(v: Vector) -> Any:
    """Return the length of a vector."""
    return (v @ v) ** 0.5


class RigidMotion:
    """The motion of *system* from the coordinates *q*, the joint *speeds* with derivatives, and the parameters, all by name.

    *time* is the instant and its rate; ``named`` are the values of all names. ``across`` gives the two directions of rows normal
    to an axis, which form a right-handed triad with it.
    """

    across: Callable[[Any], tuple[Vector, Vector]]

    def __init__(
        self,
        system: System,
        q: Mapping[str, Any],
        speeds: Mapping[str, Sequence[Any]],
        parameters: Mapping[str, Any],
        time: tuple[Any, Any],
        numbers: Numbers,
    ) -> None:
        self.system = system
        self.functions = functions(numbers)
        self.orders = 1 + max(map(len, speeds.values()), default=0)
        rest = [0] * (self.orders - 2)
        self.named: dict[str, Any] = {TIME: TaylorSeries([*time, *rest])}
        self.named |= {name: TaylorSeries([value, 0, *rest]) for name, value in parameters.items()}
        self.speeds = {name: of_derivatives(own) for name, own in speeds.items()}
        self.named |= self.speeds
        own = system.state_names
        self.named |= {name: TaylorSeries([q[name], 0, *rest]) for name in own}
        self._move({name: TaylorSeries([value]) for name, value in q.items() if name not in own})

    def _move(self, q: dict[str, TaylorSeries]) -> None:
        for _ in range(self.orders - 1):
            rates = {n: self.speeds[f"{n}'"] for n in q if f"{n}'" in self.speeds}
            for joint in self.system.joints.values():
                rates |= self._joint_rates(joint, q)
            for name, own in q.items():
                integrate(own, rates[name])
        self.named |= q

    def carry(self) -> None:
        """Let the first-order states, which are constant so far, move with their rates."""
        states = {own.name: TaylorSeries(self.named[own.name].c[:1]) for own in self.system.states}
        for k in range(1, self.orders):
            rest = [0] * (self.orders - k)
            self.named |= {name: TaylorSeries([*own.c, *rest]) for name, own in states.items()}
            rates = [self.value(own.rate) for own in self.system.states]
            for own, found in zip(states.values(), rates, strict=True):
                own.c.append(found.c[k - 1] / k if isinstance(found, TaylorSeries) else found * (k == 1))
        self.named |= states

    def _joint_rates(self, joint: Joint, q: Mapping[str, TaylorSeries]) -> dict[str, TaylorSeries]:
        """Return the rates of the coordinates of a joint."""
        g = Graph()
        vectors = joint.vectors(g, [g.symbol(n) for n in joint.speeds])
        rates = joint.rates(g, [g.symbol(n) for n in joint.coordinates], *vectors)
        known = {n: q[n] for n in joint.coordinates} | {n: self.speeds[n] for n in joint.speeds}
        return dict(zip(joint.coordinates, evaluate(g, rates, known, self.functions), strict=True))

    # -- frames -----------------------------------------------------------------------------------------------------------

    @once
    def frames(self) -> dict[str, Frame]:
        """The frames of the ground and of all bodies."""
        found: dict[str, Frame] = {GROUND: (np.eye(3).astype(object), np.zeros(3).astype(object))}
        for body in self.system.tree:
            R, r = found[body.base]
            for motion in body.motions:
                S, d = self._step(motion)
                R, r = R @ S, r + R @ d
            found[body.name] = R, r
        return found

    def _step(self, motion: Motion) -> Frame:
        """Return rotation and translation of a motion of a joint."""
        still = np.zeros(3).astype(object)
        if isinstance(motion, Joint):
            g = Graph()
            Q, d = motion.frame(g, [g.symbol(n) for n in motion.coordinates])
            found = np.array(evaluate(g, [*Q.refs, *d.refs], self.named, self.functions), dtype=object)
            return found[:9].reshape(3, 3), found[9:]
        assert isinstance(motion, ElementaryMotion)
        e, argument = self.direction(motion.axis), self.value(motion.argument)
        if not motion.turns:
            return np.eye(3).astype(object), e * argument
        c, s = (self.value_of(f, argument) for f in ("cos", "sin"))
        K = _crossing(e)
        return np.eye(3).astype(object) * c + K * s + np.outer(e, e) * (1 - c), still

    def value_of(self, function: str, x: Any) -> Any:
        """Return a function of a series or of a number."""
        from kineta.expr.op import FUNCTIONS

        return self.functions[FUNCTIONS[function]](
            x if isinstance(x, TaylorSeries) else TaylorSeries([x, *[0] * (self.orders - 1)])
        )

    def direction(self, axis: Sequence[Any]) -> Vector:
        """Return the unit vector of numbers or expressions."""
        e = np.array([self.value(x) if isinstance(x, Expr) else x for x in axis], dtype=object)
        return e / norm(e) if any(isinstance(x, Expr) for x in axis) else e

    def place(self, station: Station) -> Vector:
        """Return the position of a place, in ground axes."""
        R, r = self.frames[station.body]
        return r + R @ self.vector(station.position)

    def vector(self, components: Sequence[Expr]) -> Vector:
        """Return the vector of expressions."""
        return np.array([self.value(x) for x in components], dtype=object)

    def axis(self, body: str, axis: Sequence[Any]) -> Vector:
        """Return a direction fixed in a body, in ground axes."""
        return self.frames[body][0] @ self.direction(axis)

    @once
    def turning(self) -> dict[str, Vector]:
        """The angular velocities of all bodies, in ground axes."""
        found = {}
        for name, (R, _) in self.frames.items():
            W = rate(R) @ R.T
            found[name] = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]], dtype=object) * 0.5
        return found

    @once
    def stations(self) -> dict[str, Station]:
        """Places by the names of bodies and points."""
        points = {p.name: Station(p.body, p.position) for p in self.system.points}
        return {name: Station(name) for name in self.system.frames} | points

    def mass(self, body: Body) -> tuple[Any, Vector, Any]:
        """Return mass, mass centre and central inertia tensor, in ground axes."""
        own, (R, r) = body.inertia, self.frames[body.name]
        (a, b, c), (ab, ac, bc) = self.vector(own.moments), self.vector(own.products)
        J = np.array([[a, ab, ac], [ab, b, bc], [ac, bc, c]], dtype=object)
        return self.value(own.mass), r + R @ self.vector(own.com), R @ J @ R.T

    # -- expressions ------------------------------------------------------------------------------------------------------

    def value(self, e: Expr, more: Mapping[str, Any] | None = None) -> Any:
        """Return the value of an expression. Raises :class:`UnknownNameError` for an unknown name in it."""
        more = more or {}
        names = {n: more[n] if n in more else self.named_by(n) for n in e.symbols()}
        (found,) = evaluate(e.graph, [e.ref], names, self.functions)
        return found

    def named_by(self, name: str) -> Any:
        """Return the value of a name. Raises :class:`UnknownNameError` for an unknown one."""
        if name in self.named:
            return self.named[name]
        if found := _VECTOR.fullmatch(name):
            return self._part(**found.groupdict())
        owner, _, component = name.rpartition(".")
        if owner in self.stations and component in POINT_COMPONENTS:
            k = POINT_COMPONENTS.index(component)
            x = self.place(self.stations[owner])[k % 3]
            return x if k < 3 else rate(x)
        bare = name.rstrip("'")
        for own in (bare, f"{bare}'"):
            if own in self.named and len(name) > len(own):
                return _rates(self.named[own], len(name) - len(own))
        raise UnknownNameError(name)

    def _part(self, kind: str, of: str, frame: str | None, part: str | None, primes: str) -> Any:
        """Return a component in the axes of a frame, or the magnitude, of a vector; positions are from the frame's origin."""
        S, o = self.frames[frame or GROUND]
        if kind in _TURNS:
            own = _rates(self.turning[of], _TURNS.index(kind))
        else:
            x = self.place(self.stations[of])
            own = _rates(x, _MOVES.index(kind)) if kind != "r" else x - o
        value = norm(own) if part is None else (S.T @ own)["xyz".index(part)]
        return _rates(value, len(primes))

    def coordinate(self, coordinate: Coordinate) -> tuple[Any, Any]:
        """Return a coordinate and its rate; an expression in speeds is a rate itself."""
        if isinstance(coordinate, Length):
            length = norm(self.place(coordinate.end) - self.place(coordinate.start))
            return length, rate(length)
        rho = self.value(coordinate)
        return rho, rho if derivative_order(self.system, coordinate) else rate(rho)


def of_derivatives(values: Sequence[Any]) -> TaylorSeries:
    """Return the series with the derivatives *values*."""
    found, factor = list[Any](), 1
    for k, x in enumerate(values):
        factor *= max(k, 1)
        found.append(x / factor)
    return TaylorSeries(found)


def _crossing(e: Vector) -> Any:
    """Return the cross-product matrix [e x]."""
    x, y, z = e
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)


def rate(x: Any) -> Any:
    """Return the rates of a series, or of an array of series; 0 for a number."""
    return _rates(x, 1)


def _rates(x: Any, k: int) -> Any:
    for _ in range(k):
        x = _each(lambda own: own.rate if isinstance(own, TaylorSeries) else 0, x)
    return x


def _each(change: Any, x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return change(x)
    found = np.empty(x.shape, dtype=object)
    for i, own in np.ndenumerate(x):
        found[i] = change(own)
    return found


def numbers_of(x: Any, k: int, shape: tuple[int, ...]) -> Any:
    """Return the k-th derivatives of a series, or of an array of series, (*shape, *array shape)."""
    cells = np.asarray(x, dtype=object) if isinstance(x, np.ndarray) else _cell(x)
    columns = [
        np.broadcast_to(own.derivative(k) if isinstance(own, TaylorSeries) else own * (k == 0), shape)
        for own in cells.flat
    ]
    return np.stack(columns, axis=-1).reshape(*shape, *cells.shape)


def _cell(x: Any) -> Any:
    found = np.empty((), dtype=object)
    found[()] = x
    return found
