"""Ensembles by time stepping: each thread steps one case after the other in machine code, each with the bits of its own run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event as Flag
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.hybrid.automaton import DEEPEST_START
from kineta.hybrid.contact_log import ContactLog
from kineta.integration.contact_records import IMPACT_NUMBERS
from kineta.integration.native_ensemble import PAUSE, cores
from kineta.integration.stepping_records import CaseStepping, SteppingCases, SteppingData
from kineta.integration.time_stepping import CHUNK, MOREAU, largest_step, number_of_steps, step_notes
from kineta.kernels.time_stepping.ensemble import AT_END, FAILS
from kineta.results import outcomes
from kineta.results.outcomes import DONE, INTERRUPTED
from kineta.runtime.contact_problem import contact_kernel
from kineta.runtime.kinks import passed_kinks
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection
from kineta.simulation.hybrid_ensemble import CaseSequence
from kineta.simulation.progress import Progress
from kineta.simulation.run import start_refusal
from kineta.simulation.solution import Solution

#: Impacts of a case in steps up to a pause: its number, times, and numbers (k, IMPACT_NUMBERS).
Struck = tuple[int, FloatArray, FloatArray]


def may_step_natively(task: SimulationProblem) -> bool:
    """Whether compiled code can carry all cases of *task* by time stepping: without events, switches and samples."""
    if task.method != MOREAU or task.watched or task.system.switches or task.made.forces.sampled:
        return False
    return task.t1 > task.t0 and number_of_steps(task.t0, task.t1, task.control.max_step) <= task.control.max_steps


def step_natively(task: SimulationProblem, found: Solution, bar: Progress) -> list[int]:
    """Step all cases of *task* on all cores; returns those that are left, to be run as single motions."""
    code, made, (cases, n), grid = task.made.code, task.made, task.y0.shape, task.grid
    contacts, h = code.contacts, np.atleast_2d(made.h)
    assert grid is not None
    assert contacts is not None
    gaps = contacts.gaps(task.t0, task.y0[:, : contacts.n], made.h)
    rates = code.rate.batch(np.full((cases, 1), task.t0), task.y0, made.h)
    able = [
        i
        for i in np.flatnonzero(gaps.min(axis=1) >= -DEEPEST_START).tolist()
        if not start_refusal(task.case(i), rates[i])
    ]
    first = int(len(grid) > 0 and grid[0] == task.t0)
    y, samples = task.y0.copy(), np.full((cases, len(grid), n), np.nan)
    samples[:, :first] = task.y0[:, None]
    status, recorded, steps = np.zeros((3, cases), dtype=np.int64)
    t, counts, depths = np.full(cases, task.t0), np.zeros((cases, 3), dtype=np.int64), np.zeros((cases, gaps.shape[1]))
    shared = SteppingCases(
        next=np.zeros(1, dtype=np.int64),
        queue=np.array(able, dtype=np.int64),
        queued=len(able),
        times=len(grid),
        first=first,
        block=h.shape[1],
        stride=0 if len(h) == 1 else h.shape[1],
        grid=np.array(grid),
        blocks=np.ascontiguousarray(h).reshape(-1),
        y=y.reshape(-1),
        samples=samples.reshape(-1),
        counts=counts.reshape(-1),
        t=t,
        status=status,
        recorded=recorded,
        made=steps,
        depths=depths.reshape(-1),
    )
    struck = list[Struck]()
    with suppress(KeyboardInterrupt):
        _step_all(task, shared, struck, lambda: bar.ended(int(np.count_nonzero(status)), cases))
    stays = np.zeros(cases, dtype=np.bool_)
    stays[able] = status[able] != FAILS
    settled = Projection(task.quaternions, made)
    for k in range(len(grid)):
        settled(np.full(cases, grid[k]), samples[:, k])
    settled(t, y)
    found.t[stays, -1], found.y[stays, -1], found.y[stays, :-1] = t[stays], y[stays], samples[stays]
    found.nfev[stays], found.steps[stays], found.stepped[stays] = steps[stays], steps[stays], steps[stays]
    found.recorded[stays] = recorded[stays]
    for i in np.flatnonzero(stays).tolist():
        ended = status[i] == AT_END
        found.status[i] = DONE if ended else INTERRUPTED
        found.messages[i] = (outcomes.done if ended else outcomes.interrupted)(float(t[i]))
    told = Told(task, found, struck, counts, depths)
    found.changes, found.impacts, found.notes = (
        CaseSequence(cases, x) for x in (told.changes, told.impacts, told.notes)
    )
    left: list[int] = np.flatnonzero(~stays).tolist()
    for i in left:
        found.changes[i], found.impacts[i], found.notes[i] = (), (), ()
    return [] if (status[able] == 0).any() else left


def _step_all(task: SimulationProblem, shared: SteppingCases, struck: list[Struck], at: Any) -> None:
    """Step all cases in the queue, and keep what has *struck*; an interruption leaves them where they are."""
    stop, threads = Flag(), max(1, min(cores(), shared.queued))
    pool = ThreadPoolExecutor(threads)
    try:  # encloses every start of a thread, so that any exception ends the threads
        waiting = {pool.submit(_work, task, shared, struck, stop) for _ in range(threads)}
        while waiting:
            done, waiting = wait(waiting, PAUSE)
            for future in done:
                future.result()
            at()
    finally:
        stop.set()
        pool.shutdown()


def _work(task: SimulationProblem, shared: SteppingCases, struck: list[Struck], stop: Flag) -> None:
    """The work of one thread: take cases until none is left, or until *stop*."""
    first = task.case(0)
    data: SteppingData = first.made.code.stepping(first.made.h, task.quaternions)
    steps = number_of_steps(task.t0, task.t1, task.control.max_step)
    data.update(begin=task.t0, end=task.t1, steps=steps, size=(task.t1 - task.t0) / steps, n_events=0, hears=False)
    own = CaseStepping(
        run=data, cases=shared, number=-1, ended=True, chunk=CHUNK, before=np.zeros(data.motion.n_extended)
    )
    march_case = contact_kernel("march_case")
    while not stop.is_set() and (number := march_case(own)) >= 0:
        if data.struck:
            rows = data.array("impacts")[: IMPACT_NUMBERS * data.struck].reshape(-1, IMPACT_NUMBERS).copy()
            rows = rows[rows[:, -1] <= data.made]
            times = task.t0 + rows[:, -1] * data.size
            struck.append((number, np.where(rows[:, -1] == steps, task.t1, times), rows))


class Told:
    """What happened to the cases of *task*, put into words when asked for."""

    def __init__(
        self, task: SimulationProblem, found: Solution, struck: Sequence[Struck], counts: IntArray, depths: FloatArray
    ) -> None:
        self._task, self._found, self._counts, self._depths = task, found, counts, depths
        self._struck = dict[int, list[Struck]]()
        for one in struck:
            self._struck.setdefault(one[0], []).append(one)

    def _log(self, i: int) -> ContactLog:
        log = ContactLog(self._task.made.code.layout.touches, ())
        for _, times, rows in self._struck.get(i, ()):
            log.note_strikes(zip(times.tolist(), rows, strict=True))
        return log

    def changes(self, i: int) -> tuple[tuple[float, str], ...]:
        """Changes of case *i*."""
        return tuple(self._log(i).changes)

    def impacts(self, i: int) -> tuple[Any, ...]:
        """Impacts of case *i*."""
        return tuple(self._log(i).impacts)

    def notes(self, i: int) -> tuple[str, ...]:
        """Notes on case *i*."""
        task, found, k = self._task, self._found, int(self._found.recorded[i])
        contacts = task.made.code.contacts
        largest = min(largest_step(task.control.max_step), task.t1 - task.t0)
        assert contacts is not None
        said = step_notes(largest, contacts.labels, self._depths[i].tolist(), *self._counts[i].tolist())
        own = task.case(i)
        return (*said, *passed_kinks(task.equations, own.made.p, found.t[i, :k], found.y[i, :k]))
