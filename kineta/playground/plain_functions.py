"""Functions of plain arrays: of their entries, of all of them, and the operators of arrays. Names and results are NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kineta.playground.plain_arrays import (
    array,
    asarray,
    bool_,
    broadcast_shapes,
    float64,
    int64,
    largest,
    least,
    made,
    ndarray,
    reduced,
    spread,
)


def _entrywise(by: Callable[..., Any], kind: Any = None) -> Callable[..., Any]:
    """The function *by* of numbers, of arrays; with results of this *kind*, or that of its arguments."""

    def function(*given: Any) -> Any:
        if not any(isinstance(x, ndarray | list | tuple) for x in given):
            return by(*given)
        arrays = [asarray(x) for x in given]
        shape = broadcast_shapes(*(x.shape for x in arrays))
        values = [*map(by, *(spread(x, shape) for x in arrays))]
        if not shape:
            return values[0]
        return made(values, shape, kind or (float64 if any(x.dtype is float64 for x in arrays) else int64))

    return function


def _guarded(by: Callable[..., float]) -> Callable[..., Any]:
    """The function *by* of real numbers, of arrays; NaN where it has no value."""

    def function(*given: Any) -> float:
        try:
            return by(*map(float, given))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return _entrywise(function, float64)


def _quotient(a: Any, b: Any) -> float:
    try:
        return float(a / b)
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0)) if x == x else x


add = _entrywise(lambda a, b: a + b)
subtract = _entrywise(lambda a, b: a - b)
multiply = _entrywise(lambda a, b: a * b)
divide = _entrywise(_quotient, float64)
negative = _entrywise(lambda a: -a)
absolute = abs = _entrywise(lambda a: a if a != a else (a if a >= 0 else -a))
power = _guarded(math.pow)
maximum = _entrywise(lambda a, b: largest((a, b)))
minimum = _entrywise(lambda a, b: least((a, b)))
isfinite = _entrywise(math.isfinite, bool_)
isinf = _entrywise(math.isinf, bool_)
isnan = _entrywise(math.isnan, bool_)
where = _entrywise(lambda c, a, b: a if c else b)
sign = _entrywise(_sign, float64)
copysign = _entrywise(math.copysign, float64)
rint = _entrywise(lambda x: float(round(x)), float64)
logical_and = _entrywise(lambda a, b: bool(a and b), bool_)
logical_or = _entrywise(lambda a, b: bool(a or b), bool_)
ELEMENTARY: dict[str, Callable[..., Any]] = {
    **{
        n: _guarded(getattr(math, n))
        for n in ("sqrt", "sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "hypot")
    },
    **{f"arc{n}": _guarded(getattr(math, f"a{n}")) for n in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}
_COMPARED = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
_OPERATORS = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide, "pow": power}
_OPERATORS |= {"and": logical_and, "or": logical_or, "mod": _entrywise(lambda a, b: a % b)}
_OPERATORS["floordiv"] = _entrywise(lambda a, b: a // b)


def _give_operators() -> None:
    def right(by: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: by(other, self)

    def binary(by: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: by(self, other)

    def within(by: Callable[..., Any]) -> Callable[..., Any]:
        def function(self: ndarray, other: Any) -> ndarray:
            self[...] = by(self, other)
            return self

        return function

    for name, by in _OPERATORS.items():
        setattr(ndarray, f"__{name}__", binary(by))
        setattr(ndarray, f"__r{name}__", right(by))
        setattr(ndarray, f"__i{name}__", within(by))
    for name, compare in _COMPARED.items():
        setattr(ndarray, f"__{name}__", binary(_entrywise(compare, bool_)))
    for name, of_one in (("neg", negative), ("abs", absolute)):
        setattr(ndarray, f"__{name}__", of_one)


_give_operators()


def lengths(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Euclidean lengths along an axis."""
    return reduced(asarray(x), lambda values: math.hypot(*values), axis, keepdims, None, float64)


def cumsum(x: Any) -> ndarray:
    """Sums of the entries so far."""
    found, total = list[Any](), 0
    for value in asarray(x).tolist():
        total += value
        found.append(total)
    return array(found)


def isin(x: Any, among: Any) -> ndarray:
    """Whether entries are among others."""
    known, x = {*asarray(list(among)).tolist()}, asarray(list(x))
    return made([v in known for v in x.memory.tolist()], x.shape, bool_)


def nan_to_num(x: Any) -> Any:
    """Zero for what is no number."""
    return where(isnan(x), 0.0, x)


def ptp(x: Any, axis: Any = None) -> Any:
    """The largest less the smallest entry along an axis."""
    return asarray(x).max(axis=axis) - asarray(x).min(axis=axis)


def unique(x: Any, axis: int | None = None) -> ndarray:
    """The different entries, or rows, in order."""
    x = asarray(x)
    if axis is not None:
        return array(sorted({tuple(row) for row in x.tolist()}), dtype=x.dtype)
    return array(sorted(set(x.memory.tolist())), dtype=x.dtype)


def array_equal(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and entries."""
    a, b = asarray(a), asarray(b)
    return bool(a.shape == b.shape and a.memory.tolist() == b.memory.tolist())
