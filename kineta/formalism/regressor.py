"""The regressor: what each inertial parameter of every body adds to the forces on the speeds, tau = Y pi + what elements do.

The ten parameters of a body are its mass, its first moments and its inertia tensor about the origin of its frame, in its axes
and in Pinocchio's order: m, m x, m y, m z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz. Forces are linear in them, so Y is their derivative,
taken of the wrenches of bodies whose parameters are symbols.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.derivation import Array, Derivation, Rule, matrix
from kineta.formalism.mechanism import moments_of
from kineta.formalism.residual import moving
from kineta.formalism.sweeps import generalized, inertia_wrench, rate_forces
from kineta.passes.differentiate import gradient
from kineta.spatial.inertia import Moments, second_moments
from kineta.spatial.vector import Matrix, Vector
from kineta.spatial.wrench import Wrench

#: The parameters of a body.
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def _regressor(d: Derivation) -> Array:
    """Y, (nv, 10 bodies)."""
    g, motion = d.graph, moving(d, d.symbols.vdot)
    wrenches = [Wrench.zero(g) for _ in d.mechanism.links]
    columns: dict[Ref, int] = {}
    for b, body in enumerate(d.symbols.system.bodies):
        own = [g.symbol(f"inertia {b} {k}") for k in range(10)]
        columns |= {ref: 10 * b + k for k, ref in enumerate(own)}
        place = d.mechanism.places[body.name]
        if place.link < 0:
            continue
        R, U = place.R, motion.U(2)[place.link]
        x = R.T @ (motion.X(2)[place.link] + U @ place.r)
        w = inertia_wrench(_moments(d, own), x, R.T.times(U).times(R))
        f = R @ w.f
        wrenches[place.link] = wrenches[place.link] + Wrench(f, R @ w.n + place.r.cross(f))
    forces = generalized(d.mechanism, rate_forces(d.mechanism, wrenches))
    rows = [gradient(g, tau, columns) for tau in forces]
    return matrix([[row.get(ref, ZERO) for ref in columns] for row in rows], len(columns))


def _moments(d: Derivation, own: list[Ref]) -> Moments:
    """The moments of a body with these parameters."""
    m, mx, my, mz, xx, xy, yy, xz, yz, zz = own
    J = Matrix(d.graph, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Moments(m, Vector(d.graph, mx, my, mz), second_moments(J))


def _parameters(d: Derivation) -> Array:
    """The parameters of the bodies as the description has them, (bodies, 10)."""
    rows = []
    for body in d.symbols.system.bodies:
        own = moments_of(d.symbols, body.inertia)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = own.J.rows
        rows.append([own.m, *own.c.refs, xx, xy, yy, xz, yz, zz])
    return matrix(rows, 10)


RULES: Mapping[str, Rule] = {"regressor": _regressor, "inertial_parameters": _parameters}
