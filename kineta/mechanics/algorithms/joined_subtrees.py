"""Inverse dynamics in which the subtrees of some links move as one body with the carrier.

The links of the subtree of a link that turns or shifts move as its carrier does, and by what the link adds. With U and x of the
carrier (:mod:`~kineta.mechanics.kinematics.sweeps`) at the origin of the link, in the axes before its motion, the wrench of the
subtree is that of its composite moments for U and x, and for what the link adds, with e u its rate::

    turn    U + 2 u [w x][e x] + u^2 [e x][e x] + u' [e x]          shift    x + 2 u w x e + u' e

Only the component of the first along e is needed: its carrier counts the moments as its own. The motion of the link itself is
needed for the links that it carries, and so at a tip for none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.kinematics.sweeps import LinkMotion, inertia_wrench
from kineta.mechanics.kinematics.tree import Link, children
from kineta.spatial.inertia import Moments, symmetric
from kineta.spatial.rotation import conjugated
from kineta.spatial.vector import Vector, along, skew, zeros
from kineta.spatial.wrench import Wrench


def choices(motion: LinkMotion) -> list[list[bool]]:
    """Links whose subtrees may be joined to their carriers with fewer operations, each choice as a flag for every link: tips but
    rotors; links that turn the axis about which their carrier turns, where this is a coordinate axis; both.
    """
    links, W = motion.mechanism.links, motion.W(0)
    carried = children(links)
    suited = [link.kind in ("turn", "shift") and link.parent >= 0 for link in links]
    tips = [own and not carried[i] and not _is_rotor(links[i]) for i, own in enumerate(suited)]
    tilting = [
        own and _components(W[link.parent]) <= 1 < _components(w) for own, link, w in zip(suited, links, W, strict=True)
    ]
    both = [a or b for a, b in zip(tips, tilting, strict=True)]
    found = {tuple(choice): choice for choice in (tips, tilting, both) if any(choice)}
    return list(found.values())


def _is_rotor(link: Link) -> bool:
    return link.kind == "turn" and link.Q.is_identity


def _components(w: Vector) -> int:
    return sum(r != ZERO for r in w.refs)


def rate_forces(
    motion: LinkMotion, applied: Mapping[int, Wrench], joined: Sequence[bool]
) -> dict[tuple[int, int], Ref]:
    """Forces on the rates, by (link, rate), that produce the *motion* against the wrenches *applied* to links; the subtrees of
    the links *joined* move as one body with their carriers.
    """
    links, graph = motion.mechanism.links, motion.graph
    K = [link.moments for link in links]
    total = [Wrench.zero(graph) - applied[i] if i in applied else Wrench.zero(graph) for i in range(len(links))]
    phi: dict[tuple[int, int], Ref] = {}
    for i in reversed(range(len(links))):
        link, p = links[i], links[i].parent
        if joined[i]:
            phi[i, 0], passed = _passed_on(motion, i, K[i], total[i])
            K[p] = K[p] + link.moments_inward(K[i])
        else:
            own = total[i] + inertia_wrench(K[i], motion.X(2)[i], motion.U(2)[i])
            for j, rate in enumerate(link.rates):
                phi[i, j] = (own.n if rate.turns else own.f)[rate.axis]
            passed = Wrench(link.before(own.f), link.before(own.n))
        if p >= 0:
            f = link.R @ passed.f
            total[p] = total[p] + Wrench(f, link.R @ passed.n + link.offset.cross(f))
    return phi


def _passed_on(motion: LinkMotion, i: int, K: Moments, carried: Wrench) -> tuple[Ref, Wrench]:
    """The force on the rate of the joined link i with the composite moments *K*, on which the wrench *carried* acts in link axes;
    and what it passes on to its carrier beside *K*, in the axes before its motion.
    """
    link = motion.mechanism.links[i]
    (rate,), p = link.rates, link.parent
    K = Moments(K.m, link.before(K.c), symmetric(link.matrix_before(K.S)))
    passed = Wrench(link.before(carried.f), link.before(carried.n)) + _added(motion, link, K)
    x = link.R.T @ (motion.X(2)[p] + motion.U(2)[p] @ link.offset)
    held = inertia_wrench(K, x, conjugated(link.R.T, motion.U(2)[p]))
    parts = (passed.n, held.n) if rate.turns else (passed.f, held.f)
    return motion.graph.add(*(part[rate.axis] for part in parts)), passed


def _added(motion: LinkMotion, link: Link, K: Moments) -> Wrench:
    """The wrench of the moments *K* for what the rate of *link* adds to the motion of the carrier."""
    graph, (rate,) = motion.graph, link.rates
    e, w, u, change = along(graph, rate.axis), link.R.T @ motion.W(0)[link.parent], rate.speed, motion.level(rate, 1)
    twice = w * graph.const(2.0)
    if rate.turns:
        E = skew(e)
        return inertia_wrench(K, Vector(graph), skew((twice + e * u) * u).times(E) + E.scaled(change))
    return inertia_wrench(K, twice.cross(e) * u + e * change, zeros(graph))
