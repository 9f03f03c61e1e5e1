"""The passes that make expressions cheaper, in their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kineta.expr.count import count
from kineta.expr.graph import Graph, Ref
from kineta.expr.walk import reachable
from kineta.passes.expand import expand
from kineta.passes.factor import factor
from kineta.passes.gather import gather
from kineta.passes.substitute import substitute

#: From references into one graph, and the names of the parameters, to references of the same values into another graph.
#: Nodes keep their order, which is that of the recursion they come from: machine code then needs few values at a time.
Pass = Callable[[Graph, Sequence[Ref], Collection[str], Graph], list[Ref]]

#: Factors are taken out before constants are brought together, since what was taken out may be constant.
PASSES: tuple[tuple[str, Pass], ...] = (("factor", factor), ("gather", gather))


#: Nodes of expressions that are small enough to be opened and written again.
SMALL = 200


def simplify(graph: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """*roots* of *graph* after all passes, in *target*. Small ones are opened and written again first, where that pays."""
    *_, (_, last, refs) = stages(graph, roots, parameters)
    return substitute(last, refs, {}, target)


def stages(graph: Graph, roots: Sequence[Ref], parameters: Collection[str]) -> list[tuple[str, Graph, list[Ref]]]:
    """After each pass: its name, the graph, and what *roots* are in it."""
    parameters = frozenset(parameters)  # every symbol is looked for in it
    plain = list(_passed(graph, list(roots), parameters))
    if len(reachable(graph, roots)) > SMALL:
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
    """Operations below *refs*, as readers and processors weigh them: a quotient or a function as four."""
    operations = count(graph.op[i] for i in reachable(graph, refs))
    return operations.total + 3 * operations.div + 4 * (operations.sqrt + operations.trig)
