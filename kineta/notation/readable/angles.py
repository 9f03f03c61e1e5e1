"""Sines and cosines: of the angles of a basis in the normal form, of sums of angles as they are read.

An angle that is no whole combination of the angles before joins the basis, so that ``q1 - q2`` stays whole where nothing else
of q1 and q2 occurs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from kineta.expr.op import Op
from kineta.notation.printed_numbers import exact_root, multiple_of_pi, short_decimal
from kineta.notation.rationals import Fraction
from kineta.notation.readable.divisors import cancelled, root
from kineta.notation.readable.polynomials import (
    UNITY,
    Monomial,
    Sum,
    added,
    inverse,
    join,
    monomial,
    power,
    scaled,
)
from kineta.notation.readable.ring import PI, Angle, Ring
from kineta.notation.typesetting import FactorKind

#: Terms of products of sines and cosines at most that are written as sums of them.
WAVES = 64

#: Characters of a decimal number at most that is meant to be exact.
DIGITS = 13

#: Sums of numbers, relative to their largest term, that are rounding errors.
ROUNDED = 1e-13

#: A sine (True) or a cosine of an angle.
_Wave = tuple[Angle, bool]


def sine_cosine(ring: Ring, argument: Sum) -> tuple[Sum, Sum]:
    """Sine and cosine of a sum, by the angles of the basis; of asin(x) in it they are x and sqrt(1 - x^2)."""
    inverse_waves = {m: pair for m, f in argument.items() if (pair := _of_inverse(ring, m, f)) is not None}
    rest = {m: f for m, f in argument.items() if m not in inverse_waves}
    found = _of_angle(ring, rest) if rest or not inverse_waves else None
    for pair in inverse_waves.values():
        found = pair if found is None else _sum_of_angles(ring, found, pair)
    return ({}, UNITY) if found is None else found


def _of_inverse(ring: Ring, m: Monomial, f: Fraction) -> tuple[Sum, Sum] | None:
    """Sine and cosine of a whole number of times an inverse function that *m* is; None for others."""
    kind, *inside = ring.keys[m[0][0]] if len(m) == 1 else ("",)
    if kind != "call" or m[0][1] != 1 or f.denominator != 1 or inside[0] not in (Op.ASIN, Op.ACOS):
        return None
    x = dict(inside[1][0])
    other = root(ring, cancelled(ring, added(UNITY, ring.product(x, x), Fraction(-1))))
    s, c = (x, other) if inside[0] == Op.ASIN else (other, x)
    own = (s if f > 0 else scaled(s, (), Fraction(-1))), c
    found = own
    for _ in range(abs(int(f)) - 1):
        found = _sum_of_angles(ring, found, own)
    return found


def _of_angle(ring: Ring, argument: Sum) -> tuple[Sum, Sum]:
    own = {m: value for m in argument if (value := ring.numerical(m)) is not None}
    number = math.fsum(float(argument[m]) * value for m, value in own.items())
    angle = _ordered(ring, ((m, f) for m, f in argument.items() if m not in own))
    if angle:
        constant = tuple((m, argument[m]) for m in own) if 2 * number % math.pi else ()
        (s, c), shift = _by_basis(ring, angle, constant)
        number = 0.0 if abs(number - shift) < 1e-15 * abs(number) else number - shift
    else:
        s, c = {}, UNITY
    if not number:
        return s, c
    sn = exact_sum(ring, x) if abs(x := math.sin(number)) > 1e-15 else {}
    cn = exact_sum(ring, x) if abs(x := math.cos(number)) > 1e-15 else {}
    return _sum_of_angles(ring, (s, c), (sn, cn))


def exact_sum(ring: Ring, value: float) -> Sum:
    """The number that a float is meant to be: a decimal or a near fraction of small denominator, a fraction times pi, over pi, or
    times roots of prime numbers, or an atom of its own.
    """
    if (own := exact(value)) is not None:
        return {(): own}
    if (multiple := multiple_of_pi(value)) is not None:
        turns, sign = multiple
        return {((ring.symbol(PI, FactorKind.NUMBER), sign),): Fraction(turns)}
    found = exact_root(value)
    if found is None:
        return {((ring.number(value), 1),): Fraction(1)}
    number, n = found
    primes = [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))]
    return {monomial({ring.root({(): Fraction(p)}): 1 for p in primes}): Fraction(number)}


def with_numbers(ring: Ring, a: Sum) -> Sum:
    """A sum in which numbers that are atoms are multiplied and added: rounding errors are no terms."""
    if not any(ring.keys[x][0] == "number" for m in a for x, _ in m):
        return a
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        rest = tuple((x, p) for x, p in m if ring.numerical(((x, 1),)) is None)
        groups.setdefault(rest, {})[join(m, inverse(rest))] = f
    total: Sum = {}
    for m, terms in groups.items():
        values = [float(f) * (ring.numerical(n) or 0.0) for n, f in terms.items()]
        if not any(ring.keys[x][0] == "number" for n in terms for x, _ in n):
            total = added(total, scaled(terms, m))
        elif abs(value := math.fsum(values)) > ROUNDED * max(map(abs, values)):
            total = added(total, scaled(exact_sum(ring, value), m))
    return total


def exact(value: float) -> Fraction | None:
    """The number that a float is meant to be: its shortest decimal, or a near fraction of small denominator; None for others."""
    short = Fraction(repr(short_decimal(value)))
    if short.denominator <= 10**6:
        return short
    near = Fraction(Fraction(value).limit_denominator(1000))
    if abs(float(near) - value) <= 4 * math.ulp(value):
        return near
    return short if len(repr(short_decimal(value)).partition("e")[0]) <= DIGITS else None


def forms(ring: Ring, a: Sum) -> list[Sum]:
    """*a* with squares of sines and of cosines, and with sums of angles."""
    found = [a]
    for x in sorted({x for m in a for x, _ in m if ring.keys[x][0] == Op.SIN}):
        found += [form for known in found[:3] for form in (*_squares(ring, known, x), *_paired(ring, known, x))]
    with_sums = [with_sums_of_angles(ring, form) for form in found]
    return list({frozenset(form.items()): form for form in (*with_sums, *found)}.values())


def with_sums_of_angles(ring: Ring, a: Sum) -> Sum:
    """*a* with sines and cosines of sums of angles: of what has the same other factors, whichever way leaves fewer terms."""
    families: dict[Monomial, Sum] = {}
    for m, f in a.items():
        rest = tuple((x, p) for x, p in m if p < 0 or ring.keys[x][0] not in (Op.SIN, Op.COS))
        families.setdefault(rest, {})[join(m, inverse(rest))] = f
    total: Sum = {}
    for rest, family in families.items():
        best = family
        if len(family) > 1:
            while (less := _pair_joined(ring, best)) is not None:
                best = less
            waves = _as_waves(ring, family) if len(best) > 1 else best
            best = waves if len(waves) < len(best) else best
        total = added(total, scaled(best, rest))
    return total


# -- the basis -----------------------------------------------------------------------------------------------------------


def _ordered(ring: Ring, rows: Iterable[tuple[Monomial, Fraction]]) -> Angle:
    """An angle with its terms in the order of coordinates."""

    def place(x: int) -> tuple[int, int]:
        return ring.kinds.get(ring.keys[x][1], (9, 0)) if ring.keys[x][0] == "symbol" else (9, x)

    return tuple(sorted(rows, key=lambda row: [place(x) for x, _ in row[0]]))


def _turned(angle: Angle) -> tuple[Angle, bool]:
    """An angle, or its negative if this begins without a minus."""
    turned = bool(angle) and angle[0][1] < 0
    return tuple((m, -f) for m, f in angle) if turned else angle, turned


def _sum_of_angles(ring: Ring, a: tuple[Sum, Sum], b: tuple[Sum, Sum]) -> tuple[Sum, Sum]:
    (sa, ca), (sb, cb) = a, b
    sine = added(ring.product(sa, cb), ring.product(ca, sb))
    return sine, added(ring.product(ca, cb), ring.product(sa, sb), Fraction(-1))


def _by_basis(ring: Ring, angle: Angle, constant: Angle) -> tuple[tuple[Sum, Sum], float]:
    """Sine and cosine of an *angle* with a number, and this number. An angle that joins the basis of a ring whose angles keep
    their numbers does so with the *constant*, in terms, that it is met with; phases and harmonics of what runs with the time are
    kept apart.
    """
    ring.shifted |= bool(constant)
    if ring.keeps and constant and _is_of_time(ring, angle):
        return _own_waves(ring, (*angle, *constant), 1), _number(ring, constant)
    weights = _weights([tuple((m, f) for m, f in b if ring.numerical(m) is None) for b in ring.basis], angle)
    if weights is not None and sum(map(abs, weights)) > 1 and _is_of_time(ring, angle):
        return _own_waves(ring, angle, 1), 0.0
    if weights is None:
        ring.basis.append((*angle, *constant) if ring.keeps else angle)
        weights = [Fraction(0)] * (len(ring.basis) - 1) + [Fraction(1)]
    found: tuple[Sum, Sum] = {}, UNITY
    for w, b in zip(weights, ring.basis, strict=True):
        for _ in range(abs(int(w))):
            found = _sum_of_angles(ring, found, _own_waves(ring, b, -1 if w < 0 else 1))
    return found, math.fsum(float(w) * _number(ring, b) for w, b in zip(weights, ring.basis, strict=True))


def _is_of_time(ring: Ring, angle: Angle) -> bool:
    """Whether an angle is made of parameters and the time."""
    atoms = {x for m, _ in angle for x, _ in m}
    return all(ring.keys[x] == ("symbol", "t") or ring.kind[x] <= FactorKind.PARAMETER for x in atoms)


def _own_waves(ring: Ring, angle: Angle, sign: int) -> tuple[Sum, Sum]:
    """Sine and cosine of an angle, or with the *sign* -1 of its negative."""
    angle, turned = _turned(angle)
    sine: Sum = {((ring.wave(Op.SIN, angle), 1),): Fraction(-sign if turned else sign)}
    return sine, {((ring.wave(Op.COS, angle), 1),): Fraction(1)}


def _number(ring: Ring, angle: Angle) -> float:
    """The number in an angle."""
    return math.fsum(float(f) * (ring.numerical(m) or 0.0) for m, f in angle)


def _weights(basis: Sequence[Angle], angle: Angle) -> list[Fraction] | None:
    """The whole numbers by which *angle* is made of the *basis*, if there are some."""
    monomials = sorted({m for b in (*basis, angle) for m, _ in b})
    rows = [[dict(b).get(m, Fraction(0)) for b in (*basis, angle)] for m in monomials]
    n = len(basis)
    for column in range(n):
        k = next((k for k in range(column, len(rows)) if rows[k][column]), None)
        if k is None:
            return None
        rows[column], rows[k] = rows[k], rows[column]
        pivot = rows[column] = [x / rows[column][column] for x in rows[column]]
        rows = [
            pivot if k == column else [x - r[column] * p for x, p in zip(r, pivot, strict=True)]
            for k, r in enumerate(rows)
        ]
    found = [rows[k][n] for k in range(n)]
    return found if not any(r[n] for r in rows[n:]) and all(w.denominator == 1 for w in found) else None


# -- squares -------------------------------------------------------------------------------------------------------------


def _squares(ring: Ring, a: Sum, sine: int) -> Iterator[Sum]:
    """Forms of *a* where it is a + b s^2, times any powers below: with cosines, and with both."""
    c2, s2 = ((ring.partner(sine), 2),), ((sine, 2),)
    low = min(power(m, sine) for m in a)
    up: Monomial = ((sine, -low),) if low < 0 else ()
    b = scaled(a, up)
    high = {m: f for m, f in b.items() if power(m, sine) >= 2}
    if not high:
        return
    rate = {join(m, ((sine, -2),)): f for m, f in high.items()}
    rest = {m: f for m, f in b.items() if m not in high}
    both = added(rest, rate)
    down = inverse(up)
    yield scaled(added(both, scaled(rate, c2), Fraction(-1)), down)
    if any(power(m, sine) >= 2 for m in rate):
        return
    common = {m: f for m, f in rest.items() if both.get(m) == f}
    for apart in ({}, common):
        with_s, with_c = added(both, apart, Fraction(-1)), added(rest, apart, Fraction(-1))
        yield scaled(added(added(apart, scaled(with_s, s2)), scaled(with_c, c2)), down)


def _paired(ring: Ring, a: Sum, sine: int) -> Iterator[Sum]:
    """*a* with k s^2 - k s^4 as k s^2 c^2, wherever two terms are such, if there are some."""
    c2, s2, total = ((ring.partner(sine), 2),), ((sine, 2),), dict(a)
    for m, f in a.items():
        above = join(m, s2)
        if power(m, sine) > 0 and total.get(m) == f and total.get(above) == -f:
            del total[m], total[above]
            total = added(total, {join(m, c2): f})
    if len(total) < len(a):
        yield total


# -- sums of angles ------------------------------------------------------------------------------------------------------


def _pair_joined(ring: Ring, a: Sum) -> Sum | None:
    """*a* with two terms made one: cos x cos y - sin x sin y or sin x cos y + cos x sin y with either sign."""
    for m, f in a.items():
        sines = [x for x, p in m if p > 0 and ring.keys[x][0] == Op.SIN]
        cosines = [x for x, p in m if p > 0 and ring.keys[x][0] == Op.COS]
        pairs = [(Op.COS, x, y, y) for x, y in combinations(sines, 2)]
        pairs += [(Op.SIN, x, c, ring.partner(c)) for x, c in product(sines, cosines) if ring.partner(c) != x]
        for op, x, factor, y in pairs:
            rest = join(m, ((x, -1), (factor, -1)))
            twin = join(join(rest, ((ring.partner(x), 1),)), ((ring.partner(factor), 1),))
            g = a.get(twin, Fraction(0))
            if abs(g) == abs(f):
                new, sign = _combined(ring, op, x, y, (1 if g == f else -1) * (1 if op == Op.SIN else -1))
                value = g if op == Op.COS else f * sign
                return added({k: h for k, h in a.items() if k not in (m, twin)}, {join(rest, new): value})
    return None


def _combined(ring: Ring, op: Op, x: int, y: int, sign: int) -> tuple[Monomial, int]:
    """Sine or cosine of the sum, or by *sign* the difference, of the angles of two sines; and its sign."""
    total = dict(ring.keys[x][1])
    for m, f in ring.keys[y][1]:
        total[m] = total.get(m, Fraction(0)) + sign * f
    angle, turned = _turned(_ordered(ring, ((m, f) for m, f in total.items() if f)))
    return ((ring.wave(op, angle), 1),), -1 if turned and op == Op.SIN else 1


def _as_waves(ring: Ring, a: Sum) -> Sum:
    """Products of sines and cosines as sums of them; *a* itself where multiples of angles would come in."""
    if len(a) > WAVES:
        return a
    total: dict[_Wave, Fraction] = {}
    for m, f in a.items():
        for k, g in _waves(ring, m).items():
            total[k] = total.get(k, Fraction(0)) + f * g
    total = {k: g for k, g in total.items() if g}
    known = {(m, abs(g)) for t in a for x, _ in t for m, g in ring.keys[x][1]}
    if any((m, abs(g)) not in known for angle, _ in total for m, g in angle):
        return a
    ops = {True: Op.SIN, False: Op.COS}
    return {((ring.wave(ops[sine], angle), 1),) if angle else (): g for (angle, sine), g in total.items()}


def _waves(ring: Ring, m: Monomial) -> dict[_Wave, Fraction]:
    """A product of sines and cosines as a sum of them; each product is found once, from that with one factor less."""
    if m not in ring.waves:
        if not m:
            return {((), False): Fraction(1)}
        *rest, (x, p) = m
        fewer = _waves(ring, (*rest, (x, p - 1)) if p > 1 else tuple(rest))
        ring.waves[m] = _wave_product(ring, fewer, ring.keys[x][1], sine=ring.keys[x][0] == Op.SIN)
    return ring.waves[m]


def _wave_product(ring: Ring, waves: dict[_Wave, Fraction], angle: Angle, *, sine: bool) -> dict[_Wave, Fraction]:
    """Waves times a sine or a cosine."""
    total: dict[_Wave, Fraction] = {}
    for (other, is_sine), f in waves.items():
        for sign in (1, -1):  # other + angle, other - angle
            terms = dict(other)
            for m, g in angle:
                terms[m] = terms.get(m, Fraction(0)) + sign * g
            new, turned = _turned(_ordered(ring, ((m, g) for m, g in terms.items() if g)))
            wave = new, is_sine != sine
            g = f / 2 * (1 if not sine or (sign == -1 if is_sine else sign == 1) else -1)
            g = -g if wave[1] and turned else g
            if new or not wave[1]:
                total[wave] = total.get(wave, Fraction(0)) + g
    return total
