"""Routh's function and the effective potential of systems with ignorable coordinates.

A coordinate is ignorable where neither the Lagrangian nor a force contains it, so that its momentum stays constant. With
the ignorable speeds w as functions of their momenta p and of the other speeds::

    p = M_ww w + M_wv v + c_w        R = L - p.w        V_eff = -R for v = 0

The other coordinates obey Lagrange's equations with R in place of L (Whittaker, Analytical Dynamics, 38; Lurie,
Analytical Mechanics, 7.15). V_eff is stationary at steady motions: forces that the Lagrangian does not have enter it where they
are the slopes of a function there; dampers of the other coordinates are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kineta.errors import ModelError, excerpt
from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.algorithms.rounding_bounds import row_bounds
from kineta.mechanics.antiderivative import potential_of
from kineta.mechanics.derivation import Array, Derivation, Rule, scalar
from kineta.mechanics.elements.applied_forces import Elements, generalized_forces
from kineta.mechanics.elements.element_actions import apply_elements
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
    slope = gradient(g, d["lagrangian"].refs[0], set(s.q))
    forces = nonpotential_forces(d, d.elements)
    vary = [gradient(g, Q, set(s.q)) for Q in forces]
    found: dict[int, Ref] = {}
    inside, within, driven = list[str](), list[str](), dict[int, str]()
    for q, rate in zip(s.coordinates, s.motion_rates, strict=False):
        if rate not in s.v:
            continue
        k, name = s.v.index(rate), str(g.name(q))
        if opened.shorter(slope.get(q, ZERO)) != ZERO:
            inside.append(name)
        elif any(opened.shorter(by.get(q, ZERO)) != ZERO for by in vary):
            within.append(name)
        elif opened.shorter(forces[k]) != ZERO:
            driven[k] = name
        else:
            found[k] = q
    if not found and s.q:

        def push(k: int) -> Callable[[list[Ref]], bool]:
            return lambda forces: opened.shorter(forces[k]) != ZERO

        said = [f"{e} acts on {name}" for k, name in driven.items() for e in acting(d, push(k))]
        why = [f"{what} contains {excerpt(x)}" for what, x in (("the Lagrangian", inside), ("a force", within)) if x]
        raise ModelError(
            f"Model '{system.name}' has no ignorable coordinate: {'; '.join((*why, *said))}. Routh's function and "
            "the effective potential need one whose momentum stays constant."
        )
    return found


def nonpotential_forces(d: Derivation, elements: Elements) -> list[Ref]:
    """The forces of *elements* on the speeds that are not those of their potential, (nv,)."""
    s, g = d.symbols, d.graph
    forces = generalized_forces(elements)
    elastic = gradient(g, elements.potential, set(s.q))
    for q, rate in zip(s.coordinates, s.motion_rates, strict=False):
        if q in elastic and rate in s.v:
            k = s.v.index(rate)
            forces[k] = g.add(forces[k], elastic[q])
    return forces


def acting(d: Derivation, on: Callable[[list[Ref]], bool]) -> list[str]:
    """The elements, by kind and name, whose forces without those of potentials, by themselves, are such as *on* asks for."""
    alone = ((e, apply_elements(Elements(d.mechanism, d.kinematics), [e])) for e in d.symbols.system.elements)
    return [f"{e.kind.word} '{e.name}'" for e, elements in alone if on(nonpotential_forces(d, elements))]


def _rates(d: Derivation, places: Mapping[int, Ref]) -> dict[str, Ref]:
    """The rates of the ignorable coordinates, by name, as functions of their momenta and of the other speeds."""
    s, g = d.symbols, d.graph
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
    return dict(zip(still, rates, strict=True))


def _routhian(d: Derivation) -> Array:
    s, g, places = d.symbols, d.graph, ignorable(d)
    if not places:
        return d["lagrangian"]
    rates = _rates(d, places)
    work = g.sum(g.mul(s.momenta[k], w) for k, w in zip(places, rates.values(), strict=True))
    less = substitute(g, [g.sub(d["lagrangian"].refs[0], work)], rates)
    # The value does not depend on ignorable coordinates, though their symbols may stand in its terms.
    return scalar(substitute(g, less, {str(g.name(q)): ZERO for q in places.values()})[0])


def _effective_potential(d: Derivation) -> Array:
    """-R at rest, and what the forces that no potential of the model stores are the slopes of."""
    s, g = d.symbols, d.graph
    total = neg(s.at_rest(d["routhian"].refs[0]))
    places = ignorable(d)
    rates = _rates(d, places) if places else {}
    moving = {q: s.v.index(rate) for q, rate in zip(s.coordinates, s.motion_rates, strict=False) if rate in s.v}
    moving = {q: k for q, k in moving.items() if k not in places}
    others = {*range(len(s.v))} - {*places, *moving.values()}

    def energy(forces: list[Ref]) -> Ref | None:
        """What *forces* at steady motions are the slopes of; None for nothing that is known."""
        Q = [s.at_rest(x) for x in substitute(g, forces, rates)]
        return None if any(Q[k] != ZERO for k in others) else potential_of(g, {q: Q[k] for q, k in moving.items()})

    more = energy(nonpotential_forces(d, d.elements))
    if more is None:
        names = excerpt(acting(d, lambda forces: energy(forces) is None) or acting(d, any))
        raise ModelError(
            f"Model '{s.system.name}' has no effective potential that is known: at steady motions the forces of {names} are no "
            "slopes of powers, sines and cosines of the coordinates; leave them out, or look for steady motions by numbers "
            "(equilibrium with steady speeds)."
        )
    return scalar(g.add(total, more))


RULES: Mapping[str, Rule] = {"routhian": _routhian, "effective_potential": _effective_potential}
