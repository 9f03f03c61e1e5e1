"""Arguments of functions, as the input blocks of their programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError
from kineta.model.system import System

FloatArray = NDArray[np.float64]

#: What is taken where an argument is not given.
DEFAULTS: Mapping[str, Any] = {"tau": 0.0, "p": None, "out": None}
#: How far the square of a quaternion's length may be from 1 and be left as it is: what dividing by the length leaves.
ROUNDING = 2.0**-49


@cache
def signature(arguments: Sequence[str]) -> Signature:
    """The signature of a function of *arguments*, ``p`` and, by name alone, ``out``."""
    given = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=DEFAULTS.get(name, Parameter.empty))
        for name in (*arguments, "p")
    ]
    return Signature([*given, Parameter("out", Parameter.KEYWORD_ONLY, default=DEFAULTS["out"])])


def given(function: object, arguments: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """What a call of *function* gives for each of its *arguments*, ``p`` and ``out``.

    Raises :class:`ArgumentError` where it gives too much, something twice or unknown, or not enough.
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
    if array.ndim == 0 or array.shape[-1] != size:
        raise ArgumentError(
            f"Expected {name} of shape ({size},) or (..., {size}) for ({', '.join(names)}), found shape {array.shape}."
        )
    return units(system, array) if name == "q" else array


def units(system: System, q: FloatArray) -> FloatArray:
    """*q* with its quaternions made units; those that are units but for rounding stay as they are."""
    found = q
    for joint, offset in system.quaternions.items():
        w, x, y, z = (q[..., offset + k] for k in range(4))
        square = w * w + x * x + y * y + z * z  # in the order of the call in machine code, to the bit
        if not square.all():
            raise no_unit(system, joint, 0.0)
        off = np.abs(square - 1) > ROUNDING
        if off.any():
            found = q.copy() if found is q else found
            found[..., offset : offset + 4] /= np.where(off, np.sqrt(square), 1.0)[..., np.newaxis]
    return found


def no_unit(system: System, joint: str, length: float) -> ArgumentError:
    """The error of a quaternion of the wrong *length*."""
    return ArgumentError(
        f"Model '{system.name}': the quaternion of '{joint}' has the length {length:g}; expected 1 "
        "(qw, qx, qy, qz = cos(a/2), e sin(a/2))."
    )


def rows(blocks: Sequence[FloatArray], names: Sequence[str]) -> tuple[tuple[int, ...], list[FloatArray]]:
    """The leading axes that *blocks* have together, and each block as rows (n, size), or (size,) where it has none."""
    try:
        lead = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
    except ValueError:
        shapes = ", ".join(f"{name} {b.shape[:-1]}" for name, b in zip(names, blocks, strict=True))
        raise ArgumentError(f"Expected leading axes that agree, found {shapes}.") from None
    return lead, [b if b.ndim == 1 else flat(np.broadcast_to(b, (*lead, b.shape[-1]))) for b in blocks]


def flat(array: FloatArray) -> FloatArray:
    """The rows of *array*, (..., size), one after the other, (n, size)."""
    return array.reshape(prod(array.shape[:-1]), array.shape[-1])  # -1 for n says nothing where there are no columns
