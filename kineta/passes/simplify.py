"""The passes that make expressions cheaper, in their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.passes.factor import factor
from kineta.passes.gather import gather

#: From references into one graph, and the names of the parameters, to references of the same values into another graph.
#: Nodes keep their order, which is that of the recursion they come from: machine code then needs few values at a time.
Pass = Callable[[Graph, Sequence[Ref], Collection[str], Graph], list[Ref]]

#: Factors are taken out before constants are brought together, since what was taken out may be constant.
PASSES: tuple[tuple[str, Pass], ...] = (("factor", factor), ("gather", gather))


def simplify(graph: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """*roots* of *graph* after all passes, in *target*."""
    refs = list(roots)
    for k, (_, run) in enumerate(PASSES, 1):
        into = target if k == len(PASSES) else Graph()
        graph, refs = into, run(graph, refs, parameters, into)
    return refs


def stages(graph: Graph, roots: Sequence[Ref], parameters: Collection[str]) -> Iterator[tuple[str, Graph, list[Ref]]]:
    """After each pass: its name, the graph, and what *roots* are in it."""
    refs = list(roots)
    for name, run in PASSES:
        into = Graph()
        graph, refs = into, run(graph, refs, parameters, into)
        yield name, graph, refs
