"""Powers with names in their exponents: those of one base are one power, r^(n - 1)/(r^n)^2 = 1/r^(n + 1)."""

from __future__ import annotations

from kineta.expr.op import Op
from kineta.notation.rationals import Fraction
from kineta.notation.readable.polynomials import Monomial, Sum, add, added, monomial, scaled
from kineta.notation.readable.ring import Ring
from kineta.notation.typesetting import composed_kind

#: Atoms of powers, with their bases and exponents.
Powers = dict[int, tuple[Sum, Sum]]


def symbolic_power(ring: Ring, base: Sum, exponent: Sum) -> int:
    """The atom of the power of a sum; its kind is that of the fastest name in both."""
    rows = (base, exponent)
    kind = composed_kind(Op.POW, ring.fastest(m for row in rows for m in row))
    return ring.atom(("call", Op.POW, tuple(frozenset(row.items()) for row in rows)), kind)


def joined_powers(ring: Ring, a: Sum, powers: Powers) -> Sum:
    """The sum *a* with the *powers* of one base in a term as one; those that are made are added to *powers*."""
    total: Sum = {}
    for m, f in a.items():
        add(total, _joined(ring, m, powers), f)
    return {m: f for m, f in total.items() if f}


def _joined(ring: Ring, m: Monomial, powers: Powers) -> Monomial:
    """A product with the powers of one base as one."""
    left, exponents = dict(m), dict[frozenset[tuple[Monomial, Fraction]], Sum]()
    for x, _ in m:
        if x in powers:
            base, exponent = powers[x]
            key = frozenset(base.items())
            exponents[key] = added(exponents.get(key, {}), scaled(exponent, (), Fraction(left.pop(x))))
    for key, sum_of_powers in exponents.items():
        exponent, base = dict(sum_of_powers), dict(key)
        atom = _only_atom(base)
        if atom is not None and atom in left:
            exponent = added(exponent, {(): Fraction(left.pop(atom))})
        whole = exponent.get((), Fraction(0)) if exponent.keys() <= {()} else None
        if whole is not None and atom is not None and whole.denominator == 1:
            left[atom] = int(whole)
        elif exponent:
            sign = -1 if all(f < 0 for n, f in exponent.items() if n) else 1
            exponent = scaled(exponent, (), Fraction(sign))
            x = symbolic_power(ring, base, exponent)
            powers[x] = base, exponent
            left[x] = left.get(x, 0) + sign
    return monomial(left)


def _only_atom(base: Sum) -> int | None:
    """The atom that a sum is, if it is one."""
    if len(base) != 1:
        return None
    ((m, f),) = base.items()
    return m[0][0] if f == 1 and len(m) == 1 and m[0][1] == 1 else None
