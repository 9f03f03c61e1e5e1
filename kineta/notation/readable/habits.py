"""Habits of writing, which decide between forms that cost nearly the same to read.

Terms of an energy that are of different degree in speeds or in coordinates stand apart, ``m*z'^2/2 - k*z^2/2 - m*g*z``; no
place is multiplied through onto a common bar in it. What stands over a bar beside other factors has no bar in its brackets.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.notation.readable.polynomials import Sum
from kineta.notation.readable.ring import Ring
from kineta.notation.readable.trees import Factors, Tree
from kineta.notation.typesetting import FactorKind

#: What brackets of terms of different degree, a bar within brackets over a bar, and brackets over a place that a term of theirs
#: has, weigh beside reading costs.
MIXED, BAR_ABOVE_BAR, CROSSED = 2.0, 0.75, 1.0


def broken_habits(ring: Ring, a: Sum, t: Tree) -> float:
    """The weight of what is unusual in the tree *t* of a sum *a*."""
    weight = BAR_ABOVE_BAR * len([*_bars_above_bars(t)])
    if _is_energy(ring, a):
        weight += MIXED * len([*_mixed(ring, t, (0, 0, 0))]) + CROSSED * len([*_crossed(ring, t)])
    return weight


def _is_energy(ring: Ring, a: Sum) -> bool:
    """Whether a sum is of second degree in speeds or momenta, without forces and accelerations."""
    fast = [ring.fast_factors(m) for m in a]
    degrees = {sum(p for _, p in m) for m in fast}
    return max(degrees, default=0) == 2 and all(ring.kind[x] == FactorKind.SPEED for m in fast for x, _ in m)


#: The degrees of a product in speeds, in coordinates, and in their functions.
_Degrees = tuple[int, int, int]


def _degrees(ring: Ring, factors: Factors) -> _Degrees:
    """The degrees of a product; sums count by their highest."""
    total = 0, 0, 0
    for x, p in factors:
        if not isinstance(x, int):
            own = tuple(max(column) for column in zip(*(_degrees(ring, row) for _, row in x), strict=True))
            own = p * own[0], max(p, 0) * own[1], max(p, 0) * own[2]
        elif not ring.is_slow(x):
            own = p, 0, 0
        else:
            function = ring.kind[x] == FactorKind.FUNCTION
            own = 0, max(p, 0) * (ring.is_place(x) and not function), max(p, 0) * function
        total = total[0] + own[0], total[1] + own[1], total[2] + own[2]
    return total


def degree_in_places(coordinates: int, functions: int) -> int:
    """The degree of a product in places: functions alone count, ``sin(q)^2``, and beside coordinates these, ``r*cos(q)``."""
    return coordinates or functions


def _mixed(ring: Ring, t: Tree, outside: _Degrees) -> Iterator[Tree]:
    """Sums in brackets, no squares, whose terms are of different degree: in speeds, or without these in coordinates."""
    for _, factors in t:
        for x, p in factors:
            if isinstance(x, int) or p != 1:
                continue
            rest = _degrees(ring, factors - {(x, p)})
            around = outside[0] + rest[0], outside[1] + rest[1], outside[2] + rest[2]
            inner = [_degrees(ring, row) for _, row in x]
            speeds = {s for s, _, _ in inner}
            places = {degree_in_places(around[1] + n, around[2] + f) for _, n, f in inner}
            if len(speeds) > 1 or (around[0] + max(speeds) == 0 and len(places) > 1 and max(places) > 1):
                yield x
            yield from _mixed(ring, x, around)


def _bars_above_bars(t: Tree) -> Iterator[Tree]:
    """Sums in brackets with a bar in a term, over a bar beside other factors."""
    for _, factors in t:
        over = sum(p > 0 for _, p in factors) > 1 and any(p < 0 for _, p in factors)
        for x, p in factors:
            if not isinstance(x, int) and p > 0:
                if over and any(q < 0 for _, row in x for _, q in row):
                    yield x
                yield from _bars_above_bars(x)


def _crossed(ring: Ring, t: Tree) -> Iterator[Tree]:
    """Sums in brackets over places that stand in some of their terms: ``(r^2*p[r]^2 + p[phi]^2)/(2*m*r^2)``."""
    for _, factors in t:
        below = {x for x, p in factors if p < 0 and isinstance(x, int) and ring.is_place(x)}
        for x, p in factors:
            if not isinstance(x, int) and p > 0:
                if p == 1 and any(y in below and q > 0 for _, row in x for y, q in row):
                    yield x
                yield from _crossed(ring, x)
