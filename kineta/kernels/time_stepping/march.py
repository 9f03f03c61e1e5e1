"""Steps of time stepping one after the other, up to a pause or in front of a jump of a place; the states between their ends."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.stepping_records import SteppingData
from kineta.kernels.language import kernel
from kineta.kernels.time_stepping.displacements import normalise_all
from kineta.kernels.time_stepping.time_step import time_step
from kineta.kernels.vectors import copy, largest, largest_change
from kineta.memory import Reals

#: Halvings of a step, down to the next number, in search of a jump.
HALVINGS = 60


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
    full = row > 0 and run.struck + run.finest * run.motion.problem.contacts > run.room
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
    m, run.parts = run.motion.problem.contacts, 1
    for k in range(m):
        run.pressed[k], run.stuck[k] = 0, 0
    for k in range(3 * m):
        run.motion.solution.impulse[k] = 0.0


@kernel
def clear_contacts(run: SteppingData) -> None:
    """Let no contact be pressed, and none have an impulse, and count no steps whose impulses do not obey all laws."""
    run.bounded, run.plainly, run.unsolved, run.culprit = 0, 0, 0, 0
    run.torn = False
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
