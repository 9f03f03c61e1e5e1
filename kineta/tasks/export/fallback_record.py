"""The record of a run without Python that goes over from events to time stepping and back, with its functions by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kineta.integration.contact_records import FLAGS, IMPACT_NUMBERS
from kineta.integration.handover import BACK, QuietWatch
from kineta.integration.time_stepping import MOREAU
from kineta.kernels.standalone.fallback_run import StandaloneFallback
from kineta.kernels.standalone.standalone_run import StandaloneRun
from kineta.memory import CompiledFunction
from kineta.runtime.compiled import stepped_system
from kineta.runtime.functions import SETUP
from kineta.runtime.kinks import jumps_somewhere
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.recorder import resized
from kineta.tasks.export.stepping_record import steps_record

#: Where fields of a run that hands over lie.
FALLBACK_FIELDS = {
    n: f"root.{n}"
    for n in (
        *("t0", "t_end", "rtol", "atol", "max_step", "left", "t", "event", "rejected", "evaluations", "found", "made"),
        *("culprit", "handed", "spent"),
    )
} | {"told": "root_told", "impacts": "root_impacts", "reached": "root_events_run.t", "latest": "root_events_run_y"}


def stepped_task(task: SimulationProblem) -> SimulationProblem | None:
    """The *task* by time stepping, where its run by events hands over to it; None where it does not, as under the caller's events
    and where contacts or places jump.
    """
    if not task.falls_back or task.watched or jumps_somewhere(task.equations):
        return None
    made = stepped_system(task.equations, task.made, ())
    n = task.states + made.code.layout.integrals
    return replace(task, method=MOREAU, made=made, y0=resized(task.y0[None], n)[0])


def fallback_record(
    task: SimulationProblem, stepped: SimulationProblem, run: StandaloneRun, numbers: Mapping[str, int], behind: int
) -> StandaloneFallback:
    """The record of the *run* of *task*, which hands over to that of *stepped*, whose functions have these *numbers*, with room
    for so many numbers *behind* the block h.
    """
    code, n, m = stepped.made.code, len(task.y0), len(task.made.code.layout.touches)
    data = code.stepping(
        np.zeros(code.programs[SETUP].n_outputs + behind), task.quaternions, numbers=numbers, rows=(1, 0)
    )
    shared = {
        "given": run.array("given"),
        "start": run.array("start"),
        "state": np.zeros(max(n, data.motion.n_extended)),
        "values": np.zeros(max(len(run.array("values")), code.programs["observed"].n_outputs)),
        "told": np.zeros(max(len(run.changes.array("told")), 2 * data.room)),
    }
    impacts = run.run.contacts.transitions.array("impacts")
    steps = steps_record(
        stepped,
        data,
        **shared,
        setup=CompiledFunction(numbers[SETUP]),
        observed=CompiledFunction(numbers["observed"]),
    )
    run.update(state=shared["state"], values=shared["values"])
    run.changes.update(told=shared["told"])
    watch = QuietWatch(
        pressed=np.zeros(m, dtype=np.int64),
        states=task.states + code.layout.works,
        state=np.zeros(n),
        flags=np.zeros(FLAGS * m),
        values=np.zeros(code.programs["observed"].n_outputs),
    )
    return StandaloneFallback(
        **shared,
        impacts=np.zeros(max(len(impacts), IMPACT_NUMBERS * data.room)),
        events=run,
        steps=steps,
        watch=watch,
        t0=task.t0,
        t_end=task.t1,
        rtol=task.control.rtol,
        atol=task.control.atol,
        max_step=task.control.max_step,
        left=run.left,
        handing=np.zeros(n),
        flags=np.zeros(FLAGS * m),
        rows=np.zeros((BACK + 1) * n),
        marks=np.zeros(BACK + 1),
    )
