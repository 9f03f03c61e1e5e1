"""Forces of elements: along what they act on, as vectors in ground axes, and of compliant contacts at each of their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kineta.expr.graph import Ref, neg
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.body import Station
from kineta.model.checks.diagnostics import CheckError
from kineta.model.constraints.shapes import PLANE, closest, named
from kineta.model.elements.axes import OWN
from kineta.model.elements.compliant_contact import GAP, RATE, CompliantContact
from kineta.model.elements.coordinate import Length
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.elements.spring import Spring
from kineta.model.name_inference import element_forces
from kineta.records import dataclass
from kineta.spatial.rotation import normals, tangents
from kineta.spatial.vector import Vector


def named_forces(on: Elements, names: Iterable[str]) -> dict[str, Ref]:
    """The forces of elements among *names*: ``lambda.rope`` along what the element acts on, ``lambda.push.x`` in ground axes,
    ``lambda.foot.n`` at a place of a contact.
    """
    system, found = on.mechanism.symbols.system, dict[str, Ref]()
    for name, (element, part) in sorted(element_forces(system, names).items()):
        k = element.kind.forces(system, element).index(part)
        found[name] = FORCES[type(element)](on, element)[k]
    return found


def line(on: Elements, element: GeneralizedForce | Spring | Damper, between: Length) -> Vector:
    """The line of a length. Raise :class:`CheckError` for coincident places."""
    found = on.line(between)
    if found.is_zero:
        text = "the two places between which it acts are always the same."
        raise CheckError(element.kind.word.capitalize(), element.name, element.location, text)
    return found


def smooth_friction(on: Elements, friction: SmoothFriction) -> tuple[Ref, Ref]:
    """The rate s of smooth friction, and its force - F s/sqrt(s^2 + smooth^2)."""
    g = on.graph
    F, v, sigma = on.expression(friction.force, friction.smooth, friction.coordinate)
    s = on.rate(sigma)
    return s, neg(g.mul(F, g.div(s, g.sqrt(g.add(g.mul(s, s), g.mul(v, v))))))


@dataclass(frozen=True, slots=True)
class CompliantTouch:
    """What acts at a place of a compliant contact, in ground axes.

    ends : the place and the opposite one of the surface, each with the way from there to where they touch
    normal : n; velocity : of the place against the surface; closing : its part along n
    push, elastic, energy : the normal force, that of the spring, and what this stores
    rubbing : the force of friction
    axes : u and w along the surface
    """

    ends: tuple[tuple[Station, Vector], tuple[Station, Vector]]
    normal: Vector
    velocity: Vector
    closing: Ref
    push: Ref
    elastic: Ref
    energy: Ref
    rubbing: Vector
    axes: tuple[Vector, Vector]

    @property
    def force(self) -> Vector:
        """The force on the place."""
        return self.normal * self.push + self.rubbing


def touches(on: Elements, contact: CompliantContact) -> Iterator[CompliantTouch]:
    """What acts at each place of a compliant *contact*: N along the normal, and friction -mu N s/sqrt(s.s + smooth^2) on the
    slip s.
    """
    g, kin, places = on.graph, on.kinematics, on.mechanism.places
    base = contact.end.body
    S = kin.axes(base)
    for place in contact.touchings:
        start = place.start
        way = kin.position(start, base) - kin.position(place.end, base)
        axis = None if place.axis is None else (kin.axes(start.body, base) @ on.direction(place.axis)).refs
        own = None if place.surface_axis is None else on.direction(place.surface_axis).refs
        found = closest(place)
        gap, *rest = on.expression(found.gap, *found.normal, *found.arm, more=named(way.refs, axis, own))
        normal = Vector(g, *rest[:3])
        n, arm = S @ normal, S @ Vector(g, *rest[3:])
        apart = S @ way + arm
        velocity = kin.velocity(start) + kin.angular_velocity(places[start.body]).cross(arm)
        velocity -= kin.velocity(place.end) + kin.angular_velocity(places[base]).cross(apart)
        of = {GAP: gap, RATE: n.dot(velocity)}
        push, elastic, energy = on.expression(contact.push, contact.elastic, contact.energy, more=of)
        rubbing = Vector(g)
        if contact.smooth is not None:
            mu, slow = on.expression(contact.friction, contact.smooth)
            slip = velocity - n * of[RATE]
            size = g.sqrt(g.add(slip.dot(slip), g.mul(slow, slow)))
            rubbing = slip * neg(g.div(g.mul(mu, push), size))
        u, w = (normals if place.surface == PLANE else tangents)(normal)
        ends = (start, arm), (place.end, apart)
        yield CompliantTouch(ends, n, velocity, of[RATE], push, elastic, energy, rubbing, (S @ u, S @ w))


def _vector(on: Elements, body: str, components: Any, axes: str) -> list[Ref]:
    own = Vector(on.graph, *on.expression(*components))
    return [*(on.kinematics.axes(body if axes == OWN else axes) @ own).refs]


def _spring(on: Elements, spring: Spring) -> list[Ref]:
    C, free = on.expression(spring.stiffness, spring.free)
    return [neg(on.graph.mul(C, on.graph.sub(_length(on, spring), free)))]


def _damper(on: Elements, damper: Damper) -> list[Ref]:
    (D,) = on.expression(damper.damping)
    if isinstance(damper.coordinate, Length):
        way = line(on, damper, damper.coordinate)
        rate = on.graph.div(way.dot(on.line_rate(damper.coordinate)), on.graph.sqrt(way.dot(way)))
    else:
        rate = on.rate(*on.expression(damper.coordinate))
    return [neg(on.graph.mul(D, rate))]


def _length(on: Elements, element: Spring) -> Ref:
    """The expression, or the distance, on which a spring acts."""
    if isinstance(element.coordinate, Length):
        way = line(on, element, element.coordinate)
        return on.graph.sqrt(way.dot(way))
    return on.expression(element.coordinate)[0]


def _compliant(on: Elements, contact: CompliantContact) -> list[Ref]:
    found = list[Ref]()
    for touch in touches(on, contact):
        along = [touch.rubbing.dot(axis) for axis in touch.axes] if contact.smooth is not None else []
        found += [touch.push, *along]
    return found


#: The forces of an element of each kind, in the order of their names.
FORCES: Mapping[type, Callable[[Elements, Any], list[Ref]]] = {
    Force: lambda on, force: _vector(on, force.at.body, force.components, force.axes),
    Couple: lambda on, couple: _vector(on, couple.body, couple.components, couple.axes),
    GeneralizedForce: lambda on, force: on.expression(force.characteristic),
    Spring: _spring,
    Damper: _damper,
    SmoothFriction: lambda on, friction: [smooth_friction(on, friction)[1]],
    CompliantContact: _compliant,
}
