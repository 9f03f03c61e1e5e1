"""Hoisting: loop-invariant code that depends on parameters only is computed once per set of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.expr.lowering import lowered
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.program import StraightLineProgram, program
from kineta.expr.walk import reachable

Outputs = Mapping[str, tuple[tuple[int, ...], Sequence[Ref]]]


def hoist(
    graph: Graph,
    inputs: Mapping[str, Sequence[Ref]],
    functions: Mapping[str, Outputs],
    parameters: Sequence[Ref],
    name: str,
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram]]:
    """*functions* (name to outputs) as programs: one from ``p`` to ``h``, the parameter-dependent values used by the rest,
    and for each function one from *inputs* and ``h`` to its outputs.
    """
    functions = {
        n: {o: (shape, lowered(graph, refs)) for o, (shape, refs) in outputs.items()}
        for n, outputs in functions.items()
    }
    roots = [r for outputs in functions.values() for _, refs in outputs.values() for r in refs]
    static = _static(graph, roots, parameters)
    operands: list[int] = [r >> 1 for r in roots]
    for i in reachable(graph, roots, static):
        op = graph.op[i]
        if op not in LEAVES and i not in static:
            operands.append(graph.lhs[i] >> 1)
            if op not in UNARY:
                operands.append(graph.rhs[i] >> 1)
    frontier = sorted({i for i in operands if i in static and graph.op[i] != Op.CONST})
    carried = [2 * i for i in frontier]
    setup = program(graph, {"p": parameters}, {"h": ((len(carried),), carried)}, f"{name}_setup")
    return setup, {n: program(graph, {**inputs, "h": carried}, outputs, n) for n, outputs in functions.items()}


def _static(graph: Graph, roots: Sequence[Ref], parameters: Sequence[Ref]) -> set[int]:
    """Ids of the nodes below *roots* that depend on constants and *parameters* only."""
    static = {r >> 1 for r in parameters}
    for i in reachable(graph, roots):
        op = graph.op[i]
        if op == Op.CONST or (
            op not in LEAVES and graph.lhs[i] >> 1 in static and (op in UNARY or graph.rhs[i] >> 1 in static)
        ):
            static.add(i)
    return static
