"""Fractions and roots over a ring, in lowest terms without a greatest common divisor.

A new divisor is split by those that are known; what cancels is found by exact division, where cosines and roots occur after
both sides are multiplied by the conjugate of the divisor.
"""

from __future__ import annotations

import math

from kineta.expr.op import Op
from kineta.notation.printed_numbers import is_fraction
from kineta.notation.rationals import Fraction
from kineta.notation.readable import polynomials
from kineta.notation.readable.polynomials import (
    POWERS,
    UNITY,
    LongFormError,
    Monomial,
    Sum,
    added,
    content,
    inverse,
    join,
    monomial,
    power,
    power_root,
    scaled,
    spans,
)
from kineta.notation.readable.residues import may_be_multiple
from kineta.notation.readable.ring import Ring


def quotient(ring: Ring, a: Sum, d: Sum) -> Sum | None:
    """The value of a / d where that is a sum of products, else None, as where it is long to find; *a* and *d* have no common
    powers of divisors.
    """
    if not _may_divide(ring, a, d) or not may_be_multiple(ring, a, d):
        return None
    try:
        for x in sorted({x for m in d for x, _ in m if ring.keys[x][0] in (Op.COS, "root") or x in ring.vectors}):
            conjugate = {m: -f if power(m, x) % 2 else f for m, f in d.items()}
            a, d = ring.product(a, conjugate), ring.product(d, conjugate)
    except LongFormError:
        return None
    return polynomials.quotient(a, d)


def _may_divide(ring: Ring, a: Sum, d: Sum) -> bool:
    """Whether *a* ranges over at least as many powers of every symbol as *d*: these ranges add up in a product."""
    above, below = spans(a), spans(d)
    if any(x in ring.vectors or ring.keys[x][0] in ("root", "sign") for x in above.keys() | below.keys()):
        return True  # their powers stand for sums
    return all(n <= above.get(x, 0) for x, n in below.items() if ring.keys[x][0] == "symbol")


def over(ring: Ring, a: Sum) -> Sum:
    """One over *a*. Raises :class:`LongFormError` for zero."""
    if not a:
        raise LongFormError
    f, m, inner = _split(ring, cancelled(ring, a))
    below = inverse(m)
    cosines = {ring.partner(x) for n in inner for x, _ in n if ring.keys[x][0] == Op.SIN}
    for x in (*(x for x, a in ring.sums.items() if a.keys() != {()}), *cosines):
        while len(inner) > 1 and (less := quotient(ring, inner, _value(ring, x))) is not None:
            g, n, inner = _split(ring, less)
            f, below = f * g, join(join(below, inverse(n)), ((x, -step(ring, x)),))
    times = 1
    for degree in POWERS:
        while (base := power_root(inner, degree)) is not None:
            inner, times = base, degree * times
    if inner != UNITY:
        below = join(below, monomial({x: p * times for x, p in _divisor(ring, inner)}))
    return ring.reduced({below: 1 / f})


def root(ring: Ring, a: Sum) -> Sum:
    """The square root of *a*; fractions are taken out, and the root of a square is an absolute value."""
    f = content(a)[0]
    r = Fraction(math.isqrt(abs(f).numerator), math.isqrt(f.denominator))
    r = r if r * r == abs(f) and all(map(is_fraction, a.values())) else Fraction(1)
    a = scaled(a, (), 1 / (r * r))
    ((m, number), *more) = a.items()
    if not more and number == 1 and all(p % 2 == 0 for _, p in m):
        signs = tuple((ring.sign(y), 1) for y, p in m if p % 4)
        return {join(monomial({y: p // 2 for y, p in m}), monomial(dict(signs))): r}
    return {((ring.root(a), 1),): r}


def cancelled(ring: Ring, a: Sum) -> Sum:
    """*a* with every divisor as often as it is needed, of each product of speeds, forces and accelerations by itself."""
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        groups.setdefault(ring.fast_factors(m), {})[m] = f
    return {m: f for g in groups.values() for m, f in _lowest(ring, g).items()}


def step(ring: Ring, x: int) -> int:
    """The power of an atom below the bar that its sum stands for: two for a root."""
    return 2 if ring.keys[x][0] == "root" else 1


def _split(ring: Ring, a: Sum) -> tuple[Fraction, Monomial, Sum]:
    """Number, monomial and the rest, a polynomial in lowest terms."""
    while True:
        f, m = content(a)
        if not m:
            return f, (), scaled(a, (), 1 / f)
        inner = ring.reduced(scaled(a, inverse(m), 1 / f))
        if not content(inner)[1]:
            g = content(inner)[0]
            return f * g, m, scaled(inner, (), 1 / g)
        a = scaled(inner, m, f)


def _divisor(ring: Ring, a: Sum) -> Monomial:
    key = frozenset(a.items())
    square = ring.known(("root", key))
    if square is not None:
        return ((square, -2),)
    x = ring.atom(("divisor", key), ring.fastest(a))
    ring.sums[x] = a
    return ((x, -1),)


def _value(ring: Ring, x: int) -> Sum:
    """What a divisor stands for, or the square of a root; another atom itself."""
    return ring.sums.get(x, {((x, 1),): Fraction(1)})


def _lowest(ring: Ring, a: Sum) -> Sum:
    for x in sorted({x for m in a for x, p in m if p < 0 and (x in ring.sums or ring.keys[x][0] == Op.COS)}):
        odd = {m: f for m, f in a.items() if step(ring, x) == 2 and power(m, x) % 2}
        even = {m: f for m, f in a.items() if m not in odd} if odd else a
        a = added(_less_divided(ring, even, x), _less_divided(ring, odd, x))
    return a


def _less_divided(ring: Ring, a: Sum, x: int) -> Sum:
    """*a* without powers of a divisor *x* that its numerator is a multiple of; all powers of a root are even, or odd."""
    if not a:
        return a
    whole, most = step(ring, x), -min(power(m, x) for m in a)
    above = ring.reduced(scaled(a, ((x, most),)))
    while most > 0 and above:  # what a root divides may be a multiple of its square
        low = tuple((y, p) for y, p in content(above)[1] if p < 0)
        less = quotient(ring, ring.reduced(scaled(above, inverse(low))), _value(ring, x))
        if less is None:
            break
        above, most = scaled(less, low), most - whole
    return ring.reduced(scaled(above, ((x, -most),) if most else ()))
