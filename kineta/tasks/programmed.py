"""Runs under programs of motion: what is given for their start, what does not go with them, and what controls spend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.formalism.programmed import CONTROL
from kineta.model.infer import derivatives
from kineta.model.system import System
from kineta.numerics.foreign import IDA
from kineta.tasks import arguments
from kineta.tasks.beginning import Start, compiled
from kineta.tasks.begun import begun
from kineta.tasks.code import Bound
from kineta.tasks.keeping import PROJECTED, derivation
from kineta.tasks.state import initial_values
from kineta.values import numbers

FloatArray = NDArray[np.float64]

#: The work of controls, as a series of a run.
CONTROL_WORK = f"{CONTROL}work"


def started(
    equations: Equations,
    made: Bound,
    t: float,
    state: tuple[FloatArray, FloatArray, FloatArray],
    levels: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """The coordinates and speeds of a *state* (q, v, p), nearer to the programs of a motion where numbers of few digits miss
    them, and the derivatives of the speeds below the highest, ((s-2) nv,): those of a motion without control, but for the
    *levels* given and what ``initial`` says, moved as little as programs ask for; and what is to be said of it.

    Raises :class:`ArgumentError` for what does not go with programs, :class:`SimulationError` for a start that misses them.
    """
    system, (q, v, p) = equations.system, state
    if not system.programs:
        if levels is not None:
            raise ArgumentError(f"Model '{system.name}' has no programs of motion; leave out levels.")
        return q, v, np.empty((*v.shape[:-1], 0)), ()
    if made.code.layout.order > 2 and not made.forces.none:
        raise ArgumentError(
            f"Model '{system.name}': its programs ask for derivatives of all forces; write tau as forces of the model."
        )
    if arguments.cases({"q": q, "v": v, "p": p}) is not None:
        raise ArgumentError(f"Model '{system.name}': under programs one motion is run at a time; give one start.")
    start = equations.kept(Start, lambda: compiled(derivation(equations, PROJECTED)))
    return begun(system, start, t, q, v, p, _given(system, start, levels, p))


def spent(t: FloatArray, outputs: Mapping[str, FloatArray]) -> Iterator[str]:
    """What controls spend along a run, in words."""
    if CONTROL_WORK in outputs and len(t):
        power = outputs[f"{CONTROL}power"]
        k = int(np.abs(power).argmax())
        work = outputs[CONTROL_WORK][-1]
        yield f"control: work {work:.4g} J, peak power {power[k] + 0.0:.4g} W at t = {t[k]:.4g} s"


def fits(system: System, method: str) -> None:
    """Raise :class:`ArgumentError` for what does not go with the programs of *system*, where it has some."""
    acting = ", ".join(c.name for c in (*system.contacts, *system.switches))
    if not system.programs:
        return
    if acting:
        raise ArgumentError(
            f"Model '{system.name}': programs hold for motions without changes, and {acting} may bring some; leave out the ones "
            "or the others: system.replace(contacts=(), switches=())."
        )
    if method == IDA:
        raise ArgumentError(f"Model '{system.name}': IDA knows nothing of programs; choose dop853.")


def _given(system: System, start: Start, given: Any, p: FloatArray) -> dict[str, float]:
    """The derivatives that are given, by name."""
    names = [n for row in start.names[2:] for n in row]
    first = initial_values(system, p)
    for name in derivatives(system, first):
        _known(system, name, names)
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
        _known(system, name, names)
        values = arguments.column(f"'{name}'", value)
        if values.ndim or not np.isfinite(values):
            raise ArgumentError(f"Expected a finite number for '{name}', found {shown(value)}.")
        held[name] = float(values)
    return held


def _known(system: System, name: str, names: Sequence[str]) -> None:
    """Raise where *name* is none of the derivatives that are states, *names*."""
    if name not in names:
        what = (
            f"; its states are {', '.join(names)}"
            if names
            else ", since its programs are of the second order at most, and give these"
        )
        raise ArgumentError(
            f"Model '{system.name}' has no derivative {name} to start with{what}.{did_you_mean(name, names)}"
        )
