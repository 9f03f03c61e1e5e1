"""A run without Python that goes on by time stepping where it cannot go on by events, until its contacts are quiet.

It gives the states and steps of :func:`~kineta.simulation.simulate.simulate` without a method. Exported code consists of
``begin``, ``advance``, ``change`` and ``observe`` for a :class:`StandaloneFallback` in the memory of another language.
"""

from __future__ import annotations

from kineta.integration.contact_records import IMPACT_NUMBERS
from kineta.integration.handover import BACK, QUIET, QuietWatch
from kineta.integration.loop_abi import NOT_FINITE, STEP_TOO_SMALL
from kineta.kernels.contact.state_terms import NO_FORCES, NO_IMPULSES, PENETRATES
from kineta.kernels.language import kernel
from kineta.kernels.pace import count_anew
from kineta.kernels.stage_evaluation import measure_pivots
from kineta.kernels.standalone.contact_transitions import CHANGED, ENDLESS, UNENDING, tell
from kineta.kernels.standalone.standalone_run import (
    REACHED,
    RunMethod,
    StandaloneRun,
    begin_events,
    pass_change,
    set_block,
)
from kineta.kernels.standalone.standalone_run import begin as begin_by_events
from kineta.kernels.standalone.standalone_run import change as change_by_events
from kineta.kernels.standalone.standalone_run import find_state as find_state_by_events
from kineta.kernels.standalone.standalone_run import observe as observe_by_events
from kineta.kernels.standalone.standalone_run import one_step as step_by_events
from kineta.kernels.standalone.stepping_run import (
    GOES_ON,
    StandaloneSteps,
    StepMethod,
    begin_steps,
    find_state,
    one_step,
    tell_impacts,
)
from kineta.kernels.standalone.stepping_run import change as change_steps
from kineta.kernels.standalone.stepping_run import observe as observe_steps
from kineta.kernels.time_stepping.handover import begin_quiet, count_quiet, take_back
from kineta.kernels.time_stepping.march import clear_contacts
from kineta.kernels.vectors import copy
from kineta.memory import Reals, Record
from kineta.records import dataclass


class StandaloneFallback(Record, partial=True):
    """A run by ``events`` and by time stepping in ``steps``, which share given, start, state, values and told.

    given, start, t0, t_end, rtol, atol, max_step, left, rejected, evaluations, t, state, event, values, found, told, made,
    impacts, culprit : as in :class:`StandaloneRun`
    size : of the steps of time stepping at most; stepping : whether they go on now; hurried : whether they take over when forces
        change, and go on, as for a hand that waits for no step by events; passed : evaluations and steps of both so far
    watch : whether contacts are quiet; patience, calm : steps without a change that are asked for in a spell, and now
    begun, handed, lasted, spent : time at which events began or went on; number of spells of time stepping, duration of the last
        one, and of all; since : time at which the present one began
    at, handing, flags : time, state and mode of the run by events at which time stepping is to begin, or has
    kept, rows, marks : number of the last states, (BACK + 1, n), and (BACK + 1,) their times
    """

    given: Reals
    start: Reals
    state: Reals
    values: Reals
    told: Reals
    impacts: Reals
    events: StandaloneRun
    steps: StandaloneSteps
    watch: QuietWatch
    t0: float
    t_end: float
    rtol: float
    atol: float
    max_step: float
    left: int
    rejected: int
    evaluations: int
    t: float
    event: int
    found: int
    made: int
    culprit: int
    size: float
    stepping: bool
    hurried: bool
    patience: int
    calm: int
    begun: float
    handed: int
    lasted: float
    spent: float
    since: float
    at: float
    handing: Reals
    flags: Reals
    kept: int
    rows: Reals
    marks: Reals


@dataclass(frozen=True)
class FallbackMethod:
    """What a run is translated for: what its parts by events and by time stepping are."""

    events: RunMethod
    steps: StepMethod


# -- the start --------------------------------------------------------------------------------------------------------


@kernel
def begin(method: FallbackMethod, m: StandaloneFallback) -> int:
    """Prepare the run from ``given``, ``start``, the times and tolerances; REACHED, or why there is none."""
    e, s = m.events, m.steps
    e.t0, e.rtol, e.atol, e.run.max_step = m.t0, m.rtol, m.atol, m.max_step
    m.stepping, m.hurried, m.patience, m.handed, m.lasted, m.spent = False, False, QUIET, 0, 0.0, 0.0
    clear_contacts(s.run)
    take_given(m)
    status = begin_by_events(method.events, e)
    m.size = e.run.contacts.pace.size
    s.max_step, s.event, s.rejected, s.evaluations, s.culprit = m.size, -1, 0, 0, 0
    watch_anew(m, m.t0)
    if status >= CHANGED + NO_IMPULSES and status <= CHANGED + NO_FORCES:
        measure_pivots(e.run, m.t0, e.n_regular, e.regular)
        e.run.constraints.guarded = False
        begin_events(method.events, e)
        m.at = m.t0
        copy(e.run.y, m.handing, e.run.n)
        status = hand_over(method, m)
        status = REACHED if status == GOES_ON else status
    show(m)
    return status


@kernel
def take_given(m: StandaloneFallback) -> None:
    """Give both runs the end and the number of steps that are left."""
    m.events.run.t_end, m.steps.t_end = m.t_end, m.t_end
    m.events.left, m.steps.left = m.left, m.left


@kernel
def show(m: StandaloneFallback) -> None:
    """Make what the present method tells that of the run."""
    e, s = m.events, m.steps
    m.rejected = e.run.rejected
    m.evaluations = e.run.evaluations + s.evaluations
    m.event = -1
    if m.stepping:
        m.left, m.t, m.culprit, m.found, m.made = s.left, s.t, s.culprit, s.found, s.struck
        copy(s.impacts, m.impacts, IMPACT_NUMBERS * s.struck)
    else:
        work = e.run.contacts.transitions
        m.left, m.t, m.culprit, m.found, m.made = e.left, e.t, work.culprit, e.changes.found, work.made
        copy(work.impacts, m.impacts, IMPACT_NUMBERS * work.made)


# -- the way on -------------------------------------------------------------------------------------------------------


@kernel
def advance(method: FallbackMethod, m: StandaloneFallback, t: float) -> int:
    """Go on to the time t, or to the next change of contacts before it; REACHED, CHANGED, or why the run cannot go on."""
    status = GOES_ON
    take_given(m)
    while status == GOES_ON:
        status = advance_by_events(method, m, t)
        if status == GOES_ON:
            status = advance_by_steps(method, m, t)
    show(m)
    return status


@kernel
def advance_by_events(method: FallbackMethod, m: StandaloneFallback, t: float) -> int:
    """Go on by events; that the run goes on where time stepping begins."""
    e = m.events
    run, x, status = e.run, e.changes, GOES_ON
    while status == GOES_ON and not m.stepping:
        due = x.ahead != 0 and x.at <= t
        if due and can_hand_over(x.ahead):
            status = hand_over(method, m)
        elif due:
            status = pass_change(method.events, e)
        elif t <= run.t or run.t == run.t_end:
            find_state_by_events(method.events, e, t)
            status = REACHED
        else:
            status = watched_step(method, m)
    return status


@kernel
def can_hand_over(ahead: int) -> bool:
    """Whether time stepping may go on from what is ahead of a run by events."""
    piled, lost = ahead == ENDLESS, ahead >= CHANGED + PENETRATES and ahead <= CHANGED + NO_FORCES
    return piled or lost or ahead == UNENDING


@kernel
def watched_step(method: FallbackMethod, m: StandaloneFallback) -> int:
    """Make a step by events, and look at it; that the run goes on, or why it does not."""
    e = m.events
    status = step_by_events(method.events, e)
    fails = status == STEP_TOO_SMALL
    if fails or status == NOT_FINITE:
        go_back(m)
        return hand_over(method, m)
    if status != REACHED:
        return status
    look_at_step(m)
    return GOES_ON


@kernel
def look_at_step(m: StandaloneFallback) -> None:
    """Keep the ends of the last step; where it hands over, the time and the state there."""
    run, x = m.events.run, m.events.changes
    for row in range(run.accepted):
        place = m.kept % (BACK + 1)
        m.marks[place] = run.times[row]
        copy(run.states[row * run.n :], m.rows[place * run.n :], run.n)
        m.kept += 1
    if x.ahead != 0 and x.row >= 0:
        hand_over_at(m, x.at, run.events.states[x.row * run.n :])
    elif x.ahead != 0:
        hand_over_at(m, x.at, run.y)


@kernel
def hand_over_at(m: StandaloneFallback, t: float, state: Reals) -> None:
    """Keep the time and the *state* at which time stepping may begin."""
    m.at = t
    copy(state, m.handing, m.events.run.n)


@kernel
def go_back(m: StandaloneFallback) -> None:
    """Hand over some steps before one that fails."""
    run = m.events.run
    hand_over_at(m, run.t, run.y)
    if m.kept > BACK:
        place = m.kept % (BACK + 1)
        hand_over_at(m, m.marks[place], m.rows[place * run.n :])


@kernel
def watch_anew(m: StandaloneFallback, t: float) -> None:
    """Begin to count steps by events from the time t on."""
    m.begun, m.kept = t, 0
    count_anew(m.events.run.contacts.pace, t)


# -- from one to the other --------------------------------------------------------------------------------------------


@kernel
def hand_over(method: FallbackMethod, m: StandaloneFallback) -> int:
    """Begin time stepping at the time and in the state at which the run by events has come to its end; that the run goes on."""
    e, s = m.events, m.steps
    run = s.run
    motion = run.motion
    brief = m.handed > 0 and m.at - m.begun < m.lasted
    m.patience = 2 * m.patience if brief else QUIET
    m.calm, m.since = m.patience, m.at
    m.handed += 1
    m.stepping, e.changes.ahead = True, 0
    copy(e.run.contacts.motion.flags, m.flags, e.run.contacts.n_flags)
    s.left, s.culprit, run.culprit = e.left, 0, 0
    s.setup(s.given, motion.block)
    for k in range(motion.n_extended):
        run.y[k] = m.handing[k] if k < m.watch.states else 0.0
    begin_quiet(run, m.watch)
    run.time[0] = m.at
    status = begin_steps(method.steps, s)
    if m.at >= m.t_end:
        run.steps = 0
    return GOES_ON if status == REACHED else status


@kernel
def advance_by_steps(method: FallbackMethod, m: StandaloneFallback, t: float) -> int:
    """Go on by time stepping; that the run goes on where events take over."""
    s = m.steps
    run, status = s.run, GOES_ON
    while status == GOES_ON and m.stepping:
        if s.ahead and run.time[0] <= t:
            status = tell_impacts(method.steps, s)
        elif t <= run.time[0] or run.made == run.steps:
            find_state(method.steps, s, t)
            status = REACHED
        elif m.watch.since >= m.calm and not m.hurried:
            status = go_on_by_events(method, m)
        else:
            status = one_step(method.steps, s)
            if status == GOES_ON:
                m.spent += run.time[0] - s.begin
                count_quiet(run, m.watch, run.states, 1)
    return status


@kernel
def go_on_by_events(method: FallbackMethod, m: StandaloneFallback) -> int:
    """Let events take over after the last step, or wait for twice as many steps without a change where there is no mode; CHANGED
    where the mode is another than before, else that the run goes on.
    """
    e, s = m.events, m.steps
    run, x, t = e.run, e.changes, s.run.time[0]
    set_block(method.events, e)
    able = take_back(s.run, run, m.watch)
    if not able:
        m.calm = 2 * m.calm
        return GOES_ON
    m.stepping, m.lasted = False, t - m.since
    run.t, run.size, run.anew, run.just_rejected = t, m.size, True, False
    run.constraints.hops, run.events.ended, run.events.found = 0, False, 0
    for i in range(run.contacts.watched, run.events.n):
        run.events.left[i] = 1
    copy(m.watch.state, run.y, run.n)
    copy(m.watch.state, e.base, run.n)
    e.before, e.t, e.left = t, t, s.left
    x.ahead, x.found = 0, 0
    tell(run, x, m.flags, run.contacts.motion.flags, 0)
    watch_anew(m, t)
    return CHANGED if x.found > 0 else GOES_ON


@kernel
def change(method: FallbackMethod, m: StandaloneFallback) -> int:
    """Go on from the present state with what is ``given`` now, as forces that are held from one sample to the next; REACHED, or
    why not.
    """
    e = m.events
    take_given(m)
    if m.stepping:
        status = change_steps(method.steps, m.steps)
    elif m.hurried:
        hand_over_at(m, e.t, e.state)
        status = hand_over(method, m)
        status = REACHED if status == GOES_ON else status
    else:
        status = change_by_events(method.events, e)
        m.kept = 0
        if can_hand_over(status):
            hand_over_at(m, e.t, e.state)
            status = hand_over(method, m)
            status = REACHED if status == GOES_ON else status
    show(m)
    return status


@kernel
def observe(method: FallbackMethod, m: StandaloneFallback) -> None:
    """Evaluate what is observed in the present state."""
    if m.stepping:
        observe_steps(method.steps, m.steps)
    else:
        observe_by_events(m.events)
