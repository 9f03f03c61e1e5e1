"""Active set: closed, sticking and slipping contacts, from the contact forces that the accelerations require."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.hybrid.contact_state import ContactState, Numbers
from kineta.mechanics.contact.unilateral_rows import FLAGS
from kineta.numerics.contact_problem import dot, solve_contact_problem
from kineta.numerics.force_distribution import ForceDistribution, distribute_forces
from kineta.numerics.friction_cone import Cone
from kineta.numerics.linear_algebra import lstsq

Direction = tuple[float, ...]

#: Acceleration, or friction utilisation, relative to the largest, that tells one mode from another: forces of modes near each
#: other have errors of FORCE_TOLERANCE times their condition, so that FORCE_TOLERANCE itself would choose by rounding.
MODE_TOLERANCE = 1e-6
#: Relative excess over the friction limit up to which a contact slips as at the limit.
LOST = 1e-2
#: Flags of sticking contacts, and of the indeterminate forces on them.
STUCK, ALONG, ALONG_N = map(FLAGS.index, ("stuck", "along u", "along n"))
#: Largest number of iterations over slip initiation, as friction changes with it.
TURNS = 8


def shares_forces(flags: FloatArray) -> bool:
    """True where sticking contacts have forces other than the least ones."""
    return any(sticks > 0 and any(others) for _, sticks, _, *others in flags.tolist())


@dataclass(frozen=True, slots=True)
class ContactForces:
    """Contact forces of an active set: ``closed`` contacts, ``flags`` of the code (m, flags), forces ``x`` and accelerations
    ``a`` along the rows, (r,), and the least friction utilisation ``needs`` of contacts that stick together; 1 where
    unknown.
    """

    closed: Set[int]
    flags: FloatArray
    x: Numbers
    a: Numbers
    needs: float = 1.0

    @property
    def shared(self) -> bool:
        """True where sticking contacts have forces other than the least ones."""
        return shares_forces(self.flags)


@dataclass(frozen=True, slots=True)
class _ActiveSet:
    """Forces ``x`` and accelerations ``a`` along the rows, the excess ``more`` over the least equivalent forces, the directions
    of ``slips``, and the ``closed`` contacts.
    """

    x: Numbers
    a: Numbers
    more: Numbers
    slips: Mapping[int, Direction]
    closed: Set[int]
    needs: float = 1.0


def solve_active_set(
    look: ContactState, near: Set[int], smooth: Sequence[bool], *, limit: float = 1.0, full: bool = False
) -> ContactForces | None:
    """Contact forces of the contacts *near*, with *smooth* friction laws where marked; None without a solution. Contacts with a
    utilisation above *limit* begin to slip; with *full*, so does the contact of the largest utilisation, up to rounding.
    """
    slips = dict(_slipping(look, near, smooth))
    found = _sticking_set(look, near, slips, smooth, limit) or _sought(look, near, slips, limit, full)
    if found is None:
        return None
    closed = found.closed
    flags = [[0.0] * len(FLAGS) for _ in look.contact_rows]
    for i, place in enumerate(look.contact_rows):
        own, along = flags[i], slice(3, 3 + len(place.tangents))
        own[0] = float(i in closed)
        if i in closed and place.normal is not None:
            own[5] = found.more[place.normal]
        if place.tangents and not smooth[i] and (i in closed or place.normal is None):
            if i in found.slips:
                own[2], own[6] = 1.0, float(i not in slips)
                own[along] = found.slips[i]
            elif look.static[i] > tolerances.LEAST_DIVISOR:
                own[1] = 1.0
                own[along] = _tangential(look, found.more, i)
    return ContactForces(closed, np.array(flags), found.x, found.a, found.needs)


def _sticking_set(
    look: ContactState, near: Set[int], slips: Mapping[int, Direction], smooth: Sequence[bool], limit: float
) -> _ActiveSet | None:
    """Forces under which all slow contacts in space come to rest together; None for none."""
    in_space = {i for i in slips if not smooth[i] and len(look.contact_rows[i].tangents) > 1}
    slow = _slow(look, look.slip, in_space)
    if not slow:
        return None
    while more := _slow(
        look, _stopped(look, near, slow), in_space - slow
    ):  # what a body that comes to rest takes with it
        slow |= more
    others = {i: d for i, d in slips.items() if i not in slow}
    held = distribute_forces(look.S, look.drift, _cones(look, near, others))
    rests = held is not None and not held.pulls and held.best < limit
    return _kept(look, held, others, _contacts(look, near)) if held is not None and rests else None


def redistributed_forces(look: ContactState, found: ContactForces, smooth: Sequence[bool]) -> ContactForces | None:
    """Contact forces *found*, distributed anew at another state; None where no admissible distribution exists."""
    slips = {i: d for i, d in _slipping(look, found.closed, smooth) if not found.flags[i, STUCK]}
    held = distribute_forces(look.S, look.drift, _cones(look, found.closed, slips))
    if held is None or held.pulls:
        return None
    more, flags = _more(held.x, held), found.flags.copy()
    for i, place in enumerate(look.contact_rows):
        if i in found.closed and place.normal is not None:
            flags[i, ALONG_N] = more[place.normal]
        if flags[i, STUCK]:
            flags[i, ALONG : ALONG + len(place.tangents)] = _tangential(look, more, i)
    return replace(found, flags=flags, x=held.x, needs=held.best)


def _slow(look: ContactState, slip: Numbers, those: Set[int]) -> set[int]:
    """Contacts of *those* whose *slip*, (r,) along the rows, counts as rest."""
    return {i for i in those if math.hypot(*_tangential(look, slip, i)) <= 10 * tolerances.SLIP_TOLERANCE}


def _stopped(look: ContactState, near: Set[int], slow: Set[int]) -> list[float]:
    """Velocities along the rows after the *slow* contacts stop and the contacts *near* stay closed."""
    normals = [n for i in near if (n := look.contact_rows[i].normal) is not None]
    rows = [*normals, *(row for i in slow for row in look.contact_rows[i].tangents)]
    S = np.array(look.S)[:, rows]
    impulse = lstsq(
        S[rows], -np.array(look.slip)[rows], what="the stop of what slips", rcond=tolerances.ROUNDING_TOLERANCE
    )
    return [v + change for v, change in zip(look.slip, (S @ impulse).tolist(), strict=True)]


def _sought(
    look: ContactState, near: Set[int], slips: Mapping[int, Direction], limit: float, full: bool
) -> _ActiveSet | None:
    """Forces under which as many contacts stick as can, and the directions of slip; None without a solution."""
    closed, begun, part = _contacts(look, near), dict[int, Direction](), 1.0
    answers: list[tuple[Set[int], Set[int]]] = []
    for _ in range(TURNS):
        known = {**slips, **begun}
        cones = _cones(look, closed, known)
        held = distribute_forces(look.S, look.drift, cones) if len(cones) > 1 else None
        holds = held is not None and not held.pulls
        within = held is not None and held.best < limit and bool(begun or not full)
        if held is not None and holds and within and _admissible(look, held.x, begun):
            return _kept(look, held, known, closed)
        reached = held is not None and holds and not within and held.best <= 1 + LOST
        spent = _saturated(look, closed, held, known) if held is not None and reached else {}
        if held is not None and spent and not _below_static_friction(look, spent):
            begun, part = {**begun, **spent}, (1 - MODE_TOLERANCE) * min(1.0, held.best)
            continue
        loose = {*begun, *spent}
        asked = None if held is None else held.x
        given = _given_way(
            look, closed, slips, loose, 1.0 if _below_static_friction(look, loose) else part, limit, asked
        )
        if given is None:
            return None
        found, a, now = given
        still = _closed(look, closed, found, a, held if now == begun else None)
        if now == begun and still == closed:
            return _ActiveSet(found, a, _more(found, held), {**slips, **now}, closed)
        if (now.keys(), still) in answers:
            return _at_bounds(look, still, {**slips, **now}, found)
        answers.append((now.keys(), still))
        closed, begun = still, now
    return None


def _at_bounds(look: ContactState, closed: Set[int], slips: Mapping[int, Direction], found: Numbers) -> _ActiveSet:
    """Active set where the accelerations repeat the same *slips*, and more contacts are saturated up to rounding: forces within
    all friction limits, up to rounding, or else the forces *found*.
    """
    held = distribute_forces(look.S, look.drift, _cones(look, closed, slips))
    if held is not None and not held.pulls and held.most * (1 - 10 * tolerances.FORCE_TOLERANCE) <= 1:
        return _kept(look, held, slips, closed)
    return _ActiveSet(found, look.under(found), _more(found, held), slips, closed)


def _admissible(look: ContactState, x: Numbers, begun: Mapping[int, Direction]) -> bool:
    """True where contacts at slip initiation (*begun*) accelerate along their slip directions under the forces *x*; the
    directions are at the level of rounding where several contacts saturate or separate at once.
    """
    a, least = look.under(x), -MODE_TOLERANCE * max(map(abs, look.drift), default=0.0)
    return all(dot(_tangential(look, a, i), toward) >= least for i, toward in begun.items())


def _given_way(
    look: ContactState,
    near: Set[int],
    slips: Mapping[int, Direction],
    loose: Set[int],
    part: float,
    limit: float,
    asked: Numbers | None,
) -> tuple[list[float], list[float], dict[int, Direction]] | None:
    """Forces along the rows, accelerations, and the directions of slip initiation, with the contacts *loose* slipping already,
    and a *part* of the friction at others; None without a solution. A single contact begins to slip from the utilisation
    *limit* on. Among contacts with less kinetic friction, the one of the largest utilisation by *asked* slips first: others
    may then stick.
    """
    while True:
        cones = _cones(look, near, slips, loose)
        if part < 1:
            cones = [c if c.slip else replace(c, bound=part * c.bound) for c in cones]
        found = solve_contact_problem(look.S, look.drift, cones)
        if not found:
            return None
        a, begun = look.under(found), {}
        for i in _may_slip(look, near):
            bound = part * (1 - tolerances.FORCE_TOLERANCE) * (look.bound[i] if i in loose else look.static[i])
            if i not in slips and _reaches(look, found, i, bound):
                along = _tangential(look, a, i)
                speeding, force = math.hypot(*along), math.hypot(*_tangential(look, found, i))
                if speeding > look.rounding:
                    begun[i] = tuple(x / speeding for x in along)
                elif (
                    len(cones) == 1
                    and force > 0
                    and _reaches(look, found, i, limit * bound / (1 - tolerances.FORCE_TOLERANCE))
                ):
                    begun[i] = _against(look, found, i)
        lighter = _below_static_friction(look, begun) - loose
        if not lighter:
            return found, a, begun
        asks = {i: math.inf if asked is None else _friction_utilisation(look, asked, i) for i in lighter}
        loose |= {i for i, part_of_bound in asks.items() if part_of_bound >= (1 - MODE_TOLERANCE) * max(asks.values())}


def _kept(look: ContactState, held: ForceDistribution, slips: Mapping[int, Direction], closed: Set[int]) -> _ActiveSet:
    return _ActiveSet(held.x, look.under(held.x), _more(held.x, held), slips, closed, held.best)


def _more(x: Numbers, held: ForceDistribution | None) -> list[float]:
    """Excess of forces over the least ones *held*."""
    return [0.0] * len(x) if held is None else [f - least for f, least in zip(x, held.least, strict=True)]


def _contacts(look: ContactState, near: Set[int]) -> Set[int]:
    return {i for i in near if look.contact_rows[i].normal is not None}


def _closed(
    look: ContactState, contacts: Set[int], found: Numbers, a: Numbers, held: ForceDistribution | None
) -> Set[int]:
    """Closed *contacts* under the forces *found* with accelerations *a*: contacts that push or do not separate; without
    contacts that the forces *held* of the code would pull.
    """
    least = tolerances.FORCE_TOLERANCE * max(map(abs, found), default=0.0)
    still: set[int] = set()
    for i in contacts:
        place, pulls = look.contact_rows[i], () if held is None else held.pulls
        n = place.normal
        if n is not None and (
            place.ease == 1 and found[n] > least if n in pulls else found[n] > 0 or a[n] <= look.rounding
        ):
            still.add(i)
    return still


def _below_static_friction(look: ContactState, slips: Collection[int]) -> Set[int]:
    """Contacts whose kinetic friction is below their static friction."""
    return {i for i in slips if look.static[i] > look.bound[i]}


def _saturated(
    look: ContactState, near: Set[int], held: ForceDistribution, slips: Collection[int]
) -> dict[int, Direction]:
    """Saturated contacts, with their directions at slip initiation."""
    sticks = (i for i in _may_slip(look, near) if i not in slips)
    return {
        i: _against(look, held.x, i)
        for i in sticks
        if _reaches(look, held.x, i, (1 - MODE_TOLERANCE) * held.most * look.static[i])
    }


def _reaches(look: ContactState, found: Numbers, i: int, bound: float) -> bool:
    """True where the friction force of a contact reaches the limit *bound*."""
    normal = look.contact_rows[i].normal
    most = bound * (1.0 if normal is None else found[normal])
    return bound > tolerances.LEAST_DIVISOR and math.hypot(*_tangential(look, found, i)) >= most


def _friction_utilisation(look: ContactState, x: Numbers, i: int) -> float:
    """Friction utilisation of a contact by the forces *x*."""
    normal = look.contact_rows[i].normal
    most = look.static[i] * (1.0 if normal is None else x[normal])
    return math.hypot(*_tangential(look, x, i)) / most if most > 0 else math.inf


def _against(look: ContactState, found: Numbers, i: int) -> Direction:
    """Direction opposite to the friction force of a contact; any for a zero force."""
    force = _tangential(look, found, i)
    size = math.hypot(*force)
    return tuple(-f / size for f in force) if size > 0 else (1.0, *[0.0] * (len(force) - 1))


def _may_slip(look: ContactState, near: Set[int]) -> Iterator[int]:
    """Contacts with active friction."""
    return (i for i, p in enumerate(look.contact_rows) if p.tangents and (p.normal is None or i in near))


def _cones(
    look: ContactState, near: Set[int], slips: Mapping[int, Direction], loose: Collection[int] = ()
) -> list[Cone]:
    """Friction cones of the contacts: of slipping ones in these directions, of *loose* ones with kinetic friction, else with
    static friction.
    """
    return [
        look.cone(i, sticks=i not in slips and i not in loose, slip=slips.get(i))
        for i, place in enumerate(look.contact_rows)
        if place.normal is None or i in near
    ]


def _tangential(look: ContactState, along: Numbers, i: int) -> list[float]:
    return [along[row] for row in look.contact_rows[i].tangents]


def _slipping(look: ContactState, near: Set[int], smooth: Sequence[bool]) -> Iterator[tuple[int, Direction]]:
    """The touches that slip, with their directions; with a smooth law friction has only a part of its size. What is in
    a dead point goes on.
    """
    for i in _may_slip(look, near):
        slip = _tangential(look, look.slip, i)
        size = math.hypot(*slip)
        if smooth[i]:
            yield i, tuple(v / math.hypot(size, look.smooth[i]) for v in slip)
        elif size > (tolerances.CONSTRAINT_TOLERANCE * look.quick if len(slip) == 1 else 2 * tolerances.SLIP_TOLERANCE):
            yield i, tuple(v / size for v in slip)
        elif i in look.onward:
            yield i, (look.onward[i],)
