"""Sums and products of numbers to sixty digits, as references into a graph.

Mass properties placed by opposite offsets add and subtract numbers of different magnitude: rounding would destroy the small
moments of a slender body. Numbers are read as their decimal representations and rounded once, at the end. Sums and products have
references of their own, also where they are equal; zero is always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from math import isfinite
from typing import cast

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.passes.substitute import signed, substitute

_DIGITS = Context(prec=60)
#: First reference to a sum or product of numbers; larger than the number of nodes of any graph.
_BEYOND = 1 << 60


class Exact:
    """Arithmetic of *graph* in which numbers are not rounded."""

    def __init__(self, graph: Graph) -> None:
        self.rounding = graph
        self.const = graph.const
        self._numbers: list[Decimal] = []
        self._known: dict[Ref, Decimal] = {}  # numbers that were asked for
        self._symbols: dict[str, Ref] = {}

    def add(self, a: Ref, b: Ref) -> Ref:
        """The sum a + b."""
        if a == ZERO or b == ZERO:
            return b if a == ZERO else a
        known = self._known
        x = known[a] if a in known else self._number(a)
        y = known[b] if b in known else self._number(b)
        if x is None or y is None:
            return self.rounding.add(self._node(a), self._node(b))
        return self._ref(_DIGITS.add(x, y))

    def sub(self, a: Ref, b: Ref) -> Ref:
        """The difference a - b."""
        return self.add(a, neg(b))

    def mul(self, a: Ref, b: Ref) -> Ref:
        """The product a b."""
        if a == ZERO or b == ZERO:
            return ZERO
        if a == ONE or b == ONE:
            return b if a == ONE else a
        known = self._known
        x = known[a] if a in known else self._number(a)
        y = known[b] if b in known else self._number(b)
        if x is None or y is None:
            return self.rounding.mul(self._node(a), self._node(b))
        return self._ref(_DIGITS.multiply(x, y))

    def value(self, ref: Ref) -> float | None:
        """The double nearest to the number *ref*, or None where *ref* is no number."""
        number = self._number(ref)
        return None if number is None else float(number)

    def rounded(self, refs: Sequence[Ref]) -> list[Ref]:
        """*refs* with the nearest doubles for all numbers."""
        nodes = [self._double(ref) if ref >= _BEYOND else ref for ref in refs]
        if not self._symbols:
            return nodes
        return substitute(self.rounding, nodes, {name: self._double(ref) for name, ref in self._symbols.items()})

    def _double(self, ref: Ref) -> Ref:
        return self.const(float(self._number(ref) or 0))

    def _number(self, ref: Ref) -> Decimal | None:
        """The exact number *ref*, or None where *ref* is no number."""
        if ref >= _BEYOND:
            found = self._numbers[(ref - _BEYOND) >> 1]
            found = found.copy_negate() if ref & 1 else found
        elif (value := self.rounding.value(ref)) is not None:
            found = Decimal(repr(value))
        else:
            return None
        self._known[ref] = found
        return found

    def _ref(self, value: Decimal) -> Ref:
        if not value:
            return ZERO
        self._numbers.append(value)
        return _BEYOND + 2 * len(self._numbers) - 2

    def _node(self, ref: Ref) -> Ref:
        """*ref* as a reference into the graph: a number that is no double is represented by a symbol beside symbolic terms."""
        if ref < _BEYOND:
            return ref
        exact, place = self._numbers[(ref - _BEYOND) >> 1], ref & -2
        if exact.is_signed():
            exact, place = exact.copy_negate(), place ^ 1
        nearest = float(exact)
        if Decimal(repr(nearest)) == exact or not isfinite(nearest):
            return signed(self.const(nearest), ref ^ place)
        name = f"number {exact.normalize(_DIGITS)}"
        self._symbols[name] = place
        return signed(self.rounding.symbol(name), ref ^ place)

    def beside(self, graph: Graph) -> Exact:
        """The same numbers beside another *graph* with the same nodes."""
        found = Exact(graph)
        found._numbers, found._known = self._numbers.copy(), self._known.copy()
        found._symbols = self._symbols.copy()
        return found


def exact(graph: Graph) -> Graph:
    """*graph* in exact arithmetic, for sums and products of vectors and matrices."""
    return cast(Graph, Exact(graph))


def copied(graph: Graph, into: Graph) -> Graph:
    """The arithmetic *graph*, exact or that of a graph itself, for the graph *into* with the same nodes."""
    return cast(Graph, graph.beside(into)) if isinstance(graph, Exact) else into


def rounding(graph: Graph, refs: Sequence[Ref]) -> list[Ref]:
    """*refs* of :func:`exact` arithmetic with all numbers rounded to doubles."""
    return cast(Exact, graph).rounded(refs)
