"""Directions in the axes of a frame: unit vectors of numbers, or expressions of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from kineta import tolerances
from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, ModelError, shown
from kineta.model.coercion import COERCIONS, Vector3, entries, vector
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
#: Types of fields that are directions.
DIRECTED = ("Axis", "Axis | None")
LETTERS: dict[str, Numbers] = {"x": X, "y": Y, "z": Z}


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
    plain = isinstance(axis, tuple | list) and all(type(a) in (float, int) and abs(a) < LONGEST for a in axis)
    components = tuple(map(float, axis)) if plain else _floats(axis)
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
        for axis in (getattr(part, f.name) for f in fields(part) if f.type in DIRECTED):
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
