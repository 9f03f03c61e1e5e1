"""What the loop over many cases and its caller agree on: its arguments, what lies where in them, and how a case ends.

The loop is a function of addresses: of :data:`FUNCTIONS`, then of :data:`BLOCKS`. It keeps one case in every lane of a vector.
Numbers of lanes lie side by side: number i of a state has its place i * lanes + lane.
"""

from __future__ import annotations

#: Arguments: addresses of the right-hand side for one state per lane, ``void f(const double *in, double *out)`` with t, y
#: and h one after the other in *in*, and of the event functions for one state, as in :mod:`kineta.numerics.layout`;
FUNCTIONS = ("rhs", "events")
#: blocks that all cases share and nobody writes to: integers, reals, tolerances (absolute, then relative, in every lane),
#: offsets of quaternions, times to record, directions of the events;
SHARED = ("sizes", "reals", "tolerances", "quaternions", "grid", "directions")
#: the cases, one row each: the number of the next one to take and the order of taking them, counts, times, sizes of the first
#: step and then of the last, states, rates, blocks h, recorded states, event values, and of the events how many are left and
#: what is noise, as in :class:`~kineta.numerics.problem.Events`;
CASES = ("next", "queue", "counts", "t", "size", "y", "rate", "h", "samples", "values", "left", "noise")
#: what belongs to the caller's thread: steps allowed, what is in the lanes, and room to work in.
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
#: Columns of ``counts``: how the case stands, steps, steps rejected, steps with an interpolant, samples recorded, and the event
#: that ended the case.
COUNTS = 6
STATUS, ACCEPTED, REJECTED, DENSE, RECORDED, ENDED = range(COUNTS)
#: Positions in ``allowed``: steps of the lanes to make before the next pause, zeros logged, and room for them.
STEPS, LOGGED, ROOM = range(3)
#: Rows of ``lane``: number of the case, -1 for none; whether its last step was rejected; whether this one was accepted, has
#: times to record, may have zeros of events; the status with which the case ends now; and its counts so far, in the order of
#: those columns: threads that counted in the columns would disturb each other.
LANE = 10
CASE, JUST_REJECTED, GOOD, DUE, CROSSED, ENDS = range(6)
COUNTED = {ACCEPTED: 6, REJECTED: 7, DENSE: 8, RECORDED: 9}
#: Rows of ``lane_reals``: time, size of the next step, size of this step, the next time to record, the time that this step
#: reaches.
LANE_REALS = 5
T, H, SIZE, NEXT, REACHED = range(LANE_REALS)
#: Rows of ``work``: the new state while its place serves extra stages, and the same with unit quaternions.
WORK = 2
KEEP, UNIT = range(WORK)

#: How a case stands: not taken yet, in a lane, at its end, at a terminal event, without a way on, out of steps, or given up
#: where an event has a value at one end of a step only.
WAITING, RUNNING, DONE, EVENT, STEP_TOO_SMALL, NOT_FINITE, OUT_OF_STEPS, GIVEN_UP = range(8)
#: What the loop returns.
ALL_DONE, PAUSED = range(2)
