"""Records of motions with contacts: sparsity of their problem, terms of the equations of motion in one state, the mode, and the
memory of kernels that find forces and transitions.

Multipliers of constraints count as speeds without mass: the inertia of a block of speeds is::

    [  M  -J' ]
    [ -J  -R  ]

with a small R that iterative refinement makes disappear.
"""

from __future__ import annotations

from collections.abc import Callable

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
    speeds : (2 speeds,); rows : (6 contacts,) contact and row of each equation; matrix : (27 contacts^2,), behind it factors
        and, where it is kept, those that make rows exact
    right, found, centre, proximity, missed : (3 contacts,), the fourth the diagonal of R; order : (6 contacts,)
    place : (speeds,) numbers of the speeds that rows have
    ease : (contacts,) R of the tangents without its factor, where forces are undetermined; else 0
    weight : (3 contacts,) its multiple where the load of friction is levelled, else 1; behind it what the last turn gave, and
        its change
    levels : whether forces that are found level undetermined loads; load : the largest of an island after that, in static
        friction; least : what it is at least, however loads are shared
    squares : (n_squares,) squares of rows: lower halves of matrices of the speeds, for the normals and for each contact; behind
        them one for their sum
    crowded : whether rows are so many that forces are found by the speeds that these hold; shares : whether they are by their
        resultant
    keeps : whether equations are kept, all of one state, with a note of what they are made of; held : whether their matrix has
        factors that make rows exact; squared : whether ``squares`` are those of its rows; asked, noted : (16 contacts + 2,) that
        note, and the last one; kept : (4 contacts,) forces, and their ``ease``
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
    levels: bool
    load: float
    least: float
    n_squares: int
    squares: Reals
    crowded: bool
    shares: bool
    keeps: bool
    held: bool
    squared: bool
    asked: Reals
    noted: Reals
    kept: Reals


class IslandWork(Record):
    """Working memory of an island of n speeds with m contacts.

    inertia : blocks of the problem, before they are factored, with the R of the factors; turned : (2 of their entries,) changes
        of rows of loops beside a place where these are folded flat, and factors there
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
    turned: Reals
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
    n_asked : number of accelerations, multipliers and pivots on which events depend
    found : (speeds and multipliers,); residual : (2 multipliers,)
    moved : whether ``extended`` has all that follows from its state, at the time ``at``, with the block ``known`` (n_block,);
        idle : offset of a state from which nothing follows, the work done; n for none
    aside : (3 n_extended,) states beside one in which a loop is folded flat, and what is given there
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
    n_asked: int
    moved: bool
    at: float
    n_block: int
    known: Reals
    idle: int
    aside: Reals


def law_fault(gap: float, bound: float, static: float, restitution: float) -> str:
    """What is not admissible in a contact law, in words."""
    if not bound >= 0:
        return f"the friction {bound:.3g}; expected zero or more"
    if not static >= bound * (1 - tolerances.ROUNDING_TOLERANCE):
        return f"less friction where it sticks, {static:.3g}, than where it slips, {bound:.3g}"
    if not 0 <= restitution <= 1:
        return f"the restitution {restitution:.3g}; expected a number from 0 to 1"
    return "a gap without a value; an expression has left its domain, or ground of a given height is narrower than its shape"


#: Numbers of an impact: contact, impulses along n, u, w, normal velocities before and after, energy lost, what it says of its
#: contact, by time stepping the number by which it is known as it goes on, else 0; and the row of the state after it.
IMPACT_NUMBERS = 10
#: What an impact says of its contact: it was hit, it came to rest, an impact of a step before goes on.
HIT, TIRED, GOES_ON = 1, 2, 4


class TransitionWork(Record):
    """Memory of transitions.

    status : CHANGED, or why a transition has no mode
    same : contact tolerance of gaps; still : slip below which a contact may stick [m/s]
    until : largest time of the motion; fastest : largest approach so far
    flight : longest next step: an eighth more than until the first separating contact returns under even accelerations
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
