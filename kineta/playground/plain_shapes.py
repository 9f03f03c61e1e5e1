"""Plain arrays as they are made of numbers, of memory and of each other, and in other shapes. Names and results are NumPy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

from kineta.playground.plain_arrays import (
    FORMATS,
    array,
    asarray,
    bool_,
    float64,
    int64,
    made,
    ndarray,
    nonzero,
    transpose,
    type_of,
    type_of_all,
)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    """An array of one value."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return made([value] * prod(shape), shape, type_of(dtype) if dtype else type_of_all([value]))


def zeros(shape: Any, dtype: Any = float64) -> ndarray:
    """An array of zeros."""
    shape, kind = (shape,) if isinstance(shape, int) else tuple(shape), type_of(dtype)
    memory: Any = memoryview(bytearray((1 if kind is bool_ else 8) * prod(shape)))
    return ndarray(memory.cast(FORMATS[kind]), shape, kind)


empty = zeros


def ones(shape: Any, dtype: Any = float64) -> ndarray:
    """An array of ones."""
    return full(shape, 1, dtype)


def zeros_like(x: ndarray) -> ndarray:
    """Zeros of a shape."""
    return zeros(x.shape, x.dtype)


def eye(n: int) -> ndarray:
    """The identity."""
    return made([float(i == k) for i in range(n) for k in range(n)], (n, n), float64)


def arange(*bounds: int) -> ndarray:
    """Whole numbers in a row."""
    return array([*range(*bounds)], dtype=int64)


def geomspace(first: float, last: float, n: int) -> ndarray:
    """Numbers of equal ratios."""
    return array([first * (last / first) ** (k / max(n - 1, 1)) for k in range(n)], dtype=float64)


def frombuffer(memory: Any, dtype: Any = float64) -> ndarray:
    """An array over given memory."""
    flat: Any = memory.cast("B").cast(FORMATS[type_of(dtype)])
    return ndarray(flat, (len(flat),), type_of(dtype))


def concatenate(parts: Iterable[Any], axis: int = 0, dtype: Any = None) -> ndarray:
    """Arrays one behind the other along an axis."""
    arrays = [asarray(x) for x in parts]
    axis %= arrays[0].ndim
    values = list[Any]()
    lead = prod(arrays[0].shape[:axis])
    rows = [prod(x.shape[axis:]) for x in arrays]
    held = [x.memory.tolist() for x in arrays]
    for k in range(lead):
        for row, own in zip(rows, held, strict=True):
            values += own[k * row : (k + 1) * row]
    shape = list(arrays[0].shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    kind = float64 if any(x.dtype is float64 for x in arrays) else arrays[0].dtype
    return made(values, tuple(shape), type_of(dtype) if dtype else kind)


def vstack(parts: Iterable[Any]) -> ndarray:
    """Rows below each other."""
    return concatenate([x if x.ndim > 1 else x[None] for x in map(asarray, parts)])


def moveaxis(x: ndarray, source: int, target: int) -> ndarray:
    """An array with an axis in another place."""
    order = [k for k in range(x.ndim) if k != source % x.ndim]
    order.insert(target % x.ndim, source % x.ndim)
    return transpose(x, order)


def atleast_1d(x: Any) -> ndarray:
    """An array with an axis."""
    found = asarray(x)
    return found if found.ndim else found.reshape(1)


def atleast_2d(x: Any) -> ndarray:
    """An array with two axes."""
    found = atleast_1d(x)
    return found if found.ndim > 1 else found.reshape(1, -1)


def ravel(x: Any) -> ndarray:
    """All entries in a row."""
    return asarray(x).reshape(-1)


def reshape(x: Any, shape: Any) -> ndarray:
    """An array of another shape."""
    return asarray(x).reshape(shape)


def flatnonzero(x: Any) -> ndarray:
    """Places of the entries that are not zero."""
    return nonzero(ravel(x))[0]


def argwhere(x: Any) -> ndarray:
    """Indices of the entries that are not zero, a row for each."""
    return array([*zip(*(k.tolist() for k in nonzero(x)), strict=True)], dtype=int64)


def split(x: ndarray, ends: Sequence[int] | ndarray, axis: int = 0) -> list[ndarray]:
    """The parts of an array between these ends along an axis."""
    bounds = [0, *map(int, ends), x.shape[axis]]
    lead = (slice(None),) * (axis % x.ndim)
    return [x[(*lead, slice(a, b))] if axis else x[a:b] for a, b in pairwise(bounds)]


def delete(x: ndarray, places: Any) -> ndarray:
    """An array without the entries at these places."""
    gone = set(asarray(places).tolist())
    return array([v for k, v in enumerate(x.tolist()) if k not in gone], dtype=x.dtype)
