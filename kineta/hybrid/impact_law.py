"""Impact laws: impulses of contacts by Newton's and by Poisson's restitution.

All closed contacts take part, and Coulomb friction acts on the impulses. With the velocities s along the rows before, and S
= W M^-1 W^T, they are S x + s after the impulses x.

Newton's law with friction may increase the energy of rotating bodies. There restitution is reduced until it does not.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from kineta import tolerances
from kineta.hybrid.contact_state import ContactState, Numbers
from kineta.numerics.contact_problem import dot, solve_contact_problem


def impulses(look: ContactState, near: Set[int], restitution: Numbers, poisson: Sequence[bool]) -> list[float] | None:
    """Impulses (r,) along the rows of the contacts *near*, with *restitution* (m,), by Poisson's law where marked; None without
    a solution.
    """
    whole = _with(look, near, restitution, poisson)
    if whole is not None and not _gains(look, whole):
        return whole
    low, high = 0.0, 1.0
    while high - low > tolerances.ROUNDING_TOLERANCE:
        share = (low + high) / 2
        tried = _with(look, near, [share * e for e in restitution], poisson)
        low, high = (low, share) if tried is None or _gains(look, tried) else (share, high)
    return _with(look, near, [low * e for e in restitution], poisson)


def _gains(look: ContactState, x: Numbers) -> bool:
    """True where impulses increase the energy."""
    work = [f * (before + after) / 2 for f, before, after in zip(x, look.slip, look.after(x), strict=True)]
    return sum(work) > tolerances.ROUNDING_TOLERANCE * sum(map(abs, work))


def _with(look: ContactState, near: Set[int], restitution: Numbers, poisson: Sequence[bool]) -> list[float] | None:
    """Impulses of compression and of Newton's restitution, then of Poisson's."""
    b = list(look.slip)
    for place, e, own in zip(look.contact_rows, restitution, poisson, strict=True):
        if place.normal is not None and not own:
            b[place.normal] += e * look.slip[place.normal]
    given = [e if own else 0.0 for e, own in zip(restitution, poisson, strict=True)]
    first = _solved(look, b, near, [0.0] * len(look.contact_rows))
    if first is None or not any(given):
        return first
    left = [v + dot(row, first) for v, row in zip(b, look.S, strict=True)]
    second = _solved(look, left, near, [e * f for e, f in zip(given, look.normal(first), strict=True)])
    return None if second is None else [f + more for f, more in zip(first, second, strict=True)]


def _solved(look: ContactState, b: Numbers, near: Set[int], least: Numbers) -> list[float] | None:
    """Impulses after which the velocities S x + b satisfy the contact laws."""
    cones = [
        look.cone(i, sticks=False, least=least[i])
        for i, place in enumerate(look.contact_rows)
        if i in near and place.normal is not None
    ]
    return solve_contact_problem(look.S, b, cones)
