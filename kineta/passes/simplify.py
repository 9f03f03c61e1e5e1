"""The pipeline of passes that reduce the number of operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kineta.expr.count import count
from kineta.expr.graph import Graph, Ref
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


def _passed(graph: Graph, refs: list[Ref], parameters: Collection[str]) -> Iterator[tuple[str, Graph, list[Ref]]]:
    for name, run in PASSES:
        into = Graph()
        graph, refs = into, run(graph, refs, parameters, into)
        yield name, graph, refs


def _work(graph: Graph, refs: Sequence[Ref]) -> int:
    """Weighted operations below *refs*: a quotient or a function counts as four."""
    operations = count(graph.op[i] for i in reachable(graph, refs))
    return operations.total + 3 * operations.div + 4 * (operations.sqrt + operations.trig)
