"""Cases of an ensemble by time stepping: a thread carries one after the other to its end."""

from __future__ import annotations

from kineta.integration.contact_records import CaseStepping
from kineta.kernels.language import kernel, take
from kineta.kernels.time_stepping.time_step import march
from kineta.kernels.vectors import copy
from kineta.memory import Integers

#: Status of a case: not at its end; at its end; left to a run of its own, which says why it fails.
GOES_ON, AT_END, FAILS = range(3)


@kernel
def clear(marks: Integers, n: int) -> None:
    """Set n marks to zero."""
    for k in range(n):
        marks[k] = 0


@kernel
def begin_case(own: CaseStepping) -> None:
    """Take the next case from the queue, if there is one."""
    run, every, place = own.run, own.cases, take(own.cases.next)
    own.number = -1
    if place < every.queued:
        number = every.queue[place]
        motion, m = run.motion, run.motion.problem.contacts
        own.number, own.recorded = number, every.first
        copy(every.y[number * motion.n_extended :], run.y, motion.n_extended)
        copy(every.blocks[number * every.stride :], motion.block, every.block)
        run.time[0], run.made = run.begin, 0
        run.bounded, run.plainly, run.unsolved, run.culprit = 0, 0, 0, 0
        clear(run.pressed, m)
        clear(run.stuck, m)
        for k in range(m):
            run.depths[k] = 0.0
        for k in range(3 * m):
            motion.solution.impulse[k] = 0.0


@kernel
def record_samples(own: CaseStepping, rows: int) -> None:
    """Record the state at the times of the grid up to the last of so many *rows* of steps, on the parabolas of the steps."""
    run, every, row, more = own.run, own.cases, 0, rows > 0
    motion, n = run.motion, run.motion.n_extended
    first, last = motion.coordinates, motion.coordinates + motion.speeds
    while more and own.recorded < every.times:
        t = every.grid[own.recorded]
        while row < rows and run.times[row] < t:
            row += 1
        more = row < rows
        if more:
            found, after = every.samples[(own.number * every.times + own.recorded) * n :], run.states[row * n :]
            before, middle, begin, end = own.before, run.middles[row * motion.n :], own.begin, run.times[row]
            if row > 0:
                before, begin = run.states[(row - 1) * n :], run.times[row - 1]
            copy(after, found, n)
            x = (t - begin) / (end - begin)
            if t != end:
                for k in range(motion.n):
                    slope = 2.0 * (middle[k] - before[k])
                    if first <= k and k < last:
                        slope = after[k] - before[k]
                    found[k] = before[k] + x * (slope + x * (after[k] - before[k] - slope))
            own.recorded += 1


@kernel
def put_back(own: CaseStepping, status: int) -> None:
    """Store the progress of the case."""
    run, every, number, m = own.run, own.cases, own.number, own.run.motion.problem.contacts
    every.t[number], every.status[number], every.recorded[number] = run.time[0], status, own.recorded
    every.made[number] = run.made
    every.counts[3 * number], every.counts[3 * number + 1] = run.bounded, run.plainly
    every.counts[3 * number + 2] = run.unsolved
    copy(run.y, every.y[number * run.motion.n_extended :], run.motion.n_extended)
    copy(run.depths, every.depths[number * m :], m)


@kernel
def march_case(own: CaseStepping) -> int:
    """Steps of a case up to the next pause: the number of the case, -1 where none is left."""
    run = own.run
    if own.ended:
        begin_case(own)
    if own.number >= 0:
        own.begin = run.time[0]
        copy(run.y, own.before, run.motion.n_extended)
        run.allowed = min(run.steps, run.made + own.chunk)
        rows = march(run)
        record_samples(own, rows)
        status = FAILS if rows < 0 else AT_END if run.made == run.steps else GOES_ON
        own.ended = status != GOES_ON
        put_back(own, status)
    return own.number
