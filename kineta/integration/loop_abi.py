"""Records of the native integration loop, for one motion or for a case of an ensemble in each lane of a vector: what it shares
with Python, and its return values. Fields that are *shared* have one value for all lanes.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta.integration.contact_records import ContactMotion, Function, Transition, TransitionWork
from kineta.integration.handover import Pace
from kineta.memory import Integers, Reals, Record, Shared
from kineta.numerics.roots import PARTS

#: ``void setup(const double *given, double *h)``.
Setup = Callable[[Reals, Reals], None]

#: Return values of the loop. EVENT: after a step with undefined events or the last wanted zero, unless it is the last of the run.
#: They are the status of a case, too, which may also be out of steps, or given up where an event is undefined.
DONE, PAUSED, EVENT, STEP_TOO_SMALL, NOT_FINITE, OUT_OF_STEPS, GIVEN_UP = range(7)

#: Largest number of transitions without an impact within the part BRIEF of a run; more are chattering.
CHATTER, BRIEF = 200, 1e-6
#: Largest number of transitions at one time.
AT_ONCE = 60
#: Changes that a step may need room for: so many for each switch, and for so many more.
SPARE = 4
#: Number of perturbation directions at the start of a mode.
DIRECTIONS = 4
#: Rows of event values in a step.
ROWS = len(PARTS)
#: Numbers of the condition of a switch: its value, its evaluation error, its rise over a look-ahead.
GUARDS = 3


class EventData(Record, partial=True):
    """Events of a run, as in :class:`~kineta.integration.problem.Events`, and their zeros since the last pause.

    t, h, end : start, size and end of the step; start, width : of a piece of it, as fractions
    values : (ROWS, n) at all :data:`~kineta.numerics.roots.PARTS` of the piece, the first row being known before it
    off : (n,) how far the caller's events are off the straight lines between these, at most
    tried : (n,) at an interpolated state; errors : (n,) evaluation errors at the start; within : (states,) at an inner part
    signs : (DIRECTIONS, states) perturbation directions
    room : number of stored zeros at which a step must not start; which, times, states : those found
    kept_left, kept_noise : (n,) left and noise at the start of the step; searches : pieces looked at
        in the step, and searches for zeros and extrema; crowded : it has too many of either
    ended : the last wanted zero is found; undefined : an event is undefined in a part of the step; pole : the last sign
        change was one
    points, x, f : sampling points of an event in the piece; a, fa, b, fb : the bracket of a search
    """

    function: Function
    n: Shared[int]
    directions: Shared[Integers]
    left: Integers
    noise: Reals
    beyond: Shared[Reals]
    t: float
    h: float
    end: float
    start: float
    width: float
    values: Reals
    off: Reals
    tried: Reals
    errors: Reals
    within: Reals
    signs: Shared[Reals]
    room: Shared[int]
    found: int
    which: Integers
    times: Reals
    states: Reals
    kept_left: Integers
    kept_noise: Reals
    searches: int
    crowded: bool
    ended: bool
    undefined: bool
    pole: bool
    points: int
    x: Reals
    f: Reals
    a: float
    fa: float
    b: float
    fb: float


#: Numbers of a clock, as in :class:`KinkData`.
CLOCK = 5
#: Places in a step, beside its start, at which guards of kinks are looked at.
LOOKS = 8
#: How often in a row a guard is passed soon after the last time before it is no longer looked at, and for how many steps that it
#: does not change its sign in.
PASSINGS, REST = 8, 8


class KinkData(Record, partial=True):
    """Kinks and steps of the rate of a run, at which steps end.

    guards : as a rate, n functions that change their sign at kinks; then, for each smooth table, its quantity and
        the knots below and above it; steps end at the knots of the first n_smooth of these
    clocks : as a rate, of a time, of ``width`` (1,) in place of a state, and of the block h: for each of n_clocks kinds of kinks
        that depend on the time alone, and of n_paces smooth tables of the time, a label that changes at kinks, the distances of
        a quantity from the next values above and below at which it does, its rate, and a bound of its second derivative over the
        time from there to ``width`` later; moment : (1,) the time
    here, there : (CLOCK, n_clocks + n_paces) at the start of a search, and at the place tried
    stop, right : the last time before a kink, and the first behind it; found : there is one in the step; longest : the step over
        which the tables of the time are nearly cubics, and before which clocks tell of nothing
    stored : as a rate, n_stored quantities that jump with the time: the energy, then generalised momenta and what places a
        mass, which may jump with the state, too; before, behind : (n_stored,) on both sides of a kink; work : offset of the work
        done in the state; left, over : where there are some, the last number before the kink, and the next number, behind it
    values : (LOOKS + 1, n) guards in a piece of a step, with room for the tables behind the last
    near : (n,) bounds for their excursions between two places; plain : (n,)
        whether they have one extremum at most there; tried : (n,); within : (states,) at an inner place
    which, cross : the guard that changes its sign first in a step, and the fraction of the step at which it does, 2 for none
    at : the time for which the following hold; ahead : time up to a kink in front of which a step is to end, 0 for none;
    due : time up to a kink that is to be passed next, 0 for none; size : the step that met it
    knot : the time from which a step ends at a knot of a smooth table; whole : the step that it would be without that
    last : (n,) time at which each guard was passed last; quick : (n,) how often in a row soon after that; muted : (n,) steps
        for which it still is not looked at
    passed : kinks passed
    """

    guards: Function
    n: Shared[int]
    n_smooth: Shared[int]
    clocks: Function
    n_clocks: Shared[int]
    n_paces: Shared[int]
    stored: Function
    n_stored: Shared[int]
    work: Shared[int]
    moment: Reals
    width: Reals
    before: Reals
    behind: Reals
    left: float
    over: float
    here: Reals
    there: Reals
    stop: float
    right: float
    found: bool
    longest: float
    values: Reals
    near: Reals
    plain: Integers
    tried: Reals
    within: Reals
    which: int
    cross: float
    at: float
    ahead: float
    due: float
    size: float
    knot: float
    whole: float
    last: Reals
    quick: Integers
    muted: Integers
    passed: int


class SlideData(Record, partial=True):
    """Sliding modes of a run.

    held : as a rate whose operations go by the sides in the state, with rates of the switching functions in their places
    n : number of switching functions on which the motion may slide; place : of the first of their sides in the state
    guards : (n,) the number of each among the guards of kinks; sides : (n,) as in :mod:`~kineta.expr.op`
    shares : (n,) parts of the way from the lower side to the higher one
    off : (n,) parts of the way that count as beyond its ends, while the motion slides on
    drifts : (n,) rates of the switching functions as the motion goes on; values : (n,) of these functions, as a mode begins
    fresh : (n,) 1 for those whose surface the motion has left in this step or is about to leave: signs are not looked at
    active : number of those along which the motion slides, or which are fresh
    base, ways : (states,) rates on all the lower sides, and (n, states) what they change by on the higher side of each
    matrix : (n, n) of the shares; singular : it is, as found last; rest : (n,) right-hand side, then the solution
    trial, rates : (states,) a state and its rates; before : (states,) that before a change of contacts
    looks : (n, coefficients) shares within a step
    loose : sides are to be found before the next step; tries : times in a row that a step came back to the surface; whole : the
        step before it was cut where a surface is left; pace : longest step over which an interpolant tells the shares; cuts : how
        often a step was made shorter for that
    """

    held: Function
    n: Shared[int]
    place: Shared[int]
    guards: Shared[Integers]
    sides: Integers
    shares: Reals
    off: Reals
    drifts: Reals
    values: Reals
    fresh: Integers
    active: int
    base: Reals
    ways: Reals
    matrix: Reals
    singular: bool
    rest: Reals
    trial: Reals
    rates: Reals
    before: Reals
    looks: Reals
    loose: bool
    tries: int
    whole: float
    pace: float
    cuts: int


class ConstraintData(Record, partial=True):
    """Constraints of a run, as in :class:`~kineta.integration.problem.Manifold`.

    watched, pivots : number and first of the states whose rates are pivots; largest : (watched,) their largest values so far
    speeds : (n,) 1 for every state that is a speed; before, after : (n,) states of a projection
    low : smallest relative pivot at the start of the step, met : in it; guarded : stages are projected before evaluation
    far : largest pivot in the step of the constraint whose pivot was smallest; part : what is well placed of it
    hops : how often it was placed anew; noise_q, noise_v : rounding errors of coordinates and speeds
    """

    position: Function
    velocity: Function
    velocity_steps: Shared[int]
    watched: Shared[int]
    pivots: Shared[int]
    largest: Reals
    speeds: Shared[Reals]
    before: Reals
    after: Reals
    low: float
    met: float
    far: float
    part: float
    guarded: bool
    hops: int
    noise_q: float
    noise_v: float


class ContactData(Record, partial=True):
    """Transitions of contacts.

    motion, transitions : memory of the contact problem; transit : its transitions; observed : as a rate, the first two numbers
        are the energies
    watched : number of the caller's events; first : the first guard of a contact among the events; guard_contacts, guard_rows :
        (guards,) contact of each guard, and whether it watches its NORMAL, TANGENTS or BOUND
    work : offset of the work done in the state; energies : (observed,)
    changed : a transition was carried out; apart : at the end of a run nothing is closed or near
    made : transitions since the last pause, at most ``rows``, with rows of the states afterwards, or in an ensemble cases and
        times, and flags (n_flags,) of the modes; what : the switch that acted, -1 for contacts; pace : of steps and changes
    """

    motion: ContactMotion
    transitions: TransitionWork
    transit: Transition
    observed: Function
    watched: int
    first: int
    work: int
    n_flags: int
    guard_contacts: Integers
    guard_rows: Integers
    energies: Reals
    changed: bool
    apart: bool
    made: int
    pace: Pace
    rows: int
    changed_rows: Integers
    what: Integers
    times: Reals
    flags: Reals


class SwitchData(Record, partial=True):
    """The switches of a run, whose conditions are events behind those of the caller.

    count : number of switches; span : duration of the run; until : its largest time
    values : as a rate, or with contacts of a state with all that is given behind it: what all switches set; then differences of
        parameters from the values that they must have; then ``checked`` numbers that have to be zero or more, above zero
        where they are ``positive``
    first, held : (count + 1,) places of what each sets, and of its differences, among these; found : (values,)
    targets : places in the state of what is set, -1 - k for parameter k
    setup : the block h of ``given``, parameters and constant forces, (n_given,)
    hears : (count, contacts) 1 where a switch hears the impacts of a contact; stops : (count,) 1 where it ends the run
    fired, next : (count,) 1 for the switches that act, and that follow them; since : (count,) times at which each acted last
    loose, exhausted, fallen : (contacts,) 1 for contacts whose normal force, friction or limit of friction ends with them
    old, new : (GUARDS, count) conditions before and after, as in :mod:`kineta.kernels.switching`; rate, beside : (n,)
    last, at_once : time of the last transition, and the number of others at it; stopped : the switch that ended the run, or -1
    culprit : the switch that set what cannot be, or -1
    residuals, misses : the place of those of constraints among what is observed, and their number
    """

    count: int
    span: float
    until: float
    values: Function
    checked: int
    positive: Integers
    first: Integers
    held: Integers
    found: Reals
    targets: Integers
    setup: Setup
    n_given: int
    given: Reals
    hears: Integers
    stops: Integers
    fired: Integers
    next: Integers
    since: Reals
    loose: Integers
    exhausted: Integers
    fallen: Integers
    old: Reals
    new: Reals
    rate: Reals
    beside: Reals
    last: float
    at_once: int
    stopped: int
    culprit: int
    residuals: int
    misses: int


class EnsembleData(Record, shared=True, partial=True):
    """The cases of an ensemble, which all lanes and threads share; cases are rows of all but the first seven.

    next : (1,) place in the queue of the next case; queue : (queued,) numbers of cases
    grid : (times,) times to record, from number ``first`` on; direction : 1, or -1 backwards; max_steps : of a case
    block, stride : size of a block h, and of a row of ``blocks``, 0 where all share one
    size : the size of the first step, 0 for one that the loop finds, and later of the last
    values, left, noise, largest : as in :class:`EventData` and :class:`ConstraintData`; samples : (cases, times, n)
    status : as the return values of the loop; ended : the event that ended the case; accepted, rejected, evaluations, recorded :
        counts
    Of motions with contacts, whose samples and zeros are on their constraints: quaternions : their number; same : (cases,)
    contact tolerance; regular : (n_regular, n) states with independent constraints; observed : (cases, times + 1, n_observed)
    quantities at the samples and at the end; given : (cases, n_given) of switches; held : (segments, n_held) sampled forces, each
    up to the time in ``ends``, with their ``places`` in ``given``
    """

    next: Integers
    queue: Integers
    queued: int
    grid: Reals
    times: int
    first: int
    direction: float
    max_steps: int
    block: int
    stride: int
    blocks: Reals
    t: Reals
    size: Reals
    y: Reals
    rates: Reals
    samples: Reals
    values: Reals
    left: Integers
    noise: Reals
    largest: Reals
    status: Integers
    ended: Integers
    accepted: Integers
    rejected: Integers
    evaluations: Integers
    recorded: Integers
    quaternions: int
    same: Reals
    n_regular: int
    regular: Reals
    n_observed: int
    observed: Reals
    given: Reals
    segments: int
    ends: Reals
    held: Reals
    n_held: int
    places: Integers


class CaseData(Record, partial=True):
    """A case of an ensemble in a run: its *number*, -1 for none; the samples *recorded*; the event that *ended* it; the *segment*
    of sampled forces; for every zero found since the last pause the number in ``cases``.
    """

    ensemble: EnsembleData
    number: int
    recorded: int
    ended: int
    segment: int
    cases: Integers


class RunData(Record, partial=True):
    """A run: its method's memory, its record since the last pause, and its events, kinks, sliding
    modes, constraints, contacts, switches; or its case.

    n : states, of which the first ``steered`` are error-controlled; block : the block h; time : (1,) of a function
    k : (stages, n); new, between : (n,) the state tried, and an interpolated one; tolerances : (2, n) absolute, then relative
    fresh : the rate at the start is to be evaluated, its pivots are to be found, and the first step where ``size`` is zero
    anew : rate and events at the start are to be evaluated; allowed, accepted : steps until the next pause, and those made
    dense : interpolants are computed, as (steps, coefficients, n) of ``interpolants``
    times, sizes, states : (steps,), (steps,), (steps, n) recorded
    """

    rate: Function
    n: Shared[int]
    steered: Shared[int]
    block: Reals
    time: Reals
    t: float
    size: float
    t_end: Shared[float]
    max_step: Shared[float]
    y: Reals
    k: Reals
    new: Reals
    between: Reals
    tolerances: Shared[Reals]
    n_quaternions: Shared[int]
    quaternions: Shared[Integers]
    fresh: bool
    anew: bool
    just_rejected: bool
    dense: bool
    allowed: Shared[int]
    accepted: int
    rejected: int
    evaluations: int
    times: Reals
    sizes: Reals
    states: Reals
    interpolants: Reals
    events: EventData
    kinks: KinkData
    slides: SlideData
    constraints: ConstraintData
    contacts: ContactData
    switches: SwitchData
    sampling: CaseData
