"""The active set: which contacts part, stick or slip under the forces of a state.

Signorini's and Coulomb's laws hold for accelerations of contacts at rest as they do for velocities in an impact; a contact that
slips has the friction of its normal force against its slip. Where forces are not unique, those with room in their friction cones
are taken: the problem is solved with a small part of static friction first, then with more. The forces of the mode found have to
agree with it; else the worst contact changes its mode, one after the other.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactMode, ContactMotion, ModeWork
from kineta.kernels.contact.alart_curnier import COMPLIANCE, solve_laws
from kineta.kernels.contact.block_inertia import acceleration_along, push
from kineta.kernels.contact.friction_cone import kinetic_friction, static_friction
from kineta.kernels.contact.gauss_seidel import relax
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING, slip_direction
from kineta.kernels.contact.mode_search import (
    agrees,
    begin_candidates,
    begun_slips,
    closed_candidates,
    pivot_modes,
    search_modes,
)
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import copy, maximum
from kineta.memory import Integers, Reals

#: Least power of friction, relative to the largest, of contacts that are taken to begin to slip at the same time.
TOGETHER = 0.5
#: Largest number of sweeps.
SWEEPS = 2000
#: Sweeps before Newton's method takes over, and those before it is tried again where it finds nothing; its tolerance, in that of
#: sweeps, and the multiple of what counts as slip that it may miss.
PATIENCE, AGAIN, FINE, PART = 4, 16, 10.0, 3.0
#: Least compliance of its contacts, and the part of one with which it goes on for as long as what undetermined forces still move
#: counts as slip.
STIFF, STIFFER = 1e-9, 1e-2
#: Slip, in changes that all further sweeps are expected to make, that they do not take away.
CERTAIN = 8.0
#: Parts of static friction that are tried one after the other, the least first.
LEAST_SHARE, SHARES = 0.01, (0.3, 0.6, 0.9, 0.98, 0.996)
#: Change of levelled forces, relative to the largest, from which on they are not undetermined: rows that nearly depend on each
#: other lead them away.
MOVED = 1e-6


@kernel
def candidate_modes(motion: ContactMotion, near: Integers, count: int, slow: float, still: float) -> None:
    """Candidate modes of the contacts *near* by their velocities: open where they part faster than *slow*, slipping where they
    slip faster than *still*, along a line than the constraint tolerance if smaller, or with smooth friction, else sticking.
    """
    problem, terms, contacts = motion.problem, motion.terms, motion.contacts
    for a in range(count):
        c = near[a]
        u, w = terms.velocity[3 * c + 1], terms.velocity[3 * c + 2]
        size = sqrt(u * u + w * w)
        contacts.candidate[c] = STICKING
        if problem.has_normal[c] != 0 and terms.velocity[3 * c] > slow:
            contacts.candidate[c] = OPEN
        elif terms.law[4 * c + 3] > 0.0:
            contacts.candidate[c] = SLIPPING
            slip_direction(motion, c, contacts.direction[2 * c :])
        elif size > (still if problem.tangents[c] > 1 else min(still, tolerances.CONSTRAINT_TOLERANCE)):
            contacts.candidate[c] = SLIPPING
            contacts.direction[2 * c], contacts.direction[2 * c + 1] = u / size, w / size


@kernel
def relax_slipping(motion: ContactMotion, c: int, a: Reals) -> float:
    """The normal force of a contact that slips, with its friction, beside all others; the change of its acceleration."""
    problem, terms, solution, contacts = motion.problem, motion.terms, motion.solution, motion.contacts
    D, x, friction = solution.delassus[9 * c :], solution.impulse[3 * c :], kinetic_friction(terms, c)
    u, w = -friction * contacts.direction[2 * c], -friction * contacts.direction[2 * c + 1]
    change = 0.0
    if problem.has_normal[c] != 0 and D[0] > 0.0:
        stiffness = max(D[0] + u * D[1] + w * D[2], tolerances.FORCE_TOLERANCE * D[0])
        now = max(0.0, x[0] - acceleration_along(problem, terms, c, 0, a) / stiffness)
        change = now - x[0]
        x[0], x[1], x[2] = now, u * now, w * now
        push(problem, solution, c, change, u * change, w * change, a)
        change = fabs(stiffness * change)
    return change


@kernel
def balance(motion: ContactMotion, active: Integers, count: int, a: Reals, largest: float, decides: bool) -> bool:
    """Forces of an island under which contacts at rest obey Coulomb's law, where accelerations are up to the *largest*; whether
    sweeps find them. Where whether all of them rest is all that it *decides*, sweeps end with the slip that they do not take
    away: undetermined forces settle slowly behind it.
    """
    problem, terms, solution, contacts = motion.problem, motion.terms, motion.solution, motion.contacts
    tolerance, least = tolerances.ROUNDING_TOLERANCE * largest, tolerances.FORCE_TOLERANCE * largest
    sweeps, most, last, slides, plain = 0, 2.0 * tolerance, 0.0, False, True
    for k in range(count):
        plain = plain and contacts.mode[active[k]] == STICKING
    while sweeps < SWEEPS and most > tolerance and not slides:
        if plain and sweeps % AGAIN == PATIENCE and sweeps < 2 * AGAIN:
            found = balance_at_once(motion, active, count, a, largest)
            if found:
                return True
        last, most = most, 0.0
        for k in range(count):
            c = active[k]
            if contacts.mode[c] == SLIPPING:
                change = relax_slipping(motion, c, a)
            else:
                change = relax(problem, terms, solution, c, solution.friction[c], a)
            most = maximum(most, change)
        sweeps += 1
        if decides and sweeps > 1 and most < last:
            expected = most * (last / (last - most))
            slides = fastest_slip(motion, active, count, a) > CERTAIN * expected + least
    return most <= tolerance


@kernel
def balance_at_once(motion: ContactMotion, active: Integers, count: int, a: Reals, largest: float) -> bool:
    """Forces of a balance of contacts at rest by Newton's method, from those so far; whether there are any. Else they begin
    anew.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    tolerance = FINE * tolerances.ROUNDING_TOLERANCE * largest
    found, compliant = False, COMPLIANCE
    while compliant >= STIFF and not found:
        work = motion.island
        moved = solve_laws(problem, terms, solution, work, active, count, a, tolerance, compliant, compliant, False)
        found = moved >= 0.0 and moved <= PART * tolerances.FORCE_TOLERANCE * largest
        compliant = STIFFER * compliant if moved >= 0.0 else 0.0
    if not found:
        for k in range(count):
            x = solution.impulse[3 * active[k] :]
            push(problem, solution, active[k], -x[0], -x[1], -x[2], a)
            begin_evenly(motion, active[k], a)
    return found


@kernel
def fastest_slip(motion: ContactMotion, active: Integers, count: int, a: Reals) -> float:
    """The largest acceleration along tangents of what rests in the candidate mode and is pressed."""
    problem, terms, most = motion.problem, motion.terms, 0.0
    for k in range(count):
        c = active[k]
        pressed = problem.has_normal[c] == 0 or motion.solution.impulse[3 * c] > 0.0
        if pressed and motion.contacts.mode[c] == STICKING:
            u = acceleration_along(problem, terms, c, 1, a)
            w = acceleration_along(problem, terms, c, 2, a)
            most = maximum(most, sqrt(u * u + w * w))
    return most


@kernel
def mode_of_forces(motion: ContactMotion, c: int, least: float, a: Reals) -> None:
    """The mode of a contact under the forces of a balance: it parts where it has none and accelerates by more than *least*,
    and begins to slip where it accelerates along its tangents.
    """
    problem, terms, solution, contacts = motion.problem, motion.terms, motion.solution, motion.contacts
    x = solution.impulse[3 * c :]
    normal = acceleration_along(problem, terms, c, 0, a)
    u = acceleration_along(problem, terms, c, 1, a)
    w = acceleration_along(problem, terms, c, 2, a)
    size = sqrt(u * u + w * w)
    if problem.has_normal[c] != 0 and x[0] <= 0.0 and normal > least:
        contacts.mode[c] = OPEN
    elif contacts.mode[c] == STICKING and (size > least or solution.friction[c] <= 0.0):
        contacts.mode[c] = SLIPPING
        contacts.direction[2 * c], contacts.direction[2 * c + 1] = (
            u / (size + tolerances.LEAST_DIVISOR),
            w / (size + tolerances.LEAST_DIVISOR),
        )


@kernel
def balance_islands(motion: ContactMotion, count: int, largest: float, decides: bool, a: Reals) -> bool:
    """Forces of all islands of the *count* active contacts, as :func:`balance`, and their modes under them; whether a contact at
    rest begins to slip.
    """
    problem, solution, contacts = motion.problem, motion.solution, motion.contacts
    first, slips = 0, False
    label_islands(problem, solution.active, count, solution.label)
    while first < count:
        own = solution.active[first:]
        some = gather_island(problem, own, count - first, solution.label)
        balance(motion, own, some, a, largest, decides)
        first += some
    for k in range(count):
        c = solution.active[k]
        mode_of_forces(motion, c, tolerances.FORCE_TOLERANCE * largest, a)
        slips = slips or (contacts.mode[c] == SLIPPING and contacts.candidate[c] == STICKING)
    return slips


@kernel
def release(motion: ContactMotion, count: int, a: Reals) -> bool:
    """Give kinetic friction to those of the active contacts that begin to slip most, by their power; whether there are any with
    more static friction. Then the modes are the candidates again.
    """
    terms, solution, contacts = motion.terms, motion.solution, motion.contacts
    most, more = 0.0, False
    for k in range(count):
        c = solution.active[k]
        gives = gives_way(motion, c)
        if gives:
            most = maximum(most, slip_power(motion, c, a))
    for k in range(count):
        c = solution.active[k]
        gives = gives_way(motion, c)
        if gives and slip_power(motion, c, a) >= TOGETHER * most:
            solution.friction[c] = kinetic_friction(terms, c)
            more = True
    if more:
        for k in range(count):
            contacts.mode[solution.active[k]] = contacts.candidate[solution.active[k]]
    return more


@kernel
def gives_way(motion: ContactMotion, c: int) -> bool:
    """Whether a contact at rest begins to slip in a balance with more friction than it has when it slips."""
    terms, solution, contacts = motion.terms, motion.solution, motion.contacts
    begins = contacts.mode[c] == SLIPPING and contacts.candidate[c] == STICKING
    return begins and solution.friction[c] > kinetic_friction(terms, c)


@kernel
def slip_power(motion: ContactMotion, c: int, a: Reals) -> float:
    """The rate of the power of friction as slip begins."""
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    u = acceleration_along(problem, terms, c, 1, a)
    w = acceleration_along(problem, terms, c, 2, a)
    x = solution.impulse[3 * c :]
    return fabs(x[1] * u + x[2] * w)


@kernel
def balanced_mode(motion: ContactMotion, near: Integers, count: int, share: float, free: Reals, a: Reals) -> bool:
    """The mode under forces with a *share* of static friction; whether nothing at rest begins to slip, and the mode agrees with
    its own forces and accelerations a. With all of static friction contacts may begin to slip: then their friction is kinetic,
    so that directions of slip are those of the accelerations.
    """
    terms, solution, contacts = motion.terms, motion.solution, motion.contacts
    largest = begin_candidates(motion, near, count, free, a)
    found = closed_candidates(contacts, near, count, solution.active)
    for k in range(found):
        solution.friction[solution.active[k]] = share * static_friction(terms, solution.active[k])
        begin_evenly(motion, solution.active[k], a)
    slips = balance_islands(motion, found, largest, share < 1.0, a)
    while slips and share == 1.0:
        slips = release(motion, found, a)
        if slips:
            balance_islands(motion, found, largest, False, a)
    agreed = False
    if not slips:
        remember(contacts, near, count, solution.impulse)
        agreed = agrees(motion, near, count, largest, free, a)
    return agreed


@kernel
def shared_mode(motion: ContactMotion, near: Integers, count: int, over: bool, free: Reals, a: Reals) -> bool:
    """The mode under forces with the least of the SHARES of static friction that agrees; whether there is one. What holds with a
    share holds with more: where something begins to slip with the largest, none holds. The least is not asked first where static
    friction is hardly enough (*over*).
    """
    contacts = motion.contacts
    found = False
    if not over:
        found = balanced_mode(motion, near, count, LEAST_SHARE, free, a)
    holds = found
    if not found:
        balanced_mode(motion, near, count, SHARES[-1], free, a)
        holds = begun_slips(contacts, near, count) == 0
    if holds and over:
        found = balanced_mode(motion, near, count, LEAST_SHARE, free, a)
    for share in SHARES:
        if holds and not found:
            found = balanced_mode(motion, near, count, share, free, a)
    return found


@kernel
def even_mode(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> bool:
    """The candidate modes under forces of least norm, weighted by what friction can bear; whether they agree. These, even where
    they are not admissible, remain in ``compression``: balances begin with them.
    """
    solution, contacts, work = motion.solution, motion.contacts, motion.work
    largest = begin_candidates(motion, near, count, free, a)
    forget(contacts, near, count)
    agreed = agrees(motion, near, count, largest, free, a)
    for k in range(count):
        for i in range(3):
            solution.compression[3 * near[k] + i] = work.force[3 * near[k] + i]
    return agreed


@kernel
def is_overloaded(motion: ContactMotion, near: Integers, count: int) -> bool:
    """Whether what rests with undetermined forces bears more than its static friction, however they are shared: least squares
    are below those of all loads, so that their mean bounds the largest of all from below.
    """
    terms, work, loads, bounds = motion.terms, motion.work, 0.0, 0.0
    for k in range(count):
        c = near[k]
        if work.ease[c] > 0.0 and motion.contacts.mode[c] == STICKING:
            x = work.force[3 * c :]
            pressed = max(x[0], 0.0) if motion.problem.has_normal[c] != 0 else 1.0
            bound = static_friction(terms, c) * pressed
            loads += work.ease[c] * (x[1] * x[1] + x[2] * x[2])
            bounds += work.ease[c] * bound * bound
    return loads > bounds


@kernel
def level_mode(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> bool:
    """The candidate modes under forces whose largest part of static friction is least; whether they agree, and remain with
    weights that are equal. A load that grows uses up all of undetermined friction with them.
    """
    contacts, work = motion.contacts, motion.work
    largest = begin_candidates(motion, near, count, free, a)
    forget(contacts, near, count)
    work.levels, work.least = True, 0.0
    agreed = agrees(motion, near, count, largest, free, a)
    work.levels = False
    for k in range(count):
        work.weight[near[k]] = 1.0
    if agreed:
        remember(contacts, near, count, work.force)
        agreed = agrees(motion, near, count, largest, free, a)
        stays = is_kept(contacts, work, near, count)
        agreed = agreed and stays
    return agreed


@kernel
def remember(contacts: ContactMode, near: Integers, count: int, forces: Reals) -> None:
    """The *forces* (3 contacts,) of the contacts near become those of reference."""
    for k in range(count):
        for i in range(3):
            contacts.reference[3 * near[k] + i] = forces[3 * near[k] + i]


@kernel
def forget(contacts: ContactMode, near: Integers, count: int) -> None:
    """No forces of the contacts near are those of reference."""
    for k in range(count):
        for i in range(3):
            contacts.reference[3 * near[k] + i] = 0.0


@kernel
def is_kept(contacts: ContactMode, work: ModeWork, near: Integers, count: int) -> bool:
    """Whether the forces found are those of reference."""
    moved, most = 0.0, 0.0
    for k in range(count):
        for i in range(3):
            x = work.force[3 * near[k] + i]
            moved, most = maximum(moved, fabs(x - contacts.reference[3 * near[k] + i])), maximum(most, fabs(x))
    return moved <= MOVED * most


@kernel
def begin_evenly(motion: ContactMotion, c: int, a: Reals) -> None:
    """The first force of a contact in a balance, and the accelerations a under it: the even one, as far as it is admissible."""
    problem, terms, solution, contacts = motion.problem, motion.terms, motion.solution, motion.contacts
    even, x = solution.compression[3 * c :], solution.impulse[3 * c :]
    if contacts.mode[c] == STICKING or problem.has_normal[c] != 0:
        x[0] = max(even[0], 0.0) if problem.has_normal[c] != 0 else 0.0
        bound = solution.friction[c] * (x[0] if problem.has_normal[c] != 0 else 1.0)
        size = sqrt(even[1] * even[1] + even[2] * even[2])
        part = min(1.0, bound / (size + tolerances.LEAST_DIVISOR))
        x[1], x[2] = part * even[1], part * even[2]
        if contacts.mode[c] == SLIPPING:
            friction = kinetic_friction(terms, c) * x[0]
            x[1], x[2] = -friction * contacts.direction[2 * c], -friction * contacts.direction[2 * c + 1]
        push(problem, solution, c, x[0], x[1], x[2], a)


@kernel
def mode_of_island(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> bool:
    """Find modes, forces and accelerations a of the contacts of an island; whether any modes agree with their forces. Where
    static friction is hardly enough, what slips with all of it slips with each share of it.
    """
    found = even_mode(motion, near, count, free, a)
    over = not found and is_overloaded(motion, near, count)
    if not found and not over:
        found = level_mode(motion, near, count, free, a)
        over = motion.work.least > 1.0
    slips = 0
    if over:
        found = balanced_mode(motion, near, count, 1.0, free, a)
        slips = begun_slips(motion.contacts, near, count)
    if slips == 0 and (over or not found):
        found = shared_mode(motion, near, count, over, free, a)
        if not found:
            found = balanced_mode(motion, near, count, 1.0, free, a)
    if not found:
        found = pivot_modes(motion, near, count, False, free, a)
    if not found:
        found = search_modes(motion, near, count, free, a)
    if not found:
        found = pivot_modes(motion, near, count, True, free, a)
    return found


@kernel
def solve_active_set(
    motion: ContactMotion, near: Integers, count: int, slow: float, still: float, free: Reals, a: Reals
) -> bool:
    """The modes, forces and accelerations a of the contacts *near*, whose responses are known, from the accelerations *free* of
    contact forces; whether there are any. All other contacts are open. The order of those near changes; they are not the array
    of active contacts of the *solution*, which is overwritten.
    """
    problem, solution, contacts, work = motion.problem, motion.solution, motion.contacts, motion.work
    first, found = 0, True
    for c in range(problem.contacts):
        contacts.mode[c] = OPEN
        for i in range(3):
            solution.impulse[3 * c + i], contacts.reference[3 * c + i], work.force[3 * c + i] = 0.0, 0.0, 0.0
    copy(free, a, problem.speeds)
    candidate_modes(motion, near, count, slow, still)
    label_islands(problem, near, count, solution.label)
    while first < count and found:
        own = near[first:]
        some = gather_island(problem, own, count - first, solution.label)
        found = mode_of_island(motion, own, some, free, a)
        first += some
    return found
