"""Where the origin of a turning link sits on its axis is free; this chooses so that few offsets remain.

An offset along the axis of a link may be taken before its turn or after it. Taken after, it adds to the offsets of the links
carried: it goes where it meets another one, or on to the next where axes are parallel, and out to the tips, where it
turns the least mass. The choice is the same however the offsets were written down.
"""

from __future__ import annotations

from dataclasses import replace

from kineta.expr.graph import ONE, ZERO, neg
from kineta.formalism.mechanism import Link, Mechanism, Place, children
from kineta.spatial.vector import Vector, along


def slid(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with the origins of links moved along their axes."""
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
    """The axis of its carrier along which a turning link has its own, and the sign bit; None where it has none."""
    if link.kind != "turn":
        return None
    axis = link.R.column(link.axis)
    found = [(i, r & 1) for i, r in enumerate(axis.refs) if r >> 1 == ONE >> 1]
    return found[0] if found else None


def _is_new_offset(link: Link, axis: int) -> bool:
    """True where an offset along *axis* of its carrier would be one more for *link*, and could not go on to the next."""
    direction = _direction(link)
    return link.r[axis] == ZERO and (direction is None or direction[0] != axis)
