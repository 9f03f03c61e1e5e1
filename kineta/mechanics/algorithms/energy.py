"""Kinetic and potential energy, kineta, momentum and mass centre of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.sweeps import LinkMotion, generalized, rate_forces
from kineta.mechanics.kinematics.tree import Link, Mechanism
from kineta.spatial.inertia import Moments
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


def kinetic_energy(mechanism: Mechanism, kinematics: TreeKinematics) -> Ref:
    """T = sum of (m v.v + J w.w)/2 + v.(w x c) over the links, moments about the link origins (Andreev (1.1))."""
    g = mechanism.graph
    rows = zip(mechanism.links, kinematics.w, kinematics.v, strict=True)
    half = g.const(0.5)
    return g.mul(half, g.sum([ZERO, *(twice_kinetic_energy(link.moments, w, v) for link, w, v in rows)]))


def twice_kinetic_energy(own: Moments, w: Vector, v: Vector) -> Ref:
    """2 T of the mass *own* whose origin moves with v, turning with w."""
    g = v.graph
    p = v * own.m + w.cross(own.c) * g.const(2.0)
    return g.add(v.dot(p), w.dot(own.J @ w))


def kineta(mechanism: Mechanism, motion: LinkMotion, order: int) -> Ref:
    """K_s = int (r^(s))^2 dm / 2: the sum of (m X.X + 2 X.(U c) + tr(U S U^T))/2 over the links (Rodionov (23))."""
    return mechanism.graph.sum(term for terms in kinetas(mechanism, motion, order) for term in terms)


def kinetas(mechanism: Mechanism, motion: LinkMotion, order: int) -> Iterator[list[Ref]]:
    """The terms of the links in :func:`kineta`."""
    g = mechanism.graph
    half = g.const(0.5)
    for link, X, U in zip(mechanism.links, motion.X(order), motion.U(order), strict=True):
        own = link.moments
        A = U.times(own.S)
        square = [g.mul(half, A.row(i).dot(U.row(i))) for i in range(3)]
        yield [g.mul(g.mul(half, own.m), X.dot(X)), X.dot(U @ own.c), *square]


def gravity_potential(mechanism: Mechanism) -> Ref:
    """V = - sum of gravity . (m r + c) over the links and the mass fixed to the ground."""
    g = mechanism.graph
    ground = mechanism.ground
    total = neg(mechanism.gravity.dot(ground.c))
    heights: list[tuple[Vector, Ref]] = []  # gravity in link axes, gravity . (origin of the link)
    for link in mechanism.links:
        gravity, height = heights[link.parent] if link.parent >= 0 else (mechanism.gravity, ZERO)
        own, height, work = gravity_work(link, gravity, height)
        heights.append((own, height))
        total = g.sub(total, work)
    return total


def gravity_work(link: Link, gravity: Vector, height: Ref) -> tuple[Vector, Ref, Ref]:
    """Gravity in link axes, gravity . (origin of the link), gravity . (m r + c), from the first two of its carrier."""
    g = gravity.graph
    height = g.add(height, gravity.dot(link.offset))
    own = link.outward(gravity)
    return own, height, g.add(g.mul(link.moments.m, height), own.dot(link.moments.c))


def generalized_momentum(mechanism: Mechanism, kinematics: TreeKinematics) -> list[Ref]:
    """dT/dv, (nv,): the momenta of the links, swept inwards like forces."""
    return generalized(mechanism, rate_forces(mechanism, kinematics.motion.wrenches(1)))


def total_momentum(mechanism: Mechanism, kinematics: TreeKinematics) -> Wrench:
    """Momentum of all mass and its angular momentum about the ground's origin, in ground axes.

    Requires the mechanism as described: mass that regrouping moves to the ground has no momentum there.
    """
    graph = mechanism.graph
    total = Wrench(Vector(graph), Vector(graph))
    for (R, r), own in zip(kinematics.frames, kinematics.motion.wrenches(1), strict=True):
        f = R @ own.f
        total = total + Wrench(f, R @ own.n + r.cross(f))
    return total


def mass_centre(mechanism: Mechanism, kinematics: TreeKinematics) -> tuple[Ref, Vector]:
    """Mass of the system and first moment about the ground's origin, in ground axes."""
    graph = mechanism.graph
    m, c = mechanism.ground.m, mechanism.ground.c
    for link, (R, r) in zip(mechanism.links, kinematics.frames, strict=True):
        m = graph.add(m, link.moments.m)
        c = c + r * link.moments.m + R @ link.moments.c
    return m, c
