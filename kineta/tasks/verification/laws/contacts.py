"""Law of contacts, limits and joint friction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.expr.graph import Ref
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.model.constraints.shapes import Touching
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.contacts.mutual_contact import MutualContact
from kineta.tasks.verification.closure_laws import arm, crossed, nearest, slip
from kineta.tasks.verification.laws.comparison import Comparison, compare, compare_row
from kineta.tasks.verification.laws.law import MechanicalLaw, by_reference, having
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_forces import first_tangent
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.rigid_motion import norm
from kineta.tasks.verification.taylor_series import TaylorSeries

#: The unilateral constraints of the equations, by name.
Touches = Mapping[str, UnilateralConstraint]


def contact_rows(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Rows of contacts, limits and joint friction, and their friction limits."""
    touches = {t.name: t for t in kin.d.contacts}
    for record in kin.system.contacts:
        yield from MEANINGS[type(record)](kin, record, touches)


def _contact(kin: ReferenceKinematics, contact: Contact, touches: Touches) -> Iterator[Comparison]:
    for name, place in contact.touchings(kin.system).items():
        if name in touches:  # without those that no motion brings nearer
            yield from _contact_row(kin, contact, place, touches[name])


def _limit(kin: ReferenceKinematics, limit: Limit, touches: Touches) -> Iterator[Comparison]:
    own = kin.motion.value(limit.value)
    for end, sign in (("lower", 1), ("upper", -1)):
        if (bound := getattr(limit, end)) is not None:
            row = touches[f"{limit.name}.{end}"].normal
            assert row is not None
            yield from compare_row(kin, row, (own - kin.motion.value(bound)) * sign)


def _friction(kin: ReferenceKinematics, friction: Friction, touches: Touches) -> Iterator[Comparison]:
    touch = touches[friction.name]
    yield from compare_row(kin, touch.tangents[0], kin.motion.coordinate(friction.coordinate)[1])
    yield _compare_bound(kin, touch.bound, friction.force)
    yield _compare_bound(kin, touch.static, friction.force if friction.static is None else friction.static)


def _mutual(kin: ReferenceKinematics, mutual: MutualContact, touches: Touches) -> Iterator[Comparison]:
    for pair in mutual.pairs():
        yield from _contact(kin, pair, touches)


#: The comparisons of a record of each kind, by its meaning in plain kinematics.
MEANINGS: Mapping[type, Callable[..., Iterator[Comparison]]] = {
    Contact: _contact,
    MutualContact: _mutual,
    Limit: _limit,
    Friction: _friction,
}


def _compare_bound(kin: ReferenceKinematics, ref: Ref, e: Expr) -> Comparison:
    return compare(kin, values(kin.d.graph, [ref], kin.accelerated), kin.of(kin.motion.value(e)))


def _contact_row(kin: ReferenceKinematics, contact: Contact, of: Touching, touch: Any) -> Iterator[Comparison]:
    """Gap along the normal, and slip velocities along two directions that form a right-handed triad with it."""
    m, S, start = kin.motion, kin.motion.frames[contact.end.body][0], of.start
    share: Any = 1.0
    if contact.height is None:
        gap, n, lowest = nearest(m, of)
        place = m.place(start) + lowest
    else:
        assert contact.normal is not None
        n, place = S @ m.direction(contact.normal), _on_ground(kin, contact, of)
        gap = n @ (place - m.place(contact.end)) - m.value(contact.height, _seen_at(contact.height, place))
        N = n - np.array(_height_gradient(kin, contact.height, place), dtype=object)
        share, n = 1 / norm(N), N / norm(N)
    e = first_tangent(kin, of, n)
    velocity = slip(m, start, contact.end.body, place)
    for found, expected, size in compare_row(kin, touch.normal, gap):
        yield found, expected * np.broadcast_to(kin.of(share), kin.n)[:, None], size
    for row in touch.tangents:
        direction = e if row.constraint.endswith(".u") else crossed(n, e)
        yield from compare_row(kin, row, direction @ velocity)
    yield _compare_bound(kin, touch.restitution, contact.restitution)
    if touch.tangents:
        yield _compare_bound(kin, touch.bound, contact.friction)
        yield _compare_bound(kin, touch.static, contact.friction if contact.static is None else contact.static)


def _on_ground(kin: ReferenceKinematics, contact: Contact, of: Touching) -> Any:
    """Return the place of a point, or of the ground that a round shape touches, found by repetition."""
    m = kin.motion
    centre, up = m.place(of.start), m.axis(of.end.body, of.surface_axis or ())
    place, n = centre, up
    assert contact.height is not None
    for _ in range(0 if of.shape == "point" else REPEATED):
        place = centre + arm(m, of.shape, of.start.body, of.sizes, of.axis, n)
        N = up - np.array(_height_gradient(kin, contact.height, place), dtype=object)
        n = N / norm(N)
    return place


#: Repetitions that find where a round shape touches ground: each gains the part radius over radius of curvature.
REPEATED = 80


def _seen_at(height: Expr, place: Any) -> dict[str, Any]:
    """The components of a *place* by the names that stand for it in a *height*."""
    owners = {n.rpartition(".")[0] for n in height.symbols() if n.rpartition(".")[2] in ("x", "y", "z")}
    return {f"{owner}.{c}": x for owner in owners for c, x in zip("xyz", place, strict=True)}


def _height_gradient(kin: ReferenceKinematics, height: Expr, place: Any) -> list[Any]:
    """Return the gradient of the ground's height at a *place*, by complex steps, as series in time."""
    m, small = kin.motion, 1e-20
    found = []
    for i in range(3):
        x = place[i]
        moved = [*place]
        moved[i] = TaylorSeries([complex(0, small) + x.c[0], *x.c[1:]])
        found.append(m.value(height, _seen_at(height, moved)))
    return [
        TaylorSeries([np.imag(a) / small for a in own.c]) if isinstance(own, TaylorSeries) else 0.0 for own in found
    ]


LAWS = (
    MechanicalLaw(
        "contacts, limits and friction act where bodies touch and turn",
        "gaps and slips, and their rates, with those of the touching points, and bounds with their expressions",
        by_reference(contact_rows),
        having("contacts"),
    ),
)
