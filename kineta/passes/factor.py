"""Sums with common factors taken out: a x + b x is (a + b) x.

Products are looked at as a constant part (numbers and parameters) and a list of factors. The factor that most terms share is
taken out first, then the next, also inside of what was taken out. Only sums and products that nothing else needs are taken apart,
so no operation is ever added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable, users
from kineta.passes.substitute import signed

#: Terms of one sum that are looked at together, at most: what keeps the pass linear.
TERMS = 64

#: A product: its constant part, with the sign, and its other factors, without signs.
_Product = tuple[Ref, list[Ref]]


def factor(graph: Graph, roots: Sequence[Ref], parameters: Collection[Ref]) -> list[Ref]:
    """*roots* with the same values, and no more operations."""
    order = reachable(graph, roots)
    state = _Factoring(graph, users(graph, order, roots), {r >> 1 for r in parameters})
    for i in order:
        state.visit(i)
    return [signed(state.copy[r >> 1], r) for r in roots]


class _Factoring:
    """The sweep: copies of nodes, the products and sums that are part of another one, and the constant nodes."""

    def __init__(self, graph: Graph, user: dict[int, int], constant: set[int]) -> None:
        self.graph = graph
        self.user = user
        self.constant = constant
        self.copy: dict[int, Ref] = {}
        self.products: dict[int, _Product] = {}
        self.sums: dict[int, list[_Product]] = {}

    def visit(self, i: int) -> None:
        """Node *i*, after its operands."""
        graph, copy = self.graph, self.copy
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in LEAVES:
            copy[i] = 2 * i
            if op == Op.CONST:
                self.constant.add(i)
        elif op in UNARY:
            copy[i] = graph.call(op, signed(copy[a >> 1], a))
            if a >> 1 in self.constant:
                self.constant.add(i)
        elif a >> 1 in self.constant and b >> 1 in self.constant:
            copy[i] = graph.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
            self.constant.add(i)
        elif op == Op.MUL:
            self._visit_product(i, a, b)
        elif op == Op.ADD:
            self._visit_sum(i, a, b)
        else:
            copy[i] = graph.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))

    def _visit_product(self, i: int, a: Ref, b: Ref) -> None:
        (c, x), (d, y) = self._product(a, Op.MUL), self._product(b, Op.MUL)
        product = self.graph.mul(c, d), x + y
        if self.user[i] in (Op.ADD, Op.MUL):
            self.products[i] = product
        else:
            self.copy[i] = _multiplied(self.graph, product)

    def _visit_sum(self, i: int, a: Ref, b: Ref) -> None:
        terms: list[_Product] = []
        for ref in (a, b):
            inner = self.sums.pop(ref >> 1, None)
            if inner is None:
                terms.append(self._product(ref, Op.ADD))
            elif ref & 1:
                terms += [(c ^ 1, x) for c, x in inner]
            else:  # what has more terms is kept, so that long sums stay linear
                terms, inner = (terms, inner) if len(terms) >= len(inner) else (inner, terms)
                terms += inner
        if self.user[i] == Op.ADD and len(terms) < TERMS:
            self.sums[i] = terms
        else:
            self.copy[i] = _added(self.graph, terms)

    def _product(self, ref: Ref, user: Op) -> _Product:
        """*ref*, an operand of a *user*, as a product."""
        i = ref >> 1
        if i in self.constant:
            return signed(self.copy[i], ref), []
        if i in self.products and self.user[i] == user:
            c, x = self.products.pop(i)
            return c ^ (ref & 1), x
        other = self.copy[i]
        return ONE ^ ((other ^ ref) & 1), [other & -2]


def _multiplied(graph: Graph, product: _Product) -> Ref:
    total, factors = product
    for x in factors:
        total = graph.mul(total, x)
    return total


def _added(graph: Graph, terms: list[_Product]) -> Ref:
    """The sum of *terms*, common factors taken out."""
    shared = _most_shared(terms)
    if shared is None:
        return graph.sum(_multiplied(graph, t) for t in terms)
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
    """The factor, or else the constant part, that most terms have in common; None where no two share one."""
    counts = Counter(x for _, factors in terms for x in dict.fromkeys(factors))
    counts.update(c & -2 for c, factors in terms if factors and c & -2 != ONE)
    best = max(counts, key=counts.__getitem__, default=None)
    return best if best is not None and counts[best] > 1 else None
