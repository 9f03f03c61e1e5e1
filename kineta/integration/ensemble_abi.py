"""Interface of the ensemble loop: its arguments, their memory layout, and the termination status of a case.

The loop is a function of addresses: of :data:`FUNCTIONS`, then of :data:`BLOCKS`. It holds one case in every SIMD lane.
Numbers of lanes are interleaved: component i of a state is at i * lanes + lane.
"""

from __future__ import annotations

#: Functions: addresses of the right-hand side for one state per lane, ``void f(const double *in, double *out)`` with t, y and h
#: one after the other in *in*, and of the event functions for one state, as in :mod:`kineta.integration.loop_abi`.
FUNCTIONS = ("rhs", "events")
#: Read-only blocks shared by all cases: integers, reals, tolerances (absolute, then relative, in every lane), offsets of
#: quaternions, times to record, directions of the events.
SHARED = ("sizes", "reals", "tolerances", "quaternions", "grid", "directions")
#: Blocks with one row per case: position in the queue and the queue, counters, times, step sizes, states, rates, blocks h,
#: recorded states, event values, remaining zeros of events and their evaluation errors, as in
#: :class:`~kineta.integration.problem.Events`.
CASES = ("next", "queue", "counts", "t", "size", "y", "rate", "h", "samples", "values", "left", "noise")
#: Blocks of one thread: allowed steps, lanes, and workspace.
OWN = (
    *("allowed", "lane", "lane_reals", "x", "lane_y", "k", "work", "dense"),
    *("within", "known", "lane_noise", "between", "tried", "zeros", "zeros_of", "log", "log_reals"),
)
BLOCKS = (*SHARED, *CASES, *OWN)

#: Positions in ``sizes``.
SIZES = 9
N, STEERING, N_H, H_STRIDE, N_QUEUE, N_GRID, N_EVENTS, N_QUATERNIONS, MAX_STEPS = range(SIZES)
#: Positions in ``reals``; the direction is 1, or -1 backwards.
T_END, MAX_STEP, DIRECTION = range(3)
#: Columns of ``counts``: status of the case, accepted steps, rejected steps, steps with an interpolant, recorded samples, and
#: the terminal event.
COUNTS = 6
STATUS, ACCEPTED, REJECTED, DENSE, RECORDED, ENDED = range(COUNTS)
#: Positions in ``allowed``: steps of the lanes before the next pause, logged zeros, and room for zeros.
STEPS, LOGGED, ROOM = range(3)
#: Rows of ``lane``: number of the case, -1 for none; whether its last step was rejected; whether this step was accepted, has
#: times to record, may have event zeros; the status at the end of the case; and its counters. Counters are kept here, since
#: counting in the shared columns would cause false sharing between threads.
LANE = 10
CASE, JUST_REJECTED, GOOD, DUE, CROSSED, ENDS = range(6)
COUNTED = {ACCEPTED: 6, REJECTED: 7, DENSE: 8, RECORDED: 9}
#: Rows of ``lane_reals``: time, size of the next step, size of this step, the next time to record, the end of this step.
LANE_REALS = 5
T, H, SIZE, NEXT, REACHED = range(LANE_REALS)
#: Rows of ``work``: the new state while extra stages use its place, and the new state with normalised quaternions.
WORK = 2
KEEP, UNIT = range(WORK)

#: Status of a case: waiting, running, at its end, at a terminal event, with a vanishing step size, with an undefined derivative,
#: out of steps, or given up at an event that is undefined at one end of a step.
WAITING, RUNNING, DONE, EVENT, STEP_TOO_SMALL, NOT_FINITE, OUT_OF_STEPS, GIVEN_UP = range(8)
#: Return values of the loop.
ALL_DONE, PAUSED = range(2)
