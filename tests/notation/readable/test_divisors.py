"""Divisors of printed fractions: what cannot divide is not multiplied out."""

from __future__ import annotations

import random

import pytest

from kineta.expr.op import Op
from kineta.notation.rationals import Fraction
from kineta.notation.readable.divisors import quotient
from kineta.notation.readable.polynomials import ONE, Sum, added, monomial, spans
from kineta.notation.readable.residues import may_be_multiple
from kineta.notation.readable.ring import Ring
from kineta.notation.typesetting import FactorKind


def ring_of_a_link() -> tuple[Ring, Sum, Sum]:
    """A ring, and m l + J cos(q), m^2 l - J cos(q)."""
    ring = Ring({})
    m, length, J, q = (ring.symbol(name, FactorKind.PARAMETER) for name in ("m", "l", "J", "q"))
    c = ring.wave(Op.COS, ((((q, 1),), ONE),))
    turned = tuple(sorted(((J, 1), (c, 1))))
    return ring, {((m, 1), (length, 1)): ONE, turned: ONE}, {((m, 2), (length, 1)): ONE, turned: Fraction(-1)}


def test_a_quotient_is_found_where_cosines_are_multiplied_out() -> None:
    ring, a, b = ring_of_a_link()
    assert quotient(ring, ring.product(a, b), a) == b
    assert quotient(ring, ring.product(a, a), b) is None


def test_what_has_more_powers_of_a_symbol_is_no_divisor_and_is_not_multiplied_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring, a, b = ring_of_a_link()
    assert (spans(a)[0], spans(b)[0], spans(ring.product(a, b))[0]) == (1, 2, 3)
    monkeypatch.setattr(Ring, "product", lambda *_: pytest.fail("multiplied out"))
    assert quotient(ring, a, b) is None


@pytest.mark.parametrize("seed", range(6))
def test_multiples_are_nought_where_their_divisors_are_and_nothing_else_is(seed: int) -> None:
    rng = random.Random(seed)
    ring = Ring({}, quaternions=["b"])
    m, length, q = (ring.symbol(name, FactorKind.PARAMETER) for name in ("m", "l", "q"))
    s, c = (ring.wave(op, ((((q, 1),), ONE),)) for op in (Op.SIN, Op.COS))
    distance = ring.root({((length, 2),): ONE, ((s, 2),): ONE})
    ((w, (x, *_)),) = ring.vectors.items()

    def drawn() -> Sum:
        atoms = [length, s, c, distance, w, x]
        rows = [monomial({y: rng.randint(0, 1) for y in atoms}) for _ in range(4)]
        return ring.reduced({row: Fraction(rng.choice((-2, -1, 1, 3))) for row in rows})

    a, d = drawn(), added({((m, 1), (length, 1)): ONE}, drawn())
    product = ring.product(a, d)
    assert may_be_multiple(ring, product, d)
    assert not may_be_multiple(ring, added(product, {((s, 1),): ONE}), d)
