"""Limits and dry friction of the joints of a robot, on the coordinates with which they turn or slide."""

from __future__ import annotations

from collections.abc import Iterable

from kineta.algebra.expression import Expr, expr, symbol
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.io.urdf.coverage import Note, note
from kineta.model.io.urdf.xml import XMLElement
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class JointRestriction:
    """Dry ``friction`` or ``bounds`` of a joint whose position is ratio * coordinate + offset."""

    element: XMLElement
    ratio: float
    coordinate: str
    offset: float
    friction: float = 0.0
    bounds: tuple[float, float] = (0.0, 0.0)


def limits(joints: Iterable[JointRestriction], notes: list[Note]) -> list[Limit]:
    """Limit of each coordinate: the intersection of the bounds of its joints. *notes* collect unused bounds."""
    found: dict[str, tuple[float, float, XMLElement]] = {}
    for joint in joints:
        if not joint.bounds[0] < joint.bounds[1]:
            notes.append(note(joint.element, "ignored", "the lower bound is not below the upper one"))
            continue
        low, high = sorted((b - joint.offset) / joint.ratio for b in joint.bounds)
        before, after, first = found.get(joint.coordinate, (low, high, joint.element))
        if max(low, before) < min(high, after):
            found[joint.coordinate] = max(low, before), min(high, after), first
        else:
            notes.append(note(joint.element, "ignored", "what it mimics never comes between the bounds"))
    return [
        Limit(f"{q}_limit", symbol(q), expr(low), expr(high), location=element.location)
        for q, (low, high, element) in found.items()
    ]


def frictions(joints: Iterable[JointRestriction]) -> list[Friction]:
    """Dry friction on each coordinate: the sum over its joints, which slip together."""
    found: dict[str, tuple[float, XMLElement]] = {}
    for joint in joints:
        before, first = found.get(joint.coordinate, (0.0, joint.element))
        found[joint.coordinate] = before + abs(joint.ratio) * joint.friction, first
    return [
        Friction(f"{q}_friction", expr(force), symbol(q), location=element.location)
        for q, (force, element) in found.items()
    ]


def start(found: Iterable[Limit], notes: list[Note]) -> dict[str, Expr]:
    """Coordinates at the nearest of their bounds, where these leave out zero; *notes* say so."""
    nearest = {}
    for limit in found:
        for end, sign in ((limit.lower, 1), (limit.upper, -1)):
            if end is not None and end.value is not None and limit.location is not None and sign * end.value > 0:
                nearest[str(limit.value)] = end
                reason = "zero is outside; the joint starts at the nearest bound"
                notes.append(Note(limit.location, "<limit>", "moves the start", reason))
    return nearest
