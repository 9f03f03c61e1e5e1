"""Ensembles of bodies that may touch each other: each thread steps all components of one case after the other in machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.integration.stepping_records import CaseStepping, SteppingData
from kineta.integration.time_stepping import largest_step, number_of_steps, step_notes
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.parameters import named_values
from kineta.model.system import System
from kineta.results.impacts import Impact
from kineta.results.outcomes import FAILED, INTERRUPTED
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.hybrid_ensemble import CaseWords
from kineta.simulation.independent_components import Parts
from kineta.simulation.inputs import RunInputs
from kineta.simulation.piles.pair_forces import PairForces
from kineta.simulation.piles.pile import PairNames, SteppedPile, check_apart, impacts_of, shapes_of, step_pile
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.progress import Progress
from kineta.simulation.run import check_steps
from kineta.simulation.solution import Solution, unmoved
from kineta.simulation.stepping_ensemble import SteppedCases, able_to_start


def step_pile_cases(
    system: System, given: RunInputs, parts: Parts, tasks: Sequence[SimulationProblem], bar: Progress
) -> SteppedPile:
    """The solutions of the components *tasks* of *system*, all cases of them. Raises :class:`SimulationError` where none can
    start.
    """
    check_steps(tasks[0])
    found, cases = [unmoved(task) for task in tasks], len(tasks[0].y0)
    left, first, names = [*range(cases)], tasks[0], cast(Mapping[int, str], {})
    steps = number_of_steps(first.t0, first.t1, first.control.max_step)
    forces = [PairForces(first.t0, (first.t1 - first.t0) / steps, first.grid) for _ in range(cases)]
    if first.t1 > first.t0 and steps <= first.control.max_steps:
        left, names = _step_natively(system, given, parts, tasks, found, forces, bar)
    quiet, refused = Progress(first.t0, first.t1, shown=False), list[SimulationError]()
    with suppress(KeyboardInterrupt):
        for done, i in enumerate(left, 1):
            try:
                alone = step_pile(system, given.case(i), parts, [task.case(i) for task in tasks], quiet)
            except SimulationError as error:
                for own in found:
                    own.status[i], own.messages[i] = FAILED, str(error)
                refused.append(error)
                continue
            forces[i], names = alone.forces[0], alone.names
            for own, (task, one) in zip(found, alone.solved, strict=True):
                own.put(i, task, one)
            bar.ended(cases - len(left) + done, cases)
            if alone.solved[0][1].status[0] == INTERRUPTED:
                break
    if len(refused) == cases:
        raise refused[0]
    return SteppedPile([*zip(tasks, found, strict=True)], forces, names)


def _step_natively(
    system: System,
    given: RunInputs,
    parts: Parts,
    tasks: Sequence[SimulationProblem],
    found: Sequence[Solution],
    forces: Sequence[PairForces],
    bar: Progress,
) -> tuple[list[int], Mapping[int, str]]:
    """Step all cases on all cores; returns those that are left, to be run as single motions, which say what is wrong, and
    names of pairs by their keys.
    """
    cases, first = len(tasks[0].y0), tasks[0]
    able = able_to_start(tasks)
    if not able:
        return [*range(cases)], {}
    values = [named_values(system.parameters, p.tolist()) for p in np.atleast_2d(given.p)]
    one = [task.case(able[0]) for task in tasks]
    shapes, laws = shapes_of(system, parts, values[able[0] % len(values)])
    memory = PileMemory(one, shapes, laws)
    places = [place.state for place in memory.places]
    y0 = np.zeros((cases, memory.data.motion.n_extended))
    for task, place in zip(tasks, places, strict=True):
        y0[:, place] = task.y0
    alike = given.p.ndim == given.forces.constant.ndim == 1
    blocks = np.zeros((1 if alike else cases, 0))
    said, names, apart = dict[int, tuple[str, ...]](), PairNames(system, memory), list[int]()
    for i in able:
        if i == able[0] or not alike:
            try:
                own = shapes_of(system, parts, values[i % len(values)])
            except SimulationError:
                continue
            numbers = memory.numbers([task.case(i) for task in tasks], *own)
            if not blocks.shape[1]:
                blocks = np.zeros((len(blocks), len(numbers)))
            blocks[i % len(blocks)] = numbers
            memory.set_numbers(numbers)
            memory.laws = own[1]
        try:
            said[i] = check_apart(system, memory, names, first.t0, y0[i])
        except SimulationError:
            continue
        apart.append(i)
    many = SteppedCases(first, y0, blocks, len(memory.blocks), apart, memory.fixed + 1)

    def stepping() -> tuple[SteppingData, FloatArray]:
        own = PileMemory(one, shapes, laws)
        own.keep_forces()
        held[own.data.address] = own
        return own.data, own.blocks

    def paused(own: CaseStepping, number: int) -> None:
        forces[number].add(held[own.run.address].forces())

    held, many.paused = dict[int, PileMemory](), paused
    many.step(stepping, bar)
    for own_task, solution, place in zip(tasks, found, places, strict=True):
        many.put(own_task, solution, place)
    told = PileTold(first, many, names, [*memory.names, (mutual_contacts(system)[0].name, "m")], said)
    left = told.put(found[0], many.stays)
    return [] if many.interrupted else left, names.pairs


class PileTold(CaseWords):
    """What happened to the cases of *task*, put into words when asked for; *labels* are names and units of penetrations, *said*
    sentences on starts.
    """

    def __init__(
        self,
        task: SimulationProblem,
        many: SteppedCases,
        names: PairNames,
        labels: Sequence[tuple[str, str]],
        said: dict[int, tuple[str, ...]],
    ) -> None:
        self._task, self._many, self._names, self._labels, self._said = task, many, names, labels, said
        self._struck = dict[int, list[tuple[float, Any]]]()
        for i, times, rows in many.struck:
            self._struck.setdefault(i, []).extend(zip(times.tolist(), rows, strict=True))

    def happened(self, i: int) -> tuple[Sequence[Impact], Sequence[tuple[float, str]]]:
        """Impacts and changes of case *i*."""
        return impacts_of(self._names, self._struck.get(i, ()))

    def notes(self, i: int) -> tuple[str, ...]:
        """Notes on case *i*."""
        task, many = self._task, self._many
        largest = min(largest_step(task.control.max_step), task.t1 - task.t0)
        return (
            *self._said.get(i, ()),
            *step_notes(largest, self._labels, many.penetrations[i].tolist(), *many.counts[i].tolist()),
        )
