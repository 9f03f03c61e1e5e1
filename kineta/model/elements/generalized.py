"""A force that works on the change of a coordinate."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location
from kineta.model import units
from kineta.model.coercion import scalar
from kineta.model.elements import coordinate as along
from kineta.model.elements.coordinate import Coordinate, Place
from kineta.model.kind import Element, Kind, Production, one_force
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class GeneralizedForce(Element):
    """A force of value *characteristic* that works on the change of *coordinate* (Andreev (2.1)): Q_k = P d(coordinate)/dq_k.

    Where *coordinate* contains speeds it is a rate, and Q_k = P d(coordinate)/dv_k. A force on a length drives its ends apart.
    """

    name: str
    characteristic: Expr
    coordinate: Coordinate
    location: Location | None = field(default=None, compare=False, repr=False)


def generalized_force(name: str, characteristic: Scalar, coordinate: Expr) -> GeneralizedForce:
    """A force of value *characteristic* that works on the change of *coordinate* (an expression of q and t, or a rate)."""
    return GeneralizedForce(name, scalar(characteristic), scalar(coordinate))


def line_force(name: str, characteristic: Scalar, start: Place, end: Place) -> GeneralizedForce:
    """A force of value *characteristic* [N] between two places, which drives them apart along the line through them."""
    return GeneralizedForce(name, scalar(characteristic), along.length(start, end))


def _on(source: Source, name: Token, characteristic: Node, coordinate: Node) -> GeneralizedForce:
    P, rho = source.quantity(characteristic), source.quantity(coordinate)
    work = units.POWER if source.is_rate(rho.value) else units.ENERGY
    source.fits(characteristic, P, f"the value of force '{name}'", rho, work)
    return GeneralizedForce(str(name), P.value, rho.value, source.location(name))


def _between(source: Source, name: Token, characteristic: Node, start: Node, end: Node) -> GeneralizedForce:
    P = source.expression(characteristic, units.FORCE, f"the value of force '{name}'")
    return GeneralizedForce(str(name), P, along.read(source, start, end), source.location(name))


KIND = GeneralizedForce.kind = Kind(
    GeneralizedForce,
    "force",
    {
        "force_along": Production('"=" sum "on" sum', _on),
        "force_between": Production(f'"=" sum {along.BETWEEN}', _between),
    },
    lambda f: f"= {f.characteristic} {along.clause(f.coordinate)}",
    constants=lambda f: along.constants(f.coordinate),
    fault=lambda system, f: along.constancy_fault(system, f.coordinate),
    forces=one_force,
)
