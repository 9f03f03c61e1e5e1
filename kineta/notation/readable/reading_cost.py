"""How much there is to read: one number for lines of equations as they are printed, and the same for a tree before it is.

The weights rank pairs of forms of the same value as textbooks do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from kineta.expr.op import Op
from kineta.notation.printed_numbers import is_fraction
from kineta.notation.rationals import Fraction
from kineta.notation.readable.ring import PI, Ring
from kineta.notation.readable.trees import Factors, Tree
from kineta.notation.typesetting import FORCES, FactorKind, Kinds

NAME, NUMBER, EXPONENT, CALL, ROOT = 1.0, 1.0, 0.25, 1.0, 2.0
PLUS, MINUS, TIMES, OVER, POWER = 1.0, 1.25, 0.25, 1.5, 0.25
#: A pair of brackets, and as much again for each pair around it.
BRACKET = 1.0
#: An argument of a function that is no name.
ARGUMENT = 1.0
#: A speed and an acceleration within brackets or above a bar, for each around it, a speed only above a number: its coefficient
#: cannot be read off.
HIDDEN = (0.0, 1.0, 3.0)
#: A number alone below a bar within brackets: the half of a term of a sum that something is multiplied by; ``pi/6`` is a
#: number.
INNER = 1.5
#: The power of a root below or above a bar, ``(...)^(3/2)``, without its sum.
HALF_POWER = POWER + 2 * EXPONENT
#: A sum above or below a bar, and a fraction there.
BAR, NESTED = 1.25, 3.0
#: A line that names a part, and each place where its name has to be looked up. What stands in it is as if within brackets.
PART, LOOKUP = 8.0, 2.0
#: A line that names what its reader has named.
GIVEN = 4.0
#: A table of points within a formula that defines no name.
TABLE = 12.0

#: A name with indices, which may be names themselves, and parts after dots.
_NAME = r"[^\W\d]\w*(?:\[(?:[^\[\]]|\[\d+\])*\])*'*"
_TOKEN = re.compile(rf"(?<=\^)\(\d+/2\)|\d+\.?\d*(?:e[+-]?\d+)?|{_NAME}(?:\.{_NAME})*|[-+*/^(),]")
_MOMENTUM = re.compile(r"p\[\D")
_OPERATIONS = {"+": PLUS, "-": MINUS, "*": TIMES, "/": OVER, "^": POWER, ",": PLUS}


def derivatives(name: str, quasi: Collection[str] = ()) -> int:
    """2 for accelerations, 1 for speeds and momenta, else 0; *quasi* are names of speeds without a prime."""
    if name.rstrip("'") in quasi:
        return 1 + name.endswith("'")
    return 0 if name.startswith(FORCES) else 1 if _MOMENTUM.match(name) else min(name.count("'"), 2)


def quasi_velocities(kinds: Kinds) -> Collection[str]:
    """The names of speeds without a prime."""
    return {n for n, (kind, _) in kinds.items() if kind == FactorKind.SPEED and not n.endswith("'")}


def tokens(text: str) -> list[str]:
    """The names, numbers and signs of a text."""
    return _TOKEN.findall(text)


def reading_cost(
    lines: Iterable[tuple[str, str]],
    parts: Collection[str] = (),
    quasi: Collection[str] = (),
    given: Collection[str] = (),
) -> float:
    """The cost of lines, names and their texts, of which those of *parts* are looked up, but for names that the model has
    *given*; *quasi* as in :func:`derivatives`.
    """
    rows = list(lines)
    uses = sum(token in parts and token not in given for _, text in rows for token in tokens(text))
    definitions = PART * len(parts) - (PART - GIVEN) * len(given)
    return sum(_line_cost(text, name in parts, quasi) for name, text in rows) + definitions + LOOKUP * uses


def _line_cost(text: str, within: bool, quasi: Collection[str]) -> float:
    """The cost of one right-hand side, *within* brackets where it is a part."""
    tokens = _TOKEN.findall(text)
    closed, stack = dict[int, int](), list[int]()
    for k, token in enumerate(tokens):
        if token == "(":
            stack.append(k)
        elif token == ")":
            closed[stack.pop()] = k
    total, outer, depth = 0.0, int(within), int(within)
    opened, bars, halves = list[int](), list[int](), list[int]()
    for k, token in enumerate(tokens):
        before = tokens[k - 1] if k else ""
        after = tokens[k + 1] if k + 1 < len(tokens) else ""
        if token == "(":
            end = closed[k]
            following = tokens[end + 1] if end + 1 < len(tokens) else ""
            of_fraction = before == "/" or (following == "/" and before in ("", "+", "-", "("))
            of_call = re.match(r"[^\W\d]", before) is not None
            total += ARGUMENT * (of_call and end - k > 2)
            opened.append(not of_call and not of_fraction)
            bars.append(not of_call and of_fraction)
            over_number = bars[-1] and before != "/" and tokens[end + 2].isdigit()
            halves.append(over_number)
            depth += opened[-1]
            total += BRACKET * (depth - outer) * opened[-1]
            total += BAR * (of_fraction and _is_sum(tokens[k + 1 : end]))
        elif token == ")":
            depth -= opened.pop()
            bars.pop()
            halves.pop()
        elif token in _OPERATIONS:
            halved = after[:1].isdigit() and depth > outer and before != PI and _is_one_letter(tokens, k)
            total += _OPERATIONS[token] + (NESTED * sum(bars) + INNER * halved) * (token == "/")
        elif token[0] == "(":
            total += 2 * EXPONENT
        elif token[0].isdigit():
            total += EXPONENT if before == "^" else NUMBER
        elif after == "(":
            total += (ROOT if token == "sqrt" else CALL) + TABLE * (
                not within and k > 0 and token.rstrip("'") == "table"
            )
        else:
            order = derivatives(token, quasi)
            total += NAME + HIDDEN[order] * (depth + sum(bars if order == 2 else halves))
    return total


def _is_one_letter(tokens: Sequence[str], bar: int) -> bool:
    """Whether one factor to the first power stands above the *bar*."""
    ahead = tokens[bar - 2] if bar > 1 else "("
    return ahead in "(+-,"


def _is_sum(tokens: Sequence[str]) -> bool:
    """Whether tokens have terms beside each other."""
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if depth == 0 and token in "+-":
            return True
    return False


class TreeCost:
    """The reading cost of trees over a *ring*.

    opened, arguments : how the sum of a root, and the arguments of a function, are written
    """

    def __init__(self, ring: Ring, opened: Callable[[int], Tree], arguments: Callable[[int], list[Tree]]) -> None:
        self.ring = ring
        self.opened = opened
        self.arguments = arguments
        self._costs: dict[tuple[Tree, int, int, int], float] = {}
        self._terms: dict[tuple[Fraction, Factors, int, int, int], float] = {}
        self._quasi = quasi_velocities(ring.kinds)

    def cost(self, t: Tree, depth: int = 0, bars: int = 0, numbers: int = 0) -> float:
        """The cost of a tree within *depth* pairs of brackets, above or below *bars*, of which some have *numbers* below."""
        key = t, depth, bars, numbers
        found = self._costs.get(key)
        if found is None:
            minus = sum(f < 0 for f, _ in t)
            between = MINUS * minus + PLUS * max(len(t) - minus - 1, 0)
            found = between + sum(self._term(abs(f), x, depth, bars, numbers) for f, x in t) if t else NUMBER
            self._costs[key] = found
        return found

    def cheapest(self, trees: Iterable[Tree], *, whole: bool = False) -> Tree:
        """The tree of the least cost, as a *whole* line or as a factor, for which a sum needs brackets; of whole lines that cost
        the same that of more terms.
        """
        if whole:
            return min(trees, key=lambda t: (self.cost(t), -len(t)))
        return min(trees, key=lambda t: (self.cost(t) if len(t) < 2 else BRACKET + self.cost(t, 1), len(t)))

    def derivatives(self, x: int) -> int:
        """2 for an acceleration, 1 for a speed or momentum, else 0."""
        return derivatives(self.ring.keys[x][1], self._quasi)

    def _term(self, f: Fraction, factors: Factors, depth: int, bars: int, numbers: int) -> float:
        key = f, factors, depth, bars, numbers
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = self._cost_of_term(f, factors, depth, bars, numbers)
        return found

    def _cost_of_term(self, f: Fraction, factors: Factors, depth: int, bars: int, numbers: int) -> float:
        above = [(x, p) for x, p in factors if p > 0]
        below = [(x, -p) for x, p in factors if p < 0]
        p, q = (f.numerator, f.denominator) if is_fraction(f) else (2, 1)
        over, under = len(above) + (p != 1 or not above), len(below) + (q != 1)
        total = NUMBER * (over - len(above) + under - len(below)) + TIMES * (over - 1 + max(under - 1, 0))
        total += (OVER + NESTED * bars) * (under > 0)
        total += INNER * (
            under == 1 and q != 1 and depth > 0 and len(above) == 1 and above[0][1] == 1 and not self._is_angle(above)
        )
        for x, n in above:
            if over == 1 and under and n == 1 and not isinstance(x, int):
                total += BAR + self.cost(x, depth, bars + 1, numbers + (not below))
            else:
                total += self._factor(x, n, depth, bars, numbers)
        for x, n in below:
            if under == 1 and n == 1 and not isinstance(x, int):
                total += BAR + self.cost(x, depth, bars + 1, numbers)
            else:
                total += self._factor(x, n, depth, bars + (under > 1), numbers)
        return total

    def _is_angle(self, above: Sequence[tuple[Any, int]]) -> bool:
        """Whether pi alone stands above the bar: ``5*pi/6`` is a number."""
        return bool(above) and all(isinstance(x, int) and self.ring.keys[x] == ("symbol", PI) for x, _ in above)

    def _factor(self, x: Any, power: int, depth: int, bars: int, numbers: int) -> float:
        more = (POWER + EXPONENT) * (power != 1)
        if not isinstance(x, int):
            return more + BRACKET * (depth + 1) + self.cost(x, depth + 1, bars, numbers)
        key = self.ring.keys[x]
        if key[0] == "symbol":
            order = self.derivatives(x)
            return more + NAME + HIDDEN[order] * (depth + (bars if order == 2 else numbers))
        if key[0] == "number":
            return more + NUMBER
        if key[0] in (Op.SIN, Op.COS):
            (angle,) = self.arguments(x)
            plain = len(angle) == 1 and next(iter(angle))[0] == 1 and len(key[1][0][0]) == 1
            return more + CALL + self.cost(angle) + ARGUMENT * (not plain)
        if key[0] == "root":
            inside = self.opened(x)
            if power != 1:
                return HALF_POWER + self._factor(inside, 1, depth, bars, numbers)
            return more + ROOT + self.cost(inside) + ARGUMENT * (len(inside) > 1)
        sums = key[1:] if key[0] in ("sign", "opposite") else key[2]
        written = sum(self.cost(t) + ARGUMENT * (len(a) > 1) for t, a in zip(self.arguments(x), sums, strict=True))
        return more + CALL + written + TABLE * bool(key[1] == Op.TABLE)
