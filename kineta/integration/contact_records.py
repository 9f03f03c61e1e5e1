"""Records of motions with contacts: sparsity of their problem, terms of the equations of motion in one state, the mode, and the
memory of kernels that find forces and transitions.

Multipliers of constraints count as speeds without mass: the inertia of a block of speeds is::

    [  M  -J' ]
    [ -J  -R  ]

with a small R that iterative refinement makes disappear.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from kineta import tolerances
from kineta.memory import Integers, Reals, Record

#: ``void f(const double *t, const double *y, const double *h, double *out)``.
Function = Callable[[Reals, Reals, Reals, Reals], None]
#: The numbers of the mode of a contact, named in :data:`kineta.mechanics.contact.unilateral_rows.FLAGS`.
CLOSED, STUCK, SLIPS, ALONG, ALONG_W, ALONG_N, BEGINS, SLACK, FLAGS = range(9)
#: What the guards of a contact watch.
NORMAL, TANGENTS, BOUND = range(3)


class ContactProblem(Record):
    """Sizes and sparsity of a system; constant in a run.

    speeds : number of speeds and, behind them, ``multipliers``
    block_start, block_speeds : (blocks + 1,), (speeds,) indices of the speeds of each block of the inertia
    inertia_start : (blocks + 1,) places of the n (n + 2) numbers of a block of n speeds: its matrix by rows, 1 for every
        multiplier, and room for R
    fill_start, fill : (speeds + 1,), (entries,) for each speed of each block in their order, the places in the block of those
        behind it whose entries in its row or column of the factors may not be zero
    row_start, row_speeds : (contacts + 1,), (entries,) indices of the speeds in the rows of each contact, all of whole blocks
    coupled_start, coupled_blocks : (contacts + 1,), (couplings,) blocks of these speeds
    has_normal : (contacts,) 1 for contacts, 0 for friction of joints, which is always closed and whose size is a force
    poisson : (contacts,) 1 for Poisson's law of restitution, 0 for Newton's
    tangents : (contacts,) numbers of tangents
    """

    speeds: int
    multipliers: int
    contacts: int
    blocks: int
    block_start: Integers
    block_speeds: Integers
    inertia_start: Integers
    fill_start: Integers
    fill: Integers
    row_start: Integers
    row_speeds: Integers
    coupled_start: Integers
    coupled_blocks: Integers
    has_normal: Integers
    poisson: Integers
    tangents: Integers


class ContactTerms(Record):
    """Terms of the equations of motion in one state. Rows of a contact are its normal and two tangents, zero where missing.

    The inertia is factored in place, so that one of two kernels of ``block_inertia`` follows each evaluation, once:
    ``factor_blocks``, with which ``mode_accelerations`` begins, or ``copy_blocks`` where impacts follow, since their Newton's
    method needs the inertia itself. Then come ``accelerations``, and ``respond`` for each contact that takes part.

    inertia : the blocks; force : (speeds,) generalised forces, for multipliers the acceleration bias of their constraints
    jacobian : (3 entries,) rows n, u, w of each contact, over its ``row_speeds``
    velocity, bias : (3 contacts,) relative velocities along the rows, and their rates without accelerations
    law : (4 contacts,) kinetic and static coefficient of friction, or friction of a joint, where less than zero counts as zero;
        restitution; the speed of slip over which smooth friction grows, 0 for Coulomb's
    gap : (contacts,) gaps, far where a point is not over the face of a box that it may touch
    level : (contacts,) what is kept at zero of what is closed: the gap that goes on beyond edges
    """

    inertia: Reals
    force: Reals
    jacobian: Reals
    velocity: Reals
    bias: Reals
    law: Reals
    gap: Reals
    level: Reals


class ContactSolution(Record):
    """Working memory of a contact problem.

    response : (3 entries,) changes of the ``row_speeds`` by unit forces along each row
    delassus : (9 contacts,) changes of the velocities along the rows of a contact by unit forces along them
    target : (3 contacts,) velocities along the rows that are added to those of the speeds
    impulse : (3 contacts,) impulses along the rows; least : (contacts,) the least of those along the normals
    friction : (contacts,) coefficients of friction of contacts at rest, or the friction of joints
    before : (speeds,) speeds before an impact; compression : (3 contacts,) impulses while contacts close
    active : (contacts,) indices of the contacts that act; label : (blocks,) islands
    local : (4,) impulse of one contact; rates : (3,) along its rows
    """

    response: Reals
    delassus: Reals
    target: Reals
    impulse: Reals
    least: Reals
    friction: Reals
    before: Reals
    compression: Reals
    active: Integers
    label: Integers
    local: Reals
    rates: Reals


class ContactMode(Record):
    """The discrete state of all contacts.

    mode : (contacts,) open, sticking or slipping; candidate : (contacts,) the mode by the velocities alone
    begins : (contacts,) 1 for slip in space that begins
    direction : (2 contacts,) directions of slip as it began, along u and w
    reference : (3 contacts,) forces of the last transition
    """

    mode: Integers
    candidate: Integers
    begins: Integers
    direction: Reals
    reference: Reals


class ModeWork(Record):
    """Working memory of the forces of a mode.

    force : (3 contacts,) forces along the rows; toward : (2 contacts,) directions of slip
    speeds : (2 speeds,); rows : (6 contacts,) contact and row of each equation; matrix : (18 contacts^2,), factors behind it
    right, found, centre, proximity, missed : (3 contacts,), the fourth the diagonal of R; order : (6 contacts,)
    place : (speeds,) numbers of the speeds that rows have
    ease : (contacts,) R of the tangents without its factor, where forces are undetermined; else 0
    weight : (contacts,) its multiple where the load of friction is levelled; else 1
    """

    force: Reals
    toward: Reals
    speeds: Reals
    rows: Integers
    matrix: Reals
    right: Reals
    found: Reals
    centre: Reals
    proximity: Reals
    missed: Reals
    order: Integers
    place: Integers
    ease: Reals
    weight: Reals


class IslandWork(Record):
    """Working memory of an island of n speeds with m contacts.

    inertia : blocks of the problem, before they are factored, with the R of the factors
    place : (speeds,) indices of the speeds in the island; own, position : (blocks,) blocks of the island, and the number of each
        among them
    step : (speeds,) the solution of the linear equations; change : (speeds,) a step of the speeds
    force : (3 contacts,) impulses so far; toward : (3 contacts,) residuals, then a step of them; tried : (3 contacts,) the step
        along which residuals are looked at, of this ``norm``; cones : (9 contacts,) derivatives of the laws
    delassus : (9 m m,) where it is less than n n; hessian : (n (n + 2),) the matrix of the linear equations, or its
        ``entries`` by blocks
    sparse : number of blocks of an island whose factors have a pattern, 0 for others; sequence : (blocks,) its blocks in the
        order of elimination, in which ``position`` is the number there; later_start, later : (blocks + 1,), (most_later,) places
        of those that each is joined to then; links : (sparse, sparse) where the entries of pairs begin, at most ``most_links``;
        degree, turn : (blocks,) working memory; most_entries : room in ``hessian``
    compliance : of contacts, relative to their Delassus operators
    """

    n: int
    blocks: int
    compliance: float
    norm: float
    inertia: Reals
    place: Integers
    own: Integers
    step: Reals
    change: Reals
    force: Reals
    toward: Reals
    tried: Reals
    cones: Reals
    delassus: Reals
    hessian: Reals
    sparse: int
    entries: int
    most_entries: int
    most_later: int
    most_links: int
    sequence: Integers
    position: Integers
    later_start: Integers
    later: Integers
    links: Integers
    degree: Integers
    turn: Integers


class ContactMotion(Record):
    """A motion with contacts.

    n, coordinates, speeds : numbers of states, of coordinates at their head, and of speeds behind these
    block : the block h; flags : (contacts, FLAGS) the mode
    terms_of, gaps_of, free, residuals, retraction : terms of the contact problem, into ``memory``; gaps alone; accelerations,
        multipliers and pivots without contact forces; residuals of constraints, of positions and then of speeds; coordinates
        after a change of the speeds in place of accelerations
    rate, events, observed : of a state with all that is given behind it, as in
        :func:`kineta.mechanics.contact.mode_dynamics.given`, in ``extended`` (n_extended,)
    force_rows : (n_forces,) rows of the forces given, among three of each contact
    found : (speeds and multipliers,); residual : (2 multipliers,)
    moved : whether ``extended`` has all that follows from its state, at the time ``at``, with the block ``known`` (n_block,);
        idle : offset of a state from which nothing follows, the work done; n for none
    """

    problem: ContactProblem
    terms: ContactTerms
    solution: ContactSolution
    contacts: ContactMode
    work: ModeWork
    island: IslandWork
    n: int
    coordinates: int
    speeds: int
    n_forces: int
    n_extended: int
    terms_of: Function
    gaps_of: Function
    free: Function
    residuals: Function
    retraction: Function
    rate: Function
    events: Function
    observed: Function
    block: Reals
    flags: Reals
    memory: Reals
    extended: Reals
    found: Reals
    residual: Reals
    force_rows: Integers
    moved: bool
    at: float
    n_block: int
    known: Reals
    idle: int


class ComponentTable(Record):
    """A compiled function of components that are alike, evaluated for all of them in states of the whole.

    count : of the components; inputs, outputs : numbers of the function
    source, target : (count, inputs), (count, outputs) where these stand in the state and in the results of the whole
    blocks : the blocks h of all components; at : (count,) where those of these begin; state, found : working memory
    following, rest : the function that goes on with the next table, and that table, where there are ``more``
    """

    function: Function
    count: int
    inputs: int
    outputs: int
    source: Integers
    target: Integers
    at: Integers
    blocks: Reals
    state: Reals
    found: Reals
    more: bool
    following: Function
    rest: Reals


class ComponentTables(Record):
    """The tables of all functions that time stepping calls, in place of a block h."""

    terms: ComponentTable
    gaps: ComponentTable
    residuals: ComponentTable
    retraction: ComponentTable
    rate: ComponentTable
    slopes: ComponentTable
    coordinate_rate: ComponentTable
    places: ComponentTable


class NearPairs(Record):
    """Shapes that may touch each other, and the features of those that are near in a step, whose contacts follow the others.

    shapes : their number; room : the most pairs, and features; fixed : number of contacts that are no pairs; count : of features
        near
    places_of : of a time, a state and a block, the numbers of all shapes, into ``places``; those of one begin at ``place_start``:
        its radius, its centre, the velocity of the centre and the angular velocity, their rates without accelerations, its axes,
        and the derivatives of these six by the speeds of its blocks
    kind, half : (shapes,) of :mod:`kineta.kernels.time_stepping.pair_features`, (3 shapes,) half sizes of the core along its
        axes; bulk, swing : (shapes,) the smallest half size, and the largest distance of the core from the centre
    block_start, blocks : (shapes + 1,), (couplings,) blocks of the inertia that move a shape; body : (shapes,) number of its body
    group : (shapes,) of shapes that may touch each other; group_law : (4 groups,) as ``law`` of :class:`ContactTerms`;
        group_poisson : (groups,); aside : (3 groups,) direction that tangents lean towards
    extent : (3 shapes,) half sizes along the axes of the ground; lower, upper, reach : (shapes,) bounds along the ground's axis
        ``along``, and the most that a shape moves in a step; order : (shapes,) shapes in the order of their lower bounds
    key : (room,) of each pair near, rising, the number of one shape times ``shapes``, and that of the other; close : gap up to
        which features of the present pair are near
    features : (room + 1, FEATURE_NUMBERS); feature_kind, one, other, pair, feature : (room,) what it is, its shapes, the key of
        its pair, and its name in the pair
    last_pair, last_feature, last_pressed, last_stuck, last_impulse : of the ``last`` features before; last_impulse (3 room,)
    axes, rates, work : working memory
    owner : (speeds,) number of the work to which each speed contributes; depth : largest penetration
    full : whether more is near than there is room
    """

    shapes: int
    room: int
    fixed: int
    count: int
    places_of: Function
    places: Reals
    place_start: Integers
    kind: Integers
    half: Reals
    bulk: Reals
    swing: Reals
    block_start: Integers
    blocks: Integers
    body: Integers
    group: Integers
    group_law: Reals
    group_poisson: Integers
    aside: Reals
    along: int
    extent: Reals
    lower: Reals
    upper: Reals
    reach: Reals
    order: Integers
    key: Integers
    close: float
    features: Reals
    feature_kind: Integers
    one: Integers
    other: Integers
    pair: Integers
    feature: Integers
    last: int
    last_pair: Integers
    last_feature: Integers
    last_pressed: Integers
    last_stuck: Integers
    last_impulse: Reals
    axes: Reals
    rates: Reals
    work: Reals
    owner: Integers
    depth: float
    full: bool


class SteppingData(Record):
    """Time stepping of a motion, whose states have all that is given behind them.

    slopes : derivatives of the forces by the speeds, then by displacements along the speeds, each in the layout of the inertia,
        into ``slope``; coordinate_rate : rates of the coordinates
    n_quaternions, quaternions : offsets of the unit quaternions; work, works : offset and number of works done
    pairs : of shapes that may touch each other, if there are any; largest : speeds of the largest island for Newton's method
    begin, end, size : start, end and size of the steps [s]; steps : their number, of which ``made`` are made; allowed : number at
        which to pause
    time : (1,); y, middle, rate : (n_extended,) state after the last step, amidst a step, and a rate
    free, tried : (speeds and multipliers,) speeds without contact impulses, and with them
    plain : (contacts,) normal velocities added where there is no restitution; rebound, back : (contacts,) those of restitution,
        and of what takes a penetration back; pressed, stuck : (contacts,) 1 for what was pressed, and stuck, in the last
        step, 2 for what was pressed and closed on
    count, near : number and (contacts,) indices of contacts that take part; taking : (contacts,) 1 for these; gaps : (contacts,)
    times, states, middles : rows (steps,), (steps, n_extended) and (steps, n) of the steps since the last pause
    depths : (contacts,) largest penetrations; bounded, plainly, unsolved : numbers of islands solved with less restitution,
        without any only, and not at all; resting, pause : steps that leave Newton's method out of large islands, still and in all
    culprit : contact whose law is none, plus 1; 0 where there is none
    impacts : (room, IMPACT_NUMBERS) impacts since the last pause, ``struck`` of them, each with the number of its step; hears :
        whether each is a pause
    events, n_events : functions whose zeros are looked for, and their number; values : (2 n_events,) after the last step, and a
        step before; crossed : whether one of them has changed its sign, which is a pause
    """

    motion: ContactMotion
    slopes: Function
    coordinate_rate: Function
    n_quaternions: int
    quaternions: Integers
    work: int
    works: int
    pairs: NearPairs
    largest: int
    begin: float
    end: float
    size: float
    steps: int
    made: int
    allowed: int
    time: Reals
    y: Reals
    middle: Reals
    rate: Reals
    slope: Reals
    free: Reals
    tried: Reals
    plain: Reals
    rebound: Reals
    back: Reals
    pressed: Integers
    stuck: Integers
    count: int
    near: Integers
    taking: Integers
    gaps: Reals
    times: Reals
    states: Reals
    middles: Reals
    depths: Reals
    bounded: int
    plainly: int
    unsolved: int
    resting: int
    pause: int
    culprit: int
    room: int
    struck: int
    impacts: Reals
    hears: bool
    events: Function
    n_events: int
    values: Reals
    crossed: bool


class SteppingCases(Record):
    """The cases of an ensemble by time stepping, which all threads share.

    next : (1,) place in the queue of the case to begin next; queue : (queued,) numbers of cases
    times, first : number of times of the ``grid`` to record, and of those at the start, whose states are recorded
    y, samples : (cases, n_extended) present states, and (cases, times, n_extended) states at the times of the grid
    block, stride : sizes of the block h, and of those of a case in ``blocks``, 0 where all have one
    t, status, recorded, made : (cases,) times, status, times recorded, and steps
    counts, depths : (cases, 3) and (cases, contacts) as in :class:`SteppingData`: bounded, plainly, unsolved; penetrations
    """

    next: Integers
    queue: Integers
    queued: int
    times: int
    first: int
    block: int
    stride: int
    grid: Reals
    y: Reals
    samples: Reals
    blocks: Reals
    t: Reals
    status: Integers
    recorded: Integers
    made: Integers
    counts: Integers
    depths: Reals


class CaseStepping(Record):
    """The case of an ensemble that a thread steps.

    number, recorded, ended : of the present case, -1 for none; of the times of the grid recorded; whether it is at its end
    chunk : largest number of steps between two pauses; begin, before : time and (n_extended,) state at the last pause
    """

    run: SteppingData
    cases: SteppingCases
    number: int
    recorded: int
    ended: bool
    chunk: int
    begin: float
    before: Reals


def law_fault(gap: float, bound: float, static: float, restitution: float) -> str:
    """What is not admissible in a contact law, in words."""
    if not isfinite(gap):
        return "a gap without a value; an expression has left its domain"
    if not bound >= 0:
        return f"the friction {bound:.3g}; expected zero or more"
    if not static >= bound * (1 - tolerances.ROUNDING_TOLERANCE):
        return f"less friction where it sticks, {static:.3g}, than where it slips, {bound:.3g}"
    return f"the restitution {restitution:.3g}; expected a number from 0 to 1"


#: Numbers of an impact: contact, impulses along n, u, w, normal velocities before and after, energy lost, what it says of its
#: contact; and the row of the state after it.
IMPACT_NUMBERS = 9
#: What an impact says of its contact: it was hit, it came to rest, an impact of a step before goes on.
HIT, TIRED, GOES_ON = 1, 2, 4


class TransitionWork(Record):
    """Memory of transitions.

    status : CHANGED, or why a transition has no mode
    same : contact tolerance of gaps; still : slip below which a contact may stick [m/s]
    until : largest time of the motion; fastest : largest approach so far
    flight : time until the first separating contact may return
    loose, exhausted, fallen : (contacts,) 1 for contacts whose normal force, or whose friction, has come to its end, or whose
        limit of friction is at zero
    varying : number of contacts whose limit of friction varies along the motion; varies : (contacts,) 1 for these; limits :
        (contacts,) these limits
    near, closed, hit, taking, tired, leaving : (contacts,) 1 for contacts near; closed before; that approach; that take part in
        an impact; that come to rest without restitution; that separate
    heard : (contacts,) 1 for contacts whose impacts a switch hears; alarms : number of such impacts in the transition
    order : (contacts,) indices of some of them; culprit : the contact for which there is no mode
    restitution, gaps, noise : (contacts,); before, impulse : (3 contacts,) velocities along the rows before an impact, impulses
    start, struck, after, beside : (n,) states; free, a : (speeds and multipliers,)
    kept : (contacts, FLAGS) the mode before
    signs : (TRIED, n) directions of rounding
    impacts : (room, IMPACT_NUMBERS) impacts since they were last read, ``made`` of them; row : of the state after them
    full : the last transition has more than that
    """

    status: int
    same: float
    still: float
    until: float
    fastest: float
    flight: float
    room: int
    made: int
    row: int
    culprit: int
    alarms: int
    full: bool
    varying: int
    loose: Integers
    exhausted: Integers
    fallen: Integers
    varies: Integers
    near: Integers
    closed: Integers
    hit: Integers
    taking: Integers
    tired: Integers
    leaving: Integers
    heard: Integers
    order: Integers
    restitution: Reals
    limits: Reals
    gaps: Reals
    noise: Reals
    before: Reals
    impulse: Reals
    start: Reals
    struck: Reals
    after: Reals
    beside: Reals
    free: Reals
    a: Reals
    kept: Reals
    signs: Reals
    impacts: Reals


#: The transition of a motion at a time, which changes its state.
Transition = Callable[[ContactMotion, TransitionWork, Reals, Reals], None]
