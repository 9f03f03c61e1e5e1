"""Sums written as products: common factors taken out where that is shorter to read.

Of several common factors each is tried in small sums; what is left is divided by the bracket that was found, so that
``m2*l2 + m3*l2 + ...`` becomes ``(m2 + m3)*(l2 + ...)``. Squares of sums are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from kineta.expr.op import Op
from kineta.notation.printed_numbers import is_fraction
from kineta.notation.rationals import Fraction
from kineta.notation.readable import polynomials
from kineta.notation.readable.angles import forms
from kineta.notation.readable.polynomials import (
    ONE,
    POWERS,
    Monomial,
    Sum,
    added,
    content,
    inverse,
    join,
    monomial,
    power,
    scaled,
    weak_quotient,
)
from kineta.notation.readable.reading_cost import TreeCost
from kineta.notation.readable.ring import PI, Ring
from kineta.notation.readable.trees import EMPTY, Tree, product, raised, single, tree

#: Terms of a sum up to which several common factors are tried, how many of them, and terms up to which all are.
TRIED, WAYS, FEW = 14, 4, 6
#: Sums looked at, after which only the most shared factor is taken out, and after which sums stay as they are.
WORK, ENOUGH = 400, 1500
#: Sines and cosines at least in the mixed term of a square of products of such.
MIXED = 4
#: Sums within each other of which factors are taken out: a sum of a hundred powers has as many.
DEEPEST = 40


class Factoring:
    """The cheapest trees of sums over a *ring*, each found once."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.reading = TreeCost(ring, self.opened, self.arguments)
        self.cheapest = self.reading.cheapest
        self._opened: dict[int, Tree] = {}
        self._monomials: dict[tuple[Monomial, Fraction], Tree] = {}
        self._best: dict[frozenset[tuple[Monomial, Fraction]], Tree] = {}
        self._factored: dict[frozenset[tuple[Monomial, Fraction]], Tree] = {}
        self._parted: dict[frozenset[tuple[Monomial, Fraction]], Tree] = {}
        self._arguments: dict[frozenset[tuple[Monomial, Fraction]], Tree] = {}
        self._depth = 0

    def opened(self, x: int) -> Tree:
        """What a divisor, or the square of a root, is written as."""
        if x not in self._opened:
            a = self.ring.sums[x]
            self._opened[x] = self.cheapest((self.best(a), self.with_differences(a)))
        return self._opened[x]

    def with_differences(self, a: Sum) -> Tree:
        """*a* with squares completed where that leaves fewer terms: x^2 - 2 x y + y^2, a distance or a stretch, is one."""
        rows = list[Tree]()
        for m in a:
            for x, p in m:
                found = self._square(a, m, x) if p == 2 and m in a else None
                if found is not None:
                    square, a = found
                    rows.append(square)
        return tree([*(t for row in rows for t in row), *(self.best(a) if a else EMPTY)])

    def _square(self, a: Sum, m: Monomial, x: int) -> tuple[Tree, Sum] | None:
        """The square that the term *m* of *a* and those linear in *x* begin, and what is left of *a*; None where that is more."""
        f, outer = a[m], join(m, ((x, -2),))
        of = join(outer, ((x, 1),))
        cross = {k: g / (2 * f) for n, g in a.items() if power(n, x) == 1 for k in (join(n, inverse(of)),)}
        cross = {k: g for k, g in cross.items() if g.denominator == 1 and all(p > 0 for _, p in k)}
        if not cross:
            return None
        line = {((x, 1),): ONE, **cross}
        left = added(a, scaled(self.ring.product(line, line), outer), -f)
        return (product(self.monomial(outer, f), raised(self.plain(line), 2)), left) if len(left) < len(a) else None

    def best(self, a: Sum) -> Tree:
        """The cheapest tree of a sum: its sines and cosines in several forms, factors taken out of each."""
        return _once(self._best, a, lambda: self.cheapest(self.factored(form) for form in forms(self.ring, a)))

    def factored(self, a: Sum) -> Tree:
        """*a* with common factors taken out where that is shorter; functions are letters here."""
        return _once(self._factored, a, lambda: self._factored_anew(a) if len(a) > 1 else self.plain(a))

    def arguments(self, x: int) -> list[Tree]:
        """What stands in the brackets of a function."""
        kind, *inside = self.ring.keys[x]
        op, sums = inside if kind == "call" else (kind, inside)
        written = self._compared if op == Op.STEP else self._argument
        return [written(dict(a)) for a in sums]

    def _argument(self, a: Sum) -> Tree:
        """*a* as a whole line: what has a number beside letters stays a sum where that is shorter, ``3*q - 0.1``, and wherever
        this is a part of a turn, ``2*pi*f*t + pi/3``.
        """
        return _once(self._arguments, a, lambda: self._argument_anew(a) if len(a) > 1 else self.plain(a))

    def _argument_anew(self, a: Sum) -> Tree:
        numbers = [m for m in a if self.ring.numerical(m) is not None]
        if any(self.ring.keys[x] == ("symbol", PI) for m in numbers for x, _ in m):
            return self.plain(a)
        return self.cheapest((self.factored(a), *((self.plain(a),) if numbers else self._parted_ways(a))), whole=True)

    def _compared(self, a: Sum) -> Tree:
        """*a* as what is compared with nought: as a product beside a number, which stands on the other side."""
        beside = {m: f for m, f in a.items() if m}
        return tree([*self.factored(beside), *self.plain({m: f for m, f in a.items() if not m})])

    def parted(self, a: Sum) -> Tree:
        """*a* as a sum of products, by each of the factors that most terms share."""
        divided = len(a) > 1 and len(self._parted) < ENOUGH and self._depth < DEEPEST
        self._depth += 1
        try:
            return _once(self._parted, a, lambda: self._parted_anew(a) if divided else self.plain(a))
        finally:
            self._depth -= 1

    def plain(self, a: Sum) -> Tree:
        """All terms as they are."""
        return tree(t for m, f in a.items() for t in self.monomial(m, f))

    def monomial(self, m: Monomial, f: Fraction = ONE) -> Tree:
        """A product of atoms, divisors written as sums, a letter times its sign as its absolute value."""
        found = self._monomials.get((m, f))
        if found is None:
            found = self._monomials[m, f] = self._monomial(m, f)
        return found

    def _monomial(self, m: Monomial, f: Fraction) -> Tree:
        ring, rows = self.ring, list[Tree]()
        for x, p in self._with_absolute_values(m):
            if ring.keys[x][0] == "divisor":
                rows.append(raised(self.opened(x), p))
            elif ring.keys[x][0] == "root" and p % 2 == 0:
                rows.append(raised(self.opened(x), p // 2))
            else:
                rows.append(single(Fraction(1), (x, p)))
        return product(single(f), *rows)

    def _with_absolute_values(self, m: Monomial) -> list[tuple[int, int]]:
        ring, rest = self.ring, dict(m)
        for x in [x for x, _ in m if ring.keys[x][0] == "sign"]:
            ((((y, _),), _),) = ring.keys[x][1]
            if power := rest.get(y, 0):
                step = 1 if power > 0 else -1
                size = ring.atom(("call", Op.ABS, (ring.keys[x][1],)), ring.kind[x])
                rest = {k: v for k, v in {**rest, y: power - step}.items() if k != x and v} | {size: step}
        return list(rest.items())

    def _factored_anew(self, a: Sum) -> Tree:
        f, m = self.shared(a)
        common = self._shown(m, a)
        ways = [self.parted(a)]
        if m != common and len(a) <= TRIED:
            ways.append(product(self.monomial(m), self.parted(self.ring.reduced(scaled(a, inverse(m))))))
        sign = Fraction(f.numerator // abs(f.numerator))
        numbers = {f, sign / f.denominator, Fraction(1)}
        if not all(map(is_fraction, a.values())):  # 9.81 is no fraction
            numbers = {f} if len({abs(g) for g in a.values()}) == 1 else {sign}
        for number in sorted(numbers, key=lambda g: (g == 1, -abs(g))):  # of two that cost the same the number in front
            if (common or number != 1) and _is_short(a, number):
                inner = self.parted(scaled(a, inverse(common), 1 / number))
                ways.append(product(self.monomial(common, number), inner))
        return self.cheapest(ways)

    def _parted_anew(self, a: Sum) -> Tree:
        for n, sign in ((2, 1), (2, -1), *((n, 1) for n in POWERS[1:])):
            if (root := polynomials.power_root(scaled(a, (), Fraction(sign)), n)) is not None:
                return product(single(Fraction(sign)), raised(self.factored(root), n))
        return self.cheapest([*self._parted_ways(a), *self._with_squares_of_waves(a)])

    def _with_squares_of_waves(self, a: Sum) -> Iterator[Tree]:
        """*a* with the square of a sum of two products of sines and cosines, where that leaves fewer terms: what is left of one
        by a cosine of the angle between two directions, ``1 - (sin(a)*sin(b)*cos(c) + cos(a)*cos(b))^2``.
        """
        ring = self.ring
        mixed = [(m, [x for x, p in m if p == 1 and ring.keys[x][0] in (Op.SIN, Op.COS)]) for m in a]
        mixed = [(m, waves) for m, waves in mixed if len(waves) >= MIXED]
        if not mixed or not 2 < len(a) <= TRIED:
            return
        plain = ring.reduced(a)
        for m, waves in mixed:
            outer = tuple(row for row in m if row[0] not in waves)
            sines = {x: x if ring.keys[x][0] == Op.SIN else ring.partner(x) for x in waves}
            for k in range(1, len(waves)):
                for one in combinations(waves[1:], k):
                    pair = one, tuple(x for x in waves if x not in one)
                    if not all(join(outer, monomial({sines[x]: 2 for x in half})) in plain for half in pair):
                        continue
                    first, second = (monomial(dict.fromkeys(half, 1)) for half in pair)
                    for sign in (ONE, -ONE):
                        line, g = {first: ONE, second: sign}, a[m] * sign / 2
                        left = added(plain, scaled(ring.product(line, line), outer), -g)
                        if len(left) < len(a) - 2:
                            square = product(self.monomial(outer, g), raised(self.best(line), 2))
                            yield tree([*square, *(self.parted(left) if left else EMPTY)])

    def _parted_ways(self, a: Sum) -> list[Tree]:
        ways = [self.plain(a)]
        counts: dict[tuple[int, int], int] = {}
        for m in a:
            for x, p in m:
                key = x, 1 if p > 0 else -1
                counts[key] = counts.get(key, 0) + 1
        shared = sorted((k for k, n in counts.items() if n > 1), key=lambda k: (-counts[k], k))
        tried = 1 if len(a) > TRIED or len(self._parted) >= WORK else WAYS if len(a) > FEW else len(shared)
        for x, sign in shared[:tried]:
            least = min(power(m, x) * sign for m in a)  # above nought for a factor of the whole
            inside = {m: f for m, f in a.items() if power(m, x) * sign > max(least, 0)}
            if len(inside) < 2:
                continue
            f, m = written_content(inside)
            m = self._shown(m, inside)
            core = scaled(inside, inverse(m), 1 / f)
            more, left = weak_quotient({n: g for n, g in a.items() if n not in inside}, core)
            outside = self.factored(added({m: f}, more))
            beside = dict.fromkeys((self.factored(left), self.parted(left))) if left else (EMPTY,)
            ways += [tree([*product(outside, self.factored(core)), *t]) for t in beside]
        return ways

    def shared(self, a: Sum) -> tuple[Fraction, Monomial]:
        """The content of a sum, without roots, and names of such, that stand below the bar of some of its terms alone: these are
        not brought on one denominator.
        """
        f, m = content(a)
        return f, tuple((x, p) for x, p in m if p > 0 or not self.ring.is_root(x) or all(power(n, x) < 0 for n in a))

    def _shown(self, m: Monomial, a: Sum) -> Monomial:
        """The factors of a common monomial *m* of *a* that are written in front: divisors only of all terms."""
        return tuple((x, p) for x, p in m if p > 0 or all(power(n, x) < 0 for n in a))


def _is_short(a: Sum, number: Fraction) -> bool:
    """Whether few terms of *a* over a number below a bar are multiplied: not those of x'^2/2 + y'^2/2 + z'^2/24 by 12."""
    grown = sum(abs(g / number) > abs(g.numerator) for g in a.values())
    return number.denominator <= 2 or 2 * grown <= len(a)


def written_content(a: Sum) -> tuple[Fraction, Monomial]:
    """The number and the factors that all terms share; of 9.81 and 1 they share no hundredth."""
    f, m = content(a)
    if len({abs(g) for g in a.values()}) > 1 and not all(map(is_fraction, a.values())):
        f = Fraction(f.numerator // abs(f.numerator))
    return f, m


def _once(found: dict[frozenset[tuple[Monomial, Fraction]], Tree], a: Sum, make: Callable[[], Tree]) -> Tree:
    key = frozenset(a.items())
    if key not in found:
        found[key] = make()
    return found[key]
