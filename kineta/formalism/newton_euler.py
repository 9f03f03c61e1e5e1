"""Inverse dynamics by recursion: two sweeps over the links (Newton-Euler, in link axes about link origins).

All mass enters through its moments m, c = int r dm, S = int r r^T dm about the link's origin. With::

    U = [wdot x] + [w x][w x]          so that a particle at r has the acceleration a + U r

the forces of inertia of a link are sums over its particles of dm (a + U r) and r x dm (a + U r)::

    f = m a + U c        n = c x a + vee(U S)        vee(A) = (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy)

U serves three times: for f, for n, and for the origins of the links carried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import Ref, neg
from kineta.formalism.balance import rate_forces
from kineta.formalism.kinematics import relative
from kineta.formalism.mechanism import Link, Mechanism
from kineta.spatial.vector import Matrix, Vector, zeros
from kineta.spatial.wrench import Wrench


def accelerations(
    mechanism: Mechanism, w: Sequence[Vector], udot: Mapping[tuple[int, int], Ref]
) -> tuple[list[Vector], list[Matrix]]:
    """Acceleration a of the origin of every link less gravity, and U, in link axes::

        wdot_i = Q^T wdot_p + (Q^T w_p) x e u + e udot
        a_i    = Q^T (a_p + U_p d) + 2 (Q^T w_p) x e u + e udot          (+ w_rel x v_rel where both turn and shift are free)

    Gravity enters as an acceleration -gravity of the ground. ``udot[i, j]`` is the rate of change of rate j of link i.
    """
    graph = mechanism.graph
    two = graph.const(2.0)
    a: list[Vector] = []
    wdot: list[Vector] = []
    U: list[Matrix] = []
    for i, link in enumerate(mechanism.links):
        p = link.parent
        a_p, U_p = (a[p], U[p]) if p >= 0 else (-mechanism.gravity, zeros(graph))
        wdot_p, w_p = (wdot[p], w[p]) if p >= 0 else (Vector(graph), Vector(graph))
        w_rel, v_rel = relative(graph, link, turns=True), relative(graph, link, turns=False)
        w_carried = link.outward(w_p)
        wdot_i = link.outward(wdot_p) + w_carried.cross(w_rel)
        a_i = link.outward(a_p + U_p @ link.offset) + w_carried.cross(v_rel) * two + w_rel.cross(v_rel)
        for j, rate in enumerate(link.rates):
            if rate.turns:
                wdot_i = wdot_i.plus(rate.axis, udot[i, j])
            else:
                a_i = a_i.plus(rate.axis, udot[i, j])
        wdot.append(wdot_i)
        a.append(a_i)
        U.append(acceleration_matrix(w[i], wdot_i))
    return a, U


def acceleration_matrix(w: Vector, wdot: Vector) -> Matrix:
    """U = [wdot x] + [w x][w x]."""
    graph = w.graph
    add, sub, mul = graph.add, graph.sub, graph.mul
    x, y, z = w.refs
    xx, yy, zz = mul(x, x), mul(y, y), mul(z, z)
    xy, xz, yz = mul(x, y), mul(x, z), mul(y, z)
    a, b, c = wdot.refs
    return Matrix(
        graph,
        (
            (neg(add(yy, zz)), sub(xy, c), add(xz, b)),
            (add(xy, c), neg(add(xx, zz)), sub(yz, a)),
            (sub(xz, b), add(yz, a), neg(add(xx, yy))),
        ),
    )


def inertia_wrench(link: Link, a: Vector, U: Matrix) -> Wrench:
    """Force f and couple n of the mass of *link* (see the head of this file)."""
    own = link.moments
    A = U.times(own.S)
    sub = U.graph.sub
    vee = Vector(
        U.graph,
        sub(A.rows[2][1], A.rows[1][2]),
        sub(A.rows[0][2], A.rows[2][0]),
        sub(A.rows[1][0], A.rows[0][1]),
    )
    return Wrench(a * own.m + U @ own.c, own.c.cross(a) + vee)


def inverse_dynamics(
    mechanism: Mechanism, w: Sequence[Vector], vdot: Sequence[Ref], applied: Mapping[int, Wrench]
) -> dict[tuple[int, int], Ref]:
    """Forces on the rates that produce the accelerations *vdot* of the speeds against the wrenches *applied* to the links."""
    add, mul = mechanism.graph.add, mechanism.graph.mul
    udot: dict[tuple[int, int], Ref] = {}
    for i, link in enumerate(mechanism.links):
        for j, rate in enumerate(link.rates):
            terms = (mul(partial, vdot[k]) for k, partial in rate.by_speed.items())
            udot[i, j] = add(mechanism.graph.sum(terms), rate.bias)
    a, U = accelerations(mechanism, w, udot)
    wrenches = [inertia_wrench(link, a[i], U[i]) for i, link in enumerate(mechanism.links)]
    for i, wrench in applied.items():
        wrenches[i] = Wrench(wrenches[i].f - wrench.f, wrenches[i].n - wrench.n)
    return rate_forces(mechanism, wrenches)
