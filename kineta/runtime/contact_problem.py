"""Contacts of a compiled system: their problem as data, and the memory in which kernels solve it and move from mode to mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.integration.contact_records import (
    BOUND,
    FLAGS,
    IMPACT_NUMBERS,
    NORMAL,
    TANGENTS,
    ContactMode,
    ContactMotion,
    ContactProblem,
    ContactSolution,
    ContactTerms,
    IslandWork,
    ModeWork,
    TransitionWork,
)
from kineta.integration.problem import perturbation_signs
from kineta.integration.stepping_records import IMPACT_SUMS, PARTS, NearPairs, SteppingData
from kineta.integration.time_stepping import CHUNK
from kineta.kernels.contact.motion import (
    contact_events,
    contact_given,
    contact_observed,
    contact_position,
    contact_rate,
    contact_velocity,
    evaluate_rows,
)
from kineta.kernels.contact.rest import TRIED
from kineta.kernels.contact.transition import transit
from kineta.kernels.machine_code import CompiledKernel, machine_unit
from kineta.kernels.time_stepping.ensemble import march_case
from kineta.kernels.time_stepping.handover import begin_quiet, count_quiet, take_back
from kineta.kernels.time_stepping.march import march
from kineta.kernels.time_stepping.near_pairs import list_features, size_shapes
from kineta.mechanics.contact.contact_terms import TERMS, ContactTermsArrays
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.memory import REALS, ArrayType, CompiledFunction, Record

#: The functions of a system that a motion with contacts calls.
FUNCTIONS = ("terms", "gaps", "free", "residuals", "retraction", "rate", "events", "observed")
#: Those that time stepping calls beside them.
STEP_FUNCTIONS = ("slopes", "coordinate_rate", "placed")
#: Impacts stored between two pauses of a run.
IMPACTS = 4096


#: Kernels that are compiled together: of motions by events, of time stepping, which most motions never need, and of the way back.
UNITS: Sequence[Sequence[Callable[..., Any]]] = (
    (
        contact_rate,
        contact_events,
        contact_observed,
        contact_given,
        contact_position,
        contact_velocity,
        evaluate_rows,
        transit,
    ),
    (march, march_case, list_features, size_shapes),
    (begin_quiet, count_quiet, take_back),
)


def contact_kernel(name: str) -> CompiledKernel:
    """The compiled kernel *name* of motions with contacts, with those of its unit."""
    return next(machine_unit(*unit)[name] for unit in UNITS if any(made.__name__ == name for made in unit))


#: Most entries of the factors of a large island, and its most blocks; for each of them the most that are eliminated later.
MOST_ENTRIES, MOST_BLOCKS, LATER = 1 << 20, 1024, 64


class ContactFunction:
    """A function of time, state and block h that depends on contacts: a kernel over compiled functions."""

    def __init__(self, contacts: CompiledContacts, kernel: str, size: int) -> None:
        self._contacts, self._size = contacts, size
        self.address = contact_kernel(f"contact_{kernel}").address

    def __call__(
        self, t: FloatArray | float, y: FloatArray, h: FloatArray, out: FloatArray | None = None
    ) -> FloatArray:
        """The value (size,) for one time and state."""
        found: FloatArray = self.batch(np.reshape(t, (1, 1)), y[None], h)[0]
        if out is None:
            return found
        out[:] = found
        return out

    def batch(self, t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
        """The values (k, size) at times (k, 1) in states (k, n), with one block h for all or (k, block)."""
        y = np.ascontiguousarray(y, dtype=np.float64)
        times = np.array(np.broadcast_to(t, (len(y), 1)), dtype=np.float64).ravel()
        out = np.empty((len(y), self._size))
        rows = contact_kernel("evaluate_rows")
        with self._contacts.borrowed(h if h.ndim == 1 else h[0]) as motion:
            rows(
                CompiledFunction(self.address),
                len(y),
                times,
                y.reshape(-1),
                y.shape[1],
                motion,
                np.ascontiguousarray(h).reshape(-1),
                h.shape[1] if h.ndim > 1 else 0,
                out.reshape(-1),
                self._size,
            )
        return out


class CompiledContacts:
    """The contacts of a compiled system: sparsity of their problem, and memory for motions."""

    def __init__(
        self,
        touches: Sequence[UnilateralConstraint],
        terms: ContactTermsArrays,
        n: int,
        speeds: tuple[int, int],
        functions: CompiledFunctions,
        block: int,
    ) -> None:
        self.touches, self.n, self.block = touches, n, block
        self._speeds, self._functions = speeds, functions
        self._sizes = {name: len(getattr(terms, name)) for name in TERMS}
        self.problem = _problem(terms, speeds[1], touches)
        self._spare: list[ContactMotion] = []
        watched = [
            (i, what)
            for i, touch in enumerate(touches)
            for what, there in (
                (NORMAL, touch.normal is not None),
                (TANGENTS, touch.tangents and touch.smooth is None),
                (BOUND, touch.varies),
            )
            if there
        ]
        self.guard_contacts, self.guard_rows = _integers([i for i, _ in watched]), _integers([w for _, w in watched])

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Names and units of the gaps of all contacts."""
        return [(touch.name, touch.unit) for touch in self.touches]

    def addresses(self, names: Sequence[str]) -> dict[str, int]:
        """The addresses of the functions of these *names* that there are."""
        return {name: self._functions[name].address for name in names if name in self._functions.programs}

    @contextmanager
    def borrowed(self, h: FloatArray) -> Iterator[ContactMotion]:
        """Memory of a motion with the block h and the flags behind it, for one caller at a time."""
        motion = self._spare.pop() if self._spare else self.motion(h)
        motion.array("block")[:] = h
        try:
            yield motion
        finally:
            self._spare.append(motion)

    def motion(self, h: FloatArray, numbers: Mapping[str, int] | None = None) -> ContactMotion:
        """Memory of a motion with the block h and the flags behind it; with its functions at their addresses, or with the
        *numbers* that they have in another language.
        """
        ends = [*accumulate(self._sizes[name] for name in TERMS)]
        memory, block = np.zeros(ends[-1]), np.array(h, dtype=np.float64)
        parts = {name: memory[end - self._sizes[name] : end] for name, end in zip(TERMS, ends, strict=True)}
        p, m = self.problem, len(self.touches)
        if numbers is None:
            numbers = self.addresses(FUNCTIONS)
        named = {"terms": "terms_of", "gaps": "gaps_of"}
        functions = {named.get(name, name): CompiledFunction(numbers.get(name, 0)) for name in FUNCTIONS}
        rows = [
            3 * i + k
            for i, touch in enumerate(self.touches)
            for k in (*[0] * (touch.normal is not None), *range(1, 1 + len(touch.tangents)))
        ]
        extended = self.n + p.speeds + p.multipliers + len(rows) + FLAGS * m
        return ContactMotion(
            problem=p,
            terms=ContactTerms(**parts),
            **contact_memory(p, self._sizes, (m, m), p.speeds),
            n=self.n,
            coordinates=self._speeds[0],
            speeds=self._speeds[1],
            n_forces=len(rows),
            n_extended=extended,
            block=block,
            flags=block[self.block :],
            memory=memory,
            extended=np.zeros(extended),
            found=np.zeros(p.speeds),
            residual=np.zeros(2 * p.multipliers),
            force_rows=_integers(rows),
            n_asked=self._asked(self.n, extended - len(rows) - FLAGS * m),
            n_block=len(block),
            known=np.zeros(len(block)),
            idle=self.n,
            aside=np.zeros(3 * extended),
            **functions,
        )

    def _asked(self, first: int, last: int) -> int:
        """How many numbers of an extended state between two places events depend on."""
        program = self._functions.programs.get("events")
        if program is None:
            return 0
        used = {operand >> 1 for operand in (*program.lhs, *program.rhs, *program.results)}
        time = program.inputs[0].size
        return len(used & {*range(time + first, time + last)})

    def gaps(self, t: float, y: FloatArray, h: FloatArray) -> FloatArray:
        """Gaps (k, contacts) in the states y (k, n), with one block h for all or (k, block); infinite for joint friction."""
        function = self._functions["gaps"]
        states = np.zeros((len(y), function.program.inputs[1].size))
        states[:, : self.n] = y
        gaps = function.batch(np.full((len(y), 1), t), states, np.ascontiguousarray(h[..., : self.block]))
        return np.where(self.problem.array("has_normal") > 0, gaps, np.inf)

    def transitions(self, same: float, until: float) -> TransitionWork:
        """Memory of the transitions of a motion: *same* is the contact tolerance of gaps, *until* the largest time."""
        m, n = len(self.touches), self.n
        marks = (
            "loose",
            "exhausted",
            "fallen",
            "near",
            "closed",
            "hit",
            "taking",
            "tired",
            "leaving",
            "heard",
            "order",
        )
        states = ("start", "struck", "after", "beside")
        return TransitionWork(
            same=same,
            still=2 * tolerances.SLIP_TOLERANCE,
            until=until,
            room=IMPACTS,
            **{name: np.zeros(m, dtype=np.int64) for name in marks},
            varying=sum(touch.varies for touch in self.touches),
            varies=_integers([int(touch.varies) for touch in self.touches]),
            **{name: np.zeros(m) for name in ("restitution", "limits", "gaps", "noise")},
            **{name: np.zeros(3 * m) for name in ("before", "impulse")},
            **{name: np.zeros(n) for name in states},
            **{name: np.zeros(self.problem.speeds) for name in ("free", "a")},
            kept=np.zeros(FLAGS * m),
            signs=perturbation_signs(TRIED, n).reshape(-1),
            impacts=np.zeros(IMPACT_NUMBERS * IMPACTS),
        )


def stepping_data(
    contacts: CompiledContacts,
    h: FloatArray,
    quaternions: Sequence[int],
    work: int,
    placed: int,
    numbers: Mapping[str, int] | None = None,
    rows: tuple[int, int] = (CHUNK, IMPACTS),
) -> SteppingData:
    """Memory of steps with *contacts* and the block h; *work* is the offset of the work in the state, -1 for none; *placed*
    is the number of quantities that place a mass and jump. Functions are at their addresses, or have *numbers* as in
    :meth:`CompiledContacts.motion`; there is room for *rows* of steps and impacts.
    """
    motion, problem = contacts.motion(h, numbers), contacts.problem
    n, m, (steps, impacts) = motion.n_extended, problem.contacts, rows
    own = contacts.addresses(STEP_FUNCTIONS) if numbers is None else numbers
    return SteppingData(
        motion=motion,
        **{name: CompiledFunction(own.get(name, 0)) for name in STEP_FUNCTIONS},
        n_placed=placed,
        sides=np.zeros(3 * placed),
        torn=False,
        n_quaternions=len(quaternions),
        quaternions=np.array([*quaternions], dtype=np.int64),
        work=max(work, 0),
        works=int(work >= 0),
        pairs=no_pairs(m),
        largest=problem.speeds,
        time=np.zeros(1),
        **{name: np.zeros(n) for name in ("y", "middle", "rate", "origin")},
        **{name: np.zeros(problem.speeds) for name in ("free", "tried", "about")},
        **{name: np.zeros(m) for name in ("plain", "rebound", "back", "gaps", "depths", "bearing")},
        **{name: np.zeros(m, dtype=np.int64) for name in ("pressed", "stuck", "near", "taking", "blow")},
        sums=np.zeros(IMPACT_SUMS * m),
        **{name: np.zeros(2 * len(motion.terms.array("inertia"))) for name in ("slope", "ahead")},
        times=np.zeros(steps),
        states=np.zeros(steps * n),
        middles=np.zeros(steps * motion.n),
        room=impacts + PARTS * m,
        impacts=np.zeros(IMPACT_NUMBERS * (impacts + PARTS * m)),
        finest=PARTS,
        events=CompiledFunction(0),
        n_events=0,
        values=np.zeros(0),
    )


def no_pairs(fixed: int) -> NearPairs:
    """Memory of pairs of shapes where there are none, beside *fixed* contacts."""
    reals, integers = np.zeros(0), _zeros(0)
    kinds = NearPairs.layout.fields.items()
    memory = {name: reals if kind is REALS else integers for name, kind in kinds if isinstance(kind, ArrayType)}
    return NearPairs(**memory, places_of=CompiledFunction(0), fixed=fixed)


def contact_memory(
    p: ContactProblem, sizes: Mapping[str, int], contacts: tuple[int, int], largest: int
) -> dict[str, Record]:
    """Working memory of a problem with terms of these *sizes*: for a number of *contacts*, and of those with modes, and of
    islands with as many speeds as the *largest*.
    """
    m, closed = contacts
    return {
        "solution": _solution(p, m, sizes["jacobian"]),
        "contacts": _modes(closed),
        "work": mode_work(p.speeds, closed),
        "island": _island_work(p, m, sizes["inertia"], largest),
    }


def _solution(p: ContactProblem, m: int, entries: int) -> ContactSolution:
    sizes = {"response": entries, "delassus": 9 * m, "target": 3 * m, "impulse": 3 * m, "least": m, "friction": m}
    sizes |= {"before": p.speeds, "compression": 3 * m, "local": 4, "rates": 3}
    return ContactSolution(
        **{name: np.zeros(size) for name, size in sizes.items()}, active=_zeros(m), label=_zeros(p.blocks)
    )


def _modes(m: int) -> ContactMode:
    marks = {name: _zeros(m) for name in ("mode", "candidate", "begins")}
    return ContactMode(**marks, direction=np.zeros(2 * m), reference=np.zeros(3 * m))


def mode_work(speeds: int, m: int) -> ModeWork:
    """Working memory of forces of m contacts, of a problem with so many *speeds*."""
    sizes = {"force": 3 * m, "toward": 2 * m, "speeds": 3 * speeds, "matrix": 27 * m * m}
    sizes |= {"right": 3 * m, "found": 3 * m, "centre": 3 * m, "proximity": 3 * m, "missed": 3 * m, "ease": m}
    sizes |= {"asked": 16 * m + 2, "noted": 16 * m + 2, "kept": 4 * m}
    half = speeds * (speeds + 1) // 2
    squares = min((m + 1) * half, 18 * m * m)
    sizes["squares"] = squares + min(half, squares)
    memory = {name: np.zeros(size) for name, size in sizes.items()}
    numbers = {"rows": _zeros(6 * m), "order": _zeros(6 * m), "place": _zeros(speeds)}
    return ModeWork(**memory, **numbers, weight=np.ones(3 * m), n_squares=squares)


def _island_work(p: ContactProblem, m: int, inertia: int, largest: int) -> IslandWork:
    n = p.speeds
    entries = max(largest * (largest + 2), min(n * (n + 2), MOST_ENTRIES))
    sizes = {
        "inertia": inertia,
        "turned": 2 * inertia,
        "step": n,
        "change": n,
        "force": 3 * m,
        "toward": 3 * m,
        "tried": 3 * m,
        "cones": 9 * m,
    }
    sizes |= {"hessian": entries, "delassus": largest * largest}
    later, links = (min(p.blocks, MOST_BLOCKS) * k for k in (LATER, min(p.blocks, MOST_BLOCKS)))
    places = {"place": _zeros(n), "later": _zeros(later), "links": _zeros(links), "later_start": _zeros(p.blocks + 1)}
    places |= {name: _zeros(p.blocks) for name in ("own", "sequence", "position", "degree", "turn")}
    numbers = {"n": 0, "blocks": 0, "compliance": 0.0, "norm": 0.0, "sparse": 0, "entries": 0}
    numbers |= {"most_entries": entries, "most_later": later, "most_links": links}
    return IslandWork(**numbers, **{name: np.zeros(size) for name, size in sizes.items()}, **places)


def _problem(found: ContactTermsArrays, nv: int, touches: Sequence[UnilateralConstraint]) -> ContactProblem:
    blocks, coupled = found.blocks, found.coupled
    rows = [found.speeds(c) for c in range(len(coupled))]
    speeds = sum(map(len, blocks))
    return ContactProblem(
        speeds=speeds,
        multipliers=speeds - nv,
        contacts=len(coupled),
        blocks=len(blocks),
        block_start=_starts(blocks),
        block_speeds=_flat(blocks),
        inertia_start=_integers([0, *accumulate(len(b) * (len(b) + 2) for b in blocks)]),
        fill_start=_starts(found.fill),
        fill=_flat(found.fill),
        row_start=_starts(rows),
        row_speeds=_flat(rows),
        coupled_start=_starts(coupled),
        coupled_blocks=_flat(coupled),
        poisson=_integers([int(t.poisson) for t in touches]),
        has_normal=_integers([int(t.normal is not None) for t in touches]),
        tangents=_integers([len(t.tangents) for t in touches]),
    )


def _zeros(n: int) -> IntArray:
    return np.zeros(n, dtype=np.int64)


def _starts(rows: Sequence[Sequence[int]]) -> IntArray:
    return _integers([0, *accumulate(map(len, rows))])


def _flat(rows: Sequence[Sequence[int]]) -> IntArray:
    return _integers([k for row in rows for k in row])


def _integers(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
