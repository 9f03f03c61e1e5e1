"""Time stepping of Moreau and Jean: a step of given size with impulses of all contacts, whatever opens or closes in it.

Half a step with the speeds so far, one evaluation of all terms at the midpoint, the contact problem, half a step with the new
speeds. Forces are implicit by their derivatives; multipliers of constraints are speeds without mass. A contact obeys Signorini's
condition for the gap at the midpoint of the *next* step; a part of a penetration is corrected in each step, slowly.
Restitution is Newton's or Poisson's, where the free motion would close the contact, and as much of it as gains no energy.
"""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.language import kernel
from kineta.kernels.time_stepping.displacements import advance, close_loops
from kineta.kernels.time_stepping.near_pairs import keep_last, note_depth
from kineta.kernels.time_stepping.pair_rows import note_forces
from kineta.kernels.time_stepping.step_contacts import solve_step
from kineta.kernels.time_stepping.step_impacts import find_impacts, note_impacts, note_state, strikes
from kineta.kernels.vectors import copy
from kineta.memory import Reals


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
