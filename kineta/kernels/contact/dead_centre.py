"""Dead centres: contacts along what constraints hold, always or in one configuration alone."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactMotion, TransitionWork
from kineta.kernels.contact.block_inertia import acceleration_along, accelerations, rate_along
from kineta.kernels.contact.motion import STILL, contact_position, contact_velocity
from kineta.kernels.contact.state_terms import CHANGED, HELD, NO_SLOPE, prepare
from kineta.kernels.language import copysign, fabs, kernel
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Largest change of a coordinate beside a state, where rows that constraints hold in a dead centre alone respond.
ASIDE = 1e-3


@kernel
def find_slopes(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> int:
    """Whether every contact near has rows that speeds change. What constraints hold already has no response: without friction
    they keep the force, with friction nothing says how much of it is the contact's. But a mechanism passes a dead centre, which
    is told beside it, along any direction and along the motion: what rests there begins to slip the way it moves on.
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
        note_moved(motion, work, time, y, work.a)
        if largest(y[motion.coordinates :], motion.speeds) > STILL:
            copy(y[motion.coordinates :], work.a, motion.speeds)
            note_moved(motion, work, time, y, work.a)
        step_aside(motion, work, time, y, work.free)
        for c in range(problem.contacts):
            work.gaps[c] = rate_along(problem, motion.terms, c, 1, work.after[motion.coordinates :])
            if work.leaving[c] == 1:
                status, work.culprit = HELD, c
        prepare(motion, work, time, y)
        moved = tolerances.FORCE_TOLERANCE * largest(work.free, motion.speeds)
        for c in range(problem.contacts):
            slip = motion.terms.velocity[3 * c + 1 :]
            drift = acceleration_along(problem, motion.terms, c, 1, work.free)
            still = fabs(slip[0]) <= work.still and fabs(drift) <= moved
            if work.leaving[c] != 0 and problem.has_normal[c] == 0 and still and work.gaps[c] != 0.0:
                slip[0] = 2.0 * copysign(work.still, work.gaps[c])
    return status


@kernel
def note_moved(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, direction: Reals) -> None:
    """Set ``leaving`` to 2 for contacts that move in a state beside y, in this *direction* (speeds,)."""
    step_aside(motion, work, time, y, direction)
    for c in range(motion.problem.contacts):
        if work.leaving[c] != 0 and moves(motion, c, work.after[motion.coordinates :]):
            work.leaving[c] = 2


@kernel
def moves(motion: ContactMotion, c: int, v: Reals) -> bool:
    """Whether speeds v, which constraints allow, move the contact c along its first row. Masses have no part in it: beside
    a dead centre a light rocker responds to a couple by the square of the way, over the inertia of all that it drives.
    """
    problem, terms = motion.problem, motion.terms
    row, start = 0 if problem.has_normal[c] != 0 else 1, problem.row_start[c]
    n = problem.row_start[c + 1] - start
    size = largest(terms.jacobian[3 * start + row * n :], n) * largest(v, motion.speeds)
    return fabs(rate_along(problem, terms, c, row, v)) > tolerances.DEPENDENCE_TOLERANCE * size


@kernel
def step_aside(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals, direction: Reals) -> None:
    """The terms of a state beside y, in a *direction* (speeds,) that constraints allow, with every contact open; and this
    direction projected there, as the speeds of ``after``.
    """
    most = largest(direction, motion.speeds)
    motion.moved = False
    copy(y, motion.extended, motion.n)
    for k in range(motion.speeds):
        motion.extended[motion.n + k] = ASIDE / most * direction[k] if most > 0.0 else 0.0
    copy(y, work.after, motion.n)
    motion.retraction(time, motion.extended, motion.block, work.after)
    contact_position(time, work.after, motion, work.beside)
    copy(direction, work.beside[motion.coordinates :], motion.speeds)
    contact_velocity(time, work.beside, motion, work.after)
    prepare(motion, work, time, work.beside)
