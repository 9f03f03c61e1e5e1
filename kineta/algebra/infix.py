"""Expressions as infix text, for errors and reports, and readable by the ``.kin`` reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from itertools import islice

from kineta.algebra.signs import Signs, power
from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.op import BINARY, Op
from kineta.expr.tables import Table, of_two, table_of

# Binding strengths: sum, product, power, atom.
_SUM, _PRODUCT, _POWER, _ATOM = range(4)

#: Text, or an operand with the smallest binding strength that needs no parentheses.
_Piece = str | tuple[Ref, int]

#: Inverses of whole numbers below which numbers are written as decimals.
_LEAST_INVERSE = 1e-4

#: Places of operations in a product; those of others are between.
_PLACES: dict[int, int] = {Op.CONST: 0, Op.ADD: 2}

#: Pieces of an expression shown in a message.
_BRIEF = 60

#: What is written in the place of a reference into a graph: the same with its operands in another order.
ARRANGED: ContextVar[Callable[[Graph, Ref], tuple[Graph, Ref]] | None] = ContextVar("ARRANGED", default=None)


def number(value: float) -> str:
    """The shortest text that reads back as the same float."""
    shown = repr(value)
    return shown[:-2] if shown.endswith(".0") else shown


def text(graph: Graph, ref: Ref) -> str:
    """*ref* written with + - * / ^ and functions; a node with several uses is written out at each occurrence."""
    return "".join(_pieces(*_arranged(graph, ref)))


def _arranged(graph: Graph, ref: Ref) -> tuple[Graph, Ref]:
    arranged = ARRANGED.get()
    return (graph, ref) if arranged is None else arranged(graph, ref)


def brief(graph: Graph, ref: Ref) -> str:
    """The beginning of :func:`text`, for messages: with repeated parts the whole text may exceed any memory."""
    pieces = list(islice(_pieces(graph, ref), _BRIEF + 1))
    return "".join(pieces) if len(pieces) <= _BRIEF else "".join(pieces[:_BRIEF]) + " ..."


def condition_text(graph: Graph, ref: Ref) -> str:
    """The condition that *ref* is positive, for a number made of comparisons: ``a < b and c <= 0``."""
    graph, ref = _arranged(graph, ref)
    return "".join(p if isinstance(p, str) else text(graph, p[0]) for p in _condition(graph, ref)[0])


def comparison(graph: Graph, ref: Ref) -> tuple[str, tuple[Ref, ...]]:
    """What the number *ref* of a condition is: ``and``, ``or`` or ``not`` with the conditions below it, ``>`` or ``<=`` for a
    quantity that is or is not positive.
    """
    word, parts = _pair(graph, ref)
    if word in (">", "<="):
        return word, parts
    if not all(_is_condition(graph, r) for r in parts):
        return ">", (ref,)
    if word == "not":
        return word, parts
    below = ((r, comparison(graph, r)) for r in parts)
    return word, tuple(x for r, (own, inner) in below for x in (inner if own == word else (r,)))


def _is_condition(graph: Graph, ref: Ref) -> bool:
    """Whether the number *ref* is made of comparisons, one or zero."""
    word, parts = _pair(graph, ref)
    if word in (">", "<="):
        return parts != (ref,)
    return all(_is_condition(graph, r) for r in parts)


def _pair(graph: Graph, ref: Ref) -> tuple[str, tuple[Ref, ...]]:
    """As :func:`comparison`, with two numbers below each ``and`` and ``or``; those below need not be conditions."""
    i = ref >> 1
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if not ref & 1:
        if op == Op.STEP:
            return ">", (a,)
        if op == Op.MUL:
            return "and", (a, b)
        if op == Op.ADD and a == ONE and b & 1:
            j = b >> 1
            if graph.op[j] == Op.STEP:
                return "<=", (graph.lhs[j],)
            if graph.op[j] == Op.MUL:
                return "or", tuple(graph.sub(ONE, r) for r in (graph.lhs[j], graph.rhs[j]))
            return "not", (b ^ 1,)
        if (either := disjunction(graph, ref)) is not None:
            return "or", either
    return ">", (ref,)


def disjunction(graph: Graph, ref: Ref) -> tuple[Ref, Ref] | None:
    """The conditions b and a of b + a*(1 - b), which holds where either does."""
    i = ref >> 1
    if ref & 1 or graph.op[i] != Op.ADD:
        return None
    sides = graph.lhs[i], graph.rhs[i]
    for b, product in (sides, sides[::-1]):
        if not (b | product) & 1 and graph.op[product >> 1] == Op.MUL:
            factors = graph.lhs[product >> 1], graph.rhs[product >> 1]
            for a, rest in (factors, factors[::-1]):
                k = rest >> 1
                if not (a | rest) & 1 and graph.op[k] == Op.ADD and (graph.lhs[k], graph.rhs[k]) == (ONE, b ^ 1):
                    return b, a
    return None


def inequality_text(graph: Graph, ref: Ref) -> str:
    """The condition that *ref* is zero or positive, with a difference as its two sides: ``a >= b`` for a - b."""
    graph, ref = _arranged(graph, ref)
    return "".join(p if isinstance(p, str) else text(graph, p[0]) for p in _against_zero(graph, ref, ">="))


#: Relations of two sides, and those of the sides exchanged.
_TURNED = {">": "<", ">=": "<=", "<=": ">="}


def _against_zero(graph: Graph, d: Ref, word: str) -> list[_Piece]:
    """The pieces of a comparison of *d* with zero."""
    i, turned = d >> 1, _TURNED[word]
    if graph.op[i] != Op.ADD:
        return [(d & -2, _SUM), f" {turned if d & 1 else word} 0"]
    a, b = graph.lhs[i] ^ d & 1, graph.rhs[i] ^ d & 1
    if a & 1 == b & 1:
        own = turned if a & 1 else word
        for constant, other in ((a, b), (b, a)):
            if graph.op[constant >> 1] == Op.CONST:
                return [(other & -2, _SUM), f" {own} ", (constant & -2 | 1, _SUM)]
        return [(d ^ a & 1, _SUM), f" {own} 0"]
    less, more = (a, b) if a & 1 else (b, a)
    if graph.op[less >> 1] == Op.CONST:
        return [(more, _SUM), f" {word} ", (less ^ 1, _SUM)]
    return [(less ^ 1, _SUM), f" {turned} ", (more, _SUM)]


def _condition(graph: Graph, ref: Ref) -> tuple[list[_Piece], bool]:
    """The pieces of a condition, and whether it is a single comparison."""
    word, parts = comparison(graph, ref)
    if word in (">", "<="):
        return _against_zero(graph, parts[0], word), True
    inner = [_condition(graph, p) for p in parts]
    shown = [p if alone else ["(", *p, ")"] for p, alone in inner]
    if word == "not":
        return ["not ", *(shown[0] if not inner[0][1] else ["(", *shown[0], ")"])], False
    return [piece for k, own in enumerate(shown) for piece in (*([f" {word} "] if k else ()), *own)], False


def _pieces(graph: Graph, ref: Ref) -> Iterator[str]:
    """The text from left to right, by a stack of pending pieces."""
    signs = Signs(graph)
    stack: list[_Piece] = [(ref, _SUM)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        r, least = piece
        while graph.op[r >> 1] == Op.GUARD:  # guards are not shown
            r = graph.lhs[r >> 1] ^ r & 1
        pieces, strength = _signed(graph, r, signs)
        stack.extend(reversed(pieces if strength >= least else ["(", *pieces, ")"]))


def _signed(graph: Graph, ref: Ref, signs: Signs) -> tuple[Sequence[_Piece], int]:
    """The pieces of *ref* with its sign, and the binding strength of the whole."""
    i = ref >> 1
    if graph.op[i] == Op.ADD:
        a, b = signs.operands(ref)
        return [(a, _SUM), " - " if b & 1 else " + ", (b & -2, _PRODUCT)], _SUM
    if not ref & 1:
        return _node(graph, i)
    if signs.free(ref) and (turned := signs.turned(i)):
        return (_multiplied if graph.op[i] == Op.MUL else _divided)(graph, *turned)
    pieces, strength = _node(graph, i)
    return (["-", *pieces] if strength >= _PRODUCT else ["-(", *pieces, ")"]), _SUM


def _table(graph: Graph, x: Ref, table: Table) -> list[_Piece]:
    words = f"{', '.join(table.words)}; " if table.words else ""
    pieces: list[_Piece] = ["table" + "'" * table.order + "(", (x, _SUM)]
    if (both := of_two(graph, table)) is None:
        rows = table.rows
    else:
        y, (places, *rows) = both
        pieces += [", ", (y, _SUM)]
        words += f"({', '.join(map(number, places))}), "
    pieces.append(f"; {words}")
    for k, (place, *values) in enumerate(rows):
        pieces.append(f"{', ' * bool(k)}({number(place)}")
        for value in values:
            pieces += [", ", (int(value), _SUM)]
        pieces.append(")")
    return [*pieces, ")"]


def _divisor(graph: Graph, ref: Ref) -> int:
    """The whole number n for the constant 1/n, if that is long as a decimal; 0 for others."""
    if ref & 1 or graph.op[ref >> 1] != Op.CONST:
        return 0
    value = graph.constants[graph.lhs[ref >> 1]]
    whole = round(1 / value) if len(number(value)) > 12 and _LEAST_INVERSE < value < 1 else 0
    return whole if whole and 1 / whole == value else 0


def _multiplied(graph: Graph, a: Ref, b: Ref) -> tuple[list[_Piece], int]:
    """A product of two factors: one that is a product goes first, or else a number, and a sum last."""
    for part, other in ((a, b), (b, a)):
        if whole := _divisor(graph, part):
            return [(other, _PRODUCT), f"/{whole}"], _PRODUCT
    first, second = ((not _is_product(graph, r), _PLACES.get(graph.op[r >> 1], 1)) for r in (a, b))
    a, b = (a, b) if first <= second else (b, a)
    return [(a, _PRODUCT), "*", (b, _POWER)], _PRODUCT


def _is_product(graph: Graph, ref: Ref) -> bool:
    return graph.op[ref >> 1] == Op.MUL and power(graph, ref)[1] == 1


def _divided(graph: Graph, a: Ref, b: Ref) -> tuple[list[_Piece], int]:
    return [(a, _PRODUCT), "/", (b, _POWER)], _PRODUCT


def _node(graph: Graph, i: int) -> tuple[list[_Piece], int]:
    """Operands of node *i* and the text between them, with the binding strength of the whole."""
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if op == Op.CONST:
        return [number(graph.constants[a])], _ATOM
    if op == Op.SYMBOL:
        return [graph.names[a]], _ATOM
    if op == Op.MUL:
        base, exponent = power(graph, 2 * i)
        return ([(base, _ATOM), f"^{exponent}"], _POWER) if exponent > 1 else _multiplied(graph, a, b)
    if op == Op.DIV:
        return _divided(graph, a, b)
    if op == Op.POW:
        return [(a, _ATOM), "^", (b, _ATOM)], _POWER
    if op == Op.TABLE:
        return _table(graph, a, table_of(graph, b)), _ATOM
    if op == Op.IF:
        return [
            "if(",
            *_condition(graph, a)[0],
            ", ",
            (graph.lhs[b >> 1], _SUM),
            ", ",
            (graph.rhs[b >> 1], _SUM),
            ")",
        ], _ATOM
    if op == Op.WHERE:
        return ["if(", *_condition(graph, b)[0], ", ", (a, _SUM), ", 0)"], _ATOM
    arguments: list[_Piece] = [(a, _SUM), ", ", (b, _SUM)] if op in BINARY else [(a, _SUM)]
    return [f"{Op(op).name.lower()}(", *arguments, ")"], _ATOM
