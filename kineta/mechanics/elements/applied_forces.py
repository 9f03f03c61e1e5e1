"""Actions of the elements of a system: wrenches on links, generalised forces, potential, power (docs/theory.md, 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kineta.algebra.expression import Expr
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.sweeps import generalized, rate_forces
from kineta.mechanics.kinematics.tree import Mechanism
from kineta.mechanics.kinematics.vector_expressions import of_part
from kineta.model.axis import Axis
from kineta.model.body import Station
from kineta.model.elements.axes import OWN
from kineta.model.elements.coordinate import Length
from kineta.model.elements.potential import Potential
from kineta.model.elements.spring import Spring
from kineta.model.kind import Element
from kineta.model.name_inference import vector_parts
from kineta.model.reserved_symbols import POINT_COMPONENTS
from kineta.passes.differentiate import forward
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench
from kineta.threads import once


class Elements:
    """The actions of elements on a mechanism, summed.

    Attributes
    ----------
    wrenches : on the links, by link, in link axes about link origins
    forces : generalised forces on the speeds, (nv,)
    potential : of potentials, of the springs whose stiffness is a parameter, and of those in compliant contacts
    power : of all nonconservative elements: dampers, applied forces, springs driven by the time; without the power of the
        drives of prescribed motions against ``wrenches``
    """

    def __init__(self, mechanism: Mechanism, kinematics: TreeKinematics) -> None:
        self.mechanism = mechanism
        self.kinematics = kinematics
        self.graph = mechanism.graph
        self.wrenches: dict[int, Wrench] = {}
        self.forces = [ZERO] * len(mechanism.symbols.v)
        self.potential = ZERO
        self.power = ZERO

    def expression(self, *expressions: Expr, more: Mapping[str, Ref] = MappingProxyType({})) -> list[Ref]:
        """*expressions* of the description, including positions and velocities of points; *more*
        are additional names.
        """
        known = {*self.mechanism.symbols.by_name, *more}
        # Sorted, here and elsewhere: the order of nodes, and so the code, is the same in every process.
        names = sorted({n for e in expressions for n in e.symbols() if n not in known})
        parts = vector_parts(self.mechanism.symbols.system, names)
        points = {n: self._of_point(n) for n in names if "." in n and n not in parts}
        points |= {n: of_part(self.kinematics, self.stations, part) for n, part in parts.items()}
        return self.mechanism.symbols.expression(*expressions, more={**more, **points})

    def direction(self, axis: Axis) -> Vector:
        """The unit vector along *axis*."""
        return self.mechanism.symbols.direction(axis)

    def _of_point(self, name: str) -> Ref:
        """The component with a name such as ``P.x`` or ``P.vz``."""
        owner, _, component = name.rpartition(".")
        station = self.stations[owner]
        place = POINT_COMPONENTS.index(component)
        return self.kinematics.position(station)[place] if place < 3 else self.kinematics.velocity(station)[place - 3]

    @once
    def stations(self) -> dict[str, Station]:
        """The stations of the bodies (their origins, including that of the ground) and points, by name."""
        system = self.mechanism.symbols.system
        points = {p.name: Station(p.body, p.position) for p in system.points}
        return {name: Station(name) for name in system.frames} | points

    def in_link(self, at: Station) -> tuple[int, Vector]:
        """The link on which a force acts, and the place in its frame, which positions and velocities of points may move."""
        return self.kinematics.offset_in_link(at.body, self.expression(*at.position))

    # -- components of actions ----------------------------------------------------------------------------------

    def components(self, body: str, components: Sequence[Expr], axes: str) -> Vector:
        """A vector given in *axes*, in the axes of the link of *body*."""
        places, frames = self.mechanism.places, self.kinematics.frames
        link, given = places[body].link, places[body if axes == OWN else axes]
        own = given.R @ Vector(self.graph, *self.expression(*components))
        if given.link == link:
            return own
        inertial = frames[given.link][0] @ own if given.link >= 0 else own
        return frames[link][0].T @ inertial if link >= 0 else inertial

    def force(self, link: int, x: Vector, f: Vector) -> None:
        """Add the force *f* on a link at *x*, both in link axes."""
        self._act(link, Wrench(f, x.cross(f)))

    def couple(self, link: int, n: Vector) -> None:
        """Add the couple *n*, in link axes, on a link."""
        self._act(link, Wrench(Vector(self.graph), n))

    def _act(self, link: int, wrench: Wrench) -> None:
        self.wrenches[link] = self.wrenches.get(link, Wrench.zero(self.graph)) + wrench

    def pull(self, between: Length, force: Vector) -> None:
        """Add equal and opposite forces at the ends of a length, *force* (ground axes) at the start."""
        for station, f in ((between.start, force), (between.end, -force)):
            link, x = self.kinematics.in_link(station)
            if link >= 0:
                self.force(link, x, self.kinematics.frames[link][0].T @ f)

    def along(self, rate: Ref, force: Ref) -> Ref:
        """Add a *force* on a *rate*: Q_k += P d(rate)/dv_k. Return its power on the speeds."""
        add, mul = self.graph.add, self.graph.mul
        power = ZERO
        for k, share in self.mechanism.symbols.by_speed(rate, force).items():
            self.forces[k] = add(self.forces[k], share)
            power = add(power, mul(share, self.mechanism.symbols.v[k]))
        return power

    def spend(self, power: Ref) -> None:
        """Add nonconservative *power*."""
        self.power = self.graph.add(self.power, power)

    def store(self, energy: Ref) -> None:
        """Add *energy* to the potential."""
        self.potential = self.graph.add(self.potential, energy)

    def rate(self, coordinate: Ref) -> Ref:
        """The time derivative of a coordinate, with the states held; an expression that contains speeds is a rate itself."""
        if self.mechanism.symbols.by_speed(coordinate):
            return coordinate
        return self.mechanism.symbols.displaced_rates([coordinate])[0]

    def by_time(self, ref: Ref) -> Ref:
        """The partial time derivative of *ref*, its rate for zero speeds, and what the rates of the states add."""
        s = self.mechanism.symbols
        by_states = forward(self.graph, [ref], dict(zip(s.states, s.state_rates, strict=False)))[0]
        return self.graph.add(s.at_rest(s.displaced_rates([ref])[0]), by_states)

    def stores(self, element: Element) -> bool:
        """Return whether all forces of *element* derive from a potential."""
        if isinstance(element, Spring):
            return self.is_parameter(*self.expression(element.stiffness))
        return isinstance(element, Potential)

    def is_parameter(self, ref: Ref) -> bool:
        """Return whether *ref* is constant along every motion."""
        s = self.mechanism.symbols
        return s.rates([ref]) == [ZERO] and not s.by_speed(ref)

    def line(self, between: Length) -> Vector:
        """Vector from the start of a length to its end, in ground axes."""
        return self.kinematics.position(between.end) - self.kinematics.position(between.start)

    def line_rate(self, between: Length) -> Vector:
        """Velocity of the end of a length less that of its start, in ground axes."""
        return self.kinematics.velocity(between.end) - self.kinematics.velocity(between.start)


def generalized_forces(elements: Elements) -> list[Ref]:
    """Forces of the *elements* on the speeds, (nv,)."""
    graph, mechanism = elements.graph, elements.mechanism
    wrenches = [elements.wrenches.get(i, Wrench.zero(graph)) for i in range(len(mechanism.links))]
    swept = generalized(mechanism, rate_forces(mechanism, wrenches))
    return [graph.add(own, Q) for own, Q in zip(swept, elements.forces, strict=True)]
