"""Modes that agree with their forces: the worst contact changes its mode, one after the other; of few contacts all are tried."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactMode, ContactMotion, ContactProblem
from kineta.kernels.contact.block_inertia import acceleration_along, terms_along
from kineta.kernels.contact.friction_cone import kinetic_friction, largest_step, static_friction
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING, forces_of_active, rub
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals

#: Acceleration, relative to that of the terms of a row and to 1 m/s^2, of which FORCE_TOLERANCE is the rounding of their sum.
ROUNDED = tolerances.ROUNDING_TOLERANCE / tolerances.FORCE_TOLERANCE
#: Friction, relative to the largest force, that contacts which share undetermined forces may lack: half of what guards bear.
SHARED_LACK = 1e-8
#: Acceleration of a row that is held, in accelerations that count as zero, over which its forces hold nothing: rows contradict
#: each other, or friction turns forces against them.
CONTRADICTION = 1e3
#: Largest number of contacts of an island of which all modes are tried.
SEARCHED = 4
#: Misfit of a contact that slips backwards, larger than all others.
REVERSED = 1e9
#: Largest number of times that directions of slip are aligned with accelerations, and of those by whole steps.
ALIGNMENTS, QUICK = 100, 5
#: Step that leaps to the directions of the accelerations themselves: where contacts at rest bear most of the motion, steps by the
#: operator of a contact alone are too short.
LEAP = 1e12
#: Change of a direction of slip that begins [rad] under which it is that of the acceleration: from then on it follows the slip.
ALIGNED = 1e-6
#: Modulus of the numbers by which modes are known again.
LARGE_PRIME = 2_147_483_647


@kernel
def reset(problem: ContactProblem, near: Integers, count: int, free: Reals, a: Reals) -> None:
    """The accelerations a of an island become the *free* ones."""
    for k in range(count):
        for j in range(problem.row_start[near[k]], problem.row_start[near[k] + 1]):
            a[problem.row_speeds[j]] = free[problem.row_speeds[j]]


@kernel
def closed_candidates(contacts: ContactMode, near: Integers, count: int, active: Integers) -> int:
    """The contacts *near* that are closed by their candidate modes become the *active* ones; their number."""
    found = 0
    for k in range(count):
        contacts.mode[near[k]] = contacts.candidate[near[k]]
        if contacts.candidate[near[k]] != OPEN:
            active[found] = near[k]
            found += 1
    return found


@kernel
def start_forces(motion: ContactMotion, count: int, free: Reals, a: Reals) -> float:
    """No forces but the friction of joints that slip; the largest acceleration along a row of the *count* active contacts,
    without and with this friction, and at least one beside which rounding counts as zero.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    contacts, work = motion.contacts, motion.work
    largest = 0.0
    for k in range(count):
        c = solution.active[k]
        for i in range(3):
            solution.impulse[3 * c + i] = 0.0
            solution.target[3 * c + i] = terms.bias[3 * c + i]
            largest = maximum(largest, fabs(acceleration_along(problem, terms, c, i, free)))
            largest = maximum(largest, ROUNDED * (1.0 + terms_along(problem, terms, c, i, free)))
        solution.least[c] = 0.0
        if contacts.mode[c] == SLIPPING and problem.has_normal[c] == 0:
            work.toward[2 * c], work.toward[2 * c + 1] = contacts.direction[2 * c], contacts.direction[2 * c + 1]
            rub(motion, c, a)
    for k in range(count):
        c = solution.active[k]
        for i in range(3):
            largest = maximum(largest, fabs(acceleration_along(problem, terms, c, i, a)))
    return largest


@kernel
def begin_candidates(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> float:
    """The candidate modes of the contacts *near* without forces, as :func:`start_forces`, which gives the result. What has no
    static friction does not stick, however little of undetermined forces it would bear.
    """
    problem, solution, contacts = motion.problem, motion.solution, motion.contacts
    reset(problem, near, count, free, a)
    found = closed_candidates(contacts, near, count, solution.active)
    for k in range(found):
        c = solution.active[k]
        if contacts.mode[c] == STICKING and problem.tangents[c] > 0 and static_friction(motion.terms, c) <= 0.0:
            contacts.mode[c] = SLIPPING
            contacts.direction[2 * c], contacts.direction[2 * c + 1] = 0.0, 0.0
    return start_forces(motion, found, free, a)


@kernel
def friction_room(motion: ContactMotion, c: int) -> float:
    """The static friction that a contact has left."""
    problem, terms, work = motion.problem, motion.terms, motion.work
    x = work.force[3 * c :]
    pressed = x[0] if problem.has_normal[c] != 0 else 1.0
    return static_friction(terms, c) * pressed - sqrt(x[1] * x[1] + x[2] * x[2])


@kernel
def is_loaded(motion: ContactMotion, c: int, least: float) -> bool:
    """Whether the forces of a contact accelerate its rows by more than the *least* acceleration that counts."""
    x, D, loaded = motion.work.force[3 * c :], motion.solution.delassus[9 * c :], False
    for i in range(3):
        loaded = loaded or fabs(x[i]) * D[4 * i] > least
    return loaded


@kernel
def worst_contact(motion: ContactMotion, near: Integers, count: int, least: float, a: Reals, change: Integers) -> bool:
    """Whether a mode disagrees with its forces and accelerations. *change* (2,) receives the contact that does so most, and its
    mode instead.
    """
    problem, terms, contacts, work = motion.problem, motion.terms, motion.contacts, motion.work
    largest, worst = tolerances.LEAST_DIVISOR, 0.0
    change[0], change[1] = near[0], contacts.mode[near[0]]
    for k in range(count):
        for i in range(3):
            largest = maximum(largest, fabs(work.force[3 * near[k] + i]))
    for k in range(count):
        c = near[k]
        normal = acceleration_along(problem, terms, c, 0, a)
        u = acceleration_along(problem, terms, c, 1, a)
        w = acceleration_along(problem, terms, c, 2, a)
        off, mode, bears = 0.0, OPEN, is_loaded(motion, c, least)
        if contacts.mode[c] == OPEN:
            if contacts.candidate[c] != OPEN and normal < -least:
                off, mode = -normal / least * tolerances.FORCE_TOLERANCE, contacts.candidate[c]
        elif problem.has_normal[c] != 0 and bears and work.force[3 * c] < -tolerances.FORCE_TOLERANCE * largest:
            off, mode = -work.force[3 * c] / largest, OPEN
        elif (
            contacts.mode[c] == STICKING
            and bears
            and friction_room(motion, c) < (0.0 if work.ease[c] <= 0.0 else -SHARED_LACK * largest)
        ):
            off, mode = -friction_room(motion, c) / largest, SLIPPING
        elif (
            contacts.mode[c] == SLIPPING
            and contacts.candidate[c] == STICKING
            and u * contacts.direction[2 * c] + w * contacts.direction[2 * c + 1] < -least
        ):
            off, mode = REVERSED, STICKING
        elif problem.has_normal[c] != 0 and fabs(normal) > CONTRADICTION * least:
            off, mode = tolerances.LEAST_DIVISOR, OPEN
        elif contacts.mode[c] == STICKING and maximum(fabs(u), fabs(w)) > CONTRADICTION * least:
            off, mode = tolerances.LEAST_DIVISOR, SLIPPING
        if off > worst:
            worst = off
            change[0], change[1] = c, mode
    return worst > 0.0 or largest != largest


@kernel
def begun_slips(contacts: ContactMode, near: Integers, count: int) -> int:
    """The number of contacts that begin to slip."""
    found = 0
    for k in range(count):
        if contacts.mode[near[k]] == SLIPPING and contacts.candidate[near[k]] == STICKING:
            found += 1
    return found


@kernel
def align_slip(motion: ContactMotion, near: Integers, count: int, part: float, a: Reals) -> float:
    """Turn directions of slip in space that begins to those of its accelerations, by a *part* of a step of the fixed-point
    iteration; the largest change of one.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    contacts, work = motion.contacts, motion.work
    most = 0.0
    for k in range(count):
        c = near[k]
        D, d, friction = solution.delassus[9 * c :], contacts.direction[2 * c :], kinetic_friction(terms, c)
        begins = contacts.mode[c] == SLIPPING and contacts.candidate[c] == STICKING
        if begins and D[4] > 0.0 and D[8] > 0.0 and friction * work.force[3 * c] > 0.0:
            step = part * largest_step(D) / (friction * work.force[3 * c])
            u = d[0] + step * acceleration_along(problem, terms, c, 1, a)
            w = d[1] + step * acceleration_along(problem, terms, c, 2, a)
            size = sqrt(u * u + w * w) + tolerances.LEAST_DIVISOR
            most = maximum(most, maximum(fabs(u / size - d[0]), fabs(w / size - d[1])))
            d[0], d[1] = u / size, w / size
    return most


@kernel
def forces_along(motion: ContactMotion, near: Integers, count: int, part: float, free: Reals, a: Reals) -> float:
    """The forces and accelerations a of the mode and the directions of slip that stand, which :func:`align_slip` then turns by a
    *part* of its step; the largest change of one.
    """
    problem, solution, contacts, work = motion.problem, motion.solution, motion.contacts, motion.work
    found = 0
    reset(problem, near, count, free, a)
    for k in range(count):
        c = near[k]
        for i in range(3):
            work.force[3 * c + i] = 0.0
        work.toward[2 * c], work.toward[2 * c + 1] = contacts.direction[2 * c], contacts.direction[2 * c + 1]
        if contacts.mode[c] != OPEN:
            solution.active[found] = c
            found += 1
    forces_of_active(motion, found, a)
    return align_slip(motion, near, count, part, a)


@kernel
def align_slips(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> float:
    """The forces and accelerations a of the mode that stands, with directions of slip that begins by a fixed-point iteration; the
    last change of one.
    """
    contacts = motion.contacts
    turns, turned = 0, 1.0
    while turns < ALIGNMENTS and turned > tolerances.FORCE_TOLERANCE:
        part = 1.0 if turns < QUICK else 1.0 / (1.0 + begun_slips(contacts, near, count))
        turned = forces_along(motion, near, count, part, free, a)
        turns += 1
    return turned


@kernel
def agrees(motion: ContactMotion, near: Integers, count: int, largest: float, free: Reals, a: Reals) -> bool:
    """The forces of the mode that stands and its accelerations a, with those *free* of contact forces; whether it agrees with
    them, up to a part of the *largest* acceleration. Else ``work.order`` begins with the worst contact and its mode instead.
    """
    work = motion.work
    turned = align_slips(motion, near, count, free, a)
    least = tolerances.FORCE_TOLERANCE * largest + tolerances.LEAST_DIVISOR
    wrong = worst_contact(motion, near, count, least, a, work.order)
    return not wrong and turned <= ALIGNED


@kernel
def code_of(contacts: ContactMode, near: Integers, count: int) -> int:
    """A number below LARGE_PRIME of the modes of the contacts *near*, by which they are known again."""
    code = 0
    for k in range(count):
        code = (4 * code + contacts.mode[near[k]] + 1) % LARGE_PRIME
    return code


@kernel
def pivot_modes(motion: ContactMotion, near: Integers, count: int, leaps: bool, free: Reals, a: Reals) -> bool:
    """A mode that agrees with its forces, from the candidates, by changes of the worst contact, until modes come again (Brent's
    algorithm); whether there is one. With *leaps* slip may begin along its acceleration where that is not found step by step.
    """
    contacts, work = motion.contacts, motion.work
    largest = begin_candidates(motion, near, count, free, a)
    turns, right, again = 0, False, False
    code, noted, renewal = 0, -1, 1
    while turns < 6 * count + 6 and not right and not again:
        right = agrees(motion, near, count, largest, free, a)
        if leaps and not right:
            forces_along(motion, near, count, LEAP, free, a)
            right = agrees(motion, near, count, largest, free, a)
        if not right:
            c, sticks = work.order[0], contacts.mode[work.order[0]] == STICKING
            contacts.mode[c] = work.order[1]
            if sticks and work.order[1] == SLIPPING:
                u, w = work.force[3 * c + 1], work.force[3 * c + 2]
                size = sqrt(u * u + w * w) + tolerances.LEAST_DIVISOR
                contacts.direction[2 * c], contacts.direction[2 * c + 1] = -u / size, -w / size
        turns += 1
        code = code_of(contacts, near, count)
        again = code == noted
        if turns == renewal:
            noted, renewal = code, 2 * renewal
    return right


@kernel
def combine(contacts: ContactMode, near: Integers, count: int, code: int) -> bool:
    """The modes of number *code*, of 4^count; whether they are possible and not those of a smaller number. Each contact has its
    candidate mode, is open, or slips to one side or the other of its direction.
    """
    possible, rest = True, code
    for k in range(count):
        c, digit = near[k], rest % 4
        rest = rest // 4
        candidate = contacts.candidate[c]
        possible = possible and (digit == 0 or (digit == 1 and candidate != OPEN) or candidate == STICKING)
        contacts.mode[c] = candidate if digit == 0 else OPEN if digit == 1 else SLIPPING
        if candidate == STICKING and digit >= 2:
            contacts.direction[2 * c], contacts.direction[2 * c + 1] = 1.0 if digit == 2 else -1.0, 0.0
    return possible


@kernel
def search_modes(motion: ContactMotion, near: Integers, count: int, free: Reals, a: Reals) -> bool:
    """A mode of an island of few contacts that agrees with its forces, among all; whether there is one."""
    contacts = motion.contacts
    largest = begin_candidates(motion, near, count, free, a)
    codes, code, found = 1 if count <= SEARCHED else 0, 0, False
    for _ in range(count):
        codes *= 4
    while code < codes and not found:
        possible = combine(contacts, near, count, code)
        if possible:
            found = agrees(motion, near, count, largest, free, a)
        code += 1
    return found
