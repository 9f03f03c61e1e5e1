"""Pairs of terms, and of factors, that several sums or products have in common: x + y + z and x - w + y share x + y.

The recursion adds and multiplies in its own order, so that equal pairs need not be equal nodes. Of all pairs in sums and products
the most frequent is made a node of its own, then the next. Only sums and products without other users are taken apart, so no
operation is added.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import uses

#: Terms of a sum, or factors of a product, at most; longer ones are left as they are.
TERMS = 24

_CONST, _SYMBOL, _ADD, _MUL = int(Op.CONST), int(Op.SYMBOL), int(Op.ADD), int(Op.MUL)
_UNARY = [op in UNARY for op in Op]
_MISSING = -1

#: A pair: sum or product, and its operands in order, the first without sign.
_Pair = tuple[int, Ref, Ref]


def share(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations."""
    order, user = uses(source, roots)
    pairs = _Pairs(source, order, user, parameters)
    pairs.find()
    return pairs.copied(order, roots, target)


class _Pairs:
    """Sums and products as lists of operands, and the pairs in them; those of numbers and *parameters* alone are apart.

    lists : operands by node; factors have no sign
    signs : nodes of products with a sign
    inner : nodes that are part of the list of their user
    found : new nodes, beyond those of the source
    """

    def __init__(self, source: Graph, order: Sequence[int], user: Sequence[int], parameters: Collection[str]) -> None:
        self.source = source
        self.lists: dict[int, list[Ref]] = {}
        self.signs: set[int] = set()
        self.inner: set[int] = set()
        self.found: dict[int, _Pair] = {}
        self.next = len(source)
        kinds, lhs, rhs, lists = source.op, source.lhs, source.rhs, self.lists
        constant = bytearray(len(user))
        for i in order:
            op, a = kinds[i], lhs[i]
            if op <= _SYMBOL:
                constant[i] = op == _CONST or source.names[a] in parameters
                continue
            if _UNARY[op]:
                constant[i] = constant[a >> 1]
                continue
            b = rhs[i]
            constant[i] = constant[a >> 1] and constant[b >> 1]
            if op in (_ADD, _MUL):
                operands: list[Ref] = []
                sign = 0
                for ref in (a, b):
                    j = ref >> 1
                    if user[j] == op == kinds[j] and constant[i] == constant[j] and len(inner := lists[j]) < TERMS:
                        del lists[j]
                        self.inner.add(j)
                        if op == _MUL:
                            sign ^= ref & 1 ^ (j in self.signs)
                            operands += inner
                        else:
                            operands += [x ^ 1 for x in inner] if ref & 1 else inner
                    elif op == _MUL:
                        sign ^= ref & 1
                        operands.append(ref & -2)
                    else:
                        operands.append(ref)
                lists[i] = operands
                if sign:
                    self.signs.add(i)

    def _pairs(self, i: int) -> Iterable[_Pair]:
        """The different pairs of a list."""
        op, operands = self.source.op[i], self.lists[i]
        return dict.fromkeys(_pair(op, a, b) for n, a in enumerate(operands) for b in operands[:n])

    def find(self) -> None:
        """Take out pairs until every pair is in one list alone."""
        own: dict[int, Iterable[_Pair]] = {}
        owners: dict[_Pair, dict[int, None]] = {}
        kinds = self.source.op
        for i, operands in self.lists.items():
            if len(operands) > 2:
                own[i] = pairs = self._pairs(i)
                for pair in pairs:
                    if pair in owners:
                        owners[pair][i] = None
                    else:
                        owners[pair] = {i: None}
        for i, operands in self.lists.items():
            if len(operands) == 2 and (pair := _pair(kinds[i], *operands)) in owners:  # by itself it is a node already
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
                        owners.setdefault(new, {})[i] = changed[new] = None
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
        source, lists = self.source, self.lists
        copy: list[Ref] = [_MISSING] * (self.next + 1)

        def of(ref: Ref) -> Ref:
            found = copy[ref >> 1]
            if found == _MISSING:
                op, a, b = self.found[ref >> 1]
                found = copy[ref >> 1] = target.call(op, of(a), of(b))
            return found ^ 1 if ref & 1 and found else found

        for i in order:
            op, a, b = source.op[i], source.lhs[i], source.rhs[i]
            if i in lists:
                joined = target.add if op == _ADD else target.mul
                total, *more = [of(x) for x in lists[i]]
                for x in more:
                    total = joined(total, x)
                copy[i] = total ^ 1 if i in self.signs and total else total
            elif op == _CONST:
                copy[i] = target.const(source.constants[a])
            elif op == _SYMBOL:
                copy[i] = target.symbol(source.names[a])
            elif i not in self.inner:
                copy[i] = target.call(op, of(a)) if _UNARY[op] else target.call(op, of(a), of(b))
        return [of(r) for r in roots]


def _pair(op: int, a: Ref, b: Ref) -> _Pair:
    if a >> 1 > b >> 1:
        a, b = b, a
    return (op, a & -2, b ^ (a & 1))
