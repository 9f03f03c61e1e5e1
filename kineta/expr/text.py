"""One expression as text: what people read in errors and reports, and what the ``.kin`` reader reads back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import BINARY, Op
from kineta.expr.walk import reachable_below

# Binding strength of what was written: a sum, a product, a power, an atom.
_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def number(value: float) -> str:
    """Shortest text that reads back as the same float."""
    shown = repr(value)
    return shown[:-2] if shown.endswith(".0") else shown


def text(graph: Graph, ref: Ref, names: Mapping[int, str] = MappingProxyType({})) -> str:
    """*ref* written with + - * / ^ and functions; nodes (ids) below it that have *names* by these, all others written out
    wherever they occur.
    """
    written: dict[int, tuple[str, int]] = {}

    def operand(r: Ref, least: int) -> str:
        shown, strength = written[r >> 1]
        if r & 1:
            shown, strength = "-" + (shown if strength >= _PRODUCT else f"({shown})"), _SUM
        return shown if strength >= least else f"({shown})"

    for i in reachable_below(graph, ref, names):
        if i in names and i != ref >> 1:
            written[i] = names[i], _ATOM
            continue
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            written[i] = number(graph.constants[a]), _ATOM
        elif op == Op.SYMBOL:
            written[i] = graph.names[a], _ATOM
        elif op == Op.ADD:
            # Sums are read from the left: the operand that is itself a sum goes first.
            if graph.op[b >> 1] == Op.ADD and graph.op[a >> 1] != Op.ADD and not b & 1:
                a, b = b, a
            sign = "-" if b & 1 else "+"
            written[i] = f"{operand(a, _SUM)} {sign} {operand(b & -2, _PRODUCT)}", _SUM
        elif op == Op.MUL:
            if graph.op[b >> 1] == Op.MUL and graph.op[a >> 1] != Op.MUL:
                a, b = b, a
            if graph.op[b >> 1] == Op.CONST and graph.op[a >> 1] != Op.MUL:
                a, b = b, a
            written[i] = f"{operand(a, _PRODUCT)}*{operand(b, _POWER)}", _PRODUCT
        elif op == Op.DIV:
            written[i] = f"{operand(a, _PRODUCT)}/{operand(b, _POWER)}", _PRODUCT
        elif op == Op.POW:
            written[i] = f"{operand(a, _ATOM)}^{operand(b, _ATOM)}", _POWER
        else:
            arguments = operand(a, _SUM) + (f", {operand(b, _SUM)}" if op in BINARY else "")
            written[i] = f"{Op(op).name.lower()}({arguments})", _ATOM
    return operand(ref, _SUM)
