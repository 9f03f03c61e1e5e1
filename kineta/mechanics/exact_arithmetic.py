"""Sums and products of numbers to sixty digits, as references into a graph.

Mass properties placed by opposite offsets add and subtract numbers of different magnitude: rounding would destroy the small
moments of a slender body. Numbers are read as their decimal representations and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from math import isfinite
from typing import cast

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.passes.substitute import signed, substitute

_DIGITS = Context(prec=60)
#: First reference to a number that is no double; larger than the number of nodes of any graph.
_BEYOND = 1 << 60


class Exact:
    """Arithmetic of *graph* in which numbers are not rounded."""

    def __init__(self, graph: Graph) -> None:
        self.rounding = graph
        self.const = graph.const
        self._numbers: list[Decimal] = []
        self._places: dict[Decimal, Ref] = {}
        self._symbols: dict[str, Ref] = {}

    def add(self, a: Ref, b: Ref) -> Ref:
        """The sum a + b."""
        if a == ZERO or b == ZERO:
            return b if a == ZERO else a
        x, y = self._number(a), self._number(b)
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
        x, y = self._number(a), self._number(b)
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
            return -found if ref & 1 else found
        value = self.rounding.value(ref)
        return None if value is None else Decimal(repr(value))

    def _ref(self, value: Decimal) -> Ref:
        nearest = float(value)
        if not value or Decimal(repr(nearest)) == value or not isfinite(nearest):
            return self.const(nearest)
        place = self._places.setdefault(abs(value), _BEYOND + 2 * len(self._numbers))
        if place == _BEYOND + 2 * len(self._numbers):
            self._numbers.append(abs(value))
        return place if value > 0 else neg(place)

    def _node(self, ref: Ref) -> Ref:
        """*ref* as a reference into the graph: a number that is no double is represented by a symbol beside symbolic terms."""
        if ref < _BEYOND:
            return ref
        name = f"number {self._numbers[(ref - _BEYOND) >> 1]}"
        self._symbols[name] = ref & -2
        return signed(self.rounding.symbol(name), ref)

    def beside(self, graph: Graph) -> Exact:
        """The same numbers beside another *graph* with the same nodes."""
        found = Exact(graph)
        found._numbers, found._places = self._numbers.copy(), self._places.copy()
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
