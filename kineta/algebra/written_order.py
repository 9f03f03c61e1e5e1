"""The order of operands in a text that is written, which is that of the text and of nothing that was read before it.

The graph of descriptions keeps operands in the order of its nodes, and so in that in which a process met them. What is written is
therefore copied first into a graph of its own, in which nodes are made in the order of the text: names of one expression as they
are declared, then what is made of them, by the names that stand in it, then numbers. Of a parameter and a variable in a product
the parameter stands first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from random import Random

from kineta.algebra.expression import DESCRIPTIONS, LOCK
from kineta.algebra.infix import ARRANGED
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import FLOAT, Op
from kineta.expr.walk import operands, reachable
from kineta.passes.substitute import signed, substitute

#: What tells operands apart, in the order in which they are written.
_Key = tuple[int, int, tuple[int, ...], int, float]


@contextmanager
def operands_in_order(names: Iterable[str]) -> Iterator[None]:
    """Texts of expressions within the block have their operands in an order that depends on them, and on the order in which
    *names* are declared, alone.
    """
    token = ARRANGED.set(_Arranged(names).copied)
    try:
        yield
    finally:
        ARRANGED.reset(token)


class _Arranged:
    """Copies of nodes of the graph of descriptions in a graph of their own."""

    def __init__(self, names: Iterable[str]) -> None:
        self._own = Graph()
        self._rank = {name: k for k, name in enumerate(names)}
        self._copy: dict[int, Ref] = {}
        self._below: dict[int, frozenset[int]] = {}
        self._size: dict[int, float] = {}

    def copied(self, graph: Graph, ref: Ref) -> tuple[Graph, Ref]:
        """The graph and the reference by which *ref* is written."""
        if graph is not DESCRIPTIONS:
            return graph, ref
        with LOCK:
            new = [i for i in reachable(graph, [ref], self._copy) if i not in self._copy]
            symbols = [i for i in new if graph.op[i] == Op.SYMBOL]
            for i in sorted(symbols, key=lambda i: self._declared(graph.names[graph.lhs[i]])):
                self._copy[i] = self._own.symbol(graph.names[graph.lhs[i]])
            for i in new:
                self._describe(graph, i)
            self._make(graph, ref >> 1)
        return self._own, signed(self._copy[ref >> 1], ref)

    def _declared(self, name: str) -> tuple[int, str]:
        return self._rank.get(name, len(self._rank)), name

    def _describe(self, graph: Graph, i: int) -> None:
        """Note the names below node *i*, and its value up to sign for given values of names: signs and the order of operands, in
        which the graph of descriptions remembers what was read, do not change it.
        """
        op, below = graph.op[i], operands(graph, i)
        if op == Op.SYMBOL:
            self._below[i] = frozenset([self._copy[i]])
            self._size[i] = Random(graph.names[graph.lhs[i]]).uniform(0.1, 0.9)
            return
        self._below[i] = frozenset().union(*(self._below[r >> 1] for r in below))
        if op == Op.CONST:
            self._size[i] = graph.constants[graph.lhs[i]]
            return
        values = [-self._size[r >> 1] if r & 1 else self._size[r >> 1] for r in below]
        try:
            value = FLOAT[op](*values) if op in FLOAT else sum(k * abs(x) for k, x in enumerate(values, 2))
        except (ArithmeticError, ValueError, TypeError):
            value = 0.0
        self._size[i] = value if isfinite(value) else 0.0

    def _make(self, graph: Graph, root: int) -> None:
        """Copy what is below the node *root*, in order."""
        ahead = [root]
        while ahead:
            i = ahead[-1]
            left = [r >> 1 for r in operands(graph, i) if r >> 1 not in self._copy]
            if left:
                ahead += sorted(left, key=lambda k: self._key(graph, k), reverse=True)
                continue
            ahead.pop()
            if i not in self._copy:
                below = operands(graph, i)
                nodes = self._copy if graph.op[i] == Op.TABLE else {r >> 1: self._copy[r >> 1] for r in below}
                (self._copy[i],) = substitute(graph, [2 * i], {}, self._own, nodes=nodes)
                self._turn(self._copy[i] >> 1)

    def _turn(self, i: int) -> None:
        """Put a parameter before a variable in the product *i* of two names."""
        own = self._own
        if own.op[i] != Op.MUL or any(own.op[r >> 1] != Op.SYMBOL for r in (own.lhs[i], own.rhs[i])):
            return
        first, second = (own.names[own.lhs[r >> 1]] in self._rank for r in (own.lhs[i], own.rhs[i]))
        if second and not first:
            own.lhs[i], own.rhs[i] = own.rhs[i], own.lhs[i]

    def _key(self, graph: Graph, i: int) -> _Key:
        op = graph.op[i]
        return (int(op == Op.CONST), len(self._below[i]) == 0, tuple(sorted(self._below[i])), op, abs(self._size[i]))
