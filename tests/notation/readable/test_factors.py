"""Sums that are squares of sums, and quadratic forms that are products of linear ones."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from kineta.notation.readable.linear_factors import linear_factors
from kineta.notation.readable.polynomials import POWERS, UNITY, Sum, added, monomial, power_root
from kineta.notation.readable.ring import Ring
from kineta.notation.typesetting import FactorKind

KINDS = {n: (FactorKind.PARAMETER, k) for k, n in enumerate("abc")} | {
    "p[x]": (FactorKind.SPEED, 0),
    "p[y]": (FactorKind.SPEED, 1),
}


def _sum(ring: Ring, rng: random.Random, atoms: list[int], terms: int) -> Sum:
    """A random sum of products of *atoms*."""
    return {
        monomial({x: rng.randint(0, 1) for x in atoms}): Fraction(rng.choice((-2, -1, 1, 3)), rng.choice((1, 2)))
        for _ in range(terms)
    }


@pytest.mark.parametrize("seed", range(20))
def test_the_root_of_a_power_is_found(seed: int) -> None:
    ring, rng = Ring(KINDS), random.Random(seed)
    n = POWERS[seed % len(POWERS)]
    a = _sum(ring, rng, [ring.symbol(n) for n in "abc"], 4 if n == 2 else 3)
    raised = UNITY
    for _ in range(n):
        raised = ring.product(raised, a)
    found = power_root(raised, n)
    assert found is None if len(a) < 2 else found in (a, {m: -f for m, f in a.items()})
    if len(a) > 1:
        assert power_root(added(raised, {monomial({ring.symbol("c"): 23}): Fraction(1)}), n) is None


@pytest.mark.parametrize("seed", range(20))
def test_products_of_linear_forms_are_found(seed: int) -> None:
    ring, rng = Ring(KINDS), random.Random(seed)
    x, y = ring.symbol("p[x]"), ring.symbol("p[y]")
    letters = [ring.symbol(n) for n in "abc"]
    rows = [[_sum(ring, rng, letters, n) for n in (1, 2)] for _ in range(2)]
    forms = [added(_times(ring, u, x), _times(ring, v, y)) for u, v in rows]
    a = ring.product(*forms)
    if {ring.fast_factors(m) for m in a} == {((x, 2),), ((x, 1), (y, 1)), ((y, 2),)}:
        found = linear_factors(ring, a)
        assert found is not None
        slow, one, other = found
        assert ring.product(slow, ring.product(one, other)) == a
        assert all({ring.fast_factors(m) for m in form} == {((x, 1),), ((y, 1),)} for form in (one, other))
    a[monomial({x: 2, letters[0]: 9})] = Fraction(1)
    assert linear_factors(ring, ring.reduced(a)) is None


def _times(ring: Ring, a: Sum, x: int) -> Sum:
    return ring.product(a, {((x, 1),): Fraction(1)})
