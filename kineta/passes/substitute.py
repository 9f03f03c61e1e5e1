"""Copies of expressions with symbols replaced, within a graph or from one graph into another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.op import UNARY, Op
from kineta.expr.tables import node, table_of
from kineta.expr.walk import reachable

_ADD, _RING = int(Op.ADD), (int(Op.ADD), int(Op.MUL))


def substitute(
    source: Graph,
    roots: Sequence[Ref],
    replace: Mapping[str, Ref],
    target: Graph | None = None,
    number: Callable[[float], Ref] | None = None,
    nodes: Mapping[int, Ref] = MappingProxyType({}),
) -> list[Ref]:
    """The *roots* rebuilt in *target* (by default the source) with every symbol of *replace* replaced by its reference,
    every number by the result of *number* (by default the same number), and of *nodes*, by their ids, each by its reference.
    """
    into = source if target is None else target
    number = into.const if number is None else number
    copy: dict[int, Ref] = dict(nodes)
    kinds, lhs, rhs = source.op, source.lhs, source.rhs
    add, mul = into.add, into.mul
    order = reachable(source, roots, nodes)
    for i in (i for i in order if i not in nodes) if nodes else order:
        op, a, b = kinds[i], lhs[i], rhs[i]
        if op in _RING:
            x, y = copy[a >> 1], copy[b >> 1]
            x = x ^ (a & 1) if x else ZERO
            y = y ^ (b & 1) if y else ZERO
            copy[i] = add(x, y) if op == _ADD else mul(x, y)
        elif op == Op.CONST:
            copy[i] = number(source.constants[a])
        elif op == Op.SYMBOL:
            name = source.names[a]
            copy[i] = replace[name] if name in replace else into.symbol(name)
        elif op == Op.TABLE:  # its own numbers stay what they are
            table = table_of(source, b)
            columns = tuple(tuple(signed(copy[r >> 1], r) for r in column) for column in table.columns)
            copy[i] = node(into, signed(copy[a >> 1], a), dataclasses.replace(table, columns=columns))
        elif op in UNARY:
            copy[i] = into.call(op, signed(copy[a >> 1], a))
        else:
            copy[i] = into.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
    return [signed(copy[r >> 1], r) for r in roots]


def signed(ref: Ref, sign: Ref) -> Ref:
    """*ref*, or its negative for an odd *sign*."""
    return neg(ref) if sign & 1 else ref
