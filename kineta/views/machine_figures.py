"""Pictures of the machine of a system, a run, an equilibrium, and of what else has a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations.equations import equations_of
from kineta.equations.function import parameter_values
from kineta.errors import ArgumentError, warn
from kineta.model.body import GROUND
from kineta.model.system import System
from kineta.results.result import Result
from kineta.scene.construction import pieces
from kineta.scene.machine import Machine, Pose
from kineta.scene.system_scene import scene
from kineta.tasks.assemble import Assembly
from kineta.tasks.equilibria.equilibrium import Equilibrium
from kineta.tasks.equilibria.listing import Equilibria
from kineta.tasks.forces.joint_reactions import Reactions
from kineta.tasks.linear.modes import Modes
from kineta.tasks.motions.inverse_kinematics import Placements
from kineta.tasks.moving_machine import machine_of, states, system_of
from kineta.tasks.posture import Posture, direction, posture
from kineta.values import finite
from kineta.views import overlays, rendering
from kineta.views.overlays import Load
from kineta.views.series import pyplot

#: Most machines side by side.
MOST = 6
#: Largest motion in a picture of a mode, in sizes of the machine or radians, and its pictures.
AMPLITUDE, GHOSTS = 0.2, 5
#: Times on the path of a point.
PATH = 400


def of_posture(found: Posture, *, ax: Any = None) -> Any:
    """The machine in a posture; returns the axes."""
    machine = Machine(scene(found.system), found.p, found.t, found.q, found.v)
    return _picture(machine, machine.first, found.towards, ax=ax)


def _picture(
    machine: Machine,
    pose: Pose,
    towards: Any,
    *,
    before: Sequence[Pose] = (),
    ghosts: Sequence[Pose] = (),
    more: Sequence[Load] = (),
    ax: Any = None,
) -> Any:
    """Draw a *machine* in a *pose*, with the paths through the poses *before* it, with pale *ghosts* behind it, and with *more*
    forces; returns the axes.
    """
    found = [*overlays.loads(machine, pose), *more]
    most = overlays.largest(found)
    box = rendering.spread(machine, [pose, *ghosts], before, overlays.ends(machine, found, most))
    view = rendering.camera(machine, box, towards)
    ax = rendering.axes_of(ax, rendering.proportions(view, box))
    rendering.prepare(ax, view, box)
    rendering.ground(ax, machine, view, box, pose)
    for other in ghosts:
        rendering.put(ax, rendering.drawn(pieces(machine, other), view, pale=0.72), zorder=2)
    solid = [*pieces(machine, pose), *rendering.uneven_ground(machine, view, box, pose)]
    rendering.put(ax, rendering.drawn(solid, view), zorder=3)
    if found:
        rendering.put(ax, rendering.drawn(overlays.arrows(machine, found, most), view), zorder=4)
        overlays.label(ax, machine, found, most, view)
    if before:
        overlays.paths(ax, machine, before, view)
    return ax


def of_system(
    system: System, q: Any = None, *, p: Any = None, t: float = 0.0, towards: Any = None, ax: Any = None
) -> Any:
    """The machine of *system* assembled near *q*; returns the axes."""
    found = posture(system, q, p=p, t=t, towards=towards)
    for note in found.notes:
        warn(note)
    return of_posture(found, ax=ax)


def of_equilibrium(found: Equilibrium, *, towards: Any = None, ax: Any = None) -> Any:
    """The machine at rest, or in steady motion; returns the axes."""
    at = found.state
    return of_posture(Posture(found.system, at.t, at.q, at.v, at.p, direction(towards)), ax=ax)


def of_assembly(found: Assembly, *, towards: Any = None, ax: Any = None) -> Any:
    """The machine as it was assembled, of several cases the first; returns the axes."""
    q, v = np.atleast_2d(found.q)[0], np.atleast_2d(found.v)[0]
    return of_posture(Posture(found.system, found.t, q, v, np.atleast_2d(found.p)[0], direction(towards)), ax=ax)


def of_run(run: Result, t: float | None = None, *, case: int = 0, towards: Any = None, ax: Any = None) -> Any:
    """The machine in a *run* at the time *t*; returns the axes."""
    system_of(run)
    last = float(run.t[-1])
    at = last if t is None else finite("t", t)
    first, end = sorted((float(run.t[0]), last))
    if not first <= at <= end:
        raise ArgumentError(f"Run of '{run.model}': expected a time from {first:g} to {end:g} s, found {at:g} s.")
    machine = machine_of(run, case)
    (pose,) = machine.poses(np.array([at]), *states(run, np.array([at]), case))
    times = np.linspace(run.t[0], at, PATH) if machine.scene.trails else np.zeros(0)
    before = list(machine.poses(times, *states(run, times, case))) if len(times) else []
    return _picture(machine, pose, direction(towards), before=before, ax=ax)


def of_mode(found: Modes, i: int, *, towards: Any = None, ax: Any = None) -> Any:
    """The machine in mode number *i*, with ghosts on the way from one end of its motion to the other; returns the axes."""
    linear, names = found.linear, found.shape(i)
    if linear is None or linear.system is None:
        raise ArgumentError(f"Model '{found.model}': these modes know no model to draw; ask for them of the system.")
    system = linear.system
    p = parameter_values(system, {n: float(x) for n, x in linear.parameters.items()})
    t = float(linear.t)
    machine = Machine(scene(system), p, t, linear.q, linear.v)
    shape = np.array(list(names.values()))
    rates = equations_of(system).function("qdot", "numpy")
    base = np.asarray(rates(t, linear.q, np.zeros(system.nv), p=p))
    swing = AMPLITUDE * _reach(machine, system, t, linear.q, shape, p)
    q = []
    for phase in np.linspace(0.0, np.pi, GHOSTS):
        change = (shape * np.exp(1j * phase)).real * swing
        if len(change) == system.nv and not system.quasi:
            q.append(linear.q + np.asarray(rates(t, linear.q, change, p=p)) - base)
        else:
            q.append(linear.q + change[: system.nq])
    k = len(q)
    first, *ghosts = machine.poses(np.full(k, t), np.array(q), np.zeros((k, system.nv)))
    ax = _picture(machine, first, direction(towards), ghosts=ghosts, ax=ax)
    value = found.eigenvalues[i]
    told = f"{found.frequency[i]:.4g} Hz" if value.imag else f"{value.real:.4g} 1/s"
    ax.set_title(f"{found.model}: mode {range(len(found))[i] + 1}, {told}", fontsize="medium")
    return ax


def _reach(machine: Machine, system: System, t: float, q: FloatArray, shape: FloatArray, p: FloatArray) -> float:
    """The amplitude of a *shape* at which some frame moves by about the size of the machine, or turns by a radian."""
    small = 1e-6
    rates = equations_of(system).function("qdot", "numpy")
    zero = np.zeros(system.nv)
    size = len(shape) == system.nv and not system.quasi
    moved = []
    for part in (shape.real, shape.imag):
        by = np.asarray(rates(t, q, part, p=p)) - np.asarray(rates(t, q, zero, p=p)) if size else part[: system.nq]
        moved.append(q + small * by)
    rest, *others = machine.poses(np.full(3, t), np.array([q, *moved]), np.zeros((3, system.nv)))
    scale = np.concatenate([np.ones(9), np.full(3, machine.size)])
    change = max(float(np.abs((x.frames - rest.frames) / scale).max()) for x in others)
    return small / change if change > 0 else 1.0


def of_reactions(found: Reactions, t: float | None = None, *, towards: Any = None, ax: Any = None) -> Any:
    """The machine at the recorded time nearest to *t*, with the forces in its joints as arrows; returns the axes."""
    path = found.trajectory
    if found.frame != GROUND:
        raise ArgumentError(
            f"Model '{found.model}': expected reactions in the axes of the ground to draw, found '{found.frame}'."
        )
    k = len(found.t) - 1 if t is None else int(np.argmin(np.abs(found.t - finite("t", t))))
    p = np.atleast_2d(path.p)
    machine = Machine(scene(path.system), p[k if len(p) > 1 else 0], float(path.t[k]), path.q[k], path.v[k])
    pose, known = machine.first, machine.scene
    places = {n: pose.frame(j)[1] for n, j in known.hinges.items()} | {
        n: pose.moving[list(j)] for n, j in known.grips.items()
    }
    loads = [Load(n, places[n], found.wrenches[k, i, :3]) for i, n in enumerate(found.names)]
    return _picture(machine, pose, direction(towards), more=loads, ax=ax)


def side_by_side(postures: Sequence[Posture], titles: Iterable[str]) -> Any:
    """Machines side by side; returns the figure."""
    shown = postures[:MOST]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    fig = pyplot().figure(figsize=(4.2 * columns, 3.6 * rows), layout="constrained")
    for k, (one, title) in enumerate(zip(shown, titles, strict=False)):
        ax = fig.add_subplot(rows, columns, k + 1)
        of_posture(one, ax=ax)
        ax.set_title(title, fontsize="medium")
    rest = f" ({len(shown)} of {len(postures)} drawn)" if len(shown) < len(postures) else ""
    fig.suptitle(f"{shown[0].system.name}{rest}", fontsize="medium")
    return fig


def of_placements(found: Placements) -> Any:
    """The solutions of inverse kinematics side by side; returns the figure."""
    system = found.system
    p, v = parameter_values(system), np.zeros(system.nv)
    return side_by_side(
        [Posture(system, 0.0, x.q, v, p) for x in found.found], (str(k) for k in range(1, len(found.found) + 1))
    )


def of_equilibria(found: Equilibria) -> Any:
    """Equilibria side by side, with their stability; returns the figure."""
    words = {True: "stable", False: "unstable", None: "undecided"}
    shown = [Posture(found.system, x.state.t, x.q, x.v, x.state.p) for x in found.each]
    return side_by_side(shown, (words[x.stable] for x in found.each))


# -- runs --------------------------------------------------------------------------------------------------------------
