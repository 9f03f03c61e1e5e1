"""Elementary motions: how the frame of a body is reached from the frame of its base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kineta import tolerances
from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, ModelError, shown
from kineta.model.coercion import COERCIONS, ModelRecord, Vector3, entries, scalar, vector
from kineta.values import numbers

#: A unit vector of numbers.
Numbers = tuple[float, float, float]
#: A direction in the axes of a frame: a unit vector of numbers, or expressions of parameters, which the equations normalise.
Axis = Numbers | Vector3

X: Numbers = (1.0, 0.0, 0.0)
Y: Numbers = (0.0, 1.0, 0.0)
Z: Numbers = (0.0, 0.0, 1.0)
#: Largest length of a direction, whose square is still a number.
LONGEST = 1e150
LETTERS: dict[str, Numbers] = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True, slots=True)
class Rotation(ModelRecord):
    """Turn of the frame about *axis* by *angle* [rad], right-handed; the axis is fixed in both frames."""

    axis: Axis
    angle: Expr

    @property
    def argument(self) -> Expr:
        """The angle, the argument in brackets."""
        return self.angle


@dataclass(frozen=True, slots=True)
class Shift(ModelRecord):
    """Shift of the origin along *axis* by *distance* [m]."""

    axis: Axis
    distance: Expr

    @property
    def argument(self) -> Expr:
        """The distance, the argument in brackets."""
        return self.distance


@dataclass(frozen=True, slots=True)
class Ball(ModelRecord):
    """Free turn about the origin.

    Coordinates: the unit quaternion ``name.qw .qx .qy .qz`` (scalar first, Hamilton) that maps components in the frame after
    the motion to components in the frame before. Speeds: ``name.wx .wy .wz``, the angular velocity relative to
    the frame before, in the axes of the frame after [rad/s].
    """

    name: str


@dataclass(frozen=True, slots=True)
class Free(ModelRecord):
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


def direction(axis: Sequence[Scalar]) -> Axis:
    """The unit vector of numbers along *axis*; its expressions as they are where it has a symbol, or is zero by them.

    Raises :class:`ModelError` for a zero vector of numbers, or another number of components than three.
    """
    components = entries(axis)
    if components is None or not any(isinstance(a, Expr) for a in components):
        return unit(axis if components is None else components)  # type: ignore[arg-type]  # which says what is no number
    given = vector(components)
    x, y, z = (a.value for a in given)
    if x is None or y is None or z is None or not tolerances.ROUNDING_TOLERANCE < math.hypot(x, y, z) < math.inf:
        return given
    return unit((x, y, z))


def unit(axis: Sequence[float]) -> Numbers:
    """*axis* with length one; raises :class:`ModelError` for a zero vector, or another number of components than three."""
    components = axis if isinstance(axis, tuple) and {type(a) for a in axis} == {float} else _floats(axis)
    if len(components) != 3:
        raise ModelError(f"Expected an axis of three components, found {len(components)}: {components}.")
    x, y, z = components
    length = math.hypot(x, y, z)
    if not tolerances.ROUNDING_TOLERANCE < length < math.inf:
        raise ModelError(f"Expected an axis of non-zero, finite length, found ({x:g}, {y:g}, {z:g}).")
    if abs(length - 1) < 4 * tolerances.EPS:  # taken as it is, so that what was written reads back the same
        length = 1.0
    x, y, z = (_whole(a / length) for a in (x, y, z))
    return x, y, z


def directions(record: Any) -> Iterator[Vector3]:
    """The directions of a *record*, and of its motions where it is a body, that are expressions."""
    for part in (record, *getattr(record, "motions", ())):
        for axis in (getattr(part, f.name) for f in fields(part) if f.type in ("Axis", "Axis | None")):
            if axis is not None and any(isinstance(a, Expr) for a in axis):
                yield axis


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
    return float(nearest) if abs(a - nearest) < 2 * tolerances.EPS else a


COERCIONS["Axis"] = lambda value, *_: direction(value)


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
