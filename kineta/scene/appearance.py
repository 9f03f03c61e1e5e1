"""Shapes, paths, forces and the direction of sight that a model describes."""

from __future__ import annotations

from itertools import chain

from kineta.expr.graph import neg
from kineta.mechanics.constraints.relative_kinematics import RelativeKinematics
from kineta.mechanics.contact.unilateral_rows import touch
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.appearance import colours
from kineta.model.appearance.mark import Mark
from kineta.model.appearance.shape import BodyShape
from kineta.model.appearance.viewpoint import Viewpoint
from kineta.model.axis import Z
from kineta.model.body import GROUND, Inertia, Station
from kineta.model.coercion import vector
from kineta.model.compound import primitive
from kineta.model.constraints import placement
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.elements.coordinate import Length
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.spring import Spring
from kineta.model.system import System
from kineta.scene.meshes import unreadable
from kineta.scene.scene import BODY, FIXED, Arrow, Solid, Touch, Trail
from kineta.scene.scene_builder import SceneBuilder
from kineta.spatial.rotation import rodrigues
from kineta.spatial.vector import Vector, identity


def shaped_bodies(system: System, *, masked: bool = False) -> frozenset[str]:
    """The bodies that are not drawn by what follows from the description: those with shapes of their own; of a machine with a
    mesh also those without mass, and those that are fixed to a body with shapes. Meshes that cannot be drawn are no shapes.
    *masked*: those of them between which joints are not seen, with nothing, and of a machine with a mesh all.
    """
    absent = unreadable(system)
    found = [x for x in system.appearance if isinstance(x, BodyShape) and x not in absent]
    if any(x.solid == "mesh" for x in found):
        carriers = {placement.carrier(system, x.name) for x in found}
        return frozenset(
            b.name for b in system.bodies if b.inertia.mass.value == 0 or placement.carrier(system, b.name) in carriers
        )
    return frozenset(x.name for x in found if not masked or x.solid == "none")


def shapes(builder: SceneBuilder) -> None:
    """Add the described shapes to a scene with all its frames."""
    g, s = builder.d.graph, builder.d.symbols
    for own in s.system.appearance:
        if not isinstance(own, BodyShape) or own.solid == "none":
            continue
        R = identity(g)
        for turn in own.turns:
            R = R.times(rodrigues(s.direction(turn.axis), s.expression(turn.argument)[0]))
        numbers = {"sizes": builder.values(own.sizes), "axes": builder.number(R.refs)}
        if own.start is not None and own.end is not None:
            numbers |= {"start": builder.values(own.start), "end": builder.values(own.end)}
        else:
            numbers |= {
                "at": builder.values(own.at),
                "axis": builder.values(vector(Z if own.axis is None else own.axis)),
            }
        if own.file:
            inertia = next((b.inertia for b in s.system.bodies if b.name == own.name), Inertia())
            numbers |= {"scale": builder.values(own.scale), "com": builder.values(inertia.com)}
        # Links that are welded together are one body to the eye.
        carrier = placement.carrier(s.system, own.name) if own.file else own.name
        owner, part = (carrier, BODY) if carrier != GROUND else ("", FIXED)
        colour = colours.code(own.colour)
        frame = builder.places[own.name]
        folder = own.location.file if own.location else ""
        builder.solids.append(Solid(own.solid, frame, owner, part, numbers, name=folder, colour=colour, file=own.file))


def trails(builder: SceneBuilder) -> tuple[Trail, ...]:
    """The paths that are shown."""
    s, found = builder.d.symbols.system, []
    places = {n: Station(n) for n in s.frames} | {p.name: Station(p.body, p.position) for p in s.points}
    for own in s.appearance:
        if isinstance(own, Mark) and own.name == "path":
            position = builder.d.kinematics.position(places[own.of])
            found.append(Trail(own.of, builder.shown(position.refs)))
    return tuple(found)


def arrows(builder: SceneBuilder) -> tuple[Arrow, ...]:
    """The forces that are shown, on each place that is not of the ground."""
    system, found = builder.d.symbols.system, []
    for own in system.appearance:
        if isinstance(own, Mark) and own.name == "force":
            on, element = builder.d.elements, system.lines[own.of]
            for station, force in _acting(on, element):
                if station.body != GROUND:
                    at = on.kinematics.in_frame(GROUND, *on.in_link(station))
                    found.append(Arrow(own.of, builder.shown(at.refs), builder.shown(force.refs)))
    return tuple(found)


def touches(builder: SceneBuilder) -> tuple[Touch, ...]:
    """The contacts with planes, bodies and ground of a given height, each at its places; of many bodies few pairs, of which
    runs by events have the forces.
    """
    d, found = builder.d, []
    single = (c for c in primitive(d.symbols.system.contacts) if isinstance(c, Contact))
    pairs = (pair for c in mutual_contacts(d.symbols.system) if c.few for pair in c.pairs())
    for contact in chain(single, pairs):
        system, axes = d.symbols.system, d.kinematics.axes(contact.end.body)
        sight = RelativeKinematics(d.kinematics, contact.end.body)
        for name, own in contact.touchings(system).items():
            at = touch(d.elements, contact, own, name, sight)
            directions = [x for e in at.axes for x in (axes @ e).refs]
            place = d.kinematics.position(own.start) + axes @ at.arm
            friction = d.elements.expression(contact.friction)
            found.append(Touch(name, builder.shown(place.refs), builder.shown(directions), builder.shown(friction)))
    return tuple(found)


def _acting(on: Elements, element: object) -> list[tuple[Station, Vector]]:
    """Places and forces of an element on them, in ground axes."""
    g = on.graph
    if isinstance(element, Force):
        link = on.mechanism.places[element.at.body].link
        own = on.components(element.at.body, element.components, element.axes)
        return [(element.at, on.kinematics.frames[link][0] @ own if link >= 0 else own)]
    assert isinstance(element, Spring | Damper | GeneralizedForce)
    between = element.coordinate
    assert isinstance(between, Length)  # as the check of the model has seen
    line = on.line(between)
    length = g.sqrt(line.dot(line))
    if isinstance(element, Spring):
        C, free = on.expression(element.stiffness, element.free)
        pull = g.mul(C, g.sub(length, free))
    elif isinstance(element, Damper):
        (D,) = on.expression(element.damping)
        pull = g.div(g.mul(D, line.dot(on.line_rate(between))), length)
    else:
        pull = neg(on.expression(element.characteristic)[0])
    along = line * g.div(pull, length)
    return [(between.start, along), (between.end, -along)]


def towards(builder: SceneBuilder) -> tuple[int, ...]:
    """The direction of sight of the model among the numbers; empty where it gives none."""
    views = (x for x in builder.d.symbols.system.appearance if isinstance(x, Viewpoint))
    return next((builder.values(vector(x.towards)) for x in views), ())
