"""Elements: what acts in a system. Each is a characteristic and a coordinate (Andreev, section 1).

Characteristics and coordinates are expressions of coordinates, speeds, parameters, the time ``t`` and of the positions and
velocities of points (``P.x``, ``P.vx``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kineta.errors import Location
from kineta.expr.node import Expr
from kineta.model.body import Station
from kineta.model.given import Vector3

#: In whose axes the components of a force or couple are given.
Axes = Literal["body", "ground"]


@dataclass(frozen=True, slots=True)
class Force:
    """A force *components* [N] on a body at a place fixed in it."""

    name: str
    at: Station
    components: Vector3
    axes: Axes = "ground"
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return (*self.components, *self.at.position)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return (self.at.body,)


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


@dataclass(frozen=True, slots=True)
class GeneralizedForce:
    """A force of value *characteristic* that works on the change of *coordinate* (Andreev (2.1)): Q_k = P d(coordinate)/dq_k.

    Where *coordinate* contains speeds it is a rate, and Q_k = P d(coordinate)/dv_k.
    """

    name: str
    characteristic: Expr
    coordinate: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.characteristic, self.coordinate

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


@dataclass(frozen=True, slots=True)
class Spring:
    """Elastic element: *stiffness* C and *deformation* gamma(q, t); potential C gamma^2/2, force -C gamma."""

    name: str
    stiffness: Expr
    deformation: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.stiffness, self.deformation

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


@dataclass(frozen=True, slots=True)
class LineSpring:
    """Spring of *stiffness* [N/m] and free *length* [m] between two places; its deformation is their distance less *length*."""

    name: str
    stiffness: Expr
    length: Expr
    start: Station
    end: Station
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.stiffness, self.length, *self.start.position, *self.end.position

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return self.start.body, self.end.body


@dataclass(frozen=True, slots=True)
class Damper:
    """Dissipative element: *damping* D and *rate* beta(q, v, t); Q_k = -D beta d(beta)/dv_k."""

    name: str
    damping: Expr
    rate: Expr
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.damping, self.rate

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


@dataclass(frozen=True, slots=True)
class LineDamper:
    """Damper of *damping* [N s/m] between two places, along the line through them."""

    name: str
    damping: Expr
    start: Station
    end: Station
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the element."""
        return self.damping, *self.start.position, *self.end.position

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return self.start.body, self.end.body


Element = Force | Couple | GeneralizedForce | Spring | LineSpring | Damper | LineDamper
