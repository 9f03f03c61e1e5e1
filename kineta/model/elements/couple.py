"""A couple on a body."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.errors import Location
from kineta.model import phrases, units
from kineta.model.body import GROUND, Body, station
from kineta.model.coercion import Vector3, vector
from kineta.model.elements import axes as frame
from kineta.model.elements.axes import Axes
from kineta.model.kind import Element, Kind, Production, forces_by_axes
from kineta.model.vectors import Components
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Couple(Element):
    """A couple *components* [N m] on *body*, in the axes of the ground, of the body, or of another body."""

    name: str
    body: str
    components: Vector3
    axes: Axes = GROUND
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return (self.body,)


def couple(name: str, body: Body | str, components: Components, axes: str | Body = frame.OF_VECTOR) -> Couple:
    """A couple *components* (3,) [N m], on a body, in *axes*: of the ``ground``, of the ``body`` or of another body; by default
    those of the vector, if it is one of :func:`kineta.vector`, else of the ground.
    """
    own = station(body).body
    return Couple(name, own, vector(components), frame.of_vector(axes, components, own))


def _read(source: Source, name: Token, body: Token, components: Node, axes: Token | None) -> Couple:
    found, shown = source.vector_in_axes(components, units.COUPLE, f"couple '{name}'")
    return Couple(str(name), str(body), found, frame.read(source, axes, body, shown), source.location(name))


KIND = Couple.kind = Kind(
    Couple,
    "couple",
    {"couple": Production(f'"on" NAME "=" sum {frame.IN}', _read)},
    lambda couple: f"on {couple.body} = {phrases.vector(couple.components)}{frame.clause(couple.axes)}",
    fault=lambda system, couple: frame.fault(system, couple.axes),
    forces=forces_by_axes,
)
