"""Rest: which contacts near stay closed, stick or slip, leave, or come to rest since their next flight could not be resolved."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ALONG, ALONG_W, BEGINS, FLAGS, SLIPS, ContactMotion, TransitionWork
from kineta.kernels.contact.active_set import solve_active_set
from kineta.kernels.contact.block_inertia import acceleration_along, accelerations
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.contact.mode_search import agrees, friction_room
from kineta.kernels.contact.motion import LACK, contact_rate, contact_velocity, move, write_mode
from kineta.kernels.contact.state_terms import EXHAUSTED, prepare, quickest
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import copy, largest, maximum, number_of
from kineta.memory import Reals

#: Number of random directions that sample rounding of a state, and multiple of its effect on a gap that a separating body must
#: exceed.
TRIED, RESOLVED = 8, 10.0
#: Rounding error of times: its effect on the speed must be below the loss of an impact.
LATE = 8 * tolerances.EPS
#: Slip, in slips of what may stick, that the stop of other contacts may turn; and the turn [rad] that counts.
SLOW, TURNED = 1e3, 1e-6
#: Acceleration against a contact let loose, relative to that which is there without speeds, from which it is pressed again.
PRESSED = 1e-6
#: Time of a look-ahead, relative to the largest time.
AHEAD = 1e-7
#: Mark of contacts that the look-ahead lets loose.
AHEAD_LOOSE = 2
#: Longest step after a contact has separated, in times to the peak of its flight: under even accelerations it returns within.
FLIGHT = 2.25
#: Fastest separation of a contact at rest: none, since separating contacts are left out.
NO_LIMIT = 1e300


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
            normal = acceleration_along(motion.problem, motion.terms, c, 0, work.a)
            pressed = pressed or normal < -PRESSED * fabs(motion.terms.bias[3 * c]) - tolerances.ROUNDING_TOLERANCE
    without = not pressed and found
    if not without:
        found = hold_without(motion, work, False)
    if number_of(work.exhausted, motion.problem.contacts) > 0:
        overloaded = overloads(motion, work)
        if overloaded or not found:
            for c in range(motion.problem.contacts):
                work.exhausted[c] = 0
            found = hold_without(motion, work, without)
    return found


@kernel
def overloads(motion: ContactMotion, work: TransitionWork) -> bool:
    """Give exhausted contacts back all of their friction; whether a contact that sticks in the mode found bears it no more. Only
    forces that are determined say so, and only friction of what slips changes any.
    """
    problem, terms, count, lacks, tells, sticks = motion.problem, motion.terms, 0, 0.0, False, False
    for c in range(problem.contacts):
        mode = motion.contacts.mode[c]
        sticks = sticks or mode == STICKING
        tells = tells or (mode == STICKING and motion.work.ease[c] <= 0.0)
        if work.exhausted[c] != 0:
            terms.law[4 * c], terms.law[4 * c + 1] = terms.law[4 * c] / EXHAUSTED, terms.law[4 * c + 1] / EXHAUSTED
            tells = tells or mode == SLIPPING
        if mode != OPEN:
            work.order[count] = c
            count += 1
    if not (tells and sticks):
        return False
    agrees(motion, work.order, count, 0.0, work.free, work.a)
    for k in range(count):
        c = work.order[k]
        if motion.contacts.mode[c] == STICKING and motion.work.ease[c] <= 0.0:
            lacks = maximum(lacks, -friction_room(motion, c))
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
    return solve_active_set(motion, work.order, count, NO_LIMIT, work.still, work.free, work.a)


@kernel
def grow_tired(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Mark as tired the contacts that leave but whose flight cannot be resolved in height or time; whether there are any."""
    problem, terms, low = motion.problem, motion.terms, False
    for c in range(problem.contacts):
        work.noise[c] = 0.0
        if work.leaving[c] != 0:
            fall = -acceleration_along(problem, terms, c, 0, work.a)
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
                fall = -acceleration_along(problem, terms, c, 0, work.a)
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
def is_turned(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Whether what slips slowly in the mode found has another direction, or is slower than what may stick, since others have
    stopped: then the terms are those of the state with which it begins.
    """
    slow, turned = False, False
    for c in range(motion.problem.contacts):
        along = slip_along(motion, c)
        slow = slow or slip_of(motion, c) <= SLOW * work.still or along <= SLOW * work.still
    if slow:
        prepare(motion, work, time, y)
        for c in range(motion.problem.contacts):
            f, slip, along = motion.flags[FLAGS * c :], slip_of(motion, c), slip_along(motion, c)
            turned = turned or along < 0.0
            u, w = motion.terms.velocity[3 * c + 1], motion.terms.velocity[3 * c + 2]
            turns = slip <= SLOW * work.still and fabs(u * f[ALONG_W] - w * f[ALONG]) > TURNED * slip
            turned = turned or slip <= work.still or turns
    return turned


@kernel
def slip_along(motion: ContactMotion, c: int) -> float:
    """The slip along a line, in its direction, of a contact that slips under dry friction, and has not just begun to; else a
    large one. Where normal speeds that are stopped turn it, friction would drive.
    """
    f, law = motion.flags[FLAGS * c :], motion.terms.law[4 * c :]
    slips = (
        f[SLIPS] > 0.0
        and motion.contacts.candidate[c] == SLIPPING
        and motion.problem.tangents[c] == 1
        and law[3] <= 0.0
    )
    return f[ALONG] * motion.terms.velocity[3 * c + 1] if slips else NO_LIMIT


@kernel
def slip_of(motion: ContactMotion, c: int) -> float:
    """The slip in space of a contact that slips under dry friction, and has not just begun to; else a large one."""
    f, law = motion.flags[FLAGS * c :], motion.terms.law[4 * c :]
    u, w = motion.terms.velocity[3 * c + 1], motion.terms.velocity[3 * c + 2]
    slips = f[SLIPS] > 0.0 and f[BEGINS] <= 0.0 and motion.problem.tangents[c] > 1 and law[3] <= 0.0
    return sqrt(u * u + w * w) if slips else NO_LIMIT


@kernel
def let_go(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, struck: bool) -> bool:
    """Let loose the contacts whose normal force is zero, and becomes negative with the motion of the mode found, or for those
    open before does not become positive, where the others bear the load; whether there is an active set.
    """
    problem, modes, force = motion.problem, motion.contacts, motion.work.force
    zero, weak, held = tolerances.FORCE_TOLERANCE * largest(force, 3 * problem.contacts), False, True
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
        move(motion, time, work.beside, True)
        time[0] = now
        for c in range(problem.contacts):
            falls = force[3 * c] - work.gaps[c] < -tolerances.ROUNDING_TOLERANCE * zero
            ends = falls if work.closed[c] != 0 or struck else force[3 * c] <= zero
            if problem.has_normal[c] != 0 and modes.mode[c] != OPEN and work.gaps[c] <= zero and ends:
                work.loose[c] = AHEAD_LOOSE if work.loose[c] == 0 else 1
        prepare(motion, work, time, y)
        held = settle(motion, work, time, y, struck)
        if not held:
            for c in range(problem.contacts):
                work.loose[c] = 0 if work.loose[c] == AHEAD_LOOSE else work.loose[c]
            prepare(motion, work, time, y)
            held = settle(motion, work, time, y, struck)
    return held


@kernel
def begin_mode(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Write the mode, stop what it holds, and estimate the time of flight."""
    problem, modes = motion.problem, motion.contacts
    work.flight = NO_LIMIT
    for c in range(problem.contacts):
        begins = modes.mode[c] == SLIPPING and modes.candidate[c] == STICKING and problem.tangents[c] > 1
        modes.begins[c] = 1 if begins else 0
        if work.leaving[c] != 0:
            fall = -acceleration_along(problem, motion.terms, c, 0, work.a)
            if fall > 0.0:
                work.flight = min(work.flight, FLIGHT * motion.terms.velocity[3 * c] / fall)
    write_mode(motion, largest(motion.work.force, 3 * problem.contacts))
    contact_velocity(time, y, motion, work.after)
    copy(work.after, y, motion.n)


@kernel
def give_way(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Let contacts slip that stick in the mode found but bear more than their friction as it begins, the worst first: rows that
    nearly depend on others move undetermined forces between the decision and the motion.
    """
    problem, modes, force = motion.problem, motion.contacts, motion.work.force
    turn, going = 0, True
    while going and turn < problem.contacts:
        contact_rate(time, y, motion, work.beside)
        most, worst, c = largest(force, 3 * problem.contacts), 0.0, 0
        for k in range(problem.contacts):
            lack = -friction_room(motion, k) if modes.mode[k] == STICKING else 0.0
            if lack > worst:
                worst, c = lack, k
        going = worst > LACK * most
        if going:
            u, w = force[3 * c + 1], force[3 * c + 2]
            size = sqrt(u * u + w * w)
            modes.direction[2 * c], modes.direction[2 * c + 1] = -u / size, -w / size
            modes.mode[c] = SLIPPING
            modes.begins[c] = 1 if problem.tangents[c] > 1 else 0
            write_mode(motion, most)
        turn += 1
