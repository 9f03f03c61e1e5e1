"""Numbers in print: fractions, short decimals, roots of small numbers, multiples of pi; one style for lines read together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import Enum, auto
from fractions import Fraction

from kineta.records import dataclass

#: Largest denominator of a number written as a fraction whatever it is, larger ones of few numerators, and the largest of a
#: fraction that is no decimal number.
DENOMINATOR, HALVES, THIRDS = 12, (16, 24, 32, 48, 64), 1000
#: Largest numerator of a fraction with such a denominator that is written in the place of a short decimal, and before a root.
NUMERATOR = 24
#: Largest denominator of a multiple of pi: a degree.
DEGREES = 180
#: Most characters of a decimal that somebody typed; longer ones were computed.
LONG = 14
#: Sizes of numbers whose squares are no longer exact, and whole numbers whose square factors are not sought.
UNDERFLOW, MOST = 1e-6, 100_000


def short_decimal(value: float) -> float:
    """The decimal number of fewest digits within rounding error of *value*, or *value* itself."""
    for digits in range(1, 13):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= 4 * math.ulp(value):
            return short
    return value


def is_fraction(f: Fraction) -> bool:
    """Whether a number is written as a fraction, and not as the decimal number that it is."""
    q = f.denominator
    if q == 1 or ((q <= DENOMINATOR or q in HALVES) and abs(f.numerator) <= NUMERATOR):
        return True
    while q % 2 == 0:
        q //= 2
    while q % 5 == 0:
        q //= 5
    return q > 1 and f.denominator <= THIRDS


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number as printed: *number*, a fraction or a decimal, times the root of *radicand*, times a power of pi, 1 or -1 or 0."""

    number: Fraction | float
    radicand: int = 1
    circle: int = 0


def multiple_of_pi(value: float) -> tuple[Fraction, int] | None:
    """The fraction of *value* and pi to a power, 1 or -1: 2/3 and 1 of 2.0943951023931953; None where there is no small one."""
    for power in (1, -1):
        turns = Fraction(value / math.pi**power).limit_denominator(DEGREES)
        if turns and abs(float(turns) * math.pi**power - value) <= 4 * math.ulp(value):
            return turns, power
    return None


def exact_root(value: float) -> tuple[Fraction, int] | None:
    """The fraction and the whole number under a root whose product *value* is: sqrt(3)/2 of 0.8660254037844386; None where
    there are no small ones.
    """
    if len(repr(short_decimal(value))) <= LONG or not UNDERFLOW < abs(value) < 1 / UNDERFLOW:
        return None
    square = Fraction(value * value).limit_denominator(DENOMINATOR * DENOMINATOR)
    n, q = square.numerator * square.denominator, square.denominator  # value = sqrt(n)/q
    outside = next((k for k in range(math.isqrt(n), 1, -1) if n % (k * k) == 0), 1) if 0 < n < MOST else 0
    found = Fraction(outside, q)
    if (
        not found
        or found.numerator > NUMERATOR
        or abs(float(found) * math.sqrt(n // outside**2) - abs(value)) > 4 * math.ulp(value)
    ):
        return None
    return (found if value > 0 else -found), n // outside**2


def printed_number(value: float, *, of_letters: bool = False, measured: bool = False) -> PrintedNumber:
    """*value* as printed: a fraction if this is shorter than its digits, and in an equation *of letters* wherever a book has one,
    though tenths that are *measured*, as in 0.1 q', as decimals; roots of small numbers and multiples of pi as such.
    """
    value = short_decimal(value)
    long = len(repr(value)) > LONG
    for most in (DENOMINATOR, THIRDS if long else max(HALVES)):
        fraction = Fraction(value).limit_denominator(most)
        if near := (abs(float(fraction) - value) <= 4 * math.ulp(value) and is_fraction(fraction)):
            break
    small = near and fraction.numerator <= NUMERATOR and not (measured and fraction.denominator % 5 == 0)
    if value == 0.5 or (of_letters and small and fraction.denominator > 1) or (long and near):
        return PrintedNumber(fraction)
    if long and (root := exact_root(value)) is not None:
        return PrintedNumber(*root)
    if long and (found := multiple_of_pi(value)) is not None:
        turns, power = found
        return PrintedNumber(turns, circle=power)
    return PrintedNumber(value)


#: Digits behind the point at most of a fraction that is written as a decimal beside decimals, and denominators of decimals that
#: are written as fractions beside thirds.
DIGITS, TWENTIETHS = 3, (20, 25, 40, 50)


class Style(Enum):
    """How numbers are written: each as it is shortest, all but halves as decimals, or all as fractions."""

    OWN = auto()
    DECIMAL = auto()
    FRACTION = auto()


class NumberStyle:
    """How the numbers of lines that are read together are written; it keeps which ones these are.

    ``of_letters`` is whether any of the lines has parameters; ``styles`` are those of numbers beside parameters, and of measured
    ones beside none.
    """

    def __init__(self, *, of_letters: bool = False, styles: tuple[Style, Style] = (Style.OWN, Style.OWN)) -> None:
        self.of_letters = of_letters
        self.styles = styles
        self.lettered: set[bool] = set()
        self.shown: tuple[set[Fraction | float], set[Fraction | float]] = (set(), set())

    def read(self, *, of_letters: bool) -> bool:
        """Whether a line that is itself *of letters*, or not, is written as such."""
        self.lettered.add(of_letters)
        return of_letters or self.of_letters

    def printed(self, value: float, *, of_letters: bool, measured: bool) -> PrintedNumber:
        """A positive *value* in this style, as :func:`printed_number` takes it."""
        found = printed_number(value, of_letters=of_letters, measured=measured)
        if found.radicand > 1 or found.circle:
            return found
        self.shown[measured].add(found.number)
        style = self.styles[measured]
        if style is Style.DECIMAL and _divided(found.number):
            return PrintedNumber(short_decimal(value))
        return PrintedNumber(_twentieths(found.number) or found.number) if style is Style.FRACTION else found

    def decided(self) -> NumberStyle | None:
        """The style of the lines that were written in this one; None where it is this one."""
        if len(self.lettered) > 1 and not self.of_letters:
            return NumberStyle(of_letters=True)
        if self.styles != (Style.OWN, Style.OWN):
            return None
        styles = _style(self.shown[False]), _style(self.shown[True])
        styles = styles[0], Style.DECIMAL if styles[0] is Style.DECIMAL else styles[1]
        return NumberStyle(of_letters=self.of_letters, styles=styles) if styles != self.styles else None


def _style(numbers: Iterable[Fraction | float]) -> Style:
    """The style of *numbers*: one that is no fraction, as 9.81, makes all decimals, unless one is no short decimal, as 1/3."""
    fractions = [x for x in numbers if _divided(x)]
    decimals = [x for x in numbers if isinstance(x, float) and not x.is_integer()]
    if not (fractions and decimals):
        return Style.OWN
    if all(x == round(x, DIGITS) for x in fractions):
        return Style.DECIMAL
    return Style.FRACTION if all(map(_twentieths, decimals)) else Style.OWN


def _divided(number: Fraction | float) -> bool:
    """Whether *number* is a fraction that is no half."""
    return isinstance(number, Fraction) and number.denominator > 1 and number != Fraction(1, 2)


def _twentieths(number: Fraction | float) -> Fraction | None:
    """A decimal as a fraction of small numerator and denominator; None where there is none."""
    fraction = Fraction(repr(number)) if isinstance(number, float) else number
    found = fraction.denominator in TWENTIETHS and fraction.numerator <= NUMERATOR
    return fraction if found and isinstance(number, float) else None


def in_one_style(lines: Callable[[NumberStyle], Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
    """*lines* with their numbers in one style."""
    style: NumberStyle | None = NumberStyle()
    while style is not None:
        written = list(lines(style))
        style = style.decided()
    return written
