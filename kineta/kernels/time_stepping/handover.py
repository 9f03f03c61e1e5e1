"""The way from time stepping back to events: when contacts are quiet, and the mode by events that what they press begins."""

from __future__ import annotations

from kineta.integration.contact_records import CLOSED, FLAGS, STUCK
from kineta.integration.handover import DEEPEST_START, QuietWatch
from kineta.integration.loop_abi import RunData
from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.motion import contact_position, contact_velocity
from kineta.kernels.contact.state_terms import CHANGED
from kineta.kernels.language import kernel
from kineta.kernels.stage_evaluation import lowest_pivot
from kineta.kernels.switching import energy
from kineta.kernels.time_stepping.march import release_contacts
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Pivot of a constraint, relative to its largest, below which motions stay with time stepping while they are faster than this.
STRETCHED, STILL = 1e-4, 1e-5
#: Projections of the gaps of what is pressed.
PROJECTIONS = 3


@kernel
def begin_quiet(run: SteppingData, watch: QuietWatch) -> None:
    """Begin to watch time stepping at its start: nothing is pressed or sticks so far, and nothing has an impulse."""
    watch.since = 0
    for c in range(run.motion.problem.contacts):
        watch.pressed[c] = 0
    release_contacts(run)


@kernel
def count_quiet(run: SteppingData, watch: QuietWatch, states: Reals, steps: int) -> int:
    """Count the steps since the last change, with those that end in the *states* (steps, n_extended) the last."""
    motion = run.motion
    first = motion.n + motion.problem.speeds + motion.problem.multipliers
    for step in range(steps):
        forces, same = states[step * motion.n_extended + first :], True
        for k in range(motion.n_forces):
            if motion.force_rows[k] % 3 == 0:
                c, pressed = motion.force_rows[k] // 3, 0
                if forces[k] > 0.0:
                    pressed = 1
                same = same and watch.pressed[c] == pressed
                watch.pressed[c] = pressed
        watch.since = watch.since + 1 if same else 1
    return watch.since


@kernel
def take_back(stepped: SteppingData, run: RunData, watch: QuietWatch) -> bool:
    """Whether events may go on at the end of the last step, in the mode that pressed contacts begin; the ``state``, and the mode
    of the motion, are then those after the transition into it. The block h of the motion by events is set.
    """
    c = run.contacts
    motion, problem, work, y, after = c.motion, c.motion.problem, c.transitions, watch.state, run.between
    run.time[0] = stepped.time[0]
    for k in range(run.n):
        y[k] = stepped.y[k] if k < watch.states else 0.0
    motion.moved = False
    copy(y, motion.extended, motion.n)
    motion.gaps_of(run.time, motion.extended, motion.block, work.gaps)
    for k in range(problem.contacts):
        if problem.has_normal[k] != 0 and work.gaps[k] < -DEEPEST_START:
            return False  # what is still pushed apart would be thrown
    for k in range(c.n_flags):
        motion.flags[k] = 0.0
    for k in range(
        problem.contacts
    ):  # no force has come to its end: what a run by events last found is of another time
        work.loose[k], work.exhausted[k], work.fallen[k] = 0, 0, 0
    for k in range(problem.contacts):
        if watch.pressed[k] != 0 or (problem.has_normal[k] != 0 and work.gaps[k] < 0.0):
            motion.flags[FLAGS * k + CLOSED] = 1.0
    for _ in range(PROJECTIONS):
        contact_position(run.time, y, motion, after)
        copy(after, y, run.n)
    for k in range(problem.contacts):
        if watch.pressed[k] == 0:
            motion.flags[FLAGS * k + CLOSED] = 0.0
        if stepped.stuck[k] > 0 and (watch.pressed[k] != 0 or problem.has_normal[k] == 0):
            motion.flags[FLAGS * k + STUCK] = 1.0
    motion.moved = False
    contact_velocity(run.time, y, motion, after)
    copy(after, y, run.n)
    copy(motion.flags, watch.flags, c.n_flags)
    work.made, work.row = 0, 0
    c.transit(motion, work, run.time, y)
    if work.status != CHANGED:
        return False
    run.rate(run.time, y, run.block, run.k)
    moves = largest(y[motion.coordinates :], motion.speeds) > STILL
    if moves and lowest_pivot(run, run.k) < STRETCHED:
        return False  # where a loop is stretched or folded flat, its ways out are one to events
    motion.moved = False
    stepped.motion.observed(run.time, stepped.y, stepped.motion.block, watch.values)
    before = watch.values[0] + watch.values[1]
    behind = energy(run, run.time[0], y)
    watch.jump = behind - before
    y[c.work] += watch.jump
    total = 0.0
    for k in range(run.n):
        total += 0.0 * y[k]
    return total == 0.0
