"""Contact state: gaps, friction laws, relative velocities and the Delassus operator at one instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.numerics.contact_problem import dot, scatter
from kineta.numerics.friction_cone import Cone
from kineta.numerics.linear_algebra import solve
from kineta.runtime.compiled import BoundSystem

#: Values along rows, or of contacts: short, and faster as Python floats than as arrays.
Numbers = Sequence[float]

#: Weights of rows in the least forces: of friction that locks a single speed, and of normal forces that lock one; other rows
#: have 1.
LOCK_FRICTION_WEIGHT, LOCK_NORMAL_WEIGHT = 1e-3, 1e-6


@dataclass(frozen=True, slots=True)
class ContactRows:
    """Indices of the rows of a contact: the normal one, None for joint friction, and the tangents; and their weight ``ease`` in
    the least forces.
    """

    normal: int | None
    tangents: tuple[int, ...]
    ease: float = 1.0

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)


def contact_rows(touches: Sequence[UnilateralConstraint]) -> tuple[ContactRows, ...]:
    """Rows of *touches*, contact after contact."""
    found, first = [], 0
    for touch in touches:
        rows = range(first, first + len(touch.rows))
        first += len(rows)
        normal = None if touch.normal is None else rows[0]
        ease = 1.0 if touch.speed is None else LOCK_FRICTION_WEIGHT if normal is None else LOCK_NORMAL_WEIGHT
        found.append(ContactRows(normal, tuple(rows[len(rows) - len(touch.tangents) :]), ease))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ContactState:
    """m contacts with r rows in one state; quantities of open contacts are zero, except gaps and laws.

    gaps, bound, static, restitution, smooth : (m,) gaps, kinetic and static limits, restitutions, smooth-friction speeds
    slip : (r,) relative velocities along the rows; drift : (r,) free accelerations along them
    S : (r, r) Delassus operator; Y : (r, nv) response of the speeds to unit impulses
    quick : largest velocity along a row, at least 1 m/s: scale of the rounding of velocities
    onward : direction of motion through a dead centre, by contact, where slip vanishes and friction cannot hold it
    """

    contact_rows: tuple[ContactRows, ...]
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
        """Normal components, (m,), of values (r,) along the rows; zero for joint friction."""
        return [0.0 if p.normal is None else along[p.normal] for p in self.contact_rows]

    def after(self, impulse: Numbers) -> list[float]:
        """Velocities along the rows after an *impulse* (r,)."""
        return [v + dot(row, impulse) for v, row in zip(self.slip, self.S, strict=True)]

    def under(self, forces: Numbers) -> list[float]:
        """Accelerations along the rows under *forces* (r,)."""
        return [b + dot(row, forces) for b, row in zip(self.drift, self.S, strict=True)]

    @property
    def rounding(self) -> float:
        """Acceleration along the rows at the level of rounding."""
        return tolerances.FORCE_TOLERANCE * max(map(abs, self.drift), default=0.0)

    def cone(self, i: int, *, sticks: bool, slip: tuple[float, ...] | None = None, least: float = 0.0) -> Cone:
        """Friction cone of contact *i*: static friction if it *sticks*, else kinetic friction, in the direction *slip* if
        given.
        """
        place, bound = self.contact_rows[i], self.static[i] if sticks else self.bound[i]
        if slip is None and bound <= tolerances.LEAST_DIVISOR:
            slip = (0.0,) * len(place.tangents)
        return Cone(place.normal, place.tangents, bound, slip, least, place.ease)


def contact_state(at: tuple[ContactRows, ...], t: float, y: FloatArray, nv: int, made: BoundSystem) -> ContactState:
    """Contact state of the contacts *at* these rows in the state *y* of the system *made*."""
    own, m, count = made.code.rows, len(at), at[-1].rows[-1] + 1
    r, found = len(own), made.code.contact_call(t, y, made.h)
    known = _laws(found, m)
    if not r:
        none = [0.0] * count
        return ContactState(at, *known, none, none, [none] * count, np.zeros((count, nv)), 1.0)
    slip, behind = found[5 * m : 5 * m + r].tolist(), found[5 * m + r :]
    drift, S, Y = (_whole if made.code.locks_joints else _solved)(behind, r, nv)
    if r < count:
        places, answers = own.tolist(), Y
        slip, drift = (scatter(some, places, count, 0.0) for some in (slip, drift))
        S = scatter([scatter(row, places, count, 0.0) for row in S], places, count, [0.0] * count)
        Y = np.zeros((count, nv))
        Y[own] = answers
    quick = max(1.0, *map(abs, slip))
    return ContactState(at, *known, slip, drift, S, Y, quick)


def contact_laws(
    m: int, t: float, y: FloatArray, made: BoundSystem
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Gaps of m contacts, and their kinetic and static friction limits, restitutions and speeds of smooth friction."""
    return _laws(made.code.contact_call(t, y, made.h), m)


def _laws(found: FloatArray, m: int) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    numbers: list[float] = found[: 5 * m].tolist()
    return numbers[:m], numbers[m::4], numbers[m + 1 :: 4], numbers[m + 2 :: 4], numbers[m + 3 :: 4]


def _solved(found: FloatArray, r: int, nv: int) -> tuple[list[float], list[list[float]], FloatArray]:
    """Free acceleration, Delassus operator S and response Y of r rows, as computed by the code."""
    S = found[r : r + r * r].reshape(r, r)
    return found[:r].tolist(), S.tolist(), found[r + r * r :].reshape(r, -1)[:, :nv]


def _whole(found: FloatArray, r: int, nv: int) -> tuple[list[float], list[list[float]], FloatArray]:
    """Free acceleration, Delassus operator S and response Y from the acceleration biases, the Jacobian W, the mass matrix and
    the forces::

        Y = W M^-1          S = Y W^T          drift = Y f + rest
    """
    rest, W, M, f = np.split(found, np.cumsum([r, r * nv, nv * nv]))
    W = W.reshape(r, nv)
    Y = np.asarray(
        solve(M.reshape(nv, nv), W.T, what="what forces of contacts do to the accelerations").T, dtype=np.float64
    )
    return (Y @ f + rest).tolist(), (Y @ W.T).tolist(), Y
