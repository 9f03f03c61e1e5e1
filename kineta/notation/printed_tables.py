"""Tables of points in print: their points alone, and the nodes of which no part is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.lowering import replaced_tables
from kineta.expr.op import Op
from kineta.expr.tables import as_shown, of_two, table_of
from kineta.expr.walk import reachable
from kineta.passes.remove_guards import remove_guards
from kineta.passes.substitute import substitute


def with_shown_points(graph: Graph, refs: Sequence[Ref]) -> tuple[Graph, Sequence[Ref]]:
    """*refs* with the points of their tables alone, without the slopes that follow from them, in a new graph; as they are where
    there are no tables.
    """
    if Op.TABLE not in graph.op or not any(graph.op[i] == Op.TABLE for i in reachable(graph, refs)):
        return graph, refs
    own = Graph()
    plain = substitute(*remove_guards(graph, refs), {}, own)
    return own, replaced_tables(own, plain, opening=as_shown)


def grid_rows(graph: Graph, order: Iterable[int]) -> set[int]:
    """Nodes of *order* that are shown as the rows of a table of two quantities, so that they have no names."""
    tables = (table_of(graph, graph.rhs[i]) for i in order if graph.op[i] == Op.TABLE)
    return {r >> 1 for t in tables if of_two(graph, t) is not None for r in t.columns[0] if r != ZERO}
