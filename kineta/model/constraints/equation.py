"""A constraint written out: two expressions that stay equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kineta.algebra.expression import Scalar
from kineta.model.constraints.equality import Equality, difference, vanishing
from kineta.model.kind import Condition, Kind, Production
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Constraint(Equality, Condition):
    """An ideal constraint: ``value`` = 0 at all times.

    An expression of coordinates, the time and positions of points (order 0), or of speeds and velocities too (order 1).
    """


def constraint(name: str, value: Scalar) -> Constraint:
    """The :class:`Constraint` that *value* is zero."""
    return Constraint(name, vanishing("Constraint", name, value, "q == 3"))


def _read(source: Source, name: Token, left: Node, right: Node) -> Constraint:
    return Constraint(str(name), difference(source, f"constraint '{name}'", left, right), source.location(name))


KIND = Constraint.kind = Kind(
    Constraint, "constraint", {"constraint": Production('":" sum "=" sum', _read)}, lambda c: f": {c.value} = 0"
)
