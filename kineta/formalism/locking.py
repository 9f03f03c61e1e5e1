"""Speeds that limits and dry friction hold one by one.

Where a touch holds a single speed v_k its row is a row of the unit matrix, and no elimination tells it from the others: what is
free, f_k = 1, moves by the rows and columns that are left, and what is held, f_k = 0, takes what is left of the forces::

    f_i f_j M_ij off the diagonal       f_i (tau - bias)_i          lambda_k = (M vdot + bias - tau)_k

So one program serves whatever of them holds, and it is little longer than that of the motion without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, Ref, neg
from kineta.formalism.derivation import Derivation
from kineta.formalism.touch import Touch


def locks(d: Derivation) -> tuple[Touch, ...]:
    """The touches that press on single speeds."""
    return tuple(t for t in d.pressing if t.speed is not None)


def held(d: Derivation, touch: Touch) -> Ref:
    """1 where the only row of *touch* holds, else 0."""
    return d.graph.symbol(touch.flags[0 if touch.normal is not None else 1])


def signed(d: Derivation, touch: Touch, x: Ref) -> Ref:
    """*x* along the row of *touch*, as a part of the forces on its speed, and the other way round."""
    assert touch.speed is not None
    return x if touch.rows[0].gradient[touch.speed] == ONE else neg(x)


def free(d: Derivation, *, limits: bool = False) -> dict[int, Ref]:
    """For speeds that touches may hold, 0 where one does, else 1; with *limits* only what limits hold."""
    found: dict[int, Ref] = {}
    for touch in locks(d):
        if touch.speed is not None and (touch.normal is not None or not limits):
            share = d.graph.sub(ONE, held(d, touch))
            found[touch.speed] = d.graph.mul(found.get(touch.speed, ONE), share)
    return found


def masked(d: Derivation, M: Sequence[Mapping[int, Ref]]) -> list[dict[int, Ref]]:
    """The rows of the mass matrix *M* of what is free, the diagonal as it is."""
    g, own = d.graph, free(d)

    def entry(i: int, j: int, x: Ref) -> Ref:
        return x if i == j else g.mul(g.mul(own.get(i, ONE), own.get(j, ONE)), x)

    return [{j: entry(i, j, x) for j, x in row.items()} for i, row in enumerate(M)]
