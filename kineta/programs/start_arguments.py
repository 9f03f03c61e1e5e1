"""Arguments of runs under programs of motion: derivatives at the start, and incompatible options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations import case_arguments
from kineta.equations.equations import Equations
from kineta.equations.initial_values import initial_values
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.integration.external import IDA
from kineta.model.name_inference import speed_derivatives
from kineta.model.system import System
from kineta.programs.initialisation import StartFunctions, compile_start, initialise
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.values import numbers


def program_start(
    equations: Equations, made: BoundSystem, t: float, state: tuple[FloatArray, FloatArray, FloatArray], levels: Any
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """Consistent coordinates and speeds of a *state* (q, v, p), and the derivatives of the speeds below the highest, ((s-2)
    nv,): of the uncontrolled motion, but for the *levels* given and ``initial``, with the least change that satisfies the
    programs; and notes for the result.

    Raises :class:`ArgumentError` for incompatible options, :class:`SimulationError` for a start that violates programs.
    """
    system, (q, v, p) = equations.system, state
    if made.code.layout.order > 2 and not made.forces.none:
        raise ArgumentError(
            f"Model '{system.name}': its programs ask for derivatives of all forces; write tau as forces of the model."
        )
    if case_arguments.case_count({"q": q, "v": v, "p": p}) is not None:
        raise ArgumentError(f"Model '{system.name}': under programs one motion is run at a time; give one start.")
    start = equations.memo(StartFunctions, lambda: compile_start(run_derivation(equations, PROJECTED)))
    return initialise(system, start, t, q, v, p, _given_derivatives(system, start, levels, p))


def check_compatible(system: System, method: str) -> None:
    """Raise :class:`ArgumentError` for contacts, switches or a *method* incompatible with the programs of *system*."""
    acting = ", ".join(c.name for c in (*system.contacts, *system.switches))
    if acting:
        raise ArgumentError(
            f"Model '{system.name}': programs hold for motions without changes, and {acting} may bring some. Write programs of "
            "positions and speeds as constraints, which go with them, or leave out the ones or the others: "
            "system.replace(contacts=(), switches=())."
        )
    if method == IDA:
        raise ArgumentError(f"Model '{system.name}': IDA knows nothing of programs; choose dop853.")


def _given_derivatives(system: System, start: StartFunctions, given: Any, p: FloatArray) -> dict[str, float]:
    """Given derivatives by name."""
    names = [n for row in start.names[2:] for n in row]
    first = initial_values(system, p)
    for name in speed_derivatives(system, first):
        _check_derivative(system, name, names)
    held = {n: float(x) for n, x in first.items() if n in names}
    if given is None:
        return held
    if not isinstance(given, Mapping):
        values = numbers("levels", given)
        if values.shape != (start.order - 2, system.nv):
            raise ArgumentError(
                f"Expected levels of shape ({start.order - 2}, {system.nv}) for ({', '.join(names)}), found shape {values.shape}."
            )
        given = dict(zip(names, values.ravel().tolist(), strict=True))
    for name, value in given.items():
        _check_derivative(system, name, names)
        values = case_arguments.column(f"'{name}'", value)
        if values.ndim or not np.isfinite(values):
            raise ArgumentError(f"Expected a finite number for '{name}', found {shown(value)}.")
        held[name] = float(values)
    return held


def _check_derivative(system: System, name: str, names: Sequence[str]) -> None:
    """Raise where *name* is none of the derivatives *names* among the states."""
    if name not in names:
        what = (
            f"; its states are {', '.join(names)}"
            if names
            else ", since its programs are of the second order at most, and give these"
        )
        raise ArgumentError(
            f"Model '{system.name}' has no derivative {name} to start with{what}.{did_you_mean(name, names)}"
        )
