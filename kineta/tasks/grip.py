"""What holds: which contacts stay closed, and which stick or slip, from the forces that the accelerations ask for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.holding import NEARLY
from kineta.formalism.touch import FLAGS
from kineta.numerics.complementarity import REACHED, Cone, forces, held, product
from kineta.tasks.look import Look, Numbers

FloatArray = NDArray[np.float64]
Direction = tuple[float, ...]
#: Of nothing that slips.
NONE: Mapping[int, Direction] = MappingProxyType({})

#: Slip along a line that is none, relative to the fastest speed; in space what the run looks at counts as none.
STILL = 1e-10
#: A direction of slip that no slip changes.
FIRM = 1e12
#: Part of a bound that may as well be the bound, where others have just reached theirs; and part beyond it that is rounding.
NEARLY_REACHED, LOST = 1 - 1e-4, 1e-9
#: Bounds below this are none; and the part of its own by which a motion is free that others do not hold.
NOTHING, HELD = 1e-200, 1e-9
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
    sought = _sought(look, near, dict(_slipping(look, near, smooth)), giving)
    if sought is None:
        return None
    found, slips, begun, moving = sought
    a = look.under(found)
    closed = {
        i
        for i, p in enumerate(look.places)
        if i in near and p.normal is not None and (found[p.normal] > 0 or a[p.normal] <= look.rounding)
    }
    flags = np.zeros((len(look.places), len(FLAGS)))
    for i, place in enumerate(look.places):
        flags[i, 0] = i in closed
        if place.tangents and not smooth[i] and (i in closed or place.normal is None):
            direction = (slips | begun).get(i)
            if direction is not None or look.static[i] > NOTHING:
                pushed = i not in moving and i not in slips and look.bound[i] > NOTHING
                flags[i, 1:] = _flags(direction, look.static[i] / look.bound[i] if pushed else 1.0, moves=not pushed)
    return Grip(closed, flags, a)


def _sought(
    look: Look, near: Set[int], slipping: Mapping[int, Direction], giving: Collection[int]
) -> tuple[list[float], dict[int, Direction], dict[int, Direction], set[int]] | None:
    """The forces along the rows; the directions of what slips, with the friction of slip; those of what is at the bound of what
    sticks; and which of these begin to move. None where the laws have no solution.
    """
    slips = dict(slipping)
    for turn in range(TURNS):
        found, begun = _at_bounds(look, near, slips, giving)
        if not found:
            return None
        moving = {i for i, d in begun.items() if _is_free(look, near, {*slips, *begun}, i, d)}
        lighter = {i: begun[i] for i in moving if look.static[i] > look.bound[i]}
        if turn == TURNS - 1 or not lighter:
            return found, slips, begun, moving
        slips |= lighter
    return None


def _at_bounds(
    look: Look, near: Set[int], slips: Mapping[int, Direction], giving: Collection[int]
) -> tuple[list[float], dict[int, Direction]]:
    """The forces along the rows, none where the laws have no solution, and the directions of what is at the bound of what
    sticks. Where some are *giving* way, the others hold what they can.
    """
    if giving:
        found, begun = _handed_on(look, near, slips, {}, giving)
        if _pushes(look, near, found):
            return found, begun
    found = forces(look.S, look.drift, _cones(look, near, slips)) or []
    if not found:
        return [], {}
    begun = {i: d for i, d in _beginning(look, near, found) if i not in slips}
    a = look.under(found)
    going = {i: d for i, d in begun.items() if product(_tangential(look, a, i), d) > look.rounding}
    shared = _holding(look, near, slips, going)
    over = [
        i for i in _may_slip(look, near) if i not in slips and i not in going and _exceeds(look, shared, i, 1 + LOST)
    ]
    if over:
        shared, going = _handed_on(look, near, slips, going, over)
    return (shared, going) if _pushes(look, near, shared) else (found, begun)


def _pushes(look: Look, near: Set[int], found: Numbers) -> bool:
    """Whether no contact that is *near* is pulled."""
    return all(found[p.normal] >= 0 for i, p in enumerate(look.places) if i in near and p.normal is not None)


def _handed_on(
    look: Look, near: Set[int], slips: Mapping[int, Direction], going: Mapping[int, Direction], giving: Collection[int]
) -> tuple[list[float], dict[int, Direction]]:
    """The forces where those *giving* way are at their bounds, beside those *going* already, and then those for which the rest is
    too much; with the directions of all these.
    """
    begun = dict(going)
    found, over = _holding(look, near, slips, begun), [i for i in giving if i not in slips]
    while over:
        begun |= {i: _against(look, found, i) for i in over}
        found = _holding(look, near, slips, begun)
        over = [
            i
            for i in _may_slip(look, near)
            if i not in slips and i not in begun and _exceeds(look, found, i, NEARLY_REACHED)
        ]
    return found, begun


def _holding(look: Look, near: Set[int], slips: Mapping[int, Direction], begun: Mapping[int, Direction]) -> list[float]:
    """The least forces that hold all but what slips and what has *begun* to."""
    return held(look.S, look.drift, _cones(look, near, slips, begun))


def _against(look: Look, found: Numbers, i: int) -> Direction:
    """The direction against the force of friction."""
    force = _tangential(look, found, i)
    size = math.hypot(*force)
    return tuple(-f / size for f in force) if size > 0 else (1.0, *[0.0] * (len(force) - 1))


def _exceeds(look: Look, found: Numbers, i: int, share: float) -> bool:
    """Whether friction of something that sticks is beyond a *share* of its bound."""
    return look.static[i] > NOTHING and _size(look, found, i) > share * _most(look, found, i)


def _most(look: Look, found: Numbers, i: int) -> float:
    """The bound of the friction of something that sticks."""
    normal = look.places[i].normal
    return look.static[i] * (1.0 if normal is None else found[normal])


def _is_free(look: Look, near: Set[int], loose: Set[int], i: int, direction: Direction) -> bool:
    """Whether a touch can slip in a *direction*, whatever its own force, where all that is not *loose* holds."""
    rows = [p.normal for k, p in enumerate(look.places) if k in near and p.normal is not None]
    sticking = (k for k in _may_slip(look, near) if k not in loose and look.static[k] > NOTHING)
    rows += [row for k in sticking for row in look.places[k].tangents]
    S, own = np.array(look.S), list(look.places[i].tangents)
    across, stiffness = S[np.ix_(rows, own)] @ direction, direction @ S[np.ix_(own, own)] @ direction
    left = stiffness - across @ np.linalg.lstsq(S[np.ix_(rows, rows)], across, rcond=HELD)[0]
    return bool(left > HELD * stiffness)


def _flags(direction: Direction | None, share: float, *, moves: bool) -> tuple[float, float, float, float]:
    """Whether something sticks, whether it slips, and where to. What is only pushed there goes nowhere else; in a line with the
    *share* by which it is held more than what slips.
    """
    if direction is None:
        return 1.0, 0.0, 0.0, 0.0
    firm = share if len(direction) == 1 or moves else FIRM
    u, w = (*direction, 0.0)[:2]
    return 0.0, float(moves), firm * u, firm * w


def _may_slip(look: Look, near: Set[int]) -> Iterator[int]:
    """The touches with friction that can act."""
    return (i for i, p in enumerate(look.places) if p.tangents and (p.normal is None or i in near))


def _cones(
    look: Look, near: Set[int], slips: Mapping[int, Direction], begun: Mapping[int, Direction] = NONE
) -> list[Cone]:
    """What forces may be where touches slip in these directions, or have *begun* to, and stick elsewhere."""
    return [
        look.cone(i, sticks=i not in slips, slip=slips.get(i, begun.get(i)))
        for i, place in enumerate(look.places)
        if place.normal is None or i in near
    ]


def _tangential(look: Look, along: Numbers, i: int) -> list[float]:
    return [along[row] for row in look.places[i].tangents]


def _size(look: Look, along: Numbers, i: int) -> float:
    return math.hypot(*_tangential(look, along, i))


def _slipping(look: Look, near: Set[int], smooth: Sequence[bool]) -> Iterator[tuple[int, Direction]]:
    """The touches that slip, with their directions; with a smooth law friction has only a part of its size."""
    for i in _may_slip(look, near):
        slip = _tangential(look, look.slip, i)
        size = math.hypot(*slip)
        if smooth[i]:
            yield i, tuple(v / math.hypot(size, look.smooth[i]) for v in slip)
        elif size > (STILL * look.quick if len(slip) == 1 else 2 * NEARLY):
            yield i, tuple(v / size for v in slip)


def _beginning(look: Look, near: Set[int], found: Numbers) -> Iterator[tuple[int, Direction]]:
    """The touches whose forces are at their bound, with the directions in which they would slip."""
    for i in _may_slip(look, near):
        size = _size(look, found, i)
        if look.static[i] > NOTHING and size > 0 and size >= REACHED * _most(look, found, i):
            yield i, _against(look, found, i)
