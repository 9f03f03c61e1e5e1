"""Servo-constraints: forces of a few actuators that hold programs of motion, also where they act on these only through the rest.

A trolley does not push the load that hangs from it; it can only see to it that the rope pulls as it should. Programs are then
differentiated, together with the equations of motion, until the forces follow. If position and speeds follow too, the system is
flat, and nothing has to be integrated; else a part of the motion is left to itself, the internal dynamics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from kineta.compiler import Equations, given_equations
from kineta.errors import ArgumentError, SimulationError, did_you_mean
from kineta.formalism.programmed import CONTROL
from kineta.model.dimensions import output_units, variable_units, varied_units
from kineta.model.given import records
from kineta.model.infer import results
from kineta.model.system import System
from kineta.tasks import arguments, internal
from kineta.tasks.agreed import agreed
from kineta.tasks.code import parameters
from kineta.tasks.corners import jumps
from kineta.tasks.following import followed, integrated
from kineta.tasks.hidden import Array, Hold, State, held
from kineta.tasks.met import PRINTED
from kineta.tasks.result import force_name
from kineta.tasks.series import Series
from kineta.tasks.state import initial_state
from kineta.values import whole

FloatArray = NDArray[np.float64]

#: Equidistant times, where no other number is given.
SAMPLES = 201


@dataclass(frozen=True, eq=False, repr=False)
class Servo(Series):
    """The motion and the forces by which actuators hold programs.

    ``series`` has coordinates, speeds and accelerations by name, the forces ``control.x'`` of the actuators, their
    ``control.power`` and ``control.work``, and the outputs of the model but for accelerations and multipliers.

    actuators : names of the speeds on which they act
    q, v, vdot : (k, nq), (k, nv), (k, nv), the motion; tau : (k, nv), the forces on the speeds
    index : how often programs are differentiated, at most, before all rates follow: one more than before the forces do
    inversion : whether actuators influence the programs at their own order, as in :func:`~kineta.tasks.simulate.simulate`
    internal : dimension of the part of the motion that programs leave to itself; 0 where all follows from them
    poles : s of its small motions x e^(s t) about rest, with the programs as they are at the start; None if there is no rest
    stability : what these say, in words
    residual : by how much programs and constraints are missed at most
    left : the largest force that is left on a speed on which nothing acts, relative to the largest of the forces of control, and
        of those that a change of the motion by its own size, or by one, would ask for there
    jumps : when forces may jump, and with what, in words
    work, peak_power : of the forces of control [J, W]
    """

    actuators: tuple[str, ...]
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    tau: FloatArray
    index: int
    inversion: bool
    internal: int
    poles: NDArray[np.complex128] | None
    stability: str
    residual: float
    left: float
    jumps: tuple[str, ...]
    work: float
    peak_power: float

    @property
    def flat(self) -> bool:
        """Whether position, speeds and forces follow from the programs at every time."""
        return self.internal == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found, in words."""
        names = ", ".join(self.actuators)
        how = (
            f"forces on {names} act on the programs at their own order, and inversion holds them, as in kineta simulate"
            if self.inversion
            else f"forces on {names} act on the programs through the rest of the system, and inversion does not hold them"
        )
        left = (
            "flat: position, speeds and forces follow from the programs at every time"
            if self.flat
            else f"internal dynamics of dimension {self.internal}, integrated from the start: {self.stability}"
        )
        return (
            f"index {self.index}; {how}",
            left,
            f"work {round(self.work, 9) + 0.0:.6g} J, peak power {self.peak_power:.6g} W",
            f"programs missed by {self.residual:.2g} at most",
            *self.jumps,
        )


def servo(
    system: System | Equations,
    t: Any,
    *,
    actuators: Iterable[str] | None = None,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    samples: int = SAMPLES,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Servo:
    """The forces of *actuators* under which *system* holds its programs of motion, of coordinates and speeds.

    t : the end, or (start, end) [s]; samples : equidistant times
    actuators : names of as many speeds, or coordinates, as there are programs; those of its ``control``, if not given
    q, v, p : start and parameters, as for :func:`~kineta.tasks.simulate.simulate`. In a flat system the start only says which of
        several positions is meant; else it has to meet the programs
    rtol, atol : tolerances of internal dynamics, where there are some

    Raises :class:`ArgumentError` for programs and actuators that do not go together, :class:`SimulationError` for a start that
    misses the programs, for singular positions on the way, and for a motion whose speeds and accelerations do not follow it.
    """
    given = given_equations(system)
    model = given.system
    if not model.programs:
        raise ArgumentError(
            f"Model '{model.name}' has no programs of motion to hold; give one, as in program path : x = sin(t)."
        )
    driven = _driven(model, actuators)
    _fits(model, driven)
    p = parameters(model, p)
    place, speeds = initial_state(model, q, v, p)
    if arguments.cases({"q": place, "v": speeds, "p": p}) is not None:
        raise ArgumentError(f"Model '{model.name}': one motion is held at a time; give one start.")
    rtol, atol, _ = arguments.tolerances(rtol, atol, np.inf)
    grid = np.linspace(*arguments.span(t), whole("samples", samples, 2, arguments.SAMPLES))
    array = Array(given.settled(), driven, p)
    hold, state = held(array, State(float(grid[0]), place, speeds))
    free = hold.structure.free
    if free:
        state = _start(hold, State(float(grid[0]), place, speeds), state)
    ways = integrated(hold, state, grid, rtol, atol) if free else followed(hold, state, grid)
    return _found(hold, driven, list(ways))


def _driven(system: System, actuators: Iterable[str] | None) -> tuple[int, ...]:
    """The places of the speeds on which actuators act."""
    names = (
        tuple(n for n, _ in system.control.actuators)
        if actuators is None
        else records(actuators, str, "names of speeds", '"q1\'"')
    )
    names = tuple(f"{n}'" if n not in system.v_names and f"{n}'" in system.v_names else n for n in names)
    for name in names:
        if name not in system.v_names:
            raise ArgumentError(f"Model '{system.name}' has no speed '{name}'.{did_you_mean(name, system.v_names)}")
    if not names:
        raise ArgumentError(
            f"Model '{system.name}' names no actuators; give some, as in control on {system.v_names[0]}, or "
            f'actuators=["{system.v_names[0]}"].'
        )
    return tuple(sorted({system.v_names.index(n) for n in names}))


def _fits(system: System, driven: tuple[int, ...]) -> None:
    """Raise for what servo-constraints do not speak of."""
    where = f"Model '{system.name}'"
    named, programs = ", ".join(system.v_names[k] for k in driven), ", ".join(p.name for p in system.programs)
    if acting := ", ".join(c.name for c in (*system.contacts, *system.switches)):
        raise ArgumentError(
            f"{where}: programs hold for motions without changes, and {acting} may bring some; leave these out: "
            "system.replace(contacts=(), switches=())."
        )
    if system.quasi:
        raise ArgumentError(
            f"{where}: actuators are taken to act on the speeds of motions, and it has quasi-velocities; leave these out."
        )
    if len(system.programs) > len(driven):
        raise ArgumentError(
            f"{where}: forces on {named} alone cannot hold so many programs, {programs}; name as many actuators, or leave out "
            "programs."
        )
    if len(system.programs) < len(driven):
        raise ArgumentError(
            f"{where}: forces on {named} hold {programs} in many ways; name as many actuators as there are programs, or give "
            "more programs."
        )


def _start(hold: Hold, given: State, found: State) -> State:
    """The start of internal dynamics: *given* but for the digits by which numbers miss the programs. Raises
    :class:`SimulationError` for one that misses them by more.
    """
    array, system = hold.array, hold.array.system
    near = hold.met(array.extended(State(given.t, given.q, np.concatenate([given.x, found.x[array.n :]])), hold.order))
    near = found if near is None else near
    names = (*system.q_names, *system.v_names)
    own, there = (np.concatenate([s.q, s.x[: array.n]]) for s in (given, near))
    if np.abs(own - there).max() <= PRINTED * max(1.0, float(np.abs(own).max())):
        return near
    values = ", ".join(f"{n} = {x:.6g}" for n, x in zip(names, there + 0.0, strict=True))
    raise SimulationError(
        f"Model '{system.name}': the start misses the programs at t = {given.t:g} s, or what follows from them, and "
        f"{hold.structure.free} of its variables are free to start with. Give initial values that meet them; the nearest are "
        f"{values}."
    )


def _found(hold: Hold, driven: tuple[int, ...], states: list[State]) -> Servo:
    array, system, n = hold.array, hold.array.system, hold.array.n
    t, q = np.array([s.t for s in states]), np.array([s.q for s in states])
    v, vdot = (np.array([s.x[k * n : (k + 1) * n] for s in states]) for k in (0, 1))
    tau = np.array([array.forces(s) for s in states])
    rows, slopes = (np.array(own) for own in zip(*(array.at(s, 2) for s in states), strict=True))
    labels = array.labels(2)
    asked = [i for i, (name, times) in enumerate(labels) if not times and name not in system.v_names]
    undriven = [i for i, (name, _) in enumerate(labels) if name in system.v_names]
    changes = np.array([np.concatenate([np.ones(n), np.maximum(1.0, np.abs(s.x[: array.size(2)]))]) for s in states])
    asked_for = np.einsum("kij,kj->ki", np.abs(slopes[:, undriven]), changes).max(initial=0.0)
    jumping = jumps(hold, states)
    agreed(hold, states, float(np.abs(tau).max()), float(asked_for))
    power = np.sum(tau * v, axis=1)
    part = np.linspace(0, 1, len(t))
    work = (t[-1] - t[0]) * make_interp_spline(part, power, k=min(5, len(t) - 1)).antiderivative()(part)
    zeros = internal.poles(hold, states[0]) if hold.structure.free else np.empty(0, dtype=complex)
    names = tuple(system.v_names[k] for k in driven)
    series = dict(zip((*system.q_names, *system.v_names), np.hstack([q, v]).T, strict=True))
    series |= dict(zip((f"{name}'" for name in system.v_names), vdot.T, strict=True))
    series |= {f"{CONTROL}{name}": tau[:, k] for name, k in zip(names, driven, strict=True)}
    shown = [not results(system, o.value.symbols()) for o in system.expanded.outputs]
    if any(shown):
        values = hold.array.source.function("outputs")(t, q, v, p=hold.array.p)
        series |= {o.name: x for o, x, one in zip(system.outputs, values.T, shown, strict=True) if one}
    return Servo(
        model=system.name,
        t=t,
        series={**series, f"{CONTROL}power": power, f"{CONTROL}work": work},
        units=_units(system, names),
        actuators=names,
        q=q,
        v=v,
        vdot=vdot,
        tau=tau,
        index=hold.order - min(k for _, k, _ in array.equations) + 1,
        inversion=hold.order == 2,
        internal=hold.structure.free,
        poles=zeros,
        stability=internal.words(zeros) if hold.structure.free else "",
        residual=float(np.abs(rows[:, asked]).max()),
        left=float(np.abs(rows[:, undriven]).max(initial=0.0) / max(np.abs(tau).max(), asked_for, 1e-300)),
        jumps=jumping,
        work=float(work[-1]),
        peak_power=float(np.abs(power).max()),
    )


def _units(system: System, names: tuple[str, ...]) -> dict[str, str]:
    known = varied_units(system)
    forces = {f"{CONTROL}{n}": known[force_name(n)] for n in names if force_name(n) in known}
    return variable_units(system) | output_units(system) | forces | {f"{CONTROL}power": "W", f"{CONTROL}work": "J"}
