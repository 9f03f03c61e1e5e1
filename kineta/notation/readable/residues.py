"""Sums at places where their atoms are numbers modulo a prime: what is no multiple of a divisor is told there."""

from __future__ import annotations

from kineta.expr.op import Op
from kineta.notation.readable.polynomials import ONE, PRIME, Sum, power, residue
from kineta.notation.readable.ring import Ring

#: Places that are tried for one where all roots are numbers.
PLACES = 8


def may_be_multiple(ring: Ring, a: Sum, d: Sum) -> bool:
    """Whether *a* is nought at a place modulo a prime where *d* is, as a multiple is; True, too, where no such place is found."""
    letter = _linear_letter(ring, d)
    if letter is None:
        return True
    for k in range(1, PLACES + 1):
        place = _Residues(ring, k)
        place.values[letter] = None
        slope = place.value({tuple(row for row in m if row[0] != letter): f for m, f in d.items() if power(m, letter)})
        rest = place.value({m: f for m, f in d.items() if not power(m, letter)})
        if not slope or rest is None:
            continue
        place.values[letter] = -rest * pow(slope, -1, PRIME) % PRIME
        if (found := place.value(a)) is not None:
            return found == 0
    return True


def _linear_letter(ring: Ring, d: Sum) -> int | None:
    """A symbol that the terms of *d* have once or not at all."""
    powers: dict[int, set[int]] = {}
    for m in d:
        for x, p in m:
            powers.setdefault(x, set()).add(p)
    free = {x for x, own in powers.items() if own == {1} and ring.keys[x][0] == "symbol"}
    return min((free - ring.vectors.keys()).difference(*ring.vectors.values()), default=None)


class _Residues:
    """Values of the atoms of a *ring* modulo the prime, by which all relations between them hold; the *k*-th of many.

    values : what has been asked for; None for what has no value here
    """

    def __init__(self, ring: Ring, k: int) -> None:
        self.ring = ring
        self._k = k
        self.values: dict[int, int | None] = {}

    def value(self, a: Sum) -> int | None:
        """The value of a sum."""
        return residue(a, self._atom)

    def _atom(self, x: int) -> int | None:
        if x not in self.values:
            self.values[x] = self._atom_anew(x)
        return self.values[x]

    def _atom_anew(self, x: int) -> int | None:
        ring, what = self.ring, self.ring.keys[x][0]
        if what == "divisor":
            return self.value(ring.sums[x])
        if what == "root":
            return _root(self.value(ring.sums[x]))
        if what == "sign":
            return 1
        if x in ring.vectors:
            return _root(self.value({(): ONE, **{((y, 2),): -ONE for y in ring.vectors[x]}}))
        if what == Op.COS:
            x = ring.partner(x)
        own = (self._k * 1_000_003 + (x + 1) * 7919) ** 3 % PRIME
        if what not in (Op.SIN, Op.COS):
            return own
        below = pow(1 + own * own, -1, PRIME)
        return (2 * own if what == Op.SIN else 1 - own * own) * below % PRIME


def _root(value: int | None) -> int | None:
    """The square root of a value, where it has one: the prime is 3 modulo 4."""
    found = None if value is None else pow(value, (PRIME + 1) // 4, PRIME)
    return found if found is not None and found * found % PRIME == value else None
