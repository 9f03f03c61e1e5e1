"""Impacts: the impulses of contacts that strike, by Newton's and by Poisson's restitution.

All contacts that are closed take part, and friction acts during the impact by Coulomb's law on impulses. With the velocities
s along the rows before, and S = W M^-1 W^T, they are S x + s after the impulses x.

Newton's law with friction may give energy to bodies that turn. Where it would, there is less restitution, just so that
none is given.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from kineta.numerics.complementarity import forces, product
from kineta.tasks.look import Look, Numbers

#: Part of the work of impulses that is rounding; and to which part a restitution is known that gives no energy.
ROUNDING, SHARE = 1e-12, 1e-12


def impulses(look: Look, near: Set[int], restitution: Numbers, poisson: Sequence[bool]) -> list[float] | None:
    """The impulses (r,) along the rows of the contacts that are *near*, with their *restitution* (m,), which is Poisson's where
    that is said; None where the laws have no solution.
    """
    whole = _with(look, near, restitution, poisson)
    if whole is not None and not _gains(look, whole):
        return whole
    low, high = 0.0, 1.0
    while high - low > SHARE:
        share = (low + high) / 2
        tried = _with(look, near, [share * e for e in restitution], poisson)
        low, high = (low, share) if tried is None or _gains(look, tried) else (share, high)
    return _with(look, near, [low * e for e in restitution], poisson)


def _gains(look: Look, x: Numbers) -> bool:
    """Whether impulses give energy, seen from what is struck."""
    work = [f * (before + after) / 2 for f, before, after in zip(x, look.slip, look.after(x), strict=True)]
    return sum(work) > ROUNDING * sum(map(abs, work))


def _with(look: Look, near: Set[int], restitution: Numbers, poisson: Sequence[bool]) -> list[float] | None:
    """The impulses that compress and, by Newton's law, part; then those that Poisson's law gives back."""
    b = list(look.slip)
    for place, e, own in zip(look.places, restitution, poisson, strict=True):
        if place.normal is not None and not own:
            b[place.normal] += e * look.slip[place.normal]
    given = [e if own else 0.0 for e, own in zip(restitution, poisson, strict=True)]
    first = _solved(look, b, near, [0.0] * len(look.places))
    if first is None or not any(given):
        return first
    left = [v + product(row, first) for v, row in zip(b, look.S, strict=True)]
    second = _solved(look, left, near, [e * f for e, f in zip(given, look.normal(first), strict=True)])
    return None if second is None else [f + more for f, more in zip(first, second, strict=True)]


def _solved(look: Look, b: Numbers, near: Set[int], least: Numbers) -> list[float] | None:
    """The impulses after which S x + b is none of what contacts forbid."""
    cones = [
        look.cone(i, sticks=False, least=least[i])
        for i, place in enumerate(look.places)
        if i in near and place.normal is not None
    ]
    return forces(look.S, b, cones)
