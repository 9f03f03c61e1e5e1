"""The record of a run of bodies that may touch each other, without Python: tables of their components, of functions by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr, expr
from kineta.algebra.functions import sqrt
from kineta.arrays import FloatArray
from kineta.codegen.kernels.straight_line import room
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError
from kineta.expr.program import StraightLineProgram, program
from kineta.integration.stepping_records import SteppingData
from kineta.kernels.language import Kernel
from kineta.kernels.standalone.stepping_run import StandaloneSteps
from kineta.kernels.standalone.touching_bodies import (
    SHAPE_NUMBERS,
    BlockTable,
    TouchingBodies,
    follow_blocks,
)
from kineta.kernels.time_stepping import component_tables
from kineta.memory import CompiledFunction, Record
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.named_expressions import Output
from kineta.model.parameters import named_values
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.model.transformations.components import Components
from kineta.records import dataclass
from kineta.runtime.contact_problem import FUNCTIONS, STEP_FUNCTIONS
from kineta.runtime.functions import SETUP
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.independent_components import Parts
from kineta.simulation.piles.function_tables import TableFunctions
from kineta.simulation.piles.pile import PairNames, check_apart, core, shapes_of, without
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.piles.touching_shapes import ShapeFunction
from kineta.tasks.export.stepping_record import steps_record

#: The most shapes of exported code: pairs have names.
MOST_SHAPES = 100


@dataclass
class NumberedFunctions(TableFunctions):
    """Functions and kernels by number, from 1 on in the order in which they are asked for: ``called``, by name."""

    called: dict[str, StraightLineProgram | Kernel] = field(default_factory=dict)

    def of(self, name: str, function: StraightLineProgram | Kernel) -> int:
        """The number of a *function*; the *name* is that of the first of its kind."""
        numbers = {id(own): k for k, own in enumerate(self.called.values(), 1)}
        if id(function) not in numbers:
            self.called[f"{name}_{len(self.called) + 1}"] = function
        return numbers.get(id(function), len(self.called))

    def memory(self, task: SimulationProblem) -> SteppingData:
        """The memory of the component *task*, with its functions."""
        made = task.made.code.programs
        own = {n: self.of(n, made[n]) for n in (*FUNCTIONS, *STEP_FUNCTIONS) if n in made}
        return task.made.code.stepping(task.made.h, task.quaternions, numbers=own, rows=(1, 0))

    def kernel(self, name: str) -> int:
        """The number of a kernel of tables."""
        own: Any = follow_blocks if name == "follow_blocks" else getattr(component_tables, name)
        return self.of(name, own)

    def of_shapes(self, function: ShapeFunction) -> int:
        """The number of the kinematics of shapes."""
        return self.of("places", function.programs[1])

    def rows(self, size: int) -> tuple[int, int]:
        """A step, and its impacts."""
        return 1, 0

    def room(self, task: SimulationProblem) -> int:
        """Numbers behind the block h that the functions of the component *task* use."""
        return max(map(room, task.made.code.programs.values()))

    def room_of_shapes(self, function: ShapeFunction) -> int:
        """Numbers behind the block h of the kinematics of shapes."""
        return max(map(room, function.programs))


@dataclass(frozen=True)
class TouchingRecord:
    """The *record* of a run of bodies that may touch each other, other records *held* by it, its functions *called*, by name in
    the order of their numbers, and the names of *contacts*, of components and of pairs.
    """

    record: StandaloneSteps
    held: Sequence[Record]
    called: Mapping[str, StraightLineProgram | Kernel]
    contacts: Sequence[str]


def touching_record(
    equations: Equations, system: System, parts: Parts, tasks: Sequence[SimulationProblem], p: FloatArray
) -> TouchingRecord:
    """The record of the run of the components *tasks* of *system*, which are its *parts*, with the parameters *p*; *equations*
    are those without contacts of many bodies. Raises :class:`ArgumentError` for more bodies than have names.
    """
    functions = NumberedFunctions()
    shapes, laws = shapes_of(system, parts, named_values(system.parameters, p.tolist()))
    if len(shapes) > MOST_SHAPES:
        raise ArgumentError(
            f"Model '{system.name}': expected at most {MOST_SHAPES} shapes that may touch each other in exported code, found"
            f" {len(shapes)}. Export fewer, or run it by 'kineta simulate'."
        )
    native = PileMemory(tasks, shapes, laws)
    names, y0 = PairNames(system, native), np.zeros(native.data.motion.n_extended)
    for task, place in zip(tasks, native.places, strict=True):
        y0[place.state] = task.y0
    check_apart(system, native, names, tasks[0].t0, y0)
    memory = PileMemory(tasks, shapes, laws, functions)
    numbers = _numbers(equations, system)
    given = np.concatenate([p, np.zeros(system.nv + numbers.n_outputs + room(numbers))])
    setups, constants = _setups(system, tasks, memory, functions, len(given))
    n, order = system.nq + system.nv, np.arange(system.nq + system.nv)
    for own, place in zip(parts.states, memory.places, strict=False):
        order[own] = place.state[: len(own)]
    levels = [task.made.code.layout.levels for task in tasks]
    sizes = [task.made.code.programs["observed"].n_outputs - 2 for task in tasks]
    results, count = sum(sizes), len(tasks)
    outputs = [size - own for size, own in zip(sizes, levels, strict=True)]
    first = [0, *accumulate(outputs)]
    after = [first[-1] + k for k in (0, *accumulate(levels))]
    targets = [
        np.array(
            [k, count + k, *(2 * count + i for i in (*range(first[k], first[k + 1]), *range(after[k], after[k + 1])))]
        )
        for k in range(count)
    ]
    bodies = TouchingBodies(
        measure=CompiledFunction(functions.of("numbers", numbers)),
        plain=len(p) + system.nv,
        shapes=len(shapes),
        groups=len(laws),
        setups=setups[0],
        blocks=memory.blocks,
        tables=memory.tables,
        observed=memory.table("observed", targets),
        each=np.zeros(2 * count + results),
        components=count,
        results=results,
        states=n,
        order=order.astype(np.int64),
    )
    start = np.zeros(n)
    for own, task in zip(parts.states or [np.arange(n)], tasks, strict=True):
        start[own] = task.y0[: len(own)]
    for inputs, part in zip(parts.inputs, parts.equations, strict=True):
        for speed, force in zip(part.system.v_names, inputs.forces.constant.tolist(), strict=True):
            given[len(p) + system.v_names.index(speed)] = force
    record = steps_record(
        tasks[0],
        memory.data,
        given=np.append(given, constants),
        setup=CompiledFunction(0),
        observed=CompiledFunction(0),
        start=start,
        values=np.zeros(2 + results),
        bodies=bodies,
    )
    fixed = [name for name, _ in memory.names]
    pairs = (names.pair(a, b) for a in range(len(shapes)) for b in range(len(shapes)))
    return TouchingRecord(record, [*memory.held, *setups], functions.called, [*fixed, *pairs])


def over(equations: Equations) -> tuple[Output, ...]:
    """The outputs that tell of several bodies which nothing but contacts of many bodies couples."""
    return Components(without(equations).system).over


def _numbers(equations: Equations, system: System) -> StraightLineProgram:
    """The program of the numbers of shapes and laws of parameters."""
    shapes, laws = list[Expr](), list[Expr]()
    for contact in mutual_contacts(system):
        laws += [contact.friction, contact.friction if contact.static is None else contact.static]
        laws += [contact.restitution, contact.overlap]
        for own, place in contact.members:
            sizes: Any = own.sizes
            radius, half = core(own.shape, sizes)
            axis = [expr(0)] * 3
            if own.axis is not None:
                given = [expr(c) for c in own.axis]
                length = sqrt(given[0] ** 2 + given[1] ** 2 + given[2] ** 2)
                axis = [c / length for c in given]
            shapes += [expr(radius), *map(expr, half), *place.position, *axis]
    d = equations.alone()
    refs = d.expression(*shapes, *laws)
    return program(d.graph, {"p": d.symbols.p}, {"numbers": ((len(refs),), refs)}, "numbers")


def _setups(
    system: System, tasks: Sequence[SimulationProblem], memory: PileMemory, functions: NumberedFunctions, size: int
) -> tuple[list[BlockTable], list[float]]:
    """Tables of the setups of all components, then of the shapes of each; each goes on with the next. They take parameters of
    *system* and forces, then shapes, among *size* numbers that are given, and the constants behind these in which components that
    are alike differ.
    """
    constants = list[float]()

    def placed(name: str, value: float) -> int:
        if name not in place:
            constants.append(value)
        return place.get(name, size + len(constants) - 1)

    place = {name: k for k, name in enumerate((*system.parameter_names, *(added_force(n) for n in system.v_names)))}
    entries = list[tuple[int, list[int], int]]()
    behind = list[tuple[int, list[int], int]]()
    for k, (task, start, of_shapes) in enumerate(zip(tasks, memory.starts, memory.shape_starts, strict=True)):
        own = task.system
        given = [*map(placed, own.parameter_names, task.made.p.tolist()), *(place[added_force(n)] for n in own.v_names)]
        setup = task.made.code.programs[SETUP]
        entries.append((functions.of("setup", setup), given, start))
        if (held := memory.functions[k]) is not None:
            numbers = [
                len(place) + SHAPE_NUMBERS * i + j
                for i, shape in enumerate(memory.shapes)
                if shape.component == k
                for j in (0, *range(4, SHAPE_NUMBERS))
            ]
            behind.append((functions.of("setup", held[0].programs[0]), [*given, *numbers], of_shapes))
    grouped: dict[tuple[int, int], list[tuple[int, list[int], int]]] = {}
    for entry in (*entries, *behind):
        grouped.setdefault((entry[0], len(entry[1])), []).append(entry)
    found = list[BlockTable]()
    for (number, inputs), rows in reversed(grouped.items()):
        table = BlockTable(
            function=CompiledFunction(number),
            count=len(rows),
            inputs=inputs,
            source=np.array([i for _, source, _ in rows for i in source], dtype=np.int64),
            at=np.array([at for _, _, at in rows], dtype=np.int64),
            given=np.zeros(inputs),
            more=bool(found),
            following=CompiledFunction(functions.kernel("follow_blocks")),
            rest=found[0].words() if found else np.zeros(0),
        )
        found.insert(0, table)
    return found, constants
