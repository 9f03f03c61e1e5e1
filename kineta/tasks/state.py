"""States from what users give: arrays, names, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, did_you_mean
from kineta.function import numbers, parameter_values
from kineta.inputs import no_unit
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.tasks.arguments import number

FloatArray = NDArray[np.float64]

#: How far a quaternion may be from unit length before it is taken for a mistake.
UNIT = 1e-6


def initial_state(system: System, q: Any = None, v: Any = None, p: Any = None) -> tuple[FloatArray, FloatArray]:
    """Coordinates (nq,) and speeds (nv,): the values of the model's ``initial``, replaced by *q* and *v* where given.

    *q*, *v*: arrays, or mappings of some names to values. Raises :class:`ArgumentError` for wrong shapes and names, values that
    are not finite, and quaternions that are not of unit length.
    """
    parameters = parameter_values(system, p)
    if parameters.ndim != 1:
        raise ArgumentError(f"Expected one set of parameters, found p of shape {parameters.shape}.")
    known = dict(zip(system.parameter_names, parameters.tolist(), strict=True))
    known |= {r.name: r.value for r in system.parameters if r.fixed and r.value is not None}
    start = {n: evaluate(e.graph, [e.ref], known)[0] for n, e in system.expanded.initial}
    rest = {f"{j}.qw": 1.0 for j in system.joints if not any(n.startswith(f"{j}.q") for n in start)}
    start = rest | start
    q0 = _values(system, "q", system.q_names, start, q)
    v0 = _values(system, "v", system.v_names, start, v)
    return _unit_quaternions(system, q0), v0


def _values(system: System, what: str, names: Sequence[str], start: Mapping[str, float], given: Any) -> FloatArray:
    values = np.array([start.get(n, 0.0) for n in names])
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                kind = "coordinate" if what == "q" else "speed"
                raise ArgumentError(f"Model '{system.name}' has no {kind} '{name}'.{did_you_mean(name, names)}")
            values[names.index(name)] = number(f"'{name}'", value)
    elif given is not None:
        values = numbers(what, given).copy()
        if values.shape != (len(names),):
            raise ArgumentError(
                f"Expected {what} of shape ({len(names)},) for ({', '.join(names)}), found shape {values.shape}."
            )
    for name, value in zip(names, values, strict=True):
        if not np.isfinite(value):
            raise ArgumentError(f"Model '{system.name}': the value of '{name}' is {value}; expected a finite number.")
    return values


def _unit_quaternions(system: System, q: FloatArray) -> FloatArray:
    for joint, offset in system.quaternions.items():
        length = float(np.linalg.norm(q[offset : offset + 4]))
        if abs(length - 1) > UNIT:
            raise no_unit(system, joint, length)
        q[offset : offset + 4] /= length
    return q
