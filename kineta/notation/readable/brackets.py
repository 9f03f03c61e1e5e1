"""Brackets of a written sum as they are shortest by themselves: ``1 - sin(q)^2`` that a factor left behind is ``cos(q)^2``."""

from __future__ import annotations

from kineta.notation.rationals import Fraction
from kineta.notation.readable.angles import forms
from kineta.notation.readable.entries import gathered
from kineta.notation.readable.factoring import TRIED, Factoring
from kineta.notation.readable.polynomials import UNITY, LongFormError, Sum, added, scaled
from kineta.notation.readable.reading_cost import BRACKET
from kineta.notation.readable.trees import Factors, Tree, product, raised, single, tree


def with_short_brackets(factoring: Factoring, t: Tree, depth: int = 0) -> Tree:
    """*t*, within *depth* pairs of brackets, with every sum in brackets above the bar written anew where that is cheaper."""
    rows = list[tuple[Fraction, Factors]]()
    for f, factors in t:
        parts = [single(f)]
        numerator = sum(p > 0 for _, p in factors) == 1 < len(factors) and abs(f) == 1
        below = depth + (not numerator)
        for x, p in factors:
            if isinstance(x, int) or p < 0:
                parts.append(single(Fraction(1), (x, p)))
            else:
                parts.append(raised(_shortest(factoring, with_short_brackets(factoring, x, below), below), p))
        rows += product(*parts)
    return tree(rows)


def _shortest(factoring: Factoring, t: Tree, depth: int) -> Tree:
    """The cheapest of a sum as it is and as it is written by itself; fractions stay apart."""
    try:
        a = _value(factoring, t)
    except LongFormError:
        return t
    if a is None or not 1 < len(a) <= TRIED or any(p < 0 for m in a for _, p in m):
        return t
    ways = [t, gathered(factoring, a), *(factoring.factored(form) for form in forms(factoring.ring, a))]

    def cost(way: Tree) -> float:
        """The cost where it stands; the sign of a product becomes that of the term."""
        if len(way) > 1:
            return BRACKET * depth + factoring.reading.cost(way, depth)
        return factoring.reading.cost(frozenset((abs(f), x) for f, x in way), max(depth - 1, 0))

    return min(ways, key=cost)


def _value(factoring: Factoring, t: Tree) -> Sum | None:
    """What a tree without sums below the bar stands for."""
    ring, total = factoring.ring, Sum()
    for f, factors in t:
        value = scaled(UNITY, (), f)
        for x, p in factors:
            one: Sum | None = (
                {((x, p),): Fraction(1)} if isinstance(x, int) else _value(factoring, x) if p > 0 else None
            )
            if one is None:
                return None
            for _ in range(1 if isinstance(x, int) else p):
                value = ring.product(value, one)
        total = added(total, value)
    return total
