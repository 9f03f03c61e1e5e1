"""Frames in which several links are looked at: what is swept past links of one frame needs no rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from kineta.expr.graph import ONE, ZERO, neg
from kineta.mechanics.kinematics.tree import Link, Mechanism, children
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, identity
from kineta.spatial.wrench import Wrench

#: Entries of axes that are those of others in another order.
_UNITS = frozenset((ZERO, ONE, neg(ONE)))
#: The link whose frame a link has: its own, that of the first link of its limb, that of the first link of its tree.
Sharing = Literal["link", "limb", "tree"]


class Frames(NamedTuple):
    """How frames are shared, and whether axes are held past parallel axes (:mod:`~kineta.mechanics.kinematics.parallel_axes`)."""

    sharing: Sharing
    held: bool = False


def hubs(mechanism: Mechanism, sharing: Sharing) -> list[int]:
    """For every link the link whose frame it has. A limb is a run of links that carry one link each."""
    links, carried = mechanism.links, children(mechanism.links)
    found: list[int] = []
    for i, link in enumerate(links):
        p = link.parent
        shared = p >= 0 and (sharing == "tree" or (sharing == "limb" and len(carried[p]) == 1))
        found.append(found[p] if shared else i)
    return found


class CommonFrames:
    """The frame of every link, that of the link ``hub[i]``, and what changes between frames."""

    def __init__(self, mechanism: Mechanism, hub: Sequence[int]) -> None:
        self.links, self.graph, self.hub = mechanism.links, mechanism.graph, hub
        #: Axes (link to hub) and origins, in the frame of a hub, of the links that have it and of those that these carry.
        self._seen: dict[int, dict[int, tuple[Matrix, Vector]]] = {}
        for i, link in enumerate(self.links):
            if hub[i] == i:
                self._seen[i] = {i: (identity(self.graph), Vector(self.graph))}
            p = link.parent
            if p >= 0 and not (hub[i] == i and hub[p] == p):
                R, r = self._seen[hub[p]][p]
                self._seen[hub[p]][i] = axes_beyond(R, link), r + R @ link.offset

    def seen(self, i: int) -> tuple[Matrix, Vector]:
        """The axes and the origin of link i in its frame."""
        return self._seen[self.hub[i]][i]

    def wrench(self, i: int, F: Wrench) -> Wrench:
        """*F* about the origin of link i, in link axes, in its frame."""
        return F if self.hub[i] == i else wrench_seen(self.seen(i), F)

    def twist(self, i: int, X: Twist, w: Vector | None = None) -> Twist:
        """*X* about the origin of link i, in link axes, in its frame; *w* is its angular part there, if that is known."""
        if self.hub[i] == i:
            return X
        R, r = self.seen(i)
        w = R @ X.w if w is None else w
        return Twist(w, R @ X.v + r.cross(w))

    def vector(self, i: int, y: Vector) -> Vector:
        """*y* in the axes of link i, in those of its frame."""
        return y if self.hub[i] == i else self.seen(i)[0] @ y

    def inward(self, i: int, F: Wrench) -> Wrench:
        """*F* in the frame of link i, in the frame of its carrier."""
        h, p = self.hub[i], self.hub[self.links[i].parent]
        if h == p:
            return F
        link = self.links[h]
        if p != link.parent:
            return wrench_seen(self._seen[p][h], F)
        f = link.inward(F.f)
        return Wrench(f, link.inward(F.n) + link.offset.cross(f))

    def vector_inward(self, i: int, y: Vector) -> Vector:
        """*y* in the axes of the frame of link i, in those of the frame of its carrier."""
        h, p = self.hub[i], self.hub[self.links[i].parent]
        if h == p:
            return y
        return self.links[h].inward(y) if p == self.links[h].parent else self._seen[p][h][0] @ y

    def outward(self, i: int, X: Twist) -> Twist:
        """*X* in the frame of the carrier of link i, in the frame of link i."""
        h, p = self.hub[i], self.hub[self.links[i].parent]
        if h == p:
            return X
        link = self.links[h]
        if p == link.parent:
            return Twist(link.outward(X.w), link.outward(X.v + X.w.cross(link.offset)))
        R, r = self._seen[p][h]
        return Twist(R.T @ X.w, R.T @ (X.v + X.w.cross(r)))


def axes_beyond(R: Matrix, link: Link) -> Matrix:
    """The axes of *link*, where *R* are those of its carrier. Beyond an oblique placement a last row that has filled up takes
    fewer products as the cross product of the others.
    """
    found = R.times(link.R).times(link.Q)
    upper = found.rows[0] + found.rows[1]
    if (
        link.kind != "turn"
        or all(x in _UNITS for x in link.R.refs)
        or any(found.graph.value(x) is not None for x in upper)
    ):
        return found
    return Matrix(found.graph, (*found.rows[:2], found.row(0).cross(found.row(1)).refs))


def wrench_seen(seen: tuple[Matrix, Vector], F: Wrench) -> Wrench:
    """*F* about the origin of a link, in link axes, in the frame in which the axes and the origin of the link are *seen*."""
    R, r = seen
    f = R @ F.f
    return Wrench(f, R @ F.n + r.cross(f))


def twist_seen(seen: tuple[Matrix, Vector], X: Twist) -> Twist:
    """*X* as the motion of the origin of a link, in link axes, as that of the origin of the frame in which the link is *seen*."""
    R, r = seen
    w = R @ X.w
    return Twist(w, R @ X.v + r.cross(w))
