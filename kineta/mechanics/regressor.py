"""The regressor Y: derivatives of the forces on the speeds by the inertial parameters, tau = Y pi + forces of elements.

The ten parameters of a body are its mass, its first moments and its inertia tensor about the origin of its frame, in its axes
and in Pinocchio's order: m, m x, m y, m z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz. Forces are linear in them, so that Y is their
derivative, computed from wrenches of bodies with symbolic parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix
from kineta.mechanics.from_residual import moving
from kineta.mechanics.kinematics.regrouping import regrouped
from kineta.mechanics.kinematics.sweeps import generalized, inertia_wrench, rate_forces
from kineta.mechanics.kinematics.tree import Link, kinematic_tree, moments_of
from kineta.passes.differentiate import gradient
from kineta.spatial.inertia import Moments, nothing, second_moments
from kineta.spatial.vector import Matrix, Vector
from kineta.spatial.wrench import Wrench

#: Inertial parameters of a body.
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def _regressor(d: Derivation) -> Array:
    """The regressor Y, (nv, 10 bodies)."""
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
    """The inertial parameters of the bodies, (bodies, 10)."""
    rows = []
    for body in d.symbols.system.bodies:
        own = moments_of(d.symbols, body.inertia, d.graph)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = own.J.rows
        rows.append([own.m, *own.c.refs, xx, xy, yy, xz, yz, zz])
    return matrix(rows, 10)


RULES: Mapping[str, Rule] = {"regressor": _regressor, "inertial_parameters": _parameters}


def regrouped_parameters(d: Derivation) -> list[dict[int, Ref]]:
    """The base parameters as combinations of inertial parameters, by the rules of
    :func:`~kineta.mechanics.kinematics.regrouping.regrouped`: for every link the combinations that do not move to its carrier;
    coefficients by parameter index.
    """
    g, tree = d.graph, kinematic_tree(d.symbols)
    moments, columns = [nothing(g) for _ in tree.links], dict[Ref, int]()
    for b, body in enumerate(d.symbols.system.bodies):
        own, place = [g.symbol(f"inertia {b} {k}") for k in range(10)], tree.places[body.name]
        columns |= {ref: 10 * b + k for k, ref in enumerate(own)}
        if place.link >= 0:
            moved = _moments(d, own).rotated(place.R).shifted(place.r)
            moments[place.link] = moments[place.link] + moved
    links = tuple(replace(link, moments=m) for link, m in zip(tree.links, moments, strict=True))
    found = []
    for link in regrouped(replace(tree, links=links)).links:
        rows = (gradient(g, ref, columns) for ref in _link_parameters(g, link))
        found += [{columns[symbol]: partial for symbol, partial in row.items()} for row in rows if row]
    return found


def _link_parameters(g: Graph, link: Link) -> list[Ref]:
    """Mass, first moments and moments of inertia of a link; for a revolute link the moment about its axis, and the difference
    of the transverse moments.
    """
    J, (i, j) = link.moments.J.rows, ((link.axis + 1) % 3, (link.axis + 2) % 3)
    products = [J[0][1], J[0][2], J[1][2]]
    if link.kind == "turn":
        return [*link.moments.c.refs, *products, g.sub(J[i][i], J[j][j]), J[link.axis][link.axis]]
    return [link.moments.m, *link.moments.c.refs, *products, *(J[k][k] for k in range(3))]
