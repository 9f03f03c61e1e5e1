"""What a native integrator and its caller agree on: the arguments, what lies where in them, and what is returned.

The integrator is a function of addresses: of :data:`FUNCTIONS`, then of :data:`BLOCKS`. The functions are
``void f(const double *t, const double *y, const double *h, double *out)``.
"""

from __future__ import annotations

#: State vectors are padded to a multiple of this many doubles, so that they can be worked on vector by vector.
LANES = 8

#: Positions in the array of real numbers that a run is made of.
T, H, T_END, MAX_STEP = range(4)
#: Positions in the array of ``INTS`` integers: sizes, what is asked for, counts, and what the last step was like.
#: N is the number of states over whose errors the mean is taken.
INTS = 11
N, N_PADDED, N_QUATERNIONS, N_EVENTS, ALLOWED, DENSE, EVALUATIONS, ACCEPTED, REJECTED, JUST_REJECTED, CROSSED = range(
    INTS
)

#: What the integrator returns. After a step in which an event function changed its sign, CROSSED is 1: such a step ends a
#: call, with EVENT, or with DONE where it is the last of the run.
DONE, PAUSED, EVENT, STEP_TOO_SMALL, NOT_FINITE = range(5)

#: Arguments: addresses of the right-hand side and of the event functions,
FUNCTIONS = ("rhs", "events")
#: and of their block h, reals, integers, state y, stages, work, tolerances (absolute, then relative), offsets of quaternions,
#: recorded times, states and interpolants.
BLOCKS = ("h", "reals", "ints", "y", "k", "work", "tolerances", "quaternions", "times", "states", "dense")
