"""The record of a run without Python, with its functions by number, and the trees of all that it calls."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.kernels.straight_line import room, straight_line
from kineta.codegen.kernels.tree import KernelTree, callees_first, records
from kineta.consistency.consistent_start import refusal
from kineta.errors import SimulationError
from kineta.hybrid.chattering import pace_of
from kineta.hybrid.switches import loop_switches
from kineta.integration.contact_records import FLAGS, IMPACT_NUMBERS
from kineta.integration.loop_abi import SPARE
from kineta.integration.problem import Contacts, Manifold, Problem
from kineta.integration.run_memory import run_form, run_memory, set_contacts, set_switches
from kineta.kernels.contact import motion as contact_motion
from kineta.kernels.contact.transition import transit
from kineta.kernels.language import Kernel
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.standalone import fallback_run, stepping_run
from kineta.kernels.standalone.contact_transitions import ContactChanges
from kineta.kernels.standalone.controllability import Controllability
from kineta.kernels.standalone.fallback_run import FallbackMethod, StandaloneFallback
from kineta.kernels.standalone.sincos import sine_and_cosine
from kineta.kernels.standalone.standalone_run import RunMethod, StandaloneRun, advance, begin, change, observe
from kineta.kernels.standalone.stepping_run import StandaloneSteps, StepMethod
from kineta.kernels.translation import translate_unit
from kineta.memory import CompiledFunction, Record
from kineta.numerics.tableaux import TABLEAUX
from kineta.programs.controllability_watch import PROGRESS
from kineta.records import dataclass
from kineta.runtime.constraint_treatment import PROJECTED, STEPPED
from kineta.runtime.contact_problem import STEP_FUNCTIONS
from kineta.runtime.events import event_record
from kineta.runtime.functions import CLOCKS, GUARDS, HELD, SETUP, STORED, SWITCHES, kinks_of, slides_of
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import velocity_steps
from kineta.tasks.export.fallback_record import FALLBACK_FIELDS, fallback_record, stepped_task
from kineta.tasks.export.memory_image import Piece, pieces
from kineta.tasks.export.stepping_record import STEP_FIELDS, stepping_record
from kineta.tasks.export.touching_record import TouchingRecord
from kineta.threads import once

#: Functions of a run; those that there are have numbers in this order, from 1 on.
FUNCTIONS = (
    *(SETUP, "rate", "observed", "position", "velocity", "events"),
    *("terms", "gaps", "free", "residuals", "retraction", *STEP_FUNCTIONS, "regularity", GUARDS, CLOCKS, STORED, HELD),
)
#: With contacts: functions of the contact motion, and its transition, whose numbers follow.
CONTACT_KERNELS = {
    f"contact_{name}": getattr(contact_motion, f"contact_{name}")
    for name in ("rate", "observed", "position", "velocity", "events")
} | {"transit": transit}
#: What splits off 40 of the 53 bits of a number.
_SPLITTING = 2.0**40 + 1.0
#: Impacts at one time that are listed, and the part of them for each contact.
IMPACTS, IMPACTS_OF_CONTACT = 64, 4


#: Where fields of a run by events lie.
EVENT_FIELDS = {
    **{n: f"root.{n}" for n in ("t0", "rtol", "atol", "left", "t", "event")},
    **{n: f"root_run.{n}" for n in ("t_end", "max_step", "rejected", "evaluations")},
    **{n: f"root_run_contacts_transitions.{n}" for n in ("made", "culprit")},
    "reached": "root_run.t",
    "latest": "root_run_y",
    "found": "root_changes.found",
    "told": "root_changes_told",
    "impacts": "root_run_contacts_transitions_impacts",
}


@dataclass(frozen=True)
class RunCode:
    """What a run without Python consists of: its *record*, in which *fields* of this name lie, and the trees of its kernels and
    of its functions by name; other records are *held* by addresses in its arrays.
    """

    record: StandaloneRun | StandaloneSteps | StandaloneFallback
    fields: Mapping[str, str]
    begin: KernelTree
    advance: KernelTree
    change: KernelTree
    observe: KernelTree
    functions: Mapping[str, KernelTree]
    held: Sequence[Record] = ()

    @property
    def trees(self) -> list[KernelTree]:
        """All trees."""
        return [*self.functions.values(), self.begin, self.advance, self.change, self.observe]

    @once
    def memory(self) -> dict[str, Piece]:
        """The pieces of memory that the trees use."""
        return pieces(self.record, {kind.name for kind in records(callees_first(self.trees))}, self.held)

    def field(self, name: str) -> tuple[Record, str]:
        """The record in which a field of this *name* lies, and its name there."""
        piece, _, own = self.fields[name].partition(".")
        found = self.memory[piece]
        assert isinstance(found, Record)
        return found, own


def run_code(task: SimulationProblem) -> RunCode:
    """The code of the run of *task*, whose functions are numbered in the order of :data:`FUNCTIONS` and
    :data:`CONTACT_KERNELS`.
    """
    made, stepped = task.made.code.programs, task.made.code.treatment == STEPPED
    own, switching = [n for n in FUNCTIONS if n in made], [SWITCHES] * bool(task.system.switches)
    above = CONTACT_KERNELS if task.made.code.layout.touches and not stepped else {}
    numbers = {name: k for k, name in enumerate((*own, *switching, *above), 1)}
    behind = max(room(made[name]) for name in (*own, *switching))
    record: StandaloneRun | StandaloneSteps | StandaloneFallback
    beside = stepped_task(task)
    others = {} if beside is None else {n: x for n in FUNCTIONS if (x := beside.made.code.programs.get(n)) is not None}
    if beside is not None:
        after = {name: k for k, name in enumerate(others, 1 + len(numbers))}
        run = run_record(task, numbers, behind)
        record, fields = fallback_record(task, beside, run, after, max(map(room, others.values()))), FALLBACK_FIELDS
        first, second, third, fourth, sincos, *kernels = _fallback_kernels(loop_method(task))
    elif stepped:
        record, fields = stepping_record(task, numbers, behind), STEP_FIELDS
        first, second, third, fourth, sincos = _stepping_kernels()
    else:
        record, fields = run_record(task, numbers, behind), EVENT_FIELDS
        first, second, third, fourth, sincos, *kernels = _kernels(loop_method(task), bool(above))
    named = (*own, *switching)
    functions = {name: straight_line(made[name], f"run_{name.removeprefix('run_')}", sincos) for name in named}
    functions |= {} if stepped else dict(zip(above, kernels, strict=True))
    functions |= {f"step_{n}": straight_line(x, f"step_{n.removeprefix('run_')}", sincos) for n, x in others.items()}
    return RunCode(record, fields, first, second, third, fourth, functions)


@cache
def _kernels(method: RunMethod, touching: bool) -> list[KernelTree]:
    """The trees of the kernels of a run: those of :class:`StandaloneRun`, sine and cosine, then :data:`CONTACT_KERNELS`."""
    roots = ((begin, method), (advance, method), (change, method), (observe,), (sine_and_cosine,))
    return translate_unit(*roots, *((k,) for k in CONTACT_KERNELS.values() if touching))


@cache
def _fallback_kernels(method: RunMethod) -> list[KernelTree]:
    """The trees of the kernels of :class:`StandaloneFallback`, sine and cosine, then :data:`CONTACT_KERNELS`."""
    own = (fallback_run.begin, fallback_run.advance, fallback_run.change, fallback_run.observe)
    whole = FallbackMethod(method, StepMethod(False))
    return translate_unit(*((k, whole) for k in own), (sine_and_cosine,), *((k,) for k in CONTACT_KERNELS.values()))


@cache
def _stepping_kernels(*others: Kernel) -> list[KernelTree]:
    """The trees of the kernels of :class:`StandaloneSteps`, sine and cosine, and *others* of tables, if there are any."""
    own, method = (
        (stepping_run.begin, stepping_run.advance, stepping_run.change, stepping_run.observe),
        StepMethod(bool(others)),
    )
    return translate_unit(*((k, method) for k in own), (sine_and_cosine,), *((k,) for k in others))


def touching_code(found: TouchingRecord) -> RunCode:
    """The code of a run of bodies that may touch each other."""
    own = [function for function in found.called.values() if isinstance(function, Kernel)]
    first, second, third, fourth, sincos, *kernels = _stepping_kernels(*own)
    trees = dict(zip(own, kernels, strict=True))
    functions = {
        name: trees[x] if isinstance(x, Kernel) else straight_line(x, f"run_{name}", sincos)
        for name, x in found.called.items()
    }
    return RunCode(found.record, STEP_FIELDS, first, second, third, fourth, functions, found.held)


def loop_method(task: SimulationProblem) -> RunMethod:
    """What the loop of *task* is translated for: nothing is fused, so that all languages give the same bits."""
    code = task.made.code
    touching, kinked = bool(code.layout.touches), any(code.layout.switching)
    loop = LoopMethod(
        TABLEAUX[task.method],
        False,
        code.treatment == PROJECTED,
        touching,
        sampling=False,
        switching=False,
        kinked=kinked,
        sliding=bool(code.layout.slides),
    )
    return RunMethod(loop, bool(task.system.switches), bool(task.system.programs))


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
    regular = [_coarse(np.concatenate([*state, rest])) for state in task.regular] if projected else []
    speeds = system.nq, task.states
    contacts = _contacts(task, numbers, behind) if code.layout.touches else None
    above = "" if contacts is None else "contact_"
    problem = Problem(
        rhs=numbers[f"{above}rate"],
        h=np.zeros(code.programs[SETUP].n_outputs + behind),
        t0=task.t0,
        t1=task.t1,
        y0=y0,
        quaternions=task.quaternions,
        integrals=code.layout.integrals,
        events=event_record(
            task.watched, numbers.get(f"{above}events", 0), len(system.switches), code.layout.touch_events
        ),
        kinks=kinks_of(code.layout, [numbers.get(name, 0) for name in (GUARDS, CLOCKS, STORED)])
        if any(code.layout.switching)
        else None,
        slides=slides_of(code.layout, numbers.get(HELD, numbers[f"{above}rate"])),
        manifold=Manifold(
            numbers[f"{above}position"],
            numbers[f"{above}velocity"],
            np.zeros(code.layout.pivots),
            speeds,
            velocity_steps(task),
        )
        if projected
        else None,
    )
    control = task.control
    tolerances = {"rtol": control.rtol, "atol": control.atol}
    form = run_form(TABLEAUX[task.method], problem, 1, **tolerances, dense=True, zeros=0)
    run = run_memory(form, problem, control.max_step).data
    changes, touches, rows = ContactChanges(), len(code.layout.touches), 1
    if system.switches:
        rows += SPARE * (len(system.switches) + SPARE)
    impacts = 0 if contacts is None else contacts.transitions.room
    changes.update(told=np.zeros(2 * (impacts + rows * (1 + 3 * touches))))
    given = np.concatenate([task.made.p, task.made.forces.constant])
    if contacts is not None:
        run.block = contacts.motion.words()
        set_contacts(run, contacts, rows)
        changes.update(flags=np.zeros(code.layout.flags))
    if system.switches:
        switching = loop_switches(task, (numbers[SWITCHES], numbers[SETUP], numbers["observed"]))
        set_switches(run, replace(problem, switching=switching, contacts=contacts), rows)
        run.switches.update(given=given)
        changes.update(state=np.zeros(len(y0)))
    if touches or system.switches:
        run.contacts.update(pace=pace_of(task))
    wanted = np.empty(0, dtype=np.int64) if problem.events is None else problem.events.left.copy()
    return StandaloneRun(
        run=run,
        setup=CompiledFunction(numbers[SETUP]),
        observed=CompiledFunction(numbers[f"{above}observed"]),
        given=given,
        start=y0.copy(),
        t0=task.t0,
        **tolerances,
        states=task.states,
        coordinates=system.nq,
        n_regular=len(regular),
        regular=np.array(regular, dtype=np.float64).reshape(-1),
        n_quaternions=len(task.quaternions),
        quaternions=np.array(task.quaternions, dtype=np.int64),
        left=min(control.max_steps, sys.maxsize),
        base=np.zeros(len(y0)),
        state=np.zeros(len(y0)),
        counts=np.zeros(len(wanted), dtype=np.int64),
        wanted=wanted,
        values=np.zeros(code.programs["observed"].n_outputs),
        changes=changes,
        held=_programs(task, numbers),
    )


def _coarse(x: FloatArray) -> FloatArray:
    """Numbers of 13 bits near *x*, by Veltkamp's splitting: where constraints are independent matters to a few digits, and in the
    last ones machines differ.
    """
    far = _SPLITTING * x
    return far - (far - x)


def _programs(task: SimulationProblem, numbers: Mapping[str, int]) -> Controllability:
    """The programs of motion of *task*."""
    held, layout = Controllability(), task.made.code.layout
    if task.system.programs:
        n, speeds = layout.gradients
        values = np.zeros(task.made.code.programs["regularity"].n_outputs)
        held.update(regularity=CompiledFunction(numbers["regularity"]), programs=n, speeds=speeds, values=values)
        held.update(before=np.zeros(n * speeds), matrix=np.zeros(n * n), state=np.zeros(len(task.y0)))
        held.update(ahead=PROGRESS * (task.t1 - task.t0))
    return held


def _contacts(task: SimulationProblem, numbers: Mapping[str, int], behind: int) -> Contacts:
    """The contacts of *task*, with room for so many numbers *behind* the block h; the flags of the mode have a place of their
    own.
    """
    code, m = task.made.code, len(task.made.code.layout.touches)
    compiled, size = code.contacts, code.programs[SETUP].n_outputs
    assert compiled is not None
    motion, work = compiled.motion(np.zeros(size + FLAGS * m), numbers), compiled.transitions(0.0, 0.0)
    motion.update(block=np.zeros(size + behind), flags=np.zeros(FLAGS * m))
    impacts = IMPACTS + IMPACTS_OF_CONTACT * m
    work.update(room=impacts, impacts=np.zeros(IMPACT_NUMBERS * impacts))
    return Contacts(
        motion,
        work,
        numbers["transit"],
        numbers["contact_observed"],
        code.observed_size,
        len(task.watched),
        len(task.watched) + len(task.system.switches),
        task.states,
        compiled.guard_contacts,
        compiled.guard_rows,
    )
