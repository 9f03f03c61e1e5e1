"""A force on a body, at a place fixed in it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import Location
from kineta.model import phrases, units
from kineta.model.body import GROUND, Body, Station, station
from kineta.model.coercion import Vector3, vector
from kineta.model.elements import axes as frame
from kineta.model.elements.axes import Axes
from kineta.model.elements.coordinate import Place
from kineta.model.kind import Element, Kind, Production, forces_by_axes
from kineta.model.vectors import Components
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Force(Element):
    """A force *components* [N] on a body at a place fixed in it, in the axes of the ground, of the body, or of another body."""

    name: str
    at: Station
    components: Vector3
    axes: Axes = GROUND
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return (*self.components, *self.at.position)


def force(name: str, at: Place, components: Components, axes: str | Body = frame.OF_VECTOR) -> Force:
    """A force *components* (3,) [N], at a place of a body, in *axes*: of the ``ground``, of the ``body`` or of another body; by
    default those of the vector, if it is one of :func:`kineta.vector`, else of the ground.
    """
    own = station(at)
    return Force(name, own, vector(components), frame.of_vector(axes, components, own.body))


def _of(source: Source, name: Token, at: Station, components: Node, axes: Token | None) -> Force:
    found, shown = source.vector_in_axes(components, units.FORCE, f"force '{name}'")
    return Force(str(name), at, found, frame.read(source, axes, at.body, shown), source.location(name))


def _on(source: Source, name: Token, body: Token, position: Node | None, components: Node, axes: Token | None) -> Force:
    return _of(source, name, source.station(body, position), components, axes)


def _on_point(source: Source, name: Token, body: Token, point: Token, components: Node, axes: Token | None) -> Force:
    return _of(source, name, source.station_of_body(body, point), components, axes)


def _at(source: Source, name: Token, point: Token, components: Node, axes: Token | None) -> Force:
    return _on(source, name, point, None, components, axes)


KIND = Force.kind = Kind(
    Force,
    "force",
    {
        "force_on": Production(f'"on" NAME ["at" vector] "=" sum {frame.IN}', _on),
        "force_on_point": Production(f'"on" NAME "at" NAME "=" sum {frame.IN}', _on_point),
        "force_at": Production(f'"at" NAME "=" sum {frame.IN}', _at),
    },
    lambda force: f"on {phrases.place(force.at)} = {phrases.vector(force.components)}{frame.clause(force.axes)}",
    fault=lambda system, force: frame.fault(system, force.axes),
    forces=forces_by_axes,
)
