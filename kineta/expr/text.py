"""One expression as text: what people read in errors and reports, and what the ``.kin`` reader reads back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import BINARY, Op

# Binding strength of what was written: a sum, a product, a power, an atom.
_SUM, _PRODUCT, _POWER, _ATOM = range(4)

#: Text as it stands, or an operand with the least strength that needs no parentheses in its place.
_Piece = str | tuple[Ref, int]

#: Pieces of an expression that a message shows.
_BRIEF = 60


def number(value: float) -> str:
    """Shortest text that reads back as the same float."""
    shown = repr(value)
    return shown[:-2] if shown.endswith(".0") else shown


def text(graph: Graph, ref: Ref, names: Mapping[int, str] = MappingProxyType({})) -> str:
    """*ref* written with + - * / ^ and functions; nodes (ids) below it that have *names* by these, all others written out
    wherever they occur.
    """
    return "".join(_pieces(graph, ref, names))


def brief(graph: Graph, ref: Ref) -> str:
    """The beginning of :func:`text`, for messages: with parts that repeat, the whole may be longer than any memory."""
    pieces = list(islice(_pieces(graph, ref, {}), _BRIEF + 1))
    return "".join(pieces) if len(pieces) <= _BRIEF else "".join(pieces[:_BRIEF]) + " ..."


def _pieces(graph: Graph, ref: Ref, names: Mapping[int, str]) -> Iterator[str]:
    """The text from left to right; a stack holds what is still to be written."""
    stack: list[_Piece] = [(ref, _SUM)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        r, least = piece
        i = r >> 1
        while graph.op[i] == Op.GUARD:  # what guards a value is not part of it
            r = graph.lhs[i] ^ (r & 1)
            i = r >> 1
        pieces: Sequence[_Piece]
        if i in names and i != ref >> 1:
            pieces, strength = [names[i]], _ATOM
        elif r & graph.rhs[i] & 1 and graph.op[i] == Op.ADD:  # -(a - b) is b - a
            pieces, strength, r = [(graph.rhs[i] & -2, _SUM), " - ", (graph.lhs[i], _PRODUCT)], _SUM, r ^ 1
        else:
            pieces, strength = _node(graph, i)
        if r & 1:
            pieces = ["-", *pieces] if strength >= _PRODUCT else ["-(", *pieces, ")"]
            strength = _SUM
        stack.extend(reversed(pieces if strength >= least else ["(", *pieces, ")"]))


def _node(graph: Graph, i: int) -> tuple[list[_Piece], int]:
    """Node *i* as its operands and the text between them, with the strength of the whole."""
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if op == Op.CONST:
        return [number(graph.constants[a])], _ATOM
    if op == Op.SYMBOL:
        return [graph.names[a]], _ATOM
    if op == Op.ADD:
        # Sums are read from the left: the operand that is itself a sum goes first.
        if graph.op[b >> 1] == Op.ADD and graph.op[a >> 1] != Op.ADD and not b & 1:
            a, b = b, a
        return [(a, _SUM), " - " if b & 1 else " + ", (b & -2, _PRODUCT)], _SUM
    if op == Op.MUL:
        if a == b:
            return [(a, _ATOM), "^2"], _POWER
        if graph.op[b >> 1] == Op.MUL and graph.op[a >> 1] != Op.MUL:
            a, b = b, a
        if graph.op[b >> 1] == Op.CONST and graph.op[a >> 1] != Op.MUL:
            a, b = b, a
        return [(a, _PRODUCT), "*", (b, _POWER)], _PRODUCT
    if op == Op.DIV:
        return [(a, _PRODUCT), "/", (b, _POWER)], _PRODUCT
    if op == Op.POW:
        return [(a, _ATOM), "^", (b, _ATOM)], _POWER
    arguments: list[_Piece] = [(a, _SUM), ", ", (b, _SUM)] if op in BINARY else [(a, _SUM)]
    return [f"{Op(op).name.lower()}(", *arguments, ")"], _ATOM
