"""Transitions between modes: impacts, rest, separation, and the active set of the next mode.

Contacts within the contact tolerance take part. Those that approach strike, in a cascade as long as impacts bring others to
approach; then the active set decides which of the rest stay closed, stick or slip. A contact whose next flight could not be
resolved in height or time comes to rest.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import (
    BEGINS,
    CLOSED,
    FLAGS,
    IMPACT_NUMBERS,
    SLIPS,
    ContactMotion,
    TransitionWork,
)
from kineta.kernels.contact.active_set import solve_active_set
from kineta.kernels.contact.block_inertia import accelerations, copy_blocks, rate_along, respond
from kineta.kernels.contact.impact import impact
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.contact.mode_search import agrees, friction_room
from kineta.kernels.contact.motion import (
    contact_position,
    contact_rate,
    contact_velocity,
    evaluate_terms,
    move,
    write_mode,
)
from kineta.kernels.language import copysign, fabs, kernel, sqrt
from kineta.kernels.vectors import copy, largest, maximum
from kineta.memory import Integers, Reals

#: What a transition returns: a mode, or why there is none.
CHANGED, PENETRATES, NO_IMPULSES, NO_FORCES, INADMISSIBLE, NO_SLOPE, HELD = range(7)
#: Penetration, in contact tolerances, of a closed contact.
BEYOND = 100.0
#: Largest number of impacts in a cascade at one time; afterwards the contacts near strike simultaneously.
CASCADE = 400
#: Number of random directions that sample rounding of a state, and multiple of its effect on a gap that a separating body must
#: exceed.
TRIED, RESOLVED = 8, 10.0
#: Rounding error of times: its effect on the speed must be below the loss of an impact.
LATE = 8 * tolerances.EPS
#: Part of the friction of a contact whose friction is exhausted that counts, so that what gives way is told from what does not.
EXHAUSTED = 1.0 - 1e-6
#: Largest change of a coordinate beside a state, where rows that constraints hold in a dead centre alone respond.
ASIDE = 1e-3
#: Slip, in slips of what may stick, that the stop of other contacts may bring to rest.
SLOW = 1e3
#: Time of a look-ahead, relative to the largest time.
AHEAD = 1e-7
#: Fastest separation of a contact at rest: none, since separating contacts are left out.
NO_LIMIT = 1e300


@kernel
def prepare(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Terms of a state, factors and copies of its inertia, responses of all contacts near."""
    problem, terms = motion.problem, motion.terms
    evaluate_terms(motion, time, y)
    copy_blocks(problem, terms.inertia, motion.island.inertia)
    for c in range(problem.contacts):
        if work.near[c] != 0:
            respond(problem, terms, motion.solution, c, motion.work.speeds)
            if work.exhausted[c] != 0:
                terms.law[4 * c], terms.law[4 * c + 1] = EXHAUSTED * terms.law[4 * c], EXHAUSTED * terms.law[4 * c + 1]


@kernel
def quickest(motion: ContactMotion, work: TransitionWork) -> float:
    """The largest velocity along a row of a contact near, at least 1 m/s: the scale of rounding of velocities."""
    found = 1.0
    for c in range(motion.problem.contacts):
        if work.near[c] != 0:
            for i in range(3):
                found = maximum(found, fabs(motion.terms.velocity[3 * c + i]))
    return found


@kernel
def find_near(motion: ContactMotion, work: TransitionWork) -> int:
    """Mark the contacts near, and all joints with friction; whether all contacts are admissible."""
    problem, terms = motion.problem, motion.terms
    status = CHANGED
    for c in range(problem.contacts):
        law = terms.law[4 * c :]
        work.near[c] = 1 if terms.gap[c] <= work.same else 0
        if not (
            fabs(terms.gap[c]) < NO_LIMIT
            and law[0] >= -tolerances.STATE_TOLERANCE
            and law[1] >= law[0] * (1.0 - tolerances.ROUNDING_TOLERANCE)
            and law[2] >= 0.0
            and law[2] <= 1.0
        ):
            status, work.culprit = INADMISSIBLE, c
        elif problem.has_normal[c] != 0 and terms.gap[c] < -BEYOND * work.same:
            status, work.culprit = PENETRATES, c
    return status


@kernel
def close_near(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Project the state y onto the gaps of all contacts near, and its speeds onto the constraints."""
    problem, modes = motion.problem, motion.contacts
    for c in range(problem.contacts):
        modes.mode[c] = SLIPPING if work.near[c] != 0 else OPEN
    write_mode(motion, 0.0)
    contact_position(time, y, motion, work.after)
    contact_position(time, work.after, motion, y)
    for c in range(problem.contacts):
        modes.mode[c] = OPEN
    write_mode(motion, 0.0)
    if problem.multipliers > 0:
        contact_velocity(time, y, motion, work.after)
        copy(work.after, y, motion.n)


@kernel
def strikes(motion: ContactMotion, work: TransitionWork, turn: int) -> bool:
    """Mark the contacts that approach, and those that take part in an impact; whether any approach."""
    any_hit, quick = False, quickest(motion, work)
    for c in range(motion.problem.contacts):
        noise = quick * (tolerances.STATE_TOLERANCE if work.closed[c] != 0 else tolerances.ROUNDING_TOLERANCE)
        normal, near = motion.terms.velocity[3 * c], work.near[c] != 0 and motion.problem.has_normal[c] != 0
        hit = near and normal < -noise
        work.hit[c] = 1 if hit else 0
        any_hit = any_hit or hit
        takes = near and (normal <= noise or (turn == 0 and work.closed[c] != 0) or turn == CASCADE)
        work.taking[c] = 1 if takes else 0
    return any_hit


@kernel
def collide(motion: ContactMotion, work: TransitionWork, y: Reals) -> bool:
    """Change the speeds of y by the impact of the contacts hit, with restitution at those that are not tired; whether there are
    impulses.
    """
    problem, terms, count = motion.problem, motion.terms, 0
    for c in range(problem.contacts):
        if work.taking[c] != 0:
            work.order[count] = c
            count += 1
            if work.hit[c] == 0 or work.tired[c] != 0:
                terms.law[4 * c + 2] = 0.0
    copy(terms.velocity, work.before, 3 * problem.contacts)
    for k in range(problem.speeds):
        work.a[k] = y[motion.coordinates + k] if k < motion.speeds else 0.0
    struck = impact(problem, terms, motion.solution, motion.island, work.order, count, 0.0, 0.0, work.a)
    for k in range(motion.speeds):
        y[motion.coordinates + k] = work.a[k]
    copy(motion.solution.impulse, work.impulse, 3 * problem.contacts)
    return struck >= 0


@kernel
def settle(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, struck: bool) -> bool:
    """The active set of a state, after impacts where it is *struck*, with the contacts that leave it; whether there is one.
    Contacts that leave too slowly for their flight to be resolved become tired.
    """
    quick, again, found = quickest(motion, work), True, True
    problem, terms = motion.problem, motion.terms
    for c in range(problem.contacts):
        held = work.closed[c] != 0 and not struck
        noise = quick * (tolerances.STATE_TOLERANCE if held else tolerances.ROUNDING_TOLERANCE)
        away = terms.velocity[3 * c] > noise
        work.leaving[c] = 1 if work.near[c] != 0 and problem.has_normal[c] != 0 and away else 0
    while again and found:
        found = hold(motion, work)
        again = grow_tired(motion, work, time, y)
        again = again and found
    return found


@kernel
def hold(motion: ContactMotion, work: TransitionWork) -> bool:
    """The active set of the contacts near that do not leave. Contacts that have been let loose take part only where they would
    be pressed again.
    """
    found = hold_without(motion, work, True)
    pressed = False
    for c in range(motion.problem.contacts):
        if work.loose[c] != 0 and work.near[c] != 0 and work.leaving[c] == 0:
            normal = rate_along(motion.problem, motion.terms, c, 0, work.a) + motion.terms.bias[3 * c]
            pressed = pressed or normal < -1e-6 * fabs(motion.terms.bias[3 * c]) - tolerances.ROUNDING_TOLERANCE
    without = not pressed and found
    if not without:
        found = hold_without(motion, work, False)
    if found and number_of(work.exhausted, motion.problem.contacts) > 0:
        overloaded = overloads(motion, work)
        if overloaded:
            for c in range(motion.problem.contacts):
                work.exhausted[c] = 0
            found = hold_without(motion, work, without)
    return found


@kernel
def overloads(motion: ContactMotion, work: TransitionWork) -> bool:
    """Give exhausted contacts back all of their friction; whether a contact that sticks in the mode found bears it no more."""
    problem, terms, count, lacks = motion.problem, motion.terms, 0, 0.0
    for c in range(problem.contacts):
        if work.exhausted[c] != 0:
            terms.law[4 * c], terms.law[4 * c + 1] = terms.law[4 * c] / EXHAUSTED, terms.law[4 * c + 1] / EXHAUSTED
        if motion.contacts.mode[c] != OPEN:
            work.order[count] = c
            count += 1
    agrees(problem, terms, motion.solution, motion.contacts, motion.work, work.order, count, 0.0, work.free, work.a)
    for k in range(count):
        c = work.order[k]
        if motion.contacts.mode[c] == STICKING and motion.work.ease[c] <= 0.0:
            lacks = maximum(lacks, -friction_room(problem, terms, motion.work, c))
    return lacks > 0.5 * tolerances.FORCE_TOLERANCE * largest(motion.work.force, 3 * problem.contacts)


@kernel
def hold_without(motion: ContactMotion, work: TransitionWork, without: bool) -> bool:
    """The active set, *without* the contacts let loose."""
    count = 0
    for c in range(motion.problem.contacts):
        if work.near[c] != 0 and work.leaving[c] == 0 and not (without and work.loose[c] != 0):
            work.order[count] = c
            count += 1
    accelerations(motion.problem, motion.terms.inertia, motion.terms.force, motion.work.speeds, work.free)
    return solve_active_set(
        motion.problem,
        motion.terms,
        motion.solution,
        motion.contacts,
        motion.work,
        work.order,
        count,
        NO_LIMIT,
        work.still,
        work.free,
        work.a,
    )


@kernel
def grow_tired(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Mark as tired the contacts that leave but whose flight cannot be resolved in height or time; whether there are any."""
    problem, terms, low = motion.problem, motion.terms, False
    for c in range(problem.contacts):
        work.noise[c] = 0.0
        if work.leaving[c] != 0:
            fall = -(rate_along(problem, terms, c, 0, work.a) + terms.bias[3 * c])
            low = low or height(terms.velocity[3 * c], fall) <= work.same
    if low:
        low = False
        for k in range(TRIED):
            for i in range(motion.n):
                work.beside[i] = y[i] * (1.0 + 64 * tolerances.EPS * work.signs[k * motion.n + i])
            motion.gaps_of(time, work.beside, motion.block, work.gaps)
            for c in range(problem.contacts):
                work.noise[c] = maximum(work.noise[c], fabs(work.gaps[c] - terms.gap[c]))
        for c in range(problem.contacts):
            if work.leaving[c] != 0:
                speed = terms.velocity[3 * c]
                fall = -(rate_along(problem, terms, c, 0, work.a) + terms.bias[3 * c])
                high, e = height(speed, fall), work.restitution[c]
                lost = (1.0 / e - 1.0) * speed if e > 0.0 else 0.0
                spent = lost > 0.0 and lost <= LATE * fabs(time[0]) * fall and high < work.same
                noise = work.noise[c] + tolerances.EVENT_TOLERANCE * work.until * speed
                if spent or (high <= work.same and high < RESOLVED * noise):
                    work.leaving[c] = 0
                    work.tired[c] = 1
                    low = True
    return low


@kernel
def height(speed: float, fall: float) -> float:
    """The height of a flight that begins with a *speed* and is accelerated backwards by *fall*."""
    return speed * speed / (2.0 * maximum(fall, tolerances.LEAST_DIVISOR))


@kernel
def tire(motion: ContactMotion, work: TransitionWork) -> None:
    """Mark as tired the contacts hit no faster than rounding of the fastest impact so far."""
    for c in range(motion.problem.contacts):
        normal = motion.terms.velocity[3 * c]
        if work.hit[c] != 0:
            work.fastest = maximum(work.fastest, -normal)
    for c in range(motion.problem.contacts):
        slow = motion.terms.velocity[3 * c] >= -tolerances.ROUNDING_TOLERANCE * work.fastest
        work.tired[c] = 1 if work.hit[c] != 0 and slow else 0


@kernel
def number_of(marks: Integers, n: int) -> int:
    """How many of n marks are set."""
    found = 0
    for k in range(n):
        found += marks[k]
    return found


@kernel
def strike(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> int:
    """The impact of the contacts hit, repeated without restitution at those that it leaves tired; the active set after it."""
    status, again, contacts = CHANGED, True, motion.problem.contacts
    copy(y, work.struck, motion.n)
    tire(motion, work)
    while again:
        tired = number_of(work.tired, contacts)
        copy(work.struck, y, motion.n)
        prepare(motion, work, time, y)
        again = False
        solved = collide(motion, work, y)
        if not solved:
            status = NO_IMPULSES
        else:
            prepare(motion, work, time, y)
            held = settle(motion, work, time, y, True)
            if not held:
                status = NO_FORCES
            else:
                again = number_of(work.tired, contacts) > tired
    if status == CHANGED:
        note_impacts(motion, work)
    return status


@kernel
def note_impacts(motion: ContactMotion, work: TransitionWork) -> None:
    """Note the impacts of the contacts hit, and of others with an impulse."""
    most = 0.0
    for k in range(3 * motion.problem.contacts):
        most = maximum(most, fabs(work.impulse[k]))
    for c in range(motion.problem.contacts):
        x, before, after = work.impulse[3 * c :], work.before[3 * c :], motion.terms.velocity[3 * c :]
        pushed = maximum(fabs(x[0]), maximum(fabs(x[1]), fabs(x[2]))) > tolerances.ROUNDING_TOLERANCE * most
        if work.taking[c] != 0 and (work.hit[c] != 0 or pushed) and work.made < work.room:
            number = work.impacts[IMPACT_NUMBERS * work.made :]
            energy = 0.0
            for i in range(3):
                number[1 + i] = x[i]
                energy += x[i] * (before[i] + after[i]) / 2.0
            number[0], number[4], number[5], number[6] = float(c), before[0], after[0], -energy
            number[7] = float(work.hit[c] + 2 * work.tired[c])
            number[8] = float(work.row)
            work.made += 1


@kernel
def transit(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """The state y after a transition, and the flags of the next mode; nothing where its status is that there is none."""
    problem, made = motion.problem, work.made
    copy(motion.flags, work.kept, FLAGS * problem.contacts)
    copy(y, work.start, motion.n)
    for c in range(problem.contacts):
        work.closed[c] = 1 if motion.flags[FLAGS * c + CLOSED] > 0.0 else 0
    evaluate_terms(motion, time, y)
    status = find_near(motion, work)
    if status == CHANGED:
        for c in range(problem.contacts):
            work.restitution[c] = motion.terms.law[4 * c + 2]
        close_near(motion, work, time, y)
        prepare(motion, work, time, y)
        status = find_slopes(motion, work, time, y)
    turn, going, settled = 0, status == CHANGED, False
    while going:
        going = strikes(motion, work, turn)
        if going:
            status = strike(motion, work, time, y)
            settled = True
            turn += 1
            going = status == CHANGED and turn <= CASCADE
    if status == CHANGED and not settled:
        held = settle(motion, work, time, y, False)
        if not held:
            status = NO_FORCES
    if status == CHANGED:
        let_go(motion, work, time, y, settled)
        begin_mode(motion, work, time, y)
        turn, going = 0, True
        while going and turn < problem.contacts:
            going = is_brought_to_rest(motion, work, time, y)
            if going:
                going = settle(motion, work, time, y, True)
            if going:
                begin_mode(motion, work, time, y)
            turn += 1
    else:
        copy(work.kept, motion.flags, FLAGS * problem.contacts)
        copy(work.start, y, motion.n)
        work.made = made
    work.status = status


@kernel
def is_brought_to_rest(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Whether what slips in the mode found is slower than what may stick, since others have stopped: then the terms are those
    of the state with which it begins.
    """
    slow, rests = False, False
    for c in range(motion.problem.contacts):
        slow = slow or slip_of(motion, c) <= SLOW * work.still
    if slow:
        prepare(motion, work, time, y)
        for c in range(motion.problem.contacts):
            rests = rests or slip_of(motion, c) <= work.still
    return rests


@kernel
def slip_of(motion: ContactMotion, c: int) -> float:
    """The slip in space of a contact that slips under dry friction, and has not just begun to; else a large one."""
    f, law = motion.flags[FLAGS * c :], motion.terms.law[4 * c :]
    u, w = motion.terms.velocity[3 * c + 1], motion.terms.velocity[3 * c + 2]
    slips = f[SLIPS] > 0.0 and f[BEGINS] <= 0.0 and motion.problem.tangents[c] > 1 and law[3] <= 0.0
    return sqrt(u * u + w * w) if slips else NO_LIMIT


@kernel
def let_go(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, struck: bool) -> None:
    """Let loose the contacts whose normal force is zero, and becomes negative with the motion of the mode found, or for those
    open before does not become positive; then the active set without them, where there is one.
    """
    problem, modes, force = motion.problem, motion.contacts, motion.work.force
    zero, weak = tolerances.FORCE_TOLERANCE * largest(force, 3 * problem.contacts), False
    for c in range(problem.contacts):
        weak = weak or (problem.has_normal[c] != 0 and modes.mode[c] != OPEN and force[3 * c] <= zero)
    if weak:
        now = time[0]
        step = AHEAD * maximum(work.until, fabs(now))
        write_mode(motion, 0.0)
        contact_rate(time, y, motion, work.beside)
        for c in range(problem.contacts):
            work.gaps[c] = force[3 * c]
        for k in range(motion.n):
            work.beside[k] = y[k] + step * work.beside[k]
        time[0] = now + step
        move(motion, time, work.beside)
        time[0] = now
        for c in range(problem.contacts):
            falls = force[3 * c] - work.gaps[c] < -tolerances.ROUNDING_TOLERANCE * zero
            ends = falls if work.closed[c] != 0 or struck else force[3 * c] <= zero
            if problem.has_normal[c] != 0 and modes.mode[c] != OPEN and work.gaps[c] <= zero and ends:
                work.loose[c] = 1
        prepare(motion, work, time, y)
        settle(motion, work, time, y, struck)


@kernel
def find_slopes(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> int:
    """Whether every contact near has rows that speeds change. What constraints hold already has no response: without friction
    they keep the force, with friction nothing says how much of it is the contact's. But a mechanism passes a dead centre: what
    rests there begins to slip the way it moves on.
    """
    problem, status, held = motion.problem, CHANGED, 0
    for c in range(problem.contacts):
        work.leaving[c] = 0
        if work.near[c] != 0:
            row = 0 if problem.has_normal[c] != 0 else 1
            start = problem.row_start[c]
            n = problem.row_start[c + 1] - start
            sloped = largest(motion.terms.jacobian[3 * start + row * n :], n) > 0.0
            if row == 0 and not sloped:
                status, work.culprit = NO_SLOPE, c
            elif sloped and problem.tangents[c] > 0 and motion.solution.delassus[9 * c + 4 * row] <= 0.0:
                work.leaving[c] = 1
                held += 1
    if held > 0 and status == CHANGED:
        accelerations(problem, motion.terms.inertia, motion.terms.force, motion.work.speeds, work.free)
        copy(y, work.beside, motion.n)
        copy(work.signs, work.beside[motion.coordinates :], motion.speeds)
        contact_velocity(time, work.beside, motion, work.after)
        copy(work.after[motion.coordinates :], work.a, motion.speeds)
        step_aside(motion, work, time, y, work.a)
        for c in range(problem.contacts):
            row = 0 if problem.has_normal[c] != 0 else 1
            if work.leaving[c] != 0 and motion.solution.delassus[9 * c + 4 * row] <= 0.0:
                status, work.culprit = HELD, c
        step_aside(motion, work, time, y, work.free)
        for c in range(problem.contacts):
            work.gaps[c] = rate_along(problem, motion.terms, c, 1, work.after[motion.coordinates :])
        prepare(motion, work, time, y)
        moved = tolerances.FORCE_TOLERANCE * largest(work.free, motion.speeds)
        for c in range(problem.contacts):
            slip = motion.terms.velocity[3 * c + 1 :]
            drift = rate_along(problem, motion.terms, c, 1, work.free) + motion.terms.bias[3 * c + 1]
            still = fabs(slip[0]) <= work.still and fabs(drift) <= moved
            if work.leaving[c] != 0 and problem.has_normal[c] == 0 and still and work.gaps[c] != 0.0:
                slip[0] = 2.0 * copysign(work.still, work.gaps[c])
    return status


@kernel
def step_aside(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, direction: Reals) -> None:
    """The terms of a state beside y, in a *direction* (speeds,) that constraints allow, with every contact open; and this
    direction projected there, as the speeds of ``after``.
    """
    most = largest(direction, motion.speeds)
    copy(y, motion.extended, motion.n)
    for k in range(motion.speeds):
        motion.extended[motion.n + k] = ASIDE / most * direction[k] if most > 0.0 else 0.0
    copy(y, work.after, motion.n)
    motion.retraction(time, motion.extended, motion.block, work.after)
    contact_position(time, work.after, motion, work.beside)
    copy(direction, work.beside[motion.coordinates :], motion.speeds)
    contact_velocity(time, work.beside, motion, work.after)
    prepare(motion, work, time, work.beside)


@kernel
def begin_mode(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Write the mode, stop what it holds, and estimate the time of flight."""
    problem, modes = motion.problem, motion.contacts
    work.flight = NO_LIMIT
    for c in range(problem.contacts):
        begins = modes.mode[c] == SLIPPING and modes.candidate[c] == STICKING and problem.tangents[c] > 1
        modes.begins[c] = 1 if begins else 0
        if work.leaving[c] != 0:
            fall = -(rate_along(problem, motion.terms, c, 0, work.a) + motion.terms.bias[3 * c])
            if fall > 0.0:
                work.flight = min(work.flight, motion.terms.velocity[3 * c] / fall)
    write_mode(motion, largest(motion.work.force, 3 * problem.contacts))
    contact_velocity(time, y, motion, work.after)
    copy(work.after, y, motion.n)
