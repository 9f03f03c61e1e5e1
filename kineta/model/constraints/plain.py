"""A constraint written out: two expressions that stay equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import ArgumentError, Location, shown
from kineta.expr.node import Expr, Scalar
from kineta.model.elements.kind import Form, Kind
from kineta.model.given import Record, scalar

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source


@dataclass(frozen=True, slots=True)
class Constraint(Record):
    """An ideal constraint: ``value`` = 0 at all times.

    An expression of coordinates, the time and positions of points (order 0), or of speeds and velocities too (order 1).
    """

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the constraint."""
        return (self.value,)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


def constraint(name: str, value: Scalar) -> Constraint:
    """The :class:`Constraint` that *value* is zero."""
    if isinstance(value, bool):
        raise ArgumentError(
            f"Constraint {shown(name)}: expected an expression that stays zero, found the truth value {value}; of two "
            "expressions that stay equal write the difference, q - 3 and not q == 3."
        )
    return Constraint(name, scalar(value))


def _read(source: Source, name: Token, left: Node, right: Node) -> Constraint:
    known = source.quantity(left)
    expected = None if known.plain else known.dimension
    value = known.value - source.expression(right, expected, f"the right side of constraint '{name}'")
    return Constraint(str(name), value, source.location(name))


KIND = Kind(
    Constraint,
    "constraint",
    {"constraint": Form('":" sum "=" sum', _read)},
    lambda c: f": {c.value} = 0",
)
