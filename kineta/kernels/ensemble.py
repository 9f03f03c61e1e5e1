"""The cases of an ensemble: a run carries one after the other to its end. Every lane of a vector has a case of its own, with its
time, step and error; one whose case has ended takes the next from a queue that all lanes and threads share.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta.integration.contact_records import BOUND, NORMAL
from kineta.integration.loop_abi import DONE, EVENT, GIVEN_UP, OUT_OF_STEPS, PAUSED, SPARE, RunData
from kineta.kernels.integrate import GOES_ON, begin_anew, is_fused, step
from kineta.kernels.kinks.crossings import begin_kinks
from kineta.kernels.language import fabs, kernel, take
from kineta.kernels.machine_code import machine_code, machine_code_in_lanes
from kineta.kernels.pace import count_anew
from kineta.kernels.runge_kutta import first_step
from kineta.kernels.sampling import observe
from kineta.kernels.sliding.sides import begin_rate, begin_slides, rate_on_sides
from kineta.kernels.stage_evaluation import LoopMethod, lowest_pivot, measure_pivots
from kineta.kernels.switching import begin_marks, begin_switches, look_before, set_block
from kineta.kernels.transition import carry_over, is_carried_out, keep_mode, release
from kineta.kernels.vectors import copy
from kineta.memory import LaneRecord
from kineta.numerics.tableaux import Tableau


def ensemble_loop(
    tableau: Tableau, lanes: int, *, projecting: bool = False, kinked: bool = False, sliding: bool = False
) -> Callable[[LaneRecord], object]:
    """The compiled loop for *tableau* in so many *lanes*: a function of the records of runs in all of them, to DONE in a lane
    that found no case, else to PAUSED. With *kinked*, steps end at kinks of the rate; with *sliding*, motions slide, too.
    """
    method = LoopMethod(tableau, is_fused(), projecting, False, True, False, kinked, sliding)
    return machine_code_in_lanes(lanes, integrate_cases, method)


def hybrid_ensemble_loop(
    tableau: Tableau, *, projecting: bool, touching: bool, switching: bool, kinked: bool, sliding: bool
) -> Callable[[RunData], int]:
    """The compiled loop for *tableau* of one case after the other, *projecting* with constraints, with contacts where it is
    *touching*, and *switching* with switches; *kinked* and *sliding* as :func:`ensemble_loop`: a function of the record of a
    run, to DONE where it found no case, else to PAUSED.
    """
    method = LoopMethod(tableau, is_fused(), projecting, touching, True, switching, kinked, sliding)
    return machine_code(integrate_cases, method)


@kernel
def integrate_cases(method: LoopMethod, run: RunData) -> int:
    """Make steps of cases until the run pauses, or no case is left."""
    for _ in range(run.allowed):
        if run.events.n != 0 and run.events.found > run.events.room:
            break
        if (method.touching or method.switching) and is_full(method, run):
            break
        if run.sampling.number < 0:
            begin_next(method, run)
            if run.sampling.number < 0:
                return DONE
        status = EVENT
        if not run.events.undefined:
            status = step(method, run)
        if run.events.undefined:
            status = GIVEN_UP
        elif run.events.ended:
            status = EVENT if is_end(method, run, run.sampling.ended) else GIVEN_UP
        if (method.touching or method.switching) and status == DONE and has_samples(run):
            status = take_sample(method, run)
            if status == GOES_ON:
                observe_again(method, run)
        if status == GOES_ON and run.accepted >= run.sampling.ensemble.max_steps:
            status = OUT_OF_STEPS
        if status != GOES_ON:
            put_back(method, run)
            run.sampling.ensemble.status[run.sampling.number] = status
            run.sampling.number = -1
    if run.sampling.number >= 0:
        put_back(method, run)
    return PAUSED


@kernel
def is_end(method: LoopMethod, run: RunData, event: int) -> bool:
    """Whether an *event* ends a case: one of the caller, or behind all others a switch."""
    if method.touching or method.switching:
        return event < run.contacts.watched or event >= run.events.n
    return True


@kernel
def is_full(method: LoopMethod, run: RunData) -> bool:
    """Whether another step, and the start of a case, may have more transitions or impacts than there is room for."""
    c = run.contacts
    if method.touching and 2 * c.transitions.made > c.transitions.room:
        return True
    if method.switching:
        return c.made + SPARE * (run.switches.count + SPARE) > c.rows
    return c.made + 2 > c.rows


@kernel
def begin_next(method: LoopMethod, run: RunData) -> None:
    """Take the next case from the queue, if there is one."""
    c, e, every, n = run.sampling, run.events, run.sampling.ensemble, run.n
    place = take(every.next)
    if place < every.queued:
        number = every.queue[place]
        c.number, c.recorded = number, every.first
        run.t, run.size, run.sizes[0] = every.t[number], every.size[number], 0.0
        run.accepted, run.rejected = 0, 0
        run.just_rejected = False
        copy(every.y[number * n :], run.y, n)
        if e.n != 0:
            for i in range(e.n):
                e.left[i] = every.left[number * e.n + i]
        e.ended, e.undefined = False, False
        if method.kinked:
            begin_kinks(run)
        if method.sliding:
            begin_slides(run)
        if method.projecting:
            run.constraints.hops = 0
        if method.touching:
            begin_case(method, run)
        elif method.switching:
            begin_switching(method, run)
        else:
            begin_free(method, run)


@kernel
def begin_free(method: LoopMethod, run: RunData) -> None:
    """Begin a case without contacts, whose rate is known."""
    e, every, number, n = run.events, run.sampling.ensemble, run.sampling.number, run.n
    copy(every.rates[number * n :], run.k, n)
    copy(every.blocks[number * every.stride :], run.block, every.block)
    if e.n != 0:
        copy(every.values[number * e.n :], e.values, e.n)
        copy(every.noise[number * e.n :], e.noise, e.n)
    if method.projecting:
        copy(every.largest[number * run.constraints.watched :], run.constraints.largest, run.constraints.watched)
        run.constraints.low = lowest_pivot(run, run.k)
        run.constraints.hops = 0
    run.evaluations = 1
    if run.size == 0.0:
        run.size = first_step(method, run)


@kernel
def begin_case(method: LoopMethod, run: RunData) -> None:
    """Begin the case of an ensemble: its first mode, its rate and its step size; a case without one is given up."""
    c, case, every = run.contacts, run.sampling, run.sampling.ensemble
    copy(every.blocks[case.number * every.stride :], c.motion.block, every.block)
    if method.switching:
        begin_given(method, run)
    c.transitions.same, c.transitions.fastest = every.same[case.number], 0.0
    release(run)
    changed = is_carried_out(method, run, run.t, run.y, c.made)
    run.events.undefined = not changed
    if method.switching:
        run.events.undefined = not changed or c.transitions.alarms > 0
    if changed:
        c.changed_rows[c.made], c.times[c.made], c.what[c.made] = case.number, run.t, -1
        keep_mode(run)
        count_anew(c.pace, run.t)
        copy(run.between, run.y, run.n)
        measure_pivots(run, run.t, every.n_regular, every.regular)
        begin_motion(method, run)


@kernel
def begin_given(method: LoopMethod, run: RunData) -> None:
    """The parameters and forces of a case, its switches before any has acted, and its first sample."""
    case, every, s = run.sampling, run.sampling.ensemble, run.switches
    copy(every.given[case.number * s.n_given :], s.given, s.n_given)
    case.segment = 0
    if every.segments > 0:
        run.t_end = every.ends[every.segments - 1]
    begin_switches(run)
    begin_marks(method, run)
    if every.segments > 0:
        hold(method, run)


@kernel
def hold(method: LoopMethod, run: RunData) -> None:
    """Hold the sampled forces of the present segment, up to its end."""
    case, every = run.sampling, run.sampling.ensemble
    for k in range(every.n_held):
        run.switches.given[every.places[k]] = every.held[case.segment * every.n_held + k]
    set_block(method, run)
    run.t_end = every.ends[case.segment]


@kernel
def has_samples(run: RunData) -> bool:
    """Whether there are sampled forces behind the present ones."""
    return run.sampling.segment + 1 < run.sampling.ensemble.segments


@kernel
def take_sample(method: LoopMethod, run: RunData) -> int:
    """Go on with the next sampled forces; the status of the case."""
    run.sampling.segment += 1
    free = is_free(method, run)
    if free:
        hold(method, run)
        begin_rate(method, run)
        return GOES_ON
    look_before(method, run, run.t, run.y)
    begin_marks(method, run)
    hold(method, run)
    copy(run.y, run.new, run.n)
    carry_over(method, run, True)
    if run.events.undefined:
        return GIVEN_UP
    return EVENT if run.events.ended else GOES_ON


@kernel
def observe_again(method: LoopMethod, run: RunData) -> None:
    """Record the state at a sample under the forces from then on."""
    every, number, place = run.sampling.ensemble, run.sampling.number, run.sampling.recorded - 1
    if place >= 0 and every.grid[place] == run.t:
        copy(run.y, every.samples[(number * every.times + place) * run.n :], run.n)
        observe(method, run, run.t, every.samples[(number * every.times + place) * run.n :], place)


@kernel
def is_free(method: LoopMethod, run: RunData) -> bool:
    """Whether forces alone change at a sample: there are no switches, and no contact is closed or near."""
    c, free = run.contacts, run.switches.count == 0
    if method.touching:
        for k in range(c.n_flags):
            free = free and c.motion.flags[k] == 0.0
        for k in range(c.motion.problem.contacts):
            free = free and c.motion.problem.has_normal[k] != 0
        for i in range(c.first, run.events.n):
            if c.guard_rows[i - c.first] == BOUND:
                free = False
            elif c.guard_rows[i - c.first] == NORMAL:
                free = free and run.events.values[i] > c.transitions.same
    return free and method.touching


@kernel
def begin_switching(method: LoopMethod, run: RunData) -> None:
    """Begin a case with switches and no contacts."""
    case, every = run.sampling, run.sampling.ensemble
    copy(every.blocks[case.number * every.stride :], run.block, every.block)
    begin_given(method, run)
    count_anew(run.contacts.pace, run.t)
    if method.projecting:
        measure_pivots(run, run.t, every.n_regular, every.regular)
    begin_motion(method, run)


@kernel
def begin_motion(method: LoopMethod, run: RunData) -> None:
    """The rate, the step size, the events and the first sample of a case."""
    case, every = run.sampling, run.sampling.ensemble
    rate_on_sides(method, run, run.t, run.y, run.k)
    run.size = first_step(method, run)
    run.evaluations = 2 if method.touching else 1  # alone a motion is evaluated again after the first mode
    begin_anew(method, run)
    if every.first > 0:
        copy(run.y, every.samples[case.number * every.times * run.n :], run.n)
        observe(method, run, run.t, every.samples[case.number * every.times * run.n :], 0)


@kernel
def put_back(method: LoopMethod, run: RunData) -> None:
    """Store the progress of the case."""
    c, every, number = run.sampling, run.sampling.ensemble, run.sampling.number
    every.t[number], every.size[number] = run.t, fabs(run.sizes[0])
    every.accepted[number], every.rejected[number] = run.accepted, run.rejected
    every.evaluations[number], every.recorded[number], every.ended[number] = run.evaluations, c.recorded, c.ended
    copy(run.y, every.y[number * run.n :], run.n)
    if method.touching or method.switching:
        observe(method, run, run.t, every.y[number * run.n :], every.times)
