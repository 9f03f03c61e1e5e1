"""The mass matrix by composite bodies (Walker and Orin; RBDA, section 6.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.kinematics.common_frames import CommonFrames, Sharing, hubs
from kineta.mechanics.kinematics.parallel_axes import Arm, along_carrier
from kineta.mechanics.kinematics.tree import At, Link, Mechanism, Rate
from kineta.spatial.inertia import Moments, inertia_tensor
from kineta.spatial.twist import Twist
from kineta.spatial.vector import along
from kineta.spatial.wrench import Wrench


def composites(mechanism: Mechanism) -> list[Moments]:
    """Moments of every link together with its subtree, in link axes about the origin of the link."""
    K = [link.moments for link in mechanism.links]
    for i in reversed(range(len(K))):
        link = mechanism.links[i]
        if link.parent >= 0:
            K[link.parent] = K[link.parent] + link.moments_inward(K[i])
    return K


def momentum_of_rate(graph: Graph, rate: Rate, K: Moments) -> Wrench:
    """Momentum and angular momentum about the origin, of the mass K moving at the unit rate::

    turn  f = e x c, n = J e          shift  f = m e, n = c x e
    """
    e = along(graph, rate.axis)
    if rate.turns:
        return Wrench(e.cross(K.c), inertia_tensor(K.S).column(rate.axis))
    return Wrench(along(graph, rate.axis, K.m), K.c.cross(e))


def momentum(K: Moments, X: Twist) -> Wrench:
    """Momentum and angular momentum about the origin, of the mass K moving with X::

    f = m v + w x c        n = c x v + J w
    """
    return Wrench(X.v * K.m + X.w.cross(K.c), K.c.cross(X.v) + K.J @ X.w)


def rate_mass_matrix(
    mechanism: Mechanism, sharing: Sharing, arms: Mapping[int, Arm] = MappingProxyType({})
) -> dict[tuple[At, At], Ref]:
    """Mass matrix in the rates: the entries of all pairs (a, b) of a rate and a rate of the same link or its carriers.

    The momentum of every rate is swept inwards in the frames of *sharing*. From link to link it is turned and shifted, which
    takes some thirty operations a carrier; in one frame an entry is the product with a twist, which takes eleven. The component
    along a parallel axis of the carrier is that along the own one, and the moment of the force about it at the end of the arm.
    """
    graph, links = mechanism.graph, mechanism.links
    frames = CommonFrames(mechanism, hubs(mechanism, sharing))
    rates = [[rate.twist(graph) for rate in link.rates] for link in links]
    seen = [[frames.twist(i, S) for S in own] for i, own in enumerate(rates)]
    H: dict[tuple[At, At], Ref] = {}
    K = composites(mechanism)
    for i, link in enumerate(links):
        for j, rate in enumerate(link.rates):
            if not rate.by_speed:
                continue
            F = momentum_of_rate(graph, rate, K[i])
            for l in range(j + 1):
                H[(i, j), (i, l)] = component(F, link.rates[l])
            F, k = frames.wrench(i, F), i
            while (up := links[k].parent) >= 0:
                arm = arms.get(k)
                at_arm = None if arm is None else along_carrier(links[k], links[up], F, arm)
                F, k = frames.inward(k, F), up
                for l, S in enumerate(seen[k]):
                    H[(i, j), (k, l)] = S.work(F) if at_arm is None else at_arm
    for k in sorted(arms, reverse=True):
        _beyond_arm(H, links, k, arms[k], K[k])
    return H


def _beyond_arm(H: dict[tuple[At, At], Ref], links: Sequence[Link], k: int, arm: Arm, K: Moments) -> None:
    """Write the moment of inertia about the axis of the carrier of link k by Steiner's theorem, from that about its own."""
    link, p = links[k], links[k].parent
    if (own := H.get(((k, 0), (k, 0)))) is None or ((p, 0), (p, 0)) not in H:
        return
    g = link.r.graph
    shift = arm.offset.cross(along(g, link.axis).cross(K.c))[link.axis]
    H[(p, 0), (p, 0)] = g.sum([g.add(own, shift), shift, g.add(arm.moment, g.mul(K.m, arm.square))])


def component(F: Wrench, rate: Rate) -> Ref:
    """The component of *F* along *rate*."""
    return (F.n if rate.turns else F.f)[rate.axis]


def mass_matrix(
    mechanism: Mechanism, sharing: Sharing, arms: Mapping[int, Arm] = MappingProxyType({})
) -> list[list[Ref]]:
    """M, (nv, nv), symmetric: M_kl = sum over rates of du_a/dv_k H_ab du_b/dv_l, with H swept in the frames of *sharing*."""
    graph = mechanism.graph
    n = len(mechanism.symbols.v)
    M = [[ZERO] * n for _ in range(n)]
    for ((i, j), (k, l)), h in rate_mass_matrix(mechanism, sharing, arms).items():
        a, b = mechanism.links[i].rates[j], mechanism.links[k].rates[l]
        _accumulate(graph, M, a, b, h, twice=(i, j) != (k, l))
    return M


def _accumulate(graph: Graph, M: list[list[Ref]], a: Rate, b: Rate, h: Ref, *, twice: bool) -> None:
    add, mul = graph.add, graph.mul
    for k, by_k in a.by_speed.items():
        for m, by_m in b.by_speed.items():
            term = mul(mul(by_k, h), by_m)
            M[k][m] = add(M[k][m], term)
            if twice:
                M[m][k] = add(M[m][k], term)
