"""A step of time stepping whose energy is checked: one that gains more than the method may is made in parts.

The work of all forces stands in the state, so that kinetic and potential energy without it stay as they are. What they gain in a
step is the error of the method: where rows of a contact turn by much within a step, or the inertia with implicit forces is far
from the inertia, it is large, and falls at least with the square of the step.
"""

from __future__ import annotations

from kineta.integration.stepping_records import IMPACT_SUMS, PARTS, SteppingData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.time_stepping.time_step import time_step
from kineta.kernels.vectors import copy

#: Parts of the kinetic energy that a step may gain, and lose.
GAIN, LOSS = 1e-5, 1e-4
#: Part of all energies and the work that is too small to matter: what is nearly at rest moves by the errors of its forces.
REST = 1e-9


@kernel
def begin_balance(run: SteppingData) -> None:
    """Note the energy of the present state, where steps are checked."""
    if run.check.size > 0:
        note_energy(run)


@kernel
def note_energy(run: SteppingData) -> None:
    """Note the kinetic energy of the present state, and what kinetic and potential energy are without the work done."""
    check = run.check
    run.motion.observed(run.time, run.y, run.motion.block, check.values)
    check.kinetic = check.values[0]
    check.least = REST * (fabs(check.values[0]) + fabs(check.values[1]) + fabs(run.y[run.work]))
    check.energy = check.values[0] + check.values[1] - run.y[run.work]


@kernel
def checked_step(run: SteppingData, end: float) -> None:
    """The step from the time of the run to the *end*, in parts where it gains energy."""
    check, begin = run.check, run.time[0]
    if check.size == 0:
        time_step(run, end)
    else:
        keep_start(run)
        time_step(run, end)
        wrong = errs(run)
        if run.culprit == 0 and wrong:
            refine(run, begin, end)


@kernel
def errs(run: SteppingData) -> bool:
    """Whether the last step gains too much energy, by itself or by the work of contacts, or loses it, or ends in no number; its
    energy is noted.
    """
    check = run.check
    before, energy = check.kinetic, check.energy
    note_energy(run)
    gain, kinetic = check.energy - energy, max(before, check.kinetic)
    fits = -LOSS * kinetic - check.least <= gain and gain + max(check.gained, 0.0) <= GAIN * kinetic + check.least
    return not fits


@kernel
def refine(run: SteppingData, begin: float, end: float) -> None:
    """Make the step from *begin* to *end* again in parts, of which none gains energy, or which are the smallest; forces and
    accelerations are averages over all of them.
    """
    check, motion = run.check, run.motion
    n, done, size = motion.n, 0, PARTS // 2
    check.refined += 1
    restore_start(run)
    copy(run.y, check.start, n)
    for k in range(motion.n_extended - n):
        check.means[k] = 0.0
    while done < PARTS and run.culprit == 0:
        keep_start(run)
        part = begin + (end - begin) * (float(done + size) / float(PARTS))
        time_step(run, end if done + size == PARTS else part)
        wrong = errs(run)
        if run.culprit == 0 and wrong and size > 1:
            restore_start(run)
            size = size // 2
        else:
            done += size
            for k in range(motion.n_extended - n):
                check.means[k] += float(size) / float(PARTS) * run.y[n + k]
            if 2 * done == PARTS:
                copy(run.y, check.half, n)
            while done % (2 * size) == 0 and 2 * size < PARTS:
                size = 2 * size
    copy(check.means, run.y[n:], motion.n_extended - n)
    for k in range(n):  # the parabola of the step goes through its ends and the state amidst
        run.middle[k] = 2.0 * check.half[k] - 0.5 * (check.start[k] + run.y[k])


@kernel
def keep_start(run: SteppingData) -> None:
    """Keep all with which a step, or a part of it, begins."""
    check, m = run.check, run.motion.problem.contacts
    check.time = run.time[0]
    check.kept_energy, check.kept_kinetic = check.energy, check.kinetic
    copy(run.y, check.state, run.motion.n_extended)
    copy(run.motion.solution.impulse, check.impulse, 3 * m)
    copy(run.sums, check.sums, IMPACT_SUMS * m)
    copy(run.depths, check.depths, m)
    for c in range(m):
        check.pressed[c], check.stuck[c] = run.pressed[c], run.stuck[c]
    check.struck, check.told = run.struck, run.told
    check.bounded, check.plainly, check.unsolved = run.bounded, run.plainly, run.unsolved


@kernel
def restore_start(run: SteppingData) -> None:
    """Begin a step, or a part of it, again."""
    check, m = run.check, run.motion.problem.contacts
    run.time[0] = check.time
    check.energy, check.kinetic = check.kept_energy, check.kept_kinetic
    copy(check.state, run.y, run.motion.n_extended)
    copy(check.impulse, run.motion.solution.impulse, 3 * m)
    copy(check.sums, run.sums, IMPACT_SUMS * m)
    copy(check.depths, run.depths, m)
    for c in range(m):
        run.pressed[c], run.stuck[c] = check.pressed[c], check.stuck[c]
    run.struck, run.told = check.struck, check.told
    run.bounded, run.plainly, run.unsolved = check.bounded, check.plainly, check.unsolved
