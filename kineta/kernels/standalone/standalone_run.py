"""A run without Python: from parameters and initial values to states at times and events, one step after the other.

It gives the states, zeros and steps of :func:`~kineta.simulation.simulate.simulate`. Exported code consists of ``begin``,
``advance``, ``change`` and ``observe`` for a :class:`StandaloneRun` in the memory of another language.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import Function
from kineta.integration.error_control import LOOSE, ROUGH
from kineta.integration.loop_abi import (
    DONE,
    EVENT,
    GIVEN_UP,
    NOT_FINITE,
    OUT_OF_STEPS,
    PAUSED,
    STEP_TOO_SMALL,
    RunData,
    Setup,
)
from kineta.kernels.event_location import note_jumps
from kineta.kernels.event_start import look_at_start
from kineta.kernels.integrate import integrate
from kineta.kernels.kinks.crossings import begin_kinks
from kineta.kernels.language import copysign, fabs, kernel
from kineta.kernels.pace import is_calm
from kineta.kernels.runge_kutta import first_step, interpolate
from kineta.kernels.sampling import project
from kineta.kernels.sliding.sides import begin_slides, rate_on_sides
from kineta.kernels.stage_evaluation import LoopMethod, lowest_pivot, measure_pivots
from kineta.kernels.standalone.contact_transitions import (
    CHANGED,
    ENDLESS,
    ContactChanges,
    begin_changes,
    begin_contacts,
    begin_step,
    change_at_once,
    come_to_change,
    end_step,
)
from kineta.kernels.standalone.controllability import Controllability, is_lost, is_stuck, keep_gradients
from kineta.kernels.standalone.switches import ZERO_AHEAD, act, act_after, find_switch, hear
from kineta.kernels.switching import begin_marks, begin_switches, look_at
from kineta.kernels.transition import release
from kineta.kernels.vectors import copy, largest, largest_change, normalise
from kineta.memory import Integers, Reals, Record
from kineta.records import dataclass

#: What ``begin`` and ``advance`` return beside what the loop does: the time is reached, the run has ended at an event, the start
#: does not meet constraints and programs, and programs of motion have lost their gradients.
REACHED, ENDED, INCONSISTENT, UNCONTROLLED = DONE, PAUSED, 7, 20
#: Newton steps towards the constraints at the start.
NEWTON_STEPS = 30
_INFINITE = float("inf")


class StandaloneRun(Record):
    """The state and memory of a run without Python.

    given : the argument of ``setup``, which switches set; start : (n,) initial state; t0 : initial time; rtol, atol : tolerances
    states : number of coordinates, speeds and derivatives of speeds, the first ``coordinates``
    regular : (n_regular, n) states with independent constraints
    quaternions : their offsets in the state
    left : steps that may still be made; before, base : time and state at the start of the last step
    t, state : time asked for and the state at it; event : number of the last event; ended : it was the last one wanted
    counts, wanted : (events,) zeros reported, and those after which the run ends, 0 for none
    values : of what is observed
    changes : of contacts and switches, in a model with any; held : programs of motion
    """

    given: Reals
    run: RunData
    setup: Setup
    observed: Function
    start: Reals
    t0: float
    rtol: float
    atol: float
    states: int
    coordinates: int
    n_regular: int
    regular: Reals
    n_quaternions: int
    quaternions: Integers
    left: int
    before: float
    base: Reals
    t: float
    state: Reals
    event: int
    ended: bool
    counts: Integers
    wanted: Integers
    values: Reals
    changes: ContactChanges
    held: Controllability


@dataclass(frozen=True)
class RunMethod:
    """What a run is translated for: its loop, and whether the model has switches, and programs of motion."""

    loop: LoopMethod
    switching: bool
    programmed: bool


# -- the start --------------------------------------------------------------------------------------------------------


@kernel
def begin(method: RunMethod, m: StandaloneRun) -> int:
    """Prepare the run from ``given``, ``start``, ``t0`` and the tolerances; REACHED, NOT_FINITE, INCONSISTENT, or why contacts
    have no first mode.
    """
    run = m.run
    set_block(method, m)
    m.ended, m.event = False, -1
    run.t, run.just_rejected, run.rejected, run.evaluations, run.anew = m.t0, False, 0, 0, False
    set_tolerances(run, m.rtol, m.atol)
    copy(m.start, run.y, run.n)
    if method.loop.kinked:
        begin_kinks(run)
    if method.loop.sliding:
        begin_slides(run)
    for k in range(m.n_quaternions):
        make_unit(run.y[m.quaternions[k] :])
    if method.loop.touching or method.switching:
        status = begin_changes(run, m.changes)
        if status != REACHED:
            return status
    if method.switching:
        begin_switches(run)
        begin_marks(method.loop, run)
    if method.loop.projecting:
        consistent = is_made_consistent(run)
        if not consistent:
            return INCONSISTENT
        settle(method, m, m.t0, run.y)
        if method.loop.touching:
            status = begin_contacts(method.loop, run, m.changes, m.coordinates, m.rtol, m.atol)
            if status != REACHED:
                return status
        measure_pivots(run, m.t0, m.n_regular, m.regular)
    rate_on_sides(method.loop, run, m.t0, run.y, run.k)
    run.evaluations += 1
    if not all_finite(run.k, run.n):
        return NOT_FINITE
    if method.loop.projecting:
        c = run.constraints
        c.low, c.hops, c.guarded = lowest_pivot(run, run.k), 0, False
    run.size = first_step(method.loop, run)
    if method.loop.touching and method.switching:
        hear(run, m.changes, m.t0)
    begin_events(method, m)
    if method.programmed:
        keep_gradients(run, m.held)
    m.before, m.t = m.t0, m.t0
    copy(run.y, m.base, run.n)
    copy(run.y, m.state, run.n)
    settle(method, m, m.t0, m.state)
    return REACHED


@kernel
def set_block(method: RunMethod, m: StandaloneRun) -> None:
    """The block h of what is ``given``."""
    if method.loop.touching:
        m.setup(m.given, m.run.contacts.motion.block)
    else:
        m.setup(m.given, m.run.block)


@kernel
def set_tolerances(run: RunData, rtol: float, atol: float) -> None:
    """Tolerances of every state; quadratures, which control no step, have larger ones."""
    factor = max(1.0, min(LOOSE, ROUGH / rtol))
    for i in range(run.n):
        loose = factor if i >= run.steered else 1.0
        run.tolerances[i] = atol * loose
        run.tolerances[run.n + i] = rtol * loose


@kernel
def make_unit(q: Reals) -> None:
    """Make a quaternion one of unit length, unless it is one to rounding."""
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if not fabs(square - 1.0) <= 8.0 * tolerances.EPS:
        normalise(q)


@kernel
def all_finite(x: Reals, n: int) -> bool:
    """Whether n numbers are finite."""
    return largest(x, n) < _INFINITE


@kernel
def is_made_consistent(run: RunData) -> bool:
    """Bring the state onto constraints and programs by Newton's method, positions before speeds; a state on them stays."""
    c, n = run.constraints, run.n
    run.time[0] = run.t
    for step in range(2):
        left, change = NEWTON_STEPS, _INFINITE
        while left > 0 and change > tolerances.STATE_TOLERANCE:
            if step == 0:
                c.position(run.time, run.y, run.block, c.after)
            else:
                c.velocity(run.time, run.y, run.block, c.after)
            change = largest_change(c.after, run.y, n) / max(1.0, largest(run.y, n))
            if change > tolerances.STATE_TOLERANCE:
                copy(c.after, run.y, n)
            left -= 1
        if not change <= tolerances.STATE_TOLERANCE:
            return False
    return True


@kernel
def begin_events(method: RunMethod, m: StandaloneRun) -> None:
    """Count no zeros; events that are at zero have none there, which with contacts the loop finds."""
    e = m.run.events
    e.found, e.ended, e.undefined = 0, False, False
    for i in range(e.n):
        m.counts[i], e.left[i], e.noise[i] = 0, m.wanted[i], -1.0
    if method.loop.touching:
        m.run.anew = True
    elif e.n != 0:
        look_at_start(m.run, m.t0)


# -- the way on -------------------------------------------------------------------------------------------------------


@kernel
def advance(method: RunMethod, m: StandaloneRun, t: float) -> int:
    """Go on to the time t, or to the next event before it, which is then called ``event``; its state is ``state``, its time
    ``t``, and likewise to a change of contacts. REACHED, EVENT, CHANGED, ENDED after the last event that is wanted, or why the
    run cannot go on.
    """
    run, e = m.run, m.run.events
    way = copysign(1.0, run.t_end - m.t0)
    while not m.ended:
        next = earliest_zero(m, way)
        if next >= 0 and way * (e.times[next] - t) <= 0.0 and not is_behind(method, m, next):
            report(method, m, next)
            return ENDED if m.ended else EVENT
        if (method.loop.touching or method.switching) and m.changes.ahead != 0 and m.changes.at <= t:
            return pass_change(method, m)
        if way * (t - run.t) <= 0.0 or run.t == run.t_end:
            find_state(method, m, t)
            return REACHED
        status = one_step(method, m)
        if status != REACHED:
            return status
    return ENDED


@kernel
def is_behind(method: RunMethod, m: StandaloneRun, zero: int) -> bool:
    """Whether a zero is a jump by the change ahead."""
    e, behind = m.run.events, False
    if method.loop.touching or method.switching:
        x = m.changes
        behind = x.ahead != 0 and e.times[zero] == x.at
    return behind and largest_change(e.states[zero * m.run.n :], m.run.y, m.run.n) == 0.0


@kernel
def pass_change(method: RunMethod, m: StandaloneRun) -> int:
    """Make the state after the change ahead the present one; CHANGED, or why there is no mode after it."""
    run, x = m.run, m.changes
    status = x.ahead
    find_state(method, m, x.at)
    if method.loop.touching and status == CHANGED:
        come_to_change(run, x)
    if method.switching and status == ZERO_AHEAD:
        status = switch_over(method, m)
    x.ahead = 0 if status == CHANGED else status
    if status == CHANGED:
        copy(run.y, m.state, run.n)
        settle(method, m, m.t, m.state)
    return status


@kernel
def switch_over(method: RunMethod, m: StandaloneRun) -> int:
    """Let the switches ahead act; CHANGED, or why the run cannot go on."""
    run, x, e = m.run, m.changes, m.run.events
    status = act(method.loop, run, x, x.at)
    if status != REACHED:
        return status
    m.ended = run.switches.stopped >= 0
    run.t, m.before, run.anew, run.just_rejected, run.constraints.hops = x.at, x.at, True, False, 0
    e.found, e.ended = 0, False
    for i in range(run.contacts.watched, e.n):
        e.left[i] = 1
    copy(run.y, m.base, run.n)
    if x.at != m.t0:
        note_jumps(method.loop, run, x.at, run.y)
    if method.programmed:
        keep_gradients(run, m.held)
    return CHANGED


@kernel
def change(method: RunMethod, m: StandaloneRun) -> int:
    """Go on from the present state with what is ``given`` now, as forces that are held from one sample to the next; REACHED, or
    why contacts have no mode.
    """
    run, x, status = m.run, m.changes, REACHED
    run.t, m.before, run.anew = m.t, m.t, True
    copy(m.state, run.y, run.n)
    forget_zeros(m)
    if method.switching:
        copy(m.state, x.state, run.n)
        begin_marks(method.loop, run)
        look_at(method.loop, run, m.t, m.state, run.switches.old)
    set_block(method, m)
    if method.loop.touching or method.switching:
        x.ahead, x.found = 0, 0
        for i in range(run.contacts.watched, run.events.n):
            run.events.left[i] = 1
    if method.switching:
        status = act_after(method.loop, run, x, m.t)
        m.ended = run.switches.stopped >= 0
    elif method.loop.touching:
        release(run)
        calm = is_calm(run.contacts.pace, m.t)
        status = ENDLESS
        if calm:
            status = change_at_once(method.loop, run, x, m.t, m.state)
        run.size = min(run.size, run.contacts.transitions.flight)
    if method.loop.touching or method.switching:
        copy(run.y, m.state, run.n)
    if method.programmed:
        keep_gradients(run, m.held)
    copy(run.y, m.base, run.n)
    return status


@kernel
def forget_zeros(m: StandaloneRun) -> None:
    """Count the zeros behind the present time as not found; those at it are still to be reported."""
    e, kept, way = m.run.events, 0, copysign(1.0, m.run.t_end - m.t0)
    e.ended = False
    for k in range(e.found):
        i = e.which[k]
        if i >= 0 and way * (e.times[k] - m.t) <= 0.0:
            e.which[kept], e.times[kept] = i, e.times[k]
            copy(e.states[k * m.run.n :], e.states[kept * m.run.n :], m.run.n)
            kept += 1
        elif i >= 0:
            e.left[i] += 1
    e.found = kept


@kernel
def one_step(method: RunMethod, m: StandaloneRun) -> int:
    """Make a step; REACHED, or why there is none."""
    run = m.run
    if m.left <= 0:
        return OUT_OF_STEPS
    m.left -= 1
    m.before = run.t
    copy(run.y, m.base, run.n)
    run.accepted, run.allowed, run.events.found = 0, 1, 0
    if method.loop.touching:
        begin_step(run, m.changes)
    status = integrate(method.loop, run)
    if run.events.undefined:
        return GIVEN_UP
    if method.programmed:
        lost = is_lost(run, m.held)
        if status == STEP_TOO_SMALL:
            lost = is_stuck(run, m.held)
        if lost:
            return UNCONTROLLED
    if method.switching:
        find_switch(method.loop, run, m.changes)
    if method.loop.touching:
        end_step(run, m.changes)
    return status if status >= STEP_TOO_SMALL else REACHED


@kernel
def earliest_zero(m: StandaloneRun, way: float) -> int:
    """The earliest zero of the last step that was not reported, -1 for none."""
    e, first = m.run.events, -1
    for k in range(e.found):
        if e.which[k] >= 0 and (first < 0 or way * (e.times[k] - e.times[first]) < 0.0):
            first = k
    return first


@kernel
def report(method: RunMethod, m: StandaloneRun, zero: int) -> None:
    """Make the time and state of a zero in the last step the present ones, and count it as reported."""
    e = m.run.events
    m.event, m.t = e.which[zero], e.times[zero]
    e.which[zero] = -1
    copy(e.states[zero * m.run.n :], m.state, m.run.n)
    settle(method, m, m.t, m.state)
    m.counts[m.event] += 1
    m.ended = m.counts[m.event] == m.wanted[m.event]


@kernel
def find_state(method: RunMethod, m: StandaloneRun, t: float) -> None:
    """The state at a time of the last step, for later ones at its end."""
    run = m.run
    m.t, m.event = t, -1
    if (t - run.t) * copysign(1.0, run.t_end - m.t0) >= 0.0 or m.before == run.t:
        m.t = run.t
        copy(run.y, m.state, run.n)
    else:
        interpolate(method.loop, run.n, m.base, run.interpolants, (t - m.before) / run.sizes[0], m.state)
    settle(method, m, m.t, m.state)


@kernel
def settle(method: RunMethod, m: StandaloneRun, t: float, y: Reals) -> None:
    """Project a state onto quaternion norms and constraints, which interpolation satisfies only approximately."""
    project(method.loop, m.run, m.n_quaternions, m.quaternions, t, y)


@kernel
def observe(m: StandaloneRun) -> None:
    """Evaluate what is observed in the present state."""
    m.run.time[0] = m.t
    m.observed(m.run.time, m.state, m.run.block, m.values)
