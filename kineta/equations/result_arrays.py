"""Results of functions: flat rows of numbers as arrays of their shapes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, shown
from kineta.expr.program import Block


def shaped(flat: FloatArray, blocks: Sequence[Block]) -> list[FloatArray]:
    """The results (..., n) of the output *blocks*, each as an array (..., *shape)."""
    lead, start, arrays = flat.shape[:-1], 0, []
    for block in blocks:
        arrays.append(flat[..., start : start + block.size].reshape((*lead, *block.shape)))
        start += block.size
    return arrays


def filled(out: Any, arrays: Sequence[FloatArray]) -> list[FloatArray]:
    """The array *out*, or the arrays of the tuple *out*, filled with the values of *arrays*.

    Raises :class:`ArgumentError` for arrays of another type or shape, and for read-only arrays.
    """
    given = [out] if len(arrays) == 1 else list(out) if isinstance(out, tuple | list) else []
    if len(given) != len(arrays):
        raise ArgumentError(f"Expected out as a tuple of {len(arrays)} arrays, found {shown(out)}.")
    for target, array in zip(given, arrays, strict=True):
        if not isinstance(target, np.ndarray):
            raise ArgumentError(f"Expected out as an array of shape {array.shape}, found {shown(target)}.")
        if (target.shape, target.dtype) != (array.shape, array.dtype):
            raise ArgumentError(
                f"Expected out as an array of float64 of shape {array.shape}, found {target.dtype} of shape {target.shape}."
            )
        if not target.flags.writeable:
            raise ArgumentError("Expected out as an array that may be written to, found one that is read-only.")
        if _overlaps_itself(target):
            raise ArgumentError(
                "Expected out as an array with a place for every entry, found one whose entries share places."
            )
    for target, array in zip(given, arrays, strict=True):
        target[...] = array
    return given


@cache
def tuple_of(quantity: str, names: tuple[str, ...]) -> Any:
    """The named tuple type of a *quantity* of several parts *names*; it is pickled by these two arguments."""

    def reduce(self: tuple[FloatArray, ...]) -> tuple[Any, ...]:
        return _parts, (quantity, names, *self)

    return type(quantity, (namedtuple(quantity, names),), {"__slots__": (), "__reduce__": reduce})


def _parts(quantity: str, names: tuple[str, ...], *arrays: FloatArray) -> Any:
    return tuple_of(quantity, names)(*arrays)


def _overlaps_itself(array: FloatArray) -> bool:
    """Whether entries of *array* may share memory."""
    reach = array.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False
