"""Locking of single speeds by limits and dry friction.

The row of a contact on a single speed v_k is a row of the unit matrix. Instead of elimination, a factor f_k multiplies rows and
columns of the mass matrix: f_k = 1 for a free speed, f_k = 0 for a locked speed, whose force is the remainder of its equation::

    f_i f_j M_ij off the diagonal       f_i (tau - bias)_i          lambda_k = (M vdot + bias - tau)_k

One program serves all modes, at little more cost than that of the motion without locks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, Ref, neg
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation


def locks(d: Derivation) -> tuple[UnilateralConstraint, ...]:
    """The active contacts on single speeds."""
    return tuple(t for t in d.active_contacts if t.speed is not None)


def held(d: Derivation, contact: UnilateralConstraint) -> Ref:
    """1 where the only row of *contact* is active, else 0."""
    return d.graph.symbol(contact.flags[0 if contact.normal is not None else 1])


def signed(d: Derivation, contact: UnilateralConstraint, x: Ref) -> Ref:
    """*x* along the row of *contact* as a force on its speed, and conversely."""
    assert contact.speed is not None
    return x if contact.rows[0].gradient[contact.speed] == ONE else neg(x)


def free(d: Derivation, *, limits: bool = False) -> dict[int, Ref]:
    """For lockable speeds, 0 where a contact locks the speed, else 1; with *limits* only locks by limits."""
    found: dict[int, Ref] = {}
    for contact in locks(d):
        if contact.speed is not None and (contact.normal is not None or not limits):
            share = d.graph.sub(ONE, held(d, contact))
            found[contact.speed] = d.graph.mul(found.get(contact.speed, ONE), share)
    return found


def masked(d: Derivation, M: Sequence[Mapping[int, Ref]]) -> list[dict[int, Ref]]:
    """The rows of the mass matrix *M* with locked rows and columns zero off the diagonal."""
    g, own = d.graph, free(d)

    def entry(i: int, j: int, x: Ref) -> Ref:
        return x if i == j else g.mul(g.mul(own.get(i, ONE), own.get(j, ONE)), x)

    return [{j: entry(i, j, x) for j, x in row.items()} for i, row in enumerate(M)]
