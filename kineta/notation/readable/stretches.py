"""Potentials of springs between points: k (s - l)^2 with a distance s, whose square has been multiplied out."""

from __future__ import annotations

from kineta.notation.rationals import Fraction
from kineta.notation.readable.factoring import Factoring
from kineta.notation.readable.polynomials import Sum, added, inverse, join, power, weak_quotient
from kineta.notation.readable.trees import EMPTY, Tree, product, raised, tree


def with_stretches(factoring: Factoring, a: Sum) -> Tree | None:
    """*a* with every k s^2 - 2 k l s + k l^2 as a square, k and l one product each; None where there is none."""
    ring, rows = factoring.ring, list[Tree]()
    for s in sorted({x for m in a for x, p in m if p == 1 and ring.keys[x][0] == "root"}):
        square = ring.sums[s]
        factors, rest = weak_quotient(a, square) if len(square) > 1 else (Sum(), a)
        cross = {join(m, ((s, -1),)): f for m, f in rest.items() if power(m, s) == 1}
        if len(factors) != 1 or len(cross) != 1:
            continue
        ((k, f),), ((m, g),) = factors.items(), cross.items()
        length = {join(m, inverse(k)): -g / (2 * f)}
        ((l, h),) = length.items()
        twice = {join(k, join(l, l)): f * h * h}
        left = added({n: c for n, c in rest.items() if power(n, s) != 1}, twice, Fraction(-1))
        if len(left) <= len(a) - len(square) - 1:
            rows.append(product(factoring.monomial(k, f), raised(factoring.plain({((s, 1),): Fraction(1), l: -h}), 2)))
            a = left
    if not rows:
        return None
    return tree([*(t for row in rows for t in row), *(factoring.best(a) if a else EMPTY)])
