"""Shifts by a distance."""

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
class Shift(ElementaryMotion):
    """Shift of the origin along *axis* by *distance* [m]."""

    letter: ClassVar[str] = "S"
    argument_name: ClassVar[str] = "shift"
    unit: ClassVar[str] = "m"
    dimension: ClassVar[Dimension] = units.LENGTH
    turns: ClassVar[bool] = False

    axis: Axis
    distance: Expr

    @property
    def argument(self) -> Expr:
        """The distance, the argument in brackets."""
        return self.distance


def Sx(distance: Scalar) -> Shift:
    """Shift along the current x axis by *distance* [m]."""
    return Shift(X, scalar(distance))


def Sy(distance: Scalar) -> Shift:
    """Shift along the current y axis by *distance* [m]."""
    return Shift(Y, scalar(distance))


def Sz(distance: Scalar) -> Shift:
    """Shift along the current z axis by *distance* [m]."""
    return Shift(Z, scalar(distance))


def S(axis: Sequence[Scalar], distance: Scalar) -> Shift:
    """Shift along the fixed *axis* (any length, numbers or expressions of parameters) by *distance* [m]."""
    return Shift(direction(axis), scalar(distance))
