"""Cases of an ensemble by time stepping: a thread carries one after the other to its end."""

from __future__ import annotations

from kineta.integration.stepping_records import CaseStepping
from kineta.kernels.language import kernel, take
from kineta.kernels.time_stepping.march import clear_contacts, interpolate_step, march
from kineta.kernels.time_stepping.near_pairs import begin_pairs, size_shapes
from kineta.kernels.vectors import copy

#: Status of a case: not at its end; at its end; left to a run of its own, which says why it fails.
GOES_ON, AT_END, FAILS = range(3)


@kernel
def begin_case(own: CaseStepping) -> None:
    """Take the next case from the queue, if there is one."""
    run, every, place = own.run, own.cases, take(own.cases.next)
    own.number = -1
    if place < every.queued:
        number = every.queue[place]
        motion = run.motion
        own.number, own.recorded = number, every.first
        copy(every.y[number * motion.n_extended :], run.y, motion.n_extended)
        given = every.blocks[number * every.stride :]
        copy(given, own.block, every.block)
        size_shapes(run.pairs, given[every.block :])
        run.time[0], run.made = run.begin, 0
        begin_pairs(run)
        clear_contacts(run)


@kernel
def record_samples(own: CaseStepping, rows: int) -> None:
    """Record the state at the times of the grid up to the last of so many *rows* of steps, on the parabolas of the steps."""
    run, every, row, more = own.run, own.cases, 0, rows > 0
    n = run.motion.n_extended
    while more and own.recorded < every.times:
        t = every.grid[own.recorded]
        while row < rows and run.times[row] < t:
            row += 1
        more = row < rows
        if more:
            before, begin = own.before, own.begin
            if row > 0:
                before, begin = run.states[(row - 1) * n :], run.times[row - 1]
            interpolate_step(run, row, before, begin, t, every.samples[(own.number * every.times + own.recorded) * n :])
            own.recorded += 1


@kernel
def put_back(own: CaseStepping, status: int) -> None:
    """Store the progress of the case."""
    run, every, number, m = own.run, own.cases, own.number, own.depths
    if run.pairs.shapes > 0:
        run.depths[run.pairs.fixed] = run.pairs.depth
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
