"""Terms amidst a step of time stepping, with the inertia of implicit forces; speeds without contacts; whether forces bend."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.block_inertia import accelerations, copy_blocks, is_folded, rate_along, turn_rows
from kineta.kernels.contact.motion import evaluate_terms, note_beside
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.near_pairs import find_pairs
from kineta.kernels.time_stepping.pair_rows import fill_pairs
from kineta.kernels.vectors import largest
from kineta.memory import Reals

#: Parts of the kinetic energy in a step beyond which forces that bend ask for a shorter one, and to which they are found; speeds
#: below which none is looked at, over the step [m/s^2].
BENT, STRAIGHT, SLOW = 6e-7, 1e-7, 20.0
#: Pivot of a row of a loop amidst a step, relative to the largest, below which it is turned on to the end of the step.
FOLDED = 1e-4


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
def evaluate_about(run: SteppingData, h: float, again: bool) -> None:
    """Terms at the midpoint of a step of size h, with the inertia of implicit forces, which are linear about ``about``."""
    motion = run.motion
    problem, terms, before = motion.problem, motion.terms, motion.solution.before
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = run.about[k]
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


@kernel
def evaluate_middle(run: SteppingData, h: float, again: bool) -> None:
    """Terms at the midpoint of a step of size h, with the inertia of implicit forces, and its factors; speeds without contacts.

    Forces are linear about the speeds before the step, or *again*, halfway to those tried.
    """
    motion = run.motion
    problem, terms, before = motion.problem, motion.terms, motion.solution.before
    for k in range(problem.speeds):
        run.tried[k] = 0.5 * (before[k] - run.tried[k]) if k < motion.speeds else 0.0
        run.about[k] = before[k] - run.tried[k]
    evaluate_about(run, h, again)
    copy_blocks(problem, terms.inertia, motion.island.inertia)
    if problem.multipliers > 0:
        folded = is_folded(problem, terms.inertia, FOLDED)
        if folded:
            note_beside(motion, run.time, run.middle, run.rate, 0.5 * h, run.free)
            evaluate_about(run, h, again)
            turn_rows(problem, motion.island.turned, FOLDED, 1.0, terms.inertia, run.free)
            copy_blocks(problem, terms.inertia, motion.island.inertia)
    accelerations(problem, terms.inertia, terms.force, motion.work.speeds, motion.found)
    for k in range(problem.speeds):
        run.free[k] = h * motion.found[k]
        if k < motion.speeds:
            run.free[k] += run.y[motion.coordinates + k]


@kernel
def bends(run: SteppingData, h: float, part: float) -> bool:
    """Whether forces miss more than this *part* of the kinetic energy in a step of size h, for they are linear about other
    speeds than the mean ones found: forces that are quadratic in the speeds do, by the square of the difference. Where they may,
    it is looked at.
    """
    if not largest(run.about, run.motion.speeds) > SLOW * h:
        return False
    bent, missed = False, False
    for b in range(run.motion.problem.blocks):
        bent = bent or misses_in(run, b, run.slope, h, part, True)
    if bent:
        compare_slopes(run)
        for b in range(run.motion.problem.blocks):
            missed = missed or misses_in(run, b, run.ahead, h, part, False)
    return missed


@kernel
def compare_slopes(run: SteppingData) -> None:
    """Derivatives of the forces about the mean speeds found, less those about which forces are linear. Half of this change, times
    that of the speeds, is what forces miss that are quadratic in the speeds; those that are linear, as of dampers, miss nothing.
    """
    motion, before = run.motion, run.motion.solution.before
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = 0.5 * (before[k] + run.tried[k])
    run.slopes(run.time, run.middle, motion.block, run.ahead)
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = before[k]
    for k in range(motion.problem.inertia_start[motion.problem.blocks]):
        run.ahead[k] -= run.slope[k]


@kernel
def massive_speeds(run: SteppingData, b: int) -> int:
    """Number of speeds of the block b, without the multipliers behind them."""
    problem, speeds = run.motion.problem, run.motion.speeds
    first, last = problem.block_start[b], problem.block_start[b + 1]
    while last > first and problem.block_speeds[last - 1] >= speeds:
        last -= 1
    return last - first


@kernel
def twice_energy(run: SteppingData, b: int) -> float:
    """Twice the kinetic energy of the speeds of the block b before a step, or what implicit forces make of it."""
    problem, before, size, m = run.motion.problem, run.motion.solution.before, 0.0, massive_speeds(run, b)
    own = problem.block_speeds[problem.block_start[b] :]
    n, A = problem.block_start[b + 1] - problem.block_start[b], run.motion.island.inertia[problem.inertia_start[b] :]
    for i in range(m):
        for j in range(m):
            size += before[own[i]] * A[i * n + j] * before[own[j]]
    return size


@kernel
def misses_in(run: SteppingData, b: int, slopes: Reals, h: float, part: float, worst: bool) -> bool:
    """Whether forces on the speeds of the block b miss so much: by how far their derivatives have changed, or by the derivatives,
    in the worst case that all forces are quadratic; these are the *slopes*.
    """
    problem, before, m = run.motion.problem, run.motion.solution.before, massive_speeds(run, b)
    own = problem.block_speeds[problem.block_start[b] :]
    n = problem.block_start[b + 1] - problem.block_start[b]
    A, slope = run.motion.island.inertia[problem.inertia_start[b] :], slopes[problem.inertia_start[b] :]
    size, change, missed = 0.0, 0.0, 0.0
    for i in range(m):
        momentum, added, force = 0.0, 0.0, 0.0
        for j in range(m):
            away = 0.5 * (before[own[j]] + run.tried[own[j]]) - run.about[own[j]]
            momentum += A[i * n + j] * run.about[own[j]]
            added += A[i * n + j] * away
            force += slope[i * n + j] * away
        size += run.about[own[i]] * momentum
        change += (0.5 * (before[own[i]] + run.tried[own[i]]) - run.about[own[i]]) * added
        missed += fabs(run.about[own[i]] * force)
    if worst:
        return not h * missed * sqrt(fabs(change)) <= part * size * sqrt(max(0.0, size))
    return not h * missed <= part * size
