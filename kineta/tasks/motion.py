"""One motion from its start to its end, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.integrator import integrator
from kineta.errors import SimulationError
from kineta.numerics.problem import Problem
from kineta.numerics.segments import Integration
from kineta.tasks import status
from kineta.tasks.carrying import Carrying
from kineta.tasks.domain import Domain, outside
from kineta.tasks.events import Watch, wanted
from kineta.tasks.gradients import Gradients
from kineta.tasks.held import Control, Held
from kineta.tasks.implicit import implicit
from kineta.tasks.jacobian import jacobian
from kineta.tasks.keeping import PROJECTED
from kineta.tasks.kinks import kink
from kineta.tasks.manifold import manifold
from kineta.tasks.mass import fault, lost
from kineta.tasks.met import missed
from kineta.tasks.modal import Modal, begun, modal
from kineta.tasks.pace import Pace
from kineta.tasks.progress import Progress
from kineta.tasks.rank import FLAT, FOLDED, folded
from kineta.tasks.record import Record
from kineta.tasks.settle import Settle
from kineta.tasks.status import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS
from kineta.tasks.task import Task
from kineta.tasks.working import Working

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """What became of a motion: the integration, what was kept of it, the events found, how near it came to where the model is
    not defined, and how it ended.
    """

    run: Integration | Held
    record: Record
    watch: Watch
    domain: Domain
    status: int
    message: str

    @property
    def changes(self) -> tuple[tuple[float, str], ...]:
        """What happened on the way, with the times."""
        return tuple(self.run.changes) if isinstance(self.run, Modal) else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What came to rest after many impacts."""
        return self.run.touching.notes() if isinstance(self.run, Modal) else ()

    def held(self, t: FloatArray) -> FloatArray | None:
        """The sampled forces (k, nv) that were held from the times *t* (k,) on, if there are any."""
        control = None if isinstance(self.run, Integration) else self.run.control
        return control.at(t) if control is not None and control.times else None


def move(task: Task, bar: Progress) -> Motion:
    """Carry the motion of *task* to its end. Raises :class:`SimulationError` where it cannot start."""
    control = Control(task)
    try:
        first = control.take(task.y0)
    except SimulationError as error:
        raise SimulationError(f"Model '{task.system.name}': at t = {task.t0:g} s {error}.") from error
    code, made = task.made.code, control.made
    if why := cannot_start(task, code.rate(np.array([task.t0]), task.y0, made.h)):
        raise SimulationError(why)
    settled = Settle(task.quaternions, task.made)
    if code.kept == PROJECTED:
        start = task.y0[None].copy()
        settled(np.array([task.t0]), start)
        task = replace(task, y0=start[0])  # what it misses constraints by is rounding
    changing, change = modal(task), None
    if changing:
        task, change = begun(task, control)
        code, made = control.made.code, control.made
        settled = Settle(task.quaternions, made)
    problem = Problem(
        rhs=code.rate.address,
        h=made.h,
        t0=task.t0,
        t1=task.t1,
        y0=task.y0,
        quaternions=task.quaternions,
        integrals=code.layout.integrals,
        events=wanted(task.watched, code.event_address, len(task.system.switches), code.layout.touch_events),
        manifold=manifold(task, task.made, task.y0),
        trials=None
        if change is None
        else change.trials(made, len(task.watched) + len(task.system.switches), task.states),
    )
    run = Integration(
        partial(integrator, projecting=problem.manifold is not None, touching=bool(code.layout.touches)),
        lambda: jacobian(task.equations, control.made),
        lambda: implicit(task.equations, control.made),
        task.method,
        problem if first is None else replace(problem, t1=first),
        rtol=task.rtol,
        atol=task.atol,
        max_step=task.max_step,
        max_steps=task.max_steps,
        dense=task.dense_output or task.grid is not None or bool(task.watched or task.system.programs) or changing,
        kept=task.dense_output,
    )
    worked = Working(task.made, task.states) if task.system.programs else None
    record = Record(task.grid, task.states, settled, keep=task.dense_output, worked=worked)
    watch, domain = Watch(task.watched, problem, settled), Domain(task.equations, task.made)
    whole: Integration | Held = run if first is None else Held(problem, run, control)
    if change is not None:
        whole = Modal(task, problem, run, control, change)
    gradients = Gradients(task, Carrying(task)) if task.system.programs else None
    return Motion(whole, record, watch, domain, *_integrate(task, whole, record, watch, domain, gradients, bar))


def _folded(task: Task, t: float, y: FloatArray, part: float = FOLDED) -> str:
    """Which constraints depend on each other in the state *y*; ``''`` for none."""
    nq, nv = task.system.nq, task.system.nv
    state = y[:nq], y[nq : nq + nv]
    return folded(task.equations, task.made.p, t, state, task.regular, part)


def cannot_start(task: Task, rate: FloatArray) -> str:
    """Why the motion of *task*, with this *rate* at its start, cannot start; ``''`` where it can."""
    system = task.system
    q, v = task.y0[: system.nq], task.y0[system.nq : system.nq + system.nv]
    if why := missed(task.equations, task.t0, q, v, task.made.p):
        return why
    if why := _folded(task, task.t0, task.y0, FLAT):
        return f"Model '{system.name}': the start at t = {task.t0:g} s is singular: {why}. Start a little beside it."
    if np.isfinite(rate).all():
        return ""
    if why := fault(task.equations, task.t0, q, v, task.made.p):
        return f"Model '{system.name}': the mass matrix is singular at t = {task.t0:g} s: {why}."
    names = (*(f"rate of {n}" for n in system.q_names), *(f"{n}'" for n in system.v_names))
    others = "power, or what is integrated or derived beside the motion,"
    bad = next((n for n, x in zip(names, rate, strict=False) if not np.isfinite(x)), "")
    why = outside(task.equations, task.made, task.t0, task.y0)
    if why and not bad:
        return f"Model '{system.name}': the initial state is outside of what the model is defined for: {why}."
    if not bad and (watching := _unseen(task, rate)):
        return (
            f"Model '{system.name}': what '{watching}' watches has no rate in the initial state, as where a disk is parallel to "
            "what it may touch. Start a little beside it."
        )
    advice = why or "check the state and the parameters"
    return f"Model '{system.name}': {bad or others} is not finite in the initial state; {advice}."


def _unseen(task: Task, rate: FloatArray) -> str:
    """The first contact or switch of which that which is watched has no *rate*; ``''`` for none."""
    layout = task.made.code.layout
    rates = rate[len(rate) - layout.watched - layout.loads - len(layout.shown) :]
    return next((name for name, x in zip(layout.shown, rates, strict=False) if not np.isfinite(x)), "")


def singular(task: Task, t: float, y: FloatArray) -> str:
    """Whose inertia the motion of *task* has lost on its way to *t*, *y*; ``''`` where the mass matrix is regular."""
    nq, n = task.system.nq, task.system.nq + task.system.nv
    start, end = ((time, state[:nq], state[nq:n]) for time, state in ((task.t0, task.y0), (t, y)))
    motion = lost(task.equations, task.made.p, start, end)
    return f"the mass matrix becomes singular there: {motion}" if motion else ""


def _integrate(
    task: Task,
    run: Integration | Held,
    record: Record,
    watch: Watch,
    domain: Domain,
    gradients: Gradients | None,
    bar: Progress,
) -> tuple[int, str]:
    """Carry the run to its end; status and message."""
    problem = run.problem
    pace = Pace(problem.t0, problem.t1)
    record.start(problem.t0, problem.y0.copy(), None if isinstance(run, Integration) else run.control.made)
    domain.look(np.array([problem.t0]), problem.y0[None])
    try:
        for segment in run:
            end = watch.look(segment)
            if gradients is not None and (lost := gradients.look(segment, end)):
                if len(segment.t):
                    record.segment(segment, lost.since)
                for last in lost.last:
                    record.segment(last, None)
                watch.until(lost.t)
                return FAILED, (status.refused if lost.jumps else status.unguided)(record.reached, lost.why)
            if len(segment.t):
                domain.look(segment.t, segment.y)
                record.segment(segment, end)
                bar.at(record.reached, record.steps, record.last_step)
                if left := pace.left(record.reached, record.steps):
                    made = record.steps, record.last_step
                    return OUT_OF_STEPS, status.out_of_steps(record.reached, *made, domain.edge(last=True), left)
            if end is not None:
                return EVENT, status.stopped(end[0], watch.ended or "")
            if segment.end:
                edge = domain.edge(last=True) or singular(task, *record.end)
                if not edge and (depend := _folded(task, *record.end)):
                    edge = f"{depend}: it may be that they cannot be met beyond"
                edge = edge or kink(task.equations, task.made.p, *record.end)
                return FAILED, status.failed(record.reached, segment.end, edge)
    except SimulationError as error:
        bent = kink(task.equations, task.made.p, *record.end)
        return FAILED, status.refused(record.reached, f"{error}{'; ' * bool(bent)}{bent}")
    except KeyboardInterrupt:
        return INTERRUPTED, status.interrupted(record.reached)
    if isinstance(run, Modal) and run.ended is not None:
        return EVENT, status.stopped(record.reached, run.ended)
    if record.reached != problem.t1:
        edge = domain.edge(last=True)
        return OUT_OF_STEPS, status.out_of_steps(record.reached, record.steps, record.last_step, edge)
    return DONE, status.done(problem.t1)
