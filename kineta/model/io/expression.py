"""Expressions of the text language: from the syntax tree to nodes of the graph, with dimensions checked on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lark import Token, Tree

from kineta.errors import ExpressionError, Location, ModelError, did_you_mean
from kineta.expr.function import call
from kineta.expr.node import Expr, expr, symbol
from kineta.expr.op import BINARY, FUNCTIONS, Op
from kineta.model import units
from kineta.model.units import NUMBER, Dimension

#: Names that stand for numbers.
CONSTANTS = {"pi": math.pi}

#: Functions whose value has the dimension of their arguments, and those whose arguments must be numbers.
_KEEPS = {"abs", "min", "max"}
_FREE = {"sign", "step", "atan2", "sqrt"} | _KEEPS


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression with its dimension; None where it is not known, so that anything goes with it. ``plain`` marks numbers
    written without a unit, and values of functions such as sin: they may stand for anything in SI.
    """

    value: Expr
    dimension: Dimension | None = None
    plain: bool = False


class Reader:
    """Turns trees of expressions into quantities.

    ``dimensions`` are those of the symbols that have one; ``places`` those where symbols were read, in order. Errors carry the
    place in ``file``.
    """

    def __init__(self, file: str, dimensions: Mapping[str, Dimension]) -> None:
        self.file = file
        self.dimensions = dimensions
        self.places: dict[str, list[Location]] = {}

    def location(self, node: Tree[Token] | Token) -> Location:
        """Where *node* begins."""
        line, column = (node.line, node.column) if isinstance(node, Token) else (node.meta.line, node.meta.column)
        return Location(self.file, line or 1, column or 1)

    def expression(self, node: Tree[Token], expected: Dimension | None = None, what: str = "") -> Expr:
        """The expression *node*, which must have the dimension *expected*, being *what*."""
        quantity = self.quantity(node)
        found = quantity.dimension
        if expected is not None and found is not None and not quantity.plain and found != expected:
            raise ModelError(f"{what} must be {units.name(expected)}, found {units.name(found)}.", self.location(node))
        return quantity.value

    def quantity(self, node: Tree[Token]) -> Quantity:
        """The expression *node* with its dimension. Parts come before wholes, so that no depth of brackets is too deep."""
        known: dict[int, Quantity] = {}
        for part in node.iter_subtrees():
            children = [known[id(c)] if isinstance(c, Tree) else c for c in part.children]
            try:
                known[id(part)] = getattr(self, f"_{part.data}")(part, children)
            except (ExpressionError, ModelError) as error:
                raise ModelError(str(error), self.location(part)) from None
        return known[id(node)]

    def _quantity(self, node: Tree[Token], children: list[Any]) -> Quantity:
        number, dimension = units.quantity(str(children[0]))
        return Quantity(expr(number), NUMBER if dimension is None else dimension, plain=dimension is None)

    def _name(self, node: Tree[Token], children: list[Any]) -> Quantity:
        name = str(children[0])
        if name in CONSTANTS:
            return Quantity(expr(CONSTANTS[name]), NUMBER)
        return Quantity(self.symbol(children[0]), self.dimensions.get(name))

    def symbol(self, token: Token) -> Expr:
        """The symbol that *token* names; its place is remembered for errors."""
        self.places.setdefault(str(token), []).append(self.location(token))
        return symbol(str(token))

    def _sum(self, node: Tree[Token], children: list[Any]) -> Quantity:
        total: Quantity = children[0]
        for sign, other in zip(children[1::2], children[2::2], strict=True):
            value = total.value + other.value if sign == "+" else total.value - other.value
            total = _joined(total, other, value)
        return total

    def _product(self, node: Tree[Token], children: list[Any]) -> Quantity:
        total: Quantity = children[0]
        for sign, other in zip(children[1::2], children[2::2], strict=True):
            divides = sign == "/"
            value = total.value / other.value if divides else total.value * other.value
            # A bare number may stand for a length or a mass in SI, so its product with something else can be anything.
            dimension = NUMBER if total.plain and other.plain else None
            if not (total.plain or other.plain or total.dimension is None or other.dimension is None):
                dimension = _times(total.dimension, other.dimension, -1 if divides else 1)
            total = Quantity(value, dimension, total.plain and other.plain)
        return total

    def _unary(self, node: Tree[Token], children: list[Any]) -> Quantity:
        *signs, operand = children
        minus = signs.count("-") % 2
        return Quantity(-operand.value if minus else operand.value, operand.dimension, operand.plain)

    _exponent = _unary

    def _power(self, node: Tree[Token], children: list[Any]) -> Quantity:
        base, *exponents = children
        value = exponents[-1].value
        for exponent in reversed(exponents[:-1]):
            value = exponent.value**value
        dimension = None
        if base.dimension is not None and value.value is not None:
            dimension = _times(NUMBER, base.dimension, value.value)
        return Quantity(base.value**value, dimension, base.plain)

    def _call(self, node: Tree[Token], children: list[Any]) -> Quantity:
        name, arguments = str(children[0]), children[1:]
        op = FUNCTIONS.get(name)
        if op is None:
            raise ModelError(f"unknown function '{name}'.{did_you_mean(name, FUNCTIONS)}")
        wanted = 2 if op in BINARY else 1
        if len(arguments) != wanted:
            raise ModelError(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, found {len(arguments)}.")
        value = call(op, *(a.value for a in arguments))
        first = arguments[0]
        if wanted == 2:
            both = _joined(first, arguments[1], value)
            return both if name in _KEEPS else Quantity(value, NUMBER, plain=True)
        if name not in _FREE and first.dimension not in (None, NUMBER):
            raise ModelError(f"{name} takes an angle or a number, found {units.name(first.dimension or NUMBER)}.")
        if op == Op.SQRT and first.dimension is not None:
            return Quantity(value, _times(NUMBER, first.dimension, 0.5), first.plain)
        return Quantity(value, first.dimension, first.plain) if name in _KEEPS else Quantity(value, NUMBER, plain=True)


def _joined(a: Quantity, b: Quantity, value: Expr) -> Quantity:
    """A sum, or a choice, of two quantities."""
    if a.dimension is None or b.dimension is None:
        return Quantity(value)
    if a.plain or b.plain:
        return Quantity(value, b.dimension if a.plain else a.dimension, a.plain and b.plain)
    if a.dimension != b.dimension:
        raise ModelError(f"{units.name(a.dimension)} and {units.name(b.dimension)} cannot be added or compared.")
    return Quantity(value, a.dimension)


def _times(a: Dimension, b: Dimension, power: float) -> Dimension:
    w, x, y, z = (i + power * j for i, j in zip(a, b, strict=True))
    return w, x, y, z
