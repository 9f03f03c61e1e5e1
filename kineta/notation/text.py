"""Equations as plain text, one line per named part."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kineta.expr.op import Op
from kineta.records import dataclass

#: Points of a table up to which all are shown.
MANY = 8


def few(shown: Sequence[str], dots: str) -> Sequence[str]:
    """*shown*, or of many the first ones and the last one with *dots* between them."""
    return [*shown[: MANY // 2], dots, shown[-1]] if len(shown) > MANY else shown


@dataclass(frozen=True)
class Text:
    """The infix notation with + - * / ^, which is valid input for calculators. Sums fall from the highest derivatives, or with
    *rising* rise to them.
    """

    rising: bool = False

    def name(self, text: str) -> str:
        """A name as it is."""
        return text

    def number(self, value: float) -> str:
        """The shortest digits: 0.0025, 2.5e-5."""
        mantissa, e, exponent = repr(value).removesuffix(".0").partition("e")
        return f"{mantissa}e{int(exponent)}" if e else mantissa

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        """Terms with their signs."""
        (minus, first), *rest = terms
        return ("-" if minus else "") + first + "".join(f" {'-' if m else '+'} {s}" for m, s in rest)

    def product(self, number: Fraction | float, above: Sequence[str], below: Sequence[str]) -> str:
        """Factors and divisors."""
        p, q = (number.numerator, number.denominator) if isinstance(number, Fraction) else (number, 1)
        over = [self.number(float(p))] * (p != 1 or not above) + list(above)
        under = [str(q)] * (q != 1) + list(below)
        shown = "*".join(over)
        if not under:
            return shown
        return f"{shown}/{under[0]}" if len(under) == 1 else f"{shown}/({'*'.join(under)})"

    def power(self, base: str, exponent: str) -> str:
        """A power; a base other than a name or number has brackets."""
        return f"{base}^{exponent if exponent.replace('.', '').isalnum() else self.brackets(exponent)}"

    def brackets(self, inside: str) -> str:
        """A sum in brackets."""
        return f"({inside})"

    def call(self, op: Op, arguments: Sequence[str], power: int, bare: bool) -> str:
        """A function, optionally with a power."""
        name = op.name.lower()
        return f"{name}({', '.join(arguments)})" + (f"^{power}" if power != 1 else "")

    def table(self, quantity: str, order: int, words: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table by its points, the first ones and the last one of many."""
        points = few([f"({', '.join(few(row, '...'))})" for row in rows], "...")
        return f"table{chr(39) * order}({'; '.join([quantity, *([', '.join(words)] if words else []), ', '.join(points)])})"

    def relation(self, left: str, sign: str, right: str) -> str:
        """A comparison."""
        return f"{left} {sign} {right}"

    def joined(self, word: str, conditions: Sequence[str]) -> str:
        """Conditions with a word between them, or before one."""
        return f" {word} ".join(conditions) if len(conditions) > 1 else f"{word} {conditions[0]}"


TEXT = Text()
