"""Constant factors taken into sums where this saves operations: c (x + y) + d (x - y) is (c + d) x + (c - d) y.

The couple of a mass is such a sum, of products and derivatives of angular velocities: written with second moments it shares sums
with the forces, written with moments of inertia it needs none. What is cheaper depends on the link and on the component.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.passes.linear_forms import Rebuilding
from kineta.passes.substitute import signed

#: Terms of a sum at most: the bound that keeps the pass linear.
TERMS = 64

_ADD, _MUL = int(Op.ADD), int(Op.MUL)

#: A sum: constant coefficients, in the copy, of nodes of the source; of node 1, the number one, the constant term.
_Sum = dict[int, Ref]


def distribute(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations on variables."""
    sweep = _Distribution(source, roots, parameters, target)
    for i, op, a, b in sweep.operations():
        sweep.copy[i] = sweep.call(op, a, b)
        if op == _ADD:
            sweep.visit(i, a, b)
    return sweep.rebuilt()


class _Distribution(Rebuilding):
    """The sweep, with sums whose terms a sum around them may take over."""

    def __init__(self, source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> None:
        super().__init__(source, roots, parameters, target)
        self.sums: dict[int, _Sum] = {}

    def visit(self, i: int, a: Ref, b: Ref) -> None:
        """Keep the terms of the sum *i*; copy it anew where it is shorter with sums in it opened."""
        terms = self._added([*self._terms(a), *self._terms(b)])
        if len(terms) > TERMS:
            return
        if self.user[i] != _ADD and (better := self._opened(terms)) is not None:
            terms = better
            self.copy[i] = self.target.sum(self.target.mul(c, self.copy[n]) for n, c in terms.items())
        self.sums[i] = terms

    def _terms(self, ref: Ref) -> Iterable[tuple[int, Ref]]:
        """The terms of a summand: those of a sum that is used nowhere else, or one."""
        i = ref >> 1
        if self.constant[i]:
            return ((ONE >> 1, signed(self.copy[i], ref)),)
        if self.user[i] == _ADD:
            if i in self.sums:
                terms = self.sums[i].items()
                return [(n, c ^ 1) for n, c in terms] if ref & 1 else terms
            if self.source.op[i] == _MUL:
                a, b = self.source.lhs[i], self.source.rhs[i]
                if self.constant[a >> 1]:
                    return ((b >> 1, signed(self.copy[a >> 1], a ^ ref ^ b)),)
                if self.constant[b >> 1]:
                    return ((a >> 1, signed(self.copy[b >> 1], b ^ ref ^ a)),)
        return ((i, ONE ^ (ref & 1)),)

    def _added(self, terms: Iterable[tuple[int, Ref]]) -> _Sum:
        total: _Sum = {}
        for n, c in terms:
            total[n] = self.constants.call(_ADD, total[n], c) if n in total else c
        return {n: c for n, c in total.items() if c != ZERO}

    def _opened(self, terms: _Sum) -> _Sum | None:
        """*terms* with sums among them replaced by their terms; None where this saves nothing."""
        if self.sums.keys().isdisjoint(terms):
            return None
        best, cost = None, _cost(terms)
        changed = True
        while changed:
            changed = False
            alike: dict[frozenset[int], list[int]] = defaultdict(list)
            for n in terms:
                if n in self.sums:
                    alike[frozenset(self.sums[n])].append(n)
            for group in alike.values():
                inner = sum(_cost(self.sums[n]) for n in group if self.user[n] == _MUL)
                found = self._added(self._with_terms_of(terms, group))
                if _cost(found) < cost + inner:
                    best, terms, cost, changed = found, found, _cost(found), True
                    break
        return best

    def _with_terms_of(self, terms: _Sum, group: Collection[int]) -> Iterator[tuple[int, Ref]]:
        for n, c in terms.items():
            if n not in group:
                yield n, c
            else:
                yield from ((m, self.constants.call(_MUL, c, d)) for m, d in self.sums[n].items())


def _cost(terms: _Sum) -> int:
    """Operations of a sum, besides those of its terms."""
    return len(terms) - 1 + sum(n != ONE >> 1 and c & -2 != ONE for n, c in terms.items())
