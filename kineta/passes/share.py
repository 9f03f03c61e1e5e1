"""Pairs of terms, and of factors, that several sums or products have in common: x + y + z and x - w + y share x + y.

The recursion adds and multiplies in its own order, so that equal pairs need not be equal nodes. Of all pairs in sums and products
the most frequent is made a node of its own, then the next. Only sums and products without other users are taken apart, so no
operation is added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush

from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable, users
from kineta.passes.substitute import signed

#: Terms of a sum, or factors of a product, at most; longer ones are left as they are.
TERMS = 24

_ADD, _MUL = int(Op.ADD), int(Op.MUL)

#: A pair: sum or product, and its operands in order, the first without sign.
_Pair = tuple[int, Ref, Ref]


def share(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations."""
    order = reachable(source, roots)
    pairs = _Pairs(source, order, users(source, order, roots), parameters)
    pairs.find()
    return pairs.copied(order, roots, target)


class _Pairs:
    """Sums and products as lists of operands, and the pairs in them; those of numbers and *parameters* alone are apart.

    lists : operands by node; factors have no sign
    signs : signs of products
    constant : nodes that depend on parameters only
    inner : nodes that are part of the list of their user
    found : new nodes, beyond those of the source
    """

    def __init__(self, source: Graph, order: Sequence[int], user: dict[int, int], parameters: Collection[str]) -> None:
        self.source = source
        self.lists: dict[int, list[Ref]] = {}
        self.signs: dict[int, int] = {}
        self.inner: set[int] = set()
        self.constant: set[int] = set()
        self.found: dict[int, _Pair] = {}
        self.next = len(source)
        for i in order:
            op, a, b = source.op[i], source.lhs[i], source.rhs[i]
            if op in LEAVES:
                constant = op == Op.CONST or source.names[a] in parameters
            else:
                constant = a >> 1 in self.constant and (op in UNARY or b >> 1 in self.constant)
            if constant:
                self.constant.add(i)
            if op in (_ADD, _MUL):
                self._flatten(i, op, user)

    def _flatten(self, i: int, op: int, user: dict[int, int]) -> None:
        operands: list[Ref] = []
        sign = 0
        for ref in (self.source.lhs[i], self.source.rhs[i]):
            j = ref >> 1
            nested = j in self.lists and self.source.op[j] == op == user[j] and len(self.lists[j]) < TERMS
            nested = nested and (i in self.constant) == (j in self.constant)
            inner = self.lists.pop(j) if nested else [ref]
            if nested:
                self.inner.add(j)
            if op == _ADD:
                operands += [x ^ (ref & 1) for x in inner] if nested else inner
            else:
                operands += [x & -2 for x in inner]
                sign ^= (ref & 1) ^ (self.signs[j] if nested else 0)
        self.lists[i] = operands
        self.signs[i] = sign

    def _pairs(self, i: int) -> Iterable[_Pair]:
        """The different pairs of a list."""
        op, operands = self.source.op[i], self.lists[i]
        return dict.fromkeys(_pair(op, a, b) for n, a in enumerate(operands) for b in operands[:n])

    def find(self) -> None:
        """Take out pairs until every pair is in one list alone."""
        own: dict[int, Iterable[_Pair]] = {}
        owners: dict[_Pair, dict[int, None]] = defaultdict(dict)
        short: dict[int, _Pair] = {}
        for i, operands in self.lists.items():
            if len(operands) > 2:
                own[i] = self._pairs(i)
                for pair in own[i]:
                    owners[pair][i] = None
            else:
                short[i] = _pair(self.source.op[i], *operands)
        for i, pair in short.items():
            if pair in owners:  # by itself it is a node already
                own[i] = (pair,)
                owners[pair][i] = None
        heap = [(-len(lists), pair) for pair, lists in owners.items() if len(lists) > 1]
        heapify(heap)
        while heap:
            number, pair = heappop(heap)
            lists = list(owners[pair])
            if len(lists) != -number:
                if len(lists) > 1:
                    heappush(heap, (-len(lists), pair))
            elif any(len(self.lists[i]) > 2 for i in lists):
                changed: dict[_Pair, None] = {}
                for i in lists:
                    for old in own[i]:
                        owners[old].pop(i, None)
                    self._replace(i, pair)
                    own[i] = self._pairs(i)
                    for new in own[i]:
                        owners[new][i] = changed[new] = None
                self.found[self.next] = pair
                self.next += 1
                for new in changed:
                    if len(owners[new]) > 1:
                        heappush(heap, (-len(owners[new]), new))

    def _replace(self, i: int, pair: _Pair) -> None:
        """Put the next new node in the place of *pair* in a list."""
        _, a, b = pair
        operands = self.lists[i]
        sign = 0 if a in operands and (b in operands if a != b else operands.count(a) > 1) else 1
        operands.remove(a ^ sign)
        operands[operands.index(b ^ sign)] = 2 * self.next | sign

    def copied(self, order: Sequence[int], roots: Sequence[Ref], target: Graph) -> list[Ref]:
        """The *roots* in *target*."""
        source, copy = self.source, dict[int, Ref]()

        def of(ref: Ref) -> Ref:
            i = ref >> 1
            if i not in copy:
                op, a, b = self.found[i]
                copy[i] = target.call(op, of(a), of(b))
            return signed(copy[i], ref)

        for i in order:
            op, a, b = source.op[i], source.lhs[i], source.rhs[i]
            if i in self.lists:
                copy[i] = self._joined(i, op, [of(x) for x in self.lists[i]], target)
            elif op == Op.CONST:
                copy[i] = target.const(source.constants[a])
            elif op == Op.SYMBOL:
                copy[i] = target.symbol(source.names[a])
            elif i not in self.inner:
                copy[i] = target.call(op, of(a)) if op in UNARY else target.call(op, of(a), of(b))
        return [of(r) for r in roots]

    def _joined(self, i: int, op: int, operands: Sequence[Ref], target: Graph) -> Ref:
        if op == _ADD:
            return target.sum(operands)
        total = ONE
        for x in operands:
            total = target.mul(total, x)
        return signed(total, self.signs[i])


def _pair(op: int, a: Ref, b: Ref) -> _Pair:
    if a >> 1 > b >> 1:
        a, b = b, a
    return (op, a & -2, b ^ (a & 1))
