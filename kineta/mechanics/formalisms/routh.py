"""Routh's function and the effective potential of systems with ignorable coordinates.

A coordinate is ignorable where neither the Lagrangian nor a force contains it, so that its momentum stays constant. With
the ignorable speeds w as functions of their momenta p and of the other speeds::

    p = M_ww w + M_wv v + c_w        R = L - p.w        V_eff = -R for v = 0

The other coordinates obey Lagrange's equations with R in place of L (Whittaker, Analytical Dynamics, 38; Lurie,
Analytical Mechanics, 7.15).
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.errors import ModelError, excerpt
from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.algorithms.rounding_bounds import row_bounds
from kineta.mechanics.derivation import Array, Derivation, Rule, scalar
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.mechanics.kinematics.tree import dependent
from kineta.mechanics.linear_algebra.ldl import SingularError, factored, sparse
from kineta.passes.differentiate import gradient
from kineta.passes.expand import SumsOfProducts
from kineta.passes.substitute import substitute


def ignorable(d: Derivation) -> dict[int, Ref]:
    """The ignorable coordinates by the places of their rates among the speeds. Raise :class:`ModelError` for none
    of several coordinates.
    """
    s, g, system = d.symbols, d.graph, d.symbols.system
    if system.quasi or system.constraints:
        raise ModelError(
            f"Model '{system.name}': Routh's function is for the speeds of the motions; leave out constraints and "
            "quasi-velocities."
        )
    opened = SumsOfProducts(g)
    lagrangian = d["lagrangian"].refs[0]
    slope = gradient(g, lagrangian, set(s.q))
    elastic = gradient(g, d.elements.potential, set(s.q))
    forces = generalized_forces(d.elements)
    vary = [gradient(g, Q, set(s.q)) for Q in forces]
    found: dict[int, Ref] = {}
    for q, rate in zip(s.coordinates, s.motion_rates, strict=False):
        if rate not in s.v:
            continue
        k = s.v.index(rate)
        driven = g.add(forces[k], elastic.get(q, ZERO))
        if all(opened.shorter(x) == ZERO for x in (slope.get(q, ZERO), driven, *(by.get(q, ZERO) for by in vary))):
            found[k] = q
    if not found and s.q:
        own = excerpt(system.q_names[: len(s.coordinates)])
        raise ModelError(
            f"Model '{system.name}' has no ignorable coordinate: the Lagrangian or a force contains {own}. Routh's function and "
            "the effective potential need one whose momentum stays constant."
        )
    return found


def _routhian(d: Derivation) -> Array:
    s, g, places = d.symbols, d.graph, ignorable(d)
    if not places:
        return d["lagrangian"]
    still = {s.names[k]: ZERO for k in places}
    rest = substitute(g, [d["momentum"].refs[k] for k in places], still)
    right = [g.sub(s.momenta[k], c) for k, c in zip(places, rest, strict=True)]
    n, M = len(s.v), d["mass_matrix"].refs
    own = sparse([M[i * n + k] for i in places for k in places], len(places))
    bounds = ([x[k] for k in places] for x in row_bounds(d.mechanism))
    try:
        rates = factored(g, own, range(len(places))[::-1], *bounds).solve(right)
    except SingularError as error:
        raise dependent(d.mechanism, list(places)[error.row]) from None
    work = g.sum(g.mul(s.momenta[k], w) for k, w in zip(places, rates, strict=True))
    less = substitute(g, [g.sub(d["lagrangian"].refs[0], work)], dict(zip(still, rates, strict=True)))
    # The value does not depend on ignorable coordinates, though their symbols may stand in its terms.
    return scalar(substitute(g, less, {str(g.name(q)): ZERO for q in places.values()})[0])


def _effective_potential(d: Derivation) -> Array:
    return scalar(neg(d.symbols.at_rest(d["routhian"].refs[0])))


RULES: Mapping[str, Rule] = {"routhian": _routhian, "effective_potential": _effective_potential}
