"""Expressions of the text language: from the syntax tree to nodes of the graph, with dimensions checked on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lark import Token, Tree

from kineta.algebra.expression import Expr, apply, expr, symbol
from kineta.errors import ExpressionError, Location, ModelError, suggestion
from kineta.expr.op import BINARY, FUNCTIONS, Op
from kineta.model import units, vectors
from kineta.model.coercion import Vector3
from kineta.model.units import NUMBER, Dimension
from kineta.vocabulary import meaning

#: Names that stand for numbers.
CONSTANTS = {"pi": math.pi}

#: Functions whose value has the dimension of their arguments, and functions of arguments of any dimension.
_KEEPS = {"abs", "min", "max"}
_FREE = {"sign", "step", "atan2", "sqrt"} | _KEEPS


#: A node of the parse tree. Its children have the shapes that the grammar gives them.
Node = Any


@dataclass(frozen=True, slots=True)
class DimensionedExpr:
    """An expression with its dimension; None where it is not known, so that anything goes with it. ``plain`` marks numbers
    written without a unit, and values of functions such as sin: they may stand for anything in SI. ``shown`` is True where
    a unit was written in the text; else the dimension only follows from the motions.
    """

    value: Expr
    dimension: Dimension | None = None
    plain: bool = False
    shown: bool = True


class Reader:
    """Translator of syntax trees into expressions with dimensions.

    ``dimensions`` are those of the parameters that were declared with a unit, ``moving`` those of coordinates, speeds and
    components of points, which count only beside what has a unit: numbers without one may stand for anything. ``lets`` are
    the named expressions read so far. ``places`` are those where symbols were read, in order. Errors carry the place in
    ``file``.
    """

    def __init__(self, file: str, dimensions: Mapping[str, Dimension]) -> None:
        self.file = file
        self.dimensions = dimensions
        self.moving: Mapping[str, Dimension] = {}
        self.lets: dict[str, DimensionedExpr] = {}
        self.places: dict[str, list[Location]] = {}

    def location(self, node: Tree[Token] | Token) -> Location:
        """Location of the first token of *node*."""
        line, column = (node.line, node.column) if isinstance(node, Token) else (node.meta.line, node.meta.column)
        return Location(self.file, line or 1, column or 1)

    def expression(self, node: Tree[Token], expected: Dimension | None = None, what: str = "") -> Expr:
        """Expression of *node*, of the dimension *expected*; *what* is its name in errors."""
        quantity = self.quantity(node)
        if quantity.shown:
            self.expect(node, quantity, expected, what)
        return quantity.value

    def coefficient(self, node: Tree[Token], what: str) -> Expr:
        """Expression of *node* without a unit; *what* is its name in errors."""
        quantity = self.quantity(node)
        if quantity.shown:
            self.expect(node, quantity, units.NUMBER, what, "a number without a unit")
        return quantity.value

    def vector(self, node: Node, expected: Dimension | None, what: str) -> Vector3:
        """The three expressions of *node*, each as :meth:`expression` reads it."""
        x, y, z = (self.expression(c, expected, what) for c in node.children)
        return x, y, z

    def expect(
        self, node: Tree[Token], quantity: DimensionedExpr, expected: Dimension | None, what: str, words: str = ""
    ) -> None:
        """Raise where the known dimension of *quantity*, read from *node*, is not *expected*, in *words*; *what* is its name in
        errors.
        """
        found = quantity.dimension
        if expected is not None and found is not None and not quantity.plain and found != expected:
            text = f"{what} must be {words or units.name(expected)}, found {units.name(found)}."
            raise ModelError(text, self.location(node))

    def quantity(self, node: Tree[Token]) -> DimensionedExpr:
        """The expression *node* with its dimension. Parts come before wholes, so that no depth of brackets is too deep."""
        known: dict[int, DimensionedExpr] = {}
        for part in node.iter_subtrees():
            children = [known[id(c)] if isinstance(c, Tree) else c for c in part.children]
            try:
                known[id(part)] = getattr(self, f"_{part.data}")(part, children)
            except (ExpressionError, ModelError) as error:
                raise ModelError(str(error), self.location(part)) from None
        return known[id(node)]

    def _quantity(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        number, dimension = units.quantity(str(children[0]))
        return DimensionedExpr(expr(number), NUMBER if dimension is None else dimension, plain=dimension is None)

    def _name(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        name = str(children[0])
        if name in CONSTANTS:
            return DimensionedExpr(expr(CONSTANTS[name]), NUMBER)
        value, dimension = self.symbol(children[0]), self.dimensions.get(name)
        if name in self.lets:
            return replace(self.lets[name], value=value)
        moving = self.rate(name) if dimension is None else None
        return DimensionedExpr(value, dimension) if moving is None else DimensionedExpr(value, moving, shown=False)

    def rate(self, name: str) -> Dimension | None:
        """The dimension of a coordinate, a speed, a component of a point, or a derivative of these, where that is known."""
        own = name
        while own not in self.moving and own.endswith("'"):
            own = own[:-1]
        known = self.moving.get(own)
        return None if known is None else units.times(known, units.TIME, len(own) - len(name))

    def _vector_part(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        name = vectors.read(str(children[0]))
        part = vectors.part(name)
        assert part is not None
        return DimensionedExpr(self.symbol(children[0].update(value=name)), part.dimension, shown=False)

    def symbol(self, token: Token) -> Expr:
        """The symbol that *token* names."""
        return symbol(self.noted(token))

    def noted(self, token: Token) -> str:
        """The name *token*; its place is remembered for errors."""
        self.places.setdefault(str(token), []).append(self.location(token))
        return str(token)

    def _sum(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        total: DimensionedExpr = children[0]
        for sign, other in zip(children[1::2], children[2::2], strict=True):
            value = total.value + other.value if sign == "+" else total.value - other.value
            total = _joined(total, other, value)
        return total

    def _product(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        total: DimensionedExpr = children[0]
        for sign, other in zip(children[1::2], children[2::2], strict=True):
            divides = sign == "/"
            value = total.value / other.value if divides else total.value * other.value
            # A bare number may stand for a length or a mass in SI, so its product with something else can be anything.
            dimension = NUMBER if total.plain and other.plain else None
            if not (total.plain or other.plain or total.dimension is None or other.dimension is None):
                dimension = units.times(total.dimension, other.dimension, -1 if divides else 1)
            total = DimensionedExpr(value, dimension, total.plain and other.plain, total.shown or other.shown)
        return total

    def _unary(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        *signs, operand = children
        quantity: DimensionedExpr = operand
        return replace(quantity, value=-quantity.value) if signs.count("-") % 2 else quantity

    _exponent = _unary

    def _power(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        base, *exponents = children
        value = exponents[-1].value
        for exponent in reversed(exponents[:-1]):
            value = exponent.value**value
        dimension = None
        if base.dimension is not None and value.value is not None:
            dimension = units.times(NUMBER, base.dimension, value.value)
        return DimensionedExpr(base.value**value, dimension, base.plain, base.shown)

    def _call(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        name, arguments = str(children[0]), children[1:]
        op = FUNCTIONS.get(name)
        if name in vectors.KINDS:
            raise ModelError(vectors.component_advice(f"{name}({', '.join(str(a.value) for a in arguments)})"))
        if op is None:
            raise ModelError(f"unknown function '{name}'.{_advice(name)}")
        wanted = 2 if op in BINARY else 1
        if len(arguments) != wanted:
            raise ModelError(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, found {len(arguments)}.")
        value = apply(op, *(a.value for a in arguments))
        first: DimensionedExpr = arguments[0]
        if wanted == 2:
            both = _joined(first, arguments[1], value)
            return both if name in _KEEPS else DimensionedExpr(value, NUMBER, plain=True)
        if name not in _FREE and first.shown and first.dimension is not None and first.dimension != NUMBER:
            raise ModelError(f"{name} takes an angle or a number, found {units.name(first.dimension)}.")
        if op == Op.SQRT and first.dimension is not None:
            return DimensionedExpr(value, units.times(NUMBER, first.dimension, 0.5), first.plain, first.shown)
        return replace(first, value=value) if name in _KEEPS else DimensionedExpr(value, NUMBER, plain=True)


#: The vocabulary's example of a rate.
_RATE = "q'"


def _advice(name: str) -> str:
    """Advice on an unknown function, perhaps a function of Python."""
    if name in ("pow", "power"):
        return " A power is x^y."
    module, dot, own = name.rpartition(".")
    if dot and own in FUNCTIONS:
        return f" Write {own}."
    if module in ("np", "numpy", "jnp", "sp", "sympy", "math", "torch") and own.startswith(
        ("float", "int", "array", "Float")
    ):
        return " A number of Python goes into a text as float(x) writes it, as in f'... = {float(x)};'."
    if meaning(own, (_RATE,)):
        return suggestion(own, (_RATE,))
    return suggestion(own, [*FUNCTIONS, *vectors.KINDS])


def _joined(a: DimensionedExpr, b: DimensionedExpr, value: Expr) -> DimensionedExpr:
    """Sum, minimum or maximum of two quantities."""
    if a.dimension is None or b.dimension is None:
        return DimensionedExpr(value)
    if a.plain or b.plain:
        return replace(b if a.plain else a, value=value)
    shown = a.shown or b.shown
    if a.dimension == b.dimension:
        return DimensionedExpr(value, a.dimension, shown=shown)
    if shown:
        raise ModelError(f"{units.name(a.dimension)} and {units.name(b.dimension)} cannot be added or compared.")
    return DimensionedExpr(value)
