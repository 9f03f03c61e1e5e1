"""Motion in a contact mode: rates, events, observed quantities and projections, as functions of time and state.

All have the form of compiled functions of a run; in place of the block h they take the record of the motion, which has the block.
The mode stands in *flags* behind the block, those of :mod:`kineta.mechanics.contact.unilateral_rows`.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta import tolerances
from kineta.integration.contact_records import (
    ALONG,
    ALONG_N,
    ALONG_W,
    BEGINS,
    CLOSED,
    FLAGS,
    SLACK,
    SLIPS,
    STUCK,
    ContactMotion,
)
from kineta.kernels.contact.block_inertia import accelerations, factor_blocks, respond
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.mode_forces import (
    GLIDING,
    OPEN,
    SLIPPING,
    STICKING,
    assemble_rows,
    closed_contacts,
    hold_rows,
    independent_rows,
    mode_accelerations,
)
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Pivots of constraints, relative to the largest, below which a loop counts as folded flat, and beyond which it does no more; the
#: least and the largest change of a coordinate to the places beside it, and speeds that say where these are.
FOLDED, UNFOLDED, NEAR, FAR, STILL, NO_PIVOT = 1e-7, 1e-6, 1e-3, 1e-1, 1e-6, 1e300
#: Force, relative to the largest, that contacts which share undetermined forces may lack.
LACK = 2e-8


@kernel
def read_mode(motion: ContactMotion) -> int:
    """The modes of all contacts from the flags; the number of closed contacts and joints with friction."""
    modes, problem, closed = motion.contacts, motion.problem, 0
    for c in range(problem.contacts):
        f = motion.flags[FLAGS * c :]
        modes.mode[c] = SLIPPING
        modes.begins[c] = 0
        modes.direction[2 * c], modes.direction[2 * c + 1] = f[ALONG], f[ALONG_W]
        for i in range(3):
            modes.reference[3 * c + i] = 0.0
        modes.reference[3 * c] = f[ALONG_N]
        if problem.has_normal[c] != 0 and not f[CLOSED] > 0.0:
            modes.mode[c] = OPEN
        elif f[STUCK] > 0.0:
            modes.mode[c] = STICKING
            modes.reference[3 * c + 1], modes.reference[3 * c + 2] = f[ALONG], f[ALONG_W]
        elif f[BEGINS] > 0.0:
            modes.begins[c] = 1
        if modes.mode[c] != OPEN:
            closed += 1
    return closed


@kernel
def is_open(motion: ContactMotion, flags: Reals) -> bool:
    """Whether all contacts are open by these *flags*, which are then zero, and no joint has friction."""
    apart = True
    for c in range(motion.problem.contacts):
        apart = apart and motion.problem.has_normal[c] != 0 and not flags[FLAGS * c + CLOSED] > 0.0
    return apart


@kernel
def write_mode(motion: ContactMotion, most: float) -> None:
    """Flags from the modes of all contacts, whose forces may lack a small part of the largest, *most*, of what bounds them."""
    modes, problem = motion.contacts, motion.problem
    for c in range(problem.contacts):
        f = motion.flags[FLAGS * c :]
        for k in range(FLAGS):
            f[k] = 0.0
        mode = modes.mode[c]
        if mode != OPEN:
            f[CLOSED] = 1.0 if problem.has_normal[c] != 0 else 0.0
            f[ALONG_N] = modes.reference[3 * c]
            f[SLACK] = 0.0 if motion.work.ease[c] <= 0.0 else LACK * most
            if problem.tangents[c] != 0:
                if mode == STICKING:
                    f[STUCK] = 1.0
                    f[ALONG], f[ALONG_W] = modes.reference[3 * c + 1], modes.reference[3 * c + 2]
                elif motion.terms.law[4 * c + 3] <= 0.0 and (
                    modes.candidate[c] == SLIPPING or motion.terms.law[4 * c + 1] > 0.0
                ):
                    f[SLIPS] = 1.0
                    f[ALONG], f[ALONG_W] = modes.direction[2 * c], modes.direction[2 * c + 1]
                    f[BEGINS] = 1.0 if modes.begins[c] != 0 else 0.0


@kernel
def evaluate_terms(motion: ContactMotion, time: Reals, y: Reals) -> None:
    """The terms of the contact problem in a state y, with the inertia not yet factored."""
    motion.moved, motion.work.keeps = False, False
    motion.terms_of(time, y, motion.block, motion.memory)


@kernel
def give_pivots(motion: ContactMotion, pivots: Reals) -> None:
    """Pivots of the constraints from the factors of the blocks."""
    problem = motion.problem
    for b in range(problem.blocks):
        first, A = problem.block_start[b], motion.terms.inertia[problem.inertia_start[b] :]
        n = problem.block_start[b + 1] - first
        for k in range(n):
            row = problem.block_speeds[first + k] - motion.speeds
            if row >= 0:
                pivots[row] = fabs(1.0 / A[k * n + k])


@kernel
def has_moved(motion: ContactMotion, time: Reals, y: Reals) -> bool:
    """Whether ``extended`` is that of the state y already: a change of mode, and each step, ask for several functions of it."""
    same, k = motion.moved and motion.at == time[0], 0
    while same and k < motion.n:
        same = y[k] == motion.extended[k] or k == motion.idle
        k += 1
    k = 0
    while same and k < motion.n_block:
        same = motion.block[k] == motion.known[k]
        k += 1
    return same


@kernel
def move(motion: ContactMotion, time: Reals, y: Reals, free: bool) -> None:
    """The state y with accelerations, multipliers, pivots, contact forces and flags behind it, in ``extended``; where nothing
    is closed and it is not *free*, without accelerations, multipliers and pivots.
    """
    same = has_moved(motion, time, y)
    if same:
        copy(y, motion.extended, motion.n)
    else:
        motion.moved = move_anew(motion, time, y, free)
        aside = (motion.moved or free) and is_folded_flat(motion, FOLDED)
        aside = aside and largest(y[motion.coordinates :], motion.speeds) > STILL
        if aside:
            move_aside(motion, time, y)
        if motion.moved:
            copy(motion.block, motion.known, motion.n_block)
            motion.at = time[0]


@kernel
def is_folded_flat(motion: ContactMotion, part: float) -> bool:
    """Whether a pivot of constraints in ``extended`` is below this *part* of the largest, as where a loop is folded flat."""
    pivots, most, least = motion.extended[motion.n + motion.speeds + motion.problem.multipliers :], 0.0, NO_PIVOT
    for k in range(motion.problem.multipliers):
        most, least = max(most, fabs(pivots[k])), min(least, fabs(pivots[k]))
    return least < part * most


@kernel
def move_aside(motion: ContactMotion, time: Reals, y: Reals) -> None:
    """As :func:`move_anew`, for a loop that is folded flat, where accelerations are undetermined: from the means of those a
    little before and behind, along the motion, and twice as far, without what grows as the square of the way; pivots are those
    beside. What has such pivots there, too, is not folded.
    """
    n, now, left = motion.n, time[0], motion.n_extended - motion.n - FLAGS * motion.problem.contacts
    sums, shift = motion.aside[2 * n :], NEAR / largest(y[motion.coordinates :], motion.speeds)
    pivots = motion.speeds + motion.problem.multipliers
    near, always = True, False
    while near:
        time[0] = now + shift
        move_beside(motion, time, y, shift)
        always = is_folded_flat(motion, UNFOLDED)
        near = always and shift * largest(y[motion.coordinates :], motion.speeds) < FAR
        shift *= 2.0 if near else 1.0
    if always:
        time[0] = now
        move_anew(motion, time, y, True)
        return
    for k in range(left):
        sums[k] = 0.0
    for side in range(4):
        way = 2.0 * shift if side < 2 else shift
        way = way if side % 2 == 0 else -way
        share = -1.0 / 6.0 if side < 2 else 2.0 / 3.0
        time[0] = now + way
        move_beside(motion, time, y, way)
        for k in range(left):
            sums[k] += share * motion.extended[n + k]
    time[0] = now
    copy(y, motion.extended, n)
    copy(motion.extended[n + pivots :], sums[pivots:], motion.problem.multipliers)
    copy(sums, motion.extended[n:], left)


@kernel
def go_along(motion: ContactMotion, time: Reals, y: Reals, shift: float, place: Reals) -> None:
    """The *place* (n,) to which the speeds of a state y lead in the time *shift*, with these speeds; constraints aside."""
    copy(y, motion.extended, motion.n)
    for k in range(motion.speeds):
        motion.extended[motion.n + k] = shift * y[motion.coordinates + k]
    copy(y, place, motion.n)
    motion.retraction(time, motion.extended, motion.block, place)


@kernel
def move_beside(motion: ContactMotion, time: Reals, y: Reals, shift: float) -> None:
    """As :func:`move_anew`, in the place to which the motion of a state y leads in the time *shift*."""
    go_beside(motion, time, y, shift)
    move_anew(motion, time, motion.aside[motion.n :], True)


@kernel
def go_beside(motion: ContactMotion, time: Reals, y: Reals, shift: float) -> None:
    """The state to which the motion of a state y leads in the time *shift*, on the constraints, in ``aside`` behind another."""
    place, beside = motion.aside, motion.aside[motion.n :]
    go_along(motion, time, y, shift, place)
    contact_position(time, place, motion, beside)
    contact_position(time, beside, motion, place)
    contact_velocity(time, place, motion, beside)


@kernel
def move_anew(motion: ContactMotion, time: Reals, y: Reals, free: bool) -> bool:
    """As :func:`move`, whatever has been found before; whether anything is closed. Where nothing is, it costs little."""
    problem, given = motion.problem, motion.extended[motion.n :]
    own = motion.speeds + problem.multipliers
    forces = given[own + problem.multipliers :]
    copy(y, motion.extended, motion.n)
    apart = is_open(motion, motion.flags)
    if apart:
        if free:
            motion.free(time, y, motion.block, given)
        clear = is_open(motion, forces[motion.n_forces :])
        if not clear:
            for k in range(motion.n_forces + FLAGS * problem.contacts):
                forces[k] = 0.0
    else:
        read_mode(motion)
        evaluate_terms(motion, time, y)
        mode_accelerations(motion, motion.found)
        copy(motion.found, given, own)
        give_pivots(motion, given[own:])
        for k in range(motion.n_forces):
            forces[k] = motion.work.force[motion.force_rows[k]]
        copy(motion.flags, forces[motion.n_forces :], FLAGS * problem.contacts)
    return not apart


@kernel
def contact_rate(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """The rate of a state."""
    move(motion, time, y, True)
    motion.rate(time, motion.extended, motion.block, out)


@kernel
def contact_events(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """The event functions in a state, the guards of the mode the last."""
    move(motion, time, y, motion.n_asked > 0)
    motion.events(time, motion.extended, motion.block, out)


@kernel
def contact_observed(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """The observed quantities of a state. Forces that are rounding beside the largest are none: a normal force below zero where
    it ends, and undetermined friction, which has the digits that R leaves.
    """
    move(motion, time, y, True)
    force, given = motion.work.force, motion.extended[motion.n + motion.speeds + 2 * motion.problem.multipliers :]
    least, rounded = tolerances.FORCE_TOLERANCE * largest(force, 3 * motion.problem.contacts), False
    for k in range(motion.n_forces):
        c, i = motion.force_rows[k] // 3, motion.force_rows[k] % 3
        if fabs(given[k]) <= least and (motion.work.ease[c] > 0.0 if i > 0 else given[k] < 0.0):
            rounded = rounded or given[k] != 0.0
            given[k] = 0.0
    motion.observed(time, motion.extended, motion.block, out)
    if rounded:
        for k in range(motion.n_forces):
            given[k] = force[motion.force_rows[k]]


@kernel
def contact_given(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """A state with accelerations, multipliers, pivots, contact forces and flags behind it."""
    move(motion, time, y, True)
    copy(motion.extended, out, motion.n_extended)


@kernel
def contact_position(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """The state after a step of projection of its coordinates onto position constraints and closed contacts."""
    problem, bias, closed = motion.problem, motion.solution.target, 0
    read_mode(motion)
    for c in range(problem.contacts):
        if problem.has_normal[c] == 0:
            motion.contacts.mode[c] = OPEN
        elif motion.contacts.mode[c] != OPEN:
            motion.contacts.mode[c] = GLIDING
            closed += 1
    for k in range(motion.speeds):
        motion.found[k] = 0.0
    if closed + problem.multipliers > 0:
        evaluate_terms(motion, time, y)
        motion.residuals(time, y, motion.block, motion.residual)
        for c in range(problem.contacts):
            bias[3 * c] = motion.terms.level[c]
        project(motion, motion.residual, bias)
    motion.moved = False
    copy(y, motion.extended, motion.n)
    copy(motion.found, motion.extended[motion.n :], motion.speeds)
    copy(y, out, motion.n)
    motion.retraction(time, motion.extended, motion.block, out)


@kernel
def contact_velocity(time: Reals, y: Reals, motion: ContactMotion, out: Reals) -> None:
    """The state after projection of its speeds onto constraints, and onto closed and sticking contacts."""
    closed = read_mode(motion)
    copy(y, out, motion.n)
    if closed + motion.problem.multipliers > 0:
        evaluate_terms(motion, time, y)
        motion.residuals(time, y, motion.block, motion.residual)
        for c in range(motion.problem.contacts):
            if motion.contacts.mode[c] == SLIPPING:
                motion.contacts.mode[c] = GLIDING if motion.problem.has_normal[c] != 0 else OPEN
        project(motion, motion.residual[motion.problem.multipliers :], motion.terms.velocity)
        for k in range(motion.speeds):
            out[motion.coordinates + k] += motion.found[k]


@kernel
def project(motion: ContactMotion, residual: Reals, bias: Reals) -> None:
    """The change ``found`` of least kinetic energy that removes the residuals of constraints, and the *bias* along the rows of
    closed contacts.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    force, modes, work = solution.before, motion.contacts, motion.work
    for k in range(motion.speeds):
        force[k] = 0.0
    for j in range(problem.multipliers):
        force[motion.speeds + j] = residual[j]
    for c in range(3 * problem.contacts):
        solution.impulse[c] = 0.0
    factor_blocks(problem, terms.inertia)
    accelerations(problem, terms.inertia, force, work.speeds, motion.found)
    for c in range(problem.contacts):
        if modes.mode[c] != OPEN:
            respond(problem, terms, solution, c, work.speeds)
    count, first = closed_contacts(motion), 0
    label_islands(problem, solution.active, count, solution.label)
    while first < count:
        own = solution.active[first:]
        some = gather_island(problem, own, count - first, solution.label)
        n = independent_rows(modes, solution, own, some, work.rows)
        assemble_rows(motion, n, bias, motion.found)
        hold_rows(motion, n, motion.found)
        first += some


@kernel
def note_beside(motion: ContactMotion, time: Reals, y: Reals, beside: Reals, ahead: float, behind: Reals) -> None:
    """Keep in ``turned`` half of what rows of loops change from the time *ahead* before a state y to that behind it, along its
    speeds, and the factors of the inertia; in *behind* (multipliers,) half of what the residuals of speeds do. *beside* (n,) is
    working memory.
    """
    problem, terms, change, now = motion.problem, motion.terms, motion.island.turned, time[0]
    entries = problem.inertia_start[problem.blocks]
    copy(terms.inertia, change[entries:], entries)
    for side in range(2):
        shift = ahead if side == 0 else -ahead
        motion.moved = False
        go_along(motion, time, y, shift, beside)
        time[0] = now + shift
        evaluate_terms(motion, time, beside)
        motion.residuals(time, beside, motion.block, motion.residual)
        time[0] = now
        for k in range(entries):
            change[k] = terms.inertia[k] if side == 0 else 0.5 * (change[k] - terms.inertia[k])
        for j in range(problem.multipliers):
            rate = motion.residual[problem.multipliers + j]
            behind[j] = rate if side == 0 else 0.5 * (behind[j] - rate)


#: A function of a time and a state in a motion.
MotionFunction = Callable[[Reals, Reals, ContactMotion, Reals], None]


@kernel
def evaluate_rows(
    function: MotionFunction,
    count: int,
    t: Reals,
    y: Reals,
    n: int,
    motion: ContactMotion,
    blocks: Reals,
    width: int,
    out: Reals,
    size: int,
) -> None:
    """A *function* of time, state and motion at times t (count,) in states y (count, n): out (count, size). Each row has a block
    of its own (count, width), unless width is 0.
    """
    for i in range(count):
        copy(blocks[i * width :], motion.block, width)
        function(t[i:], y[i * n :], motion, out[i * size :])
