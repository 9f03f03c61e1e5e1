"""The passes that make expressions cheaper, in their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.passes.factor import factor
from kineta.passes.gather import gather

#: From references (and those of the parameters) to references of the same values, with no more operations.
Pass = Callable[[Graph, Sequence[Ref], Collection[Ref]], list[Ref]]

#: Factors are taken out before constants are brought together, since what was taken out may be constant.
PASSES: tuple[tuple[str, Pass], ...] = (("factor", factor), ("gather", gather), ("factor again", factor))


def simplify(graph: Graph, roots: Sequence[Ref], parameters: Collection[Ref] = ()) -> list[Ref]:
    """*roots* after all passes."""
    *_, (_, last) = stages(graph, roots, parameters)
    return last


def stages(graph: Graph, roots: Sequence[Ref], parameters: Collection[Ref] = ()) -> Iterator[tuple[str, list[Ref]]]:
    """Name of each pass, and what *roots* are after it."""
    refs = list(roots)
    for name, run in PASSES:
        refs = run(graph, refs, parameters)
        yield name, refs
