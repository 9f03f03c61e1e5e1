"""Fallback to time stepping: where a motion cannot go on by events it goes on by time stepping, until its contacts are quiet."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np

from kineta.arrays import FloatArray
from kineta.hybrid.automaton import HybridRun
from kineta.hybrid.chattering import step_size
from kineta.hybrid.contact_modes import LastSteps, ModeError
from kineta.hybrid.sampling import SampledRun
from kineta.integration.contact_records import FLAGS, IMPACT_NUMBERS
from kineta.integration.error_control import StepControl
from kineta.integration.handover import BACK, QUIET, QuietWatch
from kineta.integration.problem import Events, Problem
from kineta.integration.segment import Segment
from kineta.integration.stepping_records import SteppingData
from kineta.integration.time_stepping import MOREAU, SteppingRun
from kineta.kernels.contact.state_terms import FULL
from kineta.records import dataclass
from kineta.runtime.compiled import BoundSystem, stepped_system
from kineta.runtime.contact_problem import contact_kernel
from kineta.runtime.kinks import contact_kink, jumps_there
from kineta.runtime.recorder import resized

#: Periods of time stepping that are told one by one.
TOLD = 3


@dataclass(slots=True)
class SteppingPeriod:
    """A time from *begin* to *end* [s] of time stepping, and *why*."""

    begin: float
    end: float
    why: str


class FallbackRun(SampledRun):
    """A *hybrid* run that goes on by time stepping where it cannot go on; iterable over its segments.

    States of time stepping begin as those of the hybrid run, with coordinates, speeds and work; its code is compiled when it is
    first needed. ``made`` is the number of its steps.
    """

    def __init__(self, hybrid: HybridRun) -> None:
        super().__init__(hybrid.problem, hybrid.loop, hybrid.control)
        assert hybrid.contacts is not None
        task = hybrid.task
        self.hybrid, self.contacts, self.changes = hybrid, hybrid.contacts, hybrid.changes
        self.size = step_size(task)
        self.periods: list[SteppingPeriod] = []
        self.made, self._evaluated, self._seam = 0, 0, 0.0
        self._data: SteppingData | None = None
        self._watch: QuietWatch | None = None
        self._told: tuple[str, ...] = ()

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the right-hand side, and of steps of time stepping."""
        return self.hybrid.evaluations + self._evaluated

    def __iter__(self) -> Iterator[Segment]:
        t, y = self.problem.t0, self.problem.y0
        fault, patience = "" if self.contacts.fault is None else str(self.contacts.fault), QUIET
        while True:
            begin, reached, flags = t, None, self.contacts.flags
            try:
                for segment in self.hybrid if not fault else ():
                    if segment.end:
                        segment, fault = self._taken_over(segment)
                    if len(segment.t):
                        reached = segment
                    yield segment
                    if fault:
                        break
            except ModeError as error:
                fault = str(error)
            if not fault:
                return
            if reached is not None:
                t, y = float(reached.t[-1]), reached.y[-1]
                flags = reached.last_mode.flags.reshape(-1, FLAGS)
            last = self.periods[-1] if self.periods else None
            patience = 2 * patience if last is not None and t - begin < last.end - last.begin else QUIET
            bent = contact_kink(self.hybrid.task.equations, self.hybrid.task.made.p, t, y)
            self.periods.append(SteppingPeriod(t, t, f"{fault}{'; ' * bool(bent)}{bent}"))
            self.hybrid.last_steps = LastSteps()
            back = yield from self._stepped(t, y, flags, patience)
            if back is None:
                return
            (t, y), fault = back, ""

    def jam(self) -> str:
        """As :meth:`SampledRun.jam`."""
        return self.hybrid.jam()

    def notes(self) -> tuple[str, ...]:
        """Sentences on what time stepping took over, and what it says of its steps."""
        if not self.periods:
            return ()
        said = [
            f"From t = {one.begin:.6g} to {one.end:.6g} s the motion was found by time stepping ('{MOREAU}'), since {one.why}."
            for one in self.periods[:TOLD]
        ]
        if more := self.periods[TOLD:]:
            spent = sum(one.end - one.begin for one in more)
            said.append(f"So it was {len(more)} more times up to t = {more[-1].end:.6g} s, for {spent:.3g} s.")
        said.append(f"Going back to events changed the energy by {self._seam:.1e} J at most.")
        return (*said, *self._told)

    # -- by events --------------------------------------------------------------------------------------------------------

    def _taken_over(self, segment: Segment) -> tuple[Segment, str]:
        """*segment*, at whose end events fail, up to where time stepping takes over, and why; ``''`` where it does not."""
        if jumps_there(
            self.hybrid.task.equations,
            self.hybrid.task.made.p,
            *((float(segment.t[-1]), segment.y[-1]) if len(segment.t) else (segment.t0, segment.y0)),
        ):
            return segment, ""
        row, at = len(segment.t) - BACK, segment.t[-1] if len(segment.t) else segment.t0
        why = f"at t = {at:g} s {self.hybrid.jam() or segment.end}"
        return self.hybrid.until(segment, row) if row > 0 else replace(segment, end=None), why

    # -- by time stepping -------------------------------------------------------------------------------------------------

    def _stepped(
        self, t: float, y: FloatArray, flags: FloatArray, patience: int
    ) -> Generator[Segment, None, tuple[float, FloatArray] | None]:
        """Time stepping from a time and state, after a mode of these *flags*, until contacts are quiet; returns time and state to
        go on with by events, None at the end.
        """
        task = self.hybrid.task
        if t == task.t1 or (t == self.control.until and self.control.take(y) is None):
            return None
        before = self.control.made
        run = self._begun(t, y)
        run.chunk = patience
        period, held = self.periods[-1], False
        while True:
            for segment in run:
                yield replace(segment, mode=self.control.made, held=held)
                held = False
                if segment.end:
                    return None
                if not len(segment.t):
                    break
                t, y = float(segment.t[-1]), segment.y[-1]
                period.end = t
                self._count(run)
                since = int(contact_kernel("count_quiet")(run.data, self._watch, segment.y.reshape(-1), len(segment.t)))
                if since >= patience and t != task.t1:
                    if (back := self._taken_back(t, y, before, flags)) is not None:
                        return t, back
                    patience *= 2
                run.chunk = max(1, patience - since)
            if t != self.control.until or t == task.t1 or self.control.take(y) is None:
                return None
            held = True
            run.go_on(self.control.until, self.control.made.h)

    def _begun(self, t: float, y: FloatArray) -> SteppingRun:
        """Time stepping from a time and state."""
        task, hybrid = self.hybrid.task, self.hybrid
        made = stepped_system(task.equations, self.control.made, [e.value for e in task.watched])
        code, own = made.code, len(task.watched)
        self.control.made = made
        if self._data is None:
            self._data = code.stepping(made.h, task.quaternions)
            self._watch = QuietWatch(
                pressed=np.zeros(len(code.layout.touches), dtype=np.int64),
                states=task.states + code.layout.works,
                state=np.zeros(len(task.y0)),
                flags=np.zeros(FLAGS * len(code.layout.touches)),
                values=np.zeros(code.programs["observed"].n_outputs),
            )
        data = self._data
        contact_kernel("begin_quiet")(data, self._watch)
        state = resized(y[None, : task.states + code.layout.works], len(data.array("y")))[0]
        data.motion.array("block")[:] = made.h
        events, watched = hybrid.problem.events, None
        if own and events is not None:
            watched = Events(
                code.event_address, events.directions[:own], events.left[:own], np.full(own, -1.0), np.full(own, np.inf)
            )
        problem = Problem(
            rhs=code.rate.address,
            h=made.h,
            t0=t,
            t1=self.control.until,
            y0=state,
            quaternions=task.quaternions,
            integrals=code.layout.integrals,
            events=watched,
        )
        limits = StepControl(task.control.rtol, task.control.atol, self.size, hybrid.loop.left)
        assert code.contacts is not None
        return SteppingRun(problem, data, contact_kernel("march"), code.contacts.labels, limits)

    def _count(self, run: SteppingRun) -> None:
        """Count the steps of a period, and keep what it tells."""
        self.hybrid.log.note_strikes(run.struck)
        new = run.evaluations
        self._evaluated += new
        self.made += run.made
        self.hybrid.loop.left = run.left
        run.evaluations, run.made = 0, 0
        self._told = run.notes()

    def _taken_back(self, t: float, y: FloatArray, before: BoundSystem, flags: FloatArray) -> FloatArray | None:
        """The state to go on with by events, in the mode that pressed contacts begin, and that the run then has; None where there
        is no such mode. *before* is the system, *flags* the mode, with which time stepping began.
        """
        contacts, log, data, watch = self.contacts, self.contacts.log, self._data, self._watch
        assert data is not None
        assert watch is not None
        run = self.hybrid.loop.set_change(t, y[: len(self.hybrid.task.y0)], ())
        while True:
            contacts.set_block(before.with_forces(self.control.made.forces.constant).h)
            if bool(contact_kernel("take_back")(data, run, watch)):
                break
            if contacts.work.status != FULL:
                return None
            contacts.make_room()
        state: FloatArray = watch.array("state").copy()
        after = contacts.flags
        self._seam = max(self._seam, abs(watch.jump))
        log.note(t, watch.array("flags").reshape(after.shape), after, contacts.read_impacts(), start=True)
        log.note(t, flags, after, np.empty((0, IMPACT_NUMBERS)))
        made = before.with_forces(self.control.made.forces.constant).with_flags(after)
        self.hybrid.resume(t, state, made, self.size)
        return state
