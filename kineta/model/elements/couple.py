"""A couple on a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import Location
from kineta.expr.node import Expr, Scalar
from kineta.model import phrase, units
from kineta.model.body import Body, station
from kineta.model.elements import axes as frame
from kineta.model.elements.axes import Axes
from kineta.model.elements.kind import Form, Kind
from kineta.model.given import Vector3, vector

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source


@dataclass(frozen=True, slots=True)
class Couple:
    """A couple *components* [N m] on *body*."""

    name: str
    body: str
    components: Vector3
    axes: Axes = "ground"
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.components

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return (self.body,)


def couple(name: str, body: Body | str, components: Sequence[Scalar], axes: Axes = "ground") -> Couple:
    """A couple *components* (3,) [N m], in the axes of the ground or of the body, on a body."""
    return Couple(name, station(body).body, vector(components), axes)


def _read(source: Source, name: Token, body: Token, components: Node, axes: Token | None) -> Couple:
    found = source.vector(components, units.COUPLE, f"couple '{name}'")
    return Couple(str(name), str(body), found, frame.read(source, axes), source.location(name))


def _written(couple: Couple) -> str:
    return f"on {couple.body} = {phrase.vector(couple.components)}{frame.written(couple.axes)}"


KIND = Kind(Couple, "couple", {"couple": Form(f'"on" NAME "=" vector {frame.IN}', _read)}, _written)
