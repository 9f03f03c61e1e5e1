"""Habits of writing, which decide between forms that cost nearly the same to read.

Terms of an energy that are of different degree in speeds or in coordinates stand apart, ``m*z'^2/2 - k*z^2/2 - m*g*z``; what
stands over a bar beside other factors has no bar in its brackets.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.notation.readable.polynomials import Sum
from kineta.notation.readable.ring import Ring
from kineta.notation.readable.trees import Factors, Tree
from kineta.notation.typesetting import FactorKind

#: What brackets of terms of different degree, and a bar within brackets over a bar, weigh beside reading costs.
MIXED, BAR_ABOVE_BAR = 2.0, 0.75


def broken_habits(ring: Ring, a: Sum, t: Tree) -> float:
    """The weight of what is unusual in the tree *t* of a sum *a*."""
    weight = BAR_ABOVE_BAR * len([*_bars_above_bars(t)])
    return weight + MIXED * len([*_mixed(ring, t, (0, 0))]) if _is_energy(ring, a) else weight


def _is_energy(ring: Ring, a: Sum) -> bool:
    """Whether a sum is of second degree in speeds or momenta, without forces and accelerations."""
    fast = [ring.fast_factors(m) for m in a]
    degrees = {sum(p for _, p in m) for m in fast}
    return max(degrees, default=0) == 2 and all(ring.kind[x] == FactorKind.SPEED for m in fast for x, _ in m)


def _degrees(ring: Ring, factors: Factors) -> tuple[int, int]:
    """The degrees of a product in speeds, and in coordinates and their functions; sums count by their highest."""
    speeds, places = 0, 0
    for x, p in factors:
        if not isinstance(x, int):
            inner = [_degrees(ring, row) for _, row in x]
            speeds += p * max(s for s, _ in inner)
            places += max(p, 0) * max(n for _, n in inner)
        elif not ring.is_slow(x):
            speeds += p
        elif ring.is_place(x):
            places += max(p, 0)
    return speeds, places


def _mixed(ring: Ring, t: Tree, outside: tuple[int, int]) -> Iterator[Tree]:
    """Sums in brackets, no squares, whose terms are of different degree: in speeds, or without these in coordinates."""
    for _, factors in t:
        for x, p in factors:
            if isinstance(x, int) or p != 1:
                continue
            rest = _degrees(ring, factors - {(x, p)})
            around = outside[0] + rest[0], outside[1] + rest[1]
            inner = [_degrees(ring, row) for _, row in x]
            speeds, places = {s for s, _ in inner}, {n for _, n in inner}
            if len(speeds) > 1 or (around[0] + max(speeds) == 0 and len(places) > 1 and around[1] + max(places) > 1):
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
