"""Fractions of readable forms are those of Python, in their own class."""

from __future__ import annotations

import fractions
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from kineta.notation.rationals import Fraction

VALUES = [(0, 1), (1, 1), (-1, 1), (3, 1), (-4, 1), (1, 2), (-2, 3), (7, 5)]
OPERATIONS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.eq,
    operator.lt,
    operator.gt,
    operator.le,
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_those_of_fractions(operation: Callable[[Any, Any], Any]) -> None:
    for (a, b), (c, d) in product(VALUES, VALUES):
        for other in (Fraction(c, d), fractions.Fraction(c, d), *([c] if d == 1 else [])):
            for x, y in ((Fraction(a, b), other), (other, Fraction(a, b))):
                if operation is operator.truediv and y == 0:
                    continue
                plain = [fractions.Fraction(z.numerator, z.denominator) for z in (x, y)]
                found, expected = operation(x, y), operation(*plain)
                assert found == expected
                assert isinstance(found, bool) or type(found) is Fraction


def test_signs_hashes_and_powers_are_those_of_fractions() -> None:
    for n, d in VALUES:
        own, plain = Fraction(n, d), fractions.Fraction(n, d)
        assert (-own, abs(own), own**2, bool(own), hash(own), str(own)) == (
            -plain,
            abs(plain),
            plain**2,
            bool(plain),
            hash(plain),
            str(plain),
        )
