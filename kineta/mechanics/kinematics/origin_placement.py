"""Placement of the origins of revolute links along their axes, chosen so that few offsets remain.

An offset along the axis of a link may be taken before or after its rotation. Taken after it, the offset adds to the offsets of
the links carried: it is moved outwards to a link with an offset of its own, or past parallel axes to the next link, and at last
to the tips, where it rotates the least mass. The result does not depend on how offsets were described.
"""

from __future__ import annotations

from dataclasses import replace

from kineta.expr.graph import ONE, ZERO, neg
from kineta.mechanics.kinematics.tree import Link, Mechanism, Place, children
from kineta.spatial.vector import Vector, along


def slid(mechanism: Mechanism) -> Mechanism:
    """The mechanism with the origins of links moved along their axes."""
    graph = mechanism.graph
    links = list(mechanism.links)
    moved = [Vector(graph) for _ in links]
    carried = children(links)
    for i, link in enumerate(links):
        direction = _direction(link)
        if direction is None:
            continue
        component, sign = direction
        offset = link.r[component]
        if offset == ZERO or sum(_is_new_offset(links[j], link.axis) for j in carried[i]) > 1:
            continue
        e = along(graph, link.axis, neg(offset) if sign == 0 else offset)
        links[i] = replace(link, r=link.r + link.R @ e, moments=link.moments.shifted(-e))
        moved[i] = e
        for j in carried[i]:
            links[j] = replace(links[j], r=links[j].r - e)
    places = {
        name: Place(p.link, p.R, p.r - moved[p.link]) if p.link >= 0 else p for name, p in mechanism.places.items()
    }
    return replace(mechanism, links=tuple(links), places=places)


def _direction(link: Link) -> tuple[int, int] | None:
    """The axis of the carrier to which the axis of a revolute link is parallel, and the sign bit; None where there is none."""
    if link.kind != "turn":
        return None
    axis = link.R.column(link.axis)
    found = [(i, r & 1) for i, r in enumerate(axis.refs) if r >> 1 == ONE >> 1]
    return found[0] if found else None


def _is_new_offset(link: Link, axis: int) -> bool:
    """Return whether an offset along *axis* of the carrier would be an additional offset of *link* that cannot move on to the
    next link.
    """
    direction = _direction(link)
    return link.r[axis] == ZERO and (direction is None or direction[0] != axis)
