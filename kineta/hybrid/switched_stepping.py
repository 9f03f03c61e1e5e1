"""Time stepping with switches: each acts at the zero of its condition, in a step with an impact at the end of the step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import largest_violation
from kineta.consistency.constraints import NumericConstraints
from kineta.errors import SimulationError
from kineta.hybrid.automaton import HybridRun
from kineta.hybrid.contact_log import ContactLog
from kineta.hybrid.contact_modes import penetration
from kineta.hybrid.sampling import SampledControl
from kineta.hybrid.switches import loop_switches, thrown_off
from kineta.integration.contact_records import HIT
from kineta.integration.handover import DEEPEST_START
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment
from kineta.integration.solver import BY_EVENTS
from kineta.integration.time_stepping import SteppingRun
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.events import EventStep
from kineta.runtime.problem import SimulationProblem


def switched_stepping(
    task: SimulationProblem, problem: Problem, steps: SteppingRun, control: SampledControl, log: ContactLog
) -> SwitchedStepping:
    """Time stepping by *steps* with the switches of a *task*, under a *control*, with its *log*."""
    tableau = TABLEAUX[BY_EVENTS]
    begun = replace(problem, t1=steps.problem.t1, switching=loop_switches(task))
    loop = NativeRun(tableau, integration_loop(tableau), begun, **vars(task.control), dense=True)
    return SwitchedStepping(task, problem, steps, loop, control, log)


class SwitchedStepping(HybridRun):
    """Time stepping by *steps* with the switches of a *task*, which the record of *loop* carries out; iterable over its segments.

    Conditions are looked at between the ends of the steps in which they change their sign. What they ask of accelerations and
    contact forces are averages over a step. A switch that hears an impact acts at the end of its step.
    """

    strikes_apart = True

    def __init__(
        self,
        task: SimulationProblem,
        problem: Problem,
        steps: SteppingRun,
        loop: NativeRun,
        control: SampledControl,
        log: ContactLog,
    ) -> None:
        super().__init__(task, problem, loop, control, None, log)
        self._run = self._stepping = steps
        steps.data.update(hears=bool(loop.switches.array("hears").any()))

    def _cut(self, segment: Segment) -> tuple[Segment, list[int] | None]:
        """*segment* up to the first transition in its last step, and the switches that act then; None for none."""
        struck = self._stepping.struck
        self.log.note_strikes(struck)
        last = [one for t, one in struck if len(segment.t) and t == segment.t[-1]]
        heard = self._heard([int(one[0]) for one in last if int(one[7]) & HIT]) if self._stepping.data.hears else []
        if not (segment.odd and len(segment.t)) and not heard:
            return segment, None
        events, own = self.problem.events, len(self.task.watched)
        assert events is not None
        assert segment.problem is not None
        step = EventStep.last(segment, segment.problem.event_values)
        found = [*step.zeros(events, range(events.n))]
        firing = [(i, t) for i, t in found if i >= own]
        events.noise[own:][(np.abs(step.known[1:, own:]) > events.noise[own:]).any(axis=0)] = -1.0
        if not (firing or heard):
            return segment, None
        t = step.t1 if last else min(t for _, t in firing)
        tolerance = tolerances.EVENT_TOLERANCE * max(abs(t), abs(self.task.t1 - self.task.t0))
        fired = sorted({*(i - own for i, at in firing if at <= t + tolerance), *heard})
        times, states = segment.t.copy(), segment.y.copy()
        times[-1], states[-1] = t, step.state(t)
        kept = [(i, at) for i, at in found if i < own and at <= t]
        for i, _ in kept:
            events.left[i] -= 1
        zeros = (
            np.array([i for i, _ in kept], dtype=np.int64),
            np.array([at for _, at in kept]),
            np.array([step.state(at) for _, at in kept]).reshape(len(kept), len(states[-1])),
        )
        return replace(segment, t=times, y=states, end=None, odd=False, zeros=zeros), fired

    def _transition(self, t: float, y: FloatArray, fired: list[int], end: float, old: BoundSystem) -> Iterator[Segment]:
        """As :meth:`HybridRun._transition`, with steps from there on."""
        yield from super()._transition(t, y, fired, end, old)
        begin = self.loop.problem
        self._stepping.restart(t, begin.y0, end, begin.h)

    def _changed(self, t: float, y: FloatArray, fired: list[int], old: BoundSystem) -> FloatArray:
        """As :meth:`HybridRun._changed`; raises :class:`SimulationError` for a state off constraints or beyond contacts."""
        new = super()._changed(t, y, fired, old)
        task, made, n = self.task, self.control.made, self.task.states
        if (new[:n] == y[:n]).all():
            return new
        q, v = np.split(new[:n], [task.system.nq])
        if task.system.constraints:
            miss = largest_violation(NumericConstraints(task.equations, made.p), t, q, v)[1]
            if not miss <= tolerances.PRINTED_TOLERANCE * max(1.0, float(np.abs(new[:n]).max())):
                raise thrown_off(task, fired[-1], t, new, made.p)
        contacts = made.code.contacts
        assert contacts is not None
        gaps = contacts.gaps(t, new[None, : contacts.n], made.h)[0]
        if gaps.min() < -DEEPEST_START:
            worst = int(gaps.argmin())
            raise SimulationError(penetration(t, contacts.touches[worst], float(gaps[worst])))
        return new
