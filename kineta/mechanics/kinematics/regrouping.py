"""Mass regrouped towards the ground: base parameters, and rotors.

Mass on the axis of a revolute link is not affected by its rotation: mass, first and second moment along the axis may be moved to
the carrier. The second moments of a prismatic link rotate with its carrier, and mass at the centre of a ball joint moves with the
carrier. Moments are sums and may be split; the work is done once, on parameters.

A rotor is a revolute link at a tip whose mass is symmetric about its axis. Its inertia is the same in all axes that turns about
its own lead to, and so are its momentum and its wrench, of any order: with axes that are held on the carrier its angle is needed
for the places of bodies alone. Of the moments S_xx = S_yy = s, S_zz = 0 about the axis z, which are left, the carrier takes
S_zz = s, so that what stays has a moment about the axis alone::

    S = diag(s, s, -s)        J = diag(0, 0, 2s)        n = 2s (w_y w_z, -w_x w_z, w_z')
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kineta.expr.graph import ZERO
from kineta.mechanics.kinematics.tree import Link, Mechanism, Place, children
from kineta.spatial.inertia import Moments, nothing
from kineta.spatial.vector import Matrix, Vector, along, identity, zeros


def regrouped(mechanism: Mechanism, tips: Collection[int] = ()) -> Mechanism:
    """The *mechanism* with as much mass as possible moved towards the ground; the axes of rotors among the links *tips* are held
    on their carriers, and the bodies of rotors turn in them.
    """
    links, ground, places = list(mechanism.links), mechanism.ground, dict(mechanism.places)
    for i in reversed(range(len(links))):
        link = links[i]
        part = _movable(link)
        if i in tips and _is_symmetric(left := link.moments - part, link.axis):
            link = replace(link, Q=identity(mechanism.graph))
            part = part + _spread(left, link.axis)
            places |= {n: _turned(p, mechanism.links[i].Q) for n, p in places.items() if p.link == i}
        links[i] = replace(link, moments=link.moments - part)
        moved = part.rotated(link.R).shifted(link.r)
        if link.parent < 0:
            ground = ground + moved
        else:
            parent = links[link.parent]
            links[link.parent] = replace(parent, moments=parent.moments + moved)
    return replace(mechanism, links=tuple(links), ground=ground, places=places)


def held_tips(mechanism: Mechanism) -> frozenset[int]:
    """The links that may be rotors: they carry none, their bodies have their origins on the axis, and no element acts on them.
    None in systems with constraints, contacts, quasi-velocities or programs, which look at the frames of bodies.
    """
    system = mechanism.symbols.system
    if system.constraints or system.contacts or system.quasi or system.programs:
        return frozenset()
    acted_on = {body for element in system.elements for body in element.bodies}
    taken = {p.link for name, p in mechanism.places.items() if name in acted_on or not _on_axis(mechanism, p)}
    carried = children(mechanism.links)
    return frozenset(i for i, link in enumerate(mechanism.links) if link.kind == "turn" and not carried[i]) - taken


def _on_axis(mechanism: Mechanism, place: Place) -> bool:
    """Return whether the origin of a *place* lies on the axis of its link."""
    return place.link < 0 or all(x == ZERO for k, x in enumerate(place.r.refs) if k != mechanism.links[place.link].axis)


def _turned(place: Place, Q: Matrix) -> Place:
    """A *place* on the axis of a link, in the axes before its turn *Q*."""
    return replace(place, R=Q.times(place.R), held=place.R)


def _is_symmetric(left: Moments, axis: int) -> bool:
    """Return whether the moments *left* on a revolute link are the same after any turn, and are not zero."""
    S, i, j = left.S.rows, (axis + 1) % 3, (axis + 2) % 3
    alike = left.c.graph.sub(S[i][i], S[j][j]) == ZERO
    return left.c.is_zero and S[0][1] == S[0][2] == S[1][2] == ZERO and alike and S[i][i] != ZERO


def _spread(left: Moments, axis: int) -> Moments:
    """The second moment along its axis that a rotor with the moments *left* gives away."""
    S = [[ZERO] * 3 for _ in range(3)]
    S[axis][axis] = left.S.rows[(axis + 1) % 3][(axis + 1) % 3]
    return Moments(ZERO, Vector(left.c.graph), Matrix(left.c.graph, S))


def _movable(link: Link) -> Moments:
    """The part of the mass distribution of a link that moves with its carrier alone."""
    own, graph = link.moments, link.moments.c.graph
    if link.kind == "turn":
        e = link.axis
        S = [[ZERO] * 3 for _ in range(3)]
        S[e][e] = own.S.rows[e][e]
        return Moments(own.m, along(graph, e, own.c[e]), Matrix(graph, S))
    if link.kind == "shift":
        return Moments(ZERO, Vector(graph), own.S)
    if link.kind == "ball":
        return Moments(own.m, Vector(graph), zeros(graph))
    return nothing(graph)
