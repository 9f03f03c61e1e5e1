"""Evaluation of expressions for given values of their symbols: the reference meaning, on floats or on other number types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kineta.errors import ExpressionError
from kineta.expr.graph import Graph, Ref, no_number
from kineta.expr.op import FLOAT, UNARY, Op
from kineta.expr.program import StraightLineProgram
from kineta.expr.row import StepRow
from kineta.expr.tables import opened, table_of
from kineta.expr.walk import reachable
from kineta.passes.substitute import signed

_UNARY = [op in UNARY for op in Op]
_CHOOSING = frozenset({Op.WHERE, Op.IF, Op.TABLE})
#: Whether an operation takes more than the values of its operands.
_PARTICULAR = [op in (Op.CONST, Op.SYMBOL, Op.PAIR, Op.IF, Op.TABLE) for op in Op]


def evaluate(
    graph: Graph,
    roots: Sequence[Ref],
    values: Mapping[str, Any],
    functions: Mapping[int, Callable[..., Any]] = FLOAT,
    known: dict[int, Any] | None = None,
) -> list[Any]:
    """Values of *roots* by the *functions* of the operations, on floats, arrays or numbers of any precision; ``CONST`` converts
    a float. What nodes are *known* to be, by id, for these values is taken from there, and what is computed is put there.

    Raises :class:`ExpressionError` for a symbol without a value or an operation without a result.
    """
    result = dict[int, Any]() if known is None else known
    order = [i for i in reachable(graph, roots, result) if i not in result]
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    # Where there are choices, what has no value may be what is not chosen.
    choosing, undefined = any(op[i] in _CHOOSING for i in order), None
    for i in order:
        kind, a, b = op[i], lhs[i], rhs[i]
        if _PARTICULAR[kind]:
            result[i] = _particular(graph, i, result, values, functions)
            continue
        x = -result[a >> 1] if a & 1 else result[a >> 1]
        arguments = (x,) if _UNARY[kind] else (x, -result[b >> 1] if b & 1 else result[b >> 1])
        try:
            result[i] = functions[kind](*arguments)
        except (ValueError, ZeroDivisionError, OverflowError):
            undefined = undefined or no_number(kind, arguments)
            if not choosing:
                raise undefined from None
            result[i] = math.nan
    found = [-result[r >> 1] if r & 1 else result[r >> 1] for r in roots]
    if undefined is not None:
        result.clear()  # what else needs the same operation has no value either
        if any(x != x for x in found):
            raise undefined
    return found


def _particular(
    graph: Graph,
    i: int,
    result: Mapping[int, Any],
    values: Mapping[str, Any],
    functions: Mapping[int, Callable[..., Any]],
) -> Any:
    """The value of a leaf, of a pair, of a choice of two or of a table, whose operands have values."""
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if op == Op.CONST:
        constant = graph.constants[a]
        return constant if isinstance(constant, StepRow) else functions.get(Op.CONST, float)(constant)
    if op == Op.SYMBOL:
        name = graph.names[a]
        if name not in values:
            raise ExpressionError(f"The symbol '{name}' has no value.")
        return values[name]
    if op == Op.PAIR:
        return tuple(-result[r >> 1] if r & 1 else result[r >> 1] for r in (a, b))
    if op == Op.IF:
        kept, condition = functions[Op.WHERE], -result[a >> 1] if a & 1 else result[a >> 1]
        first, second = result[b >> 1]
        return kept(first, condition) + kept(second, 1 - condition)
    return _table(graph, i, result, functions)


def _table(graph: Graph, i: int, result: Mapping[int, Any], functions: Mapping[int, Callable[..., Any]]) -> Any:
    """The value of the table *i*, whose operands have values, by its polynomials."""
    own, known = Graph(), dict[str, Any]()

    def given(r: Ref) -> Ref:
        value = graph.value(r)
        if value is not None:
            return own.const(value)
        known[f"x{r >> 1}"] = result[r >> 1]
        return signed(own.symbol(f"x{r >> 1}"), r)

    table = table_of(graph, graph.rhs[i])
    columns = tuple(tuple(map(given, column)) for column in table.columns)
    x = given(graph.lhs[i])
    return evaluate(own, [opened(own, x, replace(table, columns=columns))], known, functions)[0]


def evaluate_program(program: StraightLineProgram, *blocks: Sequence[float]) -> list[float]:
    """Results of *program* for numbers of each input block.

    Raises :class:`ExpressionError` for an operation without a result, or with one that is no number.
    """
    values = [x for block in blocks for x in block]
    values += program.constants
    choosing, undefined = Op.WHERE in program.op, None
    for op, a, b in zip(program.op, program.lhs, program.rhs, strict=True):
        x = -values[a >> 1] if a & 1 else values[a >> 1]
        arguments = (x,) if _UNARY[op] else (x, -values[b >> 1] if b & 1 else values[b >> 1])
        try:
            found = FLOAT[op](*arguments)
        except (ValueError, ZeroDivisionError, OverflowError):
            found = math.nan
        if found != found:
            undefined = undefined or no_number(op, arguments)
            if not choosing:
                raise undefined
        values.append(found)
    results = [-values[r >> 1] if r & 1 else values[r >> 1] for r in program.results]
    if undefined is not None and any(x != x for x in results):
        raise undefined
    return results
