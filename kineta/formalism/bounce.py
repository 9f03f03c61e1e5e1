"""What a contact does that strikes alone: the impulses of Newton's restitution and Coulomb's friction, as formulas.

Where one place strikes while all others are open, the law of impacts has a solution in closed form. With the velocities s along
the normal and the tangents of the place before, S and the answers Y to unit impulses along them, and the restitution e::

    S x + s + (e s_n, 0, 0) = 0        where it sticks, |x_t| <= mu x_n
    x_t = - mu x_n s_t' / |s_t'|       where it slips, along the velocity s_t' with which it does so afterwards

In the plane s_t' has the sign of what would have to be held; in space its direction is known where bodies answer alike in all
directions of the tangents, as balls do. Other impacts have no number ``law`` here and are left to the search for what holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from kineta.expr.function import maximum, sign, sqrt, step
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.expr.node import Expr
from kineta.formalism.derivation import Derivation
from kineta.formalism.holding import rows
from kineta.formalism.locking import locks
from kineta.formalism.touch import Touch

#: Part of the work of impulses, and of S, that is rounding; and a velocity that is none.
ROUNDING, NOTHING = 1e-12, 1e-200


def closed_form(d: Derivation) -> bool:
    """Whether contacts of *d* that strike alone have formulas: some press, and neither constraints nor what holds single speeds
    answers too.
    """
    return bool(d.pressing) and not d.rows and not locks(d) and any(touch.normal is not None for touch in d.pressing)


@dataclass(frozen=True, slots=True)
class Bounce:
    """What a touch does that strikes alone.

    law : 1 where it is this, else 0
    approach, leaving : the velocities along the normal before and after
    fall : the acceleration along it that there is between touches
    work : what the impulses add to the kinetic energy; beside what is struck, where that moves, they do other work
    speeds : after them, (nv,)
    """

    law: Ref
    approach: Ref
    leaving: Ref
    fall: Ref
    work: Ref
    speeds: Sequence[Ref]


def bounces(d: Derivation) -> list[Bounce]:
    """The bounce of every touch; one of zeros for what has no normal, or does not press."""
    own, first, found = rows(d), 0, list[Bounce]()
    n, width = len(d.symbols.v), len(d.symbols.v) + len(d.rows)
    S, Y, drift, momenta = (
        [Expr(d.graph, r) for r in d[name].refs] for name in ("delassus", "answers", "drift", "momentum")
    )
    for touch in d.touches:
        if touch not in d.pressing or touch.normal is None:
            found.append(Bounce(ZERO, ZERO, ZERO, ZERO, ZERO, [ZERO] * n))
            continue
        places = range(first, first + len(touch.rows))
        first += len(touch.rows)
        slip = [Expr(d.graph, row.levels[-1]) for row in touch.rows]
        block = [[S[i * len(own) + j] for j in places] for i in places]
        x, law = _impulses(d, touch, block, slip)
        after = [s + _dot(row, x) for s, row in zip(slip, block, strict=True)]
        work = _dot(x, [(s + then) / 2 for s, then in zip(slip, after, strict=True)])
        size = _dot([abs(f) for f in x], [abs(s) for s in slip])
        law = law * step(x[0]) * step(ROUNDING * size - work)
        change = [_dot([Y[i * width + k] for i in places], x) for k in range(n)]
        gained = _dot(change, momenta) + _dot(x, [_dot(row, x) for row in block]) / 2
        speeds = [Expr(d.graph, v) + more for v, more in zip(d.symbols.v, change, strict=True)]
        normal = slip[0].ref, after[0].ref, drift[places[0]].ref
        found.append(Bounce(law.ref, *normal, gained.ref, [e.ref for e in speeds]))
    return found


def _impulses(d: Derivation, touch: Touch, S: Sequence[Sequence[Expr]], s: Sequence[Expr]) -> tuple[list[Expr], Expr]:
    """The impulses along the rows of *touch*, and 1 where they are those of the law."""
    restitution, mu = (Expr(d.graph, r) for r in (touch.restitution, touch.bound))
    b = [(1 + restitution) * s[0], *s[1:]]
    if len(s) == 1:
        return [-b[0] / S[0][0]], Expr(d.graph, ONE)
    law = Expr(d.graph, ZERO if touch.poisson else ONE)
    held = _solved(S, [-x for x in b])
    size = sqrt(_dot(held[1:], held[1:]))
    slips = step(size - mu * held[0])
    slid, sound = (_along if len(s) == 2 else _alike)(S, b, mu, held)
    return [x + slips * (y - x) for x, y in zip(held, slid, strict=True)], law * (1 - slips * (1 - sound))


def _along(S: Sequence[Sequence[Expr]], b: Sequence[Expr], mu: Expr, held: Sequence[Expr]) -> tuple[list[Expr], Expr]:
    """The impulses where one tangent slips, and whether it does so afterwards: against what would hold it."""
    way = -sign(held[1])
    normal = -b[0] / (S[0][0] - mu * way * S[0][1])
    x = [normal, -mu * way * normal]
    return x, step((b[1] + _dot(S[1], x)) * way)


def _alike(S: Sequence[Sequence[Expr]], b: Sequence[Expr], mu: Expr, held: Sequence[Expr]) -> tuple[list[Expr], Expr]:
    """The impulses where two tangents slip on, and whether the body answers alike along both."""
    normal = -b[0] / S[0][0]
    size = maximum(sqrt(_dot(b[1:], b[1:])), NOTHING)
    odd = reduce(maximum, map(abs, (S[0][1], S[0][2], S[1][2], S[1][1] - S[2][2])))
    x = [normal, *(-mu * normal * v / size for v in b[1:])]
    return x, step(ROUNDING * S[1][1] - odd)


def _solved(S: Sequence[Sequence[Expr]], b: Sequence[Expr]) -> list[Expr]:
    """X of S x = b, for two or three rows, by Cramer's rule."""
    replaced = ([[*row[:k], right, *row[k + 1 :]] for row, right in zip(S, b, strict=True)] for k in range(len(b)))
    whole = _determinant(S)
    return [_determinant(A) / whole for A in replaced]


def _determinant(A: Sequence[Sequence[Expr]]) -> Expr:
    if len(A) == 1:
        return A[0][0]
    return _sum(
        (-1.0) ** k * A[0][k] * _determinant([[*row[:k], *row[k + 1 :]] for row in A[1:]]) for k in range(len(A))
    )


def _dot(x: Iterable[Expr], y: Iterable[Expr]) -> Expr:
    return _sum(a * b for a, b in zip(x, y, strict=True))


def _sum(terms: Iterable[Expr]) -> Expr:
    return reduce(add, terms)
