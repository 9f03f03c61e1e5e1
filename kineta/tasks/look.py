"""What may touch or stick, seen at one instant in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.touch import Touch
from kineta.numerics.complementarity import product, spread
from kineta.numerics.cone import Cone
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]
#: Numbers along rows, or of touches: few, and cheaper one by one.
Numbers = Sequence[float]

#: What holds a single speed takes what others leave, friction what limits leave: nearly nothing counts less than that.
TAKES_LEFT, TAKES_ALL = 1e-3, 1e-6
#: Bounds of friction below this are none.
NOTHING = 1e-200
#: Part of the largest acceleration that is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a touch stand among those of all: the normal one, None for friction in a joint, and the tangents; and
    what its forces count for where least forces are asked for.
    """

    normal: int | None
    tangents: tuple[int, ...]
    ease: float = 1.0

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
        ease = 1.0 if touch.speed is None else TAKES_LEFT if normal is None else TAKES_ALL
        found.append(Place(normal, tuple(rows[len(rows) - len(touch.tangents) :]), ease))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Look:
    """m touches with r rows at one state; what belongs to those that do not press is zero but for the gaps and the laws.

    gaps, bound, static, restitution, smooth : (m,) of the touches
    slip : (r,) velocities along the rows; drift : (r,) accelerations along them without forces
    S : (r, r) accelerations along the rows by unit forces; Y : (r, nv) speeds by unit impulses
    quick : the fastest velocity along a row, or 1 m/s: what rounding of velocities is measured by
    onward : which way goes on along a line what is in a dead point, where it has no slip, and friction cannot hold it
    """

    places: tuple[Place, ...]
    gaps: Numbers
    bound: Numbers
    static: Numbers
    restitution: Numbers
    smooth: Numbers
    slip: Numbers
    drift: Numbers
    S: Sequence[Numbers]
    Y: FloatArray
    quick: float
    onward: Mapping[int, float] = field(default_factory=dict)

    def normal(self, along: Numbers) -> list[float]:
        """Of values (r,) along the rows those of the normals, (m,); zero for friction in joints."""
        return [0.0 if p.normal is None else along[p.normal] for p in self.places]

    def after(self, impulse: Numbers) -> list[float]:
        """The velocities along the rows after an *impulse* (r,) along them."""
        return [v + product(row, impulse) for v, row in zip(self.slip, self.S, strict=True)]

    def under(self, forces: Numbers) -> list[float]:
        """The accelerations along the rows under *forces* (r,) along them."""
        return [b + product(row, forces) for b, row in zip(self.drift, self.S, strict=True)]

    @property
    def rounding(self) -> float:
        """Accelerations along the rows below this are rounding."""
        return ROUNDING * max(map(abs, self.drift), default=0.0)

    def cone(self, i: int, *, sticks: bool, slip: tuple[float, ...] | None = None, least: float = 0.0) -> Cone:
        """What the forces of a touch may be, if it *sticks* or may begin to slip, or slips in a direction."""
        place, bound = self.places[i], self.static[i] if sticks else self.bound[i]
        if slip is None and bound <= NOTHING:
            slip = (0.0,) * len(place.tangents)
        return Cone(place.normal, place.tangents, bound, slip, least, place.ease)


def look(at: tuple[Place, ...], t: float, y: FloatArray, nv: int, made: Bound) -> Look:
    """The touches *at* these places at a state of the motion with the code *made*."""
    own, m, count = made.code.rows, len(at), at[-1].rows[-1] + 1
    r, found = len(own), made.code.touch(t, y, made.h)
    known = _laws(found, m)
    if not r:
        none = [0.0] * count
        return Look(at, *known, none, none, [none] * count, np.zeros((count, nv)), 1.0)
    slip, behind = found[5 * m : 5 * m + r].tolist(), found[5 * m + r :]
    drift, S, Y = (_whole if made.code.locks else _solved)(behind, r, nv)
    if r < count:
        places, answers = own.tolist(), Y
        slip, drift = (spread(some, places, count, 0.0) for some in (slip, drift))
        S = spread([spread(row, places, count, 0.0) for row in S], places, count, [0.0] * count)
        Y = np.zeros((count, nv))
        Y[own] = answers
    quick = max(1.0, *map(abs, slip))
    return Look(at, *known, slip, drift, S, Y, quick)


def laws(m: int, t: float, y: FloatArray, made: Bound) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """The gaps of m touches, and their bounds, static bounds, restitutions and speeds of smooth friction alone."""
    return _laws(made.code.touch(t, y, made.h), m)


def _laws(found: FloatArray, m: int) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    numbers: list[float] = found[: 5 * m].tolist()
    return numbers[:m], numbers[m::4], numbers[m + 1 :: 4], numbers[m + 2 :: 4], numbers[m + 3 :: 4]


def _solved(found: FloatArray, r: int, nv: int) -> tuple[list[float], list[list[float]], FloatArray]:
    """Drift, S and Y of r rows, which the code has worked out."""
    S = found[r : r + r * r].reshape(r, r)
    return found[:r].tolist(), S.tolist(), found[r + r * r :].reshape(r, -1)[:, :nv]


def _whole(found: FloatArray, r: int, nv: int) -> tuple[list[float], list[list[float]], FloatArray]:
    """The same from the rests and gradients W of the rows, the mass matrix and the forces::

    Y = W M^-1          S = Y W^T          drift = Y f + rest
    """
    rest, W, M, f = np.split(found, np.cumsum([r, r * nv, nv * nv]))
    W = W.reshape(r, nv)
    Y = np.asarray(np.linalg.solve(M.reshape(nv, nv), W.T).T, dtype=np.float64)
    return (Y @ f + rest).tolist(), (Y @ W.T).tolist(), Y
