"""One motion from start to end, by any method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import expm1, isfinite, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import refusal
from kineta.consistency.definition_domain import domain_violation
from kineta.consistency.redundancy import singular_configuration
from kineta.errors import SimulationError, reworded
from kineta.hybrid.sampling import SampledControl, SampledRun
from kineta.integration.external import Implicit, Jacobian, Rate
from kineta.integration.loop_abi import BRIEF, CHATTER, RunData
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment
from kineta.integration.solver import Solver, start
from kineta.integration.stepping_records import SteppingData
from kineta.integration.time_stepping import MAX_STEPPED, MOREAU, SteppingRun
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import Tableau
from kineta.records import constant_record
from kineta.results import outcomes
from kineta.results.outcomes import DONE, EARLY, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS
from kineta.runtime.compiled import BoundSystem, CompiledSystem
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.contact_problem import contact_kernel
from kineta.runtime.domain_watch import DomainWatch
from kineta.runtime.events import EventWatch, event_record
from kineta.runtime.implicit_methods import dae_residual, jacobian
from kineta.runtime.kinks import constraint_jump, contact_kink, passed_kinks, placement_kink
from kineta.runtime.mass_matrix_rank import singular_mass_matrix, vanished_inertia
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection, manifold
from kineta.runtime.recorder import Recorder, resized
from kineta.simulation.kink_watch import KinkWatch
from kineta.simulation.progress import Progress
from kineta.simulation.slide_log import CrowdWatch, SlideLog, crowd
from kineta.simulation.solution import Solution, one_motion
from kineta.threads import memo

if TYPE_CHECKING:
    from kineta.hybrid.automaton import HybridRun
    from kineta.hybrid.contact_log import ContactLog
    from kineta.hybrid.contact_modes import ContactModes
    from kineta.hybrid.time_stepping_fallback import FallbackRun
    from kineta.programs.controllability_watch import ControllabilityWatch

#: Steps between two stall checks, and the largest number of steps that the rest of a run may need at its present pace.
CHECK_INTERVAL, MAX_STEPS_LEFT = 100_000, 1e11
#: Exponent of a pace that grows, the largest number of steps that the rest may need if it goes on growing, and the logarithm of
#: the largest number.
GROWING, MAX_STEPS_GROWING, LARGEST_LOG = 1.0, 1e9, 700.0
#: Growth of the largest speed in a run backwards in time of which the sentence on its end tells.
DRIVEN = 1e4
#: Advice for time stepping that ran out of steps.
ALLOWED = "max_steps allows more steps, and a larger max_step needs fewer"


@constant_record
class MotionRun:
    """One motion as it is carried out.

    solver : the method that makes its steps; whole : that from sample to sample, from mode to mode, and over to time stepping
    hybrid : the automaton of its modes and switches, if it has any; stepped : its time stepping, throughout or for a while
    log : changes and impacts of its contacts and switches, if it has any; contacts : their modes by events
    """

    solver: Solver
    whole: Solver | SampledRun
    hybrid: HybridRun | None = None
    stepped: SteppingRun | FallbackRun | None = None
    log: ContactLog | None = None
    contacts: ContactModes | None = None

    @property
    def steps(self) -> int:
        """Steps of time stepping so far."""
        return self.stepped.made if self.stepped else 0

    def notes(self) -> tuple[str, ...]:
        """Sentences on contacts and on time stepping."""
        own = self.contacts.notes() if self.contacts else ()
        return (*own, *(self.stepped.notes() if self.stepped else ()))


def integrate(task: SimulationProblem, bar: Progress) -> Solution:
    """The solution of *task*, one motion. Raises :class:`SimulationError` where it cannot start."""
    if task.method == MOREAU:
        check_steps(task)
    control = SampledControl(task)
    first = _first_sample(task, control) if task.made.forces.sampled else None
    task = _settled(task, control, first)
    if task.method == MOREAU:
        from kineta.hybrid.automaton import check_start

        check_start(task, control.made)
    task, problem, motion = _begun(task, control, first)
    settled = Projection(task.quaternions, control.made if task.has_modes else task.made)
    worked = WorkQuadrature(task.made, task.states) if task.system.programs else None
    record = Recorder(task.grid, task.direction, task.states, settled, keep=task.dense_output, worked=worked)
    watch, domain = EventWatch(task.watched, problem, settled), DomainWatch(task.equations, task.made)
    slides = SlideLog(task, problem.slides) if problem.slides is not None else None
    ended = _integrate(task, motion.whole, record, watch, domain, _gradients(task), slides, bar)
    found = _solution(task, motion, record, watch, domain, ended, () if slides is None else slides.changes)
    motion.solver.close()
    return found


def _settled(task: SimulationProblem, control: SampledControl, first: float | None) -> SimulationProblem:
    """*task*, which has a motion, from its initial state on the constraints. Motions that share their start, and have no sample
    up to the time *first*, look at it once. Raises :class:`SimulationError` where none can start.
    """
    begin, y0 = task.start, task.y0
    shared = begin is not None and begin.y0 is y0
    if begin is not None and shared and begin.settled is not None:
        y0 = begin.settled
    else:
        code, at = task.made.code, np.array([task.t0])
        if why := start_refusal(task, code.rate(at, y0, control.made.h)):
            raise SimulationError(why)
        if code.treatment == PROJECTED:
            rows = y0[None].copy()
            Projection(task.quaternions, task.made)(at, rows)
            y0 = rows[0]  # what it misses constraints by is rounding
        if begin is not None and shared and first is None:
            begin.settled = y0
    return task if y0 is task.y0 else replace(task, y0=y0)


def _begun(
    task: SimulationProblem, control: SampledControl, first: float | None
) -> tuple[SimulationProblem, Problem, MotionRun]:
    """*task* in its first mode under *control*, whose samples hold up to the time *first*; its problem, and its motion there."""
    contacts, log = None, _contact_log(task) if task.has_modes or task.method == MOREAU else None
    if task.has_modes:
        from kineta.hybrid.automaton import start_automaton

        assert log is not None
        task, contacts = start_automaton(task, control, log)
    problem = problem_of(task, control.made.code, control.made.h)
    if contacts is not None:
        problem = replace(problem, h=contacts.motion.words(), contacts=contacts.data)
    if task.has_modes:
        from kineta.hybrid.switches import loop_switches

        problem = replace(problem, switching=loop_switches(task))
    looked_at = task.grid is not None or bool(task.watched) or bool(task.system.programs) or task.has_modes
    run = start(
        task.method,
        problem if first is None else replace(problem, t1=first),
        RunFunctions(task, problem, control),
        task.control,
        dense=task.dense_output or looked_at,
        kept=task.dense_output,
    )
    sampled = run if first is None else SampledRun(problem, run, control)
    if task.has_modes:
        assert log is not None
        return task, problem, _from_mode_to_mode(task, problem, run, control, contacts, log)
    if isinstance(run, SteppingRun) and task.system.switches:
        from kineta.hybrid.switched_stepping import switched_stepping

        assert log is not None
        switched = switched_stepping(task, problem, run, control, log)
        return task, problem, MotionRun(run, switched, switched, run, log)
    return task, problem, MotionRun(run, sampled, stepped=run if isinstance(run, SteppingRun) else None, log=log)


def _from_mode_to_mode(
    task: SimulationProblem,
    problem: Problem,
    run: Solver,
    control: SampledControl,
    contacts: ContactModes | None,
    log: ContactLog,
) -> MotionRun:
    """The motion of the hybrid automaton of *task*, whose steps the native *run* makes, from the modes of its *contacts*."""
    from kineta.hybrid.automaton import HybridRun
    from kineta.hybrid.time_stepping_fallback import FallbackRun

    assert isinstance(run, NativeRun)
    hybrid = HybridRun(task, problem, run, control, contacts, log)
    stepped = FallbackRun(hybrid) if task.falls_back else None
    return MotionRun(run, stepped or hybrid, hybrid, stepped, log, contacts)


def _contact_log(task: SimulationProblem) -> ContactLog:
    """An empty log of the contacts and switches of *task*."""
    from kineta.hybrid.contact_log import ContactLog

    return ContactLog(task.made.code.layout.touches, [s.name for s in task.system.switches])


def _gradients(task: SimulationProblem) -> ControllabilityWatch | None:
    """The watch over programs of motion that forces no longer hold; None without programs."""
    if not task.system.programs:
        return None
    from kineta.programs.controllability_watch import ControllabilityWatch
    from kineta.programs.native_restart import NativeRestart

    return ControllabilityWatch(task, NativeRestart(task))


def _solution(
    task: SimulationProblem,
    motion: MotionRun,
    record: Recorder,
    watch: EventWatch,
    domain: DomainWatch,
    ended: tuple[int, str],
    slid: Sequence[tuple[float, str]],
) -> Solution:
    """The solution of *task* after its *motion*, with its *record*, how it *ended*, status and message, and where it *slid*."""
    direction = 1 if task.t1 >= task.t0 else -1
    n, log, whole, solver = len(task.y0), motion.log, motion.whole, motion.solver
    if ended[0] in EARLY:
        record.stop()
    if isinstance(solver, SteppingRun) and motion.hybrid is None and log is not None:
        log.note_strikes((at, one) for at, one in solver.impacts if at <= record.reached)
    kinks = passed_kinks(task.equations, task.made.p, *record.series(n)) if task.method == MOREAU else ()
    zeros = [(0, i, at, resized(state[None], n)[0]) for i, found in enumerate(watch.found) for at, state in found]
    return one_motion(
        n,
        record,
        domain,
        ended,
        (whole.evaluations, whole.rejected, motion.steps),
        zeros=zeros,
        changes=tuple(sorted([*slid, *(() if log is None else log.changes)], key=lambda one: direction * one[0])),
        impacts=() if log is None else tuple(log.impacts),
        notes=(*motion.notes(), *kinks),
        control=whole.control if isinstance(whole, SampledRun) else None,
        transitions=tuple(motion.hybrid.log.transitions) if motion.hybrid else (),
    )


def check_steps(task: SimulationProblem) -> None:
    """Raise :class:`SimulationError` for time stepping backwards, or in steps that cannot be counted."""
    if task.t1 < task.t0:
        raise SimulationError(
            f"Model '{task.system.name}': '{MOREAU}' works forwards in time only; t falls from {task.t0:g} s."
        )
    if task.t1 - task.t0 > MAX_STEPPED * min(task.control.max_step, 1.0):
        raise SimulationError(
            f"Model '{task.system.name}': steps of {task.control.max_step:g} s are too many to be counted in"
            f" {task.t1 - task.t0:g} s; give a larger max_step."
        )


def _first_sample(task: SimulationProblem, control: SampledControl) -> float | None:
    """Take the samples at the start; the time up to which they hold, None for all of the run."""
    seen = None
    if control.reads and task.has_modes:
        from kineta.hybrid.automaton import sensed_start

        seen = sensed_start(task)
    try:
        return control.take(task.y0, seen)
    except SimulationError as error:
        raise reworded(error, f"Model '{task.system.name}': at t = {task.t0:g} s {error}.") from None


@constant_record
class RunFunctions:
    """Functions of a run as its method takes them, :class:`~kineta.integration.external.MethodFunctions`."""

    task: SimulationProblem
    problem: Problem
    control: SampledControl

    def loop(self, tableau: Tableau) -> Callable[[RunData], int]:
        """The compiled loop of a tableau."""
        touching = bool(self.task.made.code.layout.touches)
        return integration_loop(
            tableau,
            projecting=self.problem.manifold is not None,
            touching=touching,
            kinked=self.problem.kinks is not None,
            sliding=self.problem.slides is not None,
        )

    def rate(self, h: FloatArray) -> Rate:
        """The rate with the memory of a block *h*."""
        return self.task.made.code.bound_rate(h)

    def jacobian(self) -> Jacobian:
        """The Jacobian of the rate."""
        return jacobian(self.task.equations, self.control.made)

    def implicit(self) -> Implicit:
        """The differential-algebraic form."""
        return dae_residual(self.task.equations, self.control.made)

    def kinks(self, problem: Problem, h: FloatArray) -> KinkWatch | None:
        """Kinks and steps of the rate with the memory of a block *h*."""
        own, code = problem.kinks, self.task.made.code
        if own is None:
            return None
        return KinkWatch(problem, own, code.guards if own.numbers[0] else None, code.stored, h)

    def stepping(self) -> tuple[SteppingData, Callable[[SteppingData], int], Sequence[tuple[str, str]]]:
        """Memory of time stepping, its compiled loop, names and units of contacts."""
        code = self.task.made.code
        labels = code.contacts.labels if code.contacts else ()
        return code.stepping(self.control.made.h, self.task.quaternions), contact_kernel("march"), labels


def obstacle(task: SimulationProblem, t: float, y: FloatArray) -> str:
    """Sentence on why a motion that failed at *t*, *y* within its domain cannot go on; ``''`` where it is not known."""
    nq, nv = task.system.nq, task.system.nv
    if lost := singular_mass_matrix_text(task, t, y):
        return lost
    if stuck := crowd(task, t, y):
        return stuck
    if depend := singular_configuration(task.equations, task.made.p, t, (y[:nq], y[nq : nq + nv]), task.regular):
        return f"{depend}: it may be that they cannot be met beyond"
    found = (kink(task.equations, task.made.p, t, y) for kink in (contact_kink, constraint_jump, placement_kink))
    return next(filter(None, found), "") or _driven(task, y[nq : nq + nv])


def _driven(task: SimulationProblem, v: FloatArray) -> str:
    """Sentence on speeds *v* that what brakes has made large in a run backwards in time; ``''`` where it has not."""
    fastest = int(np.abs(v).argmax()) if len(v) else 0
    if (
        task.t1 > task.t0
        or not len(v)
        or abs(v[fastest]) < DRIVEN * (1.0 + np.abs(task.y0[task.system.nq :][: len(v)]).max())
    ):
        return ""
    return (
        "backwards in time, dampers, friction and contacts that yield drive what they brake forwards in time: "
        f"'{task.system.v_names[fastest]}' is {v[fastest]:.1e} here; begin earlier, and run forwards"
    )


def start_refusal(task: SimulationProblem, rate: FloatArray) -> str:
    """Reason why the motion of *task*, with this *rate* at its start, cannot start; ``''`` where it can."""
    system, finite = task.system, all(map(isfinite, rate.tolist()))
    q, v = task.y0[: system.nq], task.y0[system.nq : system.nq + system.nv]
    if why := refusal(task.equations, task.t0, q, v, task.made.p, task.regular):
        return why
    doubtful = not finite or (
        task.method == MOREAU and not system.constraints
    )  # stiff springs hide that there is no mass
    if doubtful and (why := singular_mass_matrix(task.equations, task.t0, q, v, task.made.p)):
        return f"Model '{system.name}': the mass matrix is singular at t = {task.t0:g} s: {why}."
    if finite:
        return ""
    names = (*(f"rate of {n}" for n in system.q_names), *(f"{n}'" for n in system.v_names))
    others = "power, or what is integrated or derived beside the motion,"
    bad = next((n for n, x in zip(names, rate, strict=False) if not np.isfinite(x)), "")
    why = domain_violation(task.equations, task.made.p, task.t0, task.y0, tuple(task.made.forces.expressions.values()))
    if why and not bad:
        return f"Model '{system.name}': the initial state is outside of what the model is defined for: {why}."
    if not bad and (watching := _undefined_guard(task, rate)):
        return (
            f"Model '{system.name}': what '{watching}' watches has no value or no rate in the initial state, as the direction "
            "from a place to itself has none. Start a little beside it."
        )
    advice = why or "check the state and the parameters"
    return f"Model '{system.name}': {bad or others} is not finite in the initial state; {advice}."


def _undefined_guard(task: SimulationProblem, rate: FloatArray) -> str:
    """First contact or switch with an undefined *rate* of its guard; ``''`` for none."""
    layout = task.made.code.layout
    rates = rate[len(rate) - layout.pivots - layout.loads - len(layout.guards) :]
    return next((name for name, x in zip(layout.guards, rates, strict=False) if not np.isfinite(x)), "")


def singular_mass_matrix_text(task: SimulationProblem, t: float, y: FloatArray) -> str:
    """Sentence on a motion whose inertia vanished on the way to *t*, *y*; ``''`` for a regular mass matrix."""
    nq, n = task.system.nq, task.system.nq + task.system.nv
    start, end = ((time, state[:nq], state[nq:n]) for time, state in ((task.t0, task.y0), (t, y)))
    motion = vanished_inertia(task.equations, task.made.p, start, end)
    return f"the mass matrix becomes singular there: {motion}" if motion else ""


def problem_of(task: SimulationProblem, code: CompiledSystem, h: FloatArray) -> Problem:
    """The initial value problem of a single motion with its *code* and block *h*, without transitions of contacts. But for
    numbers it is the same for all motions without events and modes, those on constraints from one start.
    """
    owner: Any = code
    if code.treatment == PROJECTED:
        owner = task.start if task.start is not None and task.start.settled is task.y0 else None
    if owner is None or task.watched or task.has_modes:
        return _problem(task, code, h)
    return memo(owner, Problem, lambda: _problem(task, code, h)).further(h, task.t0, task.t1, task.y0)


def _problem(task: SimulationProblem, code: CompiledSystem, h: FloatArray) -> Problem:
    """:func:`problem_of`, made anew."""
    touches = code.layout.touch_events if task.has_modes else 0
    return Problem(
        rhs=code.rate.address,
        h=h,
        t0=task.t0,
        t1=task.t1,
        y0=task.y0,
        quaternions=task.quaternions,
        integrals=code.layout.integrals,
        events=event_record(task.watched, code.event_address, len(task.system.switches), touches),
        manifold=manifold(task, task.made, task.y0),
        kinks=code.kinks,
        slides=code.slides,
    )


def _integrate(
    task: SimulationProblem,
    run: Solver | SampledRun,
    record: Recorder,
    watch: EventWatch,
    domain: DomainWatch,
    gradients: ControllabilityWatch | None,
    slides: SlideLog | None,
    bar: Progress,
) -> tuple[int, str]:
    """Integrate to the end; termination status and message."""
    problem = run.problem
    stall, crowded = StallWatch(problem.t0, problem.t1), CrowdWatch(task)
    record.start(problem.t0, problem.y0.copy(), run.control.made if isinstance(run, SampledRun) else None)
    domain.begin(problem.t0, problem.y0)
    try:
        for segment in run:
            end = watch.process(segment)
            if gradients is not None and (lost := gradients.process(segment, end)):
                if len(segment.t):
                    record.segment(segment, lost.since)
                for last in lost.segments:
                    record.segment(last, None)
                watch.truncate(lost.t)
                return FAILED, (outcomes.refused if lost.jumps else outcomes.unguided)(record.reached, lost.why)
            if len(segment.t):
                led, stuck = crowded.process(segment.t, segment.y)
                if stuck:
                    segment, end = segment.until(led), None
                domain.process(segment.t, segment.y)
                record.segment(segment, end)
                if slides is not None:
                    slides.process(segment)
                if stuck:
                    watch.truncate(record.reached)
                    return FAILED, outcomes.refused(record.reached, stuck)
                bar.at(record.reached, record.steps, record.last_step)
                if left := stall.steps_left(record.reached, record.steps):
                    made, edge = (record.steps, record.last_step), _crowd(task, run) or domain.edge(last=True)
                    edge = edge or obstacle(task, *record.end)
                    return OUT_OF_STEPS, outcomes.out_of_steps(record.reached, *made, edge, left)
            if end is not None:
                return EVENT, outcomes.stopped(end[0], watch.ended or "")
            if segment.end:
                jam = run.jam() if isinstance(run, SampledRun) else ""
                edge = domain.edge(last=True) or jam or obstacle(task, *record.end)
                return FAILED, outcomes.failed(record.reached, segment.end, edge)
    except SimulationError as error:
        bent = contact_kink(task.equations, task.made.p, *record.end)
        return FAILED, outcomes.refused(record.reached, f"{error}{'; ' * bool(bent)}{bent}")
    except KeyboardInterrupt:
        return INTERRUPTED, outcomes.interrupted(record.reached)
    if isinstance(run, SampledRun) and run.ended is not None:
        return EVENT, outcomes.stopped(record.reached, run.ended)
    if record.reached != problem.t1:
        edge = _crowd(task, run) or domain.edge(last=True) or ALLOWED * (task.method == MOREAU)
        edge = edge or obstacle(task, *record.end)
        return OUT_OF_STEPS, outcomes.out_of_steps(record.reached, record.steps, record.last_step, edge)
    return DONE, outcomes.done(problem.t1)


def _crowd(task: SimulationProblem, run: Solver | SampledRun) -> str:
    """Sentence on mode changes that follow each other ever faster at the end of a *run*; ``''`` for none."""
    told = run.changes if isinstance(run, SampledRun) else ()
    if len(told) < CHATTER or told[-1][0] - told[-CHATTER][0] > BRIEF * abs(task.t1 - task.t0):
        return ""
    last = "; ".join(dict.fromkeys(what for _, what in told[-4:]))
    return (
        f"one change follows another ever faster there ({last}), as where elastic impacts squeeze what is between them"
    )


@cache
def gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Nodes in [0, 1] and weights of Gauss-Legendre quadrature over a step."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    return nodes / 2 + 0.5, weights / 2


class WorkQuadrature:
    """Quadrature of the work along a motion of *made* with *states* leading states: without error control of the work, methods
    give it at the ends of their steps alone.
    """

    def __init__(self, made: BoundSystem, states: int) -> None:
        layout = made.code.layout
        self._made, self._own = made, slice(states, states + layout.works + layout.controls)

    def __call__(self, segment: Segment, t: FloatArray, y: FloatArray) -> None:
        """Set the work in the states *y* (k, n) at the times *t* (k,) of a *segment*: the power along its solution, integrated
        from the beginning of each step.
        """
        assert segment.solution is not None
        made: BoundSystem = segment.mode or self._made
        ends, rows = np.append(segment.t0, segment.t), np.vstack([segment.y0, segment.y])
        sign = np.sign(ends[-1] - ends[0])
        i = np.searchsorted(sign * ends[1:-1], sign * t, side="left")
        size = (t - ends[i])[:, None]
        nodes, weights = gauss_legendre()
        times = (ends[i][:, None] + size * nodes).ravel()
        rate = made.code.rate.batch(times[:, None], np.asarray(segment.solution(times)).T, made.h)[:, self._own]
        found = rows[i, self._own] + size * np.einsum("kjn,j->kn", rate.reshape(len(t), len(nodes), -1), weights)
        better = np.isfinite(found).all(axis=1) & (t != ends[i + 1])
        y[better, self._own] = found[better]


class StallWatch:
    """Stall detection: a run whose steps shrink without bound never reaches its end.

    The number of steps in a time is taken for a power of the time since the start, with the lesser of its last two exponents.
    """

    def __init__(self, t0: float, t1: float) -> None:
        self._t0, self._t, self._t1, self._steps = t0, t0, t1, 0
        self._pace, self._exponents = 0.0, [0.0, 0.0]

    def steps_left(self, t: float, steps: int) -> float:
        """Number of steps to the end, where more than a run can make; else 0."""
        made, before = steps - self._steps, abs(self._t - self._t0)
        if made < CHECK_INTERVAL:
            return 0.0
        gone, rest, last = (max(abs(x), tolerances.LEAST_DIVISOR) for x in (t - self._t0, self._t1 - t, t - self._t))
        pace = made / last
        grows = self._pace > 0.0 and before < gone
        self._exponents = [self._exponents[1], log(pace / self._pace) / log(gone / before) if grows else 0.0]
        self._t, self._steps, self._pace = t, steps, pace
        exponent = lesser if (lesser := min(self._exponents)) >= GROWING else 0.0
        left = pace * gone / (1.0 + exponent) * expm1(min(LARGEST_LOG, (1.0 + exponent) * log1p(rest / gone)))
        return left if left > (MAX_STEPS_LEFT if exponent == 0.0 else MAX_STEPS_GROWING) else 0.0
