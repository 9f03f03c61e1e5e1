"""Memory of time stepping of components that touch each other: their functions as tables, one problem of all contacts, and room
for pairs of shapes that are near.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.contact_records import FLAGS, IMPACT_NUMBERS, ContactMotion, ContactProblem, ContactTerms
from kineta.integration.stepping_records import (
    IMPACT_SUMS,
    ComponentTable,
    ComponentTables,
    NearPairs,
    SteppingData,
)
from kineta.integration.time_stepping import CHUNK
from kineta.kernels.machine_code import machine_unit
from kineta.kernels.time_stepping import component_tables
from kineta.kernels.time_stepping.component_tables import follow_table
from kineta.kernels.time_stepping.pair_features import FEATURE_NUMBERS
from kineta.kernels.time_stepping.pair_rows import PAIR_FORCE_NUMBERS, ROW_NUMBERS
from kineta.mechanics.contact.contact_terms import TERMS
from kineta.memory import CompiledFunction
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.runtime.contact_problem import IMPACTS, STEP_FUNCTIONS, contact_kernel, contact_memory
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.touching_shapes import AXES, KINDS, ShapeFunction, TouchingShape, TouchLaw, shape_function
from kineta.spatial.rotation import ASIDE
from kineta.threads import once

#: Room for contact features: for each ball, for each other shape, and in addition.
PAIRS, FEATURES, MORE_PAIRS = 16, 48, 64
#: Forces of pairs kept between two pauses, beside those of one step.
MORE_FORCES = 1 << 14
#: Numbers that the steps of a segment may have.
SEGMENT_NUMBERS = 1 << 21
#: Speeds of the largest island for Newton's method.
LARGEST_ISLAND = 60
#: Fields of features that are kept from the last step, and the size of the work array of their search.
LAST = ("pair", "feature", "pressed", "stuck")
WORK = 42


@dataclass(frozen=True, eq=False)
class Places:
    """Where the numbers of a component stand among those of all, by what they are."""

    state: IntArray
    speeds: IntArray
    multipliers: IntArray
    terms: IntArray
    slopes: IntArray
    residuals: IntArray
    coordinates: IntArray
    contacts: IntArray


class TableFunctions:
    """The functions of components and the kernels of their tables, at the addresses of their machine code."""

    def memory(self, task: SimulationProblem) -> SteppingData:
        """The memory of the component *task*, with its functions."""
        return task.made.code.stepping(task.made.h, task.quaternions)

    def kernel(self, name: str) -> int:
        """The address of a kernel of tables; all are compiled together."""
        own = [getattr(component_tables, f"table_{what}") for what in ComponentTables.layout.fields]
        return machine_unit(follow_table, *own)[name].address

    def of_shapes(self, function: ShapeFunction) -> int:
        """The address of the kinematics of shapes."""
        return function.function.address

    def rows(self, size: int) -> tuple[int, int]:
        """Steps with states of this *size*, and impacts, between two pauses."""
        return int(np.clip(SEGMENT_NUMBERS // size, 1, CHUNK)), IMPACTS

    def room(self, task: SimulationProblem) -> int:
        """Numbers behind the block h that the functions of the component *task* use."""
        return 0

    def room_of_shapes(self, function: ShapeFunction) -> int:
        """Numbers behind the block h of the kinematics of shapes."""
        return 0


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
        self._room = sum(PAIRS if s.shape == "ball" else FEATURES for s in shapes) + MORE_PAIRS
        self._sum()
        self._placed = [0, *accumulate(own.n_placed for own in self._own)]
        self.places = [*self._places()]
        self.functions = [self._shape_functions(k, task, shapes) for k, task in enumerate(tasks)]
        self.shapes, self.laws = shapes, laws
        self.blocks, self.starts, self.shape_starts = self._blocks(tasks, shapes)
        pairs, self.tables = self._pairs(shapes, laws), self._tables()
        problem, sizes = self._problem(), self._term_sizes
        self.data = self._data(pairs, self.tables, problem, sizes)
        self._forces = pairs.array("forces")

    def _sum(self) -> None:
        """Offsets of each component among all: q, v, multipliers, contacts, forces, blocks, inertia, row entries, couplings."""
        motions = [own.motion for own in self._own]
        problems = [m.problem for m in motions]

        def starts(numbers: Iterable[int]) -> list[int]:
            return [0, *accumulate(numbers)]

        self._q = starts(m.coordinates for m in motions)
        self._v = starts(m.speeds for m in motions)
        self._m = starts(p.multipliers for p in problems)
        self._c = starts(p.contacts for p in problems)
        self._f = starts(m.n_forces for m in motions)
        self._b = starts(p.blocks for p in problems)
        self._i = starts(len(m.terms.array("inertia")) for m in motions)
        self._e = starts(len(p.array("row_speeds")) for p in problems)
        self._k = starts(len(p.array("coupled_blocks")) for p in problems)
        self.fixed, self.works = self._c[-1], len(motions)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Names and units of the contacts of components."""
        return [label for task in self._tasks if task.made.code.contacts for label in task.made.code.contacts.labels]

    def keep_forces(self) -> None:
        """Keep the forces of pairs in the steps since the last pause."""
        self._forces = np.zeros(PAIR_FORCE_NUMBERS * (self._room + MORE_FORCES))
        frames = np.zeros(9 * self._room)
        self.data.pairs.update(keeps=True, frames=frames, forces=self._forces, kept=self._room + MORE_FORCES)

    def forces(self) -> FloatArray:
        """The forces (k, PAIR_FORCE_NUMBERS) of pairs in the steps since the last pause."""
        rows = self._forces[: PAIR_FORCE_NUMBERS * self.data.pairs.noted].reshape(-1, PAIR_FORCE_NUMBERS)
        return np.array(rows[rows[:, 0] <= self.data.made])

    @property
    def crowded(self) -> str:
        """Why there are more pairs than there is room for; ``''`` where there are not."""
        if not self.data.pairs.full:
            return ""
        return f"more than {self._room} places of bodies are near each other; take shorter steps"

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

    def _places(self) -> Iterable[Places]:
        nq, nv, nm, nf = self._q[-1], self._v[-1], self._m[-1], self._f[-1]
        n = nq + nv + self.works
        for k, own in enumerate(self._own):
            motion, p = own.motion, own.motion.problem
            q, v = self._q[k] + np.arange(motion.coordinates), self._v[k] + np.arange(motion.speeds)
            m, c = self._m[k] + np.arange(p.multipliers), self._c[k] + np.arange(p.contacts)
            f = self._f[k] + np.arange(motion.n_forces)
            given = n + nv + nm
            flags = (given + nm + nf + FLAGS * c[:, None] + np.arange(FLAGS)).ravel()
            state = [q, nq + v, np.array([nq + nv + k]), n + v, n + nv + m, given + m, given + nm + f, flags]
            i, e = self._i[k] + np.arange(self._i[k + 1] - self._i[k]), 3 * self._e[k]
            rows = e + np.arange(3 * (self._e[k + 1] - self._e[k]))
            three, four = ((w * c[:, None] + np.arange(w)).ravel() for w in (3, 4))
            speeds = np.concatenate([v, nv + m])
            of = {"inertia": i, "force": speeds, "jacobian": rows, "velocity": three, "bias": three, "law": four}
            of |= {"gap": c, "level": c}
            terms = np.concatenate([self._term_starts[name] + of[name] for name in TERMS])
            yield Places(
                state=np.concatenate(state),
                speeds=speeds,
                multipliers=m,
                terms=terms,
                slopes=np.concatenate([i, self._i[-1] + i]),
                residuals=np.concatenate([m, nm + m]),
                coordinates=q,
                contacts=c,
            )

    @once
    def _widths(self) -> tuple[int, int]:
        """The most speeds and blocks of a pair."""
        speeds = max((own.motion.problem.speeds for own in self._own), default=0)
        blocks = max((own.motion.problem.blocks for own in self._own), default=0)
        return 2 * speeds, 2 * blocks

    @once
    def _term_sizes(self) -> dict[str, int]:
        contacts = self._c[-1] + self._room
        entries = self._e[-1] + self._room * self._widths[0]
        sizes = {"inertia": self._i[-1], "force": self._v[-1] + self._m[-1], "jacobian": 3 * entries}
        return sizes | {
            "velocity": 3 * contacts,
            "bias": 3 * contacts,
            "law": 4 * contacts,
            "gap": contacts,
            "level": contacts,
        }

    @once
    def _term_starts(self) -> dict[str, int]:
        sizes = self._term_sizes
        return dict(zip(TERMS, [0, *accumulate(sizes[name] for name in TERMS)], strict=False))

    def _shape_functions(
        self, k: int, task: SimulationProblem, shapes: Sequence[TouchingShape]
    ) -> tuple[ShapeFunction, list[TouchingShape]] | None:
        own = [s for s in shapes if s.component == k]
        if not own:
            return None
        terms = task.made.code.layout.contact_terms
        assert terms is not None
        axes = tuple(AXES[KINDS[s.shape]] for s in own)
        return shape_function(task.equations, tuple(s.body for s in own), axes, terms.blocks), own

    def _problem(self) -> ContactProblem:
        """One problem of the contacts of all components, with room for those of pairs."""
        room, (speeds, blocks) = self._room, self._widths
        problems = [(k, own.motion.problem) for k, own in enumerate(self._own)]

        def joined(name: str, starts: Sequence[int] | None = None) -> IntArray:
            """Starts of all, each behind the last of those before."""
            assert starts is not None
            return np.concatenate([*(p.array(name)[:-1] + starts[k] for k, p in problems), [starts[-1]]])

        def mapped(name: str, places: Any) -> IntArray:
            return np.concatenate([places(k)[p.array(name)] for k, p in problems]).astype(np.int64)

        def plain(name: str) -> IntArray:
            return np.concatenate([p.array(name) for _, p in problems]).astype(np.int64)

        def longer(x: IntArray, more: int) -> IntArray:
            return np.concatenate([x, np.zeros(more, dtype=np.int64)])

        s = [a + b for a, b in zip(self._v, self._m, strict=True)]
        fills = [0, *accumulate(len(p.array("fill")) for _, p in problems)]

        def of_speeds(k: int) -> IntArray:
            return self.places[k].speeds

        def of_blocks(k: int) -> IntArray:
            return self._b[k] + np.arange(self._b[k + 1] - self._b[k])

        return ContactProblem(
            speeds=self._v[-1] + self._m[-1],
            multipliers=self._m[-1],
            contacts=self._c[-1],
            blocks=self._b[-1],
            block_start=joined("block_start", s),
            block_speeds=mapped("block_speeds", of_speeds),
            inertia_start=joined("inertia_start", self._i),
            fill_start=joined("fill_start", fills),
            fill=plain("fill"),
            row_start=longer(joined("row_start", self._e), room),
            row_speeds=longer(mapped("row_speeds", of_speeds), room * speeds),
            coupled_start=longer(joined("coupled_start", self._k), room),
            coupled_blocks=longer(mapped("coupled_blocks", of_blocks), room * blocks),
            **{name: longer(plain(name), room) for name in ("has_normal", "poisson", "tangents")},
        )

    def numbers(
        self, tasks: Sequence[SimulationProblem], shapes: Sequence[TouchingShape], laws: Sequence[TouchLaw]
    ) -> FloatArray:
        """What differs between cases of the same bodies: all blocks, then the sizes of shapes, and their laws."""
        given = _sizes(shapes), _laws(laws)
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
        tables = _chained([(*entry, to) for entry, to in rows if entry is not None], self.blocks, follow)
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

    def _pairs(self, shapes: Sequence[TouchingShape], laws: Sequence[TouchLaw]) -> NearPairs:
        n, room = len(shapes), self._room
        starts, blocks, total = np.zeros(n, dtype=np.int64), [list[int]() for _ in shapes], 0
        for k, function in enumerate(self.functions):
            which = [i for i, s in enumerate(shapes) if s.component == k]
            for i, size, coupled in zip(which, function[0].sizes, function[0].coupled, strict=True) if function else ():
                starts[i], blocks[i] = total, [self._b[k] + b for b in coupled]
                total += size
        bodies = {key: i for i, key in enumerate(dict.fromkeys((s.component, s.body) for s in shapes))}
        owner = np.zeros(self._v[-1] + self._m[-1], dtype=np.int64)
        for k, place in enumerate(self.places):
            owner[place.speeds] = k

        def integers(*values: int) -> IntArray:
            return np.array(values, dtype=np.int64)

        marks = ("key", "feature_kind", "one", "other", "pair", "feature", *(f"last_{n}" for n in LAST))
        zeros = {name: np.zeros(room, dtype=np.int64) for name in marks}
        return NearPairs(
            shapes=n,
            room=room,
            fixed=self.fixed,
            places_of=CompiledFunction(self._called.kernel("table_places")),
            places=np.zeros(total),
            place_start=starts,
            kind=integers(*(KINDS[s.shape] for s in shapes)),
            **_sizes(shapes),
            features=np.zeros(FEATURE_NUMBERS * (room + 1)),
            extent=np.zeros(3 * n),
            block_start=integers(0, *accumulate(map(len, blocks))),
            blocks=integers(*(b for own in blocks for b in own)),
            body=integers(*(bodies[s.component, s.body] for s in shapes)),
            group=integers(*(s.group for s in shapes)),
            groups=len(laws),
            **_laws(laws),
            group_poisson=integers(*(int(law.poisson) for law in laws)),
            aside=np.array([x for g in range(len(laws)) for x in self._aside(g)]),
            **{name: np.zeros(n) for name in ("lower", "upper", "reach")},
            order=np.arange(n),
            **zeros,
            last_impulse=np.zeros(3 * room),
            last_sums=np.zeros(IMPACT_SUMS * room),
            frames=np.zeros(0),
            forces=np.zeros(0),
            axes=np.zeros(ROW_NUMBERS),
            rates=np.zeros(6),
            work=np.zeros(WORK),
            owner=owner,
        )

    def _aside(self, group: int) -> tuple[float, ...]:
        """The direction that tangents of a group lean towards: the axis of the ground along which none moves, if there is one."""
        own = [own[0].still for own in self.functions if own is not None and any(s.group == group for s in own[1])]
        k = next((k for k in range(3) if all(still[k] for still in own)), None)
        return ASIDE if k is None else tuple(float(i == k) for i in range(3))

    def _data(
        self, pairs: NearPairs, tables: ComponentTables, problem: ContactProblem, sizes: Mapping[str, int]
    ) -> SteppingData:
        nq, nv = self._q[-1], self._v[-1]
        n, contacts = nq + nv + self.works, self.fixed + self._room
        extended = sum(len(p.state) for p in self.places)
        memory = np.zeros(sum(sizes.values()))
        starts = self._term_starts
        terms = ContactTerms(**{name: memory[at : at + sizes[name]] for name, at in starts.items()})
        rows = [3 * self._c[k] + own.motion.array("force_rows") for k, own in enumerate(self._own)]
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
            n_forces=self._f[-1],
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
        )
        quaternions = [self._q[k] + q for k, task in enumerate(self._tasks) for q in task.quaternions]
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
            works=self.works,
            pairs=pairs,
            largest=LARGEST_ISLAND,
            time=np.zeros(1),
            **{name: np.zeros(extended) for name in ("y", "middle", "rate", "origin")},
            **{name: np.zeros(problem.speeds) for name in ("free", "tried")},
            **{name: np.zeros(contacts) for name in ("plain", "rebound", "back", "gaps", "bearing")},
            depths=np.zeros(self.fixed + 1),
            **{name: np.zeros(contacts, dtype=np.int64) for name in ("pressed", "stuck", "near", "taking", "blow")},
            sums=np.zeros(IMPACT_SUMS * contacts),
            slope=np.zeros(2 * sizes["inertia"]),
            times=np.zeros(chunk),
            states=np.zeros(chunk * extended),
            middles=np.zeros(chunk * n),
            room=impacts + contacts,
            impacts=np.zeros(IMPACT_NUMBERS * (impacts + contacts)),
            events=CompiledFunction(0),
            n_events=0,
            values=np.zeros(0),
        )


def _sizes(shapes: Sequence[TouchingShape]) -> dict[str, FloatArray]:
    """Sizes of *shapes*, in the order in which cases give them."""
    return {
        "half": np.array([x for s in shapes for x in s.half]),
        "bulk": np.array([s.bulk for s in shapes]),
        "swing": np.array([norm(s.half) for s in shapes]),
    }


def _laws(laws: Sequence[TouchLaw]) -> dict[str, FloatArray]:
    """The laws of groups."""
    return {"group_law": np.array([x for law in laws for x in (law.friction, law.static, law.restitution, 0.0)])}


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


def _chained(
    entries: Sequence[tuple[int, IntArray, int, IntArray]], blocks: FloatArray, follow: int
) -> list[ComponentTable]:
    """A table for each function of *entries*, which are an address, places of inputs, the start of a block among all *blocks*,
    and places of results; each goes on with the next, by the kernel at the address *follow*.
    """
    grouped: dict[tuple[int, int, int], list[tuple[int, IntArray, int, IntArray]]] = {}
    for entry in entries:
        grouped.setdefault((entry[0], len(entry[1]), len(entry[3])), []).append(entry)
    found = list[ComponentTable]()
    for own in [*reversed(grouped.values())] or [[]]:
        address, source, _, target = own[0] if own else (0, _flat([]), 0, _flat([]))
        table = ComponentTable(
            function=CompiledFunction(address),
            count=len(own),
            inputs=len(source),
            outputs=len(target),
            source=_flat([e[1] for e in own]),
            at=np.array([e[2] for e in own], dtype=np.int64),
            blocks=blocks,
            target=_flat([e[3] for e in own]),
            state=np.zeros(len(source)),
            found=np.zeros(len(target)),
            more=bool(found),
            following=CompiledFunction(follow),
            rest=found[0].words() if found else np.zeros(0),
        )
        found.insert(0, table)
    return found


def _flat(rows: Sequence[IntArray]) -> IntArray:
    return np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, dtype=np.int64)
