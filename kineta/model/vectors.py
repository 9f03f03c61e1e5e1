"""Vectors of bodies and points in expressions: ``a(Tip).x``, ``w(Hull in Hull).z'``, ``|jerk(Tip)|``.

They are symbols whose names are what is written. A prime behind a component or a magnitude is its rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kineta.expr.node import Expr, symbol
from kineta.model.body import GROUND
from kineta.values import word


@dataclass(frozen=True, slots=True)
class Kind:
    """A vector: ``turns`` for one of a body's rotation, ``order`` derivatives of what the coordinates say."""

    turns: bool
    order: int


#: What may be asked for: position, velocity, acceleration and jerk of a place, angular velocity and acceleration of a body.
KINDS: Mapping[str, Kind] = {
    "r": Kind(False, 0),
    "v": Kind(False, 1),
    "a": Kind(False, 2),
    "jerk": Kind(False, 3),
    "w": Kind(True, 1),
    "eps": Kind(True, 2),
}

_VECTOR = rf"(?P<kind>{'|'.join(KINDS)})\((?P<of>\w+)(?: in (?P<frame>\w+))?\)"
_COMPONENT = re.compile(rf"{_VECTOR}\.(?P<part>[xyz])(?P<rates>'*)")
_MAGNITUDE = re.compile(rf"\|{_VECTOR}\|(?P<rates>'*)")


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of a body or point, with components in the axes of a *frame*: ``.x``, ``.y``, ``.z``, ``abs()``."""

    kind: str
    of: str
    frame: str = GROUND

    def __str__(self) -> str:
        return f"{self.kind}({self.of})" if self.frame == GROUND else f"{self.kind}({self.of} in {self.frame})"

    @property
    def x(self) -> Expr:
        """The first component."""
        return symbol(f"{self}.x")

    @property
    def y(self) -> Expr:
        """The second component."""
        return symbol(f"{self}.y")

    @property
    def z(self) -> Expr:
        """The third component."""
        return symbol(f"{self}.z")

    def __abs__(self) -> Expr:
        return symbol(f"|{self}|")

    def dot(self, other: Vector) -> Expr:
        """The scalar product with another vector in the same axes."""
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass(frozen=True, slots=True)
class Part:
    """What a name stands for: a component (0, 1, 2), or the magnitude (None), of a *vector*, and how many *rates* of it."""

    vector: Vector
    component: int | None
    rates: int

    @property
    def order(self) -> int:
        """The highest derivative of the coordinates in it."""
        return KINDS[self.vector.kind].order + self.rates


def part(name: str) -> Part | None:
    """What *name* stands for, if it is part of a vector."""
    found = _COMPONENT.fullmatch(name) or _MAGNITUDE.fullmatch(name)
    if found is None:
        return None
    parts = found.groupdict()
    component = "xyz".index(parts["part"]) if "part" in parts else None
    return Part(Vector(parts["kind"], parts["of"], parts["frame"] or GROUND), component, len(parts["rates"]))


def vector(kind: str, of: str, frame: str = GROUND) -> Vector:
    """A :class:`Vector` for use in expressions: ``abs(kn.vector("a", "Tip"))`` is ``|a(Tip)|``.

    kind : ``r``, ``v``, ``a``, ``jerk`` (position, velocity, acceleration, jerk of a point or body), ``w``, ``eps`` (angular
        velocity and acceleration of a body)
    of : the name of the point or body
    frame : the body in whose axes components are taken; the ground, if not given
    """
    from kineta.errors import one_of

    return Vector(one_of(kind, KINDS, "a vector"), word(of, "a point or body"), word(frame, "a body"))
