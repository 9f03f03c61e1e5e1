"""Collected forms of small expressions: one term for every product of variables, with a constant coefficient in front.

Example: ``l1^2*(m1 + m2)*q1'' + m2*l1*l2*cos(q1 - q2)*q2''``. Coefficients have as few factors as the parameters allow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.passes.expand import Monomial, Sum, SumsOfProducts


def collect_terms(graph: Graph, roots: Sequence[Ref], parameters: Collection[str]) -> list[Ref]:
    """The *roots* in collected form, in the same graph; a root with numbers near the limits of floats is unchanged."""
    opened = SumsOfProducts(graph)
    return [_collected(opened, r, parameters) for r in roots]


def _collected(opened: SumsOfProducts, ref: Ref, parameters: Collection[str]) -> Ref:
    try:
        total = opened.closed(opened.total(ref))
    except OverflowError:
        return ref
    constant = {x for m in total for x, _ in m if _symbols(opened.graph, x) <= set(parameters)}
    groups: dict[Monomial, Sum] = {}
    for m, f in total.items():
        coefficient = tuple((x, p) for x, p in m if x in constant)
        groups.setdefault(tuple((x, p) for x, p in m if x not in constant), {})[coefficient] = f
    return opened.graph.sum(opened.term(m, Fraction(1), opened.write(inside)) for m, inside in groups.items())


def _symbols(graph: Graph, ref: Ref) -> set[str]:
    """Names of the symbols below *ref*."""
    return {graph.names[graph.lhs[i]] for i in reachable(graph, [ref]) if graph.op[i] == Op.SYMBOL}
