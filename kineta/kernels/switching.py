"""The switch of a case of an ensemble, which sets coordinates and speeds at the zeros of its condition."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.event_start import evaluate_events, look_at_start
from kineta.kernels.language import fabs, kernel
from kineta.kernels.sampling import is_last_wanted, note_case, note_step
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.transition import energy, first_change, keep_zeros
from kineta.kernels.vectors import copy
from kineta.memory import Reals


@kernel
def switch(method: LoopMethod, run: RunData, dense: Reals, start: float, h: float, before: int) -> None:
    """Switch at the first zero of the condition in a step from the time *start* on, where nothing before it ends the run;
    *before* is the number of zeros found before the step. A case whose switch is more than that is given up.
    """
    c, e, n = run.contacts, run.events, run.n
    row = first_change(run, before)
    alone = row >= 0
    if alone:
        end = e.times[row] + tolerances.EVENT_TOLERANCE * max(run.switches.span, fabs(e.times[row]))
        for k in range(before, e.found):
            last = is_last_wanted(run, k)
            alone = alone and not (e.which[k] < c.watched and last and e.times[k] <= end)
    if alone:
        run.t = e.times[row]
        copy(e.states[row * n :], run.new, n)
        keep_zeros(run, run.switches.span, run.t, before)
        note_step(method, run, dense, start, h, before)
        note_case(method, run, run.t)
        c.made += 1
        full = energy(run, run.t, run.new)
        evaluate_events(run, run.t, run.new, e.tried)
        old = e.tried[c.watched]
        set_values(run)
        left = energy(run, run.t, run.new)
        run.new[c.work] = run.new[c.work] + (left - full)
        evaluate_events(run, run.t, run.new, e.tried)
        e.undefined = e.undefined or (old < 0.0 and e.tried[c.watched] >= 0.0)
        copy(run.new, run.y, n)
        run.time[0] = run.t
        run.rate(run.time, run.y, run.block, run.k)
        run.evaluations += 1
        e.left[c.watched] = 1
        c.changed = True
        look_at_start(run, run.t)


@kernel
def set_values(run: RunData) -> None:
    """Set the new values in the new state, and the block of parameters as at every switch; a case is given up where a value is
    not finite.
    """
    s = run.switches
    run.time[0] = run.t
    s.values(run.time, run.new, run.block, s.found)
    for k in range(s.count):
        run.new[s.targets[k]] = s.found[k]
        run.events.undefined = run.events.undefined or not fabs(s.found[k]) < float("inf")
    s.setup(s.given, run.block)
