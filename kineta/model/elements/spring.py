"""A spring, on an expression or between two places."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar, expr
from kineta.errors import Location
from kineta.model import units
from kineta.model.coercion import scalar
from kineta.model.elements import coordinate as along
from kineta.model.elements.coordinate import Coordinate, Place
from kineta.model.kind import Element, Kind, Production, one_force
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

_NONE = expr(0)


@dataclass(frozen=True, slots=True)
class Spring(Element):
    """Elastic element of *stiffness* C: potential C gamma^2/2, force -C gamma.

    gamma is the *coordinate*, an expression of q and t or a length, less its *free* value, at which the spring is slack.
    """

    name: str
    stiffness: Expr
    coordinate: Coordinate
    free: Expr = _NONE
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.stiffness, self.free, *along.expressions(self.coordinate)


def spring(name: str, stiffness: Scalar, deformation: Expr) -> Spring:
    """A spring of *stiffness* whose *deformation* is an expression of q and t."""
    return Spring(name, scalar(stiffness), scalar(deformation))


def line_spring(name: str, stiffness: Scalar, start: Place, end: Place, *, length: Scalar = 0.0) -> Spring:
    """A spring of *stiffness* [N/m] and free *length* [m] between two places."""
    return Spring(name, scalar(stiffness), along.length(start, end), scalar(length))


def _on(source: Source, name: Token, stiffness: Node, free: Node | None, coordinate: Node) -> Spring:
    C, gamma = source.quantity(stiffness), source.quantity(coordinate)
    source.fits(stiffness, C, f"the stiffness of spring '{name}'", gamma, units.ENERGY, 2)
    slack = _free(source, name, free, None if gamma.plain else gamma.dimension)
    return Spring(str(name), C.value, gamma.value, slack, source.location(name))


def _between(source: Source, name: Token, stiffness: Node, free: Node | None, start: Node, end: Node) -> Spring:
    C = source.expression(stiffness, units.STIFFNESS, f"the stiffness of spring '{name}'")
    slack = _free(source, name, free, units.LENGTH)
    return Spring(str(name), C, along.read(source, start, end), slack, source.location(name))


def _free(source: Source, name: Token, node: Node | None, dimension: units.Dimension | None) -> Expr:
    return _NONE if node is None else source.expression(node, dimension, f"the length of spring '{name}'")


def _written(spring: Spring) -> str:
    free = f", {spring.free}" if spring.free.value != 0 else ""
    return f"= {spring.stiffness}{free} {along.clause(spring.coordinate)}"


KIND = Spring.kind = Kind(
    Spring,
    "spring",
    {
        "spring_on": Production('"=" sum ["," sum] "on" sum', _on),
        "spring_between": Production(f'"=" sum ["," sum] {along.BETWEEN}', _between),
    },
    _written,
    positions=lambda s: (s.free, *along.variables(s.coordinate)),
    constants=lambda s: along.constants(s.coordinate),
    fault=lambda system, s: along.constancy_fault(system, s.coordinate),
    forces=one_force,
)
