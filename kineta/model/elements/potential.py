"""A potential: the energy of conservative forces, as an expression."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location
from kineta.model import units
from kineta.model.coercion import scalar
from kineta.model.kind import Element, Kind, Production
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Potential(Element):
    """An *energy* V(q, t) [J] with its forces Q_k = -dV/dq_k."""

    name: str
    energy: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def potential(name: str, energy: Scalar) -> Potential:
    """The potential *energy* [J] of conservative forces: an expression of q, t, parameters and positions of points."""
    return Potential(name, scalar(energy))


def _read(source: Source, name: Token, energy: Node) -> Potential:
    V = source.expression(energy, units.ENERGY, f"potential '{name}'")
    return Potential(str(name), V, source.location(name))


KIND = Potential.kind = Kind(
    Potential,
    "potential",
    {"potential": Production('"=" sum', _read)},
    lambda p: f"= {p.energy}",
    positions=lambda p: (p.energy,),
)
