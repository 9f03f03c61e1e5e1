"""The mass matrix by composite bodies (Walker and Orin; RBDA, section 6.2)."""

from __future__ import annotations

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.kinematics.tree import Mechanism, Rate
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


def rate_mass_matrix(mechanism: Mechanism) -> dict[tuple[tuple[int, int], tuple[int, int]], Ref]:
    """Mass matrix in the rates: the entries of all pairs ((i, j), (k, l)) of a rate and a rate of the same link or its
    carriers.
    """
    graph = mechanism.graph
    links = mechanism.links
    H: dict[tuple[tuple[int, int], tuple[int, int]], Ref] = {}
    for i, K in enumerate(composites(mechanism)):
        for j, rate in enumerate(links[i].rates):
            if not rate.by_speed:
                continue
            F = momentum_of_rate(graph, rate, K)
            k = i
            while k >= 0:
                own = range(j + 1) if k == i else range(len(links[k].rates))
                for l in own:
                    H[(i, j), (k, l)] = component(F, links[k].rates[l])
                f = links[k].inward(F.f)
                F = Wrench(f, links[k].inward(F.n) + links[k].offset.cross(f))
                k = links[k].parent
    return H


def component(F: Wrench, rate: Rate) -> Ref:
    """The component of *F* along *rate*."""
    return (F.n if rate.turns else F.f)[rate.axis]


def mass_matrix(mechanism: Mechanism) -> list[list[Ref]]:
    """M, (nv, nv), symmetric: M_kl = sum over rates of du_a/dv_k H_ab du_b/dv_l."""
    graph = mechanism.graph
    n = len(mechanism.symbols.v)
    M = [[ZERO] * n for _ in range(n)]
    for ((i, j), (k, l)), h in rate_mass_matrix(mechanism).items():
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
