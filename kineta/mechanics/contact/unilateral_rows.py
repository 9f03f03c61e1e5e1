"""Contacts, limits and dry friction as unilateral constraints, whose rows a run switches on and off.

A unilateral constraint is one point of contact, one end of a limit, or one joint with dry friction. Its normal row keeps the gap
closed by a compressive force; its tangent rows prevent slip by forces up to the friction limit. The contact mode is a record of
flags in the parameter block h: ``closed``, ``stuck`` or ``slips``, and the direction of slip or of its initiation. Forces along
n, u and w are references from which redundant contacts take the least deviation. Slip in space that has just begun keeps its
direction more firmly than later slip, and a sticking contact close to slip initiation bears a little beyond its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kineta.algebra.expression import Expr
from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.mechanics.constraints.relative_kinematics import RelativeKinematics
from kineta.mechanics.constraints.rolling_residuals import SHAPES, ShapeContact
from kineta.mechanics.constraints.rows import Row, anywhere, row_of, vanishes
from kineta.mechanics.contact.ground_height import dome, height_and_slope, touched
from kineta.mechanics.contact.rims import domed_place, flat_place, lean, lowest_place
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.constraints import shapes
from kineta.model.constraints.rolling import Rolling
from kineta.model.constraints.shapes import PLANE, Touching
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.contacts.mutual_contact import MutualContact
from kineta.model.dimensions import unit_of
from kineta.model.kind import Unilateral
from kineta.records import dataclass
from kineta.spatial.rotation import normals, tangents
from kineta.spatial.vector import Vector, along

#: The flags of a contact mode.
FLAGS = ("closed", "stuck", "slips", "along u", "along w", "along n", "begins", "slack")


@dataclass(frozen=True, slots=True)
class UnilateralConstraint:
    """A contact, an end of a limit, or dry friction in a joint.

    normal : the gap, zero where the contact is closed; None for joint friction, which is always closed
    tangents : the velocities of slip; empty without friction
    bound : the coefficient of friction, or without a normal the friction force; ``static`` is its value for sticking
    smooth : the velocity scale of smooth friction, None for Coulomb's
    restitution : coefficient of restitution, Newton's or Poisson's
    limit : whether the constraint is the end of a limit; unit : of the gap, ``''`` for an unknown unit
    varies : whether the friction limit varies along the motion, and may become negative
    active : 1 where it acts, and 0 where its conditions do not hold: there it is open
    room : the way [m] that a sharp place has until it touches no more, as to an edge; None for round ones
    over : 1 where it may touch, else 0
    own : 1 where no other place of its bodies has what is nearest by steps of given size, else 0
    spin : the rate at which the tangents turn about the normal [rad/s], seen from the ground
    """

    name: str
    normal: Row | None
    tangents: tuple[Row, ...] = ()
    bound: Ref = ZERO
    static: Ref = ZERO
    smooth: Ref | None = None
    restitution: Ref = ZERO
    poisson: bool = False
    limit: bool = False
    unit: str = "m"
    varies: bool = False
    active: Ref = ONE
    room: Ref | None = None
    over: Ref = ONE
    own: Ref = ONE
    spin: Ref = ZERO

    @property
    def rows(self) -> tuple[Row, ...]:
        """The normal row, if any, then the tangents."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the flags of the contact mode, unlike any name of a model."""
        return tuple(f"{self.name}: {flag}" for flag in FLAGS)


def unilateral_constraints(on: Elements) -> tuple[UnilateralConstraint, ...]:
    """All unilateral constraints of a system, in the order of its description."""
    symbols = on.mechanism.symbols
    if not symbols.system.contacts:
        return ()
    states = [anywhere(symbols, seed) for seed in range(2)]
    all_of_them = (contact for record in symbols.system.contacts for contact in _moved(on, record))
    resting = {p.name for p in symbols.system.parameters}
    return tuple(
        replace(
            _moving(symbols.graph, contact, states),
            varies=not resting.issuperset(Expr(symbols.graph, contact.bound).symbols()),
        )
        for contact in all_of_them
    )


def _moved(on: Elements, record: Unilateral) -> Iterator[UnilateralConstraint]:
    """The unilateral constraints of *record*, but for faces of a box that a plane mechanism never comes nearer to. Raise
    :class:`ModelError` for a gap that no motion changes.
    """
    (active,) = on.expression(record.active)
    for contact in CONTACT_ROWS[type(record)](on, record):
        if contact.normal is not None and not contact.normal.gradient:
            if contact.room is not None:
                continue
            text = f"no motion changes the gap of '{contact.name}'; expected one that opens and closes. Leave it out."
            raise ModelError(f"Model '{on.mechanism.symbols.system.name}': {text}", record.location)
        yield replace(contact, active=active)


def _moving(graph: Graph, contact: UnilateralConstraint, states: Sequence[Mapping[str, float]]) -> UnilateralConstraint:
    """*contact* without the tangents along which no motion is possible: a plane mechanism has one tangent."""
    moved = (r for r in contact.tangents if not vanishes(graph, r.levels[0], states))
    return replace(contact, tangents=tuple(moved))


def _contact(on: Elements, contact: Contact) -> Iterator[UnilateralConstraint]:
    given = (contact.restitution, contact.friction, contact.friction if contact.static is None else contact.static)
    restitution, bound, static = on.expression(*given)
    smooth = None if contact.smooth is None else on.expression(contact.smooth)[0]
    for name, place in contact.touchings(on.mechanism.symbols.system).items():
        if place.shape in shapes.RIMS and place.feature and _never_flat(on, place):
            continue
        way = _on_surface if contact.height is None else _on_ground
        found = way(on, contact, place, name)
        (n, u, w), (room, over, own), spin = found
        tangents = () if bound == ZERO else (u, w)
        law = (bound, static, smooth, restitution, contact.poisson)
        yield UnilateralConstraint(name, n, tangents, *law, room=room, over=over, own=own, spin=spin)


#: How far a place may go, if not always, whether it may touch, and whether no other place has what is nearest.
Reach = tuple[Ref | None, Ref, Ref]
ALWAYS: Reach = None, ONE, ONE


@dataclass(frozen=True, slots=True)
class TouchGeometry:
    """Where two bodies touch, in the axes of the body of the surface: the gap, unit vectors along n, u and w of the surface, the
    way from the start of a place to where it touches, and its reach.
    """

    gap: Ref
    axes: tuple[Vector, Vector, Vector]
    arm: Vector
    reach: Reach = ALWAYS


def touch(on: Elements, contact: Contact, place: Touching, name: str, sight: RelativeKinematics) -> TouchGeometry:
    """Gap, axes and arm at a *place* of a contact, which is that of this *name*."""
    if contact.height is not None:
        return _over_ground(on, contact, place, name)[0]
    way = sight.position(place.start).less(sight.position(place.end))
    if place.surface == PLANE:
        assert place.surface_axis is not None
        n = on.direction(place.surface_axis)
        axes = (n, *normals(n))
        geometry = (
            _rim(on, place, sight, axes)
            if place.shape in shapes.RIMS
            else _geometry(on, contact, place, name, sight, n)
        )
        return TouchGeometry(on.graph.sub(n.dot(way), geometry.height), axes, geometry.arm)
    axis = None if place.axis is None else _axis(on, place, sight).refs
    own = None if place.surface_axis is None else on.direction(place.surface_axis).refs
    found = shapes.closest(place)
    box = [sight.direction(place.start.body, along(on.graph, k)).refs for k in range(3)] if place.shape == "box" else ()
    more = shapes.named(way.refs, axis, own, box)
    gap, *rest = on.expression(found.gap, *found.normal, *found.arm, more=more)
    n, arm = Vector(on.graph, *rest[:3]), Vector(on.graph, *rest[3:])
    room, over, nearest = (
        default if x is None else on.expression(x, more=more)[0]
        for x, default in zip((found.room, found.over, found.own), ALWAYS, strict=True)
    )
    return TouchGeometry(gap, (n, *tangents(n)), arm, (room, over or ONE, nearest or ONE))


#: The gap and the velocities of slip, the reach of the place, and the spin of tangents.
Rows = tuple[tuple[Row, Row, Row], Reach, Ref]


def _on_surface(on: Elements, contact: Contact, place: Touching, name: str) -> Rows:
    """The gap between a shape and a surface, and the velocities of slip along it."""
    sight = RelativeKinematics(on.kinematics, place.end.body)
    found = touch(on, contact, place, name, sight)
    symbols, (_, u, w) = on.mechanism.symbols, found.axes
    drift = Vector(on.graph, *symbols.rates(sight.position(place.start).sum.refs))
    velocity = drift + sight.turning(place.start.body).cross(found.arm)
    rows = (
        row_of(symbols, f"{name}.n", found.gap),
        row_of(symbols, f"{name}.u", u.dot(velocity), order=1),
        row_of(symbols, f"{name}.w", w.dot(velocity), order=1),
    )
    turning = on.kinematics.angular_velocity(on.mechanism.places[place.end.body], place.end.body)
    spin = w.dot(Vector(on.graph, *symbols.rates(u.refs)) + turning.cross(u))
    return rows, found.reach, spin


def _geometry(
    on: Elements, contact: Contact, place: Touching, name: str, sight: RelativeKinematics, n: Vector
) -> ShapeContact:
    """Where a shape touches a plane with the normal *n*, seen from its body."""
    assert place.surface_axis is not None
    given = (place.shape, place.sizes, place.start, place.end, place.surface_axis, place.axis)
    rolling = Rolling(name, *given, location=contact.location)
    return SHAPES[place.shape](on, rolling, sight, n, on.expression(*place.sizes))


def _rim(on: Elements, place: Touching, sight: RelativeKinematics, axes: tuple[Vector, Vector, Vector]) -> ShapeContact:
    """Where a rim touches a plane with these *axes*, seen from its body."""
    e, sizes = _axis(on, place, sight), on.expression(*place.sizes)
    return flat_place(e, axes, sizes, *place.feature) if place.feature else lowest_place(e, axes[0], sizes)


def _never_flat(on: Elements, place: Touching) -> bool:
    """Whether a rim leans by the same angle in every motion, as that of a wheel in a plane, and not by none."""
    assert place.surface_axis is not None
    e = _axis(on, place, RelativeKinematics(on.kinematics, place.end.body))
    own = lean(e, on.direction(place.surface_axis))
    return own != ZERO and not row_of(on.mechanism.symbols, place.name, own).gradient


def _axis(on: Elements, place: Touching, sight: RelativeKinematics) -> Vector:
    """The axis of a shape, seen from the body of what it touches."""
    assert place.axis is not None
    return sight.direction(place.start.body, on.direction(place.axis))


def _on_ground(on: Elements, contact: Contact, place: Touching, name: str) -> Rows:
    """The gap between a shape and ground of a given height over a plane, along the normal of the ground where it touches."""
    g, symbols, (centre,) = on.graph, on.mechanism.symbols, contact.starts
    found, above, share = _over_ground(on, contact, place, name)
    whole = row_of(symbols, f"{name}.n", above)
    normal = replace(
        whole,
        levels=(found.gap, *(g.mul(share, x) for x in whole.levels[1:])),
        gradient={k: g.mul(share, x) for k, x in whole.gradient.items()},
        rest=g.mul(share, whole.rest),
    )
    velocity = on.kinematics.velocity(centre)
    velocity += on.kinematics.angular_velocity(on.mechanism.places[centre.body]).cross(found.arm)
    first, second = (e.dot(velocity) for e in found.axes[1:])
    u_row, w_row = (row_of(symbols, f"{name}.{c}", x, order=1) for c, x in (("u", first), ("w", second)))
    return (normal, u_row, w_row), ALWAYS, found.axes[2].dot(Vector(g, *symbols.rates(found.axes[1].refs)))


def _over_ground(on: Elements, contact: Contact, place: Touching, name: str) -> tuple[TouchGeometry, Ref, Ref]:
    """Where a shape touches ground of a given height over a plane, or comes next to it, in ground axes; how far that place lies
    above the ground along the normal of the plane, and the share of it that is the gap.

    A gap has no value where no place of the ground is found and the shape is near: hollows are narrower than it.
    """
    g, symbols, (centre,) = on.graph, on.mechanism.symbols, contact.starts
    assert contact.height is not None
    assert contact.normal is not None
    described = contact.height
    u, _ = normals(up := on.direction(contact.normal))
    at = on.kinematics.position(centre)
    arm, known = Vector(g), ONE

    def slope_at(x: Vector) -> Vector:
        return Vector(g, *height_and_slope(on, described, x)[1:])

    if contact.shape != "point":
        arm, known = touched(at, up, slope_at, _on_normals(on, contact, place, name, slope_at))
    height, *slope = height_and_slope(on, described, at + arm)
    N = up - Vector(g, *slope)
    size = g.sqrt(N.dot(N))
    if size == ZERO:
        text = (
            f"contact '{name}': the height {described!r} rises as its point does, so that no gap is left between them; "
        )
        text += "expected a height over the directions along the plane."
        raise ModelError(f"Model '{symbols.system.name}': {text}", contact.location)
    share = g.div(ONE, size)
    n = N * share
    above = g.sub(up.dot(at + arm - on.kinematics.position(contact.end)), height)
    gap = g.mul(share, above)
    if known != ONE:
        gap = g.call(Op.GUARD, gap, g.call(Op.MAX, known, g.sub(above, g.sum(on.expression(*place.sizes)))))
    across = u - n * n.dot(u)
    e = across * g.div(ONE, g.sqrt(across.dot(across)))
    return TouchGeometry(gap, (n, e, n.cross(e)), arm), above, share


def _on_normals(
    on: Elements, contact: Contact, place: Touching, name: str, slope: Callable[[Vector], Vector]
) -> Callable[[Vector], ShapeContact]:
    """Where a shape touches planes of given normals, over ground of a *slope*, on which rims have domes."""
    sight = RelativeKinematics(on.kinematics, contact.end.body)
    if place.shape not in shapes.RIMS:
        return partial(_geometry, on, contact, place, name, sight)
    assert contact.normal is not None
    e, sizes = _axis(on, place, sight), on.expression(*place.sizes)
    at, up = on.kinematics.position(contact.starts[0]), on.direction(contact.normal)
    return partial(domed_place, e, sizes=sizes, flat=dome(at, normals(up), sizes[0], slope, lean(e, up)))


def _limit(on: Elements, limit: Limit) -> Iterator[UnilateralConstraint]:
    g = on.graph
    (value, restitution) = on.expression(limit.value, limit.restitution)
    unit = unit_of(on.mechanism.symbols.system, limit.value)
    for name, end, sign in (("lower", limit.lower, 1), ("upper", limit.upper, -1)):
        if end is not None:
            gap = g.sub(value, on.expression(end)[0])
            row = row_of(on.mechanism.symbols, f"{limit.name}.{name}", gap if sign > 0 else neg(gap))
            yield UnilateralConstraint(
                row.constraint, row, restitution=restitution, poisson=limit.poisson, limit=True, unit=unit
            )


def _friction(on: Elements, friction: Friction) -> Iterator[UnilateralConstraint]:
    static = friction.force if friction.static is None else friction.static
    force, held, coordinate = on.expression(friction.force, static, friction.coordinate)
    row = row_of(on.mechanism.symbols, friction.name, on.rate(coordinate), order=1)
    yield UnilateralConstraint(friction.name, None, (row,), force, held)


#: The unilateral constraints of a record of each kind.
CONTACT_ROWS: Mapping[type, Callable[[Elements, Any], Iterator[UnilateralConstraint]]] = {
    Contact: _contact,
    MutualContact: lambda on, mutual: (own for pair in mutual.pairs() for own in _contact(on, pair)),
    Limit: _limit,
    Friction: _friction,
}
