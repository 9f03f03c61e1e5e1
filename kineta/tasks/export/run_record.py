"""The record of a run without Python, with its functions by number, and the trees of all that it calls."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kineta.codegen.kernels.straight_line import room, straight_line
from kineta.codegen.kernels.tree import KernelTree
from kineta.consistency.consistent_start import refusal
from kineta.errors import ModelError, SimulationError
from kineta.integration.problem import Manifold, Problem
from kineta.integration.run_memory import run_data
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.standalone.sincos import sine_and_cosine
from kineta.kernels.standalone.standalone_run import StandaloneRun, advance, begin, change, observe
from kineta.kernels.translation import translate_unit
from kineta.memory import CompiledFunction
from kineta.model.system import System
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.events import event_record
from kineta.runtime.functions import SETUP
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import velocity_steps

#: Functions of a run; those that there are have numbers in this order, from 1 on.
FUNCTIONS = (SETUP, "rate", "observed", "position", "velocity", "events")


@dataclass(frozen=True, slots=True)
class RunCode:
    """What a run without Python consists of: its *record*, and the trees of its kernels and of its functions by name."""

    record: StandaloneRun
    begin: KernelTree
    advance: KernelTree
    change: KernelTree
    observe: KernelTree
    functions: Mapping[str, KernelTree]

    @property
    def trees(self) -> list[KernelTree]:
        """All trees."""
        return [*self.functions.values(), self.begin, self.advance, self.change, self.observe]


def run_code(task: SimulationProblem) -> RunCode:
    """The code of the run of *task*, whose functions are numbered in the order of :data:`FUNCTIONS`."""
    check_exported(task.system)
    made = task.made.code.programs
    numbers = {name: k for k, name in enumerate((n for n in FUNCTIONS if n in made), 1)}
    record = run_record(task, numbers, max(room(made[name]) for name in numbers))
    method = loop_method(task)
    *kernels, sincos = translate_unit((begin, method), (advance, method), (change,), (observe,), (sine_and_cosine,))
    functions = {name: straight_line(made[name], f"run_{name.removeprefix('run_')}", sincos) for name in numbers}
    return RunCode(record, kernels[0], kernels[1], kernels[2], kernels[3], functions)


def check_exported(system: System) -> None:
    """Raise :class:`ModelError` for a model whose loop decides more than steps and events."""
    kinds = {c.plural: c.name for c in system.contacts}
    kinds |= dict.fromkeys(["switches"] * bool(system.switches), system.switches[0].name if system.switches else "")
    kinds |= dict.fromkeys(["programs"] * bool(system.programs), system.programs[0].name if system.programs else "")
    for plural, name in kinds.items():
        raise ModelError(
            f"Model '{system.name}': a run with {plural} ('{name}') is not exported yet. Leave '{name}' out if the motion does"
            " not need it ('--without'), simulate in Python, or export single functions (without '--run')."
        )


def loop_method(task: SimulationProblem) -> LoopMethod:
    """What the loop of *task* is translated for: nothing is fused, so that all languages give the same bits."""
    return LoopMethod(TABLEAUX[task.method], False, task.made.code.treatment == PROJECTED, False)


def run_record(task: SimulationProblem, numbers: Mapping[str, int], behind: int = 0) -> StandaloneRun:
    """The record of the run of *task* before its start: functions at addresses, or other *numbers*, by name; with room for so
    many numbers *behind* the block h.
    """
    system, code, y0 = task.system, task.made.code, task.y0
    q, v = y0[: system.nq], y0[system.nq : system.nq + system.nv]
    if why := refusal(task.equations, task.t0, q, v, task.made.p, task.regular):
        raise SimulationError(why)
    projected = code.treatment == PROJECTED
    rest = np.zeros(len(y0) - len(q) - len(v))
    regular = [np.concatenate([*state, rest]) for state in task.regular] if projected else []
    speeds = system.nq, task.states
    problem = Problem(
        rhs=numbers["rate"],
        h=np.zeros(code.programs[SETUP].n_outputs + behind),
        t0=task.t0,
        t1=task.t1,
        y0=y0,
        quaternions=task.quaternions,
        integrals=code.layout.integrals,
        events=event_record(task.watched, numbers.get("events", 0)),
        manifold=Manifold(
            numbers["position"], numbers["velocity"], np.zeros(code.layout.pivots), speeds, velocity_steps(task)
        )
        if projected
        else None,
    )
    control = task.control
    tolerances = {"rtol": control.rtol, "atol": control.atol}
    run = run_data(TABLEAUX[task.method], problem, 1, **tolerances, max_step=control.max_step, dense=True, zeros=0)
    n = len(task.watched)
    return StandaloneRun(
        run=run,
        setup=CompiledFunction(numbers[SETUP]),
        observed=CompiledFunction(numbers["observed"]),
        given=np.concatenate([task.made.p, task.made.forces.constant]),
        start=y0.copy(),
        t0=task.t0,
        **tolerances,
        states=task.states,
        n_regular=len(regular),
        regular=np.array(regular).reshape(-1),
        n_quaternions=len(task.quaternions),
        quaternions=np.array(task.quaternions, dtype=np.int64),
        left=min(control.max_steps, sys.maxsize),
        base=np.zeros(len(y0)),
        state=np.zeros(len(y0)),
        counts=np.zeros(n, dtype=np.int64),
        wanted=np.array([int(e.terminal) for e in task.watched], dtype=np.int64),
        values=np.zeros(code.programs["observed"].n_outputs),
    )
