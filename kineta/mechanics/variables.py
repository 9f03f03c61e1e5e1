"""The variables of the equations of a system, as nodes of the graph in which they are derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from kineta.algebra.expression import DESCRIPTIONS, Expr
from kineta.errors import ExpressionError
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.walk import reachable
from kineta.model.axis import Axis, unit
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.coercion import vector
from kineta.model.joints.joint import Joint
from kineta.model.parameters import constants
from kineta.model.reserved_symbols import added_force, momentum
from kineta.model.system import System
from kineta.passes.differentiate import forward, gradient
from kineta.passes.expand import SumsOfProducts
from kineta.passes.substitute import substitute
from kineta.passes.time_derivatives import TimeDerivatives
from kineta.records import dataclass
from kineta.spatial.vector import Vector
from kineta.threads import once

#: Number of nodes from which on an expression is not simplified.
LONG = 150


@dataclass(frozen=True)
class Symbols:
    """Time t, coordinates and first-order states q, speeds v, their rates vdot, added generalised forces tau, free parameters p.

    ``state_rates`` are the rates of the first-order states, on which no position depends. ``speeds`` are the speeds of the
    motions: v, or expressions of v in a system with quasi-velocities. ``names`` are the names of v, and ``known`` the meanings
    of further names.
    """

    system: System
    graph: Graph
    t: Ref
    q: tuple[Ref, ...]
    v: tuple[Ref, ...]
    vdot: tuple[Ref, ...]
    tau: tuple[Ref, ...]
    p: tuple[Ref, ...]
    speeds: tuple[Ref, ...]
    names: tuple[str, ...]
    known: Mapping[str, Ref] = field(default_factory=dict)
    state_rates: tuple[Ref, ...] = ()

    @property
    def projected(self) -> bool:
        """Return whether v are quasi-velocities, in which the speeds of the motions are expressions."""
        return self.names != self.system.base_speeds

    @property
    def coordinates(self) -> tuple[Ref, ...]:
        """The coordinates, without the first-order states."""
        return self.q[: len(self.q) - self.system.nz]

    @property
    def states(self) -> tuple[Ref, ...]:
        """The first-order states, which are the last of q."""
        return self.q[len(self.q) - self.system.nz :]

    @property
    def momenta(self) -> tuple[Ref, ...]:
        """The momenta dT/dv as variables of their own: ``p[q1]``."""
        return tuple(self.graph.symbol(momentum(n)) for n in self.names)

    @once
    def by_name(self) -> dict[str, Ref]:
        """References of all names of a description; a fixed parameter is its number."""
        s, g = self.system, self.graph
        fixed = {name: g.const(x) for name, x in constants(s.parameters).items()}
        rows = (
            *((s.q_names, self.q), (s.base_speeds, self.speeds), (self.names, self.v)),
            *((s.parameter_names, self.p), (("t",), (self.t,))),
        )
        named = {name: ref for names, refs in rows for name, ref in zip(names, refs, strict=True)}
        named |= {f"{name}'": rate for name, rate in zip(s.state_names, self.state_rates, strict=False)}
        return {**fixed, **self.known, **named}

    def expression(self, *expressions: Expr, more: dict[str, Ref] | None = None) -> list[Ref]:
        """*expressions* of the description in these variables; *more* are additional names."""
        replace = self.by_name if more is None else self.by_name | more
        with scaling_diagnosis(self.system):
            return substitute(DESCRIPTIONS, [e.ref for e in expressions], replace, self.graph)

    def direction(self, axis: Axis) -> Vector:
        """The unit vector along *axis*, normalised symbolically for expressions of parameters and in exact graphs."""
        found = self._directions.get(axis)
        if found is None:
            found = self._directions[axis] = self._direction(axis)
        return found

    @once
    def _directions(self) -> dict[Axis, Vector]:
        return {}

    def _direction(self, axis: Axis) -> Vector:
        g = self.graph
        e = Vector(g, *self.expression(*vector(axis)))
        x, y, z = (g.value(r) for r in e.refs)
        if x is not None and y is not None and z is not None and not g.exact:
            return Vector(g, *map(g.const, unit((x, y, z))))
        square = self.opened.shorter(e.dot(e))
        length = g.sqrt(square)
        return e if square == ONE else Vector(g, *(g.div(a, length) for a in e.refs))

    def joint(self, joint: Joint) -> tuple[list[Ref], list[int]]:
        """Coordinates (references) and speeds (indices in ``speeds``) of a joint."""
        return [self.by_name[n] for n in joint.coordinates], [self._places[n] for n in joint.speeds]

    def twist(self, joint: Joint, row: Sequence[Ref]) -> tuple[Vector, Vector]:
        """The linear and the angular part of a *joint* in a *row* over the speeds of the motions, in the axes after it."""
        return joint.vectors(self.graph, [row[self._places[n]] for n in joint.speeds])

    @once
    def _places(self) -> dict[str, int]:
        """Indices of the speeds of the motions."""
        return {n: k for k, n in enumerate(self.system.base_speeds)}

    @once
    def qdot(self) -> tuple[Ref, ...]:
        """Rates of the coordinates and states."""
        return (*self.motion_rates[: len(self.q) - len(self.state_rates)], *self.state_rates)

    @once
    def motion_rates(self) -> tuple[Ref, ...]:
        """What displaces the coordinates: v itself, and the kinematics of joints; zero for the states, which no displacement
        changes.
        """
        s = self.system
        rates = {n: self.by_name[f"{n}'"] for n in s.coordinates if n not in s.joints}
        for joint in s.joints.values():
            found = joint.rates(self.graph, self.joint(joint)[0], *self.twist(joint, self.speeds))
            rates.update(zip(joint.coordinates, found, strict=True))
        return tuple(rates.get(n, ZERO) for n in s.q_names)

    @once
    def _seeds(self) -> dict[Ref, Ref]:
        return {self.t: ONE, **dict(zip(self.q, self.qdot, strict=True))}

    @once
    def _position(self) -> dict[Ref, int]:
        return {v: k for k, v in enumerate(self.v)}

    def place_of_speed(self, ref: Ref) -> int | None:
        """The index in v of the symbol *ref* of either sign; None for others."""
        return self._position.get(ref & -2)

    def level(self, k: int) -> tuple[Ref, ...]:
        """The variables of order *k*: q, v, vdot, and symbols ``q1'''`` ..., created when first used."""
        while len(self._rows) <= k:
            marks = "'" * (len(self._rows) - 1)
            self._rows.append(tuple(self.graph.symbol(n + marks) for n in self.names))
        return self._rows[k]

    @once
    def _rows(self) -> list[tuple[Ref, ...]]:
        return [self.q, self.v, self.vdot]

    def order(self, refs: Iterable[Ref]) -> int:
        """The highest order of the variables in *refs*."""
        below = {2 * i for i in reachable(self.graph, list(refs))}
        return max((k for k, row in enumerate(self._rows) if not below.isdisjoint(row)), default=0)

    @once
    def levels(self) -> TimeDerivatives:
        """Time derivatives of any order along the motion."""
        return TimeDerivatives(self.graph, self.rate)

    def rate(self, symbol: Ref) -> Ref:
        """The rate of a *symbol* along the motion."""
        if symbol in self._seeds:
            return self._seeds[symbol]
        if symbol in self.p:
            return ZERO
        for k, row in enumerate(self._rows):
            if k and symbol in row:
                return self.level(k + 1)[row.index(symbol)]
        raise ExpressionError(f"'{self.graph.names[self.graph.lhs[symbol >> 1]]}' has no known rate of change.")

    def rates(self, refs: Sequence[Ref]) -> list[Ref]:
        """Time derivatives; of expressions that contain speeds, without the terms in dv/dt."""
        return forward(self.graph, refs, self._seeds)

    def displaced_rates(self, refs: Sequence[Ref]) -> list[Ref]:
        """:meth:`rates` with the states held."""
        return forward(self.graph, refs, {self.t: ONE, **dict(zip(self.q, self.motion_rates, strict=True))})

    def at_rest(self, ref: Ref) -> Ref:
        """*ref* for zero speeds."""
        return substitute(self.graph, [ref], self._still)[0]

    @once
    def _still(self) -> dict[str, Ref]:
        return dict.fromkeys(self.names, ZERO)

    def tidy(self, ref: Ref) -> Ref:
        """*ref* in a simplified form, in systems with quasi-velocities and for short expressions."""
        return self.shorter(ref) if self.system.quasi else ref

    def shorter(self, ref: Ref) -> Ref:
        """*ref* in a simplified form, for short expressions."""
        return self.opened.shorter(ref) if len(reachable(self.graph, [ref])) < LONG else ref

    @once
    def opened(self) -> SumsOfProducts:
        """Expanded forms of expressions of these variables."""
        return SumsOfProducts(self.graph, quaternions=self.system.quaternions)

    def by_speed(self, ref: Ref, weight: Ref = ONE) -> dict[int, Ref]:
        """Partial derivatives of *ref*, times *weight*, by the speeds, by index in v; without zeros."""
        found = gradient(self.graph, ref, self._position, weight)
        return {self._position[v]: self.tidy(partial) for v, partial in found.items()}


def symbols(system: System, graph: Graph) -> Symbols:
    """The variables of *system* as symbols of *graph*: ``q1``, ``q1'``, ``q1''``, ``tau[q1']``."""
    s, names = graph.symbol, system.v_names
    v = tuple(s(n) for n in names)
    return Symbols(
        system=system.expanded,
        graph=graph,
        t=s("t"),
        q=tuple(s(n) for n in system.q_names),
        v=v,
        vdot=tuple(s(f"{n}'") for n in names),
        tau=tuple(s(added_force(n)) for n in names),
        p=tuple(s(n) for n in system.parameter_names),
        speeds=v,
        names=names,
    )
