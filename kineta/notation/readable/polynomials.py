"""Sums of products of powers: arithmetic without relations between the atoms.

An atom is a number, as a ring counts it; a monomial is a product of powers of atoms, negative ones below the bar; a sum has a
fraction for every monomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from kineta.notation.rationals import Fraction

Monomial = tuple[tuple[int, int], ...]
Sum = dict[Monomial, Fraction]

#: Terms of a sum at most.
TERMS = 400

#: Terms of a higher power than a square at most whose root is looked for.
RAISED = 64

#: The powers whose roots are looked for; others are products of these.
POWERS = (2, 3, 5, 7)

#: A prime by which one less is divisible by all of these, and places at which a sum is looked at for a power modulo it.
PRIME, TRIALS = 2**61 - 1, 6

#: The number one, and the sum that it is.
ONE = Fraction(1)
UNITY: Sum = {(): ONE}


class LongFormError(Exception):
    """An expression has no short form as a sum of products."""


def join(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for x, p in b:
        powers[x] = powers.get(x, 0) + p
    return monomial(powers)


def monomial(powers: Mapping[int, int]) -> Monomial:
    """The monomial of atoms with their *powers*."""
    return tuple(sorted((x, p) for x, p in powers.items() if p))


def inverse(m: Monomial) -> Monomial:
    """One over a monomial."""
    return tuple((x, -p) for x, p in m)


def added(a: Sum, b: Sum, factor: Fraction = ONE) -> Sum:
    """The sum a + factor b."""
    total = dict(a)
    for m, f in b.items():
        share = f if factor is ONE else factor * f
        if m not in total:
            total[m] = share
        elif not add(total, m, share):
            del total[m]
    return total


def add(total: Sum, m: Monomial, f: Fraction) -> Fraction:
    """The number of a monomial in *total* after *f* is added to it."""
    # Fractions are slow: what is new in a sum is not added to zero.
    total[m] = total[m] + f if m in total else f
    return total[m]


def scaled(a: Sum, m: Monomial, f: Fraction = ONE) -> Sum:
    """A sum times a monomial and a number."""
    return {join(n, m): g if f is ONE else f * g for n, g in a.items()}


def power(m: Monomial, x: int) -> int:
    """The power of an atom in a monomial."""
    return next((p for y, p in m if y == x), 0)


def content(a: Sum) -> tuple[Fraction, Monomial]:
    """The number and the monomial that all terms share; the least powers, negative ones included."""
    least: dict[int, int] | None = None
    for m in a:
        row = dict(m)
        keys = row.keys() | (least.keys() if least is not None else row.keys())
        least = {x: min(row.get(x, 0), row.get(x, 0) if least is None else least.get(x, 0)) for x in keys}
    top = math.gcd(*(f.numerator for f in a.values()))
    low = math.lcm(*(f.denominator for f in a.values()))
    sign = -1 if all(f < 0 for f in a.values()) else 1
    return Fraction(sign * top, low), monomial(least or {})


def spans(a: Sum) -> dict[int, int]:
    """From the least to the greatest power of every atom."""
    powers: dict[int, list[int]] = {}
    for m in a:
        for x, p in m:
            powers.setdefault(x, []).append(p)
    return {x: max(0, *own) - min(0, *own) if len(own) < len(a) else max(own) - min(own) for x, own in powers.items()}


def quotient(a: Sum, d: Sum) -> Sum | None:
    """The quotient of two sums where nothing remains, else None."""
    if len(d) > len(a) * 40:
        return None
    atoms = sorted({x for m in d for x, _ in m})

    def order(m: Monomial) -> tuple[int, ...]:
        row = dict(m)
        return tuple(row.get(x, 0) for x in atoms)

    lead = max(d, key=order)
    total: Sum = {}
    low = monomial({x: min(0, *(power(m, x) for m in a)) for m in a for x, p in m if p < 0})
    rest = scaled(a, inverse(low))
    while rest:
        top = max(rest, key=order)
        m = join(top, inverse(lead))
        if any(p < 0 for _, p in m) or len(total) > TERMS:
            return None
        total[m] = f = rest[top] / d[lead]
        rest = added(rest, scaled(d, m), -f)
    return scaled(total, low)


def weak_quotient(a: Sum, d: Sum) -> tuple[Sum, Sum]:
    """Terms by which *d* can be multiplied within *a*, and what is left of *a*; all of it where *d* divides it."""
    if len(d) < 2 or not a:
        return {}, a
    if len(a) >= len(d) and (whole := quotient(a, d)) is not None:
        return whole, {}
    (first, number), *others = d.items()
    q: Sum = {}
    for m, f in a.items():
        n, g = join(m, inverse(first)), f / number
        if all(a.get(join(n, k)) == g * h for k, h in others):
            q[n] = g
    used = [join(n, k) for n in q for k in d]
    if len(set(used)) < len(used):
        return {}, a
    return q, {m: f for m, f in a.items() if m not in set(used)}


def remainder(a: Sum, d: Sum, lead: Monomial) -> tuple[Sum, Sum]:
    """Quotient and remainder of *a* over *d*, no term of the remainder a multiple of the monomial *lead* of *d*."""
    q: Sum = {}
    for _ in range(64):
        top = next((m for m in a if all(power(m, x) >= p for x, p in lead)), None)
        if top is None:
            return q, a
        n, f = join(top, inverse(lead)), a[top] / d[lead]
        q = added(q, {n: f})
        a = added(a, scaled(d, n), -f)
    return {}, a


def power_root(a: Sum, n: int = 2) -> Sum | None:
    """The sum of two terms and more whose power *n* the sum *a* is, if there is one, by its terms from the leading one down."""
    if not n < len(a) <= (TERMS if n == 2 else RAISED):
        return None
    atoms = sorted({x for m in a for x, _ in m})

    def order(m: Monomial) -> tuple[int, ...]:
        row = dict(m)
        return tuple(row.get(x, 0) for x in atoms)

    lead = max(a, key=order)
    r = _number_root(a[lead], n)
    if r is None or any(p % n for _, p in lead) or not _is_power_modulo(a, n):
        return None
    first = tuple((x, p // n) for x, p in lead)
    below = inverse(monomial({x: p * (n - 1) for x, p in first}))
    most = len(a) if n == 2 else (len(a) - 1) // n + 1
    root, rest = {first: r}, {m: g for m, g in a.items() if m != lead}
    while rest and len(root) < most:
        top = max(rest, key=order)
        m, g = join(top, below), rest[top] / (n * r ** (n - 1))
        if m in root:
            return None
        if n == 2:
            rest = added(added(rest, scaled(root, m, 2 * g), Fraction(-1)), {join(m, m): g * g}, Fraction(-1))
            root[m] = g
        else:
            root[m] = g
            rest = added(a, _raised(root, n), Fraction(-1))
    return None if rest else root


def _place(k: int, x: int) -> int:
    """The value of the atom *x* at the *k*-th of the places at which sums are looked at."""
    return k * 1_000_003 + (x + 1) * 7919


def residue(a: Sum, at: Callable[[int], int | None]) -> int | None:
    """The value of the sum *a* modulo the prime where atoms have the values *at* them; None where
    one has none, or zero below a bar.
    """
    total = 0
    for m, f in a.items():
        term = f.numerator * pow(f.denominator, -1, PRIME) if f.denominator != 1 else f.numerator
        for x, p in m:
            own = at(x)
            if own is None or (p < 0 and not own):
                return None
            term = term * pow(own, p, PRIME) % PRIME
        total += term
    return total % PRIME


def _is_power_modulo(a: Sum, n: int) -> bool:
    """Whether the sum *a* has values modulo a prime that are powers *n*, as those of such a power are: others are soon told."""
    exponent = (PRIME - 1) // math.gcd(n, PRIME - 1)
    for k in range(1, TRIALS + 1):
        total = residue(a, partial(_place, k))
        if total and pow(total, exponent, PRIME) != 1:
            return False
    return True


def _number_root(f: Fraction, n: int) -> Fraction | None:
    """The root of degree *n* of a fraction, where that is one."""
    if f < 0:
        opposite = _number_root(-f, n) if n % 2 else None
        return -opposite if opposite is not None else None
    above, below = (math.isqrt(k) if n == 2 else round(math.exp(math.log(k) / n)) for k in f.as_integer_ratio())
    return Fraction(above, below) if Fraction(above, below) ** n == f else None


def _raised(a: Sum, n: int) -> Sum:
    total = UNITY
    for _ in range(n):
        product: Sum = {}
        for m, f in total.items():
            for k, g in a.items():
                add(product, join(m, k), f * g)
        total = product
    return {m: f for m, f in total.items() if f}
