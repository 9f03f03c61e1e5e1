"""A run by time stepping without Python: steps of one size from its start to its end, and states between them.

It gives the states, impacts and steps of :func:`~kineta.simulation.simulate.simulate` by ``moreau``. Exported code consists of
``begin``, ``advance``, ``change`` and ``observe`` for :class:`StandaloneSteps` in the memory of another language.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import HIT, IMPACT_NUMBERS, Function
from kineta.integration.loop_abi import NOT_FINITE, OUT_OF_STEPS, STEP_TOO_SMALL, Setup
from kineta.integration.stepping_records import SteppingData
from kineta.integration.time_stepping import MAX_STEPPED, PART_OF_STEP
from kineta.kernels.contact.block_inertia import copy_blocks
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.contact.state_terms import INADMISSIBLE, PENETRATES
from kineta.kernels.language import kernel
from kineta.kernels.standalone.contact_transitions import BACKWARDS, CHANGED, STRIKES
from kineta.kernels.standalone.standalone_run import INCONSISTENT, NEWTON_STEPS, REACHED, make_unit
from kineta.kernels.standalone.touching_bodies import (
    TouchingBodies,
    deepest_pair,
    gather_states,
    observe_bodies,
    set_bodies,
    show_states,
)
from kineta.kernels.time_stepping.displacements import least_change, normalise_all, retract
from kineta.kernels.time_stepping.march import clear_contacts, interpolate_step, is_finite, march
from kineta.kernels.time_stepping.near_pairs import begin_pairs
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals, Record
from kineta.records import dataclass

#: What a run returns, beside :mod:`kineta.kernels.standalone.standalone_run`, where steps have no size above zero, or are too
#: short to be counted, and where more is near each other than there is room for.
UNCOUNTABLE, CROWDED = 21, 22
#: The state of a loop that has come to no status yet.
GOES_ON = -1
_INFINITE = float("inf")


class StandaloneSteps(Record):
    """A run by time stepping, and what it is made of.

    given : the argument of ``setup``; start : initial state; t0, t_end, max_step : times, and the size of steps at most
    deepest : least gap at the start that is pushed apart
    left : steps that may still be made; rejected, evaluations : none, and the steps tried
    begin, before : time and state at the start of the last step; ahead : whether its impacts are still to be told
    t, at, state : time asked for, the state of the run at it, and that of the model, with the work behind it
    event : -1, for no event is looked for; bodies : that may touch each other, in a model with any
    culprit : contact with which a run cannot go on; values : of what is observed
    found, told : number of changes at the present time, for each the contact and what it does
    impacts, struck : (struck, IMPACT_NUMBERS) of these changes
    """

    given: Reals
    run: SteppingData
    setup: Setup
    observed: Function
    start: Reals
    t0: float
    t_end: float
    max_step: float
    deepest: float
    left: int
    rejected: int
    evaluations: int
    begin: float
    before: Reals
    ahead: bool
    t: float
    state: Reals
    at: Reals
    bodies: TouchingBodies
    event: int
    culprit: int
    values: Reals
    found: int
    told: Reals
    struck: int
    impacts: Reals


@dataclass(frozen=True)
class StepMethod:
    """What a run is translated for: whether bodies that may touch each other are tables."""

    tables: bool


# -- the start --------------------------------------------------------------------------------------------------------


@kernel
def begin(method: StepMethod, m: StandaloneSteps) -> int:
    """Prepare the run from ``given``, ``start`` and the times; REACHED, or why there is none."""
    run = m.run
    motion = run.motion
    if m.t_end < m.t0:
        return BACKWARDS
    m.event, m.rejected, m.evaluations, m.culprit = -1, 0, 0, 0
    run.time[0] = m.t0
    if method.tables:
        begin_pairs(run)
        sized = set_bodies(run, m.bodies, m.given)
        if not sized:
            return CHANGED + INADMISSIBLE
        gather_states(run, m.bodies, m.start)
    else:
        m.setup(m.given, motion.block)
        copy(m.start, run.y, motion.n_extended)
    clear_contacts(run)
    for k in range(run.n_quaternions):
        make_unit(run.y[run.quaternions[k] :])
    if motion.problem.multipliers > 0:
        consistent = is_made_consistent(run)
        if not consistent:
            return INCONSISTENT
    motion.rate(run.time, run.y, motion.block, run.rate)
    finite = is_finite(run.rate, motion.n) and is_finite(run.y, motion.n_extended)
    if not finite:
        return NOT_FINITE
    motion.gaps_of(run.time, run.y, motion.block, run.gaps)
    for c in range(motion.problem.contacts):
        if motion.problem.has_normal[c] != 0 and not run.gaps[c] >= m.deepest:
            m.culprit = c
            return CHANGED + PENETRATES
    if method.tables:
        pair = deepest_pair(run, m.bodies, m.given, m.deepest)
        if pair >= 0:
            m.culprit = run.pairs.fixed + pair
            return CHANGED + PENETRATES
    return begin_steps(method, m)


@kernel
def begin_steps(method: StepMethod, m: StandaloneSteps) -> int:
    """Begin steps of one size from the present state to the end; REACHED, or that they have no size."""
    run = m.run
    steps = (m.t_end - run.time[0]) / m.max_step - PART_OF_STEP
    finite = m.max_step - m.max_step == 0.0
    if not (finite and m.max_step > 0.0 and steps < MAX_STEPPED):
        return UNCOUNTABLE
    run.steps, run.made = least_integer(steps), 0
    run.begin, run.end = run.time[0], m.t_end
    run.size = (run.end - run.begin) / run.steps
    m.begin, m.ahead, m.found, m.struck = run.begin, False, 0, 0
    copy(run.y, m.before, run.motion.n_extended)
    find_state(method, m, run.begin)
    return REACHED


@kernel
def least_integer(x: float) -> int:
    """The least integer from 1 on that is not below x."""
    low, high = 0, 1
    while float(high) < x:
        low = high
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if float(middle) < x:
            low = middle
        else:
            high = middle
    return high


@kernel
def is_made_consistent(run: SteppingData) -> bool:
    """Bring the state onto the constraints by Newton's method, positions before speeds; a state on them stays."""
    motion = run.motion
    for step in range(2):
        left, change = NEWTON_STEPS, _INFINITE
        while left > 0 and change > tolerances.STATE_TOLERANCE:
            evaluate_terms(motion, run.time, run.y)
            copy_blocks(motion.problem, motion.terms.inertia, motion.island.inertia)
            motion.residuals(run.time, run.y, motion.block, motion.residual)
            least_change(motion, motion.residual[motion.problem.multipliers * step :])
            change = largest(motion.found, motion.speeds) / max(1.0, largest(run.y, motion.n))
            if change > tolerances.STATE_TOLERANCE:
                if step == 0:
                    retract(run)
                else:
                    for k in range(motion.speeds):
                        run.y[motion.coordinates + k] += motion.found[k]
            left -= 1
        if not change <= tolerances.STATE_TOLERANCE:
            return False
    return True


# -- the way on -------------------------------------------------------------------------------------------------------


@kernel
def advance(method: StepMethod, m: StandaloneSteps, t: float) -> int:
    """Go on to the time t, or to the end of the first step with impacts before it; REACHED, CHANGED, or why it cannot go on."""
    run, status = m.run, GOES_ON
    while status == GOES_ON:
        if m.ahead and run.time[0] <= t:
            status = tell_impacts(method, m)
        elif t <= run.time[0] or run.made == run.steps:
            find_state(method, m, t)
            status = REACHED
        else:
            status = one_step(method, m)
    return status


@kernel
def one_step(method: StepMethod, m: StandaloneSteps) -> int:
    """Make a step; that the run goes on, or why there is none."""
    run = m.run
    if m.left <= 0:
        return OUT_OF_STEPS
    m.begin = run.time[0]
    copy(run.y, m.before, run.motion.n_extended)
    run.allowed = run.made + 1
    m.evaluations += 1
    rows = march(run)
    if run.torn:
        find_state(method, m, run.time[0])
        return STEP_TOO_SMALL
    if rows < 0:
        run.time[0] = m.begin
        copy(m.before, run.y, run.motion.n_extended)
        m.culprit = run.culprit - 1
        if method.tables:
            if run.pairs.full:
                return CROWDED
            if m.culprit >= run.pairs.fixed:
                m.culprit = run.pairs.fixed + run.pairs.pair[m.culprit - run.pairs.fixed]
        return NOT_FINITE if run.culprit == 0 else CHANGED + INADMISSIBLE
    m.left -= 1
    m.ahead = run.struck > 0
    return GOES_ON


@kernel
def tell_impacts(method: StepMethod, m: StandaloneSteps) -> int:
    """Make the end of the last step the present state, and list its impacts; those that go on, or are passed on to what was
    pressed, are no strikes; CHANGED.
    """
    run = m.run
    find_state(method, m, run.time[0])
    m.found, m.struck, m.ahead = 0, run.struck, False
    copy(run.impacts, m.impacts, IMPACT_NUMBERS * run.struck)
    for k in range(run.struck):
        one = m.impacts[IMPACT_NUMBERS * k :]
        if one[7] == float(HIT):
            m.told[2 * m.found], m.told[2 * m.found + 1] = one[0], float(STRIKES)
            m.found += 1
    return CHANGED


@kernel
def find_state(method: StepMethod, m: StandaloneSteps, t: float) -> None:
    """The state at a time of the last step, for later ones at its end."""
    run = m.run
    if t < run.time[0] and m.begin < run.time[0]:
        interpolate_step(run, 0, m.before, m.begin, t, m.at)
        m.t = t
    else:
        copy(run.y, m.at, run.motion.n_extended)
        m.t = run.time[0]
    normalise_all(run, m.at)
    if method.tables:
        show_states(run, m.bodies, m.at, m.state)
    else:
        copy(m.at, m.state, run.motion.n_extended)


@kernel
def change(method: StepMethod, m: StandaloneSteps) -> int:
    """Go on from the present state with what is ``given`` now, in steps of one size to the end; REACHED, or why not."""
    run = m.run
    copy(m.at, run.y, run.motion.n_extended)
    run.time[0] = m.t
    if method.tables:
        set_bodies(run, m.bodies, m.given)
    else:
        m.setup(m.given, run.motion.block)
    return begin_steps(method, m)


@kernel
def observe(method: StepMethod, m: StandaloneSteps) -> None:
    """Evaluate what is observed in the present state."""
    time = m.run.time
    reached = time[0]
    time[0] = m.t
    if method.tables:
        observe_bodies(m.run, m.bodies, m.at, m.values)
    else:
        m.observed(time, m.at, m.run.motion.block, m.values)
    time[0] = reached
