"""Closed-form impact of a single contact with Newton's restitution and Coulomb's friction.

The law of impacts has a closed-form solution where one contact strikes while all others are open. With the velocities s along
the normal and the tangents before the impact, the Delassus operator S, the response Y to unit impulses, and the restitution e::

    S x + s + (e s_n, 0, 0) = 0        sticking, |x_t| <= mu x_n
    x_t = - mu x_n s_t' / |s_t'|       slipping, along the velocity s_t' after the impact

In the plane s_t' has the sign of the velocity that sticking would stop; in space its direction is known where the response is
isotropic in the tangent plane, as for balls. Other impacts have ``law`` = 0 and are left to the active-set search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.algebra.functions import maximum, sign, sqrt, step
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.contact.joint_locking import locks
from kineta.mechanics.contact.mode_dynamics import rows
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation


def closed_form(d: Derivation) -> bool:
    """Return whether single impacts of *d* have closed forms: with active contacts, without constraints and locked speeds."""
    return (
        bool(d.active_contacts)
        and not d.rows
        and not locks(d)
        and any(contact.normal is not None for contact in d.active_contacts)
    )


@dataclass(frozen=True, slots=True)
class ClosedFormImpact:
    """The closed-form impact of a contact that strikes alone.

    law : 1 where the closed form active_rows, else 0
    approach, leaving : the normal velocities before and after the impact
    fall : the normal acceleration between impacts
    work : the change of the kinetic energy by the impulses, with the surface struck at rest
    speeds : the speeds after the impact, (nv,)
    """

    law: Ref
    approach: Ref
    leaving: Ref
    fall: Ref
    work: Ref
    speeds: Sequence[Ref]


def impacts(d: Derivation) -> list[ClosedFormImpact]:
    """The impact of every contact; zeros for contacts without normals and inactive contacts."""
    own, first, found = rows(d), 0, list[ClosedFormImpact]()
    n, width = len(d.symbols.v), len(d.symbols.v) + len(d.rows)
    S, Y, drift, momenta = (
        [Expr(d.graph, r) for r in d[name].refs] for name in ("delassus", "response", "free_acceleration", "momentum")
    )
    for contact in d.contacts:
        if contact not in d.active_contacts or contact.normal is None:
            found.append(ClosedFormImpact(ZERO, ZERO, ZERO, ZERO, ZERO, [ZERO] * n))
            continue
        places = range(first, first + len(contact.rows))
        first += len(contact.rows)
        slip = [Expr(d.graph, row.levels[-1]) for row in contact.rows]
        block = [[S[i * len(own) + j] for j in places] for i in places]
        x, law = _impulses(d, contact, block, slip)
        after = [s + _dot(row, x) for s, row in zip(slip, block, strict=True)]
        work = _dot(x, [(s + then) / 2 for s, then in zip(slip, after, strict=True)])
        size = _dot([abs(f) for f in x], [abs(s) for s in slip])
        law = law * step(x[0]) * step(tolerances.ROUNDING_TOLERANCE * size - work)
        change = [_dot([Y[i * width + k] for i in places], x) for k in range(n)]
        gained = _dot(change, momenta) + _dot(x, [_dot(row, x) for row in block]) / 2
        speeds = [Expr(d.graph, v) + more for v, more in zip(d.symbols.v, change, strict=True)]
        normal = slip[0].ref, after[0].ref, drift[places[0]].ref
        found.append(ClosedFormImpact(law.ref, *normal, gained.ref, [e.ref for e in speeds]))
    return found


def _impulses(
    d: Derivation, contact: UnilateralConstraint, S: Sequence[Sequence[Expr]], s: Sequence[Expr]
) -> tuple[list[Expr], Expr]:
    """The impulses along the rows of *contact*, and 1 where they satisfy the law of impacts."""
    restitution, mu = (Expr(d.graph, r) for r in (contact.restitution, contact.bound))
    b = [(1 + restitution) * s[0], *s[1:]]
    if len(s) == 1:
        return [-b[0] / S[0][0]], Expr(d.graph, ONE)
    law = Expr(d.graph, ZERO if contact.poisson else ONE)
    held = _solved(S, [-x for x in b])
    size = sqrt(_dot(held[1:], held[1:]))
    slips = step(size - mu * held[0])
    slid, sound = (_along if len(s) == 2 else _alike)(S, b, mu, held)
    return [x + slips * (y - x) for x, y in zip(held, slid, strict=True)], law * (1 - slips * (1 - sound))


def _along(S: Sequence[Sequence[Expr]], b: Sequence[Expr], mu: Expr, held: Sequence[Expr]) -> tuple[list[Expr], Expr]:
    """The impulses for slip along a single tangent, and whether the slip after the impact has the assumed direction."""
    way = -sign(held[1])
    normal = -b[0] / (S[0][0] - mu * way * S[0][1])
    x = [normal, -mu * way * normal]
    return x, step((b[1] + _dot(S[1], x)) * way)


def _alike(S: Sequence[Sequence[Expr]], b: Sequence[Expr], mu: Expr, held: Sequence[Expr]) -> tuple[list[Expr], Expr]:
    """The impulses for continued slip in space, and whether the response is isotropic in the tangent plane."""
    normal = -b[0] / S[0][0]
    size = maximum(sqrt(_dot(b[1:], b[1:])), tolerances.LEAST_DIVISOR**0.5)
    odd = reduce(maximum, map(abs, (S[0][1], S[0][2], S[1][2], S[1][1] - S[2][2])))
    x = [normal, *(-mu * normal * v / size for v in b[1:])]
    return x, step(tolerances.ROUNDING_TOLERANCE * S[1][1] - odd)


def _solved(S: Sequence[Sequence[Expr]], b: Sequence[Expr]) -> list[Expr]:
    """The solution x of S x = b, for two or three rows, by Cramer's rule."""
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
