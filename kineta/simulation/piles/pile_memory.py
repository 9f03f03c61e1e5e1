"""Memory of time stepping of components that touch each other, and what differs between cases of the same bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.contact_records import IMPACT_NUMBERS, ContactMotion, ContactProblem, ContactTerms
from kineta.integration.stepping_records import (
    IMPACT_SUMS,
    ComponentTable,
    ComponentTables,
    NearPairs,
    SteppingData,
)
from kineta.kernels.time_stepping.pair_features import FEATURE_NUMBERS
from kineta.kernels.time_stepping.pair_rows import PAIR_FORCE_NUMBERS
from kineta.memory import CompiledFunction
from kineta.runtime.contact_problem import STEP_FUNCTIONS, contact_kernel, contact_memory
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.piles.component_places import ComponentPlaces
from kineta.simulation.piles.function_tables import TableFunctions, chained
from kineta.simulation.piles.shape_memory import laws_of, near_pairs, shapes_of_component, sizes_of
from kineta.simulation.piles.touching_shapes import TouchingShape, TouchLaw

#: Room for contact features: for each ball, for each other shape, and in addition.
PAIRS, FEATURES, MORE_PAIRS = 16, 48, 64
#: Forces of pairs kept between two pauses, beside those of one step.
MORE_FORCES = 1 << 14
#: Speeds of the largest island for Newton's method.
LARGEST_ISLAND = 60


class PileMemory:
    """Memory ``data`` of time stepping of all components, ``tasks``, of which the *shapes* may touch each other by the *laws* of
    their groups.

    places : where the numbers of each component stand; names : of their contacts; fixed : their number
    """

    def __init__(
        self,
        tasks: Sequence[SimulationProblem],
        shapes: Sequence[TouchingShape],
        laws: Sequence[TouchLaw],
        functions: TableFunctions | None = None,
    ) -> None:
        self._called = TableFunctions() if functions is None else functions
        self._own, self._tasks = _own_memories(tasks, self._called), tasks
        self.held = list[Any]()  # what addresses in tables point to
        self._of = ComponentPlaces(
            self._own, sum(PAIRS if s.shape == "ball" else FEATURES for s in shapes) + MORE_PAIRS
        )
        self._placed = [0, *accumulate(own.n_placed for own in self._own)]
        self.places, self.fixed = self._of.of_each, self._of.fixed
        self.functions = [shapes_of_component(k, task, shapes) for k, task in enumerate(tasks)]
        self.shapes, self.laws = shapes, laws
        self.blocks, self.starts, self.shape_starts = self._blocks(tasks, shapes)
        pairs = near_pairs(self._of, self.functions, shapes, laws, self._called.kernel("table_places"))
        self.tables = self._tables()
        self.data = self._data(pairs, self.tables, self._of.problem(), self._of.term_sizes)
        self._forces = pairs.array("forces")

    @property
    def names(self) -> list[tuple[str, str]]:
        """Names and units of the contacts of components."""
        return [label for task in self._tasks if task.made.code.contacts for label in task.made.code.contacts.labels]

    def keep_forces(self) -> None:
        """Keep the forces of pairs in the steps since the last pause."""
        self._forces = np.zeros(PAIR_FORCE_NUMBERS * (self._of.room + MORE_FORCES))
        frames = np.zeros(9 * self._of.room)
        self.data.pairs.update(keeps=True, frames=frames, forces=self._forces, kept=self._of.room + MORE_FORCES)

    def forces(self) -> FloatArray:
        """The forces (k, PAIR_FORCE_NUMBERS) of pairs in the steps since the last pause."""
        rows = self._forces[: PAIR_FORCE_NUMBERS * self.data.pairs.noted].reshape(-1, PAIR_FORCE_NUMBERS)
        return np.array(rows[rows[:, 0] <= self.data.made])

    @property
    def crowded(self) -> str:
        """Why there are more pairs than there is room for; ``''`` where there are not."""
        if not self.data.pairs.full:
            return ""
        return f"more than {self._of.room} places of bodies are near each other; take shorter steps"

    def deepest(self, t0: float, y0: FloatArray, allowed: Sequence[float]) -> tuple[float, int, int]:
        """The gap of the two shapes that may touch each other and overlap most beyond what is *allowed* in their group, in a
        state, and their numbers; an infinite gap where none overlap.
        """
        pairs = self.data.pairs
        self.data.array("time")[0], self.data.array("y")[:] = t0, y0
        time, y, block = self.data.array("time"), self.data.array("y"), self.data.motion.array("block")
        pairs.array("places_of")(time, y, block, pairs.array("places"))
        contact_kernel("list_features")(pairs, 0.0)
        count, pairs.count = pairs.count, 0
        gaps = pairs.array("features")[: FEATURE_NUMBERS * count : FEATURE_NUMBERS]
        keys = pairs.array("pair")[:count]
        if not count:
            return np.inf, 0, 0
        beyond = gaps + np.array(allowed)[pairs.array("group")[keys // pairs.shapes]]
        k = int(beyond.argmin())
        a, b = divmod(int(keys[k]), pairs.shapes)
        return float(gaps[k]), a, b

    def numbers(
        self, tasks: Sequence[SimulationProblem], shapes: Sequence[TouchingShape], laws: Sequence[TouchLaw]
    ) -> FloatArray:
        """What differs between cases of the same bodies: all blocks, then the sizes of shapes, and their laws."""
        given = sizes_of(shapes), laws_of(laws)
        return np.concatenate([self._blocks(tasks, shapes)[0], *(x for own in given for x in own.values())])

    def set_numbers(self, numbers: FloatArray) -> None:
        """Set what differs between cases, as :meth:`numbers` gives it."""
        self.blocks[:] = numbers[: len(self.blocks)]
        contact_kernel("size_shapes")(self.data.pairs, numbers[len(self.blocks) :])

    def _blocks(
        self, tasks: Sequence[SimulationProblem], shapes: Sequence[TouchingShape]
    ) -> tuple[FloatArray, list[int], list[int]]:
        """The blocks h of all components, then of their shapes, and where each begins."""
        rows = [np.append(task.made.h, np.zeros(self._called.room(task))) for task in tasks]
        for k, (own, task) in enumerate(zip(self.functions, tasks, strict=True)):
            row = np.zeros(0)
            if own is not None:
                function, _ = own
                numbers = [x for s in shapes if s.component == k for x in (s.radius, *s.offset, *s.axis)]
                row = function.block(np.array([*task.made.p, *task.made.forces.constant, *numbers]))
                row = np.append(row, np.zeros(self._called.room_of_shapes(function)))
            rows.append(row)
        starts, n = [0, *accumulate(map(len, rows))], len(tasks)
        return np.concatenate(rows), starts[:n], starts[n:-1]

    def table(self, name: str, target: Sequence[IntArray]) -> ComponentTable:
        """The table of the function *name* of all components, whose results stand at *target* among all."""
        rows = [(self._entry(name, k, task), target[k]) for k, task in enumerate(self._tasks)]
        follow = self._called.kernel("follow_table")
        tables = chained([(*entry, to) for entry, to in rows if entry is not None], self.blocks, follow)
        self.held += tables
        return tables[0]

    def _entry(self, name: str, k: int, task: SimulationProblem) -> tuple[int, IntArray, int] | None:
        """The address of a function, the places of its inputs in the state of all, and the start of its block h."""
        if name == "places":
            own = self.functions[k]
            if own is None:
                return None
            motion = self._own[k].motion
            source = self.places[k].state[: motion.coordinates + motion.speeds]
            return self._called.of_shapes(own[0]), source, self.shape_starts[k]
        data = self._own[k]
        if name not in task.made.code.programs:  # no place jumps
            return None
        holder = data if name in STEP_FUNCTIONS else data.motion
        field = {"terms": "terms_of", "gaps": "gaps_of"}.get(name, name)
        size = task.made.code.programs[name].inputs[1].size
        place = self.places[k].state
        if name == "retraction":  # changes of the speeds stand behind the states
            size = max(size, data.motion.n + data.motion.speeds)
        return getattr(holder, field).address, place[:size], self.starts[k]

    def _tables(self) -> ComponentTables:
        places, n = self.places, [own.motion for own in self._own]
        shape_ends = [0, *accumulate(sum(own[0].sizes) if own else 0 for own in self.functions)]
        targets: dict[str, Sequence[IntArray]] = {
            "terms": [p.terms for p in places],
            "gaps": [p.contacts for p in places],
            "residuals": [p.residuals for p in places],
            "retraction": [p.coordinates for p in places],
            "rate": [p.state for p in places],
            "slopes": [p.slopes for p in places],
            "coordinate_rate": [p.coordinates for p in places],
            "placed": [np.arange(a, b) for a, b in pairwise(self._placed)],
            "places": [np.arange(a, b) for a, b in pairwise(shape_ends)],
        }
        assert n
        return ComponentTables(**{name: self.table(name, to) for name, to in targets.items()})

    def _data(
        self, pairs: NearPairs, tables: ComponentTables, problem: ContactProblem, sizes: Mapping[str, int]
    ) -> SteppingData:
        nq, nv = self._of.q[-1], self._of.v[-1]
        n, contacts = nq + nv + self._of.works, self._of.fixed + self._of.room
        extended = sum(len(p.state) for p in self.places)
        memory = np.zeros(sum(sizes.values()))
        starts = self._of.term_starts
        terms = ContactTerms(**{name: memory[at : at + sizes[name]] for name, at in starts.items()})
        rows = [3 * self._of.contacts[k] + own.motion.array("force_rows") for k, own in enumerate(self._own)]
        block = tables.words()
        chunk, impacts = self._called.rows(extended)
        work = contact_memory(problem, sizes, (contacts, 0), min(problem.speeds, LARGEST_ISLAND))
        called = {
            name: CompiledFunction(self._called.kernel(f"table_{name}")) for name in ComponentTables.layout.fields
        }
        self.held.append(tables)
        motion = ContactMotion(
            problem=problem,
            terms=terms,
            **work,
            n=n,
            coordinates=nq,
            speeds=nv,
            n_forces=self._of.forces[-1],
            n_extended=extended,
            terms_of=called["terms"],
            gaps_of=called["gaps"],
            free=CompiledFunction(0),
            residuals=called["residuals"],
            retraction=called["retraction"],
            rate=called["rate"],
            events=CompiledFunction(0),
            observed=CompiledFunction(0),
            block=block,
            flags=np.zeros(0),
            memory=memory,
            extended=np.zeros(extended),
            found=np.zeros(problem.speeds),
            residual=np.zeros(2 * problem.multipliers),
            force_rows=np.concatenate(rows).astype(np.int64),
            known=np.zeros(0),
            aside=np.zeros(0),
        )
        quaternions = [self._of.q[k] + q for k, task in enumerate(self._tasks) for q in task.quaternions]
        return SteppingData(
            motion=motion,
            slopes=called["slopes"],
            coordinate_rate=called["coordinate_rate"],
            placed=called["placed"],
            n_placed=self._placed[-1],
            sides=np.zeros(3 * self._placed[-1]),
            torn=False,
            n_quaternions=len(quaternions),
            quaternions=np.array(quaternions, dtype=np.int64),
            work=nq + nv,
            works=self._of.works,
            pairs=pairs,
            largest=LARGEST_ISLAND,
            time=np.zeros(1),
            **{name: np.zeros(extended) for name in ("y", "middle", "rate", "origin")},
            **{name: np.zeros(problem.speeds) for name in ("free", "tried", "about")},
            **{name: np.zeros(contacts) for name in ("plain", "rebound", "back", "gaps", "bearing")},
            depths=np.zeros(self._of.fixed + 1),
            **{name: np.zeros(contacts, dtype=np.int64) for name in ("pressed", "stuck", "near", "taking", "blow")},
            sums=np.zeros(IMPACT_SUMS * contacts),
            **{name: np.zeros(2 * sizes["inertia"]) for name in ("slope", "ahead")},
            times=np.zeros(chunk),
            states=np.zeros(chunk * extended),
            middles=np.zeros(chunk * n),
            finest=1,
            room=impacts + contacts,
            impacts=np.zeros(IMPACT_NUMBERS * (impacts + contacts)),
            events=CompiledFunction(0),
            n_events=0,
            values=np.zeros(0),
        )


def _own_memories(tasks: Sequence[SimulationProblem], functions: TableFunctions) -> list[SteppingData]:
    """Memory of each component, the same for those of one code."""
    known: dict[int, SteppingData] = {}
    found = []
    for task in tasks:
        code = task.made.code
        if id(code.programs) not in known:
            known[id(code.programs)] = functions.memory(task)
        found.append(known[id(code.programs)])
    return found
