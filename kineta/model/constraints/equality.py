"""Two expressions that stay equal, by whatever holds them: what constraints written out and programs of motion have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import ArgumentError, Location, shown
from kineta.expr.node import Expr, Scalar
from kineta.model.given import Record, scalar

if TYPE_CHECKING:
    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source


@dataclass(frozen=True, slots=True)
class Equality(Record):
    """That ``value`` = 0 at all times."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of it."""
        return (self.value,)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


def vanishing(what: str, name: str, value: Scalar, example: str) -> Expr:
    """*value*, that stays zero. Raises :class:`ArgumentError` for the truth value that ``==`` gives; of two equal expressions,
    such as those of *example*, the difference is meant.
    """
    if isinstance(value, bool):
        one, other = example.split(" == ")
        raise ArgumentError(
            f"{what} {shown(name)}: expected an expression that stays zero, found the truth value {value}; of two "
            f"expressions that stay equal write the difference, {one} - {other} and not {example}."
        )
    return scalar(value)


def difference(source: Source, what: str, left: Node, right: Node) -> Expr:
    """What stays zero where the two sides of *what* are equal."""
    known = source.quantity(left)
    expected = None if known.plain else known.dimension
    return known.value - source.expression(right, expected, f"the right side of {what}")
