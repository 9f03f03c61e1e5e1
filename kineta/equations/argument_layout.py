"""Arguments of functions as input blocks of their programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature
from math import prod
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError
from kineta.model.system import System

#: Defaults of arguments.
DEFAULTS: Mapping[str, Any] = {"tau": 0.0, "p": None, "out": None}
#: Largest deviation of a squared quaternion norm from 1 that counts as rounding: a normalised quaternion is unchanged.
UNIT_ROUNDING = 8 * tolerances.EPS


@cache
def signature(arguments: Sequence[str]) -> Signature:
    """The signature of a function of *arguments*, ``p`` and, by name alone, ``out``."""
    given = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=DEFAULTS.get(name, Parameter.empty))
        for name in (*arguments, "p")
    ]
    return Signature([*given, Parameter("out", Parameter.KEYWORD_ONLY, default=DEFAULTS["out"])])


def bound_arguments(
    function: object, arguments: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of *arguments*, ``p`` and ``out`` in a call of *function*.

    Raises :class:`ArgumentError` for superfluous, repeated, unknown or missing arguments.
    """
    names = (*arguments, "p")
    wrong = next((n for n in named if n not in (*names[len(args) :], "out")), None)
    if wrong is not None or len(args) > len(names):
        twice = " twice" if wrong in names else ""
        found = f"{len(args)} arguments" if wrong is None else f"'{wrong}'{twice}"
        raise ArgumentError(f"Expected arguments as in {function!r}, found {found}.")
    values = {**DEFAULTS, **dict(zip(names, args, strict=False)), **named}
    missing = next((n for n in names if n not in values), None)
    if missing is not None:
        raise ArgumentError(f"Expected arguments as in {function!r}, found no {missing}.")
    return values


def block(system: System, name: str, array: FloatArray) -> FloatArray:
    """*array* as rows (..., size) of the input block *name*. Raises :class:`ArgumentError` for another shape."""
    if name == "t":
        return array[..., np.newaxis]
    names = system.q_names if name == "q" else system.v_names
    size = len(names)
    if array.ndim == 0 and name == "tau":
        return np.full(size, float(array))
    check_size(name, names, array.shape)
    return normalised_quaternions(system, array) if name == "q" else array


def check_size(name: str, names: Sequence[str], shape: tuple[int, ...]) -> None:
    """Raise :class:`ArgumentError` unless an argument of this *shape* has a number for each of *names* in its last axis."""
    size = len(names)
    if not shape or shape[-1] != size:
        raise ArgumentError(
            f"Expected {name} of shape ({size},) or (..., {size}) for ({', '.join(names)}), found shape {shape}."
        )


def normalised_quaternions(system: System, q: FloatArray) -> FloatArray:
    """*q* with normalised quaternions; unit quaternions, up to rounding, are unchanged."""
    found = q
    for joint, offset in system.quaternions.items():
        w, x, y, z = (q[..., offset + k] for k in range(4))
        square = w * w + x * x + y * y + z * z  # summed in the order of the machine code, for equal bits
        if not square.all():
            raise quaternion_length_error(system, joint, 0.0)
        off = np.abs(square - 1) > UNIT_ROUNDING
        if off.any():
            found = q.copy() if found is q else found
            found[..., offset : offset + 4] /= np.where(off, np.sqrt(square), 1.0)[..., np.newaxis]
    return found


def quaternion_length_error(system: System, joint: str, length: float) -> ArgumentError:
    """The error for a quaternion of the wrong *length*."""
    return ArgumentError(
        f"Model '{system.name}': the quaternion of '{joint}' has the length {length:g}; expected 1 "
        "(qw, qx, qy, qz = cos(a/2), e sin(a/2))."
    )


def leading(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common leading axes of blocks of these *shapes*. Raises :class:`ArgumentError` where they do not agree."""
    try:
        return np.broadcast_shapes(*(shape[:-1] for shape in shapes))
    except ValueError:
        found = ", ".join(f"{name} {shape[:-1]}" for name, shape in zip(names, shapes, strict=True))
        raise ArgumentError(f"Expected leading axes that agree, found {found}.") from None


def rows(blocks: Sequence[FloatArray], names: Sequence[str]) -> tuple[tuple[int, ...], list[FloatArray]]:
    """The common leading axes of *blocks*, and each block as rows (n, size), or (size,) without leading axes."""
    lead = leading(names, [b.shape for b in blocks])
    return lead, [b if b.ndim == 1 else flat_rows(np.broadcast_to(b, (*lead, b.shape[-1]))) for b in blocks]


def flat_rows(array: FloatArray) -> FloatArray:
    """The rows (n, size) of *array* (..., size)."""
    return array.reshape(prod(array.shape[:-1]), array.shape[-1])  # -1 for n is ambiguous without columns
