"""Products of two linear forms: what is quadratic in two speeds or momenta, as torques are in Hamilton's equations."""

from __future__ import annotations

import math

from kineta.notation.rationals import Fraction
from kineta.notation.readable import polynomials
from kineta.notation.readable.divisors import quotient
from kineta.notation.readable.polynomials import UNITY, Monomial, Sum, added, content, inverse, join, monomial, scaled
from kineta.notation.readable.ring import Ring

#: Terms of a quadratic form at most that is tried.
TERMS = 24


def linear_factors(ring: Ring, a: Sum) -> tuple[Sum, Sum, Sum] | None:
    """A slow factor and two linear forms whose product *a* is, quadratic in two speeds or momenta, if there are some."""
    fast = sorted({x for m in a for x, _ in ring.fast_factors(m)})
    if len(fast) != 2 or not 3 <= len(a) <= TERMS:
        return None
    x, y = fast
    f, common = content(a)
    if any(k in (x, y) for k, _ in common):
        return None
    rows = dict[Monomial, Sum]()
    for m, g in ring.reduced(scaled(a, inverse(common), 1 / f)).items():
        speeds = ring.fast_factors(m)
        rows.setdefault(speeds, {})[join(m, inverse(speeds))] = g
    wanted = ((x, 2),), ((x, 1), (y, 1)), ((y, 2),)
    if rows.keys() != set(wanted):
        return None
    first, mixed, last = (rows[m] for m in wanted)
    square = added(ring.product(mixed, mixed), ring.product(first, last), Fraction(-4))
    root = _root(square)
    if root is None:
        return None
    forms = [_primitive(ring, scaled(first, (), Fraction(2)), added(mixed, root, Fraction(s))) for s in (1, -1)]
    slow = quotient(ring, first, ring.product(forms[0][0], forms[1][0]))
    if slow is None:
        return None
    one, other = (added(scaled(u, ((x, 1),)), scaled(v, ((y, 1),))) for u, v in forms)
    slow = scaled(slow, common, f)
    if added(ring.product(slow, ring.product(one, other)), ring.reduced(a), Fraction(-1)):
        return None
    return slow, one, other


def _root(square: Sum) -> Sum | None:
    """The square root of a sum, or of one product."""
    if not square:
        return {}
    f, m = content(square)
    r = Fraction(math.isqrt(abs(f.numerator)), math.isqrt(f.denominator))
    if r * r != f or any(p % 2 for _, p in m):
        return None
    core = scaled(square, inverse(m), 1 / f)
    inner = UNITY if core == UNITY else polynomials.power_root(core)
    return None if inner is None else scaled(inner, monomial({x: p // 2 for x, p in m}), r)


def _primitive(ring: Ring, u: Sum, v: Sum) -> tuple[Sum, Sum]:
    """Two coefficients without what both are multiples of, as far as this is seen in the first."""
    if not v:
        return UNITY, {}
    f, m = content(u)
    core = scaled(u, inverse(m), 1 / f)
    factors: list[Sum] = [{((x, 1),): Fraction(1)} for x, p in m for _ in range(p)]
    for d in (*factors, *([core] if len(core) > 1 else [])):
        less, other = quotient(ring, u, d), quotient(ring, v, d)
        if less is not None and other is not None:
            u, v = less, other
    numbers = [g for a in (u, v) for g in a.values()]
    number = Fraction(math.gcd(*(g.numerator for g in numbers)), math.lcm(*(g.denominator for g in numbers)))
    return scaled(u, (), 1 / number), scaled(v, (), 1 / number)
