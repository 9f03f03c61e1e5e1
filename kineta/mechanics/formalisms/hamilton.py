"""Hamilton's form: the energy in momenta, and the canonical equations.

With T = v.M v/2 + c.v + T_0 the momenta are p = M v + c, and::

    H = (p - c).M^-1 (p - c)/2 - T_0 + V        qdot = dH/dp        pdot = Q + tau - dH/dpi - gamma

with the Boltzmann-Hamel terms gamma where speeds are not rates of coordinates (see ``lagrange``), and the nonconservative
forces Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from kineta.errors import ModelError
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms import energy
from kineta.mechanics.algorithms.rounding_bounds import row_bounds
from kineta.mechanics.derivation import Array, Derivation, Rule, scalar, vector
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.mechanics.kinematics.boltzmann_hamel import gyroscopic
from kineta.mechanics.kinematics.tree import dependent
from kineta.mechanics.linear_algebra.ldl import Factors, SingularError, factored, sparse
from kineta.mechanics.narration import Step, each, momenta, one, rates
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute


def _mass_matrix(d: Derivation) -> Factors:
    """The factors of the mass matrix. Raise :class:`ModelError` for quasi-velocities and constraints."""
    s, g, n = d.symbols, d.graph, len(d.symbols.v)
    if s.system.quasi or s.system.constraints:
        raise ModelError(
            f"Model '{s.system.name}': Hamilton's form is for the speeds of the motions; leave out constraints and "
            "quasi-velocities."
        )
    entries = [s.shorter(x) for x in d["mass_matrix"].refs]
    try:
        return factored(g, sparse(entries, n), range(n)[::-1], *row_bounds(d.mechanism))
    except SingularError as error:
        raise dependent(d.mechanism, error.row) from None


def _right(d: Derivation) -> list[Ref]:
    """The momenta less those at rest, p - c = M v."""
    own = d["momentum"].refs
    return [
        d.graph.sub(p, d.symbols.shorter(d.symbols.at_rest(c))) for p, c in zip(d.symbols.momenta, own, strict=True)
    ]


def _in_momenta(d: Derivation, refs: Sequence[Ref]) -> list[Ref]:
    """*refs*, which contain speeds, as functions of the momenta."""
    speeds = _mass_matrix(d).solve(_right(d))
    return substitute(d.graph, refs, dict(zip(d.symbols.names, speeds, strict=True)))


def _energy(d: Derivation, potential: Ref) -> Ref:
    """p.v - T + V in coordinates and momenta."""
    g, s = d.graph, d.symbols
    right, factors = _right(d), _mass_matrix(d)
    rest = s.shorter(s.at_rest(d["kinetic_energy"].refs[0]))
    square = g.sum(g.mul(p, v) for p, v in zip(right, factors.plain(right), strict=True))
    total = g.add(g.sub(g.mul(g.const(0.5), square), rest), potential)
    return reduce(g.guard, dict.fromkeys(test for tests in factors.tests.values() for test in tests), total)


def _hamiltonian(d: Derivation) -> Array:
    return scalar(_energy(d, d.symbols.shorter(d["potential_energy"].refs[0])))


def _canonical(d: Derivation) -> Array:
    """Rates of the coordinates, then of the momenta. Elements act as forces here, so that H holds the weight alone."""
    rates = _rates_of_momenta(d, _energy(d, _weight(d)))
    return vector(_in_momenta(d, [*d.symbols.qdot, *rates]))


def in_speeds(d: Derivation) -> list[Ref]:
    """The canonical equations with the rates of the momenta by the speeds, Q + tau + dL/dpi - gamma."""
    g, s = d.graph, d.symbols
    v, n = s.speeds, len(s.speeds)
    terms = [
        g.mul(g.const(0.5), g.mul(v[k // n], g.mul(s.shorter(x), v[k % n])))
        for k, x in enumerate(d["mass_matrix"].refs)
    ]
    terms += [g.mul(x, s.shorter(s.at_rest(c))) for x, c in zip(v, d["momentum"].refs, strict=True)]
    kinetic = g.add(g.sum(terms), s.shorter(s.at_rest(d["kinetic_energy"].refs[0])))
    return [*_in_momenta(d, s.qdot), *_rates_of_momenta(d, g.sub(_weight(d), kinetic))]


def _weight(d: Derivation) -> Ref:
    return d.symbols.shorter(energy.gravity_potential(d.mechanism))


def _rates_of_momenta(d: Derivation, potential: Ref) -> list[Ref]:
    """The rates of the momenta, whose slopes are those of the *potential*."""
    g, s = d.graph, d.symbols
    slope = gradient(g, potential, set(s.q))
    fall = [ZERO] * len(s.v)
    for q, qdot in zip(s.q, s.motion_rates, strict=True):
        for k, share in s.by_speed(qdot, slope.get(q, ZERO)).items():
            fall[k] = g.add(fall[k], share)
    for k, x in gyroscopic(s, s.momenta):
        fall[k] = g.add(fall[k], x)
    forces = [g.add(Q, tau) for Q, tau in zip(generalized_forces(d.elements), s.tau, strict=True)]
    return [g.sub(Q, f) for Q, f in zip(forces, fall, strict=True)]


def steps(d: Derivation) -> Iterator[Step]:
    """The steps of Hamilton's form."""
    s = d.symbols
    rest = [s.at_rest(own) for own in d["momentum"].refs]
    yield Step("Kinetic energy", "T = v · M v/2 + c · v + T_0", shown=(one("T", d["kinetic_energy"].refs[0]),))
    yield Step("Potential energy", shown=(one("V", d["potential_energy"].refs[0]),))
    yield Step("Momenta", "p = ∂T/∂v = M v + c", shown=momenta(s.names, d["momentum"].refs))
    speeds = _mass_matrix(d).solve(_right(d))
    yield Step(
        "Speeds by the momenta",
        "v = M⁻¹ (p − c)",
        note=f"From here on p stands for variables of their own{'; c is the momentum at rest' if any(rest) else ''}.",
        shown=each("v", s.names, speeds),
    )
    yield Step(
        "Hamilton's function", "H = (p − c) · M⁻¹ (p − c)/2 − T_0 + V", shown=(one("H", d["hamiltonian"].refs[0]),)
    )
    found, n = d["canonical"].refs, len(s.q)
    yield Step(
        "Canonical equations",
        "q̇ = ∂H/∂p,  ṗ = Q + τ − ∂H/∂π − γ",
        note="Q is what has no potential, `γ` the terms of Boltzmann and Hamel.",
        shown=(*rates(s.system.q_names, found[:n]), *momenta(s.names, found[n:], "'")),
    )


RULES: Mapping[str, Rule] = {"hamiltonian": _hamiltonian, "canonical": _canonical}
