"""Hybrid automaton: integration from mode to mode, with transitions at impacts, stick-slip, separation, switches and samples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError, reworded
from kineta.hybrid.chattering import crowd, pace_of
from kineta.hybrid.contact_log import ContactLog
from kineta.hybrid.contact_modes import ContactModes, LastSteps, ModeError, penetration
from kineta.hybrid.sampling import SampledControl, SampledRun
from kineta.hybrid.switches import check_settings, thrown_off
from kineta.integration.contact_records import FLAGS, IMPACT_NUMBERS, NORMAL
from kineta.integration.handover import DEEPEST_START, STEPS
from kineta.integration.loop_abi import RunData
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment, Transitions
from kineta.integration.time_stepping import MOREAU
from kineta.kernels.contact.state_terms import CHANGED, FULL, PENETRATES
from kineta.kernels.integrate import transition
from kineta.kernels.pace import count_anew
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.contact_problem import CompiledContacts
from kineta.runtime.events import EventStep
from kineta.runtime.kinks import jumps_there
from kineta.runtime.problem import SimulationProblem


class HybridRun(SampledRun):
    """Integration from mode to mode, from the state and the code at the start of *task*; iterable over its segments.

    Events of the problem: the user's, then switches, then guards of contacts. ``made`` is the current code, ``changes`` are
    the transitions so far: times and words, ``floor strikes``; all of them, and impacts, are in the ``log``. ``last_steps`` are
    those in the present mode. Steps and changes that are too many end the motion.
    """

    #: Whether impacts are not among the transitions of a segment: each is then looked at.
    strikes_apart = False

    def __init__(
        self,
        task: SimulationProblem,
        problem: Problem,
        run: NativeRun,
        control: SampledControl,
        contacts: ContactModes | None,
        log: ContactLog,
    ) -> None:
        super().__init__(problem, run, control)
        self.loop = run
        self.task, self.contacts, self.log, self.changes = task, contacts, log, log.changes
        touching = contacts is not None
        self._touches_alone, self._near = touching and not task.system.switches, run.contacts
        projecting = touching or problem.manifold is not None
        self._carry_out = transition(
            run.tableau, projecting=projecting, touching=touching, sliding=problem.slides is not None
        )
        until = max(abs(task.t0), abs(task.t1))
        run.switches.update(span=task.t1 - task.t0, until=until, last=-np.inf, stopped=-1, culprit=-1)
        run.switches.array("since")[:] = task.t0 - until
        self._pace = pace_of(task)
        run.contacts.update(pace=self._pace)
        self._fault: ModeError | None = None
        self._resumed = False
        self.last_steps = LastSteps()

    def resume(self, t: float, y: FloatArray, made: BoundSystem, size: float) -> None:
        """Continue from the time *t* and the state *y* in the mode *made*, with a step of this *size*; iterate again."""
        self.control.made, self._fault, self._resumed = made, None, True
        count_anew(self._pace, t)
        if self.problem.events is not None:
            self.problem.events.left[len(self.task.watched) :] = 1
        self.loop.resume(self._posed(t, y, self.control.until), size)

    def until(self, segment: Segment, row: int) -> Segment:
        """*segment* before this *row*; zeros of events behind it may come again, and transitions are as if they had not been."""
        cut = self._before(segment, row)
        if segment.changed is not None and cut.changed is not None:
            self.log.forget(len(segment.changed.rows) - len(cut.changed.rows))
        return cut

    def jam(self) -> str:
        """As :meth:`SampledRun.jam`."""
        return self.last_steps.jam(self.task.system) or self._lost_ahead()

    def _lost_ahead(self) -> str:
        """Sentence on a contact whose gap has no value a little ahead of where the loop stands; ``''`` for none."""
        if self.contacts is None:
            return ""
        t, y = self.loop.ahead()
        values = self.problem.event_values(t, y)[self.contacts.data.first :]
        lost = np.flatnonzero(np.isnan(values) & (self.contacts.compiled.guard_rows == NORMAL))
        return self.contacts.lost(lost[0]) if len(lost) else ""

    def _before(self, segment: Segment, row: int) -> Segment:
        """*segment* before this *row*; zeros of events behind it may come again."""
        cut, events = segment.until(row), self.problem.events
        if segment.zeros is not None and events is not None and cut.zeros is not None:
            np.add.at(events.left, segment.zeros[0], 1)
            np.subtract.at(events.left, cut.zeros[0], 1)
        return cut

    def __iter__(self) -> Iterator[Segment]:
        end, jumped, held = self._run.problem.t1, self._resumed, False
        control, contacts, pace, near = self.control, self.contacts, self._pace, self._near
        if contacts is not None and (heard := self._heard(contacts.struck)):
            yield from self._transition(self.task.t0, self.problem.y0, heard, end, self.control.made)
            self.loop.zeros()  # at the start there are none
            jumped = True
        while self.ended is None:
            t, y, fired, apart = self.task.t0, self.problem.y0, None, False
            for piece in self._run:
                made = control.made
                segment = piece.within(made, jumped=jumped, held=held)
                if contacts is not None and segment.changed is not None:
                    segment = self._noted(segment, segment.changed, contacts)
                if self.strikes_apart or segment.odd or (segment.zeros and len(segment.zeros[0])):
                    segment, fired = self._cut(segment)
                apart = segment.end == "" and self._touches_alone and near.apart
                if not apart and pace.over and self._fault is None:
                    self._fault = self._too_many(float(segment.t[-1]) if len(segment.t) else segment.t0)
                if made.closed or jumped or segment.later:
                    self.last_steps.add(segment)
                yield segment
                jumped = held = False
                if self._fault is not None:
                    raise self._fault
                if segment.end and fired is None:
                    return
                if len(segment.t):
                    t, y = float(segment.t[-1]), segment.y[-1]
                if fired is not None:
                    break
            if fired is None and (t != end or end == self.task.t1):
                return
            before = control.made
            if fired is None:
                following = control.take(y)
                if following is None:
                    return
                end, held = following, True
                if contacts is not None and apart:  # forces alone change, and no steps or changes are too many
                    self.loop.go_on(end, contacts.set_block(control.made.h))
                    continue
            yield from self._transition(t, y, fired or [], end, before)
            jumped = True

    def _heard(self, struck: Collection[int]) -> list[int]:
        """Numbers of the switches that react to impacts of the contacts *struck*."""
        hears, switches = self.loop.switches.array("hears"), len(self.task.system.switches)
        return np.flatnonzero(hears.reshape(switches, -1)[:, [*struck]].any(axis=1)).tolist() if switches else []

    def _transition(self, t: float, y: FloatArray, fired: list[int], end: float, old: BoundSystem) -> Iterator[Segment]:
        """Change the mode after the *old* one and integrate on to the time *end*; the last segment where a switch, or
        an event that it sets off, ends the run.
        """
        y = self._changed(t, y, fired, old)
        over = self.ended is not None
        if over or self.loop.has_ended:
            zeros = None if over else self.loop.zeros()
            yield Segment(t, y, np.array([t]), y[None], None, "", odd=False, zeros=zeros, mode=self.control.made)
            return
        self.loop.restart(self._posed(t, y, end), np.inf if self.contacts is None else self.contacts.flight())

    def _posed(self, t0: float, y0: FloatArray, t1: float) -> Problem:
        """Problem of the present mode from *t0*, *y0* to *t1*."""
        return self.problem.further(self._block(), t0, t1, y0)

    def _block(self) -> FloatArray:
        """Block of the present mode for the loop: h, or the record of the motion with contacts in which it stands."""
        h = self.control.made.h
        return h if self.contacts is None else self.contacts.set_block(h)

    def _noted(self, segment: Segment, changed: Transitions, contacts: ContactModes) -> Segment:
        """*segment*, in its mode, with the modes that *contacts* have *changed* to within the loop; records these transitions."""
        made, later = self.control.made, list[tuple[int, Callable[[], BoundSystem]]]()
        impacts, before = contacts.read_impacts(), made.flags.reshape(-1, FLAGS)
        for row, flags in zip(changed.rows.tolist(), changed.flags, strict=True):
            after = flags.reshape(-1, FLAGS)
            self.log.note(float(segment.t[row]), before, after, impacts[impacts[:, -1] == row])
            later.append((row, partial(made.with_flags, flags)))
            before = after
        self.control.made = later[-1][1]()
        return segment.within(made, later, jumped=segment.jumped, held=segment.held)

    # -- where a mode ends ------------------------------------------------------------------------------------------------

    def _cut(self, segment: Segment) -> tuple[Segment, list[int] | None]:
        """*segment*, with zeros of events, up to the first transition in it, and the indices of its events, switches first; None
        for none.
        """
        own = len(self.task.watched)
        found = self._zeros(segment)
        firing = [(i, t, y) for i, t, y in found if i >= own]
        if not firing:
            return self._valued(segment), None
        _, t, y = min(firing, key=lambda zero: zero[1])
        tolerance = tolerances.EVENT_TOLERANCE * max(abs(t), abs(self.task.t1 - self.task.t0))
        fired = [i - own for i, at, _ in firing if at <= t + tolerance]
        events = self.problem.events
        assert events is not None
        events.left[own:] = 1
        last = int(np.searchsorted(segment.t, t))
        times, states = segment.t[: last + 1].copy(), segment.y[: last + 1].copy()
        times[last], states[last] = t, y
        cut = replace(segment, t=times, y=states, end=None, odd=False, zeros=None)
        if not own:
            return cut, fired
        kept = [(i, min(at, t), state) for i, at, state in found if i < own and at <= t + tolerance]
        for i, at, _ in found:
            if i < own and at > t + tolerance:
                events.left[i] += 1
        zeros = (
            np.array([i for i, *_ in kept], dtype=np.int64),
            np.array([at for _, at, _ in kept]),
            np.array([state for *_, state in kept]).reshape(len(kept), len(y)),
        )
        return replace(cut, zeros=zeros), fired

    def _zeros(self, segment: Segment) -> list[tuple[int, float, FloatArray]]:
        """Zeros of all events over *segment*, located in its last step where the method could not."""
        own = len(self.task.watched)
        which, times, states = segment.zeros or (np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 0)))
        found = list(zip(which.tolist(), times.tolist(), states, strict=True))
        if segment.odd and len(segment.t):
            events = self.problem.events
            assert events is not None
            assert segment.problem is not None
            step = EventStep.last(segment, segment.problem.event_values)
            found += [(i, t, step.state(t)) for i, t in step.zeros(events, range(own, events.n))]
        return found

    def _valued(self, segment: Segment) -> Segment:
        """*segment*, before its last step where a gap has no value in it, which is a fault."""
        if self.contacts is None or not (segment.odd and len(segment.t)):
            return segment
        assert segment.problem is not None
        known = EventStep.last(segment, segment.problem.event_values).known[:, self.contacts.data.first :]
        lost = np.flatnonzero(np.isnan(known).any(axis=0) & (self.contacts.compiled.guard_rows == NORMAL))
        if not len(lost):
            return segment
        segment = self._before(segment, len(segment.t) - 1)
        t = float(segment.t[-1]) if len(segment.t) else segment.t0
        self._fault = ModeError(f"at t = {t:g} s {self.contacts.lost(lost[0])}")
        return segment

    # -- a change -------------------------------------------------------------------------------------------------------

    def _changed(self, t: float, y: FloatArray, fired: list[int], old: BoundSystem) -> FloatArray:
        """Initial state of the next mode, after the *old* one."""
        contacts, made, first = self.contacts, self.control.made, len(self.task.watched)
        data = self.loop.set_change(t, y, [first + k for k in fired])
        s, log = data.switches, data.contacts
        known, calm, piles = (s.array("since").copy(), s.last, s.at_once), self._pace.calm, self._pace.piles
        while True:
            s.array("given")[:] = np.concatenate([made.p, made.forces.constant])
            s.array("since")[:], s.last, s.at_once, log.made = *known, 0
            self._pace.calm, self._pace.piles = calm, piles
            (data if contacts is None else contacts.motion).array("block")[:] = old.h
            if contacts is not None:
                contacts.work.made, contacts.work.status = 0, CHANGED
            able = bool(self._carry_out(data, made is not old))
            if able or contacts is None or contacts.work.status != FULL:
                break
            contacts.make_room()
        self._note_all(t, old, data)
        y, p = data.array("between").copy(), s.array("given")[: len(made.p)].copy()
        if not able:
            raise self._refusal(t, y, p, data)
        if s.stopped >= 0:
            self.ended = self.task.system.switches[s.stopped].name
        if contacts is None:
            self.control.made = replace(made, p=p, h=data.array("block").copy())
        else:
            h, flags = (contacts.motion.array(name).copy() for name in ("block", "flags"))
            self.control.made = replace(made, p=p, h=h, flags=flags, closed=bool(flags.any()))
        return y

    def _note_all(self, t: float, old: BoundSystem, data: RunData) -> None:
        """Record the transitions at *t* after the *old* mode."""
        made, n = data.contacts.made, data.contacts.n_flags
        modes = data.contacts.array("flags")[: made * n].reshape(made, n // FLAGS, FLAGS)
        impacts = np.empty((0, IMPACT_NUMBERS)) if self.contacts is None else self.contacts.read_impacts()
        what = data.contacts.array("what")[:made].tolist()
        self.log.note_all([t] * made, what, modes, impacts, old.flags.reshape(-1, FLAGS))

    def _refusal(self, t: float, y: FloatArray, p: FloatArray, data: RunData) -> SimulationError:
        """Why a change at *t* into the state y with the parameters p cannot be. Raises :class:`SimulationError` for what a switch
        has set out of bounds.
        """
        acted = [k for k in data.contacts.array("what")[: data.contacts.made].tolist() if k >= 0]
        for k in acted[-1:]:
            check_settings(self.task, k, t, y, p)
        if data.switches.culprit >= 0:
            return thrown_off(self.task, data.switches.culprit, t, y, p)
        if self.contacts is not None and self.contacts.work.status != CHANGED:
            found, status = self.contacts.refusal(t), self.contacts.work.status
            if status == PENETRATES and jumps_there(self.task.equations, p, t, y):
                return SimulationError(str(found))  # a surface has jumped into what it touches: no steps lead out
            return found
        return self._too_many(t)

    def _too_many(self, t: float) -> ModeError:
        """Which steps or changes up to the time *t* are too many."""
        if self.contacts is not None and self._pace.over == STEPS:
            flags = self.contacts.flags
            return ModeError(f"at t = {t:g} s {crowd(self._pace, flags, self.contacts.closed(flags))}")
        last = "; ".join(what for _, what in self.changes[-4:])
        return ModeError(f"at t = {t:g} s one change follows another without end ({last})")


def energy(t: float, y: FloatArray, made: BoundSystem) -> float:
    """Kinetic and potential energy of a state: its jumps at transitions are part of the work."""
    kinetic, potential = made.code.observed_call(t, y, made.h)[:2].tolist()
    return float(kinetic + potential)


def start_automaton(
    task: SimulationProblem, control: SampledControl, log: ContactLog
) -> tuple[SimulationProblem, ContactModes | None]:
    """*task* with the initial state of its first mode, under *control*, whose code is set; and its contacts, None without any,
    with their *log*.

    Raises :class:`SimulationError` for penetration at the start, and for features that hybrid automata do not support.
    """
    name = task.system.name
    if task.method not in TABLEAUX:
        known = " or ".join((*TABLEAUX, MOREAU))
        raise SimulationError(
            f"Model '{name}': contacts, limits, friction and switches are found by the methods {known}, expected one of these, "
            f"found '{task.method}'."
        )
    if task.t1 < task.t0:
        raise SimulationError(
            f"Model '{name}': contacts, limits, friction and switches work forwards in time only; t falls from {task.t0:g} s."
        )
    made = control.made
    if not made.code.layout.touches:
        return task, None
    contacts, y, control.made = _first_mode(task, made, log)
    (contacts.brought,) = penetration_notes(contacts.compiled, task)
    y[task.states] += energy(task.t0, y, made) - energy(task.t0, task.y0, made)
    return replace(task, y0=y, made=control.made), contacts


def sensed_start(task: SimulationProblem) -> tuple[FloatArray, BoundSystem] | None:
    """State and system in which sensors read at the start: the first mode without sampled forces; None without contacts."""
    touches = task.made.code.layout.touches
    return _first_mode(task, task.made, ContactLog(touches, ()))[1:] if touches else None


def check_first_mode(task: SimulationProblem) -> None:
    """Raise :class:`SimulationError` where contacts of *task* have no first mode, and time stepping cannot begin there."""
    if task.made.code.layout.touches and task.method != MOREAU:
        _first_mode(task, task.made, ContactLog(task.made.code.layout.touches, ()))


def _first_mode(
    task: SimulationProblem, made: BoundSystem, log: ContactLog
) -> tuple[ContactModes, FloatArray, BoundSystem]:
    """Contacts of *task*, state and system in the first mode. Raises :class:`SimulationError` for penetration."""
    first = len(task.watched) + len(task.system.switches)
    until, same = max(abs(task.t0), abs(task.t1)), contact_tolerance(task)
    names = [c.name for c in task.system.constraints]
    contacts = ContactModes(made, log, len(task.watched), first, task.states, float(same), until, names)
    try:
        return contacts, *contacts.begin(task.t0, task.y0.copy(), made)
    except SimulationError as error:
        if task.falls_back and isinstance(error, ModeError) and contacts.work.status != PENETRATES:
            contacts.fault = error
            return contacts, task.y0.copy(), made
        raise reworded(error, f"Model '{task.system.name}': {error}.") from None


def contact_tolerance(task: SimulationProblem) -> FloatArray:
    """Contact tolerance of gaps in the motion of *task*, or of its cases (cases,)."""
    return np.asarray(tolerances.CONTACT_TOLERANCE * (task.control.rtol * _sizes(task) + task.control.atol))


def _sizes(task: SimulationProblem) -> FloatArray:
    """Size of the coordinates at the start, at least 1, or of those of each case (cases,)."""
    return np.asarray(np.abs(task.y0[..., : task.system.nq - task.system.nz]).max(axis=-1, initial=1.0))


def check_start(task: SimulationProblem, made: BoundSystem) -> None:
    """Raise :class:`SimulationError` where the start of *task* lies deeper beyond a contact than time stepping pushes apart."""
    contacts = made.code.contacts
    assert contacts is not None
    gaps = contacts.gaps(task.t0, task.y0[None, : contacts.n], made.h)[0]
    worst = int(gaps.argmin())
    if gaps[worst] < -DEEPEST_START:
        why = penetration(task.t0, contacts.touches[worst], float(gaps[worst]))
        raise SimulationError(f"Model '{task.system.name}': {why}.")


def penetration_notes(compiled: CompiledContacts, task: SimulationProblem) -> list[str]:
    """Notes on gaps at the start of *task*, or of its cases, that are negative beyond rounding; ``''`` for none."""
    gaps = compiled.gaps(task.t0, np.atleast_2d(task.y0), task.made.h)
    which = gaps.argmin(axis=1)
    found = []
    for k, by, allowed in zip(which.tolist(), -gaps[range(len(gaps)), which], np.atleast_1d(_sizes(task)), strict=True):
        touch = compiled.touches[k]
        text = f"{by:.1e} {touch.unit}".rstrip()
        beyond = by > tolerances.STATE_TOLERANCE * allowed
        found.append(f"the start was {text} beyond '{touch.name}' and was brought back onto it" if beyond else "")
    return found
