"""Initial states from user arguments: arrays, names, or the values of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.equations import case_arguments
from kineta.equations.argument_layout import quaternion_length_error
from kineta.equations.function import parameter_values
from kineta.errors import ArgumentError, ExpressionError, ModelError, nearest_or_listed
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm
from kineta.passes.evaluate import evaluate
from kineta.threads import memo
from kineta.values import numbers


def initial_state(system: System, q: Any = None, v: Any = None, p: Any = None) -> tuple[FloatArray, FloatArray]:
    """Coordinates (nq,) and speeds (nv,): the values of the model's ``initial``, replaced by *q* and *v* if given.

    *q*, *v*: arrays, or mappings of some names to values. With a row of values for every case, or for rows of parameters on
    which ``initial`` depends, the results are (cases, nq) and (cases, nv). Raises :class:`ArgumentError` for wrong shapes
    and names, values that are not finite, and quaternions that are not of unit length.
    """
    if q is None and v is None and p is None:
        q0, v0 = memo(system, initial_state, lambda: initial_state(system, {}, {}))
        return q0.copy(), v0.copy()
    parameters = parameter_values(system, p)
    case_arguments.case_count({"p": parameters})
    start = initial_values(system, parameters)
    for j in system.quaternions:
        if not any(n.startswith(f"{j}.q") for n in start):
            start[f"{j}.qw"] = 1.0
    q0 = _values(system, "q", system.q_names, start, q)
    v0 = _values(system, "v", system.v_names, start, v)
    return _unit_quaternions(system, q0), v0


def initial_values(system: System, parameters: FloatArray) -> dict[str, FloatArray | float]:
    """The values of ``initial``: numbers, or one number for every row of *parameters* on which they depend."""
    if parameters.ndim == 1:
        rows = [parameters.tolist()]
    elif parameters.ndim == 2:
        rows = parameters.tolist()
    else:
        raise ArgumentError(f"Expected p of shape (np,) or (cases, np), found shape {parameters.shape}.")
    fixed = {r.name: r.value for r in system.parameters if r.fixed and r.value is not None}
    found = dict[str, FloatArray | float]()
    for name, e in system.expanded.initial:
        if e.value is not None:
            found[name] = e.value
            continue
        some = rows if set(e.symbols()) & set(system.parameter_names) else rows[:1]
        known = (dict(zip(system.parameter_names, row, strict=True)) | fixed for row in some)
        try:
            values = np.array([evaluate(e.graph, [e.ref], k)[0] for k in known])
        except ExpressionError as error:
            raise ModelError(f"Model '{system.name}': initial '{name}': {error}") from None
        found[name] = values if len(some) > 1 else values[0]
    return found


def _values(
    system: System, what: str, names: Sequence[str], start: Mapping[str, FloatArray | float], given: Any
) -> FloatArray:
    if given is not None and not isinstance(given, Mapping):
        values = numbers(what, given).copy()
        if values.ndim not in (1, 2) or values.shape[-1] != len(names):
            raise ArgumentError(
                f"Expected {what} of shape ({len(names)},) or (cases, {len(names)}) for ({', '.join(names)}), "
                f"found shape {values.shape}."
            )
    else:
        columns: dict[str, Any] = {n: start.get(n, 0.0) for n in names}
        for name, value in (given or {}).items():
            if name not in columns:
                kind = "coordinate" if what == "q" else "speed"
                raise ArgumentError(f"Model '{system.name}' has no {kind} '{name}'.{nearest_or_listed(name, names)}")
            columns[name] = value if type(value) is float else case_arguments.column(f"'{name}'", value)
        several = {name: np.asarray(x) for name, x in columns.items() if not isinstance(x, float)}
        rows = {f"'{name}'": column[..., None] for name, column in several.items() if column.ndim}
        if case_arguments.case_count(rows) is None:
            values = np.array([float(column) for column in columns.values()])
        else:
            values = np.stack(np.broadcast_arrays(*columns.values()), axis=-1)
    case_arguments.check_finite(system, "the value of", names, values)
    return values


def _unit_quaternions(system: System, q: FloatArray) -> FloatArray:
    for joint, offset in system.quaternions.items():
        lengths = norm(q[..., offset : offset + 4], axis=-1, keepdims=True)
        wrong = np.abs(lengths - 1) > tolerances.WRITTEN_TOLERANCE
        if wrong.any():
            raise quaternion_length_error(system, joint, float(lengths[wrong][0]))
        q[..., offset : offset + 4] /= lengths
    return q
