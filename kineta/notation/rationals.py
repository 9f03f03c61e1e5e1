"""Fractions with quick ways for whole numbers, which most coefficients of equations are."""

from __future__ import annotations

import fractions
from typing import Any

_new = object.__new__


def _whole(n: int) -> Fraction:
    found = _new(Fraction)
    found._numerator, found._denominator = n, 1
    return found


def _exact(x: Any) -> Any:
    """The fraction *x* in this class; anything else as it is."""
    if type(x) is not fractions.Fraction:
        return x
    found = _new(Fraction)
    found._numerator, found._denominator = x.numerator, x.denominator
    return found


class Fraction(fractions.Fraction):
    """A fraction whose sums, products and comparisons with whole fractions take no greatest common divisor."""

    __slots__ = ()
    _numerator: int
    _denominator: int

    def __mul__(self, other: Any) -> Any:
        if type(other) is Fraction and self._denominator == 1 == other._denominator:
            return _whole(self._numerator * other._numerator)
        return _exact(super().__mul__(other))

    def __rmul__(self, other: Any) -> Any:
        return _exact(super().__rmul__(other))

    def __add__(self, other: Any) -> Any:
        if type(other) is Fraction and self._denominator == 1 == other._denominator:
            return _whole(self._numerator + other._numerator)
        return _exact(super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return _exact(super().__radd__(other))

    def __sub__(self, other: Any) -> Any:
        return _exact(super().__sub__(other))

    def __rsub__(self, other: Any) -> Any:
        return _exact(super().__rsub__(other))

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Fraction and self._denominator == 1 == other._denominator:
            if other._numerator == 1:
                return self
            if other._numerator == -1:
                return _whole(-self._numerator)
        return _exact(super().__truediv__(other))

    def __rtruediv__(self, other: Any) -> Any:
        if type(other) is int and self._denominator == 1 and (self._numerator == 1 or self._numerator == -1):
            return _whole(other * self._numerator)
        return _exact(super().__rtruediv__(other))

    def __pow__(self, other: Any) -> Any:
        return _exact(super().__pow__(other))

    def __neg__(self) -> Any:
        found = _new(Fraction)
        found._numerator, found._denominator = -self._numerator, self._denominator
        return found

    def __abs__(self) -> Any:
        return self if self._numerator >= 0 else -self

    def __eq__(self, other: object) -> bool:
        if type(other) is Fraction:
            return self._numerator == other._numerator and self._denominator == other._denominator
        return super().__eq__(other)

    def __lt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator < other * self._denominator
        return super().__lt__(other)

    def __gt__(self, other: Any) -> bool:
        if type(other) is int:
            return self._numerator > other * self._denominator
        return super().__gt__(other)

    def __bool__(self) -> bool:
        return self._numerator != 0

    def __hash__(self) -> int:  # type: ignore[override]  # the stubs of complex numbers have none
        return hash(self._numerator) if self._denominator == 1 else super().__hash__()
