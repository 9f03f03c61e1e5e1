"""Turns by an angle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kineta.algebra.expression import Expr, Scalar
from kineta.model import units
from kineta.model.axis import Axis, X, Y, Z, direction
from kineta.model.coercion import scalar
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.units import Dimension
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Rotation(ElementaryMotion):
    """Turn of the frame about *axis* by *angle* [rad], right-handed; the axis is fixed in both frames."""

    letter: ClassVar[str] = "R"
    argument_name: ClassVar[str] = "angle"
    unit: ClassVar[str] = "rad"
    dimension: ClassVar[Dimension] = units.ANGLE
    turns: ClassVar[bool] = True

    axis: Axis
    angle: Expr

    @property
    def argument(self) -> Expr:
        """The angle, the argument in brackets."""
        return self.angle


def Rx(angle: Scalar) -> Rotation:
    """Turn about the current x axis by *angle* [rad]."""
    return Rotation(X, scalar(angle))


def Ry(angle: Scalar) -> Rotation:
    """Turn about the current y axis by *angle* [rad]."""
    return Rotation(Y, scalar(angle))


def Rz(angle: Scalar) -> Rotation:
    """Turn about the current z axis by *angle* [rad]."""
    return Rotation(Z, scalar(angle))


def R(axis: Sequence[Scalar], angle: Scalar) -> Rotation:
    """Turn about the fixed *axis* (any length, numbers or expressions of parameters) by *angle* [rad]."""
    return Rotation(direction(axis), scalar(angle))
