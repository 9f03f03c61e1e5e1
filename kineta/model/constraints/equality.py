"""Equality of two expressions at all times: the common base of written-out constraints and programs of motion."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, Location, shown
from kineta.model.coercion import scalar
from kineta.model.kind import KindRecord
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source


@dataclass(frozen=True, slots=True)
class Equality(KindRecord):
    """The condition ``value`` = 0 at all times."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def vanishing(what: str, name: str, value: Scalar, example: str) -> Expr:
    """*value* as an expression. Raises :class:`ArgumentError` for the truth value of ``==``, with the advice to write the
    difference of the sides of *example*.
    """
    if isinstance(value, bool):
        one, other = example.split(" == ")
        raise ArgumentError(
            f"{what} {shown(name)}: expected an expression that stays zero, found the truth value {value}; of two "
            f"expressions that stay equal write the difference, {one} - {other} and not {example}."
        )
    return scalar(value)


def difference(source: Source, what: str, left: Node, right: Node) -> Expr:
    """Difference of the two sides of the equation *what*."""
    known = source.quantity(left)
    expected = None if known.plain else known.likely
    return known.value - source.expression(right, expected, f"the right side of {what}")
