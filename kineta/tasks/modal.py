"""Runs made of modes: between two changes nothing jumps; at a change contacts strike, stick, slip or leave, switches set what
they set, and sampled forces are taken anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ModelError, SimulationError
from kineta.formalism.touch import Touch
from kineta.numerics.problem import Bounces, Problem
from kineta.numerics.segment import Segment
from kineta.numerics.segments import Integration
from kineta.numerics.tableaux import TABLEAUX
from kineta.tasks.closing import Closing
from kineta.tasks.code import Bound, Code, code
from kineta.tasks.events import Step
from kineta.tasks.grip import STILL
from kineta.tasks.held import Control, Held
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.met import MISSED, PRINTED, farthest
from kineta.tasks.switching import Seen, come_true, seen
from kineta.tasks.task import Task
from kineta.tasks.touching import Touching
from kineta.tasks.weights import check_weights

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Tolerances of a run within which gaps are the same.
SAME = 10.0
#: Changes at one time, beyond which a run has no way on.
AT_ONCE = 60
#: Changes without an impact beyond which a run chatters, if they happen within this part of it.
CHATTER, BRIEF = 200, 1e-6
#: Times apart by less than this part of themselves are the same.
_ROUNDING = 64 * 2.0**-52


class Modal(Held):
    """An integration mode after mode, from the state and the code at the start of *task*; iterate over it for its segments.

    Of the events of the problem, those of the user come first, then the switches, then what touches. ``made`` is the code at
    work, ``changes`` what has happened so far: times and words, ``floor strikes``.
    """

    def __init__(self, task: Task, problem: Problem, run: Integration, control: Control, touching: Touching) -> None:
        super().__init__(problem, run, control)
        self.task, self.touching = task, touching
        self.changes = [(task.t0, f"{touching.touches[i].name} strikes") for i in touching.struck]
        self._problems: dict[Code, Problem] = {}
        self._at_once = 0
        self._last = np.nan
        self._until = max(abs(task.t0), abs(task.t1))
        self._fired = np.full(len(task.system.switches), task.t0 - self._until)
        self._since: deque[float] = deque(maxlen=CHATTER)
        self.ended: str | None = None
        self._look_beyond()

    def __iter__(self) -> Iterator[Segment]:
        end, jumped = self._run.problem.t1, False
        while True:
            t, y, fired = self.task.t0, self.problem.y0, None
            for piece in self._run:
                segment, fired = self._cut(self._noted(piece, jumped))
                yield segment
                jumped = False
                if segment.end and fired is None:
                    return
                if len(segment.t):
                    t, y = float(segment.t[-1]), segment.y[-1]
                if fired is not None:
                    break
                if self.touching.touches:
                    self.touching.check(t, y, self.control.made)
            if fired is None and (t != end or end == self.task.t1):
                return
            if fired is None:
                following = self.control.take(y)
                if following is None:
                    return
                end = following
            y = self._changed(t, y, fired or [])
            if self.ended is not None:
                yield Segment(t, y, np.array([t]), y[None], None, "", odd=False, mode=self.control.made)
                return
            self._run.restart(self._posed(self.control.made, t, y, end), self.touching.flight)
            self._look_beyond()
            jumped = True

    def _posed(self, made: Bound, t0: float, y0: FloatArray, t1: float) -> Problem:
        """The problem with the code *made*, from *t0*, *y0* to *t1*."""
        known = self._problems.get(made.code)
        if known is None:
            known = self._problems[made.code] = posed(self.problem, made.code)
        first = len(self.task.watched) + len(self.task.system.switches)
        trials = self.touching.trials(made, first, self.task.states)
        return known.at(made.h, t0, y0, t1, self._bounces(made), trials)

    def _bounces(self, made: Bound) -> Bounces | None:
        """What the method may let strike: contacts that do so alone, where no switch sees it."""
        own, system, touching = len(self.task.watched), self.task.system, self.touching
        found = None if system.switches else touching.striking(made)
        if found is None or found.code.bounce is None:
            return None
        rows = len(touching.touches)
        numbers = found.code.bounce.program.n_outputs // rows
        touches = np.concatenate([np.full(own, -1), touching.gap_events])
        rest = system.nq, self.task.states, touching.same, touching.fastest, touching.flies()
        return Bounces(found.code.bounce.address, found.h, touches, numbers, rows, own, *rest)

    def _noted(self, segment: Segment, jumped: bool) -> Segment:
        """*segment* with its modes; and take note of what has changed over it within the loop."""
        made, changed, later = self.control.made, segment.changed, list[tuple[int, Callable[[], Bound]]]()
        if changed is not None and len(changed[0]):
            assert segment.problem is not None
            events, rows, approaches, flags = changed
            if segment.problem.trials is None:
                self._bounced(segment.t[rows], events, approaches)
            else:
                later = [*self._changing(segment.t[rows], events, rows, approaches, flags)]
        return replace(segment, mode=made, later=later, jumped=jumped)

    def _bounced(self, t: FloatArray, events: IntArray, approaches: FloatArray) -> None:
        """Take note of what has bounced."""
        names = self.touching.bounced(events - len(self.task.watched), t, approaches)
        self.changes += ((at, f"{name} strikes") for at, name in zip(t.tolist(), names, strict=True))
        self._since.clear()

    def _changing(
        self, t: FloatArray, events: IntArray, rows: IntArray, approaches: FloatArray, flags: FloatArray
    ) -> Iterator[tuple[int, Callable[[], Bound]]]:
        """Take note of what has changed; the modes of the rows from each change on."""
        first, made = len(self.task.watched) + len(self.task.system.switches), self.control.made
        given = (x.tolist() for x in (t, events - first, rows, approaches))
        for at, event, row, approach, present in zip(*given, flags, strict=True):
            mode = self.touching.noted(made, event, at, approach, present)
            self.changes += ((at, what) for what in self.touching.said)
            if approach:
                self._since.clear()
            self._since.append(at)
            self._check_calm(at)
            yield row, mode
        self.control.made = mode()

    def _look_beyond(self) -> None:
        """Let the gaps of what is open be looked at half as far beyond their contacts as gaps are the same, and slip along lines
        against its way, half as fast as is none.
        """
        events = self.problem.events
        if events is not None:
            first = len(self.task.watched) + len(self.task.system.switches)
            events.beyond[:] = np.inf
            events.beyond[[first + k for k in self.touching.open()]] = self.touching.same / 2
            events.beyond[[first + k for k in self.touching.slipping()]] = STILL / 2

    # -- where a mode ends ------------------------------------------------------------------------------------------------

    def _cut(self, segment: Segment) -> tuple[Segment, list[int] | None]:
        """*segment* up to the first change in it, and the places of the events that make it, switches first; None for none."""
        own = len(self.task.watched)
        found = self._zeros(segment)
        firing = [(i, t, y) for i, t, y in found if i >= own]
        if not firing:
            return segment, None
        _, t, y = min(firing, key=lambda zero: zero[1])
        tolerance = _ROUNDING * max(abs(t), abs(self.task.t1 - self.task.t0))
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
        """The zeros of all events over *segment*: those of its last step are looked for, where the method could not."""
        own = len(self.task.watched)
        which, times, states = segment.zeros or (np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 0)))
        found = list(zip(which.tolist(), times.tolist(), states, strict=True))
        if segment.odd and len(segment.t):
            events = self.problem.events
            assert events is not None
            assert segment.problem is not None
            step = Step.last(segment, segment.problem.event_values)
            found += [(i, t, step.state(t)) for i, t in step.zeros(events, range(own, events.n))]
        return found

    # -- a change -------------------------------------------------------------------------------------------------------

    def _changed(self, t: float, y: FloatArray, fired: list[int]) -> FloatArray:
        """The state with which the next mode starts."""
        self._at_once = self._at_once + 1 if abs(t - self._last) <= _ROUNDING * abs(t) else 0
        self._last = t
        if self.touching.struck:
            self._since.clear()
        self._since.append(t)
        self._check_calm(t)
        made, y = self.control.made, y.copy()
        before = energy(t, y, made)
        if made.code.kept == PROJECTED:
            position, velocity = made.code.nearer
            y = velocity(t, position(t, y, made.h), made.h)
        switches = len(self.task.system.switches)
        for _ in range(AT_ONCE):
            values = self._switches(t, y, made)
            y, made = self._switched(t, y, made, fired)
            y, made = self.touching.change(t, y, made, [k - switches for k in fired if k >= switches])
            self.changes += ((t, what) for what in self.touching.said)
            fired = self._following(t, y, made, values, [k for k in fired if k < switches])
            if not fired or self.ended is not None:
                break
        else:
            raise self._endless(t)
        self.control.made = made
        y[self.task.states] += energy(t, y, made) - before
        return y

    def _check_calm(self, t: float) -> None:
        """Raise :class:`SimulationError` where changes follow each other without end."""
        chatters = len(self._since) == CHATTER and t - self._since[0] < BRIEF * (self.task.t1 - self.task.t0)
        if self._at_once > AT_ONCE or chatters:
            raise self._endless(t)

    def _endless(self, t: float) -> SimulationError:
        last = "; ".join(what for _, what in self.changes[-4:])
        return SimulationError(f"at t = {t:g} s one change follows another without end ({last})")

    def _switches(self, t: float, y: FloatArray, made: Bound) -> Seen | None:
        """The switches at a state; None where the model has none."""
        first, n = len(self.task.watched), len(self.task.system.switches)
        return seen(t, y, made, self._until, slice(first, first + n)) if n else None

    def _following(self, t: float, y: FloatArray, made: Bound, before: Seen | None, fired: list[int]) -> list[int]:
        """The switches that follow those that have *fired*."""
        after = self._switches(t, y, made)
        if before is None or after is None:
            return []
        self._fired[fired] = t
        return come_true(before, after, fired, t - self._fired)

    def _switched(self, t: float, y: FloatArray, made: Bound, fired: list[int]) -> tuple[FloatArray, Bound]:
        """The state and the code after the switches that have *fired*, one after the other."""
        system = self.task.system
        for k, switch in enumerate(system.switches):
            p = dict(zip(system.parameter_names, made.p.tolist(), strict=True))
            if k not in fired or any(p[name] != value for name, value in switch.guards):
                continue
            self.changes.append((t, f"{switch.name} switches"))
            if switch.stop:
                self.ended = switch.name
            settings = made.code.settings(k)(np.array([t]), y, made.h)
            for (name, expression), value in zip(switch.sets, settings.tolist(), strict=True):
                if not np.isfinite(value):
                    raise SimulationError(
                        f"at t = {t:g} s, when '{switch.name}' switches: {name} = {expression!r} is {value}; expected a finite "
                        "number"
                    )
                if name in p:
                    p[name] = value
                else:
                    y[(*system.q_names, *system.v_names).index(name)] = value
            values = np.array([*p.values()])
            try:
                check_weights(system, values)
            except ModelError as error:
                raise SimulationError(
                    f"at t = {t:g} s, when '{switch.name}' switches: {str(error).rstrip('.')}"
                ) from error
            made = made.switched(values, self.touching.flags)
            if made.code.kept == PROJECTED:
                y = self._loose(t, y, made)
                if system.constraints:
                    self._check_met(t, y, made, switch.name)
        return y, made

    def _loose(self, t: float, y: FloatArray, made: Bound) -> FloatArray:
        """The state brought back to the constraints, whatever touches."""
        h = made.switched(made.p, np.zeros_like(self.touching.flags)).h
        position, velocity = made.code.nearer
        return velocity(t, position(t, position(t, y, h), h), h)

    def _check_met(self, t: float, y: FloatArray, made: Bound, switch: str) -> None:
        """Raise :class:`SimulationError` where what a *switch* has set is too far from the constraints to be brought back."""
        (q, v), closing = np.split(y[: self.task.states], [self.task.system.nq]), Closing(self.task.equations, made.p)
        k, off = farthest(self.task.equations, closing, t, q, v)
        if not abs(off) <= PRINTED * closing.size(q, v):
            raise SimulationError(
                f"at t = {t:g} s, when '{switch}' switches, the motion is thrown off {closing.named(k)}; expected values that "
                "meet it"
            )


def modal(task: Task) -> bool:
    """Whether the motion of *task* is made of modes."""
    return bool(task.system.contacts or task.system.switches)


def energy(t: float, y: FloatArray, made: Bound) -> float:
    """Kinetic and potential energy of a state: what jumps at a change is part of the work done."""
    kinetic, potential = made.code.seen(t, y, made.h)[:2].tolist()
    return float(kinetic + potential)


def posed(problem: Problem, code: Code) -> Problem:
    """*problem* with other *code*."""
    manifold, events = problem.manifold, problem.events
    if manifold is not None:
        position, velocity = code.returns
        manifold = replace(manifold, position=position.address, velocity=velocity.address)
    if events is not None:
        events = replace(events, address=code.event_address)
    return replace(problem, rhs=code.rate.address, manifold=manifold, events=events)


def begun(task: Task, control: Control) -> tuple[Task, Touching]:
    """*task* with the state in which its first mode starts, under the *control* whose code that is to be; and its touches.

    Raises :class:`SimulationError` for a start in which one body is inside another, and for what runs do not do in modes.
    """
    name, layout = task.system.name, task.made.code.layout
    if task.method not in TABLEAUX:
        known = " or ".join(TABLEAUX)
        raise SimulationError(
            f"Model '{name}': contacts, limits, friction and switches are found by the methods {known}, expected one of these, "
            f"found '{task.method}'."
        )
    if task.t1 < task.t0:
        raise SimulationError(
            f"Model '{name}': contacts, limits, friction and switches work forwards in time only; t falls from {task.t0:g} s."
        )
    size = max(1.0, float(np.abs(task.y0[: task.system.nq]).max(initial=0.0)))
    watched = [e.value for e in task.watched]

    def codes(pressed: frozenset[str]) -> Code:
        return code(task.equations, task.made.forces, watched, task.made.code.kept, pressed)

    same = SAME * (task.rtol * size + task.atol)
    until, constraints = max(abs(task.t0), abs(task.t1)), [c.name for c in task.system.constraints]
    touching = Touching(layout.touches, task.system.nq, task.system.nv, same, codes, until, constraints)
    if not layout.touches:
        return task, touching
    made = control.made
    try:
        touching.brought = _brought(touching.touches, touching.check(task.t0, task.y0, made), MISSED * size)
        y, control.made = touching.change(task.t0, task.y0.copy(), made)
    except SimulationError as error:
        raise SimulationError(f"Model '{name}': {error}.") from error
    y[task.states] += energy(task.t0, y, made) - energy(task.t0, task.y0, made)
    return replace(task, y0=y, made=control.made), touching


def _brought(touches: Sequence[Touch], gaps: Sequence[float], allowed: float) -> str:
    """What is said of a start in which *gaps* are less than zero by more than is *allowed*; ``''`` for others."""
    gap, touch = min(zip(gaps, touches, strict=True), key=lambda one: one[0])
    by = f"{-gap:.1e} {touch.unit}".rstrip()
    return f"the start was {by} beyond '{touch.name}' and was brought back onto it" if gap < -allowed else ""
