"""What may touch or stick, seen at one instant in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.touch import Touch
from kineta.numerics.complementarity import Cone
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a touch stand among those of all: the normal one, None for friction in a joint, and the tangents."""

    normal: int | None
    tangents: tuple[int, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)


def places(touches: Sequence[Touch]) -> tuple[Place, ...]:
    """The rows of *touches*, one touch after the other."""
    found, first = [], 0
    for touch in touches:
        rows = range(first, first + len(touch.rows))
        first += len(rows)
        normal = None if touch.normal is None else rows[0]
        found.append(Place(normal, tuple(rows[len(rows) - len(touch.tangents) :])))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Look:
    """m touches with r rows at one state; what belongs to those that do not press is zero but for the gaps and the laws.

    normals : (m,) the normal rows, r for friction in joints
    gaps, bound, static, restitution, smooth : (m,) of the touches
    slip : (r,) velocities along the rows; drift : (r,) accelerations along them without forces
    S : (r, r) accelerations along the rows by unit forces; Y : (r, nv) speeds by unit impulses
    """

    places: tuple[Place, ...]
    normals: IntArray
    gaps: FloatArray
    bound: FloatArray
    static: FloatArray
    restitution: FloatArray
    smooth: FloatArray
    slip: FloatArray
    drift: FloatArray
    S: FloatArray
    Y: FloatArray

    def normal(self, along: FloatArray) -> FloatArray:
        """Of values (r,) along the rows those of the normals, (m,); zero for friction in joints."""
        return np.append(along, 0.0)[self.normals]

    @property
    def quick(self) -> float:
        """The fastest velocity along a row, or 1 m/s: what rounding of velocities is measured by."""
        return max(1.0, float(np.abs(self.slip).max(initial=0.0)))

    def cone(self, i: int, *, sticks: bool, slip: tuple[float, ...] | None = None, least: float = 0.0) -> Cone:
        """What the forces of a touch may be, if it *sticks* or may begin to slip, or slips in a direction."""
        bound = self.static[i] if sticks else self.bound[i]
        return Cone(self.places[i].normal, self.places[i].tangents, float(bound), slip, least)


def normals(at: tuple[Place, ...]) -> IntArray:
    """The normal rows of touches, as in :class:`Look`."""
    count = sum(len(place.rows) for place in at)
    return np.array([count if place.normal is None else place.normal for place in at], dtype=np.int64)


def look(at: tuple[Place, ...], rows: IntArray, t: float, y: FloatArray, nv: int, made: Bound) -> Look:
    """The touches *at* these places, with these normal *rows*, at a state of the motion with the code *made*."""
    own, m, count = made.code.rows, len(at), sum(len(place.rows) for place in at)
    r, found = len(own), made.code.touch(t, y, made.h)
    gaps, laws, (slip, drift) = found[:m], found[m : 5 * m].reshape(m, 4).T, found[5 * m : 5 * m + 2 * r].reshape(2, r)
    S = found[5 * m + 2 * r :][: r * r].reshape(r, r)
    Y = found[5 * m + (2 + r) * r :].reshape(r, -1)[:, :nv] if r else np.zeros((0, nv))
    if r < count:
        few, (slip, drift) = (slip, drift), np.zeros((2, count))
        slip[own], drift[own] = few
        few, S, Y = (S, Y), np.zeros((count, count)), np.zeros((count, nv))
        S[np.ix_(own, own)], Y[own] = few
    bound, static, restitution, smooth = laws
    return Look(at, rows, gaps, bound, static, restitution, smooth, slip, drift, S, Y)
