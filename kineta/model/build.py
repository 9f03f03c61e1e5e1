"""Elements from plain numbers and names: what one writes in Python."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.node import Expr, Scalar
from kineta.model.body import Body, Point, Station, station
from kineta.model.element import (
    Axes,
    Couple,
    Damper,
    Force,
    GeneralizedForce,
    LineDamper,
    LineSpring,
    Spring,
)
from kineta.model.given import scalar, vector

#: Where an element takes hold: a point, a station, a body (its origin) or the name of a body.
Place = Station | Point | Body | str


def force(name: str, at: Place, components: Sequence[Scalar], axes: Axes = "ground") -> Force:
    """A force *components* (3,) [N], in the axes of the ground or of the body, at a place of a body."""
    return Force(name, station(at), vector(components), axes)


def couple(name: str, body: Body | str, components: Sequence[Scalar], axes: Axes = "ground") -> Couple:
    """A couple *components* (3,) [N m], in the axes of the ground or of the body, on a body."""
    return Couple(name, station(body).body, vector(components), axes)


def generalized_force(name: str, characteristic: Scalar, coordinate: Expr) -> GeneralizedForce:
    """A force of value *characteristic* that works on the change of *coordinate* (an expression of q and t, or a rate)."""
    return GeneralizedForce(name, scalar(characteristic), scalar(coordinate))


def spring(name: str, stiffness: Scalar, deformation: Expr) -> Spring:
    """A spring of *stiffness* whose *deformation* is an expression of q and t."""
    return Spring(name, scalar(stiffness), scalar(deformation))


def line_spring(name: str, stiffness: Scalar, start: Place, end: Place, *, length: Scalar = 0.0) -> LineSpring:
    """A spring of *stiffness* [N/m] and free *length* [m] between two places."""
    return LineSpring(name, scalar(stiffness), scalar(length), station(start), station(end))


def damper(name: str, damping: Scalar, rate: Expr) -> Damper:
    """A damper on *rate*: an expression with speeds, or of q and t (its time derivative is then meant)."""
    return Damper(name, scalar(damping), scalar(rate))


def line_damper(name: str, damping: Scalar, start: Place, end: Place) -> LineDamper:
    """A damper of *damping* [N s/m] between two places."""
    return LineDamper(name, scalar(damping), station(start), station(end))
