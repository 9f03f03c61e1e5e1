"""A potential: the energy of conservative forces, as an expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import Location
from kineta.expr.node import Expr, Scalar
from kineta.model import units
from kineta.model.elements.kind import Form, Kind
from kineta.model.given import Record, scalar

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source


@dataclass(frozen=True, slots=True)
class Potential(Record):
    """An *energy* V(q, t) [J] with its forces Q_k = -dV/dq_k."""

    name: str
    energy: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return (self.energy,)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


def potential(name: str, energy: Scalar) -> Potential:
    """The potential *energy* [J] of conservative forces: an expression of q, t, parameters and positions of points."""
    return Potential(name, scalar(energy))


def _read(source: Source, name: Token, energy: Node) -> Potential:
    V = source.expression(energy, units.ENERGY, f"potential '{name}'")
    return Potential(str(name), V, source.location(name))


KIND = Kind(
    Potential,
    "potential",
    {"potential": Form('"=" sum', _read)},
    lambda p: f"= {p.energy}",
    positions=lambda p: (p.energy,),
)
