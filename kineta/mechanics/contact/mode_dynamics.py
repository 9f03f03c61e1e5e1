"""Motion under given accelerations, multipliers and contact forces.

What is closed, sticks and slips is decided in numbers, by :mod:`kineta.kernels.contact`: accelerations and forces are inputs of
all that a run evaluates besides the terms of the contact problem, and one program serves all modes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints import projection
from kineta.mechanics.contact.guards import closed, events
from kineta.mechanics.derivation import Array, Derivation, Rule, scalar, vector
from kineta.mechanics.from_residual import named, of_forms, power, recursion
from kineta.model.reserved_symbols import MULTIPLIER


def accelerations(d: Derivation) -> list[Ref]:
    """Symbols of the accelerations, (nv,); of the changes of the speeds in :func:`retraction`."""
    return [d.graph.symbol(f"acceleration {k}") for k in range(len(d.symbols.v))]


def row_multipliers(d: Derivation) -> list[Ref]:
    """Symbols of the multipliers of the independent constraints."""
    return [d.graph.symbol(f"multiplier {j}") for j in range(len(d.rows))]


def pivots(d: Derivation) -> list[Ref]:
    """Symbols of the pivots of these constraints."""
    return [d.graph.symbol(f"pivot of row {j}") for j in range(len(d.rows))]


def contact_forces(d: Derivation) -> list[Ref]:
    """Symbols of the forces along the rows of all contacts."""
    return [d.graph.symbol(f"force along {row.constraint}") for contact in d.contacts for row in contact.rows]


def given(d: Derivation) -> list[Ref]:
    """All that a run computes in numbers: accelerations, multipliers, pivots, contact forces, and the flags of the modes."""
    flags = [d.graph.symbol(name) for contact in d.contacts for name in contact.flags]
    return [*accelerations(d), *row_multipliers(d), *pivots(d), *contact_forces(d), *flags]


def retraction(d: Derivation) -> list[Ref]:
    """The coordinates after a change of :func:`accelerations` in the directions of the speeds, (nq,)."""
    return projection.retraction(d, accelerations(d))


def levels(d: Derivation) -> list[Ref]:
    """Residuals of the contact mode: gaps and their rates of closed contacts."""
    normals = ((closed(d.graph, contact), contact.normal) for contact in d.contacts if contact.normal is not None)
    return [d.graph.mul(shut, x) for shut, normal in normals for x in normal.levels]


def _power(d: Derivation) -> Array:
    """The power without contacts plus that of contact forces."""
    g = d.graph
    rows = (row for contact in d.contacts for row in contact.rows)
    parts = (g.mul(f, row.along(g, d.symbols.v)) for row, f in zip(rows, contact_forces(d), strict=True))
    return scalar(g.add(power(d).refs[0], g.sum(parts)))


def _multipliers(d: Derivation) -> Array:
    """Multipliers of constraints, then contact forces."""
    forces = contact_forces(d)
    if d.symbols.system.quasi:
        base = d.unconstrained
        left = recursion(base, base.symbols.vdot)
        rows = (row for contact in base.contacts for row in contact.rows)
        for row, force in zip(rows, forces, strict=True):
            for k, partial in row.gradient.items():
                left[k] = d.graph.sub(left[k], d.graph.mul(partial, force))
        kept = iter(of_forms(d, left))
    else:
        kept = iter(row_multipliers(d))
    found = [ZERO if r.constraint in d.dropped else next(kept) for r in d.constraint_rows]
    names = (r.constraint for t in d.contacts for r in t.rows)
    labels = [f"{MULTIPLIER}{n}" for n in (*(r.constraint for r in d.constraint_rows), *names)]
    return named(labels, [*found, *forces])


def free_motion(d: Derivation) -> list[Ref]:
    """Accelerations, multipliers of the independent constraints and their pivots without contact forces."""
    found = d["multipliers"] if d.rows else vector([])
    by_name = dict(zip(found.labels, found.refs, strict=True))
    return [*d["forward"].refs, *(by_name[f"{MULTIPLIER}{r.constraint}"] for r in d.rows), *projection.pivots(d)]


def under_given_forces(d: Derivation, *, stepped: bool = False) -> Derivation:
    """The derivation *d* with given accelerations and contact forces, where there are contacts, or where time is *stepped*."""
    return d.with_rules(RULES) if d.contacts or stepped else d


#: Quantities of a run with contacts.
RULES: Mapping[str, Rule] = {
    "forces": lambda d: vector(contact_forces(d)),
    "forward": lambda d: vector(accelerations(d)),
    "multipliers": _multipliers,
    "power": _power,
    "contact_guards": events,
}
