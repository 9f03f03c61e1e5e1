"""What the elements of a system do: wrenches on links, generalised forces, potential, power (docs/theory.md, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kineta.expr.graph import ZERO, Ref
from kineta.expr.node import Expr
from kineta.formalism.actions import ACTIONS
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import Mechanism
from kineta.formalism.sweeps import generalized, rate_forces
from kineta.formalism.vectors import of_part
from kineta.model.body import Station
from kineta.model.elements import Element
from kineta.model.elements.axes import OWN
from kineta.model.elements.coordinate import Length
from kineta.model.elements.potential import Potential
from kineta.model.elements.spring import Spring
from kineta.model.infer import POINT_COMPONENTS, vectors
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench
from kineta.threads import once


class Elements:
    """The action of all elements of a system, or of those *acting*.

    Attributes
    ----------
    wrenches : on the links, by link, in link axes about link origins
    forces : generalised forces on the speeds, (nv,)
    potential : of potentials, and of the springs whose stiffness is a parameter
    power : of all that is not conservative: dampers, applied forces, springs driven by the time. What the drives of
        prescribed motions spend against ``wrenches`` is not part of it
    """

    def __init__(self, mechanism: Mechanism, kinematics: Kinematics, acting: Iterable[Element] | None = None) -> None:
        self.mechanism = mechanism
        self.kinematics = kinematics
        self.graph = mechanism.graph
        self.wrenches: dict[int, Wrench] = {}
        self.forces = [ZERO] * len(mechanism.symbols.v)
        self.potential = ZERO
        self.power = ZERO
        for element in mechanism.symbols.system.elements if acting is None else acting:
            ACTIONS[type(element)](self, element)

    def expression(self, *expressions: Expr, more: Mapping[str, Ref] = MappingProxyType({})) -> list[Ref]:
        """*expressions* of the description, positions and velocities of points included; *more* names are known beside."""
        known = {*self.mechanism.symbols.by_name, *more}
        names = {n for e in expressions for n in e.symbols() if n not in known}
        parts = vectors(self.mechanism.symbols.system, names)
        points = {n: self._of_point(n) for n in names if "." in n and n not in parts}
        points |= {n: of_part(self.kinematics, self.stations, part) for n, part in parts.items()}
        return self.mechanism.symbols.expression(*expressions, more={**more, **points})

    def _of_point(self, name: str) -> Ref:
        """The component that a name such as ``P.x`` or ``P.vz`` stands for."""
        owner, _, component = name.rpartition(".")
        station = self.stations[owner]
        place = POINT_COMPONENTS.index(component)
        return self.kinematics.position(station)[place] if place < 3 else self.kinematics.velocity(station)[place - 3]

    @once
    def stations(self) -> dict[str, Station]:
        """The places of the bodies (their origins, that of the ground too) and points, by name."""
        system = self.mechanism.symbols.system
        points = {p.name: Station(p.body, p.position) for p in system.points}
        return {name: Station(name) for name in system.frames} | points

    # -- what actions are made of -------------------------------------------------------------------------------

    def components(self, body: str, components: Sequence[Expr], axes: str) -> Vector:
        """A vector given in *axes*, in those of the link that holds *body*."""
        places, frames = self.mechanism.places, self.kinematics.frames
        link, given = places[body].link, places[body if axes == OWN else axes]
        own = given.R @ Vector(self.graph, *self.expression(*components))
        if given.link == link:
            return own
        inertial = frames[given.link][0] @ own if given.link >= 0 else own
        return frames[link][0].T @ inertial if link >= 0 else inertial

    def force(self, link: int, x: Vector, f: Vector) -> None:
        """Let the force *f* act on a link at *x*, both in link axes."""
        self._act(link, Wrench(f, x.cross(f)))

    def couple(self, link: int, n: Vector) -> None:
        """Let the couple *n*, in link axes, act on a link."""
        self._act(link, Wrench(Vector(self.graph), n))

    def _act(self, link: int, wrench: Wrench) -> None:
        self.wrenches[link] = self.wrenches.get(link, Wrench.zero(self.graph)) + wrench

    def pull(self, between: Length, force: Vector) -> None:
        """Equal and opposite forces at two places, *force* (ground axes) at the start."""
        for station, f in ((between.start, force), (between.end, -force)):
            link, x = self.kinematics.in_link(station)
            if link >= 0:
                self.force(link, x, self.kinematics.frames[link][0].T @ f)

    def along(self, rate: Ref, force: Ref) -> Ref:
        """Let *force* work on *rate*: Q_k += P d(rate)/dv_k. Returns the power that goes into the speeds."""
        add, mul = self.graph.add, self.graph.mul
        power = ZERO
        for k, share in self.mechanism.symbols.by_speed(rate, force).items():
            self.forces[k] = add(self.forces[k], share)
            power = add(power, mul(share, self.mechanism.symbols.v[k]))
        return power

    def spend(self, power: Ref) -> None:
        """Count *power* that changes the energy."""
        self.power = self.graph.add(self.power, power)

    def store(self, energy: Ref) -> None:
        """Count *energy* as potential."""
        self.potential = self.graph.add(self.potential, energy)

    def rate(self, coordinate: Ref) -> Ref:
        """The rate of a coordinate; an expression that contains speeds is a rate itself."""
        if self.mechanism.symbols.by_speed(coordinate):
            return coordinate
        return self.mechanism.symbols.rates([coordinate])[0]

    def by_time(self, ref: Ref) -> Ref:
        """What the time alone does to *ref*: its rate where all speeds are zero."""
        return self.mechanism.symbols.at_rest(self.mechanism.symbols.rates([ref])[0])

    def stores(self, element: Element) -> bool:
        """Whether the forces of *element* are the slope of a potential."""
        if isinstance(element, Spring):
            return self.is_parameter(*self.expression(element.stiffness))
        return isinstance(element, Potential)

    def is_parameter(self, ref: Ref) -> bool:
        """Whether *ref* is the same throughout a motion."""
        s = self.mechanism.symbols
        return s.rates([ref]) == [ZERO] and not s.by_speed(ref)

    def line(self, between: Length) -> Vector:
        """From the start of a length to its end, in ground axes."""
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
