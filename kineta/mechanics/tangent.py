"""The tangent of the equations of motion: first derivatives by displacements, speeds, the time, forces and parameters.

Accelerations and multipliers are the zeros of two residuals::

    F = inverse(t, q, v, vdot) - tau - A^T lambda          G = A vdot + rest

Derivatives of the solution follow from the implicit function theorem; the solution itself is never differentiated::

    M dvdot - A^T dlambda = -dF          A dvdot = -dG          (vdot and lambda constant)

F is linear in the bodies, and so is its directional derivative. Displacements are changes of the coordinates in the directions
of the speeds of the motions: of a quaternion, small rotations about the axes of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.constraints.kkt import KKTFactors, kkt_factors
from kineta.mechanics.constraints.rows import check_independent
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix, vector
from kineta.mechanics.from_residual import check_regular, orders
from kineta.passes.differentiate import forwards, gradient
from kineta.passes.substitute import substitute
from kineta.spatial.vector import skew

#: Variations of symbols; absent symbols are constant.
Direction = Mapping[Ref, Ref]


def displacements(d: Derivation) -> list[Direction]:
    """Unit displacements, one for every speed of the motions."""
    base = d.unconstrained.symbols
    columns = forwards(d.graph, base.motion_rates, [{u: ONE} for u in base.v])
    return [{q: x for q, x in zip(base.q, column, strict=True) if x != ZERO} for column in columns]


def changes_at_rest(d: Derivation) -> list[Direction]:
    """Unit changes of the state at given speeds: :func:`displacements`, then one for every first-order state."""
    return [*displacements(d), *({z: ONE} for z in d.symbols.states)]


def derivatives(
    graph: Graph, roots: Sequence[Ref], directions: Sequence[Direction], *, at_rest: bool = False
) -> list[list[Ref]]:
    """Derivatives of *roots* in each of the *directions*, (roots, directions), by one forward sweep each; *at_rest* as in
    :func:`~kineta.passes.differentiate.forwards`.
    """
    columns = forwards(graph, roots, directions, at_rest=at_rest)
    return [list(row) for row in zip(*columns, strict=True)] or [[] for _ in roots]


def along(graph: Graph, roots: Sequence[Ref], variables: Sequence[Ref]) -> tuple[list[Ref], list[Ref]]:
    """Symbols for a change of each of the *variables*, and the derivatives of *roots* along this change, at rest, too."""
    change = [graph.symbol(f"d {graph.name(x)}") for x in variables]
    (slopes,) = forwards(graph, roots, [dict(zip(variables, change, strict=True))], at_rest=True)
    return change, slopes


def turning(d: Derivation) -> list[list[Ref]]:
    """Matrix of the variations of coordinates caused by the rotation of the body axes in which they are taken, (nb, nb)::

    d' = dw - w x d          a shift: s' = dv - w x s - v x d
    """
    g, s = d.graph, d.symbols
    W = [[ZERO] * len(s.speeds) for _ in s.speeds]
    for joint in s.system.joints.values():
        u, w = (skew(x).rows for x in s.twist(joint, s.speeds))
        entries = list(zip(s.joint(joint)[1], joint.components, strict=True))
        for (i, (turns, a)), (k, (turning, b)) in product(entries, repeat=2):
            if turning or not turns:
                W[i][k] = g.sub(ZERO, (w if turns == turning else u)[a][b])
    return W


#: Unit variations of each block of variables.
DIRECTIONS: Mapping[str, Callable[[Derivation], Sequence[Direction]]] = {
    "q": displacements,
    "v": lambda d: [{v: ONE} for v in d.symbols.v],
    "tau": lambda d: [{tau: ONE} for tau in d.symbols.tau],
    "t": lambda d: [{d.symbols.t: ONE}],
    "p": lambda d: [{p: ONE} for p in d.symbols.p],
}


def multiplier_symbols(d: Derivation) -> list[Ref]:
    """The multipliers of the rows as variables."""
    return [d.graph.symbol(f"lambda.{row.constraint}") for row in d.rows]


def balance(d: Derivation, forces: Iterable[Ref]) -> list[Ref]:
    """*forces* - A^T lambda: forces on the speeds less those of the constraints, in :func:`multiplier_symbols`."""
    g, left = d.graph, list(forces)
    for row, multiplier in zip(d.rows, multiplier_symbols(d), strict=True):
        for k, partial in row.gradient.items():
            left[k] = g.sub(left[k], g.mul(partial, multiplier))
    return left


def closure(d: Derivation) -> list[Ref]:
    """G of the module docstring, in the accelerations ``vdot``."""
    g, vdot = d.graph, d.symbols.vdot
    return [g.sum([row.rest, *(g.mul(x, vdot[k]) for k, x in row.gradient.items())]) for row in d.rows]


def residuals(d: Derivation) -> tuple[list[Ref], list[Ref]]:
    """F and G of the module docstring, in the accelerations ``vdot`` and :func:`multiplier_symbols`."""
    forces = zip(d["inverse"].refs, d.symbols.tau, strict=True)
    return balance(d, [d.graph.sub(force, tau) for force, tau in forces]), closure(d)


def accelerations_along(
    d: Derivation, directions: Sequence[Direction], *, at_rest: bool = False
) -> tuple[list[Ref], list[list[Ref]]]:
    """The accelerations, and their derivatives in each of the *directions* of t, q, v, tau and the parameters; *at_rest* as in
    :func:`~kineta.passes.differentiate.forwards`.
    """
    g, n = d.graph, len(d.symbols.v)
    factors, values = solved(d)
    F, G = residuals(d)
    changes = [r for column in forwards(g, [*F, *G], directions, at_rest=at_rest) for r in column]
    changes = substitute(g, changes, values)
    m = n + len(G)
    rows = (changes[k * m : (k + 1) * m] for k in range(len(directions)))
    vdot = [values[f"{name}'"] for name in d.symbols.names]
    return vdot, [factors.solve([neg(y) for y in row[:n]], [neg(y) for y in row[n:]])[:n] for row in rows]


def pulled_back(d: Derivation, weights: Sequence[Ref], more: Ref, symbols: Collection[Ref]) -> dict[Ref, Ref]:
    """Derivatives by *symbols* of the sum of *weights* times the accelerations, and *more*: one reverse sweep for all symbols.

    With (w, m) from M w + A^T m = weights, A w = 0 the differential of the sum is -(w . dF + m . dG), since M is symmetric.
    """
    g = d.graph
    factors, values = solved(d)
    back = factors.solve(weights, [ZERO] * len(d.rows))
    F, G = residuals(d)
    held = [g.symbol(f"weight {k}") for k in range(len(back))]
    total = g.sub(more, g.sum(g.mul(w, x) for w, x in zip(held, [*F, *G], strict=True)))
    found = gradient(g, total, symbols, at_rest=True)
    known = values | {g.names[g.lhs[w >> 1]]: x for w, x in zip(held, back, strict=True)}
    return dict(zip(found, substitute(g, list(found.values()), known), strict=True))


def solved(d: Derivation) -> tuple[KKTFactors, dict[str, Ref]]:
    """The factors of the KKT matrix, and the values of accelerations and multipliers by name."""
    g, s, n = d.graph, d.symbols, len(d.symbols.v)
    check_regular(d)
    if not d.watched:
        check_independent(s, d.rows)
    factors = kkt_factors(d, d.rows, orders(d)[0])
    forces = [g.sub(t, b) for t, b in zip(s.tau, d["bias"].refs, strict=True)]
    x = factors.solve(forces, [neg(row.rest) for row in d.rows])
    held, values = [*s.vdot, *multiplier_symbols(d)], [*x[:n], *(neg(y) for y in x[n:])]
    return factors, {g.names[g.lhs[a >> 1]]: y for a, y in zip(held, values, strict=True)}


def _forward_by(block: str) -> Rule:
    """The derivatives of the accelerations by a *block* of variables, (nv, size of the block)."""

    def rule(d: Derivation) -> Array:
        columns = accelerations_along(d, DIRECTIONS[block](d), at_rest=True)[1]
        return matrix([[column[i] for column in columns] for i in range(len(d.symbols.v))], len(columns))

    return rule


def _forward_by_tau(d: Derivation) -> Array:
    """The derivatives by tau, symmetric: of two mirrored entries, the cheaper one is computed."""
    n = len(d.symbols.v)
    columns = accelerations_along(d, DIRECTIONS["tau"](d))[1]
    return matrix([[columns[min(i, k)][max(i, k)] for k in range(n)] for i in range(n)], n)


def _inverse_by(block: str) -> Rule:
    """The derivatives of the forces by a *block* of variables at given accelerations."""

    def rule(d: Derivation) -> Array:
        directions = DIRECTIONS[block](d)
        return matrix(derivatives(d.graph, d["inverse"].refs, directions, at_rest=True), len(directions))

    return rule


def together(*parts: str) -> Rule:
    """The quantities *parts* in one array."""

    def rule(d: Derivation) -> Array:
        arrays = {part: d[part] for part in parts}
        refs = tuple(ref for array in arrays.values() for ref in array.refs)
        return Array((len(refs),), refs, tuple((part, array.shape) for part, array in arrays.items()))

    return rule


RULES: Mapping[str, Rule] = {
    "forward_by_q": _forward_by("q"),
    "forward_by_v": _forward_by("v"),
    "forward_by_tau": _forward_by_tau,
    "forward_by_t": lambda d: vector(accelerations_along(d, DIRECTIONS["t"](d))[1][0]),
    "forward_by_p": _forward_by("p"),
    "forward_derivatives": together("forward_by_q", "forward_by_v", "forward_by_tau"),
    "inverse_by_q": _inverse_by("q"),
    "inverse_by_v": _inverse_by("v"),
    "inverse_derivatives": together("inverse_by_q", "inverse_by_v", "mass_matrix"),
}
