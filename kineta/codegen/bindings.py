"""Expressions for people: what occurs more than once gets a name, the rest is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from kineta.codegen.written import LAST, Kinds, Notation, kinds_of, written
from kineta.errors import ArgumentError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, UNARY
from kineta.expr.walk import reachable
from kineta.passes.bare import bare

#: Operations in one line at most: beyond it, a part gets a name although it occurs once.
LINE = 24
#: Operations that are written again wherever they occur, at most; longer ones get a name.
AGAIN = 2
#: Operations that are written out without named parts, at most.
WRITTEN = 4000


@dataclass(frozen=True, slots=True)
class Bindings:
    """``named`` are the nodes with names of their own, z1, z2, ... in the order in which they need each other."""

    graph: Graph
    named: Mapping[int, str]
    results: Mapping[str, Ref]

    def lines(self, notation: Notation, kinds: Kinds) -> Iterator[tuple[str, str]]:
        """Names and what they stand for: the parts, then the results."""
        known = kinds_of(self.graph, [*(2 * i for i in self.named), *self.results.values()], kinds)
        kinds = {**kinds, **{name: (known[i], LAST) for i, name in self.named.items()}}
        for i, name in self.named.items():
            yield name, written(self.graph, 2 * i, notation, self.named, kinds)
        for name, ref in self.results.items():
            yield name, written(self.graph, ref, notation, self.named, kinds, whole=False)


def bindings(
    graph: Graph, results: Mapping[str, Ref], *, parts: bool = True, show: Callable[[str], str] = str
) -> Bindings:
    """*results* (name to reference) with their repeated parts named, by *show* of z1, z2, ...; short ones stay as they are.

    The names avoid those of the symbols, and of results. What guards divisors is not shown. Without *parts* nothing is
    named. Raises :class:`ArgumentError` where that would make more than :data:`WRITTEN` operations.
    """
    taken = {n.replace("_", "") for n in (*graph.names, *results)}
    graph, refs = bare(graph, list(results.values()))
    results = dict(zip(results, refs, strict=True))
    order = reachable(graph, results.values())
    if not parts:
        _check_length(graph, order, results)
        return Bindings(graph, {}, results)
    uses = dict.fromkeys(order, 0)
    for i in order:
        for r in operands(graph, i):
            uses[r >> 1] += 1
    length: dict[int, int] = {}
    named: dict[int, str] = {}
    names = (n for k in count(1) if (n := f"z{k}") not in taken)
    roots = {r >> 1 for r in results.values()}
    for i in order:
        if graph.op[i] in LEAVES:
            length[i] = 0
            continue
        inside = operands(graph, i)
        length[i] = 1 + sum(length[r >> 1] for r in inside)
        again = uses[i] > 1 or (i in roots and uses[i] > 0)
        if (again and length[i] > AGAIN) or (length[i] > LINE and i not in roots):
            named[i] = show(next(names))
            length[i] = 0
    return Bindings(graph, named, results)


def _check_length(graph: Graph, order: Iterable[int], results: Mapping[str, Ref]) -> None:
    written: dict[int, int] = {}
    for i in order:
        inside = operands(graph, i)
        written[i] = min(WRITTEN + 1, bool(inside) + sum(written[r >> 1] for r in inside))
    if sum(written[r >> 1] for r in results.values()) > WRITTEN:
        raise ArgumentError(
            f"Expected formulas of at most {WRITTEN} operations to write out without named parts, found longer ones; "
            "leave parts=True."
        )


def operands(graph: Graph, i: int) -> tuple[Ref, ...]:
    """The operands of node *i*."""
    op = graph.op[i]
    if op in LEAVES:
        return ()
    return (graph.lhs[i],) if op in UNARY else (graph.lhs[i], graph.rhs[i])
