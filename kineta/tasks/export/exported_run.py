"""A run that is exported: its files, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.codegen.c import identifier
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, one_of
from kineta.files import write
from kineta.integration.error_control import StepControl
from kineta.integration.solver import AUTO, BY_EVENTS
from kineta.integration.time_stepping import MOREAU
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.system import System
from kineta.numerics.tableaux import TABLEAUX
from kineta.records import dataclass
from kineta.runtime import run_arguments
from kineta.runtime.applied_forces import AppliedForces
from kineta.runtime.events import Event
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.inputs import run_inputs
from kineta.simulation.piles.pile import without
from kineta.simulation.run import check_steps
from kineta.simulation.simulate import RunSettings, pile_tasks, piles, simulation_problem
from kineta.tasks.export.c_source import c_sources
from kineta.tasks.export.run_names import RunNames, run_names, touching_names
from kineta.tasks.export.run_record import RunCode, run_code, touching_code
from kineta.tasks.export.touching_record import over, touching_record
from kineta.tasks.export.wasm_module import wasm_module
from kineta.values import word

#: Writers by language: from the code of a run, its names and the prefix of files and functions to texts by file.
LANGUAGES = {"c": c_sources, "wasm": wasm_module}
#: Methods of runs that are exported.
METHODS = (AUTO, *TABLEAUX, MOREAU)


@dataclass(frozen=True, eq=False, repr=False)
class ExportedRun:
    """A run of a *model* as files for programs without Python.

    files : contents by name
    states, observed, events, contacts, switches : names of what a run gives
    units : of states and observed quantities by name, "?" where unknown
    """

    model: str
    files: Mapping[str, bytes]
    states: Sequence[str]
    observed: Sequence[str]
    events: Sequence[str]
    contacts: Sequence[str]
    switches: Sequence[str]
    units: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<run of '{self.model}' as {', '.join(self.files)}>"

    def save(self, folder: str | Path = ".") -> list[Path]:
        """Write the files into a *folder*, over others of these names, and return their paths."""
        found = {Path(folder) / name: content for name, content in self.files.items()}
        write(found)
        return list(found)

    def as_dict(self) -> dict[str, Any]:
        """Return names and units."""
        lists = {n: list(getattr(self, n)) for n in ("states", "observed", "events", "contacts", "switches")}
        return {"model": self.model, "files": list(self.files), **lists, "units": dict(self.units)}


def export_run(
    system: System | Equations,
    t: float | tuple[float, float] = 10.0,
    *,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    levels: Any = None,
    language: str = "c",
    name: str | None = None,
    method: str = AUTO,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    events: Event | Expr | Iterable[Event | Expr] = (),
    max_step: float = np.inf,
    max_steps: int | None = None,
) -> ExportedRun:
    """The motion of *system* as code that simulates without Python: steps, error control, events, projection onto constraints and
    programs of motion, contacts, limits, dry friction, and switches.

    The arguments are those of :func:`~kineta.simulation.simulate.simulate`. Times, states, parameters, constant forces and
    tolerances are defaults, which a program may change for each run; events, the method and which constraints are redundant
    are in the code.

    language : ``c`` for a header and a source in C99 and a program that prints the motion; ``wasm`` for a module of WebAssembly
        and its loader in JavaScript
    name : of the files and functions, by default that of the model
    method : ``dop853`` or ``dopri5``, which find contacts by events; or ``moreau``, time stepping, without events and switches.
        ``auto`` (default) is ``dop853``, which goes over to time stepping where events cannot go on, and back, in a model with
        contacts and without events, switches and programs; and ``moreau`` for bodies of which many may touch each other
    max_step : largest step [s]; of ``moreau`` the step, 1 ms if not given
    """
    equations = given_equations(system)
    one_of(language, LANGUAGES, "a language")
    method = one_of(method, METHODS, "a method that can be exported")
    word("" if name is None else name, "the name of an exported run")
    watched = tuple(run_arguments.watched(equations.system, events))
    asked = t, (q, v, p, None, levels), watched, method, run_arguments.tolerances(rtol, atol, max_step), max_steps
    if touching := touching_run(equations, *asked):
        code, told = touching.code, touching.told
    else:
        task = exported_problem(equations, *asked)
        code, told = run_code(task), run_names(task)
    prefix = identifier(told.model if name is None else name)
    if not prefix.strip("_"):
        raise ArgumentError(f"Expected a name with a letter, found '{name}'.")
    written = LANGUAGES[language](code, told, prefix)
    lists = told.states, told.observed, told.events, told.contacts, told.switches
    return ExportedRun(told.model, written, *lists, told.units)


@dataclass(frozen=True)
class TouchingRun:
    """The *code* and names of a run of bodies that may touch each other, the *equations* without their contacts, and the
    *forces* on them.
    """

    code: RunCode
    told: RunNames
    equations: Equations
    forces: AppliedForces


def touching_run(
    equations: Equations,
    t: float | tuple[float, float],
    given: tuple[Any, Any, Any, Any, Any],
    events: Sequence[Event],
    method: str,
    limits: tuple[float, float, float],
    max_steps: int | None,
) -> TouchingRun | None:
    """The run of bodies that may touch each other, stepped together; None where there are none, or the *method*
    is by events, and where outputs tell of several of them. Arguments are those of :func:`exported_problem`.
    """
    if method not in (AUTO, MOREAU) or not mutual_contacts(equations.system):
        return None
    if method == MOREAU:
        check_steppable(equations.system, events)
    inputs = run_inputs(equations.system, given, events, method)
    if not piles(equations, inputs, method) or over(equations):
        return None
    settings = RunSettings(run_arguments.span(t), limits, max_steps, None)
    parts, tasks = pile_tasks(equations, inputs, settings, dense_output=False)
    check_steps(tasks[0])
    plain = without(equations)
    found = touching_record(plain, equations.system, parts, tasks, inputs.p)
    told = touching_names(equations.system, tasks, found.record, found.contacts)
    return TouchingRun(touching_code(found), told, plain, inputs.forces)


def exported_problem(
    equations: Equations,
    t: float | tuple[float, float],
    given: tuple[Any, Any, Any, Any, Any],
    events: Sequence[Event],
    method: str,
    limits: tuple[float, float, float],
    max_steps: int | None,
) -> SimulationProblem:
    """The problem of a run that is exported; *given* are q, v, p, tau, levels, and *limits* tolerances and largest step."""
    control = StepControl(*limits, run_arguments.steps(max_steps, 0))
    if method == AUTO:
        few = all(c.few for c in mutual_contacts(equations.system))
        method = AUTO if few or events or equations.system.switches else MOREAU
    if method == MOREAU:
        check_steppable(equations.system, events)
    task = simulation_problem(equations, run_arguments.span(t), given, events, method, control, dense_output=False)
    if task.cases is not None:
        raise ArgumentError(
            f"Expected one motion to export, found {task.cases} cases. Give one state and one set of p."
        )
    return task


def check_steppable(system: System, events: Sequence[Event]) -> None:
    """Raise :class:`ArgumentError` for what code of time stepping does not look for: events, and conditions of switches."""
    found = f"event '{events[0].name}'" if events else f"switch '{system.switches[0].name}'" if system.switches else ""
    if found:
        raise ArgumentError(
            f"Model '{system.name}': code of method '{MOREAU}' looks for no events and switches, found {found}. Leave them"
            f" out, or export '{BY_EVENTS}'."
        )
