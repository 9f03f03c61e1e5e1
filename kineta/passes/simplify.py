"""The pipeline of passes that reduce the number of operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kineta.expr.count import count
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import exceeds, reachable
from kineta.passes.distribute import distribute
from kineta.passes.expand import expand
from kineta.passes.factor import factor
from kineta.passes.fold_constants import fold_constants
from kineta.passes.share import share
from kineta.passes.substitute import substitute

#: A pass: references into one graph and the names of the parameters to references of the same values into another graph. Nodes
#: keep the order of the recursion they come from: machine code then has few live values.
Pass = Callable[[Graph, Sequence[Ref], Collection[str], Graph], list[Ref]]

#: Constants are taken into sums while these are written as derived; factors are taken out before constants are grouped, since
#: factors may be constant. Pairs are sought in what is left, which has new factors and constants.
PASSES: tuple[tuple[str, Pass], ...] = (
    ("distribute", distribute),
    ("factor", factor),
    ("gather", fold_constants),
    ("share", share),
    ("factor again", factor),
    ("gather again", fold_constants),
)


#: Nodes of an expression at most for expansion.
SMALL = 200

_COUNTED = frozenset((Op.ADD, Op.MUL, Op.DIV))


def simplify(graph: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *graph* after all passes, in *target*; small expressions are expanded first if this reduces the work."""
    *_, (_, last, refs) = stages(graph, roots, parameters)
    return substitute(last, refs, {}, target)


def stages(graph: Graph, roots: Sequence[Ref], parameters: Collection[str]) -> list[tuple[str, Graph, list[Ref]]]:
    """After each pass: its name, the graph, and the *roots* in it."""
    parameters = frozenset(parameters)  # one membership test per symbol
    plain = list(_passed(graph, list(roots), parameters))
    if exceeds(graph, roots, SMALL):
        return plain
    opened = expand(graph, roots)
    written = [("expand", graph, opened), *_passed(graph, opened, parameters)]
    return min(plain, written, key=lambda way: _work(*way[-1][1:]))


def shortest(graph: Graph, ways: Sequence[list[Ref]], parameters: Collection[str]) -> list[Ref]:
    """Of several *ways* to write the same the one with the fewest operations that vary, once common factors are taken out of its
    sums: of the two that have the fewest as they are written, which may differ by less than the passes take out.
    """
    parameters = frozenset(parameters)
    near = sorted(ways, key=lambda way: _varying(graph, way, parameters))[:2]
    return near[0] if len(near) == 1 else min(near, key=lambda way: _factored(graph, way, parameters))


def _factored(graph: Graph, refs: list[Ref], parameters: Collection[str]) -> int:
    for run in (distribute, factor):
        into = Graph()
        graph, refs = into, run(graph, refs, parameters, into)
    return _varying(graph, refs, parameters)


def _varying(graph: Graph, refs: Sequence[Ref], parameters: Collection[str]) -> int:
    """Sums, products and quotients below *refs* that depend on more than numbers and *parameters*."""
    kinds, lhs, rhs = graph.op, graph.lhs, graph.rhs
    varies: dict[int, bool] = {}
    total = 0
    for i in reachable(graph, refs):
        op = kinds[i]
        if op == Op.SYMBOL:
            varies[i] = graph.names[lhs[i]] not in parameters
        elif op == Op.CONST:
            varies[i] = False
        else:
            varies[i] = varies[lhs[i] >> 1] or (op not in UNARY and varies[rhs[i] >> 1])
            total += varies[i] and op in _COUNTED
    return total


def _passed(graph: Graph, refs: list[Ref], parameters: Collection[str]) -> Iterator[tuple[str, Graph, list[Ref]]]:
    for name, run in PASSES:
        into = Graph()
        graph, refs = into, run(graph, refs, parameters, into)
        yield name, graph, refs


def _work(graph: Graph, refs: Sequence[Ref]) -> int:
    """Weighted operations below *refs*: a quotient or a function counts as four."""
    operations = count(graph.op[i] for i in reachable(graph, refs))
    return operations.total + 3 * operations.div + 4 * (operations.sqrt + operations.trig)
