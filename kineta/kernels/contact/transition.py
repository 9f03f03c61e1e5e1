"""Transitions between modes: impacts, rest, separation, and the active set of the next mode.

Contacts within the contact tolerance take part. Those that approach strike, in a cascade as long as impacts bring others to
approach; then the active set decides which of the rest stay closed, stick or slip. A contact whose next flight could not be
resolved in height or time comes to rest.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import CLOSED, FLAGS, ContactMotion, ContactTerms, TransitionWork
from kineta.kernels.contact.collision import CASCADE, strike, strikes
from kineta.kernels.contact.dead_centre import find_slopes
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING
from kineta.kernels.contact.motion import contact_position, contact_rate, contact_velocity, evaluate_terms, write_mode
from kineta.kernels.contact.rest import NO_LIMIT, begin_mode, give_way, is_turned, let_go, settle
from kineta.kernels.contact.state_terms import CHANGED, FULL, INADMISSIBLE, NEGATIVE, NO_FORCES, PENETRATES, prepare
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy, maximum
from kineta.memory import Reals

#: Penetration, in contact tolerances, of a closed contact.
BEYOND = 100.0
#: Time of a look-ahead at a limit of friction at zero, relative to the largest time; and limit, relative to its fall over the
#: look-ahead, that counts as zero.
AHEAD, AT_ZERO = 1e-9, 1e-4


@kernel
def is_admissible(terms: ContactTerms, c: int) -> bool:
    """Whether a contact has a gap, and numbers in its law that it may have."""
    law = terms.law[4 * c :]
    return (
        fabs(terms.gap[c]) < NO_LIMIT
        and law[0] >= -tolerances.STATE_TOLERANCE
        and law[1] >= law[0] * (1.0 - tolerances.ROUNDING_TOLERANCE)
        and law[2] >= 0.0
        and law[2] <= 1.0
    )


@kernel
def find_near(motion: ContactMotion, work: TransitionWork) -> int:
    """Mark the contacts near, and all joints with friction; whether all contacts are admissible."""
    problem, terms = motion.problem, motion.terms
    status = CHANGED
    for c in range(problem.contacts):
        work.near[c] = 1 if terms.gap[c] <= work.same else 0
        fits = is_admissible(terms, c)
        if not fits:
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
def keeps_limits(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Whether no limit of friction that is at zero, or has fallen to it, becomes negative ahead of the state y."""
    t, ahead, keeps, law = time[0], AHEAD * maximum(1.0, work.until), True, motion.terms.law
    evaluate_terms(motion, time, y)
    for c in range(motion.problem.contacts):
        work.limits[c] = law[4 * c]
    copy(y, work.beside, motion.n)
    for k in range(2):  # a bound that depends on coordinates needs a second step to see what accelerations do
        time[0] = t + float(k) * ahead
        contact_rate(time, work.beside, motion, work.after)
        for i in range(motion.n):
            work.beside[i] = work.beside[i] + ahead * work.after[i]
    time[0] = t + 2.0 * ahead
    evaluate_terms(motion, time, work.beside)
    time[0] = t
    for c in range(motion.problem.contacts):
        then = law[4 * c]
        if work.varies[c] != 0 and then < 0.0 and (work.fallen[c] != 0 or work.limits[c] <= -AT_ZERO * then):
            keeps, work.culprit = False, c
    return keeps


@kernel
def stay_open(motion: ContactMotion, work: TransitionWork) -> None:
    """Let loose the limits near that were open: they close where they would be pressed, not where friction holds already."""
    problem = motion.problem
    for c in range(problem.contacts):
        limit = problem.has_normal[c] != 0 and problem.tangents[c] == 0
        if limit and work.near[c] != 0 and work.closed[c] == 0 and work.loose[c] == 0:
            work.loose[c] = 1


@kernel
def transit(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """The state y after a transition, and the flags of the next mode; nothing where its status is that there is none."""
    problem, made = motion.problem, work.made
    work.full = False
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
        stay_open(motion, work)
        held = settle(motion, work, time, y, False)
        if not held:
            status = NO_FORCES
    if status == CHANGED and work.full:
        status = FULL
    if status == CHANGED:
        held = let_go(motion, work, time, y, settled)
        if not held:
            status = NO_FORCES
    if status == CHANGED:
        begin_mode(motion, work, time, y)
        turn, going = 0, True
        while going and turn < problem.contacts:
            going = is_turned(motion, work, time, y)
            if going:
                going = settle(motion, work, time, y, True)
            if going:
                begin_mode(motion, work, time, y)
            turn += 1
        give_way(motion, work, time, y)
        if work.varying > 0:
            fits = keeps_limits(motion, work, time, y)
            if not fits:
                status = NEGATIVE
    if status != CHANGED:
        copy(work.kept, motion.flags, FLAGS * problem.contacts)
        copy(work.start, y, motion.n)
        work.made = made
    work.status = status
