"""The adaptive explicit integrator, without Python between two steps.

One loop per method, the same for every system: the right-hand side is the address of a compiled function. It returns at the end
of the run, after the allowed number of steps (so that a run can be watched and interrupted), after the last wanted zero of an
event, after a step with ambiguous events, and at a failure. What it shares with Python: :mod:`kineta.integration.loop_abi`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kineta.codegen.target import host
from kineta.integration.loop_abi import DONE, EVENT, NOT_FINITE, PAUSED, STEP_TOO_SMALL, RunData
from kineta.kernels.event_location import locate
from kineta.kernels.event_start import look_at_start
from kineta.kernels.kinks.clocks import cut_step, is_cut
from kineta.kernels.kinks.crossings import crosses, look_ahead, note_free_step, shorten
from kineta.kernels.kinks.leaps import take_leap, tears
from kineta.kernels.language import fabs, kernel
from kineta.kernels.machine_code import machine_code
from kineta.kernels.pace import keeps_pace
from kineta.kernels.projection import hops, projected_step, watch_pivots
from kineta.kernels.runge_kutta import (
    error_norm,
    first_step,
    grow,
    inner_stages,
    interpolant,
    is_last,
    next_step,
    record,
    resolution,
    shrink,
)
from kineta.kernels.sampling import is_due, sample
from kineta.kernels.sliding.sides import begin_rate, end_step, find_sides, is_stray, let_free, meet, rate_on_sides
from kineta.kernels.stage_evaluation import LoopMethod, evaluate, lowest_pivot, rate_of
from kineta.kernels.switching import change_at
from kineta.kernels.transition import are_apart, decide, follow_surfaces, has_room, set_hysteresis, switch
from kineta.kernels.vectors import copy, normalise
from kineta.numerics.tableaux import Tableau

#: What a step returns when the run goes on.
GOES_ON = -1
#: Part of a step with too many zeros of events that is tried instead.
_FEWER = 0.25


#: Equal methods are compiled once, and their text is made once.
_compiled = cache(lambda kernel, *method: machine_code(kernel, LoopMethod(*method)))


def integration_loop(
    tableau: Tableau, *, projecting: bool = False, touching: bool = False, kinked: bool = False, sliding: bool = False
) -> Callable[[RunData], int]:
    """The compiled loop for *tableau*.

    With *projecting* it projects onto the constraints of the problem; with *touching* it carries out impacts and stick-slip
    transitions, too; with *kinked* its steps end at kinks of the rate, and with *sliding* it slides along surfaces, too.
    """
    return _compiled(integrate, tableau, is_fused(), projecting or touching, touching, False, False, kinked, sliding)


def transition(tableau: Tableau, *, projecting: bool, touching: bool, sliding: bool) -> Callable[[RunData, bool], bool]:
    """The compiled transition of switches and contacts between two steps of :func:`integration_loop`."""
    return _compiled(change_at, tableau, is_fused(), projecting, touching, False, False, False, sliding)


def is_fused() -> bool:
    """Whether this machine rounds a b + c once."""
    return host().fuses


@kernel
def integrate(method: LoopMethod, run: RunData) -> int:
    """Make steps until the run pauses or ends."""
    if run.fresh:
        begin(method, run)
    if run.anew:
        begin_anew(method, run)
    status = GOES_ON
    while status == GOES_ON:
        if run.accepted >= run.allowed or run.events.found > run.events.room:
            return PAUSED
        if method.touching and run.contacts.pace.over != 0:
            return PAUSED
        status = step(method, run)
    if method.touching and status == DONE:
        run.contacts.apart = are_apart(run)
    return status


@kernel
def begin(method: LoopMethod, run: RunData) -> None:
    """Evaluate the rate at the start, and find its pivots, and the first step where none is given."""
    rate_on_sides(method, run, run.t, run.y, run.k)
    run.evaluations += 1
    if method.projecting:
        run.constraints.low = lowest_pivot(run, run.k)
    if run.size == 0.0:
        run.size = first_step(method, run)
    run.fresh = False


@kernel
def begin_anew(method: LoopMethod, run: RunData) -> None:
    """Evaluate the rate and the events at the start."""
    begin_rate(method, run)
    if run.events.n != 0:
        look_at_start(run, run.t)
        if method.touching:
            set_hysteresis(run)
    run.anew = False
    if method.projecting:
        run.constraints.low = lowest_pivot(run, run.k)


@kernel
def step(method: LoopMethod, run: RunData) -> int:
    """Try a step; what the loop returns, or that it goes on."""
    cut, stops, known = False, False, False
    if method.sliding and run.slides.loose:
        find_sides(method, run, run.t, run.y, run.k)
    if method.kinked:
        gap = look_ahead(method, run)
        if gap != 0.0:
            return pass_kink(method, run, gap)
        cut = is_cut(run)
    t, h, last = run.t, next_step(run), is_last(run)
    if method.kinked:
        h, last = cut_step(run) if cut else h, last and not cut
        stops = cut and run.kinks.found
    if not (last or stops or fabs(h) > resolution(t)):
        return STEP_TOO_SMALL
    end = run.t_end if last else t + h
    if method.kinked and stops:
        end = run.kinks.stop
    error = free_step(method, run, t, h) if not method.projecting else projected_step(method, run, t, h, end)
    if error < 1.0:
        dense = run.interpolants[row(method, run) * method.tableau.coefficients * run.n :]
        if method.kinked:
            known = run.kinks.n + run.kinks.n_smooth > 0
            if known:
                interpolant(method, run, t, h, dense)
                crossed = crosses(method, run, dense, t, h)
                if crossed:
                    run.rejected += 1
                    return GOES_ON
        if method.sliding and run.slides.active > 0:
            stray = is_stray(method, run, dense, t, h, end)
            if stray:
                run.rejected += 1
                return GOES_ON
        grow(method, run, h, error, last or cut)
        run.t = end
        if method.kinked:
            note_free_step(method, run, dense, t, h, end)
        if not known and is_dense(method, run):
            interpolant(method, run, t, h, dense)
        if method.sliding:
            return slid(method, run, t, h, last)
        return accept(method, run, t, h, last, False)
    if method.projecting:
        hopped = hops(run, h)
        if hopped:
            return GOES_ON
    if method.sliding and not error < float("inf"):
        let_free(run)
    hopeless = shrink(method, run, h, error)
    if method.kinked:
        shorten(method, run, h)
    return NOT_FINITE if hopeless else GOES_ON


@kernel
def free_step(method: LoopMethod, run: RunData, t: float, h: float) -> float:
    """Try a step without constraints; its error."""
    inner_stages(method, run, t, h)
    evaluate(method, run, t + h, run.k[method.tableau.stages * run.n :])
    return error_norm(method, run, h)


@kernel
def slid(method: LoopMethod, run: RunData, t: float, h: float, last: bool) -> int:
    """Make the step from t to the time of the run, of a motion that may slide."""
    end = run.t
    status = accept(method, run, t, h, last, False)
    if run.slides.active > 0 and run.t == end:
        end_step(method, run)
    return status


@kernel
def accept(method: LoopMethod, run: RunData, t: float, h: float, last: bool, bent: bool) -> int:
    """Make the step from t to the time of the run, whose interpolant is known: its event zeros, its record. With *bent* it is
    one over a kink, where surfaces of contacts may jump.
    """
    e, n, new, end = run.events, run.n, run.new, run.t
    rates = run.k[method.tableau.stages * n :]
    before = e.found
    dense = run.interpolants[row(method, run) * method.tableau.coefficients * n :]
    for j in range(run.n_quaternions):
        normalise(new[run.quaternions[j] :])
    if e.n != 0:
        locate(method, run, dense, t, h, end)
        if e.crowded:
            run.t, run.size, run.just_rejected = t, _FEWER * fabs(h), True
            run.rejected += 1
            return GOES_ON
    if method.projecting:
        watch_pivots(run, rates)
    if method.touching or method.switching:
        run.contacts.changed = False
        if e.ended:
            if method.touching:
                decide(method, run, dense, t, h, before)
            else:
                switch(method, run, dense, t, h, before)
        elif method.touching and bent and not last:
            follow_surfaces(method, run, dense, t, h, before)
        if run.contacts.changed:
            return EVENT if e.ended else GOES_ON
    if method.sampling:
        sample(method, run, dense, t, h, before)
    else:
        record(run, end, h, new)
    if method.touching and not e.ended:
        keeps_pace(method, run, run.t)
    copy(new, run.y, n)
    copy(rates, run.k, n)
    if last or e.undefined or e.ended:
        return DONE if last else EVENT
    return GOES_ON


@kernel
def pass_kink(method: LoopMethod, run: RunData, gap: float) -> int:
    """Pass a kink within the time *gap* at the present rate; what the loop returns, or that it goes on."""
    if method.touching and not has_room(run):
        return PAUSED
    n, t, last = run.n, run.t, run.t + gap == run.t_end or gap == run.t_end - run.t
    end = run.t_end if last else t + gap
    dense = run.interpolants[row(method, run) * method.tableau.coefficients * n :]
    for i in range(n):
        run.new[i] = run.y[i] + gap * run.k[i]
    if run.kinks.n_stored > 0 and t == run.kinks.left and end == run.kinks.over:
        able = take_leap(run)
        if not able:
            return STEP_TOO_SMALL
    elif run.kinks.n_stored > 0 and run.kinks.n > 0:
        torn = tears(method, run, gap)
        if torn:
            return STEP_TOO_SMALL
    run.time[0] = end
    rate_of(method, run, run.new, run.k[method.tableau.stages * n :])
    run.evaluations += 1
    if method.sliding:
        meet(method, run, t, end, run.k[method.tableau.stages * n :])
    run.t, run.just_rejected = end, False
    run.kinks.passed += 1
    if is_dense(method, run):
        for i in range(method.tableau.coefficients * n):
            dense[i] = 0.0
        for i in range(n):
            dense[i] = run.new[i] - run.y[i]
    return accept(method, run, t, gap, last, True)


@kernel
def row(method: LoopMethod, run: RunData) -> int:
    """The row of the interpolant of a step: a case of an ensemble keeps that of its last alone."""
    return 0 if method.sampling else run.accepted


@kernel
def is_dense(method: LoopMethod, run: RunData) -> bool:
    """Whether the interpolant of a step is needed."""
    return run.events.n != 0 or is_due(run) if method.sampling else run.dense
