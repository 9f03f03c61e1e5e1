"""Projection onto the constraint manifold, by one step of Newton's method weighted with the mass matrix.

The change of a state is the change of least kinetic energy that satisfies the constraints to first order::

    M x - A^T mu = 0          A x = -f

Quaternions are normalised exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.derivation import Derivation, Rule, vector
from kineta.mechanics.from_residual import orders
from kineta.passes.substitute import substitute


def position(d: Derivation) -> list[Ref]:
    """The coordinates after a projection step onto the position constraints, (nq,)."""
    base = d.unconstrained
    kept = [r for r in d.constraint_rows if r.order == 0 and r.constraint not in d.dropped]
    moved = retraction(base, _change(base, kept, [r.levels[0] for r in kept]))
    if base is d:
        return moved
    return substitute(d.graph, moved, dict(zip(base.symbols.names, d.symbols.speeds, strict=True)))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds after projection onto the velocity constraints, (nv,)."""
    change = _change(d, d.rows, [r.levels[-1] for r in d.rows])
    return [d.graph.add(v, x) for v, x in zip(d.symbols.v, change, strict=True)]


def pivots(d: Derivation) -> list[Ref]:
    """Magnitudes of the pivots of the constraints in the KKT matrix, zero where a constraint becomes redundant."""
    if not d.rows:
        return []
    return [neg(pivot) for pivot in kkt_factors(d, d.rows, orders(d)[0]).pivots]


def _change(d: Derivation, kept: Sequence[Row], off: Sequence[Ref]) -> list[Ref]:
    """The solution x of the equations above for the residuals *off* of the rows *kept*."""
    n = len(d.symbols.v)
    if not kept:
        return [ZERO] * n
    return kkt_factors(d, kept, orders(d)[0]).solve([ZERO] * n, [neg(f) for f in off])[:n]


def retraction(d: Derivation, change: Sequence[Ref]) -> list[Ref]:
    """The coordinates after a *change* in the directions of the speeds."""
    g, s = d.graph, d.symbols
    rates = substitute(g, s.motion_rates, dict(zip(s.names, change, strict=True)))
    still = (s.at_rest(rate) for rate in s.motion_rates)
    moved = {n: g.add(q, g.sub(x, o)) for n, q, x, o in zip(s.system.q_names, s.q, rates, still, strict=True)}
    for names in (joint.quaternion for joint in s.system.joints.values() if joint.quaternion):
        inverse = g.div(ONE, g.sqrt(g.sum(g.mul(moved[n], moved[n]) for n in names)))
        moved |= {n: g.mul(moved[n], inverse) for n in names}
    return [moved[n] for n in s.system.q_names]


RULES: Mapping[str, Rule] = {"projected_q": lambda d: vector(position(d)), "projected_v": lambda d: vector(velocity(d))}
