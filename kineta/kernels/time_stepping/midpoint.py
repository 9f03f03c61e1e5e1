"""Terms amidst a step of time stepping, with the inertia of implicit forces, and the speeds without contacts."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.block_inertia import accelerations, copy_blocks, rate_along
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.language import kernel
from kineta.kernels.time_stepping.near_pairs import find_pairs
from kineta.kernels.time_stepping.pair_rows import fill_pairs


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
