"""Terms amidst a step of time stepping, with the inertia of implicit forces; speeds without contacts; whether forces bend."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.block_inertia import accelerations, copy_blocks, rate_along
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.near_pairs import find_pairs
from kineta.kernels.time_stepping.pair_rows import fill_pairs
from kineta.kernels.vectors import largest

#: Parts of the kinetic energy in a step beyond which forces that bend ask for a shorter one, and to which they are found; speeds
#: below which none is looked at, over the step [m/s^2].
BENT, STRAIGHT, SLOW = 1e-6, 1e-7, 20.0


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
        run.about[k] = before[k] - run.tried[k]
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
def bends(run: SteppingData, h: float, part: float) -> bool:
    """Whether forces miss more than this *part* of the kinetic energy in a step of size h, for they are linear about other
    speeds than the mean ones found: forces that are quadratic in the speeds do, by the square of the difference.
    """
    if not largest(run.about, run.motion.speeds) > SLOW * h:
        return False
    bent = False
    for b in range(run.motion.problem.blocks):
        bent = bent or bends_in(run, b, h, part)
    return bent


@kernel
def twice_energy(run: SteppingData, b: int) -> float:
    """Twice the kinetic energy of the speeds of the block b before a step, or what implicit forces make of it."""
    problem, before, size = run.motion.problem, run.motion.solution.before, 0.0
    own = problem.block_speeds[problem.block_start[b] :]
    n, A = problem.block_start[b + 1] - problem.block_start[b], run.motion.island.inertia[problem.inertia_start[b] :]
    for i in range(n):
        for j in range(n):
            if own[i] < run.motion.speeds and own[j] < run.motion.speeds:
                size += before[own[i]] * A[i * n + j] * before[own[j]]
    return size


@kernel
def bends_in(run: SteppingData, b: int, h: float, part: float) -> bool:
    """The same for the speeds of the block b."""
    problem, speeds, before = run.motion.problem, run.motion.speeds, run.motion.solution.before
    own = problem.block_speeds[problem.block_start[b] :]
    n = problem.block_start[b + 1] - problem.block_start[b]
    A, slope = run.motion.island.inertia[problem.inertia_start[b] :], run.slope[problem.inertia_start[b] :]
    size, change, missed = 0.0, 0.0, 0.0
    for i in range(n):
        momentum, added, force = 0.0, 0.0, 0.0
        for j in range(n):
            if own[j] < speeds:
                away = 0.5 * (before[own[j]] + run.tried[own[j]]) - run.about[own[j]]
                momentum += A[i * n + j] * run.about[own[j]]
                added += A[i * n + j] * away
                force += slope[i * n + j] * away
        if own[i] < speeds:
            size += run.about[own[i]] * momentum
            change += (0.5 * (before[own[i]] + run.tried[own[i]]) - run.about[own[i]]) * added
            missed += fabs(run.about[own[i]] * force)
    return not h * missed * sqrt(fabs(change)) <= part * size * sqrt(max(0.0, size))
