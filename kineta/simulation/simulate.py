"""Motion from an initial state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import consistent
from kineta.equations import case_arguments
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, one_of
from kineta.integration.error_control import StepControl
from kineta.integration.solver import AUTO, BY_EVENTS, CHOICES, EVENTS
from kineta.integration.time_stepping import MOREAU
from kineta.model.contacts.mutual_contact import FEW_PAIRS, mutual_contacts, names_pairs
from kineta.model.system import System
from kineta.records import constant_record
from kineta.results.result import Result
from kineta.runtime import run_arguments
from kineta.runtime.applied_forces import warn_samples
from kineta.runtime.compiled import bind_system
from kineta.runtime.constraint_treatment import treatment
from kineta.runtime.events import Event
from kineta.runtime.problem import CARRIERS, RunStart, SimulationProblem
from kineta.runtime.recorder import bytes_per_step
from kineta.simulation.independent_components import Parts, coupling, integrate_parts, split, whole
from kineta.simulation.inputs import RunInputs, nothing_given, run_inputs, unsteppable
from kineta.simulation.postprocess import result
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate
from kineta.simulation.solution import Solution
from kineta.values import flag

#: Places that may touch of a part whose changes are found one after the other, unless the caller insists.
MOST_PLACES = 200


def simulate(
    system: System | Equations,
    t: float | tuple[float, float],
    *,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    levels: Any = None,
    method: str = AUTO,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    t_eval: ArrayLike | None = None,
    samples: int | None = None,
    dense_output: bool = False,
    events: Event | Expr | Sequence[Event | Expr] = (),
    max_step: float = np.inf,
    max_steps: int | None = None,
    progress: bool = False,
    backend: str = "llvm",
) -> Result:
    """The motion of *system* from the state *q*, *v* over the time *t* (an end, or a start and an end) [s].

    *q*, *v*, *p* and *tau* may have a leading axis of cases: all are run, and the result has that axis.

    Parameters
    ----------
    q, v : initial coordinates (nq,) and speeds (nv,), or mappings of names to values; the rest are the model's ``initial``
    p : parameters, as for :class:`~kineta.equations.function.Function`
    tau : forces on the speeds beside those of the model: numbers or expressions, (nv,), or a mapping of speeds to these; what
        :func:`~kineta.runtime.sampled_forces.sampled` makes of a Python function or a table, for all speeds or for one
    levels : under programs of motion of the third order and higher, derivatives of the speeds at the start: a mapping of names,
        ``{"x''": 0.3}``, or (s - 2, nv). What is not given is that of a motion without control, as far as programs allow
    method : ``auto`` (default) is ``dop853``, which finds contacts by events, and goes on by ``moreau`` for a while where changes
        pile up, no forces obey the laws of contact, or steps collapse; ``events`` is ``dop853`` that fails there.
        ``dop853`` or ``dopri5``, run natively; SciPy's RK23, RK45, DOP853, Radau, BDF, LSODA; CVODE (BDF) or
        CVODE_ADAMS of SUNDIALS, for stiff systems, and IDA, for comparison under constraints (extra ``sundae``); ``moreau``, time
        stepping for any number of contacts, which looks for no impact: of first order through impacts, of second between them
    rtol, atol : relative and absolute tolerance of every state
    t_eval : times at which to record; or ``samples`` equidistant ones. Neither: every step of the method; with cases, 101 times
    dense_output : keep the solution as a function, ``result.sol``
    events : expressions, or :func:`~kineta.runtime.events.event` records, whose zeros are looked for
    max_step : largest step [s]; of ``moreau`` the step, 1 ms if not given
    max_steps : steps at most; ten million, if not given, or as many as half a gigabyte holds where every step is kept
    progress : show the time, the steps and their size on standard error
    backend : what carries cases: ``llvm``, all cores of this machine; ``cuda``, a graphics processor (extra ``gpu``), for free
        motions by ``dop853`` and ``dopri5``, without events, constraints and contacts

    Bodies that do not depend on each other, as two pendulums in one model, are integrated apart, each with steps of its own and
    ``max_steps`` of them. Every step is then that of the bodies with most, and both sides of each change of the others.

    An interrupted run (Ctrl-C), one that fails and one that is out of steps keep what was computed and say so in ``status``
    and ``message``. So does a run whose energy balance is more than the tolerances explain, with a
    :class:`~kineta.errors.KinetaWarning`. Raises :class:`ArgumentError` for arguments that make no sense,
    :class:`SimulationError` for a motion that cannot start.
    """
    began = time.perf_counter()
    equations = given_equations(system)
    t0, t1 = run_arguments.span(t)
    chosen, carrier = one_of(method, CHOICES, "a method"), one_of(backend, CARRIERS, "what carries cases")
    dense_output, progress = flag("dense_output", dense_output), flag("progress", progress)
    rtol, atol, max_step = run_arguments.tolerances(rtol, atol, max_step)
    grid = run_arguments.grid(t0, t1, t_eval, samples)
    with Progress(t0, t1, shown=progress) as bar:
        prepared = prepared_run(equations, (q, v, p, tau, levels), events, chosen, carrier)
        given, settings = prepared.inputs, RunSettings((t0, t1), (rtol, atol, max_step), max_steps, grid)
        if prepared.piled:
            found = simulate_pile(equations, given, settings, bar, dense_output=dense_output)
            many = mutual_contacts(equations.system) if chosen == AUTO else ()
            told = tuple(f"{c.told} The method is '{MOREAU}'." for c in many)
            return replace(found, notes=(*told, *found.notes), seconds=time.perf_counter() - began)
        parts = prepared.parts or whole(equations, given)
        keep = dense_output or (len(parts.equations) > 1 and (grid is None or bool(given.watched)))
        tasks = []
        for own, inputs, (way, told) in zip(parts.equations, parts.inputs, prepared.ways, strict=True):
            task = _problem(own, inputs, way, settings, dense_output=keep)
            tasks.append(replace(task, notes=(*told, *task.notes)) if told else task)
        if carrier != CARRIERS[0]:
            if tasks[0].cases is None:
                raise ArgumentError(
                    f"Model '{equations.system.name}': expected cases for backend='{carrier}', found one motion. "
                    "Give rows of q, v, p or tau."
                )
            tasks = [replace(task, backend=carrier) for task in tasks]
        if len(tasks) > 1:
            from kineta.simulation.joined_result import joined_result

            found = joined_result(
                equations.system, given, parts, integrate_parts(tasks, bar), dense_output=dense_output
            )
            return replace(found, seconds=time.perf_counter() - began)
        solution = solve(tasks[0], bar)
    return result(tasks[0], solution, time.perf_counter() - began)


def part_method(system: System, chosen: str) -> tuple[str, tuple[str, ...]]:
    """The method for a part that moves apart, *chosen* by the caller, and what notes say of it: one that nothing touches needs no
    time stepping, one that touches in many places needs it.
    """
    if chosen == MOREAU and not system.contacts:
        return BY_EVENTS, ()
    if chosen != AUTO or unsteppable(system):
        return chosen, ()
    places = len({name for own in system.expanded.impacts.values() for name in own})
    if places <= MOST_PLACES:
        return chosen, ()
    return MOREAU, (
        f"{places} places may touch, more than {MOST_PLACES}, whose changes in turn take long. The method is '{MOREAU}'.",
    )


@constant_record
class PreparedRun:
    """What is decided of a run before its times and tolerances are looked at.

    inputs : what it is given; piled : whether bodies that may touch each other are stepped together
    parts : what is integrated apart, None for the whole alone; ways : the method and notes of each, as of :func:`part_method`
    """

    inputs: RunInputs
    piled: bool
    parts: Parts | None = None
    ways: Sequence[tuple[str, tuple[str, ...]]] = ()


def prepared_run(
    equations: Equations,
    given: tuple[Any, Any, Any, Any, Any],
    events: Event | Expr | Sequence[Event | Expr],
    chosen: str,
    carrier: str,
) -> PreparedRun:
    """The run of *equations* by the method *chosen*, with the arguments *given*, q, v, p, tau and levels, and *events*; decided
    once where nothing is given. Cases are carried by *carrier*.
    """

    def made() -> PreparedRun:
        inputs = run_inputs(equations.system, given, events, chosen)
        if carrier == CARRIERS[0] and piles(equations, inputs, chosen):
            return PreparedRun(inputs, piled=True)
        parts = split(equations, inputs)
        ways = [part_method(own.system, chosen) for own in parts.equations]
        # The whole is not held: the equations themselves would be a circle of references.
        return PreparedRun(inputs, False, parts if parts.components else None, ways)

    return equations.memo((PreparedRun, chosen, carrier), made) if nothing_given(given, events) else made()


class RunSettings(NamedTuple):
    """The times of a run, its *limits* rtol, atol and max_step, its largest number of steps, and times of samples, if given."""

    span: tuple[float, float]
    limits: tuple[float, float, float]
    max_steps: Any
    grid: FloatArray | None


def piles(equations: Equations, given: RunInputs, chosen: str) -> bool:
    """Whether bodies that may touch each other are stepped together, with a table of what is near."""
    system = equations.system
    many = mutual_contacts(system)
    few = all(contact.few for contact in many) and sum(contact.count for contact in many) <= FEW_PAIRS
    if not many or chosen not in (AUTO, MOREAU) or (chosen == AUTO and few):
        return False
    return not (coupling(equations, given, together=True) or given.watched or system.switches or names_pairs(system))


def simulate_pile(
    equations: Equations,
    given: RunInputs,
    settings: RunSettings,
    bar: Progress,
    *,
    dense_output: bool,
) -> Result:
    """The motion of components whose bodies may touch each other; arguments as for :func:`_problem`."""
    from kineta.simulation.piles.pair_forces import with_pair_forces

    system = equations.system
    parts, tasks = pile_tasks(equations, given, settings, dense_output=dense_output)
    if tasks[0].cases is None:
        from kineta.simulation.piles.pile import step_pile

        stepped = step_pile(system, given, parts, tasks, bar)
    else:
        from kineta.simulation.piles.pile_ensemble import step_pile_cases

        stepped = step_pile_cases(system, given, parts, tasks, bar)
    solved = stepped.solved
    if parts.components is None:
        found = replace(result(*solved[0], 0.0), system=system)
    elif tasks[0].cases is not None:
        from kineta.simulation.joined_cases import joined_cases

        found = joined_cases(system, given, parts, solved)
    else:
        from kineta.simulation.joined_result import joined_result

        found = joined_result(system, given, parts, solved, dense_output=dense_output, together=True)
    return with_pair_forces(found, stepped.forces, stepped.names)


def pile_tasks(
    equations: Equations,
    given: RunInputs,
    settings: RunSettings,
    *,
    dense_output: bool,
) -> tuple[Parts, list[SimulationProblem]]:
    """The components of a model without contacts of many bodies, and their problems; arguments as for :func:`_problem`."""
    from kineta.simulation.piles.pile import without

    parts = split(without(equations), given, together=True)
    each = zip(parts.equations, parts.inputs, strict=True)
    return parts, [_problem(own, i, MOREAU, settings, dense_output=dense_output) for own, i in each]


def simulation_problem(
    equations: Equations,
    span: tuple[float, float],
    given: tuple[Any, Any, Any, Any, Any],
    events: Event | Expr | Iterable[Event | Expr],
    method: str,
    control: StepControl,
    *,
    dense_output: bool,
    resolved: Sequence[Expr] = (),
) -> SimulationProblem:
    """The problem that the arguments of :func:`simulate` describe, from a consistent start; *given* are q, v, p, tau, levels. Its
    steps end at kinks of *resolved* expressions, too.
    """
    inputs = run_inputs(equations.system, given, events, method)
    if resolved:
        inputs = replace(inputs, resolved=tuple(resolved), common=False)
    settings = RunSettings(span, (control.rtol, control.atol, control.max_step), control.max_steps, None)
    return _problem(equations, inputs, method, settings, dense_output=dense_output)


def _problem(
    equations: Equations,
    given: RunInputs,
    chosen: str,
    settings: RunSettings,
    *,
    dense_output: bool,
) -> SimulationProblem:
    """The problem of *equations* with *given* inputs, from a consistent start, by the method *chosen* by the caller."""
    (t0, t1), limits, max_steps, grid = settings
    watched, method = given.watched, BY_EVENTS if chosen in (AUTO, EVENTS) else chosen
    equations, start = _start(equations, given, t0, method)
    model, made, y0 = equations.system, start.made, start.y0
    cases = None if y0.ndim == 1 else len(y0)
    if cases is not None:
        if given.q.ndim == given.v.ndim == made.p.ndim == 1:
            warn_samples(model, made.forces.constant, grid)
        grid = run_arguments.grid_of_cases(t0, t1, grid, cases, y0.shape[-1], dense_output=dense_output)
    kept = bytes_per_step(y0.shape[-1], every=grid is None, keep=dense_output)
    return SimulationProblem(
        equations=equations,
        made=made,
        watched=watched,
        t0=t0,
        t1=t1,
        y0=y0,
        grid=grid,
        method=method,
        control=StepControl(*limits, run_arguments.steps(max_steps, kept)),
        dense_output=dense_output,
        regular=start.regular,
        notes=start.notes,
        falls_back=chosen == AUTO and not (model.switches or unsteppable(model)),
        start=start,
    )


def _start(equations: Equations, given: RunInputs, t0: float, method: str) -> tuple[Equations, RunStart]:
    """The equations of a motion from *t0* by *method*, without what is redundant there, and its start; once for common inputs."""
    if not given.common:
        return _found_start(equations, given, t0, method)

    def made() -> tuple[frozenset[str], RunStart]:
        own, start = _found_start(equations, given, t0, method)
        start.y0.flags.writeable = False
        return own.left_out, start  # the equations themselves would be a circle of references

    left_out, start = equations.bounded_memo((RunStart, t0, method), made)
    return equations if left_out == equations.left_out else equations.without(left_out), start


def _found_start(equations: Equations, given: RunInputs, t0: float, method: str) -> tuple[Equations, RunStart]:
    """As :func:`_start`, made anew."""
    values, model = given.p, equations.system
    start = consistent(equations, t0, given.q, given.v, values)
    own, q0, v0 = start.equations, start.q, start.v
    made = bind_system(
        own, values, given.forces, [e.value for e in given.watched], treatment(own, method), given.resolved
    )
    higher, said = np.empty((*v0.shape[:-1], 0)), tuple[str, ...]()
    if model.programs:
        from kineta.programs.start_arguments import program_start

        q0, v0, higher, said = program_start(own, made, t0, (q0, v0, values), given.levels)
    rows = (("q", q0), ("v", v0), ("p", made.p), ("tau", made.forces.constant))
    cases = case_arguments.case_count(dict(rows)) if any(x.ndim > 1 for _, x in rows) else None
    lead = () if cases is None else (cases,)
    parts = (q0, v0, higher, np.zeros(made.code.layout.integrals))
    y0 = np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in parts] if lead else parts, axis=-1)
    return own, RunStart(made, y0, start.regular, (*start.notes, *said))


def solve(task: SimulationProblem, bar: Progress) -> Solution:
    """The solution of *task*, of one motion or many. Raises :class:`SimulationError` where none can start."""
    if task.cases is None:
        return integrate(task, bar)
    from kineta.simulation.ensemble import integrate_cases  # with what only lanes and threads need

    return integrate_cases(task, bar)
