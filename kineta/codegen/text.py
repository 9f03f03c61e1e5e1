"""Equations as plain text, one line per named part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kineta.codegen.bindings import bindings
from kineta.expr.graph import Graph, Ref
from kineta.expr.text import text


def lines(graph: Graph, results: Mapping[str, Ref], *, parts: bool = True) -> Iterator[str]:
    """``z1 = ...`` for every repeated part, then ``name = ...`` for every result; linear in the number of operations.

    Without *parts* everything is written out. Raises :class:`ArgumentError` where that would be too long.
    """
    bound = bindings(graph, results, parts=parts)
    graph = bound.graph
    for i, name in bound.named.items():
        yield f"{name} = {text(graph, 2 * i, bound.named)}"
    for name, ref in bound.results.items():
        known = bound.named.get(ref >> 1)
        shown = text(graph, ref, bound.named) if known is None else f"{'-' if ref & 1 else ''}{known}"
        yield f"{name} = {shown}"
