"""The cases of an ensemble: a run carries one after the other to its end. Every lane of a vector has a case of its own, with its
time, step and error; one whose case has ended takes the next from a queue that all lanes and threads share.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta.integration.loop_abi import DONE, EVENT, GIVEN_UP, OUT_OF_STEPS, PAUSED, RunData
from kineta.kernels.integrate import GOES_ON, is_fused, step
from kineta.kernels.language import fabs, kernel, take
from kineta.kernels.machine_code import machine_code_in_lanes
from kineta.kernels.stage_evaluation import LoopMethod, lowest_pivot
from kineta.kernels.vectors import copy
from kineta.memory import LaneRecord
from kineta.numerics.tableaux import Tableau


def ensemble_loop(tableau: Tableau, lanes: int, *, projecting: bool = False) -> Callable[[LaneRecord], object]:
    """The compiled loop for *tableau* in so many *lanes*: a function of the records of runs in all of them, to DONE in a lane
    that found no case, else to PAUSED.
    """
    return machine_code_in_lanes(lanes, integrate_cases, LoopMethod(tableau, is_fused(), projecting, False, True))


@kernel
def integrate_cases(method: LoopMethod, run: RunData) -> int:
    """Make steps of cases until the run pauses, or no case is left."""
    for _ in range(run.allowed):
        if run.events.n != 0 and run.events.found > run.events.room:
            break
        if run.sampling.number < 0:
            begin_next(method, run)
            if run.sampling.number < 0:
                return DONE
        status = step(method, run)
        if run.events.n != 0 and status != GOES_ON:
            status = GIVEN_UP if run.events.undefined else EVENT if run.events.ended else status
        if status == GOES_ON and run.accepted >= run.sampling.ensemble.max_steps:
            status = OUT_OF_STEPS
        if status != GOES_ON:
            put_back(run)
            run.sampling.ensemble.status[run.sampling.number] = status
            run.sampling.number = -1
    if run.sampling.number >= 0:
        put_back(run)
    return PAUSED


@kernel
def begin_next(method: LoopMethod, run: RunData) -> None:
    """Take the next case from the queue, if there is one."""
    c, e, every, n = run.sampling, run.events, run.sampling.ensemble, run.n
    place = take(every.next)
    if place < every.queued:
        number = every.queue[place]
        c.number, c.recorded = number, every.first
        run.t, run.size, run.sizes[0] = every.t[number], every.size[number], 0.0
        run.accepted, run.rejected, run.evaluations = 0, 0, 2
        run.just_rejected = False
        copy(every.y[number * n :], run.y, n)
        copy(every.rates[number * n :], run.k, n)
        copy(every.blocks[number * every.stride :], run.block, every.block)
        if e.n != 0:
            e.ended, e.undefined = False, False
            copy(every.values[number * e.n :], e.values, e.n)
            copy(every.noise[number * e.n :], e.noise, e.n)
            for i in range(e.n):
                e.left[i] = every.left[number * e.n + i]
        if method.projecting:
            copy(every.largest[number * run.constraints.watched :], run.constraints.largest, run.constraints.watched)
            run.constraints.low = lowest_pivot(run, run.k)
            run.constraints.hops = 0


@kernel
def put_back(run: RunData) -> None:
    """Store the progress of the case."""
    c, every, number = run.sampling, run.sampling.ensemble, run.sampling.number
    every.t[number], every.size[number] = run.t, fabs(run.sizes[0])
    every.accepted[number], every.rejected[number] = run.accepted, run.rejected
    every.evaluations[number], every.recorded[number], every.ended[number] = run.evaluations, c.recorded, c.ended
    copy(run.y, every.y[number * run.n :], run.n)
