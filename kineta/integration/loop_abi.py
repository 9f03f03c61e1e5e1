"""Interface of the native integration loop: its arguments, their memory layout, and its return values.

The loop is a function of addresses: of :data:`FUNCTIONS`, then of :data:`BLOCKS`. The functions are
``void f(const double *t, const double *y, const double *h, double *out)``.
"""

from __future__ import annotations

from kineta.numerics.roots import PARTS

#: State vectors are padded to a multiple of this many doubles, for SIMD.
LANES = 8

#: Positions in ``reals``. LOW is the smallest relative pivot of a constraint at the start of the step. Contacts: SAME is the
#: contact tolerance of gaps, FASTEST the largest approach speed so far. Transitions: UNTIL is the largest time of the run,
#: CHANGED the time of the last transition.
REALS = 9
T, H, T_END, MAX_STEP, LOW, SAME, FASTEST, UNTIL, CHANGED = range(REALS)
#: Positions in ``ints``. Sizes and options: N is the number of error-controlled states, ROOM the number of stored event zeros at
#: which a step must not start. Counters since the start, and of this call. Last step: JUST_REJECTED; LOOK for ambiguous events;
#: ENDED for the last wanted zero of an event. Constraints: the number WATCHED of pivots, which are the states from PIVOTS on;
#: the number of projection steps VELOCITY of the speeds; the number HOPS of reductions of a step past a singular configuration.
#: Closed-form impacts: the numbers of a BOUNCE, 0 if disabled; the offsets SPEEDS of the speeds and WORK of the work done.
#: Stick-slip: TURN if enabled; the FIRST event of contacts; the SIZE of the block h; the number of values GIVEN to setup, with
#: N_FLAGS mode numbers from FLAGGED on. FLYING if all contacts are open. The number MADE of transitions in this call; ANEW if
#: rate and events at the start are to be evaluated.
INTS = 30
N, N_PADDED, N_QUATERNIONS, N_EVENTS, ALLOWED, ROOM, DENSE = range(7)
EVALUATIONS, REJECTED, ACCEPTED, FOUND, JUST_REJECTED, LOOK, ENDED = range(7, 14)
WATCHED, PIVOTS, VELOCITY, HOPS, BOUNCE, SPEEDS, WORK_DONE, TURN, FIRST, SIZE = range(14, 24)
GIVEN, N_FLAGS, FLAGGED, FLYING, MADE, ANEW = range(24, INTS)

#: Numbers of a closed-form impact: 1 if it exists, the normal velocities before and after, the normal acceleration afterwards,
#: the work of the impulses; then the speeds after the impact.
LAW, APPROACH, LEAVING, FALL, IMPULSE_WORK, BOUNCE_NUMBERS = range(6)

#: Vectors of the workspace: the trial state, an interpolated state with its event values; from BEFORE on event values at all
#: :data:`~kineta.numerics.roots.PARTS` of the step; states at the inner parts; two vectors for the projection.
SEVERAL = (len(PARTS), len(PARTS) - 2, 2)
BEFORE, WORK = 3, 3 + sum(SEVERAL)

#: Vectors of two candidate modes: the state before; for each mode its state, event values, their evaluation errors, and later
#: event values; a rate, a perturbed state, and a state after an impact.
BASE, TRIED, ASIDE, TRIALS = 0, 1, 9, 12
STATE, NOW, NOISE, SOON, TRIAL = range(5)
#: Number of perturbation directions at the start of a mode.
DIRECTIONS = 4
#: The mode numbers of a contact among the values given to setup, named in
#: :data:`kineta.mechanics.contact.unilateral_rows.FLAGS`.
CLOSED, STUCK, SLIPS, ALONG, ALONG_W, ALONG_N, BEGINS, FLAGS = range(8)

#: Return values of the loop. EVENT: after a step with LOOK or ENDED, unless it is the last of the run.
DONE, PAUSED, EVENT, STEP_TOO_SMALL, NOT_FINITE = range(5)

#: Functions: addresses of the right-hand side, of the event functions, of the projections of positions and of speeds, of the
#: closed-form impacts, and of a function that begins with kinetic and potential energy; then of ``void setup(const double
#: *given, double *h)``.
FUNCTIONS = ("rhs", "events", "position", "velocity", "bounce", "observed")
SETUP = "setup"
#: Blocks: h, reals, integers, state y, stages, workspace, tolerances (absolute, then relative), offsets of quaternions; recorded
#: times, states, step sizes and interpolants; events as in :class:`~kineta.integration.problem.Events`; event index, times and
#: states of zeros; the largest pivots so far; 1 for every state that is a speed. Closed-form impacts: their block h, the row of
#: each event's contact, -1 for none, and room for the results. Stick-slip: the values given to setup, for each event the offset
#: of the mode numbers of its contact, -1 without stick-slip, the thresholds of events during transitions, room for two blocks h,
#: for :data:`TRIALS` and for energies, perturbation directions. Impacts beside closed contacts: for each event the offset of the
#: mode numbers of its contact, -1 without a normal, whether impacts are decided here, the partner event of the same contact
#: (tangent or normal), -1 for none, room for the values given to setup, separation speeds and their rates. Transitions: event,
#: row of the state afterwards, approach speed, and mode numbers afterwards.
BLOCKS = (
    *("h", "reals", "ints", "y", "k", "work", "tolerances", "quaternions", "times", "states", "sizes", "dense"),
    *("directions", "left", "noise", "beyond", "which", "zero_times", "zero_states", "largest", "speeds"),
    *("bounce_h", "touches", "bounces"),
    *("given", "turns", "least", "tried_h", "trials", "energies", "signs"),
    *("normals", "strikes", "partners", "kept", "leaving", "falls"),
    *("changing", "changed_rows", "approaches", "flags"),
)
