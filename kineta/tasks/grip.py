"""What holds: which contacts stay closed, and which stick or slip, from the forces that the accelerations ask for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.holding import NEARLY
from kineta.formalism.touch import FLAGS
from kineta.numerics.complementarity import REACHED, Cone, forces, product, shared
from kineta.tasks.look import Look, Numbers

FloatArray = NDArray[np.float64]
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
    """Which touches are ``closed``, the ``flags`` of the code, (m, flags), and accelerations ``a`` along the rows, (r,)."""

    closed: Set[int]
    flags: FloatArray
    a: Numbers


def grip(look: Look, near: Set[int], smooth: Sequence[bool], giving: Collection[int] = ()) -> Grip | None:
    """What the touches that are *near* do from here on, friction being *smooth* where that is said; None where the laws have no
    solution. Those *giving* way are just at the bound of what sticks, up to rounding.
    """
    slipping = dict(_slipping(look, near, smooth))
    sought = _sought(look, near, slipping, giving)
    if sought is None:
        return None
    found, slips, begun = sought
    cones = list(_cones(look, near, slips))
    a = [b + product(row, found) for b, row in zip(look.drift, look.S, strict=True)]
    least = ROUNDING * max(map(abs, look.drift), default=0.0)
    moving = {
        i
        for i, d in (slips | begun).items()
        if i in slipping or i in giving or product(_tangential(look, a, i), d) > least
    }
    held_back = [i for i in begun if i not in moving]
    if held_back and _may_share(look, cones, found, held_back):
        begun = {i: d for i, d in begun.items() if i in moving}
    closed = {
        i
        for i, p in enumerate(look.places)
        if i in near and p.normal is not None and (found[p.normal] > 0 or a[p.normal] <= least)
    }
    flags = np.zeros((len(look.places), len(FLAGS)))
    for i, place in enumerate(look.places):
        flags[i, 0] = i in closed
        if place.tangents and not smooth[i] and (i in closed or place.normal is None):
            flags[i, 1:] = _flags((slips | begun).get(i), moves=i in moving)
    return Grip(closed, flags, a)


def _sought(
    look: Look, near: Set[int], slipping: Mapping[int, Direction], giving: Collection[int]
) -> tuple[list[float], dict[int, Direction], dict[int, Direction]] | None:
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


def _may_slip(look: Look, near: Set[int]) -> Iterator[int]:
    """The touches with friction that can act."""
    return (i for i, p in enumerate(look.places) if p.tangents and (p.normal is None or i in near))


def _cones(look: Look, near: Set[int], slips: Mapping[int, Direction]) -> Iterator[Cone]:
    """What forces may be where touches slip in these directions, and stick elsewhere."""
    for i, place in enumerate(look.places):
        if place.normal is None or i in near:
            yield look.cone(i, sticks=i not in slips, slip=slips.get(i))


def _tangential(look: Look, along: Numbers, i: int) -> list[float]:
    return [along[row] for row in look.places[i].tangents]


def _slipping(look: Look, near: Set[int], smooth: Sequence[bool]) -> Iterator[tuple[int, Direction]]:
    """The touches that slip, with their directions; with a smooth law friction has only a part of its size."""
    for i in _may_slip(look, near):
        slip = _tangential(look, look.slip, i)
        size = math.hypot(*slip)
        if smooth[i]:
            yield i, tuple(v / math.hypot(size, look.smooth[i]) for v in slip)
        elif size > (STILL * look.quick if len(slip) == 1 else 2 * NEARLY):
            yield i, tuple(v / size for v in slip)


def _beginning(look: Look, near: Set[int], found: Numbers, giving: Collection[int]) -> Iterator[tuple[int, Direction]]:
    """The touches whose forces are at their bound, or that are *giving* way, with the directions in which they would slip."""
    for i in _may_slip(look, near):
        normal, force = look.places[i].normal, _tangential(look, found, i)
        size = math.hypot(*force)
        share = NEARLY_REACHED if i in giving else REACHED
        if size > 0 and size >= share * look.static[i] * (1.0 if normal is None else found[normal]):
            yield i, tuple(-f / size for f in force)


def _may_share(look: Look, cones: Sequence[Cone], found: Numbers, pushed: Sequence[int]) -> bool:
    """Whether those *pushed* to their bounds, though they do not move, may as well share the forces with those that hold them."""
    free = {row for i in pushed for row in look.places[i].tangents}
    return shared(look.S, look.drift, cones, [0.0 if row in free else force for row, force in enumerate(found)])
