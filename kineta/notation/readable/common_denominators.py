"""Right-hand sides over common denominators, and in partial fractions."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.notation.printed_numbers import is_fraction
from kineta.notation.rationals import Fraction
from kineta.notation.readable.divisors import quotient, step
from kineta.notation.readable.entries import gathered
from kineta.notation.readable.factoring import TRIED, Factoring
from kineta.notation.readable.polynomials import (
    LongFormError,
    Monomial,
    Sum,
    added,
    content,
    inverse,
    join,
    power,
    remainder,
    scaled,
)
from kineta.notation.readable.ring import Ring
from kineta.notation.readable.trees import EMPTY, Tree, product, tree
from kineta.notation.typesetting import FactorKind

#: Terms of an entry at most that is tried over common denominators.
BARS = 40


def over_common_denominators(factoring: Factoring, a: Sum) -> Iterator[Tree]:
    """*a* over each divisor that is a sum, and over all that divides the whole."""
    ring = factoring.ring
    if len(a) > BARS:
        return
    out = tuple((x, most) for x, p in content(a)[1] if p < 0 and (most := max(power(n, x) for n in a)) < 0)
    if out:
        yield product(factoring.monomial(out), gathered(factoring, scaled(a, inverse(out))))
    for x in sorted({x for m in a for x, p in m if p < 0 and x in ring.sums}):
        least = step(ring, x)
        most = -min(power(m, x) for m in a)
        most -= most % least
        if not most or ring.kind[x] == FactorKind.NUMBER:
            continue
        inside = {m: f for m, f in a.items() if power(m, x) <= -least}
        rest = {m: f for m, f in a.items() if m not in inside}
        try:
            above = ring.reduced(scaled(inside, ((x, most),)))
        except LongFormError:
            continue
        yield from _fractions(factoring, above, x, most, rest)
        yield from _partial_fractions(factoring, above, x, most, rest)


def apart(factoring: Factoring, a: Sum) -> Iterator[Tree]:
    """What a letter divides beside what it does not divide, for each letter below a bar."""
    if len(a) > BARS:
        return
    below = {x for m in a for x, p in m if p < 0 and factoring.ring.keys[x][0] == "symbol"}
    for x in sorted(below):
        inside = {m: f for m, f in a.items() if power(m, x) < 0}
        if len(inside) < len(a):
            rest = {m: f for m, f in a.items() if m not in inside}
            yield tree([*gathered(factoring, inside), *gathered(factoring, rest)])


def _slow(factoring: Factoring, m: Monomial) -> Monomial:
    return tuple((y, p) for y, p in m if factoring.ring.is_slow(y))


def _beside(factoring: Factoring, rest: Sum) -> Tree:
    return gathered(factoring, rest) if rest else EMPTY


def _fractions(factoring: Factoring, above: Sum, x: int, most: int, rest: Sum) -> Iterator[Tree]:
    """A sum over a power of a divisor, and what stands beside it."""
    beside = _beside(factoring, rest)
    f, m = factoring.shared(above)
    slow = _slow(factoring, m)
    below = tuple((y, p) for y, p in slow if p < 0)
    for out in dict.fromkeys(((), below, slow)):
        for number in dict.fromkeys((Fraction(1), Fraction(1, f.denominator if is_fraction(f) else 1))):
            inner = gathered(factoring, scaled(above, inverse(out), 1 / number))
            yield tree([*product(factoring.monomial(join(out, ((x, -most),)), number), inner), *beside])


def _multiples(ring: Ring, a: Sum, d: Sum) -> tuple[Sum, Sum]:
    """What of *a* is a multiple of *d*, over *d*, and the rest, by the letters that *d* does not have."""
    own = {x for m in d for x, _ in m}
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        other = tuple((x, p) for x, p in m if x not in own)
        groups.setdefault(other, {})[join(m, inverse(other))] = f
    whole, rest = Sum(), Sum()
    for m, group in groups.items():
        q = quotient(ring, group, d) if len(group) > 1 else None
        rest, whole = (rest | scaled(group, m), whole) if q is None else (rest, added(whole, scaled(q, m)))
    return whole, rest


def _partial_fractions(factoring: Factoring, above: Sum, x: int, most: int, rest: Sum) -> Iterator[Tree]:
    """What of a numerator is a multiple of the divisor, by each term of this, and the remainder over it."""
    d = factoring.ring.sums[x]
    least = step(factoring.ring, x)
    monomial, beside = factoring.monomial, _beside(factoring, rest)
    ways = (remainder(above, d, lead) for lead in d if lead)
    for q, r in (_multiples(factoring.ring, above, d), *ways) if len(above) <= 4 * TRIED else ():
        if not q or not r:
            continue
        f, m = factoring.shared(r)
        slow = _slow(factoring, m)
        core = factoring.factored(scaled(r, inverse(slow), 1 / f))
        last = product(monomial(join(slow, ((x, -most),)), f), core)
        first = [gathered(factoring, added(scaled(q, ((x, least - most),)), rest))]
        if most > least:
            first += _partial_fractions(factoring, q, x, most - least, rest)
        out = _slow(factoring, factoring.shared(q)[1])
        whole = product(monomial(join(out, ((x, least - most),))), gathered(factoring, scaled(q, inverse(out))))
        first.append(tree([*whole, *beside]))
        shared = tuple((y, min(p, power(slow, y))) for y, p in out if power(slow, y) > 0)
        if shared:  # (q + r/d)/d with what both share in front
            under = inverse(shared)
            inner = [
                *gathered(factoring, scaled(q, under)),
                *product(monomial(join(join(slow, under), ((x, -least),)), f), core),
            ]
            both = product(monomial(join(shared, ((x, least - most),))), tree(inner))
            yield tree([*both, *beside])
        for one in first:
            yield tree([*one, *last])
