"""Arrays in plain Python: the part of NumPy that the export of a model to WebAssembly needs, for browsers without it.

In a browser NumPy is three megabytes to load, and half a second to import. On that way arrays are short: parameters, states,
the memory of a run, and the constraints of a linkage. Names and results are NumPy's. Arrays are contiguous, and slices along the
first axis are views, as the memory of records needs them. Their arithmetic is in :mod:`kineta.playground.plain_functions`.
"""

from __future__ import annotations

import math
from array import array as storage
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof, c_char
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any

from kineta.numerics import plain_matrices

Shape = tuple[int, ...]


class float64(float):
    """Real numbers."""

    kind = "f"


class int64(int):
    """Whole numbers."""

    kind = "i"


class bool_(int):
    """Truth values."""

    kind = "b"


#: Formats of memory by type, and the type of Python's numbers in it.
FORMATS: dict[Any, str] = {float64: "d", int64: "q", bool_: "?"}
_TYPES: dict[Any, Any] = {float: float64, int: int64, bool: bool_, "<f8": float64, "<i8": int64}


def type_of(dtype: Any) -> Any:
    """The class of numbers of a type in any spelling."""
    found = getattr(dtype, "type", dtype)
    return _TYPES.get(found, found)


class dtype:
    """A type of numbers, in any order of bytes: memory here is little-endian."""

    def __init__(self, kind: Any) -> None:
        self.type = type_of(kind)

    @property
    def name(self) -> str:
        return str(self.type.__name__)

    def __eq__(self, other: object) -> bool:
        return self.type is type_of(other)

    def __hash__(self) -> int:
        return hash(self.type)

    def newbyteorder(self, order: str) -> dtype:
        """The type itself."""
        return self


class ndarray:
    """An array over the memory *flat*, row by row."""

    __slots__ = ("dtype", "memory", "shape")
    __array_priority__ = 1

    def __init__(self, memory: Any, shape: Shape, kind: Any) -> None:
        self.memory, self.shape, self.dtype = memory, shape, kind

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    # -- what it is -----------------------------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(prod(self.shape))

    @property
    def data(self) -> Any:
        return self.memory

    @property
    def ctypes(self) -> Any:
        return SimpleNamespace(data=addressof(c_char.from_buffer(self.memory.cast("B"))) if self.size else 0)

    @property
    def flags(self) -> Any:
        return SimpleNamespace(c_contiguous=True, writeable=True)

    @property
    def flat(self) -> ndarray:
        return ndarray(self.memory, (self.size,), self.dtype)

    @property
    def T(self) -> ndarray:
        return transpose(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self) -> str:
        return f"array({self.tolist()})"

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    __index__ = __int__

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec)

    # -- as other things ---------------------------------------------------------------------------------------------------

    def item(self) -> Any:
        (x,) = self.memory.tolist()
        return x

    def tolist(self) -> Any:
        values: Any = self.memory.tolist()
        if not self.shape:
            return values[0]
        for n in reversed(self.shape[1:]):
            values = [values[k : k + n] for k in range(0, len(values), n)] if n else [[] for _ in range(self.shape[0])]
        return values

    def tobytes(self) -> bytes:
        return bytes(self.memory.tobytes())

    def copy(self) -> ndarray:
        return made(self.memory.tolist(), self.shape, self.dtype)

    def astype(self, kind: Any, copy: bool = True) -> ndarray:
        return made(self.memory.tolist(), self.shape, type_of(kind))

    def view(self, kind: Any) -> ndarray:
        kind = type_of(kind)
        return ndarray(self.memory.cast("B").cast(FORMATS[kind]), self.shape, kind)

    def reshape(self, *shape: Any) -> ndarray:
        wanted = [*(shape[0] if isinstance(shape[0], tuple | list) else shape)]
        if -1 in wanted:
            rest = prod(n for n in wanted if n >= 0)
            wanted[wanted.index(-1)] = self.size // rest if rest else 0
        return ndarray(self.memory, tuple(wanted), self.dtype)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def diagonal(self) -> ndarray:
        return array([self[i, i] for i in range(min(self.shape))], dtype=self.dtype)

    def swapaxes(self, a: int, b: int) -> ndarray:
        return swapaxes(self, a, b)

    # -- parts -------------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(self.shape[0])
            n = prod(self.shape[1:])
            rows = max(last - first, 0)
            return ndarray(self.memory[first * n : (first + rows) * n], (rows, *self.shape[1:]), self.dtype)
        if type(index) is int:
            k, n = _within(index, self.shape[0]), prod(self.shape[1:])
            if len(self.shape) == 1:
                return self.memory[k]
            return ndarray(self.memory[k * n : (k + 1) * n], self.shape[1:], self.dtype)
        places, shape = _places(self.shape, index)
        if not shape and not any(isinstance(x, ndarray) for x in (index if isinstance(index, tuple) else (index,))):
            return self.memory[places[0]]
        return made([self.memory[k] for k in places], shape, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        places, shape = _places(self.shape, index)
        values = spread(asarray(value), shape)
        for k, x in zip(places, values, strict=True):
            self.memory[k] = float(x) if self.memory.format == "d" else x

    def any(self, axis: Any = None) -> Any:
        return reduced(self, any, axis, False, None, bool_)

    def all(self, axis: Any = None) -> Any:
        return reduced(self, all, axis, False, None, bool_)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        return reduced(self, math.fsum if self.dtype is float64 else sum, axis, keepdims, None)

    def max(self, axis: Any = None, initial: Any = None, keepdims: bool = False) -> Any:
        return reduced(self, largest, axis, keepdims, initial)

    def min(self, axis: Any = None, initial: Any = None, keepdims: bool = False) -> Any:
        return reduced(self, least, axis, keepdims, initial)

    def argmax(self) -> int:
        values = self.memory.tolist()
        return int(values.index(largest(values)))

    def argmin(self) -> int:
        values = self.memory.tolist()
        return int(values.index(least(values)))

    # -- arithmetic --------------------------------------------------------------------------------------------------------

    def __invert__(self) -> Any:
        return made([not x for x in self.memory.tolist()], self.shape, bool_)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(asarray(other), self)


def largest(values: Sequence[Any]) -> Any:
    """The largest of numbers; NaN where one is."""
    return next((x for x in values if x != x), None) or max(values)


def least(values: Sequence[Any]) -> Any:
    """The least of numbers; NaN where one is."""
    return next((x for x in values if x != x), None) or min(values)


def _within(k: int, n: int) -> int:
    if not -n <= k < n:
        raise IndexError(f"index {k} of an axis of {n}")
    return k % n if n else 0


def made(values: Sequence[Any], shape: Shape, kind: Any) -> ndarray:
    """An array of these entries, in memory of its own."""
    if kind is bool_:
        memory: Any = memoryview(bytearray(map(bool, values))).cast("?")
    elif kind is int64:
        memory = memoryview(storage("q", [int(x) for x in values]))
    else:
        memory = memoryview(storage("d", values))
    return ndarray(memory, shape, kind)


def _places(shape: Shape, index: Any) -> tuple[list[int], Shape]:
    """The places of the entries that an index asks for, and the shape of the result."""
    given = [*index] if isinstance(index, tuple) else [index]
    given = [asarray(x) if isinstance(x, list | tuple | range) else x for x in given]
    own = sum(_axes(x) for x in given)
    if not any(x is Ellipsis for x in given):
        given.append(Ellipsis)
    at = next(k for k, x in enumerate(given) if x is Ellipsis)
    given[at : at + 1] = [slice(None)] * (len(shape) - own)
    axes, taken = list[tuple[str, Any]](), 0
    for x in given:
        if x is None:
            axes.append(("new", None))
            continue
        if isinstance(x, ndarray) and x.dtype is bool_:
            for part in nonzero(x):
                axes.append(("array", (part, prod(shape[taken + 1 :]), shape[taken])))
                taken += 1
            continue
        n, stride = shape[taken], prod(shape[taken + 1 :])
        taken += 1
        if isinstance(x, slice):
            axes.append(("range", [k * stride for k in range(*x.indices(n))]))
        elif isinstance(x, ndarray) and x.shape:
            axes.append(("array", (x, stride, n)))
        else:
            axes.append(("one", _within(int(x), n) * stride))
    arrays = [x for kind, x in axes if kind == "array"]
    common = broadcast_shapes(*(x.shape for x, _, _ in arrays)) if arrays else ()
    offsets = [0] * prod(common)
    for x, stride, n in arrays:
        offsets = [o + _within(int(k), n) * stride for o, k in zip(offsets, spread(x, common), strict=True)]
    places, found, put = [0], list[int](), False
    for kind, x in axes:
        if kind == "new":
            found.append(1)
        elif kind == "one":
            places = [p + x for p in places]
        elif kind == "range":
            places = [p + k for p in places for k in x]
            found.append(len(x))
        elif not put:
            places = [p + k for p in places for k in offsets]
            found += common
            put = True
    return places, tuple(found)


def _axes(x: Any) -> int:
    if x is None or x is Ellipsis:
        return 0
    return x.ndim if isinstance(x, ndarray) and x.dtype is bool_ else 1


def spread(x: ndarray, shape: Shape) -> list[Any]:
    """The entries of an array, broadcast to a shape."""
    values: list[Any] = x.memory.tolist()
    if x.shape == shape:
        return list(values)
    if len(values) == 1:
        return values * prod(shape)
    own = (1,) * (len(shape) - x.ndim) + x.shape
    places, stride = [0], prod(own)
    for n, k in zip(shape, own, strict=True):
        stride //= k or 1
        places = [p + i * stride * (k != 1) for p in places for i in range(n)]
    return [values[p] for p in places]


def reduced(x: ndarray, by: Callable[[Any], Any], axis: Any, keep: bool, initial: Any, kind: Any = None) -> Any:
    """The reduction of the entries along some axes by a function, with an initial one."""
    kind = kind or x.dtype
    over = range(x.ndim) if axis is None else [k % x.ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
    rest = [k for k in range(x.ndim) if k not in over]
    moved = transpose(x, (*rest, *over)).memory.tolist()
    n = prod(x.shape[k] for k in over)
    start = [] if initial is None else [initial]
    values = [by([*moved[k * n : (k + 1) * n], *start]) for k in range(prod(x.shape[k] for k in rest))]
    shape = tuple((1 if k in over else m) for k, m in enumerate(x.shape) if keep or k not in over)
    return values[0] if not shape else made(values, shape, kind)


# -- arrays ----------------------------------------------------------------------------------------------------------------


def array(values: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    """An array of nested rows of numbers."""
    if isinstance(values, ndarray):
        return values.astype(dtype or values.dtype)
    shape, flat = _flattened(values)
    kind = type_of(dtype) if dtype is not None else type_of_all(flat)
    return made(flat, shape, kind)


def _flattened(values: Any) -> tuple[Shape, list[Any]]:
    if isinstance(values, ndarray):
        return values.shape, values.memory.tolist()
    if not hasattr(values, "__iter__") or isinstance(values, str):
        return (), [values]
    rows = [_flattened(x) for x in values]
    if len({shape for shape, _ in rows}) > 1:
        raise ValueError("rows of several shapes")
    return (len(rows), *(rows[0][0] if rows else ())), [x for _, row in rows for x in row]


def type_of_all(values: Sequence[Any]) -> Any:
    """The class of numbers that holds all *values*."""
    if values and all(isinstance(x, bool) for x in values):
        return bool_
    if values and all(isinstance(x, int) for x in values):
        return int64
    if not all(isinstance(x, float | int) for x in values):
        raise TypeError("entries that are no numbers")
    return float64


def asarray(values: Any, dtype: Any = None) -> ndarray:
    """The array itself, or one of nested rows."""
    if isinstance(values, ndarray) and (dtype is None or values.dtype is type_of(dtype)):
        return values
    return array(values, dtype)


ascontiguousarray = asarray


def transpose(x: ndarray, axes: Sequence[int] | None = None) -> ndarray:
    """An array with its axes in another order."""
    order = [*reversed(range(x.ndim))] if axes is None else [*axes]
    if order == [*range(x.ndim)]:
        return x
    strides = [prod(x.shape[k + 1 :]) for k in range(x.ndim)]
    places = [0]
    for k in order:
        places = [p + i * strides[k] for p in places for i in range(x.shape[k])]
    values = x.memory.tolist()
    return made([values[p] for p in places], tuple(x.shape[k] for k in order), x.dtype)


def swapaxes(x: ndarray, a: int, b: int) -> ndarray:
    """An array with two axes exchanged."""
    order = [*range(x.ndim)]
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The common shape."""
    n = max(map(len, shapes), default=0)
    padded = [(1,) * (n - len(s)) + tuple(s) for s in shapes]
    found = tuple(next((k for k in sizes if k != 1), 1) for sizes in zip(*padded, strict=True))
    if any(k not in (1, m) for own in padded for k, m in zip(own, found, strict=True)):
        raise ValueError(f"shapes {shapes} that do not fit")
    return found


def broadcast_to(x: Any, shape: Any) -> ndarray:
    """An array of a larger shape."""
    x, shape = asarray(x), (shape,) if isinstance(shape, int) else tuple(shape)
    return made(spread(x, shape), shape, x.dtype)


def nonzero(x: Any) -> tuple[ndarray, ...]:
    """Indices of the entries that are not zero, by axes."""
    x = asarray(x)
    held = [k for k, value in zip(product(*map(range, x.shape)), x.memory.tolist(), strict=True) if value]
    return tuple(array([k[axis] for k in held], dtype=int64) for axis in range(x.ndim))


def matmul(a: ndarray, b: Any) -> Any:
    """The matrix product."""
    b = asarray(b)
    x, y = a if a.ndim > 1 else a[None], b if b.ndim > 1 else b.reshape(-1, 1)
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    n, k, m = x.shape[-2], x.shape[-1], y.shape[-1]
    left, right = broadcast_to(x, (*lead, n, k)).memory.tolist(), broadcast_to(y, (*lead, k, m)).memory.tolist()
    values = list[float]()
    for i in range(prod(lead)):
        columns = [right[i * k * m + j : (i + 1) * k * m : m] for j in range(m)] if k else [[]] * m
        for r in range(n):
            row = left[(i * n + r) * k : (i * n + r + 1) * k]
            values += [plain_matrices.dot(row, c) for c in columns]
    shape = (*lead, *((n,) if a.ndim > 1 else ()), *((m,) if b.ndim > 1 else ()))
    return made(values, shape, float64) if shape else values[0]
