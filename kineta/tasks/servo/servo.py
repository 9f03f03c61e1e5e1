"""Servo-constraints: forces of a few actuators that maintain programs of motion, on which they may act indirectly alone.

A trolley moves the load of a crane through the tension of the rope alone. Programs are then differentiated, together with the
equations of motion, until these determine the forces. If they determine position and speeds too, the system is flat, and
nothing is integrated; otherwise the free part of the motion is the internal dynamics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.integrate import DenseOutput

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.consistency.consistent_start import consistent, start_violation
from kineta.equations import case_arguments
from kineta.equations.equations import Equations, given_equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, warn
from kineta.mechanics.programs.dynamics import CONTROL
from kineta.model.coercion import records
from kineta.model.dimensions import output_units, unit_of, variable_units, varied_units
from kineta.model.name_inference import forced_speed, response_symbols
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.series import Series
from kineta.runtime import run_arguments
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.motions.conditioning import Conditioning, mean_arm, motions, of_responses
from kineta.tasks.servo import zero_dynamics as internal
from kineta.tasks.servo.control_work import work_done
from kineta.tasks.servo.derivative_array import DerivativeArray, Hold, Jet, held
from kineta.tasks.servo.input_jumps import jumps
from kineta.tasks.servo.path_following import followed, integrated
from kineta.tasks.servo.solution_check import agreed
from kineta.values import whole

#: Default number of equidistant times.
SAMPLES = 201


@dataclass(frozen=True, eq=False, repr=False)
class Servo(Series):
    """The motion and the forces by which actuators hold programs.

    ``series`` has coordinates, first-order states, speeds and accelerations by name, the forces ``control.x'`` of the
    actuators, their ``control.power`` and ``control.work``, and the outputs of the model but for accelerations and multipliers.

    actuators : names of the speeds on which they act
    q, v, vdot : (k, nq), (k, nv), (k, nv), the motion, with the first-order states last in q
    tau : (k, nv), the forces on the speeds
    index : how often programs are differentiated, at most, before all rates follow: one more than before the forces do
    inversion : whether actuators influence the programs at their own order, as in :func:`~kineta.simulation.simulate.simulate`
    internal : dimension of the part of the motion that programs leave to itself, and number of first-order states; 0 where all
        follows from the programs
    poles : s of its small motions x e^(s t) about rest, with the programs as they are at the start; None if there is no rest
    stability : what these say, in words
    residual : by how much programs and constraints are missed at most
    left : the largest force that is left on a speed on which nothing acts, relative to the largest of the forces of control, and
        of those that a change of the motion by its own size, or by one, would ask for there
    jumps : when forces may jump, and with what, in words
    work, peak_power : of the forces of control [J, W]
    conditioning : how near the motion comes to a singular position, in which the forces of control lose a direction of the
        highest derivatives of the programs that they take: at the worst of the times, its ``t``
    """

    actuators: tuple[str, ...]
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    tau: FloatArray
    index: int
    inversion: bool
    internal: int
    poles: ComplexArray | None
    stability: str
    residual: float
    left: float
    jumps: tuple[str, ...]
    work: float
    peak_power: float
    conditioning: Conditioning

    @property
    def flat(self) -> bool:
        """Whether the programs determine position, speeds and forces at every time (differential flatness)."""
        return self.internal == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings in words."""
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
            f"nearest to a singular position {self.conditioning}",
            *self.jumps,
        )

    def findings(self) -> dict[str, Any]:
        """Return actuators, index, internal dynamics, work and conditioning."""
        poles = None if self.poles is None else [[s.real, s.imag] for s in self.poles.tolist()]
        return {
            "actuators": list(self.actuators),
            "index": self.index,
            "inversion": self.inversion,
            "flat": self.flat,
            "internal": self.internal,
            "poles": poles,
            "stability": self.stability,
            "residual": self.residual,
            "work": self.work,
            "peak_power": self.peak_power,
            "conditioning": self.conditioning.as_dict(),
        }


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
    q, v, p : start and parameters, as for :func:`~kineta.simulation.simulate.simulate`. In a flat system the start only
    says which of
        several positions is meant; else it has to meet the programs
    rtol, atol : tolerances of internal dynamics, where there are some; both also of the power that is integrated

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
    if case_arguments.case_count({"q": place, "v": speeds, "p": p}) is not None:
        raise ArgumentError(f"Model '{model.name}': one motion is held at a time; give one start.")
    rtol, atol, _ = run_arguments.tolerances(rtol, atol, np.inf)
    grid = np.linspace(*run_arguments.span(t), whole("samples", samples, 2, run_arguments.SAMPLE_LIMIT))
    begin = consistent(given, float(grid[0]), place, speeds, p, reach=np.inf)
    if why := start_violation(given, float(grid[0]), begin.q, begin.v, p):
        raise SimulationError(why)
    if begin.redundant:
        warn(f"Model '{model.name}': {begin.redundant}.")
    array = DerivativeArray(begin.equations, driven, p)
    hold, state = held(array, Jet(float(grid[0]), place, speeds))
    if hold.structure.free:
        state = _start(hold, Jet(float(grid[0]), place, speeds), state)
    steps: list[DenseOutput] = []
    ways = integrated(hold, state, grid, rtol, atol, steps) if hold.internal else followed(hold, state, grid)
    return _found(hold, driven, list(ways), steps, (rtol, atol))


def _driven(system: System, actuators: Iterable[str] | None) -> tuple[int, ...]:
    """Return the places of the actuated speeds."""
    names = (
        tuple(n for n, _ in system.control.actuators)
        if actuators is None
        else records(actuators, str, "names of speeds", '"q1\'"')
    )
    names = tuple(f"{n}'" if n not in system.v_names and f"{n}'" in system.v_names else n for n in names)
    names = tuple(forced_speed(system, n) for n in names)
    if not names:
        raise ArgumentError(
            f"Model '{system.name}' names no actuators; give some, as in control on {system.v_names[0]}, or "
            f'actuators=["{system.v_names[0]}"].'
        )
    return tuple(sorted({system.v_names.index(n) for n in names}))


def _fits(system: System, driven: tuple[int, ...]) -> None:
    """Raise for systems outside the scope of servo-constraints."""
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


def _start(hold: Hold, given: Jet, found: Jet) -> Jet:
    """Return the start of the internal dynamics: *given*, projected onto the programs to remove its rounding. Raises
    :class:`SimulationError` for larger residuals.
    """
    array, system = hold.array, hold.array.system
    met = hold.met(array.extended(Jet(given.t, given.q, np.concatenate([given.x, found.x[array.n :]])), hold.order))
    near = found if met is None else met[0]
    names = (*system.q_names, *system.v_names)
    own, there = (np.concatenate([s.q, s.x[: array.n]]) for s in (given, near))
    if np.abs(own - there).max() <= tolerances.PRINTED_TOLERANCE * max(1.0, float(np.abs(own).max())):
        return near
    least = tolerances.PRINTED_TOLERANCE * max(1.0, float(np.abs(own).max()))
    start, values = (
        ", ".join(f"{n} = {0.0 if abs(x) < least else x:.6g}" for n, x in zip(names, state, strict=True))
        for state in (own.tolist(), there.tolist())
    )
    raise SimulationError(
        f"Model '{system.name}': the start misses the programs at t = {given.t:g} s, or what follows from them, and "
        f"{hold.structure.free} of its variables are free to start with. Give initial values that meet them; the nearest to "
        f"{start} are {values}."
    )


def _found(
    hold: Hold, driven: tuple[int, ...], states: list[Jet], steps: list[DenseOutput], within: tuple[float, float]
) -> Servo:
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
    power, work = work_done(hold, states, steps, *within)
    zeros = internal.poles(hold, states[0]) if hold.internal else np.empty(0, dtype=complex)
    names = tuple(system.v_names[k] for k in driven)
    series = dict(zip((*system.q_names, *system.v_names), np.hstack([q, v]).T, strict=True))
    series |= dict(zip((f"{name}'" for name in system.v_names), vdot.T, strict=True))
    series |= {f"{CONTROL}{name}": tau[:, k] for name, k in zip(names, driven, strict=True)}
    shown = [not response_symbols(system, o.value.symbols()) for o in system.expanded.outputs]
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
        internal=hold.internal,
        poles=zeros,
        stability=internal.words(zeros) if hold.internal else "",
        residual=float(np.abs(rows[:, asked]).max()),
        left=float(
            np.abs(rows[:, undriven]).max(initial=0.0) / max(np.abs(tau).max(), asked_for, tolerances.LEAST_DIVISOR)
        ),
        jumps=jumping,
        work=float(work[-1]),
        peak_power=float(np.abs(power).max()),
        conditioning=_conditioning(hold, states, slopes),
    )


def _conditioning(hold: Hold, states: list[Jet], slopes: FloatArray) -> Conditioning:
    """Return the conditioning along *states*, with the Jacobians *slopes* of their equations up to order 2."""
    array, system = hold.array, hold.array.system
    labels, programs = array.labels(hold.order), [p.name for p in system.programs]
    asked = [i for i, (name, _) in enumerate(labels) if name in programs]
    found = np.array([hold.response(s, asked) for s in states])
    balanced = found / hold.rows[asked]
    balanced /= np.abs(balanced).max(axis=(0, 2))[:, None]
    taken = {labels[i]: k for k, i in enumerate(asked) if np.abs(balanced[:, :, k]).max() > tolerances.RANK_TOLERANCE}
    top = [max((times, k) for (name, times), k in taken.items() if name == program) for program in programs]
    turns = [not unit_of(system, p.value).startswith("m") for p in system.programs]
    own = [array.labels(2).index((name, 0)) for name, turn in zip(programs, turns, strict=True) if not turn]
    orders = {name: order for name, order, _ in array.equations}
    speeds = motions(system)
    turning = [k for k, (_, turn) in enumerate(speeds) if turn]
    ways = [slopes[:, i, [orders[array.labels(2)[i][0]] * array.n + k for k in turning]] for i in own]
    return of_responses(
        np.array([s.t for s in states]),
        [(name + "'" * times, turn) for name, turn, (times, _) in zip(programs, turns, top, strict=True)],
        [(CONTROL + speeds[k][0], speeds[k][1]) for k in array.driven],
        found[:, :, [k for _, k in top]],
        balanced[:, :, [k for _, k in top]],
        mean_arm(np.reshape(ways, (len(own) * len(states), len(turning))) / np.sqrt(len(states))),
    )


def _units(system: System, names: tuple[str, ...]) -> dict[str, str]:
    known = varied_units(system)
    forces = {f"{CONTROL}{n}": known[added_force(n)] for n in names if added_force(n) in known}
    return variable_units(system) | output_units(system) | forces | {f"{CONTROL}power": "W", f"{CONTROL}work": "J"}
