"""Machines as they move in runs: their states at any time, and files of glTF 2.0 with their motion."""

from __future__ import annotations

import math

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations.equations import equations_of
from kineta.equations.function import parameter_values
from kineta.errors import ArgumentError, warn
from kineta.model.system import System
from kineta.results.outcomes import FAILED, KEPT, balanced
from kineta.results.result import Result
from kineta.scene.gltf import gltf
from kineta.scene.machine import Machine
from kineta.scene.system_scene import scene
from kineta.simulation.simulate import simulate
from kineta.tasks.posture import Posture
from kineta.values import finite, whole

#: Poses in a second of a file, and in all of it at most; seconds of a motion unless others are asked for.
RATE, MOST, SECONDS = 60, 3000, 10.0


def moving_file(run: Result, case: int, speed: float) -> bytes:
    """A file of glTF 2.0 (``.glb``) of the machine of a *case* of a *run*, *speed* times as fast as it.

    Raises :class:`ArgumentError` for a speed that is not above zero, and for a run from a file, which knows no model.
    """
    speed = finite("speed", speed)
    if not speed > 0:
        raise ArgumentError(f"Run of '{run.model}': expected a speed above zero, found {speed:g}.")
    machine = machine_of(run, case)
    t = _times(float(run.t[0]), float(run.t[-1]), speed)
    return gltf(machine, np.abs(t - t[0]) / speed, list(machine.poses(t, *states(run, t, case))))


def posture_file(found: Posture) -> bytes:
    """A file of glTF 2.0 (``.glb``) of a machine that moves from a posture, for ten seconds unless it says for how many."""
    system, seconds = found.system, SECONDS if found.to is None else found.to
    if system.nv:
        run = simulate(equations_of(system), (found.t, found.t + seconds), q=found.q, v=found.v, p=found.p)
        tell_failure(run, "file")
        return moving_file(run, 0, 1.0)
    machine = Machine(scene(system), found.p, found.t, found.q, found.v)
    t = _times(found.t, found.t + seconds, 1.0)
    return gltf(machine, t - t[0], list(machine.poses(t, np.tile(found.q, (len(t), 1)), np.tile(found.v, (len(t), 1)))))


def tell_failure(run: Result, drawn: str) -> None:
    """Warn of a run that fails before its end: what has stopped it and when, and that what is *drawn* shows it up to there."""
    if run.status == FAILED:
        why = run.message.removesuffix(balanced("", run.energy_balance))
        warn(f"Model '{run.model}': {why.removesuffix(KEPT)}The {drawn} shows it up to there.")


def _times(first: float, last: float, speed: float) -> FloatArray:
    count = math.ceil(min(abs(last - first) / speed * RATE, MOST - 1)) + 1
    return np.linspace(first, last, count)


def machine_of(run: Result, case: int) -> Machine:
    """The machine of a *case* of a run, sized by its start."""
    q, v = states(run, run.t[:1], case)
    return Machine(scene(system_of(run)), parameters_of(run, case), float(run.t[0]), q[0], v[0])


def system_of(run: Result) -> System:
    """The model of a *run*. Raises :class:`ArgumentError` for a run from a file."""
    if run.system is None:
        raise ArgumentError(
            f"Run of '{run.model}': it comes from a file and knows no model to draw; simulate again, or give "
            "dataclasses.replace(run, system=system)."
        )
    return run.system


def parameters_of(run: Result, case: int) -> FloatArray:
    """The parameters (np,) of a *case* of a *run*."""
    case = whole("case", case, 0, 0 if run.cases is None else len(run.cases) - 1)
    values = {n: np.ravel(x)[case if np.size(x) > 1 else 0] for n, x in run.parameters.items()}
    return parameter_values(system_of(run), values)


def states(run: Result, t: FloatArray, case: int) -> tuple[FloatArray, FloatArray]:
    """Coordinates (k, nq) and speeds (k, nv) at times *t* (k,) in a *case*: of the solution, or between the samples."""
    nq, nv = len(run.q_names), len(run.v_names)
    case = whole("case", case, 0, 0 if run.cases is None else len(run.cases) - 1)
    if run.cases is None:
        y = run.y
        if run.sol is not None:
            return _split(np.asarray(run.sol(t)).T, nq, nv)
    else:
        y = run.y[case]
    order = np.argsort(run.t, kind="stable")
    return _split(np.column_stack([np.interp(t, run.t[order], row[order]) for row in y]), nq, nv)


def _split(rows: FloatArray, nq: int, nv: int) -> tuple[FloatArray, FloatArray]:
    return rows[:, :nq], rows[:, nq : nq + nv]
