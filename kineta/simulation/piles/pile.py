"""Motions of many bodies that may touch each other: components that are stepped together, and of whose pairs of shapes only those
are looked at that are near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr, expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations, part_of
from kineta.errors import SimulationError, warn
from kineta.hybrid.automaton import check_start
from kineta.integration.contact_records import GOES_ON, HIT, law_fault
from kineta.integration.handover import DEEPEST_START
from kineta.integration.problem import Problem
from kineta.integration.segment import STEP_UNDERFLOW, Segment
from kineta.integration.time_stepping import StepInterpolant, SteppingRun
from kineta.model.contacts.mutual_contact import MutualContact, mutual_contacts
from kineta.model.parameters import named_values
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.results import outcomes
from kineta.results.impacts import Impact, whole_impact
from kineta.results.outcomes import DONE, EARLY, FAILED, INTERRUPTED, OUT_OF_STEPS
from kineta.runtime.contact_problem import contact_kernel
from kineta.runtime.domain_watch import DomainWatch
from kineta.runtime.kinks import placement_kink
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection
from kineta.runtime.recorder import Recorder
from kineta.simulation.independent_components import Parts
from kineta.simulation.inputs import RunInputs
from kineta.simulation.piles.pair_forces import PairForces
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.piles.touching_shapes import TouchingShape, TouchLaw
from kineta.simulation.progress import Progress
from kineta.simulation.run import ALLOWED, check_steps, start_refusal
from kineta.simulation.solution import Solution, one_motion


def without(equations: Equations) -> Equations:
    """*equations* without contacts of many bodies."""
    system = equations.system
    rest = tuple(c for c in system.contacts if not isinstance(c, MutualContact))
    return part_of(equations, system.unchecked(contacts=rest))


def shapes_of(system: System, parts: Parts, values: Mapping[str, float]) -> tuple[list[TouchingShape], list[TouchLaw]]:
    """The shapes of all contacts of many bodies, and their laws, for these *values* of the parameters. Raises
    :class:`SimulationError` for a law that is none.
    """
    shapes, laws = list[TouchingShape](), list[TouchLaw]()

    def number(value: Expr) -> float:
        (plain,) = system.expand(value)
        return float(evaluate(plain.graph, [plain.ref], values)[0])

    for group, contact in enumerate(mutual_contacts(system)):
        friction, restitution = number(contact.friction), number(contact.restitution)
        static = friction if contact.static is None else number(contact.static)
        laws.append(TouchLaw(friction, static, restitution, contact.poisson, number(contact.overlap)))
        if not (0 <= friction <= static and 0 <= restitution <= 1):
            raise SimulationError(
                f"Model '{system.name}': '{contact.name}' has {law_fault(0.0, friction, static, restitution)}."
            )
        for name, (own, place) in zip(contact.owners, contact.members, strict=True):
            sizes = [*map(number, own.sizes)]
            if not all(size > 0 for size in sizes):
                told = f"expected sizes above zero in '{contact.name}', found {min(sizes):g} at '{place.body}'."
                raise SimulationError(f"Model '{system.name}': {told}")
            radius, half = core(own.shape, sizes)
            x, y, z = map(number, place.position)
            owner = 0 if parts.components is None else parts.components.places([place.body])[0]
            axis = (0.0, 0.0, 0.0)
            if own.axis is not None:
                given = np.array([number(expr(c)) for c in own.axis])
                axis = tuple((given / norm(given)).tolist())
            shapes.append(TouchingShape(name, owner, place.body, own.shape, radius, half, (x, y, z), axis, group))
    return shapes, laws


def core(shape: str, sizes: Sequence[float]) -> tuple[float, tuple[float, float, float]]:
    """The radius of a *shape* of these *sizes*, and the half sizes along its axes of the core that is rounded with it."""
    if shape == "box":
        a, b, c = sizes
        return 0.0, (a / 2, b / 2, c / 2)
    return (sizes[0] if sizes else 0.0), (sizes[1] / 2 if len(sizes) > 1 else 0.0, 0.0, 0.0)


def pile_memory(system: System, given: RunInputs, parts: Parts, tasks: Sequence[SimulationProblem]) -> PileMemory:
    """Memory of the components *tasks* of *system*, stepped together."""
    return PileMemory(tasks, *shapes_of(system, parts, named_values(system.parameters, given.p.tolist())))


@dataclass(frozen=True, eq=False)
class SteppedPile:
    """What time stepping has found: the problems of all components, and what has been ``solved``; ``forces`` of pairs, of each
    motion, and the names of pairs by their keys.
    """

    solved: list[tuple[SimulationProblem, Solution]]
    forces: Sequence[PairForces]
    names: Mapping[int, str]


def step_pile(
    system: System, given: RunInputs, parts: Parts, tasks: Sequence[SimulationProblem], bar: Progress
) -> SteppedPile:
    """The solutions of the components *tasks* of *system*, stepped together. Raises :class:`SimulationError` where they cannot
    start.
    """
    check_steps(tasks[0])
    tasks = [_settled(task) for task in tasks]
    memory = pile_memory(system, given, parts, tasks)
    names = PairNames(system, memory)
    y0 = np.zeros(memory.data.motion.n_extended)
    for task, place in zip(tasks, memory.places, strict=True):
        y0[place.state] = task.y0
    first = tasks[0]
    said = check_apart(system, memory, names, first.t0, y0)
    problem = Problem(rhs=0, h=np.zeros(0), t0=first.t0, t1=first.t1, y0=y0)
    touches = [*memory.names, (mutual_contacts(system)[0].name, "m")]
    run = SteppingRun(problem, memory.data, contact_kernel("march"), touches, first.control)
    run.chunk = len(memory.data.array("times"))
    memory.keep_forces()
    forces = PairForces(first.t0, memory.data.size, None if first.dense_output else first.grid)
    records = [
        Recorder(t.grid, t.direction, t.states, Projection(t.quaternions, t.made), keep=t.dense_output) for t in tasks
    ]
    domains = [DomainWatch(task.equations, task.made) for task in tasks]
    for task, record, domain in zip(tasks, records, domains, strict=True):
        record.start(task.t0, task.y0.copy(), None)
        domain.process(np.array([task.t0]), task.y0[None])
    status, message = _step(run, memory, tasks, records, domains, forces, bar)
    if status in EARLY:
        for record in records:
            record.stop()
    memory.data.array("depths")[-1] = memory.data.pairs.depth
    impacts, strikes = impacts_of(names, ((t, one) for t, one in run.impacts if t <= records[0].reached))
    ended, counts = (status, message), (run.evaluations, 0, run.made)
    found = []
    for k, (task, record, domain) in enumerate(zip(tasks, records, domains, strict=True)):
        told: dict[str, Any] = {} if k else {"impacts": impacts, "changes": strikes, "notes": (*said, *run.notes())}
        found.append((task, one_motion(len(task.y0), record, domain, ended, counts, **told)))
    return SteppedPile(found, [forces], names.pairs)


def impacts_of(
    names: PairNames, struck: Iterable[tuple[float, FloatArray]]
) -> tuple[tuple[Impact, ...], tuple[tuple[float, str], ...]]:
    """The impacts of times and numbers of what has *struck*, and what strikes, in words."""
    impacts, strikes, places = list[Impact](), list[tuple[float, str]](), dict[float, int]()
    for t, (c, *numbers, what, number, _) in ((t, one.tolist()) for t, one in struck):
        if int(what) == GOES_ON:
            impacts[places[number]] = whole_impact(impacts[places[number]], numbers)
        else:
            places[number] = len(impacts)
            impacts.append(Impact(t, names[int(c)], *numbers))
            strikes += [(t, f"{names[int(c)]} strikes")] * (int(what) == HIT)
    return tuple(impacts), tuple(strikes)


def _settled(task: SimulationProblem) -> SimulationProblem:
    """*task* with its start on the constraints. Raises :class:`SimulationError` where it cannot start."""
    code, made = task.made.code, task.made
    if why := start_refusal(task, code.rate(np.array([task.t0]), task.y0, made.h)):
        raise SimulationError(why)
    if task.system.contacts:
        check_start(task, made)
    return task


def check_apart(system: System, memory: PileMemory, names: PairNames, t0: float, y0: FloatArray) -> tuple[str, ...]:
    """Sentences on shapes that overlap at the start and are pushed apart. Raises :class:`SimulationError` where they overlap more
    than their contact allows.
    """
    gap, a, b = memory.deepest(t0, y0, [max(law.overlap, DEEPEST_START) for law in memory.laws])
    if gap < -max(memory.laws[memory.shapes[a].group].overlap, DEEPEST_START):
        raise SimulationError(
            f"Model '{system.name}': at t = {t0:g} s {names.pair(a, b)} overlap by {-gap:.3g} m. Start them apart, or give"
            f" an overlap up to which they are pushed apart, as in overlap = {-gap:.1g}."
        )
    if gap >= -DEEPEST_START:
        return ()
    said = f"{names.pair(a, b)} overlap by {-gap:.3g} m at the start, and are pushed apart."
    warn(f"Model '{system.name}': {said}")
    return (said,)


class PairNames:
    """Names of contacts by their number in the record of an impact: of those of components, then of pairs."""

    def __init__(self, system: System, memory: PileMemory) -> None:
        self._fixed, self._shapes = [name for name, _ in memory.names], memory.shapes
        self._groups = [contact.name for contact in mutual_contacts(system)]

    def __getitem__(self, number: int) -> str:
        key = number - len(self._fixed)
        return self._fixed[number] if key < 0 else self.pair(*divmod(key, len(self._shapes)))

    @property
    def pairs(self) -> PairKeys:
        """Names of pairs by their keys."""
        return PairKeys(self, len(self._shapes))

    def pair(self, a: int, b: int) -> str:
        """The name of the pair of two shapes."""
        one, other = self._shapes[a], self._shapes[b]
        return f"{self._groups[one.group]}.{one.name}.{other.name}"


class PairKeys(Mapping[int, str]):
    """Names of pairs of so many *shapes*, by the number of the first times *shapes*, and that of the second."""

    def __init__(self, names: PairNames, shapes: int) -> None:
        self._names, self._shapes = names, shapes

    def __getitem__(self, key: int) -> str:
        return self._names.pair(*divmod(key, self._shapes))

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return self._shapes**2


def _step(
    run: SteppingRun,
    memory: PileMemory,
    tasks: Sequence[SimulationProblem],
    records: Sequence[Recorder],
    domains: Sequence[DomainWatch],
    forces: PairForces,
    bar: Progress,
) -> tuple[int, str]:
    """Step to the end; termination status and message."""
    try:
        for segment in run:
            forces.add(memory.forces())
            if len(segment.t):
                for part, record, domain in zip(_parts(segment, memory, tasks), records, domains, strict=True):
                    domain.process(part.t, part.y)
                    record.segment(part, None)
                bar.at(records[0].reached, records[0].steps, records[0].last_step)
            if segment.end:
                if memory.crowded:
                    return FAILED, outcomes.refused(records[0].reached, memory.crowded)
                edge = next((e for domain in domains if (e := domain.edge(last=True))), "") or _torn(
                    segment, memory, tasks
                )
                return FAILED, outcomes.failed(records[0].reached, segment.end, edge)
    except KeyboardInterrupt:
        return INTERRUPTED, outcomes.interrupted(records[0].reached)
    if records[0].reached != run.problem.t1:
        made = records[0]
        return OUT_OF_STEPS, outcomes.out_of_steps(made.reached, made.steps, made.last_step, ALLOWED)
    return DONE, outcomes.done(run.problem.t1)


def _torn(segment: Segment, memory: PileMemory, tasks: Sequence[SimulationProblem]) -> str:
    """Sentence on a body whose place jumps at the end of a *segment*; ``''`` for none."""
    if segment.end != STEP_UNDERFLOW:
        return ""
    ends = ((task, part.y[-1]) for task, part in zip(tasks, _parts(segment, memory, tasks), strict=True))
    found = (placement_kink(task.equations, task.made.p, float(segment.t[-1]), y) for task, y in ends)
    return next(filter(None, found), "")


def _parts(segment: Segment, memory: PileMemory, tasks: Sequence[SimulationProblem]) -> Iterator[Segment]:
    """The part of each component in a *segment* of all."""
    between: Any = segment.solution
    for place, task in zip(memory.places, tasks, strict=True):
        nq, nv = task.system.nq, task.system.nv
        states, n = place.state, nq + nv + 1
        y0, y = segment.y0[states], np.ascontiguousarray(segment.y[:, states])
        middles = between.middles[:, states[:n]]
        own = StepInterpolant(between.t, np.vstack([y0, y]), middles, nq, nv)
        yield replace(segment, y0=y0, y=y, solution=own, odd=False)
