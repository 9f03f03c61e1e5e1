"""Flags of contact modes in the parameter block h, the direction of friction, and the guard functions of the modes."""

from __future__ import annotations

from collections.abc import Sequence

from kineta import tolerances
from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import Op
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Array, Derivation, vector
from kineta.model.constraints.shapes import NOTHING

#: Velocities, in units of SLIP_TOLERANCE, added to slip in space along its last known direction, so that the direction is always
#: defined; and at slip initiation, where the direction of friction turns the faster, the smaller the slip.
FIRST, BEGINS = 1e-2, 1e2
#: Slip in space at which slip initiation is complete [m/s].
BEGUN = 1e-3
#: Gap [m] of a place that may not touch, so far that no rate of it brings it near in a step.
FAR = 1e3


def closed(g: Graph, contact: UnilateralConstraint) -> Ref:
    """1 where *contact* is closed, else 0."""
    return g.symbol(contact.flags[0])


def stuck(g: Graph, contact: UnilateralConstraint) -> Ref:
    """1 where *contact* sticks, else 0."""
    return g.symbol(contact.flags[1])


def slack(g: Graph, contact: UnilateralConstraint) -> Ref:
    """Friction that a sticking *contact* may lack, so that the guards of a mode begin above zero."""
    return g.symbol(contact.flags[7])


def acting(g: Graph, contact: UnilateralConstraint, x: Ref) -> Ref:
    """A gap or guard x where *contact* acts, else 1: open, far from what it may touch."""
    return g.add(g.mul(contact.active, x), g.sub(ONE, contact.active))


def gap(g: Graph, contact: UnilateralConstraint) -> Ref:
    """The gap of *contact*, which has one; far where it may not touch, as beside a face."""
    assert contact.normal is not None
    own = contact.normal.levels[0]
    if contact.room is None:
        return own
    return g.add(g.mul(contact.over, own), g.mul(g.const(FAR), g.sub(ONE, contact.over)))


def direction(g: Graph, contact: UnilateralConstraint) -> list[Ref]:
    """The unit vector opposite to friction: the direction of slip, or in a plane its sign, a flag of the mode. For smooth
    friction its length grows with the slip.
    """
    first = [g.symbol(name) for name in contact.flags[3 : 3 + len(contact.tangents)]]
    slip = [row.levels[0] for row in contact.tangents]
    if contact.smooth is not None:
        size = size_of(g, slip, g.mul(contact.smooth, contact.smooth))
        return [g.div(x, size) for x in slip]
    if len(slip) == 1:
        return first
    trace = g.add(
        g.const(FIRST * tolerances.SLIP_TOLERANCE),
        g.mul(g.const(BEGINS * tolerances.SLIP_TOLERANCE), g.symbol(contact.flags[6])),
    )
    traced = [g.add(x, g.mul(trace, d)) for x, d in zip(slip, first, strict=True)]
    size = size_of(g, traced)
    return [g.div(x, size) for x in traced]


def events(d: Derivation) -> Array:
    """The guard functions of all contacts, which cross zero from above where a contact leaves its mode: the gap of an open
    contact; the normal force of a closed one, or the way to the edge of its face; along tangents the remaining friction, or the
    slip along its direction; a friction limit that varies.
    """
    g, found, place = d.graph, [], 0
    for contact in d.contacts:
        own, guards = d["forces"].refs[place : place + len(contact.rows)], list[Ref]()
        place += len(own)
        if contact.normal is not None:
            shut = closed(g, contact)
            holds = own[0] if contact.room is None else g.call(Op.MIN, own[0], contact.room)
            guards.append(g.add(g.mul(shut, holds), g.mul(g.sub(ONE, shut), gap(g, contact))))
        if contact.tangents and contact.smooth is None:
            guards.append(_holds_on(g, contact, own))
        if contact.varies:
            guards.append(contact.bound)
        found += [acting(g, contact, x) for x in guards]
    return vector(found)


def _holds_on(g: Graph, contact: UnilateralConstraint, forces: Sequence[Ref]) -> Ref:
    """The guard function of the tangents of *contact* under the *forces* along its rows."""
    pushed = ONE if contact.normal is None else forces[0]
    tangential, slip = forces[-len(contact.tangents) :], [row.levels[0] for row in contact.tangents]
    held = stuck(g, contact)
    margin = g.sub(g.add(g.mul(contact.static, pushed), slack(g, contact)), size_of(g, tangential))
    slips = g.symbol(contact.flags[2])
    forwards = g.sum(g.mul(g.symbol(name), x) for name, x in zip(contact.flags[3:], slip, strict=False))
    moving = forwards if len(slip) == 1 else _moves(g, contact, forwards, size_of(g, slip))
    other = g.add(g.mul(slips, moving), g.mul(g.sub(ONE, slips), _returns(g, contact)))
    return g.add(g.mul(held, margin), g.mul(g.sub(ONE, held), other))


def _returns(g: Graph, contact: UnilateralConstraint) -> Ref:
    """The guard function of tangents that neither stick nor slip: a variable friction limit that becomes positive again;
    constant without a variable limit.
    """
    if not contact.varies:
        return ONE
    shut = ONE if contact.normal is None else closed(g, contact)
    return g.add(g.mul(shut, g.sub(g.const(tolerances.LEAST_DIVISOR), contact.static)), g.sub(ONE, shut))


def _moves(g: Graph, contact: UnilateralConstraint, forwards: Ref, size: Ref) -> Ref:
    """The guard function of a slip of this *size* in space: the approach to sticking; for a slip just initiated, its
    completion, or a reversal beyond integration errors.
    """
    begins = g.symbol(contact.flags[6])
    ahead = g.mul(g.add(forwards, g.const(tolerances.SLIP_TOLERANCE)), g.sub(g.const(BEGUN), size))
    return g.add(g.mul(begins, ahead), g.mul(g.sub(ONE, begins), g.sub(size, g.const(tolerances.SLIP_TOLERANCE))))


def size_of(g: Graph, x: Sequence[Ref], more: Ref | None = None) -> Ref:
    """The Euclidean norm of a vector, kept positive; *more* is added to its square."""
    return g.sqrt(g.sum([*(g.mul(c, c) for c in x), g.const(NOTHING) if more is None else more]))
