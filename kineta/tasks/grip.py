"""What holds: which contacts stay closed, and which stick or slip, from the forces that the accelerations ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.holding import NEARLY
from kineta.formalism.touch import FLAGS
from kineta.numerics.complementarity import REACHED, Cone, finished, forces, kept
from kineta.tasks.look import Look

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]
Direction = tuple[float, ...]

#: Slip along a line that is none, relative to the fastest speed; in space what the run looks at counts as none.
STILL = 1e-10
#: A direction of slip that no slip changes.
FIRM = 1e12
#: Accelerations below this part of the largest are rounding.
ROUNDING = 1e-9
#: Part of a bound that has been reached where the run has seen that it was.
NEARLY_REACHED = 1 - 1e-5
#: How often what begins to slip is looked at again, as its friction changes with it.
TURNS = 8


@dataclass(frozen=True, slots=True)
class Grip:
    """Which touches are ``closed``, (m,), the ``flags`` of the code, (m, flags), and accelerations ``a`` along the rows, (r,)."""

    closed: Bools
    flags: FloatArray
    a: FloatArray


def grip(look: Look, near: Bools, smooth: Bools, giving: Collection[int] = ()) -> Grip | None:
    """What the touches that are *near* do from here on, friction being *smooth* where that is said; None where the laws have no
    solution. Those *giving* way are just at the bound of what sticks, up to rounding.
    """
    slipping = dict(_slipping(look, near, smooth))
    sought = _sought(look, near, slipping, giving)
    if sought is None:
        return None
    found, slips, begun = sought
    cones = list(_cones(look, near, slips))
    a = look.S @ found + look.drift
    least = ROUNDING * max(float(np.abs(look.drift).max(initial=0.0)), 1e-300)
    moving = {
        i
        for i, d in (slips | begun).items()
        if i in slipping or i in giving or float(np.dot(_tangential(look, a, i), d)) > least
    }
    held_back = [i for i in begun if i not in moving]
    if held_back and _may_share(look, cones, found, held_back):
        begun = {i: d for i, d in begun.items() if i in moving}
    closed = np.array(
        [
            near[i] and p.normal is not None and (found[p.normal] > 0 or a[p.normal] <= least)
            for i, p in enumerate(look.places)
        ]
    )
    flags = np.zeros((len(look.places), len(FLAGS)))
    for i, place in enumerate(look.places):
        flags[i, 0] = closed[i]
        if place.tangents and not smooth[i] and (closed[i] or place.normal is None):
            flags[i, 1:] = _flags((slips | begun).get(i), moves=i in moving)
    return Grip(closed, flags, a)


def _sought(
    look: Look, near: Bools, slipping: Mapping[int, Direction], giving: Collection[int]
) -> tuple[FloatArray, dict[int, Direction], dict[int, Direction]] | None:
    """The forces along the rows; the directions of what slips, with the friction of slip; and those of what is at the bound of
    what sticks. None where the laws have no solution.
    """
    slips = dict(slipping)
    for turn in range(TURNS):
        found = forces(look.S, look.drift, list(_cones(look, near, slips)))
        if found is None:
            return None
        begun = {i: d for i, d in _beginning(look, near, found, giving) if i not in slips}
        if turn == TURNS - 1 or not any(look.static[i] > look.bound[i] for i in begun):
            return found, slips, begun
        slips |= begun
    return None


def _flags(direction: Direction | None, *, moves: bool) -> tuple[float, float, float, float]:
    """Whether something sticks, whether it slips, and where to: what is only pushed there goes nowhere else."""
    if direction is None:
        return 1.0, 0.0, 0.0, 0.0
    firm = FIRM if len(direction) > 1 and not moves else 1.0
    u, w = (*direction, 0.0)[:2]
    return 0.0, float(moves), firm * u, firm * w


def _may_slip(look: Look, near: Bools) -> Iterator[int]:
    """The touches with friction that can act."""
    return (i for i, p in enumerate(look.places) if p.tangents and (p.normal is None or near[i]))


def _cones(look: Look, near: Bools, slips: Mapping[int, Direction]) -> Iterator[Cone]:
    """What forces may be where touches slip in these directions, and stick elsewhere."""
    for i, place in enumerate(look.places):
        if place.normal is None or near[i]:
            yield look.cone(i, sticks=i not in slips, slip=slips.get(i))


def _tangential(look: Look, along: FloatArray, i: int) -> FloatArray:
    return along[list(look.places[i].tangents)]


def _slipping(look: Look, near: Bools, smooth: Bools) -> Iterator[tuple[int, Direction]]:
    """The touches that slip, with their directions; with a smooth law friction has only a part of its size."""
    for i in _may_slip(look, near):
        slip = _tangential(look, look.slip, i)
        size = float(np.linalg.norm(slip))
        if smooth[i]:
            yield i, tuple((slip / np.hypot(size, look.smooth[i])).tolist())
        elif size > (STILL * look.quick if len(slip) == 1 else 2 * NEARLY):
            yield i, tuple((slip / size).tolist())


def _beginning(look: Look, near: Bools, found: FloatArray, giving: Collection[int]) -> Iterator[tuple[int, Direction]]:
    """The touches whose forces are at their bound, or that are *giving* way, with the directions in which they would slip."""
    for i in _may_slip(look, near):
        normal, force = look.places[i].normal, _tangential(look, found, i)
        size = float(np.linalg.norm(force))
        share = NEARLY_REACHED if i in giving else REACHED
        if size > 0 and size >= share * look.static[i] * (1.0 if normal is None else found[normal]):
            yield i, tuple((-force / size).tolist())


def _may_share(look: Look, cones: Sequence[Cone], found: FloatArray, pushed: Sequence[int]) -> bool:
    """Whether those *pushed* to their bounds, though they do not move, may as well share the forces with those that hold them."""
    trial = found.copy()
    for i in pushed:
        trial[list(look.places[i].tangents)] = 0.0
    shared = finished(look.S, look.drift, cones, trial)
    return shared is not None and kept(look.S, look.drift, cones, shared)
