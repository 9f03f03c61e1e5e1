"""What a native integrator and its caller agree on: the arguments, what lies where in them, and what is returned.

The integrator is a function of addresses: of :data:`FUNCTIONS`, then of :data:`BLOCKS`. The functions are
``void f(const double *t, const double *y, const double *h, double *out)``.
"""

from __future__ import annotations

from kineta.numerics.roots import PARTS

#: State vectors are padded to a multiple of this many doubles, so that they can be worked on vector by vector.
LANES = 8

#: Positions in the array of real numbers that a run is made of. LOW is how low the lowest pivot of a constraint is where the
#: step starts, relative to the largest that it has been. Of contacts: SAME, the gap up to which they are closed, and the
#: FASTEST approach so far. Of changes of friction: UNTIL, the largest time of the run, and CHANGED, the time of the last one.
REALS = 9
T, H, T_END, MAX_STEP, LOW, SAME, FASTEST, UNTIL, CHANGED = range(REALS)
#: Positions in the array of integers. Sizes, and what is asked for: N is the number of states over whose errors the mean is
#: taken, ROOM how many zeros of events may have been found before a step. Counts since the start, and of this call.
#: What the last step was like: JUST_REJECTED; LOOK where its events must be looked at; ENDED where the last zero wanted
#: of an event lies in it. Of constraints: the number WATCHED, whose pivots are the states from PIVOTS on; the number of
#: steps VELOCITY in which speeds are brought back to them; and how often a step past a singular position was tried, HOPS.
#: Of contacts that strike alone: how many numbers there are of a BOUNCE, 0 where the loop lets none happen; where the SPEEDS and
#: the WORK done begin in the state. Of friction along lines: whether the loop lets it TURN; the event that is the FIRST of
#: touches; the SIZE of the block h; and of what setup is GIVEN, of which the N_FLAGS from FLAGGED on say what touches do. Whether
#: all touches are open, FLYING. How many changes were MADE in this call; and whether the run begins ANEW with it, so that the
#: rate and the events at its start are to be worked out.
INTS = 30
N, N_PADDED, N_QUATERNIONS, N_EVENTS, ALLOWED, ROOM, DENSE = range(7)
EVALUATIONS, REJECTED, ACCEPTED, FOUND, JUST_REJECTED, LOOK, ENDED = range(7, 14)
WATCHED, PIVOTS, VELOCITY, HOPS, BOUNCE, SPEEDS, WORK_DONE, TURN, FIRST, SIZE = range(14, 24)
GIVEN, N_FLAGS, FLAGGED, FLYING, MADE, ANEW = range(24, INTS)

#: Numbers of a bounce: 1 where it has a solution in closed form, the velocity along the normal before and after, the acceleration
#: along it between touches, the work of the impulses; then the speeds after it.
LAW, APPROACH, LEAVING, FALL, IMPULSE_WORK, BOUNCE_NUMBERS = range(6)

#: Vectors of work: the state tried, one between, and values of event functions there; such values at all
#: :data:`~kineta.numerics.roots.PARTS` of the step, from BEFORE on; states at those within it; two on the way to the constraints.
SEVERAL = (len(PARTS), len(PARTS) - 2, 2)
BEFORE, WORK = 3, 3 + sum(SEVERAL)

#: Vectors of two modes that are tried: the state before; of each its state, the values of events there, what of these may be
#: rounding, and what they are soon after; a rate, a state beside, and one after an impact.
BASE, TRIED, ASIDE, TRIALS = 0, 1, 9, 12
STATE, NOW, NOISE, SOON, TRIAL = range(5)
#: How many directions of rounding are tried where a mode begins.
DIRECTIONS = 4
#: The numbers of a touch among those that setup is given, as :data:`kineta.formalism.touch.FLAGS` names them.
CLOSED, STUCK, SLIPS, ALONG, ALONG_W, ALONG_N, BEGINS, FLAGS = range(8)

#: What the integrator returns. EVENT: after a step with LOOK or ENDED, unless it is the last of the run.
DONE, PAUSED, EVENT, STEP_TOO_SMALL, NOT_FINITE = range(5)

#: Arguments: addresses of the right-hand side, of the event functions, of what brings positions and speeds nearer to the
#: constraints, of the numbers of bounces, and of what begins with kinetic and potential energy; then that of
#: ``void setup(const double *given, double *h)``,
FUNCTIONS = ("rhs", "events", "position", "velocity", "bounce", "observed")
SETUP = "setup"
#: and of their block h, reals, integers, state y, stages, work, tolerances (absolute, then relative), offsets of quaternions,
#: recorded times, states, sizes of steps and interpolants; what events there are, as in
#: :class:`~kineta.numerics.problem.Events`; of the zeros found: which event's, times and states; the largest pivots so far; 1
#: for every state that is a speed; of bounces the block h of their function, the place of each event's touch among its
#: results, -1 for none, and room for these; of friction along lines what setup makes the block h of, for each event the
#: place in it of the numbers of its touch, -1 where that does not turn here, and what its value must exceed for others to turn,
#: room for two blocks h, for :data:`TRIALS` and for energies, and directions of rounding; of what strikes beside others for each
#: event the place of the numbers of its touch, -1 if it tells of no normal, whether what strikes may be decided here, the
#: other event of its touch, of the tangents or of the normal, -1 for none, room for what setup is given, and the speed with
#: which it leaves and its rate; and of all changes that were made the event, the row of the state after it, the approach of what
#: struck, and the flags from there on.
BLOCKS = (
    *("h", "reals", "ints", "y", "k", "work", "tolerances", "quaternions", "times", "states", "sizes", "dense"),
    *("directions", "left", "noise", "beyond", "which", "zero_times", "zero_states", "largest", "speeds"),
    *("bounce_h", "touches", "bounces"),
    *("given", "turns", "least", "tried_h", "trials", "energies", "signs"),
    *("normals", "strikes", "partners", "kept", "leaving", "falls"),
    *("changing", "changed_rows", "approaches", "flags"),
)
