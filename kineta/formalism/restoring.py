"""The way back to what is closed and sticks: positions and speeds nearer to it, by changes of least kinetic energy."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.formalism import manifold
from kineta.formalism.bordered import bordered
from kineta.formalism.constraint import Row
from kineta.formalism.derivation import Derivation
from kineta.formalism.holding import along, holds, masked, others, rows, softness, solved
from kineta.formalism.locking import free, locks, signed
from kineta.formalism.residual import orders
from kineta.formalism.slipping import closed, stuck
from kineta.passes.substitute import substitute


def position(d: Derivation) -> list[Ref]:
    """The coordinates nearer to the constraints on the position and to what is closed, (nq,)."""
    base = d.released if d.symbols.system.quasi else d
    g = base.graph
    kept = [r for r in d.closures if r.order == 0 and r.constraint not in d.left_out]
    normals = [(t, t.normal) for t in others(base) if t.normal is not None]
    own, flags = [row for _, row in normals], [closed(g, t) for t, _ in normals]
    change = _change(base, kept, own, flags, [r.levels[0] for r in kept])
    for touch in locks(base):
        if touch.normal is not None and touch.speed is not None:
            back = g.mul(closed(g, touch), signed(base, touch, touch.normal.levels[0]))
            change[touch.speed] = g.sub(change[touch.speed], back)
    moved = manifold.retracted(base, change)
    if base is d:
        return moved
    return substitute(d.graph, moved, dict(zip(base.symbols.names, d.symbols.speeds, strict=True)))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds nearer to the constraints on the velocity, and to what is closed or sticks, (nv,)."""
    g, change = d.graph, _change(d, d.rows, rows(d), holds(d), [r.levels[-1] for r in d.rows], last=True)
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
    """The change of least kinetic energy that meets the rows *kept*, which are *off* by so much, and those of its *own* whose
    *flags* are set: on the velocity, if *last*, else on the position.
    """
    g, n, m = d.graph, len(d.symbols.v), len(kept)
    factors = bordered(d, kept, orders(d)[0])
    x = factors.solve([ZERO] * n, [neg(f) for f in off])[:n] if kept else [ZERO] * n
    Y = [factors.solve([r.gradient.get(k, ZERO) for k in range(n)], [ZERO] * m) for r in own]
    S = [[along(g, r, y) for y in Y] for r in own]
    missed = [g.add(r.levels[-1 if last else 0], along(g, r, x)) for r in own]
    soft = [g.mul(flag, s) for flag, s in zip(flags, softness(d, S, own, kept), strict=True)]
    pushes = solved(g, masked(g, S, flags), [neg(g.mul(f, e)) for f, e in zip(flags, missed, strict=True)], soft)
    return [g.add(x[k], g.sum(g.mul(y[k], p) for y, p in zip(Y, pushes, strict=True))) for k in range(n)]


def levels(d: Derivation) -> list[Ref]:
    """What has to vanish of touches: gaps and their rates where they are closed, slips where they stick."""
    g, found = d.graph, []
    for touch in d.touches:
        shut, held = (closed(g, touch), stuck(g, touch)) if touch in d.pressing else (ZERO, ZERO)
        if touch.normal is not None:
            found += [g.mul(shut, x) for x in touch.normal.levels]
        found += [g.mul(held, row.levels[0]) for row in touch.tangents]
    return found
