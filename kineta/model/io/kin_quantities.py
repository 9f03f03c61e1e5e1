"""Quantities of the text language: expressions with their dimensions, their sums and products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kineta.algebra.expression import Comparison, Expr
from kineta.errors import ModelError
from kineta.model import units
from kineta.model.units import NUMBER, Dimension
from kineta.records import dataclass

#: A node of the parse tree. Its children have the shapes that the grammar gives them.
Node = Any


@dataclass(frozen=True, slots=True)
class DimensionedExpr:
    """An expression with its dimension; None where it is not known, so that anything goes with it. ``plain`` marks numbers
    written without a unit, and values of functions such as sin: they may stand for anything in SI. ``shown`` is True where
    a unit was written in the text; else the dimension only follows from the motions. ``hint`` is that of a written unit in a
    sum or a product whose dimension is not known: 2*x + 3 m, 2*l.
    """

    value: Expr
    dimension: Dimension | None = None
    plain: bool = False
    shown: bool = True
    hint: Dimension | None = None

    @property
    def likely(self) -> Dimension | None:
        """The dimension, or else that of a written unit in a term."""
        return self.hint if self.dimension is None else self.dimension

    @property
    def told(self) -> Dimension | None:
        """The dimension that a unit in the text tells, of the whole or of a term."""
        if self.dimension is None:
            return self.hint
        return self.dimension if self.shown and not self.plain else None


@dataclass(frozen=True, slots=True)
class ReadCondition:
    """A *condition* of the text, with its place *node* for errors. It is no number."""

    condition: Comparison
    node: Node


def compared(a: DimensionedExpr, relation: str, b: DimensionedExpr) -> Comparison:
    """The comparison of two quantities. Raises :class:`ModelError` for other dimensions."""
    joined(a, b, a.value)
    x, y = a.value, b.value
    return x < y if relation == "<" else x <= y if relation == "<=" else x > y if relation == ">" else x >= y


def plus(a: DimensionedExpr, b: DimensionedExpr, sign: str = "+") -> DimensionedExpr:
    """The sum of two quantities, or with the *sign* ``-`` their difference. Raises :class:`ModelError` for other dimensions."""
    return joined(a, b, a.value + b.value if sign == "+" else a.value - b.value)


def times(a: DimensionedExpr, b: DimensionedExpr, sign: str = "*") -> DimensionedExpr:
    """The product of two quantities, or with the *sign* ``/`` their quotient."""
    divides = sign == "/"
    # A bare number may stand for a length or a mass in SI, so its product with something else can be anything; a sum takes it for
    # a number before what has a unit in the text, but for 1, which is written to say that anything goes.
    dimension = NUMBER if a.plain and b.plain else None
    if not (a.plain or b.plain or a.dimension is None or b.dimension is None):
        dimension = units.times(a.dimension, b.dimension, -1 if divides else 1)
    value = a.value / b.value if divides else a.value * b.value
    hint = None
    if dimension is None and a.shown and b.shown and 1.0 not in (a.value.value, b.value.value):
        x, y = (NUMBER if own.plain else own.told for own in (a, b))
        hint = None if x is None or y is None else units.times(x, y, -1 if divides else 1)
    return DimensionedExpr(value, dimension, a.plain and b.plain, a.shown or b.shown, hint)


def opposite(a: DimensionedExpr) -> DimensionedExpr:
    """The quantity with the other sign."""
    return replace(a, value=-a.value)


def joined(a: DimensionedExpr, b: DimensionedExpr, value: Expr) -> DimensionedExpr:
    """Sum, minimum or maximum, the *value*, of two quantities of one dimension. Raises :class:`ModelError` for others."""
    if a.dimension is None or b.dimension is None:
        x, y = a.told, b.told
        if x is not None and y is not None and x != y:
            raise ModelError(
                f"{units.name(x)} and {units.name(y)} cannot be added or compared. A factor without a unit is a number there; "
                "give it its unit, as in 3 N/m, if it has one."
            )
        return DimensionedExpr(value, hint=y if x is None else x)
    if a.plain or b.plain:
        return replace(b if a.plain else a, value=value)
    shown = a.shown or b.shown
    if a.dimension == b.dimension:
        return DimensionedExpr(value, a.dimension, shown=shown)
    if shown:
        raise ModelError(f"{units.name(a.dimension)} and {units.name(b.dimension)} cannot be added or compared.")
    return DimensionedExpr(value)


def root(a: DimensionedExpr, value: Expr) -> DimensionedExpr:
    """The square root, with its *value*, of a quantity."""
    dimension = None if a.dimension is None else units.times(NUMBER, a.dimension, 0.5)
    return DimensionedExpr(value, dimension, a.plain, a.shown)
