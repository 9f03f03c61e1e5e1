"""Derivatives of the forces on the rates by one sweep inwards from every rate (Carpentier and Mansard, 2018; Singh, Russell and
Wensing, 2022), together with the mass matrix.

With a change X_a, y_a on a rate a of link i (``motion_changes``), composite I_i and B_i of its subtree, and the wrench F_i that
its carrier passes on to it, the force on a rate b of a carrier changes by, and a change on b changes the force on a by::

    S_b . (I_i X_a + B_i y_a + S_a x* F_i)            I_i S_a . X_b + B_i^T S_a . y_b

with S_a x* F_i for displacements alone. The entries of the mass matrix are I_i S_a . S_b.
"""

from __future__ import annotations

from dataclasses import field

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms.composite_bodies import composites, momentum
from kineta.mechanics.algorithms.motion_changes import Change, MotionChanges, gyration
from kineta.mechanics.kinematics.common_frames import CommonFrames, Sharing, hubs
from kineta.mechanics.kinematics.tree import At
from kineta.records import dataclass
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, outer
from kineta.spatial.wrench import Wrench

#: Entries by the rates of their row and of their column; those that are absent are zero.
Pairs = dict[tuple[At, At], Ref]


@dataclass(frozen=True, slots=True)
class RateDerivatives:
    """Derivatives of the forces on the rates (rows) by displacements along the rates, and by the rates; the mass matrix.

    taken_by_displacement, taken_by_rate : accelerations that free rates (rows) take up, without the forces that these ask for
    """

    by_displacement: Pairs = field(default_factory=dict)
    by_rate: Pairs = field(default_factory=dict)
    mass: Pairs = field(default_factory=dict)
    taken_by_displacement: Pairs = field(default_factory=dict)
    taken_by_rate: Pairs = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a rate is to those that its link carries, in the frame of the link: its twist, and the changes of both kinds."""

    S: Twist
    displaced: Change
    changed: Change


def rate_derivatives(m: MotionChanges, sharing: Sharing) -> RateDerivatives:
    """The derivatives in the motion of *m*; wrenches are swept in the frames of *sharing*."""
    links = m.links
    frames = CommonFrames(m.mechanism, hubs(m.mechanism, sharing))
    K, (p, T) = composites(m.mechanism), _composite(m)
    own = {at: _Seen(m.S[at], *m.changes(at)) for at in m.rates}
    seen = {at: _Seen(frames.twist(at[0], m.S[at]), *m.seen(frames, at)) for at in m.rates}
    found = RateDerivatives()
    for a in m.rates:
        i, S = a[0], m.S[a]
        G, displaced, changed = gyration(T[i]), own[a].displaced, own[a].changed
        momenta, turned = momentum(K[i], S), G.T @ S.w + p[i].cross(S.v)  # I S, B^T S
        for b in ((i, l) for l in range(len(links[i].rates))):
            _by_carrier(found, a, b, own[b], momenta, turned)
        found.taken_by_displacement.update(((b, a), x) for b, x in displaced.taken.items())
        found.taken_by_rate.update(((b, a), x) for b, x in changed.taken.items())
        asked = [momentum(K[i], x.X) + Wrench(x.y.cross(p[i]), G @ x.y) for x in (displaced, changed)]
        asked[0] = asked[0] + S.cross_wrench(m.F[i])
        momenta, turned = frames.wrench(i, momenta), frames.vector(i, turned)
        asked = [frames.wrench(i, x) for x in asked]
        k = i
        while (up := links[k].parent) >= 0:
            turned = frames.vector_inward(k, turned)
            momenta, *asked = (frames.inward(k, x) for x in (momenta, *asked))
            k = up
            for b in ((k, l) for l in range(len(links[k].rates))):
                _by_carrier(found, a, b, seen[b], momenta, turned)
                found.by_displacement[b, a], found.by_rate[b, a] = (seen[b].S.work(x) for x in asked)
    _turn_free_links(m, found)
    return found


def _by_carrier(found: RateDerivatives, a: At, b: At, by: _Seen, momenta: Wrench, turned: Vector) -> None:
    """The entries of the row *a* by a rate *b* of its link or of a carrier."""
    for pairs, change in ((found.by_displacement, by.displaced), (found.by_rate, by.changed)):
        pairs[a, b] = turned.graph.add(turned.dot(change.y), change.X.work(momenta))
    found.mass[a, b] = found.mass[b, a] = by.S.work(momenta)


def _turn_free_links(m: MotionChanges, found: RateDerivatives) -> None:
    """Add what turning free first links asks for: by :meth:`MotionChanges.base_rates`."""
    g = m.graph
    for a in m.rates:
        for c, x in m.base_rates(a).items():
            for b in m.rates if c not in m.free else ():
                if (b, c) in found.mass:
                    more = g.mul(found.mass[b, c], x)
                    found.by_rate[b, a] = g.add(found.by_rate.get((b, a), ZERO), more)


def _composite(m: MotionChanges) -> tuple[list[Vector], list[Matrix]]:
    """The sums p and T of every link together with its subtree."""
    p, T = list(m.p), list(m.T)
    for i in reversed(range(len(m.links))):
        link = m.links[i]
        if link.parent >= 0:
            moved = link.inward(p[i])
            p[link.parent] = p[link.parent] + moved
            T[link.parent] = T[link.parent] + link.matrix_inward(T[i]) + outer(moved, link.offset)
    return p, T
