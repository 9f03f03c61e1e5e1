"""Axes of links that carry a parallel axis, held on their carriers.

Sweeps have absolute derivatives of vectors, so that the axes in which a link is looked at need not turn with it. Where a revolute
link p carries one link k alone, whose axis is parallel to its own, the axes of p are those before its turn. Its mass and the
offset of k turn in them, and all that is swept past p turns once, by the sum of both angles. About the axis of p wrenches have
the couple about that of k and the moment of their force at the arm between both, which is known in the axes of k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from kineta.expr.graph import ONE, Ref
from kineta.mechanics.kinematics.tree import Link, Mechanism, children
from kineta.records import dataclass
from kineta.spatial.inertia import Moments, symmetric
from kineta.spatial.rotation import about
from kineta.spatial.vector import Matrix, Vector, identity
from kineta.spatial.wrench import Wrench


class Arm(NamedTuple):
    """From the axis of a link to a parallel one that it carries.

    offset : from the origin of the link to that of the carried one, in the axes of the latter
    square : of the distance of the axes
    moment : of inertia of the link alone about its axis
    """

    offset: Vector
    square: Ref
    moment: Ref


@dataclass(frozen=True, slots=True)
class HeldAxes:
    """A mechanism in which the axes of links that carry a parallel axis are held on their carriers.

    mechanism : the same motion; places are those of bodies in axes that turn with their links
    arms : by the link whose axis is parallel to that of its carrier
    turning : the links whose axes are held, with the turn of their bodies in these axes
    """

    mechanism: Mechanism
    arms: Mapping[int, Arm]
    turning: Mapping[int, Link]

    def wrenches(self, given: Mapping[int, Wrench]) -> dict[int, Wrench]:
        """The wrenches *given* by link, in link axes that turn with the links, in those that are held."""
        return {i: _before(self.turning[i], F) if i in self.turning else F for i, F in given.items()}


def held_axes(mechanism: Mechanism) -> HeldAxes:
    """The *mechanism* with the axes of all links held that carry a parallel axis and nothing else; of none in systems with
    programs of motion, whose conditions share sweeps in axes that turn.
    """
    links, arms, turning = list(mechanism.links), dict[int, Arm](), dict[int, Link]()
    for i, carried in enumerate([] if mechanism.symbols.system.programs else children(links)):
        if len(carried) != 1 or not _are_parallel(links[i], links[k := carried[0]]):
            continue
        link, child, m = links[i], links[k], links[i].moments
        turning[i] = link
        links[i] = replace(
            link,
            Q=identity(mechanism.graph),
            moments=Moments(m.m, link.before(m.c), symmetric(link.matrix_before(m.S))),
        )
        links[k] = replace(child, r=link.before(child.r), Q=_both_turns(link, child))
    for k, link in enumerate(links):
        if link.parent in turning:
            own = mechanism.links[k]
            offset = link.R.T @ link.r if k in turning else own.outward(own.r)
            arms[k] = _arm(mechanism.links[link.parent], own, offset)
    return HeldAxes(replace(mechanism, links=tuple(links)), arms, turning)


def _are_parallel(link: Link, child: Link) -> bool:
    return link.kind == child.kind == "turn" and child.R.rows[link.axis][child.axis] >> 1 == ONE >> 1


def _both_turns(link: Link, child: Link) -> Matrix:
    """The turn of the *child* about its axis and, about the same axis, of the *link* that carries it."""
    g = link.r.graph
    (c, s), (u, v) = _turn(link), _turn(child)
    s = g.mul(s, child.R.rows[link.axis][child.axis])
    return about(g, child.axis, g.sub(g.mul(c, u), g.mul(s, v)), g.add(g.mul(s, u), g.mul(c, v)))


def _turn(link: Link) -> tuple[Ref, Ref]:
    """Cosine and sine of the angle of a revolute link."""
    i, j = (link.axis + 1) % 3, (link.axis + 2) % 3
    return link.Q.rows[i][i], link.Q.rows[j][i]


def _arm(link: Link, child: Link, offset: Vector) -> Arm:
    g, r, S = link.r.graph, child.r, link.moments.S.rows
    i, j = (link.axis + 1) % 3, (link.axis + 2) % 3
    return Arm(offset, g.add(g.mul(r[i], r[i]), g.mul(r[j], r[j])), g.add(S[i][i], S[j][j]))


def _before(link: Link, F: Wrench) -> Wrench:
    return Wrench(link.before(F.f), link.before(F.n))


def along_carrier(link: Link, carrier: Link, F: Wrench, arm: Arm) -> Ref:
    """The couple of *F*, about the origin of *link* and in its axes, about the parallel axis of its *carrier*."""
    g, e = link.r.graph, link.axis
    return g.mul(link.R.rows[carrier.axis][e], g.add(F.n[e], arm.offset.cross(F.f)[e]))
