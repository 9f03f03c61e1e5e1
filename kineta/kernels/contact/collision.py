"""Collisions: impacts of the contacts that approach, in a cascade as long as impacts bring others to approach."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import IMPACT_NUMBERS, ContactMotion, TransitionWork
from kineta.kernels.contact.impact import impact
from kineta.kernels.contact.rest import settle
from kineta.kernels.contact.state_terms import CHANGED, NO_FORCES, NO_IMPULSES, prepare, prepare_impact, quickest
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy, maximum, number_of
from kineta.memory import Reals

#: Largest number of impacts in a cascade at one time; afterwards the contacts near strike simultaneously.
CASCADE = 400


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
def strike(motion: ContactMotion, work: TransitionWork, time: Reals, y: Reals) -> int:
    """The impact of the contacts hit, repeated without restitution at those that it leaves tired; the active set after it."""
    status, again, contacts = CHANGED, True, motion.problem.contacts
    copy(y, work.struck, motion.n)
    tire(motion, work)
    while again:
        tired = number_of(work.tired, contacts)
        copy(work.struck, y, motion.n)
        prepare_impact(motion, work, time, y)
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
        if work.hit[c] != 0 and work.heard[c] != 0:
            work.alarms += 1
        pushed = maximum(fabs(x[0]), maximum(fabs(x[1]), fabs(x[2]))) > tolerances.ROUNDING_TOLERANCE * most
        noted = work.taking[c] != 0 and (work.hit[c] != 0 or pushed)
        if noted and work.made >= work.room:
            work.full = True
        elif noted:
            number = work.impacts[IMPACT_NUMBERS * work.made :]
            energy = 0.0
            for i in range(3):
                number[1 + i] = x[i]
                energy += x[i] * (before[i] + after[i]) / 2.0
            number[0], number[4], number[5], number[6] = float(c), before[0], after[0], -energy
            number[7] = float(work.hit[c] + 2 * work.tired[c])
            number[8], number[9] = 0.0, float(work.row)
            work.made += 1
