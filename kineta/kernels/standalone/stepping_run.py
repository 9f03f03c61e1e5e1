"""A run by time stepping without Python: steps of one size from its start to its end, and states between them.

It gives the states, impacts and steps of :func:`~kineta.simulation.simulate.simulate` by ``moreau``. Exported code consists of
``begin``, ``advance``, ``change`` and ``observe`` for :class:`StandaloneSteps` in the memory of another language.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import IMPACT_NUMBERS, Function, SteppingData
from kineta.integration.loop_abi import NOT_FINITE, OUT_OF_STEPS, Setup
from kineta.integration.time_stepping import MAX_STEPPED, PART_OF_STEP
from kineta.kernels.contact.block_inertia import copy_blocks
from kineta.kernels.contact.motion import evaluate_terms
from kineta.kernels.contact.state_terms import INADMISSIBLE, PENETRATES
from kineta.kernels.language import kernel
from kineta.kernels.standalone.contact_transitions import BACKWARDS, CHANGED, STRIKES
from kineta.kernels.standalone.standalone_run import INCONSISTENT, NEWTON_STEPS, REACHED, make_unit
from kineta.kernels.time_stepping.time_step import (
    clear_contacts,
    interpolate_step,
    is_finite,
    least_change,
    march,
    normalise_all,
    retract,
)
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals, Record

#: What a run returns, beside :mod:`kineta.kernels.standalone.standalone_run`, where steps have no size above zero, or are too
#: short to be counted.
UNCOUNTABLE = 21
#: The state of a loop that has come to no status yet.
_GOING = -1
_INFINITE = float("inf")


class StandaloneSteps(Record):
    """A run by time stepping, and what it is made of.

    given : the argument of ``setup``; start : initial state; t0, t_end, max_step : times, and the size of steps at most
    deepest : least gap at the start that is pushed apart
    left : steps that may still be made; rejected, evaluations : none, and the steps tried
    begin, before : time and state at the start of the last step; ahead : whether its impacts are still to be told
    t, state : time asked for and the state at it; event : -1, for no event is looked for
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
    event: int
    culprit: int
    values: Reals
    found: int
    told: Reals
    struck: int
    impacts: Reals


# -- the start --------------------------------------------------------------------------------------------------------


@kernel
def begin(m: StandaloneSteps) -> int:
    """Prepare the run from ``given``, ``start`` and the times; REACHED, or why there is none."""
    run = m.run
    motion = run.motion
    if m.t_end < m.t0:
        return BACKWARDS
    m.setup(m.given, motion.block)
    m.event, m.rejected, m.evaluations, m.culprit = -1, 0, 0, 0
    clear_contacts(run)
    copy(m.start, run.y, motion.n_extended)
    for k in range(run.n_quaternions):
        make_unit(run.y[run.quaternions[k] :])
    run.time[0] = m.t0
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
    return begin_steps(m)


@kernel
def begin_steps(m: StandaloneSteps) -> int:
    """Begin steps of one size from the present state to the end; REACHED, or that they have no size."""
    run = m.run
    steps = (m.t_end - run.time[0]) / m.max_step - PART_OF_STEP
    if not (m.max_step > 0.0 and steps < MAX_STEPPED):
        return UNCOUNTABLE
    run.steps, run.made = least_integer(steps), 0
    run.begin, run.end = run.time[0], m.t_end
    run.size = (run.end - run.begin) / run.steps
    m.begin, m.t, m.ahead, m.found, m.struck = run.begin, run.begin, False, 0, 0
    copy(run.y, m.before, run.motion.n_extended)
    copy(run.y, m.state, run.motion.n_extended)
    normalise_all(run, m.state)
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
def advance(m: StandaloneSteps, t: float) -> int:
    """Go on to the time t, or to the end of the first step with impacts before it; REACHED, CHANGED, or why it cannot go on."""
    run, status = m.run, _GOING
    while status == _GOING:
        if m.ahead and run.time[0] <= t:
            status = tell_impacts(m)
        elif t <= run.time[0] or run.made == run.steps:
            find_state(m, t)
            status = REACHED
        else:
            status = one_step(m)
    return status


@kernel
def one_step(m: StandaloneSteps) -> int:
    """Make a step; that the run goes on, or why there is none."""
    run = m.run
    if m.left <= 0:
        return OUT_OF_STEPS
    m.begin = run.time[0]
    copy(run.y, m.before, run.motion.n_extended)
    run.allowed = run.made + 1
    m.evaluations += 1
    rows = march(run)
    if rows < 0:
        run.time[0] = m.begin
        copy(m.before, run.y, run.motion.n_extended)
        m.culprit = run.culprit - 1
        return NOT_FINITE if run.culprit == 0 else CHANGED + INADMISSIBLE
    m.left -= 1
    m.ahead = run.struck > 0
    return _GOING


@kernel
def tell_impacts(m: StandaloneSteps) -> int:
    """Make the end of the last step the present state, and list its impacts; CHANGED."""
    run = m.run
    find_state(m, run.time[0])
    m.found, m.struck, m.ahead = run.struck, run.struck, False
    copy(run.impacts, m.impacts, IMPACT_NUMBERS * run.struck)
    for k in range(run.struck):
        m.told[2 * k], m.told[2 * k + 1] = m.impacts[IMPACT_NUMBERS * k], float(STRIKES)
    return CHANGED


@kernel
def find_state(m: StandaloneSteps, t: float) -> None:
    """The state at a time of the last step, for later ones at its end."""
    run = m.run
    if t < run.time[0] and m.begin < run.time[0]:
        interpolate_step(run, 0, m.before, m.begin, t, m.state)
        m.t = t
    else:
        copy(run.y, m.state, run.motion.n_extended)
        m.t = run.time[0]
    normalise_all(run, m.state)


@kernel
def change(m: StandaloneSteps) -> int:
    """Go on from the present state with what is ``given`` now, in steps of one size to the end; REACHED, or why not."""
    run = m.run
    copy(m.state, run.y, run.motion.n_extended)
    run.time[0] = m.t
    m.setup(m.given, run.motion.block)
    return begin_steps(m)


@kernel
def observe(m: StandaloneSteps) -> None:
    """Evaluate what is observed in the present state."""
    time = m.run.time
    reached = time[0]
    time[0] = m.t
    m.observed(time, m.state, m.run.motion.block, m.values)
    time[0] = reached
