"""A damper, on an expression or between two places."""

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
class Damper(Element):
    """Dissipative element of *damping* D: Q_k = -D beta d(beta)/dv_k.

    The rate beta(q, v, t) is the *coordinate*, if it is an expression that contains speeds, else its time derivative.
    """

    name: str
    damping: Expr
    coordinate: Coordinate
    location: Location | None = field(default=None, compare=False, repr=False)


def damper(name: str, damping: Scalar, rate: Expr) -> Damper:
    """A damper on *rate*: an expression with speeds, or of q and t (then its time derivative is the rate)."""
    return Damper(name, scalar(damping), scalar(rate))


def line_damper(name: str, damping: Scalar, start: Place, end: Place) -> Damper:
    """A damper of *damping* [N s/m] between two places."""
    return Damper(name, scalar(damping), along.length(start, end))


def _on(source: Source, name: Token, damping: Node, rate: Node) -> Damper:
    D, beta = source.quantity(damping), source.quantity(rate)
    source.fits(damping, D, f"the damping of damper '{name}'", source.rate_dimension(beta), units.POWER, 2)
    return Damper(str(name), D.value, beta.value, source.location(name))


def _between(source: Source, name: Token, damping: Node, start: Node, end: Node) -> Damper:
    D = source.expression(damping, units.DAMPING, f"the damping of damper '{name}'")
    return Damper(str(name), D, along.read(source, start, end), source.location(name))


KIND = Damper.kind = Kind(
    Damper,
    "damper",
    {
        "damper_on": Production('"=" sum "on" sum', _on),
        "damper_between": Production(f'"=" sum {along.BETWEEN}', _between),
    },
    lambda d: f"= {d.damping} {along.clause(d.coordinate)}",
    constants=lambda d: along.constants(d.coordinate),
    fault=lambda system, d: along.constancy_fault(system, d.coordinate),
    forces=one_force,
)
