"""Time stepping of Moreau and Jean: a step of given size with impulses of all contacts, whatever opens or closes in it.

Half a step with the speeds so far, one evaluation of all terms at the midpoint, the contact problem, half a step with the new
speeds. Forces are implicit by their derivatives; multipliers of constraints are speeds without mass. A contact obeys Signorini's
condition for the gap at the midpoint of the *next* step; a part of a penetration is corrected in each step, slowly.
Restitution is Newton's or Poisson's, where the free motion would close the contact, and as much of it as gains no energy.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import GOES_ON, HIT, IMPACT_NUMBERS, ContactMotion
from kineta.integration.stepping_records import IMPACT_SUMS, SteppingData
from kineta.kernels.contact.block_inertia import (
    accelerations,
    copy_blocks,
    push,
    rate_along,
    respond,
    velocity_by_time,
)
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.contact.transition import is_admissible
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.near_pairs import find_pairs, keep_last, note_depth
from kineta.kernels.time_stepping.pair_rows import fill_pairs, note_forces
from kineta.kernels.time_stepping.step_impulses import FOUND, LEAST, REACH, aim, solve_contacts, turned
from kineta.kernels.vectors import copy, largest, largest_change, maximum, normalise
from kineta.memory import Reals

#: Part of the impulses of the last step with which those of contacts whose rows are one freedom begin: what is undetermined
#: fades; and the part of their Delassus operator that tells them.
KEPT, ONE_FREEDOM = 0.9, 1e-4
#: Times at most that a step is solved again with contacts that impulses of others bring to close in it.
DRAWN = 5
#: Marks of contacts after a step: pressed, and pressed but closing on, as those that strike do for a step more; their part of the
#: velocity that REACH gives in it.
PRESSED, CLOSING, STOPPED = 1, 2, 1e-2
#: Role of a contact in an impact, beside HIT and GOES_ON: none, or an impulse transmitted by other contacts.
CALM, PASSED = 0, -1
#: Halvings of a step, down to the next number, in search of a jump.
HALVINGS = 60
#: Slip below which a contact sticks, relative to the largest velocity.
STUCK = 1e-6


@kernel
def normalise_all(run: SteppingData, y: Reals) -> None:
    """Make the quaternions of a state those of unit length."""
    for k in range(run.n_quaternions):
        normalise(y[run.quaternions[k] :])


@kernel
def advance(run: SteppingData, at: Reals, start: Reals, size: float, y: Reals) -> None:
    """The coordinates of y from those of *start* on by *size* times their rates in the state *at*."""
    run.coordinate_rate(run.time, at, run.motion.block, run.rate)
    for k in range(run.motion.coordinates):
        y[k] = start[k] + size * run.rate[k]
    normalise_all(run, y)


@kernel
def shift_terms(run: SteppingData) -> None:
    """Move the point about which forces are linear, and velocities, by the speeds ``tried``."""
    problem, terms = run.motion.problem, run.motion.terms
    for b in range(problem.blocks):
        own = problem.block_speeds[problem.block_start[b] :]
        n = problem.block_start[b + 1] - problem.block_start[b]
        slope = run.slope[problem.inertia_start[b] :]
        for i in range(n):
            for j in range(n):
                terms.force[own[i]] += slope[i * n + j] * run.tried[own[j]]
    for c in range(problem.contacts):
        for i in range(3):
            terms.velocity[3 * c + i] += rate_along(problem, terms, c, i, run.tried)


@kernel
def evaluate_middle(run: SteppingData, h: float, again: bool) -> None:
    """Terms at the midpoint of a step of size h, with the inertia of implicit forces, and its factors; speeds without contacts.

    Forces are linear about the speeds before the step, or *again*, halfway to those tried.
    """
    motion = run.motion
    problem, terms, before = motion.problem, motion.terms, motion.solution.before
    for k in range(problem.speeds):
        run.tried[k] = 0.5 * (before[k] - run.tried[k]) if k < motion.speeds else 0.0
        if k < motion.speeds:
            run.middle[motion.coordinates + k] = before[k] - run.tried[k]
    evaluate_terms(motion, run.time, run.middle)
    if run.pairs.shapes > 0:
        run.pairs.places_of(run.time, run.middle, motion.block, run.pairs.places)
        if not again:
            find_pairs(run, h)
        fill_pairs(run)
    run.slopes(run.time, run.middle, motion.block, run.slope)
    if again:
        shift_terms(run)
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = before[k]
    entries = problem.inertia_start[problem.blocks]
    for k in range(entries):
        terms.inertia[k] -= 0.5 * h * run.slope[k] + 0.25 * h * h * run.slope[entries + k]
    motion.residuals(run.time, run.middle, motion.block, motion.residual)
    for j in range(problem.multipliers):
        force = terms.force[motion.speeds + j]
        terms.force[motion.speeds + j] = motion.residual[problem.multipliers + j] / h + 0.5 * force
    copy_blocks(problem, terms.inertia, motion.island.inertia)
    accelerations(problem, terms.inertia, terms.force, motion.work.speeds, motion.found)
    for k in range(problem.speeds):
        run.free[k] = h * motion.found[k]
        if k < motion.speeds:
            run.free[k] += run.y[motion.coordinates + k]


@kernel
def take_part(run: SteppingData, h: float) -> int:
    """The contacts that take part in a step of size h, with their responses, laws and targets; their number."""
    motion = run.motion
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    impulse = solution.impulse
    for c in range(problem.contacts):
        fits = is_admissible(terms, c)
        if not fits:
            run.culprit = c + 1
        bent = turned(run, c, h)
        for i in range(3):
            solution.target[3 * c + i] = velocity_by_time(problem, terms, solution, c, i) + bent * terms.bias[3 * c + i]
        run.taking[c] = 0
    found = draw_in(run, run.free, REACH * h * h, h, 0)
    for c in range(problem.contacts):
        for i in range(3):
            impulse[3 * c + i] *= float(run.taking[c])
    return found


@kernel
def draw_in(run: SteppingData, v: Reals, reach: float, h: float, found: int) -> int:
    """Take in contacts whose gap is below *reach* after a step of size h with the speeds v, beside those *found* before; the
    number of all.
    """
    motion = run.motion
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    for c in range(problem.contacts):
        ahead = terms.gap[c] + h * (rate_along(problem, terms, c, 0, v) + solution.target[3 * c])
        near = run.taking[c] == 0 and (problem.has_normal[c] == 0 or ahead <= reach)
        if near:
            respond(problem, terms, solution, c, motion.work.speeds)
            D = solution.delassus[9 * c :]
            near = max(D[0], max(D[4], D[8])) > 0.0
        if near:
            run.near[found] = c
            run.taking[c] = 1
            found += 1
            aim(run, c, ahead, h)
    return found


@kernel
def begin_warm(run: SteppingData, count: int) -> None:
    """Begin with the impulses of the last step at all *count* contacts near, of those whose rows are one freedom with a part."""
    problem, solution = run.motion.problem, run.motion.solution
    copy(run.free, run.tried, problem.speeds)
    for a in range(count):
        c = run.near[a]
        D, r = solution.delassus[9 * c :], solution.impulse[3 * c :]
        if D[0] * D[4] - D[1] * D[3] < ONE_FREEDOM * D[0] * D[4]:
            for i in range(3):
                r[i] *= KEPT
        push(problem, solution, c, r[0], r[1], r[2], run.tried)


@kernel
def solve_step(run: SteppingData, h: float, again: bool) -> None:
    """Impulses in a step of size h, and the speeds ``tried`` after them, from those so far."""
    evaluate_middle(run, h, again)
    if not again:
        for c in range(run.motion.problem.contacts):
            run.bearing[c] = run.motion.solution.impulse[3 * c] if run.pressed[c] == PRESSED else 0.0
    bounded, plainly, unsolved = run.bounded, run.plainly, run.unsolved
    count, turn = take_part(run, h), 0
    run.count = -1
    while count != run.count and turn < DRAWN:
        run.count = count
        run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        solve_islands(run)
        count = draw_in(run, run.tried, -LEAST * h, h, count)
        turn += 1


@kernel
def solve_islands(run: SteppingData) -> None:
    """Impulses of the contacts near, and the speeds ``tried`` after them, from those so far."""
    problem, solution, first = run.motion.problem, run.motion.solution, 0
    quick = quickest(run, run.count)
    begin_warm(run, run.count)
    for b in range(problem.blocks):
        solution.label[b] = -1
    label_islands(problem, run.near, run.count, solution.label)
    while first < run.count:
        own = run.near[first:]
        some = gather_island(problem, own, run.count - first, solution.label)
        solve_contacts(run, own, some, FOUND * quick)
        first += some


@kernel
def quickest(run: SteppingData, count: int) -> float:
    """The largest velocity along a row of *count* contacts near, at least 1."""
    quick = 1.0
    for a in range(count):
        for i in range(3):
            quick = maximum(quick, fabs(run.motion.terms.velocity[3 * run.near[a] + i]))
    return quick


@kernel
def strikes(run: SteppingData, h: float) -> bool:
    """Whether a contact strikes in a step of size h."""
    struck = False
    for a in range(run.count):
        struck = struck or strikes_at(run, run.near[a], h)
    return struck


@kernel
def strikes_at(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c strikes in a step of size h, faster than what REACH gives in it."""
    speed = run.motion.terms.velocity[3 * c] - turned(run, c, h) * run.motion.terms.bias[3 * c]
    return run.pressed[c] != CLOSING and speed < -REACH * h and is_struck(run, c, h)


@kernel
def is_struck(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c has an impulse, where it was pressed one that changes its velocity by more than REACH gives in a step
    of size h.
    """
    solution = run.motion.solution
    more = solution.impulse[3 * c] - run.bearing[c]
    return more > 0.0 and (run.pressed[c] == 0 or solution.delassus[9 * c] * more > REACH * h)


@kernel
def passes_on(run: SteppingData, c: int, h: float) -> bool:
    """Whether an impact elsewhere gives the contact c an impulse that changes its velocity by more than REACH gives in a step of
    size h, beside what it bore in the last.
    """
    more = run.motion.solution.impulse[3 * c] - run.bearing[c]
    return run.motion.problem.has_normal[c] != 0 and run.motion.solution.delassus[9 * c] * more > REACH * h


@kernel
def goes_on(run: SteppingData, c: int) -> bool:
    """Whether the contact c struck in a step before, did not stop, and is pressed on."""
    return run.pressed[c] == CLOSING and run.motion.solution.impulse[3 * c] > 0.0


@kernel
def leaves(run: SteppingData, c: int, i: int) -> float:
    """The velocity along the row i of the contact c after a step."""
    problem, terms, solution = run.motion.problem, run.motion.terms, run.motion.solution
    return rate_along(problem, terms, c, i, run.tried) + velocity_by_time(problem, terms, solution, c, i)


@kernel
def find_impacts(run: SteppingData, h: float) -> None:
    """Mark what the contacts near have in impacts of a step of size h: those that strike in it, or go on, and in islands where
    one does those that it passes an impulse on to.
    """
    problem, label, first = run.motion.problem, run.motion.solution.label, 0
    for c in range(problem.contacts):
        run.blow[c] = CALM
    while first < run.count:
        island, end, struck = label[first_block(run, run.near[first])], first, False
        while end < run.count and label[first_block(run, run.near[end])] == island:
            c = run.near[end]
            if strikes_at(run, c, h):
                run.blow[c] = HIT
            elif goes_on(run, c):
                run.blow[c] = GOES_ON
            struck = struck or run.blow[c] != CALM
            end += 1
        for a in range(first, end):
            c = run.near[a]
            if struck and run.blow[c] == CALM and passes_on(run, c, h):
                run.blow[c] = HIT if run.pressed[c] == 0 else PASSED
        first = end


@kernel
def first_block(run: SteppingData, c: int) -> int:
    """The first block of the inertia that the contact c couples."""
    return run.motion.problem.coupled_blocks[run.motion.problem.coupled_start[c]]


@kernel
def note_impacts(run: SteppingData) -> None:
    """The impacts of a step, in the order of the contacts near; those that go on as a whole."""
    for a in range(run.count):
        c = run.near[a]
        v, x, whole = (
            run.motion.terms.velocity[3 * c :],
            run.motion.solution.impulse[3 * c :],
            run.sums[IMPACT_SUMS * c :],
        )
        if run.blow[c] != CALM:
            one, lost = run.impacts[IMPACT_NUMBERS * run.struck :], 0.0
            if run.blow[c] != GOES_ON:
                for i in range(IMPACT_SUMS):
                    whole[i] = 0.0
                run.told += 1
                whole[3], whole[5] = v[0], float(run.told)
            for i in range(3):
                after = leaves(run, c, i)
                whole[i] += x[i]
                one[1 + i] = whole[i]
                one[5] = after if i == 0 else one[5]
                lost -= 0.5 * x[i] * (v[i] + after)
            whole[4] += lost
            one[0] = float(c if c < run.pairs.fixed else run.pairs.fixed + run.pairs.pair[c - run.pairs.fixed])
            one[4], one[6], one[7] = whole[3], whole[4], float(max(run.blow[c], 0))
            one[8], one[9] = whole[5], float(run.made + 1)
            run.struck += 1


@kernel
def note_state(run: SteppingData, h: float) -> None:
    """Which contacts are pressed, and stick, after a step of size h."""
    problem, terms, solution = run.motion.problem, run.motion.terms, run.motion.solution
    quick = quickest(run, run.count)
    for c in range(problem.contacts):
        closing = run.blow[c] != CALM and leaves(run, c, 0) < -STOPPED * REACH * h
        run.pressed[c] = CLOSING if closing else 0
        run.stuck[c] = 0
    for a in range(run.count):
        c = run.near[a]
        u = rate_along(problem, terms, c, 1, run.tried) + solution.target[3 * c + 1]
        w = rate_along(problem, terms, c, 2, run.tried) + solution.target[3 * c + 2]
        if solution.impulse[3 * c] > 0.0 and run.pressed[c] == 0:
            run.pressed[c] = PRESSED
        holds = problem.has_normal[c] == 0 or run.pressed[c] != 0
        run.stuck[c] = 1 if holds and sqrt(u * u + w * w) <= STUCK * quick else 0


@kernel
def least_change(motion: ContactMotion, residual: Reals) -> None:
    """The change ``found`` of least kinetic energy, by the factors of the inertia, that removes the *residual* of constraints."""
    force = motion.solution.before
    for k in range(motion.problem.speeds):
        force[k] = 0.0 if k < motion.speeds else residual[k - motion.speeds]
    accelerations(motion.problem, motion.terms.inertia, force, motion.work.speeds, motion.found)


@kernel
def retract(run: SteppingData) -> None:
    """Change the coordinates by the displacements ``found``."""
    motion = run.motion
    motion.moved = False
    copy(run.y, motion.extended, motion.n)
    copy(motion.found, motion.extended[motion.n :], motion.speeds)
    motion.retraction(run.time, motion.extended, motion.block, run.rate)
    copy(run.rate, run.y, motion.coordinates)
    normalise_all(run, run.y)


@kernel
def close_loops(run: SteppingData) -> None:
    """The coordinates at the end of a step, by the least change of them onto the constraints."""
    motion = run.motion
    motion.residuals(run.time, run.y, motion.block, motion.residual)
    least_change(motion, motion.residual)
    retract(run)


@kernel
def note_means(run: SteppingData, h: float) -> None:
    """Accelerations, multipliers and contact forces averaged over a step of size h; the work in it."""
    motion = run.motion
    given, v, first = run.middle[motion.n :], run.y[motion.coordinates :], motion.coordinates
    for k in range(motion.problem.speeds):
        given[k] = (run.tried[k] - v[k] if k < motion.speeds else run.tried[k]) / h
    forces = given[motion.problem.speeds + motion.problem.multipliers :]
    for k in range(motion.n_forces):
        forces[k] = motion.solution.impulse[motion.force_rows[k]] / h
    copy(given, run.y[motion.n :], motion.n_extended - motion.n)
    if run.works > 0:
        motion.rate(run.time, run.middle, motion.block, run.rate)
        add_work(run, run.middle[run.work :], 0.5 * h, 0.5, run.middle[first:])
        for k in range(motion.speeds):
            run.middle[first + k] = 0.5 * (v[k] + run.tried[k])
        motion.rate(run.time, run.middle, motion.block, run.rate)
        add_work(run, run.y[run.work :], h, 1.0, run.middle[first:])


@kernel
def add_work(run: SteppingData, work: Reals, time: float, share: float, v: Reals) -> None:
    """Add the power ``rate`` over a *time* to all *work*, and that of a *share* of the impulses of pairs at the speeds v."""
    problem, pairs = run.motion.problem, run.pairs
    for i in range(run.works):
        work[i] += time * run.rate[run.work + i]
    for a in range(run.count):
        c = run.near[a]
        if c >= pairs.fixed:
            start, x = problem.row_start[c], run.motion.solution.impulse[3 * c :]
            size = problem.row_start[c + 1] - start
            W, speeds = run.motion.terms.jacobian[3 * start :], problem.row_speeds[start:]
            for k in range(size):
                force = x[0] * W[k] + x[1] * W[size + k] + x[2] * W[2 * size + k]
                work[pairs.owner[speeds[k]]] += share * force * v[speeds[k]]


@kernel
def time_step(run: SteppingData, end: float) -> None:
    """The step from the time of the run to the *end*."""
    motion = run.motion
    t = run.time[0]
    h = end - t
    copy(run.y, run.middle, motion.n_extended)
    advance(run, run.y, run.y, 0.5 * h, run.middle)
    run.time[0] = t + 0.5 * h
    for k in range(motion.problem.speeds):
        motion.solution.before[k] = run.y[motion.coordinates + k] if k < motion.speeds else 0.0
    copy(motion.solution.before, run.tried, motion.problem.speeds)
    bounded, plainly, unsolved = run.bounded, run.plainly, run.unsolved
    solve_step(run, h, False)
    again = strikes(run, h)
    if again:
        run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        solve_step(run, h, True)
    find_impacts(run, h)
    note_impacts(run)
    if run.pairs.keeps:
        note_forces(run, h)
    note_state(run, h)
    note_means(run, h)
    run.time[0] = end
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = run.tried[k]
        run.y[motion.coordinates + k] = run.tried[k]
    advance(run, run.middle, run.middle, 0.5 * h, run.y)
    advance(run, run.y, run.middle, 0.5 * h, run.y)
    if motion.problem.multipliers > 0:
        close_loops(run)
    if run.pairs.shapes > 0:
        keep_last(run)
    if run.count > 0:
        if run.pairs.shapes > 0:
            note_depth(run)
        motion.gaps_of(run.time, run.y, motion.block, run.gaps)
        for c in range(run.pairs.fixed):
            if motion.problem.has_normal[c] != 0:
                run.depths[c] = max(run.depths[c], -run.gaps[c])


@kernel
def is_finite(x: Reals, n: int) -> bool:
    """Whether n numbers are finite."""
    total = 0.0
    for k in range(n):
        total += 0.0 * x[k]
    return total == 0.0


@kernel
def look_at_events(run: SteppingData) -> None:
    """Note whether an event has another sign after a step than before it, or is no number."""
    n, now = run.n_events, run.values
    for i in range(n):
        now[n + i] = now[i]
    run.events(run.time, run.y, run.motion.block, now)
    for i in range(n):
        same = (now[i] > 0.0 and now[n + i] > 0.0) or (now[i] < 0.0 and now[n + i] < 0.0)
        run.crossed = run.crossed or not same


@kernel
def is_pause(run: SteppingData, row: int) -> bool:
    """Whether to pause after *row* steps: an event was crossed, a switch reacts to impacts, or impacts or forces have no room."""
    full = row > 0 and run.struck + run.motion.problem.contacts > run.room
    full = full or (row > 0 and run.pairs.keeps and run.pairs.noted + run.pairs.room > run.pairs.kept)
    return full or run.crossed or (run.hears and run.struck > 0)


@kernel
def place_along(run: SteppingData, begin: float, part: float, values: Reals) -> None:
    """What places a mass and jumps, at a *part* of the way of the last step, which begins at the time *begin*."""
    end = run.time[0]
    for k in range(run.motion.n_extended):
        run.rate[k] = run.origin[k] + part * (run.y[k] - run.origin[k])
    run.time[0] = begin + part * (end - begin)
    run.placed(run.time, run.rate, run.motion.block, values)
    run.time[0] = end


@kernel
def tears(run: SteppingData, begin: float) -> bool:
    """Whether a place jumps in the last step, which begins at the time *begin*: a mass would need an infinite acceleration. The
    step then ends at the last number before it.

    The part of the way in which places change more is halved down to the next number; what is continuous does not change in it.
    """
    n, end, a, b, turn = run.n_placed, run.time[0], 0.0, 1.0, 0
    first, last, middle = run.sides, run.sides[n:], run.sides[2 * n :]
    place_along(run, begin, a, first)
    place_along(run, begin, b, last)
    size = max(largest(run.origin, run.motion.coordinates), largest(run.y, run.motion.coordinates))
    still = tolerances.STATE_TOLERANCE * max(size, max(largest(first, n), largest(last, n)))
    while turn < HALVINGS and largest_change(first, last, n) > still:
        part = a + 0.5 * (b - a)
        place_along(run, begin, part, middle)
        if largest_change(first, middle, n) > largest_change(middle, last, n):
            b = part
            copy(middle, last, n)
        else:
            a = part
            copy(middle, first, n)
        turn += 1
    run.torn = largest_change(first, last, n) > still
    if run.torn:
        for k in range(run.motion.n_extended):
            run.y[k] = run.origin[k] + a * (run.y[k] - run.origin[k])
        normalise_all(run, run.y)
        for k in range(run.motion.n):
            run.middle[k] = run.origin[k] + 0.5 * (run.y[k] - run.origin[k])
        run.time[0] = begin + a * (end - begin)
    return run.torn


@kernel
def march(run: SteppingData) -> int:
    """Steps up to the next pause: k, or -1 - k where the next is not finite, has an inadmissible law or too many pairs, or where
    the last ends in front of a jump of a place.
    """
    motion, row, finite = run.motion, 0, True
    run.struck, run.crossed, run.pairs.noted = 0, False, 0
    while run.made < run.allowed and finite and not is_pause(run, row):
        last = run.made + 1 == run.steps
        end, begin, struck = run.end if last else run.begin + (run.made + 1) * run.size, run.time[0], run.struck
        if run.n_placed > 0:
            copy(run.y, run.origin, motion.n_extended)
        time_step(run, end)
        finite = run.culprit == 0 and not run.pairs.full and is_finite(run.y, motion.n_extended)
        if finite and run.n_placed > 0:
            torn = tears(run, begin)
            run.struck = struck if torn else run.struck
        if finite:
            run.made += 1
            run.times[row] = run.time[0]
            copy(run.y, run.states[row * motion.n_extended :], motion.n_extended)
            copy(run.middle, run.middles[row * motion.n :], motion.n)
            row += 1
            if run.n_events > 0:
                look_at_events(run)
            finite = not run.torn
    return row if finite else -1 - row


@kernel
def release_contacts(run: SteppingData) -> None:
    """Let no contact be pressed or stick, and none have an impulse."""
    m = run.motion.problem.contacts
    for k in range(m):
        run.pressed[k], run.stuck[k] = 0, 0
    for k in range(3 * m):
        run.motion.solution.impulse[k] = 0.0


@kernel
def clear_contacts(run: SteppingData) -> None:
    """Let no contact be pressed, and none have an impulse, and count no steps whose impulses do not obey all laws."""
    run.bounded, run.plainly, run.unsolved, run.culprit = 0, 0, 0, 0
    run.resting, run.pause, run.torn = 0, 0, False
    for k in range(run.motion.problem.contacts):
        run.depths[k] = 0.0
    release_contacts(run)


@kernel
def interpolate_step(run: SteppingData, row: int, before: Reals, begin: float, t: float, found: Reals) -> None:
    """The state *found* at a time t of the step of a *row* since the last pause, which begins at the time *begin* in the state
    *before*: on its parabola; speeds are linear, and what is behind the states is that of the step.
    """
    motion = run.motion
    first, last = motion.coordinates, motion.coordinates + motion.speeds
    after, middle = run.states[row * motion.n_extended :], run.middles[row * motion.n :]
    copy(after, found, motion.n_extended)
    x = (t - begin) / (run.times[row] - begin)
    if t != run.times[row]:
        for k in range(motion.n):
            slope = 2.0 * (middle[k] - before[k])
            if first <= k and k < last:
                slope = after[k] - before[k]
            found[k] = before[k] + x * (slope + x * (after[k] - before[k] - slope))
