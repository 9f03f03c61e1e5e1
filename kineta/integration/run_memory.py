"""Memory of a run: the records of the native loop for a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kineta.integration import loop_abi
from kineta.integration.error_control import error_controlled, error_tolerances
from kineta.integration.loop_abi import ConstraintData, ContactData, EventData, KinkData, RunData, SlideData, SwitchData
from kineta.integration.problem import Contacts, Kinks, Problem, Slides, Switching, perturbation_signs
from kineta.integration.record_image import RecordCopy, RecordImage
from kineta.memory import CompiledFunction
from kineta.numerics.roots import MANY, MOST
from kineta.numerics.tableaux import Tableau
from kineta.records import dataclass

#: Event zeros stored between two pauses, in addition to those of the last step.
ZEROS = 64
#: Largest memory of a run that is kept for the next one [bytes].
KEPT_BYTES = 2**20


@dataclass(slots=True)
class RunMemory:
    """The record of a run, ``data``, and the ``seconds`` that a step takes, as last measured; 0 before.

    Runs that differ in numbers alone have their memory from one store: what a run gives back is that of the next.
    """

    data: RunData
    seconds: float
    _copy: RecordCopy[RunData]
    _store: list[RunMemory]

    def give_back(self) -> None:
        """Leave the memory to the next run. Nobody reads or changes it any more, and its arrays and functions are its own."""
        if not self._store and self._copy.memory.nbytes <= KEPT_BYTES:
            self._store.append(self)

    def reset(self) -> None:
        """Give the record its first values again."""
        self._copy.reset()


class RunForm(NamedTuple):
    """What runs have in common whose records differ in numbers alone.

    functions : addresses, as for :func:`set_functions`; block : size of the block h
    speeds, steps, pivots : of a manifold, as in :class:`~kineta.integration.problem.Manifold`; None, 0, 0 without one
    """

    tableau: Tableau
    functions: tuple[int, ...]
    n: int
    integrals: int
    block: int
    quaternions: tuple[int, ...]
    events: int
    kinks: Kinks | None
    slides: Slides | None
    speeds: tuple[int, int] | None
    steps: int
    pivots: int
    chunk: int
    zeros: int
    rtol: float
    atol: float
    dense: bool


def run_form(
    tableau: Tableau,
    problem: Problem,
    chunk: int,
    *,
    rtol: float,
    atol: float,
    dense: bool,
    zeros: int = ZEROS,
) -> RunForm:
    """The form of the memory of a run of *problem*, with room for *chunk* steps and *zeros* of events between two pauses."""
    p, m, events = problem, problem.manifold, problem.events
    return RunForm(
        tableau=tableau,
        functions=functions(p),
        n=len(p.y0),
        integrals=p.integrals,
        block=len(p.h),
        quaternions=tuple(p.quaternions),
        events=0 if events is None else events.n,
        kinks=None if p.kinks is None else replace(p.kinks, guards=0, clocks=0, stored=0),
        slides=None if p.slides is None else replace(p.slides, held=0),
        speeds=None if m is None else m.speeds,
        steps=0 if m is None else m.steps,
        pivots=0 if m is None else len(m.largest),
        chunk=chunk,
        zeros=zeros,
        rtol=rtol,
        atol=atol,
        dense=dense,
    )


def run_memory(form: RunForm, problem: Problem, max_step: float) -> RunMemory:
    """Memory of a run of *problem*, which has this *form*; no step size is set, and no rate."""
    p, m, events = problem, problem.manifold, problem.events
    image, store = _image(form)
    try:
        memory = store.pop()
        memory.reset()
    except IndexError:
        copy = image.copy()
        memory = RunMemory(copy.record, 0.0, copy, store)
    data = memory.data
    data.t, data.t_end, data.max_step = p.t0, p.t1, max_step
    data.array("block")[:], data.array("y")[:] = p.h, p.y0
    if events is not None:
        data.events.update(**{name: getattr(events, name) for name in ("directions", "left", "noise", "beyond")})
    if m is not None:
        data.constraints.array("largest")[:] = m.largest
    return memory


@lru_cache(maxsize=64)
def _image(own: RunForm) -> tuple[RecordImage[RunData], list[RunMemory]]:
    """The record of a run, without the numbers of its problem, and the store of memory that no run has."""
    n, rows = own.n, own.chunk + 1
    data = RunData(
        n=n,
        steered=max(error_controlled(n, own.integrals), 1),
        block=np.zeros(own.block),
        time=np.zeros(1),
        y=np.zeros(n),
        k=np.zeros((own.tableau.stages + 1 + len(own.tableau.extra)) * n),
        new=np.zeros(n),
        between=np.zeros(n),
        tolerances=error_tolerances(n, own.integrals, own.rtol, own.atol).reshape(-1),
        n_quaternions=0 if own.speeds else len(own.quaternions),
        quaternions=np.array(own.quaternions, dtype=np.int64),
        dense=own.dense,
        times=np.zeros(rows),
        sizes=np.zeros(rows),
        states=np.zeros(rows * n),
        interpolants=np.zeros(rows * own.dense * own.tableau.coefficients * n),
        events=_event_data(own),
        kinks=KinkData() if own.kinks is None else kink_data(own.kinks, n, own.rtol),
        slides=_slide_data(own),
        constraints=_constraint_data(own),
        contacts=ContactData(),
        switches=SwitchData(),
    )
    set_functions(data, own.functions)
    return RecordImage(data, ("times", "sizes", "states", "interpolants")), []


def functions(problem: Problem) -> tuple[int, ...]:
    """Addresses of the rate, the events, the projections of coordinates and speeds, of what tells of kinks, and of the
    rate with held sides; 0 for what a problem has not.
    """
    events, m, kinks = problem.events, problem.manifold, problem.kinks
    projections = (0, 0) if m is None else (m.position, m.velocity)
    told = (0, 0, 0) if kinks is None else (kinks.guards, kinks.clocks, kinks.stored)
    held = 0 if problem.slides is None else problem.slides.held
    return problem.rhs, 0 if events is None else events.address, *projections, *told, held


def set_functions(data: RunData, addresses: Sequence[int]) -> None:
    """Give the loop the :func:`functions` at *addresses*."""
    rate, events, position, velocity, guards, clocks, stored, held = map(CompiledFunction, addresses)
    data.rate, data.events.function = rate, events
    data.kinks.update(guards=guards, clocks=clocks, stored=stored)
    data.slides.held = held
    data.constraints.update(position=position, velocity=velocity)


def set_contacts(data: RunData, contacts: Contacts, rows: int) -> None:
    """Give the loop *contacts*, with room for so many transitions between two pauses."""
    flags = len(contacts.motion.array("flags"))
    data.contacts.update(
        motion=contacts.motion,
        transitions=contacts.transitions,
        transit=CompiledFunction(contacts.transit),
        first=contacts.first,
        guard_contacts=contacts.guard_contacts,
        guard_rows=contacts.guard_rows,
        **_change_log(contacts, rows, flags),
    )


def set_switches(data: RunData, problem: Problem, rows: int) -> None:
    """Give the loop the switches of *problem*, after its contacts, with room for so many changes between two pauses."""
    s, n = problem.switching, len(problem.y0)
    assert s is not None
    count, contacts = len(s.stops), s.hears.shape[1]
    if problem.contacts is None:
        data.contacts.update(first=s.watched + count, **_change_log(s, rows, 0))
    else:
        problem.contacts.transitions.array("heard")[:] = s.hears.any(axis=0)
    data.switches.update(
        count=count,
        values=CompiledFunction(s.values),
        checked=len(s.positive),
        positive=s.positive,
        first=s.first,
        held=s.held,
        found=np.zeros(s.found),
        targets=s.targets,
        setup=CompiledFunction(s.setup),
        n_given=s.given,
        given=np.zeros(s.given),
        hears=s.hears.reshape(-1),
        stops=s.stops,
        residuals=s.residuals,
        misses=s.misses,
        **{name: np.zeros(count, dtype=np.int64) for name in ("fired", "next")},
        **{name: np.zeros(contacts, dtype=np.int64) for name in ("loose", "exhausted", "fallen")},
        **{name: np.zeros(loop_abi.GUARDS * count) for name in ("old", "new")},
        **{name: np.zeros(n) for name in ("rate", "beside")},
        since=np.zeros(count),
    )


def kink_data(kinks: Kinks, n: int, rtol: float) -> KinkData:
    """Memory of the search for *kinks* of a rate with n states at the tolerance *rtol*."""
    guards, clocks, paces, stored, smooth = kinks.numbers
    return KinkData(
        guards=CompiledFunction(kinks.guards),
        clocks=CompiledFunction(kinks.clocks),
        n=guards,
        n_smooth=kinks.heeded(rtol),
        n_clocks=clocks,
        n_paces=paces,
        stored=CompiledFunction(kinks.stored),
        n_stored=stored,
        work=kinks.work,
        before=np.zeros(stored),
        behind=np.zeros(stored),
        left=np.nan,
        over=np.nan,
        moment=np.zeros(1),
        width=np.zeros(1),
        here=np.zeros(loop_abi.CLOCK * (clocks + paces)),
        there=np.zeros(loop_abi.CLOCK * (clocks + paces)),
        values=np.zeros((loop_abi.LOOKS + 1) * guards + 3 * smooth),
        near=np.zeros(guards),
        plain=np.zeros(guards, dtype=np.int64),
        tried=np.zeros(guards + 3 * smooth),
        within=np.zeros(n),
        at=np.nan,
        knot=np.nan,
        last=np.full(guards, -np.inf),
        quick=np.zeros(guards, dtype=np.int64),
        muted=np.zeros(guards, dtype=np.int64),
    )


def _slide_data(own: RunForm) -> SlideData:
    if own.slides is None:
        return SlideData()
    count, n = len(own.slides.guards), own.n
    return SlideData(
        n=count,
        place=own.slides.place,
        guards=np.array(own.slides.guards, dtype=np.int64),
        **{name: np.zeros(count, dtype=np.int64) for name in ("sides", "fresh")},
        **{name: np.zeros(count) for name in ("shares", "off", "drifts", "values", "rest")},
        **{name: np.zeros(n) for name in ("base", "trial", "rates", "before")},
        ways=np.zeros(count * n),
        matrix=np.zeros(count * count),
        looks=np.zeros(count * own.tableau.coefficients),
        loose=True,
    )


def _event_data(own: RunForm) -> EventData:
    n, events = own.n, own.events
    if not events:
        return EventData()
    room = own.zeros + MANY + 2 * (MOST + 1) * events  # of pieces of a step, of the last short one, and of the rest
    return EventData(
        n=events,
        values=np.zeros(loop_abi.ROWS * events),
        off=np.zeros(events),
        tried=np.zeros(events),
        errors=np.zeros(events),
        within=np.zeros(n),
        signs=perturbation_signs(loop_abi.DIRECTIONS, n).reshape(-1),
        room=own.zeros,
        kept_left=np.zeros(events, dtype=np.int64),
        kept_noise=np.zeros(events),
        which=np.zeros(room, dtype=np.int64),
        times=np.zeros(room),
        states=np.zeros(room * n),
        x=np.zeros(MOST + 1),
        f=np.zeros(MOST + 1),
    )


def _constraint_data(own: RunForm) -> ConstraintData:
    n = own.n
    if own.speeds is None:
        return ConstraintData(low=1.0)
    speeds = np.zeros(n)
    speeds[slice(*own.speeds)] = 1.0
    return ConstraintData(
        velocity_steps=own.steps,
        watched=own.pivots,
        pivots=n - own.pivots,
        largest=np.zeros(own.pivots),
        speeds=speeds,
        before=np.zeros(n),
        after=np.zeros(n),
        low=1.0,
    )


def _change_log(of: Contacts | Switching, rows: int, flags: int) -> dict[str, Any]:
    """Fields in which the loop keeps so many changes, with *flags* each, and the work that they do."""
    return {
        "observed": CompiledFunction(of.observed),
        "watched": of.watched,
        "work": of.work,
        "n_flags": flags,
        "energies": np.zeros(of.size),
        "rows": rows,
        "changed_rows": np.zeros(rows, dtype=np.int64),
        "what": np.zeros(rows, dtype=np.int64),
        "times": np.zeros(rows),
        "flags": np.zeros(rows * flags),
    }
