"""Atoms and products of sums of them, reduced by cos^2 = 1 - sin^2, by w^2 = 1 - x^2 - y^2 - z^2 of unit quaternions, and
by what roots and divisors stand for.

Atoms are symbols, sines and cosines of angles, roots, other functions, and divisors: sums that something was divided by.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

from kineta.expr.op import Op
from kineta.notation.rationals import Fraction
from kineta.notation.readable.polynomials import ONE, TERMS, UNITY, LongFormError, Monomial, Sum, add, join
from kineta.notation.typesetting import FactorKind, Kinds, composed_kind, kind_of

#: The name of the ratio of a circle's circumference to its diameter, which no other quantity has.
PI = "pi"

#: An angle: numbers by what they multiply.
Angle = tuple[tuple[Monomial, Fraction], ...]

#: What an atom is: ("symbol", name), (Op.SIN or Op.COS, angle), ("root" or "divisor", terms), ("call", operation, arguments),
#: ("number", value); ("sign", terms): the sign of what is not zero; ("opposite", terms): one less a condition.
Key = tuple[Any, ...]


class Ring:
    """Atoms by number, and products of sums.

    kinds : kinds of the names
    roots : names of roots
    keys, kind : for every atom what it is, and its kind
    sums : what divisors are, and the squares of roots
    basis : the angles that all others are sums of
    waves : products of sines and cosines as sums of them, where they have been asked for: angles, and whether they have sines
    vectors : for the first entries of unit quaternions the others
    keeps : whether angles of the basis keep the numbers that are added to them, ``q - pi/6``; shifted : whether some have these
    """

    def __init__(
        self, kinds: Kinds, *, keeps: bool = False, quaternions: Iterable[str] = (), roots: Collection[str] = ()
    ) -> None:
        self.kinds = kinds
        self.roots = roots
        self.keeps, self.shifted = keeps, False
        self.keys: list[Key] = []
        self.kind: list[FactorKind] = []
        self.sums: dict[int, Sum] = {}
        self.basis: list[Angle] = []
        self.waves: dict[Monomial, dict[tuple[Angle, bool], Fraction]] = {}
        self._index: dict[Key, int] = {}
        self.vectors = {self.symbol(f"{n}.qw"): [self.symbol(f"{n}.q{axis}") for axis in "xyz"] for n in quaternions}

    def atom(self, key: Key, kind: FactorKind) -> int:
        """The atom of a key."""
        if key not in self._index:
            self._index[key] = len(self.keys)
            self.keys.append(key)
            self.kind.append(kind)
        return self._index[key]

    def known(self, key: Key) -> int | None:
        """The atom of a key, if there is one."""
        return self._index.get(key)

    def symbol(self, name: str, kind: FactorKind | None = None) -> int:
        """The atom of a symbol."""
        return self.atom(("symbol", name), kind_of(name, self.kinds)[0] if kind is None else kind)

    def number(self, value: float) -> int:
        """The atom of a number that is no fraction."""
        return self.atom(("number", value), FactorKind.NUMBER)

    def numerical(self, m: Monomial) -> float | None:
        """The value of a monomial of numbers alone; None for others."""
        values = [self._numerical(x) for x, _ in m]
        return None if None in values else math.prod(v**p for v, (_, p) in zip(values, m, strict=True) if v is not None)

    def _numerical(self, x: int) -> float | None:
        what, *given = self.keys[x]
        if what == "root" and self.kind[x] == FactorKind.NUMBER:
            terms = [(f, self.numerical(m)) for m, f in self.sums[x].items()]
            return math.sqrt(sum(float(f) * v for f, v in terms if v is not None))
        return math.pi if self.keys[x] == ("symbol", PI) else float(given[0]) if what == "number" else None

    def wave(self, op: Op, angle: Angle) -> int:
        """The sine or cosine of an angle whose first number is positive."""
        return self.atom((op, angle), composed_kind(op, self.fastest(m for m, _ in angle)))

    def root(self, a: Sum) -> int:
        """The square root of a sum."""
        x = self.atom(("root", frozenset(a.items())), composed_kind(Op.SQRT, self.fastest(a)))
        self.sums[x] = a
        return x

    def sign(self, y: int) -> int:
        """The sign of an atom that is not zero."""
        key = frozenset({((y, 1),): Fraction(1)}.items())
        return self.atom(("sign", key), composed_kind(Op.SIGN, self.kind[y]))

    def opposite(self, a: Sum) -> Sum:
        """One less a condition, which is not written out."""
        for m, f in a.items() if len(a) == 1 else ():
            if f == ONE and len(m) == 1 and m[0][1] == 1 and self.keys[m[0][0]][0] == "opposite":
                return dict(self.keys[m[0][0]][1])
        x = self.atom(("opposite", frozenset(a.items())), composed_kind(Op.STEP, self.fastest(a)))
        return {((x, 1),): ONE}

    def partner(self, x: int) -> int:
        """The cosine of a sine, the sine of a cosine."""
        op, angle = self.keys[x]
        return self.wave(Op.COS if op == Op.SIN else Op.SIN, angle)

    def fastest(self, terms: Iterable[Monomial]) -> FactorKind:
        """The highest kind among the factors of *terms*."""
        return max((self.kind[x] for m in terms for x, _ in m), default=FactorKind.NUMBER)

    def fast_factors(self, m: Monomial) -> Monomial:
        """Speeds, forces and accelerations of a monomial."""
        return tuple((x, p) for x, p in m if not self.is_slow(x))

    def is_slow(self, x: int) -> bool:
        """Whether an atom is no speed, force or acceleration by itself."""
        return self.keys[x][0] != "symbol" or self.kind[x] < FactorKind.SPEED

    def is_root(self, x: int) -> bool:
        """Whether an atom is a root, or the name of one."""
        kind, *inside = self.keys[x]
        return kind == "root" or (kind == "symbol" and inside[0] in self.roots)

    def is_place(self, x: int) -> bool:
        """Whether an atom is a coordinate or a function of coordinates."""
        return self.kind[x] in (FactorKind.POSITION, FactorKind.FUNCTION)

    def product(self, a: Sum, b: Sum) -> Sum:
        """The product, reduced."""
        if len(a) * len(b) > 40 * TERMS:
            raise LongFormError
        total: Sum = {}
        for m, f in a.items():
            for n, g in b.items():
                k, h = join(m, n), f if g is ONE else g if f is ONE else f * g
                relation = self._relation_in(k)
                if relation is None:
                    add(total, k, h)
                else:
                    power, value = relation
                    for j, share in self.product({join(k, (power,)): ONE}, value).items():
                        add(total, j, h if share is ONE else share * h)
        total = {m: f for m, f in total.items() if f}
        if len(total) > TERMS:
            raise LongFormError
        return total

    def _relation_in(self, m: Monomial) -> tuple[tuple[int, int], Sum] | None:
        """What the first reducible power of a monomial is reduced by."""
        for x, p in m:
            if (p != 1 or self.keys[x][0] == "divisor") and (found := self._relation(x, p)):
                return found
        return None

    def _relation(self, x: int, p: int) -> tuple[tuple[int, int], Sum] | None:
        """What a power of an atom is reduced by: the power taken away, and its value."""
        kind = self.keys[x][0]
        if kind == Op.COS and p > 1:
            return (x, -2), {(): ONE, ((self.partner(x), 2),): -ONE}
        if kind == "root" and p > 1:
            return (x, -2), self.sums[x]
        if p > 1 and x in self.vectors:
            return (x, -2), {(): ONE} | {((y, 2),): -ONE for y in self.vectors[x]}
        if kind == "root" and p < 0 and self.kind[x] == FactorKind.NUMBER:
            return (x, 2), {m: 1 / f for m, f in self.sums[x].items()}
        if kind == "divisor" and p > 0:
            return (x, -1), self.sums[x]
        if kind == "sign" and p != 1:
            return (x, -2 if p > 0 else 2), UNITY
        return None

    def reduced(self, a: Sum) -> Sum:
        """A sum whose terms may have become reducible."""
        return self.product(a, UNITY)
