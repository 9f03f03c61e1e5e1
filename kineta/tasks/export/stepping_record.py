"""The record of a run by time stepping without Python, with its functions by number."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from kineta.hybrid.automaton import check_start
from kineta.integration.contact_records import IMPACT_NUMBERS
from kineta.integration.handover import DEEPEST_START
from kineta.integration.stepping_records import SteppingData
from kineta.integration.time_stepping import largest_step
from kineta.kernels.standalone.stepping_run import StandaloneSteps
from kineta.kernels.standalone.touching_bodies import TouchingBodies
from kineta.memory import CompiledFunction
from kineta.runtime.functions import SETUP
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.run import check_steps

#: Where fields of a run by time stepping lie.
STEP_FIELDS = {
    **{
        n: f"root.{n}"
        for n in ("t0", "t_end", "max_step", "left", "t", "event", "rejected", "evaluations", "found", "culprit")
    },
    "made": "root.struck",
    "told": "root_told",
    "impacts": "root_impacts",
}


def stepping_record(task: SimulationProblem, numbers: Mapping[str, int], behind: int = 0) -> StandaloneSteps:
    """The record of the run of *task* before its start: functions at addresses, or other *numbers*, by name; with room for so
    many numbers *behind* the block h. Raises :class:`SimulationError` where it cannot start.
    """
    code, made = task.made.code, task.made
    check_steps(task)
    check_start(task, made)
    h = np.concatenate([np.zeros(code.programs[SETUP].n_outputs), np.zeros(behind)])
    run = code.stepping(h, task.quaternions, numbers=numbers, rows=(1, 0))
    start = np.zeros(run.motion.n_extended)
    start[: len(task.y0)] = task.y0
    given, values = np.concatenate([made.p, made.forces.constant]), code.programs["observed"].n_outputs
    own = {"setup": CompiledFunction(numbers[SETUP]), "observed": CompiledFunction(numbers["observed"])}
    return steps_record(task, run, given=given, start=start, values=np.zeros(values), **own)


def steps_record(task: SimulationProblem, run: SteppingData, **made: Any) -> StandaloneSteps:
    """The record of a *run*, of which *task* tells the times, with what else is *made*."""
    n, most = run.motion.n_extended, run.room
    return StandaloneSteps(
        run=run,
        t0=task.t0,
        t_end=task.t1,
        max_step=largest_step(task.control.max_step),
        deepest=-DEEPEST_START,
        left=min(task.control.max_steps, sys.maxsize),
        rejected=0,
        evaluations=0,
        begin=task.t0,
        before=np.zeros(n),
        ahead=False,
        t=task.t0,
        at=np.zeros(n),
        event=-1,
        culprit=0,
        found=0,
        struck=0,
        impacts=np.zeros(IMPACT_NUMBERS * most),
        **({"bodies": TouchingBodies(), "state": np.zeros(n), "told": np.zeros(2 * most)} | made),
    )
