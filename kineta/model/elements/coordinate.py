"""Coordinate of a force, a spring or a damper: an expression, or the length between two places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.model.body import Body, Point, Station, station
from kineta.model.coercion import COERCIONS, ModelRecord, scalar
from kineta.model.phrases import place
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source
    from kineta.model.kind import Scope


@dataclass(frozen=True, slots=True)
class Length(ModelRecord):
    """The distance of two places [m]."""

    start: Station
    end: Station

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The components of the positions of its ends."""
        return (*self.start.position, *self.end.position)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies of its ends."""
        return self.start.body, self.end.body


#: An expression of coordinates, the time and points (or speeds, where it is a rate), or a length.
Coordinate = Expr | Length

#: A place as an argument: a point, a station, a body (its origin) or the name of a body.
Place = Station | Point | Body | str


COERCIONS["Coordinate"] = lambda value, _, __: value if isinstance(value, Length) else scalar(value)


def length(start: Place, end: Place) -> Length:
    """The :class:`Length` between two places."""
    return Length(station(start), station(end))


def expressions(coordinate: Coordinate) -> tuple[Expr, ...]:
    """All expressions of a coordinate."""
    return (*variables(coordinate), *constants(coordinate))


def variables(coordinate: Coordinate) -> tuple[Expr, ...]:
    """The expression of a coordinate; empty for a length."""
    return (coordinate,) if isinstance(coordinate, Expr) else ()


def constants(coordinate: Coordinate) -> tuple[Expr, ...]:
    """Positions in their bodies of the places of a length."""
    return () if isinstance(coordinate, Expr) else coordinate.expressions


def constancy_fault(system: Scope, coordinate: Coordinate) -> tuple[str, str] | None:
    """Sentence on a constant coordinate, made of numbers and parameters with values, and the word at fault; else None."""
    fixed = system.parameters.numbers.keys()
    if any(all(n in fixed for n in e.symbols()) for e in system.expand(*variables(coordinate))):
        return f"expected an expression that changes with the motion behind 'on', found '{coordinate}'.", ""
    return None


#: The places of a length, in the words of the grammar.
BETWEEN = '"between" place "and" place'


def read(source: Source, start: Node, end: Node) -> Length:
    """The length between two places of a text."""
    return Length(source.station(*start.children), source.station(*end.children))


def clause(coordinate: Coordinate) -> str:
    """Text of the coordinate, as in ``on q1`` or ``between A and B``."""
    if isinstance(coordinate, Expr):
        return f"on {coordinate}"
    return f"between {place(coordinate.start)} and {place(coordinate.end)}"
