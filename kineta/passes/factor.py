"""Factorisation of sums: a x + b x is (a + b) x.

A product is a constant part (numbers and parameters) and a list of factors. The most frequent factor of a sum is taken out
first, then the next, recursively. Only sums and products without other users are taken apart, so no operation is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import Op
from kineta.passes.linear_forms import Rebuilding
from kineta.passes.substitute import signed

#: Terms of a sum and factors of a product at most: the bound that keeps the pass linear.
TERMS = 64

#: A product: its signed constant part and its other factors, without signs.
_Product = tuple[Ref, list[Ref]]

_ADD, _MUL = int(Op.ADD), int(Op.MUL)


def factor(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* factorised into *target*, in the same order, with the same values and no more operations."""
    return _Factoring.rebuilt(source, roots, parameters, target)


class _Factoring(Rebuilding):
    """The sweep, with products and sums that are nested in another one."""

    def __init__(self, source: Graph, target: Graph, user: dict[int, int], parameters: Collection[str]) -> None:
        super().__init__(source, target, user, parameters)
        self.products: dict[int, _Product] = {}
        self.sums: dict[int, list[_Product]] = {}

    def visit(self, i: int) -> None:
        op, a, b = self.source.op[i], self.source.lhs[i], self.source.rhs[i]
        if op == _MUL:
            self._visit_product(i, a, b)
        elif op == _ADD:
            self._visit_sum(i, a, b)
        else:
            self.copy[i] = self.copied_call(op, a, b)

    def _visit_product(self, i: int, a: Ref, b: Ref) -> None:
        (c, x), (d, y) = self._product(a, _MUL), self._product(b, _MUL)
        product = self.target.mul(c, d), x + y
        if self.user[i] == _ADD or (self.user[i] == _MUL and len(product[1]) < TERMS):
            self.products[i] = product
        else:
            self.copy[i] = _multiplied(self.target, product)

    def _visit_sum(self, i: int, a: Ref, b: Ref) -> None:
        terms: list[_Product] = []
        for ref in (a, b):
            inner = self.sums.pop(ref >> 1, None)
            if inner is None:
                terms.append(self._product(ref, _ADD))
            elif ref & 1:
                terms += [(c ^ 1, x) for c, x in inner]
            elif len(inner) > len(terms):  # the longer list is extended, so that long sums stay linear
                terms = terms + inner if terms else inner
            else:
                terms += inner
        if self.user[i] == _ADD and len(terms) < TERMS:
            self.sums[i] = terms
        else:
            self.copy[i] = _added(self.target, terms)

    def _product(self, ref: Ref, user: int) -> _Product:
        """*ref*, an operand of a *user*, as a product."""
        i = ref >> 1
        if i in self.constants.nodes:
            return signed(self.copy[i], ref), []
        if self.user[i] == user and i in self.products:
            c, x = self.products.pop(i)
            return c ^ (ref & 1), x
        other = self.copy[i]
        return ONE ^ ((other ^ ref) & 1), [other & -2]


def _multiplied(graph: Graph, product: _Product) -> Ref:
    total, factors = product
    if len(set(factors)) < len(factors):  # squares first: other products may share them
        powers = Counter(factors)
        factors = [graph.call(Op.POW, x, graph.const(float(n))) for x, n in powers.items()]
    for x in factors:
        total = graph.mul(total, x)
    return total


def _added(graph: Graph, terms: list[_Product]) -> Ref:
    """The sum of *terms* with common factors taken out."""
    shared = _most_shared(terms)
    if shared is None:
        return graph.sum([_multiplied(graph, t) for t in terms])
    inside: list[_Product] = []
    rest: list[_Product] = []
    for c, factors in terms:
        if shared in factors:
            left = factors.copy()
            left.remove(shared)
            inside.append((c, left))
        elif c & -2 == shared and factors:
            inside.append((ONE | c & 1, factors))
        else:
            rest.append((c, factors))
    product = graph.mul(shared, _added(graph, inside))
    return graph.add(_added(graph, rest), product) if rest else product


def _most_shared(terms: list[_Product]) -> Ref | None:
    """The most frequent factor of *terms*, or else constant part; None without repetition."""
    found = [x for _, factors in terms for x in factors]
    found += [c & -2 for c, factors in terms if factors and c & -2 != ONE]
    if len(set(found)) == len(found):
        return None
    counts: dict[Ref, int] = {}
    for c, factors in terms:
        for x in dict.fromkeys(factors if not factors or c & -2 == ONE else [*factors, c & -2]):
            counts[x] = counts.get(x, 0) + 1
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > 1 else None
