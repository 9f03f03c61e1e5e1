"""Time stepping of Moreau and Jean: a step of given size with impulses of all contacts, whatever opens or closes in it.

Half a step with the speeds so far, one evaluation of all terms amidst the step, the contact problem, half a step with the new
speeds. Forces are implicit by their derivatives; multipliers of constraints are speeds without mass. A contact obeys Signorini's
condition for the gap amidst the *next* step, which stays positive; a part of a penetration is taken back in each step.
Restitution is Newton's.
"""

from __future__ import annotations

from kineta.integration.contact_records import SteppingData
from kineta.kernels.contact.block_inertia import (
    accelerations,
    copy_blocks,
    push,
    rate_along,
    respond,
)
from kineta.kernels.contact.gauss_seidel import sweep
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.contact.newton_over_speeds import COMPLIANCE, REPETITIONS, solve_island
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import copy, maximum, normalise
from kineta.memory import Integers, Reals

#: Contacts whose gap closes within a step up to this acceleration [m/s^2] take part.
REACH = 20.0
#: Part of a penetration that is taken back in a step.
TAKEN_BACK = 0.2
#: Part of the change in a sweep that the next leaves at most, else sweeps end.
QUICK = 0.3
#: Sweeps before Newton's method takes over, and those in which it fails.
SWEEPS, LAST_SWEEPS = 5, 200
#: Change of a velocity at which impulses are found, relative to the largest velocity [m/s], at least 1.
FOUND = 1e-8
#: Part of it to which Newton's method goes on: errors of speeds are errors of forces in the next step.
FINER, FINEST = 1e-3, 1e-5
#: Compliance with which other tries begin: a Newton step passes the interval in which a stiff joint sticks, or the cone.
SOFT = 0.1
#: Repetitions of forces from those of the last step on, which change little.
FEW = 12
#: Velocity at which penetrations are taken back, below which they are not.
LEAST = 1e-6
#: Part of the impulses of the last step with which those of contacts whose rows are one freedom begin: what is undetermined
#: fades; and the part of their Delassus operator that tells them.
KEPT, ONE_FREEDOM = 0.9, 1e-4
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
def evaluate_middle(run: SteppingData, h: float) -> None:
    """Terms amidst a step of size h, with the inertia of implicit forces, and its factors; the speeds without contacts."""
    motion = run.motion
    problem, terms = motion.problem, motion.terms
    evaluate_terms(motion, run.time, run.middle)
    run.slopes(run.time, run.middle, motion.block, run.slope)
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
    motion, found = run.motion, 0
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    v, impulse = run.y[motion.coordinates :], solution.impulse
    for c in range(problem.contacts):
        for i in range(3):
            speed = 0.0
            for k in range(problem.row_start[c], problem.row_start[c + 1]):
                at = problem.row_speeds[k]
                n = problem.row_start[c + 1] - problem.row_start[c]
                if at < motion.speeds:
                    speed += terms.jacobian[3 * problem.row_start[c] + i * n + k - problem.row_start[c]] * v[at]
            solution.target[3 * c + i] = terms.velocity[3 * c + i] - speed
        ahead = terms.gap[c] + h * (rate_along(problem, terms, c, 0, run.free) + solution.target[3 * c])
        near = problem.has_normal[c] == 0 or ahead <= REACH * h * h
        if near:
            respond(problem, terms, solution, c, motion.work.speeds)
            D = solution.delassus[9 * c :]
            near = max(D[0], max(D[4], D[8])) > 0.0
        if near:
            run.near[found] = c
            found += 1
            aim(run, c, ahead, h)
        else:
            run.stuck[c] = 0
            for i in range(3):
                impulse[3 * c + i] = 0.0
    return found


@kernel
def aim(run: SteppingData, c: int, ahead: float, h: float) -> None:
    """The friction of a contact in a step of size h, and its normal velocity after it, whose gap without impulse would be
    *ahead*: ``target`` with restitution and with what takes a penetration back, ``plain`` without.
    """
    terms, solution = run.motion.terms, run.motion.solution
    law, gap, drift = terms.law[4 * c :], terms.gap[c], solution.target[3 * c]
    if run.stuck[c] != 0:
        law[0] = max(law[0], law[1])
    if run.motion.problem.has_normal[c] == 0:
        law[0] *= h
        run.plain[c] = drift
    else:
        rebound = law[2] * max(0.0, -terms.velocity[3 * c]) if ahead <= 0.0 else 0.0
        wanted = -gap / h
        run.plain[c] = drift + (gap / h if gap > LEAST * h else 0.0)
        if wanted > 0.0:
            wanted *= TAKEN_BACK
            wanted = wanted if wanted > LEAST else 0.0
        solution.target[3 * c] = drift - max(rebound, wanted)
        if gap > LEAST * h and rebound <= 0.0:
            solution.target[3 * c] = drift + gap / h


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
def begin_cold(run: SteppingData, active: Integers, count: int) -> None:
    """Begin without impulses at the *active* contacts."""
    problem = run.motion.problem
    for a in range(count):
        for k in range(problem.row_start[active[a]], problem.row_start[active[a] + 1]):
            run.tried[problem.row_speeds[k]] = run.free[problem.row_speeds[k]]
        for i in range(3):
            run.motion.solution.impulse[3 * active[a] + i] = 0.0


@kernel
def sweeps(run: SteppingData, active: Integers, count: int, most: int, part: float, tolerance: float) -> bool:
    """At *most* so many sweeps over the *active* contacts, while each leaves this *part* of the change before; whether they find
    impulses.
    """
    made, change, fast, motion = 0, 2.0 * tolerance, True, run.motion
    while made < most and change > tolerance and fast:
        before = change
        change = sweep(motion.problem, motion.terms, motion.solution, active, count, run.tried)
        fast = made == 0 or change < part * before
        made += 1
    return change <= tolerance


@kernel
def solve_contacts(run: SteppingData, active: Integers, count: int, tolerance: float) -> None:
    """Impulses of an island, and its speeds: by sweeps, else by Newton's method, at first from the impulses so far, then from
    none, at last without restitution and without taking penetrations back.
    """
    motion = run.motion
    tries, found = 0, sweeps(run, active, count, SWEEPS, QUICK, FINEST * tolerance)
    while tries < 3 and not found:
        if tries > 0:
            begin_cold(run, active, count)
        if tries > 1:
            for a in range(count):
                motion.solution.target[3 * active[a]] = run.plain[active[a]]
        made = solve_island(
            motion.problem,
            motion.terms,
            motion.solution,
            motion.island,
            active,
            count,
            run.tried,
            FINER * tolerance,
            FEW if tries == 0 else REPETITIONS,
            COMPLIANCE if tries == 0 else SOFT,
        )
        found = made > 0
        tries += 1
    if tries == 3 and found:
        run.plainly += 1
    if not found:
        begin_cold(run, active, count)
        found = sweeps(run, active, count, LAST_SWEEPS, 1.0, tolerance)
        run.unsolved += 0 if found else 1


@kernel
def solve_step(run: SteppingData, count: int) -> None:
    """Impulses of the contacts near, and the speeds ``tried`` after them; which contacts stick."""
    motion, first, quick = run.motion, 0, 1.0
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    for a in range(count):
        for i in range(3):
            quick = maximum(quick, fabs(terms.velocity[3 * run.near[a] + i]))
    begin_warm(run, count)
    label_islands(problem, run.near, count, solution.label)
    while first < count:
        own = run.near[first:]
        some = gather_island(problem, own, count - first, solution.label)
        solve_contacts(run, own, some, FOUND * quick)
        first += some
    for a in range(count):
        c = run.near[a]
        u = rate_along(problem, terms, c, 1, run.tried) + solution.target[3 * c + 1]
        w = rate_along(problem, terms, c, 2, run.tried) + solution.target[3 * c + 2]
        pressed = problem.has_normal[c] == 0 or solution.impulse[3 * c] > 0.0
        run.stuck[c] = 1 if pressed and sqrt(u * u + w * w) <= STUCK * quick else 0


@kernel
def close_loops(run: SteppingData) -> None:
    """The coordinates at the end of a step, by the least change of them onto the constraints."""
    motion = run.motion
    problem, force = motion.problem, motion.solution.before
    motion.residuals(run.time, run.y, motion.block, motion.residual)
    for k in range(problem.speeds):
        force[k] = 0.0 if k < motion.speeds else motion.residual[k - motion.speeds]
    accelerations(problem, motion.terms.inertia, force, motion.work.speeds, motion.found)
    copy(run.y, motion.extended, motion.n)
    copy(motion.found, motion.extended[motion.n :], motion.speeds)
    motion.retraction(run.time, motion.extended, motion.block, run.rate)
    copy(run.rate, run.y, motion.coordinates)
    normalise_all(run, run.y)


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
    if run.work >= 0:
        motion.rate(run.time, run.middle, motion.block, run.rate)
        run.middle[run.work] += 0.5 * h * run.rate[run.work]
        for k in range(motion.speeds):
            run.middle[first + k] = 0.5 * (v[k] + run.tried[k])
        motion.rate(run.time, run.middle, motion.block, run.rate)
        run.y[run.work] += h * run.rate[run.work]


@kernel
def time_step(run: SteppingData, end: float) -> None:
    """The step from the time of the run to the *end*."""
    motion = run.motion
    t = run.time[0]
    h = end - t
    copy(run.y, run.middle, motion.n_extended)
    advance(run, run.y, run.y, 0.5 * h, run.middle)
    run.time[0] = t + 0.5 * h
    evaluate_middle(run, h)
    count = take_part(run, h)
    solve_step(run, count)
    note_means(run, h)
    run.time[0] = end
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = run.tried[k]
        run.y[motion.coordinates + k] = run.tried[k]
    advance(run, run.middle, run.middle, 0.5 * h, run.y)
    advance(run, run.y, run.middle, 0.5 * h, run.y)
    if motion.problem.multipliers > 0:
        close_loops(run)
    if count > 0:
        motion.gaps_of(run.time, run.y, motion.block, run.gaps)
        for c in range(motion.problem.contacts):
            if motion.problem.has_normal[c] != 0:
                run.deepest = max(run.deepest, -run.gaps[c])


@kernel
def is_finite(x: Reals, n: int) -> bool:
    """Whether n numbers are finite."""
    total = 0.0
    for k in range(n):
        total += 0.0 * x[k]
    return total == 0.0


@kernel
def march(run: SteppingData) -> int:
    """Steps up to the next pause: how many, negative where after these the next is not finite."""
    motion, row, finite = run.motion, 0, True
    while run.made < run.allowed and finite:
        last = run.made + 1 == run.steps
        end = run.end if last else run.begin + (run.made + 1) * run.size
        time_step(run, end)
        finite = is_finite(run.y, motion.n_extended)
        if finite:
            run.made += 1
            run.times[row] = end
            copy(run.y, run.states[row * motion.n_extended :], motion.n_extended)
            copy(run.middle, run.middles[row * motion.n :], motion.n)
            row += 1
    return row if finite else -1 - row
