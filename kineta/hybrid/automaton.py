"""Hybrid automaton: integration from mode to mode, with transitions at impacts, stick-slip, separation, switches and samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.consistency.consistent_start import largest_violation
from kineta.consistency.constraints import NumericConstraints
from kineta.errors import ModelError, SimulationError, reworded
from kineta.hybrid.sampling import SampledControl, SampledRun
from kineta.hybrid.switches import SwitchGuards, guard_cascade, switch_guards
from kineta.hybrid.transitions import ContactTransitions
from kineta.integration.native import NativeRun
from kineta.integration.problem import ClosedFormImpacts, Problem
from kineta.integration.segment import Segment
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.model.parameters import default_value, named_values
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.compiled import BoundSystem, CompiledSystem, compile_system
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.events import EventStep
from kineta.runtime.parameter_checks import check_parameters
from kineta.runtime.problem import SimulationProblem

#: Largest number of transitions at one time.
AT_ONCE = 60
#: Largest number of transitions without an impact within this part of the run; more are chattering.
CHATTER, BRIEF = 200, 1e-6


class HybridRun(SampledRun):
    """Integration from mode to mode, from the state and the code at the start of *task*; iterable over its segments.

    Events of the problem: the user's, then switches, then guards of contacts. ``made`` is the current code, ``changes`` are
    the transitions so far: times and words, ``floor strikes``.
    """

    def __init__(
        self,
        task: SimulationProblem,
        problem: Problem,
        run: NativeRun,
        control: SampledControl,
        touching: ContactTransitions,
    ) -> None:
        super().__init__(problem, run, control)
        self._loop = run
        self.task, self.transitions = task, touching
        self.changes = [(task.t0, f"{touching.touches[i].name} strikes") for i in touching.struck]
        self._problems: dict[CompiledSystem, Problem] = {}
        self._at_once = 0
        self._last = np.nan
        self._until = max(abs(task.t0), abs(task.t1))
        self._fired = np.full(len(task.system.switches), task.t0 - self._until)
        self._since: deque[float] = deque(maxlen=CHATTER)
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
                if self.transitions.touches:
                    self.transitions.check(t, y, self.control.made)
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
            self._loop.restart(self._posed(self.control.made, t, y, end), self.transitions.flight)
            self._look_beyond()
            jumped = True

    def _posed(self, made: BoundSystem, t0: float, y0: FloatArray, t1: float) -> Problem:
        """Problem of the code *made* from *t0*, *y0* to *t1*."""
        known = self._problems.get(made.code)
        if known is None:
            known = self._problems[made.code] = mode_problem(self.problem, made.code)
        first = len(self.task.watched) + len(self.task.system.switches)
        trials = self.transitions.trials(made, first, self.task.states)
        return known.at(made.h, t0, y0, t1, self._bounces(made), trials)

    def _bounces(self, made: BoundSystem) -> ClosedFormImpacts | None:
        """Closed-form impacts for the method: of single contacts, without switches on them."""
        own, system, touching = len(self.task.watched), self.task.system, self.transitions
        found = None if system.switches else touching.striking(made)
        if found is None or found.code.closed_form_impact is None:
            return None
        rows = len(touching.touches)
        numbers = found.code.closed_form_impact.program.n_outputs // rows
        touches = np.concatenate([np.full(own, -1), touching.gap_events])
        rest = system.nq, self.task.states, touching.same, touching.fastest, touching.flies()
        return ClosedFormImpacts(found.code.closed_form_impact.address, found.h, touches, numbers, rows, own, *rest)

    def _noted(self, segment: Segment, jumped: bool) -> Segment:
        """*segment* with its modes; records the transitions made within the loop."""
        made, changed, later = self.control.made, segment.changed, list[tuple[int, Callable[[], BoundSystem]]]()
        if changed is not None and len(changed[0]):
            assert segment.problem is not None
            events, rows, approaches, flags = changed
            if segment.problem.trials is None:
                self._bounced(segment.t[rows], events, approaches, (segment.y[rows - 1], segment.y[rows]))
            else:
                later = [*self._changing(segment, events, rows, approaches, flags)]
        return replace(segment, mode=made, later=later, jumped=jumped)

    def _bounced(
        self, t: FloatArray, events: IntArray, approaches: FloatArray, states: tuple[FloatArray, FloatArray]
    ) -> None:
        """Record closed-form impacts, with *states* before and after."""
        made = self.transitions.striking(self.control.made) or self.control.made
        names = self.transitions.bounced(events - len(self.task.watched), t, approaches, states, made)
        self.changes += ((at, f"{name} strikes") for at, name in zip(t.tolist(), names, strict=True))
        self._since.clear()

    def _changing(
        self, segment: Segment, events: IntArray, rows: IntArray, approaches: FloatArray, flags: FloatArray
    ) -> Iterator[tuple[int, Callable[[], BoundSystem]]]:
        """Record transitions; return the modes of the rows from each transition on."""
        first, made = len(self.task.watched) + len(self.task.system.switches), self.control.made
        given = (x.tolist() for x in (segment.t[rows], events - first, rows, approaches))
        for at, event, row, approach, present in zip(*given, flags, strict=True):
            mode = self.transitions.noted(made, event, at, approach, present, (segment.y[row - 1], segment.y[row]))
            self.changes += ((at, what) for what in self.transitions.said)
            if approach:
                self._since.clear()
            self._since.append(at)
            self._check_calm(at)
            yield row, mode
        self.control.made = mode()

    def _look_beyond(self) -> None:
        """Set the event hysteresis: half the contact tolerance for gaps of open contacts, half the rest speed for slip along
        lines.
        """
        events = self.problem.events
        if events is not None:
            first = len(self.task.watched) + len(self.task.system.switches)
            events.beyond[:] = np.inf
            events.beyond[[first + k for k in self.transitions.open()]] = self.transitions.same / 2
            events.beyond[[first + k for k in self.transitions.slipping()]] = tolerances.CONSTRAINT_TOLERANCE / 2

    # -- where a mode ends ------------------------------------------------------------------------------------------------

    def _cut(self, segment: Segment) -> tuple[Segment, list[int] | None]:
        """*segment* up to the first transition in it, and the indices of its events, switches first; None for none."""
        own = len(self.task.watched)
        found = self._zeros(segment)
        firing = [(i, t, y) for i, t, y in found if i >= own]
        if not firing:
            return segment, None
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

    # -- a change -------------------------------------------------------------------------------------------------------

    def _changed(self, t: float, y: FloatArray, fired: list[int]) -> FloatArray:
        """Initial state of the next mode."""
        self._at_once = self._at_once + 1 if abs(t - self._last) <= tolerances.EVENT_TOLERANCE * abs(t) else 0
        self._last = t
        if self.transitions.struck:
            self._since.clear()
        self._since.append(t)
        self._check_calm(t)
        made, y = self.control.made, y.copy()
        before = energy(t, y, made)
        if made.code.treatment == PROJECTED:
            position, velocity = made.code.projection_calls
            y = velocity(t, position(t, y, made.h), made.h)
        switches = len(self.task.system.switches)
        for _ in range(AT_ONCE):
            values = self._switches(t, y, made)
            y, made = self._switched(t, y, made, fired)
            y, made = self.transitions.change(t, y, made, [k - switches for k in fired if k >= switches])
            self.changes += ((t, what) for what in self.transitions.said)
            fired = self._following(t, y, made, values, [k for k in fired if k < switches])
            if not fired or self.ended is not None:
                break
        else:
            raise self._endless(t)
        self.control.made = made
        y[self.task.states] += energy(t, y, made) - before
        return y

    def _check_calm(self, t: float) -> None:
        """Raise :class:`SimulationError` for an endless sequence of transitions."""
        chatters = len(self._since) == CHATTER and t - self._since[0] < BRIEF * (self.task.t1 - self.task.t0)
        if self._at_once > AT_ONCE or chatters:
            raise self._endless(t)

    def _endless(self, t: float) -> SimulationError:
        last = "; ".join(what for _, what in self.changes[-4:])
        return SimulationError(f"at t = {t:g} s one change follows another without end ({last})")

    def _switches(self, t: float, y: FloatArray, made: BoundSystem) -> SwitchGuards | None:
        """Guards of the switches at a state; None without switches."""
        first, n = len(self.task.watched), len(self.task.system.switches)
        return switch_guards(t, y, made, self._until, slice(first, first + n)) if n else None

    def _following(
        self, t: float, y: FloatArray, made: BoundSystem, before: SwitchGuards | None, fired: list[int]
    ) -> list[int]:
        """Switches of a guard cascade after the ones *fired*."""
        after = self._switches(t, y, made)
        if before is None or after is None:
            return []
        self._fired[fired] = t
        return guard_cascade(before, after, fired, t - self._fired)

    def _switched(self, t: float, y: FloatArray, made: BoundSystem, fired: list[int]) -> tuple[FloatArray, BoundSystem]:
        """State and code after the switches *fired*, one after the other."""
        system = self.task.system
        for k, switch in enumerate(system.switches):
            p = named_values(system.parameters, made.p.tolist())
            guards = system.expanded.switches[k].guards
            if k not in fired or any(p[name] != default_value(x, p) for name, x in guards):
                continue
            self.changes.append((t, f"{switch.name} switches"))
            if switch.stop:
                self.ended = switch.name
            settings = made.code.switch_function(k)(np.array([t]), y, made.h)
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
                check_parameters(system, values)
            except ModelError as error:
                told = SimulationError(f"at t = {t:g} s, when '{switch.name}' switches: {str(error).rstrip('.')}")
                raise told.with_traceback(error.__traceback__) from None
            made = made.with_flags(values, self.transitions.flags)
            if made.code.treatment == PROJECTED:
                y = self._loose(t, y, made)
                if system.constraints:
                    self._check_met(t, y, made, switch.name)
        return y, made

    def _loose(self, t: float, y: FloatArray, made: BoundSystem) -> FloatArray:
        """State projected onto the constraints, without contacts."""
        h = made.with_flags(made.p, np.zeros_like(self.transitions.flags)).h
        position, velocity = made.code.projection_calls
        return velocity(t, position(t, position(t, y, h), h), h)

    def _check_met(self, t: float, y: FloatArray, made: BoundSystem, switch: str) -> None:
        """Raise :class:`SimulationError` where a *switch* violates the constraints too much for a projection."""
        (q, v), closing = (
            np.split(y[: self.task.states], [self.task.system.nq]),
            NumericConstraints(self.task.equations, made.p),
        )
        k, off = largest_violation(closing, t, q, v)
        if not abs(off) <= tolerances.PRINTED_TOLERANCE * closing.scale(q, v):
            raise SimulationError(
                f"at t = {t:g} s, when '{switch}' switches, the motion is thrown off {closing.described(k)}; expected values "
                "that meet it"
            )


def energy(t: float, y: FloatArray, made: BoundSystem) -> float:
    """Kinetic and potential energy of a state: its jumps at transitions are part of the work."""
    kinetic, potential = made.code.observed_call(t, y, made.h)[:2].tolist()
    return float(kinetic + potential)


def mode_problem(problem: Problem, code: CompiledSystem) -> Problem:
    """*problem* with other *code*."""
    manifold, events = problem.manifold, problem.events
    if manifold is not None:
        position, velocity = code.projections
        manifold = replace(manifold, position=position.address, velocity=velocity.address)
    if events is not None:
        events = replace(events, address=code.event_address)
    return replace(problem, rhs=code.rate.address, manifold=manifold, events=events)


def start_automaton(task: SimulationProblem, control: SampledControl) -> tuple[SimulationProblem, ContactTransitions]:
    """*task* with the initial state of its first mode, under *control*, whose code is set; and its contacts.

    Raises :class:`SimulationError` for penetration at the start, and for features that hybrid automata do not support.
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

    def codes(pressed: frozenset[str]) -> CompiledSystem:
        return compile_system(task.equations, task.made.forces, watched, task.made.code.treatment, pressed)

    same = tolerances.CONTACT_TOLERANCE * (task.control.rtol * size + task.control.atol)
    until, constraints = max(abs(task.t0), abs(task.t1)), [c.name for c in task.system.constraints]
    touching = ContactTransitions(layout.touches, task.system.nq, task.system.nv, same, codes, until, constraints)
    if not layout.touches:
        return task, touching
    made = control.made
    try:
        touching.brought = _penetration_note(
            touching.touches, touching.check(task.t0, task.y0, made), tolerances.STATE_TOLERANCE * size
        )
        y, control.made = touching.change(task.t0, task.y0.copy(), made)
    except SimulationError as error:
        raise reworded(error, f"Model '{name}': {error}.") from None
    y[task.states] += energy(task.t0, y, made) - energy(task.t0, task.y0, made)
    return replace(task, y0=y, made=control.made), touching


def _penetration_note(touches: Sequence[UnilateralConstraint], gaps: Sequence[float], allowed: float) -> str:
    """Note on *gaps* at the start that are negative by more than *allowed*; ``''`` for none."""
    gap, touch = min(zip(gaps, touches, strict=True), key=lambda one: one[0])
    by = f"{-gap:.1e} {touch.unit}".rstrip()
    return f"the start was {by} beyond '{touch.name}' and was brought back onto it" if gap < -allowed else ""
