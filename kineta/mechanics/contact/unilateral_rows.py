"""Contacts, limits and dry friction as unilateral constraints, whose rows a run switches on and off.

A unilateral constraint is one point of contact, one end of a limit, or one joint with dry friction. Its normal row keeps the gap
closed by a compressive force; its tangent rows prevent slip by forces up to the friction limit. The contact mode is a record of
flags in the parameter block h: ``closed``, ``stuck`` or ``slips``, and the direction of slip or of its initiation. Forces along
n, u and w are references from which redundant contacts take the least deviation. Slip in space that has just begun keeps its
direction more firmly than later slip, and a sticking contact close to slip initiation bears a little beyond its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr
from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.constraints.relative_kinematics import RelativeKinematics
from kineta.mechanics.constraints.rolling_residuals import SHAPES, ShapeContact
from kineta.mechanics.constraints.rows import Row, anywhere, row_of, vanishes
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.body import Station
from kineta.model.constraints.rolling import Rolling
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.dimensions import unit_of
from kineta.model.kind import Unilateral
from kineta.passes.differentiate import gradient
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Vector

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
    """The unilateral constraints of *record*. Raise :class:`ModelError` for a gap that no motion changes."""
    (active,) = on.expression(record.active)
    for contact in CONTACT_ROWS[type(record)](on, record):
        if contact.normal is not None and not contact.normal.gradient:
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
    for name, start in zip(contact.places(on.mechanism.symbols.system), contact.starts, strict=True):
        n, u, w = _on_ground(on, contact, name) if contact.height is not None else _on_plane(on, contact, start, name)
        tangents = () if bound == ZERO else (u, w)
        yield UnilateralConstraint(name, n, tangents, bound, static, smooth, restitution, contact.poisson)


def _on_plane(on: Elements, contact: Contact, start: Station, name: str) -> tuple[Row, Row, Row]:
    """The gap between a shape and a plane, and the velocities of slip along it."""
    sight = RelativeKinematics(on.kinematics, contact.end.body)
    u, w = normals(n := on.direction(contact.normal))
    geometry = _geometry(on, contact, start, name, sight)
    above = sight.position(start)
    symbols = on.mechanism.symbols
    drift = Vector(on.graph, *symbols.rates(above.sum.refs))
    velocity = drift + sight.turning(start.body).cross(geometry.arm)
    gap = on.graph.sub(n.dot(above.less(sight.position(contact.end))), geometry.height)
    return (
        row_of(symbols, f"{name}.n", gap),
        row_of(symbols, f"{name}.u", u.dot(velocity), order=1),
        row_of(symbols, f"{name}.w", w.dot(velocity), order=1),
    )


def _geometry(on: Elements, contact: Contact, start: Station, name: str, sight: RelativeKinematics) -> ShapeContact:
    """Where a shape touches a plane, seen from its body."""
    given = (contact.shape, contact.sizes, start, contact.end, contact.normal, contact.axis)
    rolling = Rolling(name, *given, location=contact.location)
    n, sizes = on.direction(contact.normal), on.expression(*contact.sizes)
    return SHAPES[contact.shape](on, rolling, sight, n, sizes)


def lowest(on: Elements, contact: Contact, start: Station, name: str) -> Vector:
    """The way from the *start* of a contact with a plane to its lowest place, in the axes of the body of the plane."""
    return _geometry(on, contact, start, name, RelativeKinematics(on.kinematics, contact.end.body)).arm


def _on_ground(on: Elements, contact: Contact, name: str) -> tuple[Row, Row, Row]:
    """The gap between a point and ground of a given height over a plane, along the normal of the ground below the point."""
    g, symbols, (point,) = on.graph, on.mechanism.symbols, contact.starts
    assert contact.height is not None
    u, _ = normals(up := on.direction(contact.normal))
    (height,) = on.expression(contact.height)
    over = on.kinematics.position(point) - on.kinematics.position(contact.end)
    N = up - Vector(g, *slope(on, contact.height, point))
    size = g.sqrt(N.dot(N))
    if size == ZERO:
        text = f"contact '{name}': the height {contact.height!r} rises as its point does, so that no gap is left between them; "
        text += "expected a height over the directions along the plane."
        raise ModelError(f"Model '{symbols.system.name}': {text}", contact.location)
    share = g.div(ONE, size)
    n = N * share
    whole = row_of(symbols, f"{name}.n", g.sub(up.dot(over), height))
    normal = replace(
        whole,
        levels=tuple(g.mul(share, x) for x in whole.levels),
        gradient={k: g.mul(share, x) for k, x in whole.gradient.items()},
        rest=g.mul(share, whole.rest),
    )
    across = u - n * n.dot(u)
    e = across * g.div(ONE, g.sqrt(across.dot(across)))
    velocity = on.kinematics.velocity(point)
    first, second = e.dot(velocity), n.cross(e).dot(velocity)
    return normal, row_of(symbols, f"{name}.u", first, order=1), row_of(symbols, f"{name}.w", second, order=1)


def slope(on: Elements, height: Expr, point: Station) -> list[Ref]:
    """The derivatives of a *height* by the components of its only point, in ground axes."""
    names = {n.rpartition(".")[0] for n in height.symbols() if "." in n}
    with LOCK:
        components = [DESCRIPTIONS.symbol(f"{name}.{c}") for name in names for c in "xyz"]
        partials = gradient(DESCRIPTIONS, height.ref, components) if components else {}
    shown = [Expr(DESCRIPTIONS, partials.get(c, ZERO)) for c in components] or [Expr(DESCRIPTIONS, ZERO)] * 3
    return on.expression(*shown)


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
    Limit: _limit,
    Friction: _friction,
}
