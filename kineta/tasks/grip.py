"""What holds: which contacts stay closed, and which stick or slip, from the forces that the accelerations ask for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.slipping import NEARLY
from kineta.formalism.touch import FLAGS
from kineta.numerics.complementarity import REACHED, forces, product
from kineta.numerics.cone import Cone
from kineta.numerics.sharing import RANK, Shares, shares
from kineta.tasks.look import NOTHING, Look, Numbers

FloatArray = NDArray[np.float64]
Direction = tuple[float, ...]

#: Slip along a line that is none, relative to the fastest speed; in space what the run looks at counts as none, and up to this
#: speed what friction can hold comes to rest together [m/s].
STILL, SLOW = 1e-10, 1e-6
#: Part of a bound from which on nothing is left of it, where a run says that forces grow to it; and part beyond it up to which
#: what slips is what would at the bound.
SPENT, LOST = 1 - 1e-8, 1e-2
#: Part of the largest part of a bound that is at work, from which on something slips with what slips first.
WITH = 1 - 1e-6
#: Part of the largest acceleration up to which what slips may go against its direction, as near to its bound as it begins.
ASTRAY = 1e-6
#: Part of its friction that has what is at its bound, where accelerations are asked who slips, and whereto: they are no rounding.
LESS = 1 - 1e-6
#: Part of the largest force that is none.
NO_FORCE = 1e-9
#: Which of the flags say that something sticks, and what more bears it.
STUCK, ALONG, ALONG_N = map(FLAGS.index, ("stuck", "along u", "along n"))
#: How often what begins to slip is looked at again, as its friction changes with it.
TURNS = 8


def shares_forces(flags: FloatArray) -> bool:
    """Whether what sticks by these *flags* has other forces than the least ones."""
    return any(sticks > 0 and any(others) for _, sticks, _, *others in flags.tolist())


@dataclass(frozen=True, slots=True)
class Grip:
    """Which touches are ``closed``, the ``flags`` of the code, (m, flags), and the forces ``x`` and accelerations ``a`` along the
    rows, (r,). What sticks together ``needs`` no less than this part of its bounds; all, where that is not known.
    """

    closed: Set[int]
    flags: FloatArray
    x: Numbers
    a: Numbers
    needs: float = 1.0

    @property
    def shared(self) -> bool:
        """Whether what sticks has other forces than the least ones."""
        return shares_forces(self.flags)


@dataclass(frozen=True, slots=True)
class _Found:
    """Forces ``x`` along the rows, with the accelerations ``a``, how much ``more`` they are than the least that do the same, and
    the directions of what ``slips``; and which contacts stay ``closed``.
    """

    x: Numbers
    a: Numbers
    more: Numbers
    slips: Mapping[int, Direction]
    closed: Set[int]
    needs: float = 1.0


def grip(look: Look, near: Set[int], smooth: Sequence[bool], *, limit: float = 1.0, full: bool = False) -> Grip | None:
    """What the touches that are *near* do from here on, friction being *smooth* where that is said; None where the laws have no
    solution. What needs more than the part *limit* of its bound begins to slip, and where bounds are *full*, up to rounding,
    what is nearest to its bound.
    """
    slips = dict(_slipping(look, near, smooth))
    found = _resting(look, near, slips, smooth, limit) or _sought(look, near, slips, limit, full)
    if found is None:
        return None
    closed = found.closed
    flags = [[0.0] * len(FLAGS) for _ in look.places]
    for i, place in enumerate(look.places):
        own, along = flags[i], slice(3, 3 + len(place.tangents))
        own[0] = float(i in closed)
        if i in closed and place.normal is not None:
            own[5] = found.more[place.normal]
        if place.tangents and not smooth[i] and (i in closed or place.normal is None):
            if i in found.slips:
                own[2], own[6] = 1.0, float(i not in slips)
                own[along] = found.slips[i]
            elif look.static[i] > NOTHING:
                own[1] = 1.0
                own[along] = _tangential(look, found.more, i)
    return Grip(closed, np.array(flags), found.x, found.a, found.needs)


def _resting(
    look: Look, near: Set[int], slips: Mapping[int, Direction], smooth: Sequence[bool], limit: float
) -> _Found | None:
    """Forces under which all that is slow in space comes to rest together; None where there are none."""
    in_space = {i for i in slips if not smooth[i] and len(look.places[i].tangents) > 1}
    slow = _slow(look, look.slip, in_space)
    if not slow:
        return None
    while more := _slow(
        look, _stopped(look, near, slow), in_space - slow
    ):  # what a body that comes to rest takes with it
        slow |= more
    others = {i: d for i, d in slips.items() if i not in slow}
    held = shares(look.S, look.drift, _cones(look, near, others))
    rests = held is not None and not held.pulls and held.best < limit
    return _kept(look, held, others, _contacts(look, near)) if held is not None and rests else None


def reshared(look: Look, found: Grip, smooth: Sequence[bool]) -> Grip | None:
    """What is *found* to hold, with forces that hold as much at another state; None where none do."""
    slips = {i: d for i, d in _slipping(look, found.closed, smooth) if not found.flags[i, STUCK]}
    held = shares(look.S, look.drift, _cones(look, found.closed, slips))
    if held is None or held.pulls:
        return None
    more, flags = _more(held.x, held), found.flags.copy()
    for i, place in enumerate(look.places):
        if i in found.closed and place.normal is not None:
            flags[i, ALONG_N] = more[place.normal]
        if flags[i, STUCK]:
            flags[i, ALONG : ALONG + len(place.tangents)] = _tangential(look, more, i)
    return replace(found, flags=flags, x=held.x, needs=held.best)


def _slow(look: Look, slip: Numbers, those: Set[int]) -> set[int]:
    """Which of *those* have no more *slip*, (r,) along the rows, than counts as rest."""
    return {i for i in those if math.hypot(*_tangential(look, slip, i)) <= SLOW}


def _stopped(look: Look, near: Set[int], slow: Set[int]) -> list[float]:
    """The velocities along the rows once what is *slow* stands, while what is *near* stays closed."""
    normals = [n for i in near if (n := look.places[i].normal) is not None]
    rows = [*normals, *(row for i in slow for row in look.places[i].tangents)]
    S = np.array(look.S)[:, rows]
    impulse = np.linalg.lstsq(S[rows], -np.array(look.slip)[rows], rcond=RANK)[0]
    return [v + change for v, change in zip(look.slip, (S @ impulse).tolist(), strict=True)]


def _sought(look: Look, near: Set[int], slips: Mapping[int, Direction], limit: float, full: bool) -> _Found | None:
    """Forces under which all holds that can, and the directions of what slips, or begins to; None where the laws have no
    solution.
    """
    closed, begun, part = _contacts(look, near), dict[int, Direction](), 1.0
    answers: list[tuple[Set[int], Set[int]]] = []
    for _ in range(TURNS):
        known = {**slips, **begun}
        cones = _cones(look, closed, known)
        held = shares(look.S, look.drift, cones) if len(cones) > 1 else None
        holds = held is not None and not held.pulls
        within = held is not None and held.best < limit and bool(begun or not full)
        if held is not None and holds and within and _goes(look, held.x, begun):
            return _kept(look, held, known, closed)
        reached = held is not None and holds and not within and held.best <= 1 + LOST
        spent = _spent(look, closed, held, known) if held is not None and reached else {}
        if held is not None and spent and not _lighter(look, spent):
            begun, part = {**begun, **spent}, LESS * min(1.0, held.best)
            continue
        loose = {*begun, *spent}
        asked = None if held is None else held.x
        given = _given_way(look, closed, slips, loose, 1.0 if _lighter(look, loose) else part, limit, asked)
        if given is None:
            return None
        found, a, now = given
        still = _closed(look, closed, found, a, held if now == begun else None)
        if now == begun and still == closed:
            return _Found(found, a, _more(found, held), {**slips, **now}, closed)
        if (now.keys(), still) in answers:
            return _at_bounds(look, still, {**slips, **now}, found)
        answers.append((now.keys(), still))
        closed, begun = still, now
    return None


def _at_bounds(look: Look, closed: Set[int], slips: Mapping[int, Direction], found: Numbers) -> _Found:
    """What holds where accelerations say again and again what *slips*, and rounding that more is at its bound: all that stays
    within its own, up to rounding, or else the forces *found*.
    """
    held = shares(look.S, look.drift, _cones(look, closed, slips))
    if held is not None and not held.pulls and held.most <= 1 / SPENT:
        return _kept(look, held, slips, closed)
    return _Found(found, look.under(found), _more(found, held), slips, closed)


def _goes(look: Look, x: Numbers, begun: Mapping[int, Direction]) -> bool:
    """Whether what has *begun* to slip goes in its directions under the forces *x*: their directions are no more than rounding
    where several come to their bounds, and some to the end of what presses them, at once.
    """
    a, least = look.under(x), -ASTRAY * max(map(abs, look.drift), default=0.0)
    return all(product(_tangential(look, a, i), toward) >= least for i, toward in begun.items())


def _given_way(
    look: Look,
    near: Set[int],
    slips: Mapping[int, Direction],
    loose: Set[int],
    part: float,
    limit: float,
    asked: Numbers | None,
) -> tuple[list[float], list[float], dict[int, Direction]] | None:
    """The forces along the rows, the accelerations, and the directions of what begins to slip, with those that are *loose*
    already, where what may begin to has a *part* of its friction; None where the laws have no solution. What is alone begins
    to from the part *limit* of it on. Of what has less friction then, that is loose first from which the most would be *asked*:
    others may hold where it slips.
    """
    while True:
        cones = _cones(look, near, slips, loose)
        if part < 1:
            cones = [c if c.slip else replace(c, bound=part * c.bound) for c in cones]
        found = forces(look.S, look.drift, cones)
        if not found:
            return None
        a, begun = look.under(found), {}
        for i in _may_slip(look, near):
            bound = part * REACHED * (look.bound[i] if i in loose else look.static[i])
            if i not in slips and _reaches(look, found, i, bound):
                along = _tangential(look, a, i)
                speeding, force = math.hypot(*along), math.hypot(*_tangential(look, found, i))
                if speeding > look.rounding:
                    begun[i] = tuple(x / speeding for x in along)
                elif len(cones) == 1 and force > 0 and _reaches(look, found, i, limit * bound / REACHED):
                    begun[i] = _against(look, found, i)
        lighter = _lighter(look, begun) - loose
        if not lighter:
            return found, a, begun
        asks = {i: math.inf if asked is None else _asked(look, asked, i) for i in lighter}
        loose |= {i for i, part_of_bound in asks.items() if part_of_bound >= WITH * max(asks.values())}


def _kept(look: Look, held: Shares, slips: Mapping[int, Direction], closed: Set[int]) -> _Found:
    return _Found(held.x, look.under(held.x), _more(held.x, held), slips, closed, held.best)


def _more(x: Numbers, held: Shares | None) -> list[float]:
    """How much more forces are than the least of those that are *held*."""
    return [0.0] * len(x) if held is None else [f - least for f, least in zip(x, held.least, strict=True)]


def _contacts(look: Look, near: Set[int]) -> Set[int]:
    return {i for i in near if look.places[i].normal is not None}


def _closed(look: Look, contacts: Set[int], found: Numbers, a: Numbers, held: Shares | None) -> Set[int]:
    """Which *contacts* stay closed under the forces *found*, with accelerations *a*: those that push, or that nothing takes away;
    but none that the code, for which forces are those *held*, would have to pull while others do their work.
    """
    least = NO_FORCE * max(map(abs, found), default=0.0)
    still: set[int] = set()
    for i in contacts:
        place, pulls = look.places[i], () if held is None else held.pulls
        n = place.normal
        if n is not None and (
            place.ease == 1 and found[n] > least if n in pulls else found[n] > 0 or a[n] <= look.rounding
        ):
            still.add(i)
    return still


def _lighter(look: Look, slips: Collection[int]) -> Set[int]:
    """Of what slips that which has less friction then than where it sticks."""
    return {i for i in slips if look.static[i] > look.bound[i]}


def _spent(look: Look, near: Set[int], held: Shares, slips: Collection[int]) -> dict[int, Direction]:
    """What has nothing left of its bound, with the directions in which it begins to slip."""
    sticks = (i for i in _may_slip(look, near) if i not in slips)
    return {
        i: _against(look, held.x, i) for i in sticks if _reaches(look, held.x, i, WITH * held.most * look.static[i])
    }


def _reaches(look: Look, found: Numbers, i: int, bound: float) -> bool:
    """Whether the force of friction of a touch reaches a *bound*."""
    normal = look.places[i].normal
    most = bound * (1.0 if normal is None else found[normal])
    return bound > NOTHING and math.hypot(*_tangential(look, found, i)) >= most


def _asked(look: Look, x: Numbers, i: int) -> float:
    """Which part of its bound forces *x* ask of a touch."""
    normal = look.places[i].normal
    most = look.static[i] * (1.0 if normal is None else x[normal])
    return math.hypot(*_tangential(look, x, i)) / most if most > 0 else math.inf


def _against(look: Look, found: Numbers, i: int) -> Direction:
    """The direction against the force of friction of a touch, any where there is none."""
    force = _tangential(look, found, i)
    size = math.hypot(*force)
    return tuple(-f / size for f in force) if size > 0 else (1.0, *[0.0] * (len(force) - 1))


def _may_slip(look: Look, near: Set[int]) -> Iterator[int]:
    """The touches with friction that can act."""
    return (i for i, p in enumerate(look.places) if p.tangents and (p.normal is None or i in near))


def _cones(look: Look, near: Set[int], slips: Mapping[int, Direction], loose: Collection[int] = ()) -> list[Cone]:
    """What forces may be where touches slip in these directions, or are *loose* and slip in some, and stick elsewhere."""
    return [
        look.cone(i, sticks=i not in slips and i not in loose, slip=slips.get(i))
        for i, place in enumerate(look.places)
        if place.normal is None or i in near
    ]


def _tangential(look: Look, along: Numbers, i: int) -> list[float]:
    return [along[row] for row in look.places[i].tangents]


def _slipping(look: Look, near: Set[int], smooth: Sequence[bool]) -> Iterator[tuple[int, Direction]]:
    """The touches that slip, with their directions; with a smooth law friction has only a part of its size. What is in
    a dead point goes on.
    """
    for i in _may_slip(look, near):
        slip = _tangential(look, look.slip, i)
        size = math.hypot(*slip)
        if smooth[i]:
            yield i, tuple(v / math.hypot(size, look.smooth[i]) for v in slip)
        elif size > (STILL * look.quick if len(slip) == 1 else 2 * NEARLY):
            yield i, tuple(v / size for v in slip)
        elif i in look.onward:
            yield i, (look.onward[i],)
