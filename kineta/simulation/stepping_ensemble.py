"""Ensembles by time stepping: each thread steps one case after the other in machine code, each with the bits of its own run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event as Flag
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.hybrid.contact_log import ContactLog
from kineta.integration.contact_records import IMPACT_NUMBERS
from kineta.integration.handover import DEEPEST_START
from kineta.integration.native_ensemble import PAUSE, cores
from kineta.integration.stepping_records import CaseStepping, SteppingCases, SteppingData
from kineta.integration.time_stepping import MOREAU, largest_step, number_of_steps, step_notes
from kineta.kernels.time_stepping.ensemble import AT_END, FAILS, GOES_ON
from kineta.results import outcomes
from kineta.results.outcomes import DONE, INTERRUPTED
from kineta.runtime.contact_problem import contact_kernel
from kineta.runtime.kinks import passed_kinks
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection
from kineta.simulation.hybrid_ensemble import CaseWords
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
    made, contacts = task.made, task.made.code.contacts
    assert contacts is not None
    able = able_to_start([task])
    many = SteppedCases(task, task.y0, np.atleast_2d(made.h), made.h.shape[-1], able, len(contacts.touches))

    def memory() -> tuple[SteppingData, FloatArray]:
        first = task.case(0)
        data: SteppingData = first.made.code.stepping(first.made.h, task.quaternions)
        return data, data.motion.array("block")

    many.step(memory, bar)
    many.put(task, found, np.s_[:])
    left = Told(task, found, many).put(found, many.stays)
    return [] if many.interrupted else left


def able_to_start(tasks: Sequence[SimulationProblem]) -> list[int]:
    """The cases in which all components *tasks* can start."""
    able = np.ones(len(tasks[0].y0), dtype=np.bool_)
    for task in tasks:
        code, h = task.made.code, task.made.h
        if code.contacts is not None and task.system.contacts:
            gaps = code.contacts.gaps(task.t0, task.y0[:, : code.contacts.n], h)
            able &= gaps.min(axis=1, initial=np.inf) >= -DEEPEST_START
        rates = code.rate.batch(np.full((len(able), 1), task.t0), task.y0, h)
        for i in np.flatnonzero(able).tolist():
            able[i] = not start_refusal(task.case(i), rates[i])
    return np.flatnonzero(able).tolist()


class SteppedCases:
    """Cases of an ensemble by time stepping at the times of *task*, from the states *y0* (cases, n): those *able* to start, with
    *blocks* (cases or 1, k) of which *block* numbers are a block h. ``counts`` (cases, 3) are as in
    :class:`~kineta.integration.stepping_records.SteppingCases`, ``penetrations`` have as many *depths*, ``struck`` is what has
    struck; ``stays`` (cases,) are those that have been stepped. ``paused`` is called after some steps, with the memory of a
    thread and the number of its case.
    """

    def __init__(
        self,
        task: SimulationProblem,
        y0: FloatArray,
        blocks: FloatArray,
        block: int,
        able: Sequence[int],
        depths: int,
    ) -> None:
        grid, (cases, n) = task.grid, y0.shape
        assert grid is not None
        first = int(len(grid) > 0 and grid[0] == task.t0)
        self.y, self.samples = y0.copy(), np.full((cases, len(grid), n), np.nan)
        self.samples[:, :first] = y0[:, None]
        self.status, self.recorded, self.made = np.zeros((3, cases), dtype=np.int64)
        self.t, self.counts = np.full(cases, task.t0), np.zeros((cases, 3), dtype=np.int64)
        self.penetrations, self.struck, self.able = np.zeros((cases, depths)), list[Struck](), able
        self._task, self._depths = task, depths
        self.paused: Callable[[CaseStepping, int], None] | None = None
        self._shared = SteppingCases(
            next=np.zeros(1, dtype=np.int64),
            queue=np.array(able, dtype=np.int64),
            queued=len(able),
            times=len(grid),
            first=first,
            block=block,
            stride=0 if len(blocks) == 1 else blocks.shape[1],
            grid=np.array(grid),
            blocks=np.ascontiguousarray(blocks).reshape(-1),
            y=self.y.reshape(-1),
            samples=self.samples.reshape(-1),
            counts=self.counts.reshape(-1),
            t=self.t,
            status=self.status,
            recorded=self.recorded,
            made=self.made,
            depths=self.penetrations.reshape(-1),
        )

    @property
    def stays(self) -> Mask:
        """The mask of cases that have been stepped."""
        found = np.zeros(len(self.y), dtype=np.bool_)
        found[self.able] = self.status[self.able] != FAILS
        return found

    @property
    def interrupted(self) -> bool:
        """Whether cases have been left where they were."""
        return bool((self.status[self.able] == GOES_ON).any())

    def step(self, memory: Callable[[], tuple[SteppingData, FloatArray]], bar: Progress) -> None:
        """Step all cases in the queue on all cores, each with a *memory* of its own, whose blocks are the array beside it; an
        interruption leaves them where they are.
        """
        with suppress(KeyboardInterrupt):
            self._step(memory, bar)

    def _step(self, memory: Callable[[], tuple[SteppingData, FloatArray]], bar: Progress) -> None:
        stop, threads = Flag(), max(1, min(cores(), len(self.able)))
        own = [self._stepping(*memory()) for _ in range(threads)]
        pool = ThreadPoolExecutor(threads)
        try:  # encloses every start of a thread, so that any exception ends the threads
            waiting = {pool.submit(self._work, one, stop) for one in own}
            while waiting:
                done, waiting = wait(waiting, PAUSE)
                for future in done:
                    future.result()
                bar.ended(int(np.count_nonzero(self.status)), len(self.status))
        finally:
            stop.set()
            pool.shutdown()

    def _stepping(self, data: SteppingData, block: FloatArray) -> CaseStepping:
        """What a thread steps cases in."""
        task = self._task
        steps = number_of_steps(task.t0, task.t1, task.control.max_step)
        data.update(begin=task.t0, end=task.t1, steps=steps, size=(task.t1 - task.t0) / steps, n_events=0, hears=False)
        return CaseStepping(
            run=data,
            cases=self._shared,
            block=block,
            depths=self._depths,
            number=-1,
            ended=True,
            chunk=len(data.array("times")),
            before=np.zeros(data.motion.n_extended),
        )

    def _work(self, own: CaseStepping, stop: Flag) -> None:
        """The work of one thread: take cases until none is left, or until *stop*."""
        task, data, march_case = self._task, own.run, contact_kernel("march_case")
        while not stop.is_set() and (number := march_case(own)) >= 0:
            if self.paused is not None:
                self.paused(own, number)
            if data.struck:
                rows = data.array("impacts")[: IMPACT_NUMBERS * data.struck].reshape(-1, IMPACT_NUMBERS).copy()
                rows = rows[rows[:, -1] <= data.made]
                times = task.t0 + rows[:, -1] * data.size
                self.struck.append((number, np.where(rows[:, -1] == data.steps, task.t1, times), rows))

    def put(self, task: SimulationProblem, found: Solution, places: Any) -> None:
        """Put what has been stepped in its place in a solution *found* of *task*, whose states stand at these *places*."""
        stays, y, samples = self.stays, self.y[:, places].copy(), self.samples[..., places].copy()
        settled, grid = Projection(task.quaternions, task.made), self._task.grid
        assert grid is not None
        for k in range(len(grid)):
            settled(np.full(len(y), grid[k]), samples[:, k])
        settled(self.t, y)
        found.t[stays, -1], found.y[stays, -1], found.y[stays, :-1] = self.t[stays], y[stays], samples[stays]
        for count in (found.nfev, found.steps, found.stepped):
            count[stays] = self.made[stays]
        found.recorded[stays] = self.recorded[stays]
        for i in np.flatnonzero(stays).tolist():
            ended = self.status[i] == AT_END
            found.status[i] = DONE if ended else INTERRUPTED
            found.messages[i] = (outcomes.done if ended else outcomes.interrupted)(float(self.t[i]))


class Told(CaseWords):
    """What happened to the cases of *task*, put into words when asked for."""

    def __init__(self, task: SimulationProblem, found: Solution, many: SteppedCases) -> None:
        self._task, self._found, self._counts, self._depths = task, found, many.counts, many.penetrations
        self._struck = dict[int, list[Struck]]()
        for one in many.struck:
            self._struck.setdefault(one[0], []).append(one)

    def happened(self, i: int) -> tuple[Sequence[Any], Sequence[tuple[float, str]]]:
        """Impacts and changes of case *i*."""
        log = ContactLog(self._task.made.code.layout.touches, ())
        for _, times, rows in self._struck.get(i, ()):
            log.note_strikes(zip(times.tolist(), rows, strict=True))
        return log.impacts, log.changes

    def notes(self, i: int) -> tuple[str, ...]:
        """Notes on case *i*."""
        task, found, k = self._task, self._found, int(self._found.recorded[i])
        contacts = task.made.code.contacts
        largest = min(largest_step(task.control.max_step), task.t1 - task.t0)
        assert contacts is not None
        said = step_notes(largest, contacts.labels, self._depths[i].tolist(), *self._counts[i].tolist())
        own = task.case(i)
        return (*said, *passed_kinks(task.equations, own.made.p, found.t[i, :k], found.y[i, :k]))
