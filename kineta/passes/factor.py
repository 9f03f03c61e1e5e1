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
    sweep = Rebuilding(source, roots, parameters, target)
    copy, constant, user, mul = sweep.copy, sweep.constant, sweep.user, target.mul
    products: dict[int, _Product] = {}  # nested in another product or in a sum
    sums: dict[int, list[_Product]] = {}  # nested in another sum
    for i, op, a, b in sweep.operations():
        if op == _MUL:
            c, x = _factors(a, products, copy, constant)
            d, y = _factors(b, products, copy, constant)
            product = d if c == ONE else c if d == ONE else mul(c, d), x + y
            if user[i] == _ADD or (user[i] == _MUL and len(product[1]) < TERMS):
                products[i] = product
            else:
                copy[i] = _multiplied(target, product)
        elif op == _ADD:
            terms: list[_Product] = []
            for ref in (a, b):
                inner = sums.pop(ref >> 1, None)
                if inner is None:
                    terms.append(_factors(ref, products, copy, constant))
                elif ref & 1:
                    terms += [(c ^ 1, x) for c, x in inner]
                elif len(inner) > len(terms):  # the longer list is extended, so that long sums stay linear
                    terms = terms + inner if terms else inner
                else:
                    terms += inner
            if user[i] == _ADD and len(terms) < TERMS:
                sums[i] = terms
            else:
                copy[i] = _added(target, terms)
        else:
            copy[i] = sweep.call(op, a, b)
    return sweep.rebuilt()


def _factors(ref: Ref, products: dict[int, _Product], copy: Sequence[Ref], constant: Sequence[int]) -> _Product:
    """*ref*, an operand, as a product."""
    i = ref >> 1
    if constant[i]:
        return signed(copy[i], ref), []
    if i in products:
        c, x = products.pop(i)
        return c ^ (ref & 1), x
    other = copy[i]
    return ONE ^ ((other ^ ref) & 1), [other & -2]


def _multiplied(graph: Graph, product: _Product) -> Ref:
    total, factors = product
    if len(factors) == 1:
        return factors[0] ^ total & 1 if total & -2 == ONE else graph.mul(total, factors[0])
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
        return graph.sum([_multiplied(graph, term) for term in terms])
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
    seen: set[Ref] = set()
    number = 0
    for c, factors in terms:
        seen.update(factors)
        number += len(factors)
        if c & -2 != ONE and factors:
            seen.add(c & -2)
            number += 1
    if len(seen) == number:
        return None
    counts: dict[Ref, int] = {}
    for c, factors in terms:
        for x in dict.fromkeys(factors if not factors or c & -2 == ONE else [*factors, c & -2]):
            counts[x] = counts.get(x, 0) + 1
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > 1 else None
