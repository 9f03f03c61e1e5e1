"""Terms of implicit time steps: derivatives of the generalised forces, in the blocks of the inertia."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.algorithms.energy import gravity_potential
from kineta.mechanics.contact.contact_terms import ContactTermsArrays, contact_terms, net_forces
from kineta.mechanics.contact.guards import FAR
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.passes.differentiate import forwards
from kineta.passes.substitute import substitute


def step_terms(d: Derivation, acting: Mapping[str, Ref]) -> tuple[ContactTermsArrays, list[Ref]]:
    """Terms of all contacts under the forces *acting*, and derivatives of the forces: by the speeds, then of weights and applied
    forces by displacements along the speeds, each with as many numbers as the inertia. What forces couple is in one block.

    Forces of inertia change by displacements as M vdot and reactions do, against which they stand: derivatives of one without
    those of the others make the inertia of a step indefinite where links spin.
    """
    s, nv = d.symbols, len(d.symbols.v)
    rates = [{v: ONE} for v in s.v]
    displaced = [
        {q: x for q, x in zip(s.q, column, strict=True) if x != ZERO}
        for column in forwards(d.graph, s.motion_rates, rates)
    ]
    weights = [neg(x) for (x,) in forwards(d.graph, [gravity_potential(d.mechanism)], displaced)]
    applied = [d.graph.sum(Q) for Q in zip(s.tau, weights, generalized_forces(d.elements), strict=True)]
    slopes = []
    for forces, directions in ((net_forces(d), rates), (applied, displaced)):
        columns = list(forwards(d.graph, substitute(d.graph, forces, acting), directions))
        slopes.append({(i, j): columns[j][i] for i in range(nv) for j in range(nv) if columns[j][i] != ZERO})
    terms = contact_terms(d, [*slopes[0], *slopes[1]])
    dense = [
        x
        for own in slopes
        for block in terms.blocks
        for x in (*(own.get((i, j), ZERO) for i in block for j in block), *[ZERO] * (2 * len(block)))
    ]
    return replace(
        terms, bias=_without_spin(d, terms.bias, d.contacts), gap=_of_own(d.graph, terms.gap, d.contacts)
    ), dense


def _of_own(g: Graph, gaps: Sequence[Ref], contacts: Iterable[UnilateralConstraint]) -> list[Ref]:
    """The *gaps* of places that are nearest between their ends; those of others far: at ends gaps turn within a step, and a row
    that goes on would press.
    """
    return [
        gap if c.own == ONE else g.add(g.mul(c.own, gap), g.mul(g.const(FAR), g.sub(ONE, c.own)))
        for gap, c in zip(gaps, contacts, strict=True)
    ]


def _without_spin(d: Derivation, bias: Sequence[Ref], contacts: Iterable[UnilateralConstraint]) -> list[Ref]:
    """The *bias* of rows whose tangents turn with the normal alone: what a step makes does not depend on the choice of axes."""
    g, found = d.graph, [*bias]
    for c, contact in enumerate(contacts):
        if len(contact.tangents) == 2:  # in a plane there is no spin
            u, w = (row.levels[-1] for row in contact.tangents)
            found[3 * c + 1] = g.sub(found[3 * c + 1], g.mul(contact.spin, w))
            found[3 * c + 2] = g.add(found[3 * c + 2], g.mul(contact.spin, u))
    return found
