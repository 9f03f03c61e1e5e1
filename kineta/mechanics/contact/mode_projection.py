"""Projection onto the constraint manifold of a contact mode: positions and speeds, by changes of least kinetic energy."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.constraints import projection
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.contact.guards import closed, stuck
from kineta.mechanics.contact.joint_locking import free, locks, signed
from kineta.mechanics.contact.mode_dynamics import active_rows, coupled, masked, regularisation, rows, solved
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.from_residual import orders
from kineta.passes.substitute import substitute


def position(d: Derivation) -> list[Ref]:
    """The coordinates after projection onto position constraints and closed contacts, (nq,)."""
    base = d.unconstrained
    g = base.graph
    kept = [r for r in d.constraint_rows if r.order == 0 and r.constraint not in d.left_out]
    normals = [(t, t.normal) for t in coupled(base) if t.normal is not None]
    own, flags = [row for _, row in normals], [closed(g, t) for t, _ in normals]
    change = _change(base, kept, own, flags, [r.levels[0] for r in kept])
    for contact in locks(base):
        if contact.normal is not None and contact.speed is not None:
            back = g.mul(closed(g, contact), signed(base, contact, contact.normal.levels[0]))
            change[contact.speed] = g.sub(change[contact.speed], back)
    moved = projection.retraction(base, change)
    if base is d:
        return moved
    return substitute(d.graph, moved, dict(zip(base.symbols.names, d.symbols.speeds, strict=True)))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds after projection onto velocity constraints and onto closed and sticking contacts, (nv,)."""
    g, change = d.graph, _change(d, d.rows, rows(d), active_rows(d), [r.levels[-1] for r in d.rows], last=True)
    loose = free(d)
    return [g.add(g.mul(loose.get(k, ONE), v), x) for k, (v, x) in enumerate(zip(d.symbols.v, change, strict=True))]


def _change(
    d: Derivation,
    kept: Sequence[Row],
    own: Sequence[Row],
    flags: Sequence[Ref],
    off: Sequence[Ref],
    *,
    last: bool = False,
) -> list[Ref]:
    """The change of least kinetic energy that removes the violations *off* of the rows *kept*, and satisfies the rows *own*
    with set *flags*: on the velocity, if *last*, else on the position.
    """
    g, n, m = d.graph, len(d.symbols.v), len(kept)
    factors = kkt_factors(d, kept, orders(d)[0])
    x = factors.solve([ZERO] * n, [neg(f) for f in off])[:n] if kept else [ZERO] * n
    Y = [factors.solve(r.dense(n), [ZERO] * m) for r in own]
    S = [[r.along(g, y) for y in Y] for r in own]
    missed = [g.add(r.levels[-1 if last else 0], r.along(g, x)) for r in own]
    soft = [g.mul(flag, s) for flag, s in zip(flags, regularisation(d, S, own, kept), strict=True)]
    row_forces = solved(g, masked(g, S, flags), [neg(g.mul(f, e)) for f, e in zip(flags, missed, strict=True)], soft)
    return [g.add(x[k], g.sum(g.mul(y[k], p) for y, p in zip(Y, row_forces, strict=True))) for k in range(n)]


def levels(d: Derivation) -> list[Ref]:
    """Residuals of the contact mode: gaps and their rates of closed contacts, slip of sticking contacts."""
    g, found = d.graph, []
    for contact in d.contacts:
        shut, held = (closed(g, contact), stuck(g, contact)) if contact in d.active_contacts else (ZERO, ZERO)
        if contact.normal is not None:
            found += [g.mul(shut, x) for x in contact.normal.levels]
        found += [g.mul(held, row.levels[0]) for row in contact.tangents]
    return found
