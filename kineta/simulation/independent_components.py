"""Components of a model integrated apart: which, with what, and up to when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kineta.arrays import IntArray
from kineta.equations.equations import Equations, components_of
from kineta.model.transformations.components import Components
from kineta.records import constant_record
from kineta.results.outcomes import DONE, INTERRUPTED
from kineta.runtime.applied_forces import AppliedForces
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.inputs import RunInputs
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate
from kineta.simulation.solution import Solution


@constant_record
class Parts:
    """The parts of a run that are integrated apart: equations and inputs of each, its places among the ``states`` (q, v) of
    the model, and among the ``events`` of the caller. The only part of a common run is the whole, without ``components``.
    """

    components: Components | None
    equations: Sequence[Equations]
    inputs: Sequence[RunInputs]
    states: Sequence[IntArray] = ()
    events: Sequence[IntArray] = ()


def split(equations: Equations, given: RunInputs, *, together: bool = False) -> Parts:
    """The parts of a run of *equations* with *given* inputs: its components, or the whole alone. Those that are stepped
    *together* may have cases.
    """
    system = equations.system
    if coupling(equations, given, together=together):
        return whole(equations, given)
    groups = [e.value.symbols() for e in given.watched]
    groups += [(speed, *force.symbols()) for speed, force in given.forces.expressions.items()]
    components, each = components_of(equations, groups)
    if len(each) == 1:
        return whole(equations, given)
    owners = [components.places(e.value.symbols())[0] for e in given.watched]
    events = [np.flatnonzero(np.array(owners, dtype=np.int64) == k) for k in range(len(each))]
    inputs = [_inputs(equations, own, given, which) for own, which in zip(each, events, strict=True)]
    names = (*system.q_names, *system.v_names)
    place = {name: i for i, name in enumerate(names)}
    states = [np.array([place[n] for n in (*own.system.q_names, *own.system.v_names)]) for own in each]
    return Parts(components, each, inputs, states, events)


def whole(equations: Equations, given: RunInputs) -> Parts:
    """The only part of a run of *equations* with *given* inputs."""
    return Parts(None, [equations], [given])


def coupling(equations: Equations, given: RunInputs, *, together: bool = False) -> str:
    """Why the components of a model have one run in common; ``''`` where each may have its own, or may be stepped *together*."""
    system = equations.system
    if not (given.alone or together):
        return "cases are integrated side by side, each as a whole"
    if system.programs:
        return "controls are distributed over all actuators"
    if given.forces.sampled:
        return "samples are taken of the whole state"
    return ""


def _inputs(equations: Equations, own: Equations, given: RunInputs, events: IntArray) -> RunInputs:
    """The inputs of the part *own* of a run with *given* inputs, and the *events* with these numbers."""
    whole, part, forces = equations.system, own.system, given.forces
    q, v = [whole.q_names.index(n) for n in part.q_names], [whole.v_names.index(n) for n in part.v_names]
    p = np.array([own.value for own in part.parameters if not own.fixed], dtype=np.float64)
    p = np.broadcast_to(p, (*given.p.shape[:-1], len(p))).copy()
    place = {name: k for k, name in enumerate(whole.parameter_names)}
    for k, name in enumerate(part.parameter_names):
        if name in place:
            p[..., k] = given.p[..., place[name]]
    acting = {name: e for name, e in forces.expressions.items() if name in part.v_names}
    watched = [given.watched[i] for i in events.tolist()]
    q0, v0 = given.q[..., q], given.v[..., v]
    if not given.alone:  # each part has all cases
        count = max(len(x) for x in (given.q, given.v, given.p, forces.constant) if x.ndim > 1)
        q0 = np.broadcast_to(q0, (count, len(q))).copy()
    return RunInputs(q0, v0, p, AppliedForces(forces.constant[..., v], acting), watched)


def integrate_parts(tasks: Sequence[SimulationProblem], bar: Progress) -> list[tuple[SimulationProblem, Solution]]:
    """The solutions of *tasks*, each with the task as it was integrated: up to the time at which the first of them ends.

    A part that an event, a failure or an interruption ends ends all; those that have passed that time are integrated once
    more, up to it. Raises :class:`KeyboardInterrupt` where that is interrupted, too.
    """
    ends: dict[int, tuple[SimulationProblem, Solution]] = {}
    end = tasks[0].t1
    left = sorted(range(len(tasks)), key=lambda k: _may_stop(tasks[k]))
    while left:
        k = left.pop()
        own = _until(tasks[k], end)
        found = integrate(own, bar)
        assert found.record is not None
        if found.status[0] == INTERRUPTED and any(one.status[0] == INTERRUPTED for _, one in ends.values()):
            raise KeyboardInterrupt
        ends[k] = own, found
        if end == own.t0:
            found.status[0] = DONE
        elif found.record.reached != end:
            end = found.record.reached
            left += [i for i in ends if i not in (k, *left)]
    return [ends[k] for k in range(len(tasks))]


def _may_stop(task: SimulationProblem) -> bool:
    """Whether an event or a switch may end the motion."""
    return any(e.terminal for e in task.watched) or any(switch.stop for switch in task.system.switches)


def _until(task: SimulationProblem, end: float) -> SimulationProblem:
    """*task* up to the time *end*, which is recorded."""
    if end == task.t1:
        return task
    grid = task.grid
    if grid is not None:
        grid = grid[(grid - end) * np.sign(task.t1 - task.t0) <= 0]
        if not (len(grid) and grid[-1] == end):
            grid = np.append(grid, end)
    if end == task.t0:
        return replace(task, grid=grid, control=replace(task.control, max_steps=0))
    return replace(task, grid=grid, t1=end)
