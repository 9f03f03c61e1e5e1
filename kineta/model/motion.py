"""Elementary motions: how the frame of a body is reached from the frame of its base."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kineta.errors import ArgumentError, ModelError, shown
from kineta.expr.node import Expr, Scalar
from kineta.model.given import TAKES, Record, scalar
from kineta.values import numbers

#: A unit vector in the axes of the frame in which the motion starts.
Axis = tuple[float, float, float]

X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)
LETTERS: dict[str, Axis] = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True, slots=True)
class Rotation(Record):
    """Turn of the frame about *axis* by *angle* [rad], right-handed; the axis is fixed in both frames."""

    axis: Axis
    angle: Expr

    @property
    def argument(self) -> Expr:
        """The angle: what stands in the brackets."""
        return self.angle


@dataclass(frozen=True, slots=True)
class Shift(Record):
    """Shift of the origin along *axis* by *distance* [m]."""

    axis: Axis
    distance: Expr

    @property
    def argument(self) -> Expr:
        """The distance: what stands in the brackets."""
        return self.distance


@dataclass(frozen=True, slots=True)
class Ball(Record):
    """Free turn about the origin.

    Coordinates: the unit quaternion ``name.qw .qx .qy .qz`` (scalar first, Hamilton) that maps components in the frame after
    the motion to components in the frame before. Speeds: ``name.wx .wy .wz``, the angular velocity relative to
    the frame before, in the axes of the frame after [rad/s].
    """

    name: str


@dataclass(frozen=True, slots=True)
class Free(Record):
    """Free motion in space.

    Coordinates: the position ``name.x .y .z`` of the origin in the axes of the frame before [m], then the quaternion of
    :class:`Ball`. Speeds: ``name.vx .vy .vz``, the velocity of the origin relative to the frame before, in the axes of the
    frame *after* [m/s], then ``name.wx .wy .wz`` as for :class:`Ball`. (A base whose linear speeds are the rates of x, y, z is
    ``Sx(x), Sy(y), Sz(z), Ball(name)``.)
    """

    name: str


Motion = Rotation | Shift | Ball | Free

_QUATERNION = ("qw", "qx", "qy", "qz")
_ANGULAR = ("wx", "wy", "wz")


def coordinate_names(motion: Ball | Free) -> tuple[str, ...]:
    """Names of the coordinates that *motion* brings with it."""
    suffixes = _QUATERNION if isinstance(motion, Ball) else ("x", "y", "z", *_QUATERNION)
    return tuple(f"{motion.name}.{s}" for s in suffixes)


def quaternion_names(motion: Ball | Free) -> tuple[str, ...]:
    """Names of the parts of the quaternion of *motion*."""
    return coordinate_names(motion)[-4:]


def speed_names(motion: Ball | Free) -> tuple[str, ...]:
    """Names of the quasi-velocities that *motion* brings with it."""
    suffixes = _ANGULAR if isinstance(motion, Ball) else ("vx", "vy", "vz", *_ANGULAR)
    return tuple(f"{motion.name}.{s}" for s in suffixes)


def unit(axis: Sequence[float]) -> Axis:
    """*axis* with length one; raises :class:`ModelError` for a zero vector, or another number of components than three."""
    components = axis if isinstance(axis, tuple) and {type(a) for a in axis} == {float} else _floats(axis)
    if len(components) != 3:
        raise ModelError(f"Expected an axis of three components, found {len(components)}: {components}.")
    x, y, z = components
    length = math.hypot(x, y, z)
    if not 1e-12 < length < math.inf:
        raise ModelError(f"Expected an axis of non-zero, finite length, found ({x:g}, {y:g}, {z:g}).")
    if abs(length - 1) < 1e-15:  # taken as it is, so that what was written reads back the same
        length = 1.0
    x, y, z = (_whole(a / length) for a in (x, y, z))
    return x, y, z


def _floats(axis: object) -> tuple[float, ...]:
    try:
        found = numbers("an axis", axis)
    except ArgumentError:
        found = None
    if found is None or found.ndim != 1:
        raise ArgumentError(f"Expected an axis of three numbers, as in (0, 0, 1), found {shown(axis)}.")
    return tuple(found.tolist())


def _whole(a: float) -> float:
    """*a*, or 0 or +-1 where rounding has left it a little beside."""
    nearest = round(a)
    return float(nearest) if abs(a - nearest) < 4e-16 else a


TAKES["Axis"] = lambda value, *_: unit(value)


def Rx(angle: Scalar) -> Rotation:
    """Turn about the current x axis by *angle* [rad]."""
    return Rotation(X, scalar(angle))


def Ry(angle: Scalar) -> Rotation:
    """Turn about the current y axis by *angle* [rad]."""
    return Rotation(Y, scalar(angle))


def Rz(angle: Scalar) -> Rotation:
    """Turn about the current z axis by *angle* [rad]."""
    return Rotation(Z, scalar(angle))


def R(axis: Sequence[float], angle: Scalar) -> Rotation:
    """Turn about the fixed *axis* (any length) by *angle* [rad]."""
    return Rotation(unit(axis), scalar(angle))


def Sx(distance: Scalar) -> Shift:
    """Shift along the current x axis by *distance* [m]."""
    return Shift(X, scalar(distance))


def Sy(distance: Scalar) -> Shift:
    """Shift along the current y axis by *distance* [m]."""
    return Shift(Y, scalar(distance))


def Sz(distance: Scalar) -> Shift:
    """Shift along the current z axis by *distance* [m]."""
    return Shift(Z, scalar(distance))


def S(axis: Sequence[float], distance: Scalar) -> Shift:
    """Shift along the fixed *axis* (any length) by *distance* [m]."""
    return Shift(unit(axis), scalar(distance))
