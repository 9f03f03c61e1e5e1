"""Terms of the contact problem in a state at a transition, with the responses of the contacts near."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactMotion, TransitionWork
from kineta.kernels.contact.block_inertia import (
    accelerations,
    copy_blocks,
    is_folded,
    rate_along,
    respond,
    turn_rows,
)
from kineta.kernels.contact.kept_equations import keep_equations
from kineta.kernels.contact.mode_forces import OPEN, STICKING
from kineta.kernels.contact.motion import (
    FAR,
    FOLDED,
    NEAR,
    STILL,
    UNFOLDED,
    evaluate_terms,
    go_beside,
    note_beside,
    read_mode,
)
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy, largest, maximum
from kineta.memory import Reals

#: What a transition returns: a mode, or why there is none; FULL where its impacts have no room.
CHANGED, PENETRATES, NO_IMPULSES, NO_FORCES, INADMISSIBLE, NO_SLOPE, HELD, NEGATIVE, FULL = range(9)
#: Part of the friction of a contact whose friction is exhausted that counts, so that what gives way is told from what does not.
EXHAUSTED = 1.0 - 1e-6
#: Largest change of a coordinate to the places beside a fold, as in which an impact has its rows, and that by which these are
#: turned on.
BESIDE, WEIGHT = 1e-4, 1e-2


@kernel
def prepare(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Terms of a state, factors and copies of its inertia, responses of all contacts near; but for gaps and velocities those a
    little ahead, along the motion, where a loop is folded flat, and rows that vanish tell no forces.
    """
    prepare_here(motion, work, time, y)
    problem, terms = motion.problem, motion.terms
    most = largest(y[motion.coordinates :], motion.speeds)
    if problem.multipliers > 0 and most > STILL and is_folded(problem, terms.inertia, FOLDED):
        kept, count, now = motion.aside[2 * motion.n :], problem.contacts, time[0]
        copy(terms.velocity, kept, 3 * count)
        copy(terms.gap, kept[3 * count :], count)
        shift, folded = NEAR / most, True
        while folded and shift * most <= FAR:
            time[0] = now + shift
            go_beside(motion, time, y, shift)
            prepare_here(motion, work, time, motion.aside[motion.n :])
            folded = is_folded(problem, terms.inertia, UNFOLDED)
            shift *= 2.0
        time[0] = now
        if folded:
            prepare_here(motion, work, time, y)
        copy(kept, terms.velocity, 3 * count)
        copy(kept[3 * count :], terms.gap, count)


@kernel
def prepare_here(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """Terms of a state, factors and copies of its inertia, responses of all contacts near."""
    evaluate_terms(motion, time, y)
    respond_near(motion, work)


@kernel
def respond_near(motion: ContactMotion, work: TransitionWork) -> None:
    """Factors and copies of the inertia evaluated, responses of all contacts near."""
    problem, terms = motion.problem, motion.terms
    copy_blocks(problem, terms.inertia, motion.island.inertia)
    for c in range(problem.contacts):
        if work.near[c] != 0:
            respond(problem, terms, motion.solution, c, motion.work.speeds)
            if work.exhausted[c] != 0:
                terms.law[4 * c], terms.law[4 * c + 1] = EXHAUSTED * terms.law[4 * c], EXHAUSTED * terms.law[4 * c + 1]
    keep_equations(motion.work)


@kernel
def prepare_impact(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> None:
    """As :func:`prepare`, with the rows of loops that are folded flat as they are beside, along the motion, so that it stays on
    its way; the speeds of y are brought onto them.
    """
    problem, terms = motion.problem, motion.terms
    prepare_here(motion, work, time, y)
    if problem.multipliers > 0:
        most, folded = largest(y[motion.coordinates :], motion.speeds), is_folded(problem, terms.inertia, FOLDED)
        if folded and most > STILL:
            note_beside(motion, time, y, work.beside, BESIDE / most, work.free)
            evaluate_terms(motion, time, y)
            turn_rows(problem, motion.island.turned, FOLDED, WEIGHT / BESIDE, terms.inertia, work.free)
            respond_near(motion, work)
            for k in range(problem.speeds):
                work.a[k] = 0.0 if k < motion.speeds else work.free[k - motion.speeds]
            accelerations(problem, terms.inertia, work.a, motion.work.speeds, motion.found)
            for k in range(motion.speeds):
                y[motion.coordinates + k] += motion.found[k]
            for c in range(problem.contacts):
                for i in range(3):
                    terms.velocity[3 * c + i] += rate_along(problem, terms, c, i, motion.found)


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
def is_off(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> bool:
    """Whether a closed contact has left its surface in the state y, or moves otherwise than its surface, by more than steps and
    projections do.
    """
    problem, terms, off, quick = motion.problem, motion.terms, False, 1.0
    closed = read_mode(motion)
    if closed > 0:
        evaluate_terms(motion, time, y)
        for k in range(3 * problem.contacts):
            quick = maximum(quick, fabs(terms.velocity[k]))
    for c in range(problem.contacts):
        mode, noise = motion.contacts.mode[c], tolerances.STATE_TOLERANCE * quick
        if mode != OPEN and problem.has_normal[c] != 0:
            off = off or fabs(terms.gap[c]) > work.same or fabs(terms.velocity[3 * c]) > noise
        if mode == STICKING:
            for i in range(1, 1 + problem.tangents[c]):
                off = off or fabs(terms.velocity[3 * c + i]) > noise
    return off
