"""What the elements of a system do: wrenches on links, generalised forces, potential, power (docs/theory.md, 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

from kineta.expr.graph import ZERO, Ref, neg
from kineta.expr.node import Expr
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import Mechanism
from kineta.model.body import Station
from kineta.model.check import CheckError
from kineta.model.element import (
    Axes,
    Couple,
    Damper,
    Element,
    Force,
    GeneralizedForce,
    LineDamper,
    LineSpring,
    Spring,
)
from kineta.model.infer import POINT_COMPONENTS
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


class Elements:
    """The action of all elements of a system.

    Attributes
    ----------
    wrenches : on the links, by link, in link axes about link origins
    forces : generalised forces on the speeds, (nv,)
    potential : of the springs whose stiffness is a parameter
    power : of all that is not conservative: dampers, applied forces, springs driven by the time. What the drives of
        prescribed motions spend against ``wrenches`` is not part of it
    """

    def __init__(self, mechanism: Mechanism, kinematics: Kinematics) -> None:
        self.mechanism = mechanism
        self.kinematics = kinematics
        self.graph = mechanism.graph
        self.wrenches: dict[int, Wrench] = {}
        self.forces = [ZERO] * len(mechanism.symbols.v)
        self.potential = ZERO
        self.power = ZERO
        for element in mechanism.symbols.system.elements:
            self._add(element)

    def expression(self, *expressions: Expr, more: Mapping[str, Ref] = MappingProxyType({})) -> list[Ref]:
        """*expressions* of the description, positions and velocities of points included; *more* names are known beside."""
        known = self.mechanism.symbols.by_name
        dotted = {n for e in expressions for n in e.symbols() if "." in n and n not in known}
        points = {n: self._of_point(n) for n in dotted}
        return self.mechanism.symbols.expression(*expressions, more={**more, **points})

    def _of_point(self, name: str) -> Ref:
        """The component that a name such as ``P.x`` or ``P.vz`` stands for."""
        owner, _, component = name.rpartition(".")
        station = self._stations[owner]
        place = POINT_COMPONENTS.index(component)
        return self.kinematics.position(station)[place] if place < 3 else self.kinematics.velocity(station)[place - 3]

    @cached_property
    def _stations(self) -> dict[str, Station]:
        system = self.mechanism.symbols.system
        return {b.name: Station(b.name) for b in system.bodies} | {
            p.name: Station(p.body, p.position) for p in system.points
        }

    def _add(self, element: Element) -> None:
        match element:
            case Force():
                self._force(element)
            case Couple():
                self._couple(element)
            case GeneralizedForce():
                self._generalized(element)
            case Spring():
                stiffness, deformation = self.expression(element.stiffness, element.deformation)
                self._spring(stiffness, self._of_position(element, deformation))
            case Damper():
                self._damper(element)
            case LineSpring():
                self._line_spring(element)
            case LineDamper():
                self._line_damper(element)
            case _:
                assert_never(element)

    # -- forces and couples -----------------------------------------------------------------------------------

    def _components(self, body: str, components: Sequence[Expr], axes: Axes) -> Vector:
        """A vector given in body or ground axes, in the axes of the link that holds the body."""
        own = Vector(self.graph, *self.expression(*components))
        place = self.mechanism.places[body]
        if axes == "body":
            return place.R @ own
        return self.kinematics.frames[place.link][0].T @ own if place.link >= 0 else own

    def _wrench(self, link: int, wrench: Wrench) -> None:
        if link >= 0:
            zero = Wrench(Vector(self.graph), Vector(self.graph))
            self.wrenches[link] = self.wrenches.get(link, zero) + wrench

    def _spend(self, power: Ref) -> None:
        self.power = self.graph.add(self.power, power)

    def _force(self, element: Force) -> None:
        f = self._components(element.at.body, element.components, element.axes)
        link, x = self.kinematics.in_link(element.at)
        if link < 0:
            return
        self._wrench(link, Wrench(f, x.cross(f)))
        self._spend(f.dot(self.kinematics.v[link] + self.kinematics.w[link].cross(x)))

    def _couple(self, element: Couple) -> None:
        n = self._components(element.body, element.components, element.axes)
        link = self.mechanism.places[element.body].link
        if link < 0:
            return
        self._wrench(link, Wrench(Vector(self.graph), n))
        self._spend(n.dot(self.kinematics.w[link]))

    # -- generalised forces, springs and dampers on expressions ---------------------------------------------------

    def _along(self, rate: Ref, force: Ref) -> Ref:
        """Let *force* work on *rate*: Q_k += P d(rate)/dv_k. Returns the power that goes into the speeds."""
        add, mul = self.graph.add, self.graph.mul
        power = ZERO
        for k, share in self.mechanism.symbols.by_speed(rate, force).items():
            self.forces[k] = add(self.forces[k], share)
            power = add(power, mul(share, self.mechanism.symbols.v[k]))
        return power

    def _rate(self, coordinate: Ref) -> Ref:
        """The rate of a coordinate; an expression that contains speeds is a rate itself."""
        if self.mechanism.symbols.by_speed(coordinate):
            return coordinate
        return self.mechanism.symbols.rates([coordinate])[0]

    def _generalized(self, element: GeneralizedForce) -> None:
        P, rho = self.expression(element.characteristic, element.coordinate)
        self._spend(self._along(self._rate(rho), P))

    def _damper(self, element: Damper) -> None:
        D, beta = self.expression(element.damping, element.rate)
        beta = self._rate(beta)
        self._spend(self._along(beta, neg(self.graph.mul(D, beta))))

    def _spring(self, stiffness: Ref, deformation: Ref) -> None:
        g = self.graph
        force = g.mul(stiffness, deformation)
        power = self._along(self._rate(deformation), neg(force))
        if self._is_parameter(stiffness):
            self.potential = g.add(self.potential, g.mul(g.const(0.5), g.mul(force, deformation)))
            self._spend(g.mul(force, self.mechanism.symbols.by_time([deformation])[0]))
        else:
            self._spend(power)

    def _of_position(self, element: Spring | LineSpring, deformation: Ref) -> Ref:
        """*deformation*, or a free length, which must be a function of coordinates and time."""
        if self.mechanism.symbols.by_speed(deformation):
            text = (
                "its deformation contains a speed; expected coordinates and the time. A force that depends on speeds is a "
                "damper, or a force on a coordinate."
            )
            raise CheckError("Spring", element.name, element.location, text)
        return deformation

    def _is_parameter(self, ref: Ref) -> bool:
        s = self.mechanism.symbols
        return self.mechanism.symbols.rates([ref]) == [ZERO] and not s.by_speed(ref)

    # -- between two places -----------------------------------------------------------------------------------

    def _line_spring(self, element: LineSpring) -> None:
        g = self.graph
        stiffness, free = self.expression(element.stiffness, element.length)
        line = self._line(element)
        if free == ZERO:
            self._without_length(element, stiffness, line)
            return
        self._of_position(element, free)
        length = g.sqrt(line.dot(line))
        if not self._is_parameter(stiffness) or not self._is_parameter(free):
            self._spring(stiffness, g.sub(length, free))
            return
        deformation = g.sub(length, free)
        force = g.mul(stiffness, deformation)
        self.potential = g.add(self.potential, g.mul(g.const(0.5), g.mul(force, deformation)))
        self._pull(element.start, element.end, line * g.div(force, length))

    def _without_length(self, element: LineSpring, stiffness: Ref, line: Vector) -> None:
        """A spring of free length zero: no root is needed, and the force is smooth where the places meet."""
        g = self.graph
        self._pull(element.start, element.end, line * stiffness)
        if self._is_parameter(stiffness):
            self.potential = g.add(self.potential, g.mul(g.mul(g.const(0.5), stiffness), line.dot(line)))
            return
        velocity = self.kinematics.velocity(element.end) - self.kinematics.velocity(element.start)
        self._spend(neg(g.mul(stiffness, line.dot(velocity))))

    def _line_damper(self, element: LineDamper) -> None:
        g = self.graph
        (damping,) = self.expression(element.damping)
        line = self._line(element)
        velocity = self.kinematics.velocity(element.end) - self.kinematics.velocity(element.start)
        # D beta e with beta = e . velocity, e = line / |line|: no root is needed.
        force = line * g.div(g.mul(damping, line.dot(velocity)), line.dot(line))
        self._pull(element.start, element.end, force)
        self._spend(neg(force.dot(velocity)))

    def _line(self, element: LineSpring | LineDamper) -> Vector:
        """From the start of *element* to its end, in ground axes."""
        line = self.kinematics.position(element.end) - self.kinematics.position(element.start)
        if line.is_zero:
            kind = "Spring" if isinstance(element, LineSpring) else "Damper"
            raise CheckError(
                kind, element.name, element.location, "the two places between which it acts are always the same."
            )
        return line

    def _pull(self, start: Station, end: Station, force: Vector) -> None:
        """Equal and opposite forces, *force* (ground axes) on the body at *start*."""
        for station, f in ((start, force), (end, -force)):
            link, x = self.kinematics.in_link(station)
            if link >= 0:
                own = self.kinematics.frames[link][0].T @ f
                self._wrench(link, Wrench(own, x.cross(own)))
