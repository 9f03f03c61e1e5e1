"""Records of time stepping: the functions of components, pairs of shapes that are near, a run and its cases."""

from __future__ import annotations

from kineta.integration.contact_records import ContactMotion, Function
from kineta.memory import Integers, Reals, Record

#: Numbers of an impact that goes on through steps: impulse along n, u and w, velocity along the normal before, energy lost, and
#: the number by which it is known.
IMPACT_SUMS = 6
#: Parts of a step at most; a power of two.
PARTS = 64


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
    placed: ComponentTable
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
    group : (shapes,) of shapes that may touch each other; groups : their number; group_law : (4 groups,) as ``law`` of
        :class:`ContactTerms`; group_poisson : (groups,); aside : (3 groups,) direction that tangents lean towards
    extent : (3 shapes,) half sizes along the axes of the ground; lower, upper, reach : (shapes,) bounds along the ground's axis
        ``along``, and the most that a shape moves in a step; order : (shapes,) shapes in the order of their lower bounds
    key : (room,) of each pair near, rising, the number of one shape times ``shapes``, and that of the other; close : gap up to
        which features of the present pair are near
    features : (room + 1, FEATURE_NUMBERS); feature_kind, one, other, pair, feature : (room,) what it is, its shapes, the key of
        its pair, and its name in the pair
    last_pair, last_feature, last_pressed, last_stuck, last_impulse, last_sums : of the ``last`` features before; last_impulse
        (3 room,), last_sums (IMPACT_SUMS room,)
    keeps : whether forces of pairs are kept; frames : (9 room,) normal and tangents of features, in ground axes; forces : (kept,
        PAIR_FORCE_NUMBERS) the force of each pair that is pressed in each step since the last pause, ``noted`` of them
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
    groups: int
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
    last_sums: Reals
    keeps: bool
    frames: Reals
    forces: Reals
    kept: int
    noted: int
    axes: Reals
    rates: Reals
    work: Reals
    owner: Integers
    depth: float
    full: bool


class SteppingData(Record):
    """Time stepping of a motion, whose states have all that is given behind them.

    slopes : derivatives of the forces by the speeds, then by displacements along the speeds, each in the layout of the inertia,
        into ``slope``, at the speeds found into ``ahead``; coordinate_rate : rates of the coordinates
    placed, n_placed : what places a mass and jumps, and its number; sides : (3 n_placed,) at both ends of a part of a step, and
        amidst; origin : (n_extended,) state before the step; torn : whether a place has jumped in the last step
    n_quaternions, quaternions : offsets of the unit quaternions; work, works : offset and number of works done
    pairs : of shapes that may touch each other, if there are any; largest : speeds of the largest island for Newton's method
    begin, end, size : start, end and size of the steps [s]; steps : their number, of which ``made`` are made; allowed : number at
        which to pause; parts, finest : of the last step, and of one at most, 1 where shapes touch each other
    time : (1,); y, middle, rate : (n_extended,) state after the last step, amidst a step, and a rate
    free, tried : (speeds and multipliers,) speeds without contact impulses, and with them; about : those about which forces are
        linear
    plain : (contacts,) normal velocities added where there is no restitution; rebound, back : (contacts,) those of restitution,
        and of what takes a penetration back; pressed, stuck : (contacts,) 1 for what was pressed, and stuck, in the last
        step, 2 for what was pressed and closed on; bearing : (contacts,) normal impulses in the last step of what was pressed
    blow : (contacts,) what each has in the impacts of a step; sums : (IMPACT_SUMS contacts,) impulse, first velocity along the
        normal, energy lost and number of the impact that goes on, or was the last; told : impacts so far
    count, near : number and (contacts,) indices of contacts that take part; taking : (contacts,) 1 for these; gaps : (contacts,)
        at the start of a step, then at its end
    times, states, middles : rows (steps,), (steps, n_extended) and (steps, n) of the steps since the last pause
    depths : (contacts,) largest penetrations; bounded, plainly, unsolved : numbers of islands solved with less restitution,
        without any only, and not at all
    culprit : contact whose law is none, plus 1; 0 where there is none
    impacts : (room, IMPACT_NUMBERS) impacts since the last pause, ``struck`` of them, each with the number of its step; hears :
        whether each is a pause
    events, n_events : functions whose zeros are looked for, and their number; values : (2 n_events,) after the last step, and a
        step before; crossed : whether one of them has changed its sign, which is a pause
    """

    motion: ContactMotion
    slopes: Function
    coordinate_rate: Function
    placed: Function
    n_placed: int
    sides: Reals
    origin: Reals
    torn: bool
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
    parts: int
    finest: int
    time: Reals
    y: Reals
    middle: Reals
    rate: Reals
    slope: Reals
    ahead: Reals
    free: Reals
    tried: Reals
    about: Reals
    plain: Reals
    rebound: Reals
    back: Reals
    pressed: Integers
    stuck: Integers
    bearing: Reals
    blow: Integers
    sums: Reals
    told: int
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
    block, stride : sizes of the block h, and of what a case has in ``blocks``, 0 where all have one: its block, then sizes and
        laws of shapes
    t, status, recorded, made : (cases,) times, status, times recorded, and steps
    counts, depths : (cases, 3) and (cases, depths) as in :class:`SteppingData`: bounded, plainly, unsolved; penetrations
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
    block : where the functions of the run read their block h; depths : number of penetrations noted
    chunk : largest number of steps between two pauses; begin, before : time and (n_extended,) state at the last pause
    """

    run: SteppingData
    cases: SteppingCases
    block: Reals
    depths: int
    number: int
    recorded: int
    ended: bool
    chunk: int
    begin: float
    before: Reals
