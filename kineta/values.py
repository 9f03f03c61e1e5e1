"""Checks of plain values from Python: words, truth values, numbers and arrays of numbers.

Each function takes a value and its name for errors, and raises :class:`~kineta.errors.ArgumentError` for a value of another
kind.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any

from kineta.errors import ArgumentError, shown

if TYPE_CHECKING:
    from kineta.arrays import FloatArray


#: Names of refused entry types of NumPy arrays, by the kind of their type.
_KINDS = {"b": "truth values", "c": "complex ones", "M": "dates", "m": "durations"}


def word(value: object, what: str) -> str:
    """*value*, checked to be text."""
    if not isinstance(value, str):
        raise ArgumentError(f"Expected {what}, found {shown(value)}.")
    return value


def flag(name: str, value: object) -> bool:
    """*value*, checked to be a truth value of Python or NumPy."""
    if isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__.startswith("bool")):
        return bool(value)
    raise ArgumentError(f"Expected True or False for {name}, found {shown(value)}.")


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """*value*, checked to be an integer within bounds."""
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except Exception:  # whatever the object raises
        found = None
    if found is None or found < least or (most is not None and found > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ArgumentError(f"Expected a whole number {bounds} for {name}, found {shown(value)}.")
    return found


def number(name: str, value: Any) -> float:
    """*value* as a float."""
    if type(value) is float or (type(value) is int and abs(value) < 2**1000):
        return float(value)
    try:
        found = numbers(name, value)
    except ArgumentError:
        found = None
    if found is None or found.ndim:
        raise ArgumentError(f"Expected a number for {name}, found {shown(value)}.")
    return float(found)


def finite(name: str, value: Any) -> float:
    """*value* as a finite float."""
    found = number(name, value)
    if not math.isfinite(found):
        raise ArgumentError(f"Expected a finite number for {name}, found {found:g}.")
    return found


def numbers(name: str, value: Any) -> FloatArray:
    """*value* as an array of real numbers of any shape. Other objects are refused, even if NumPy would convert them."""
    import numpy as np

    if type(value) is float:
        return np.array(value)
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    if isinstance(value, bytearray | memoryview) or (
        isinstance(value, list | tuple) and any(isinstance(x, bool) or _masked(x) for x in value)
    ):
        raise ArgumentError(f"Expected numbers for {name}, found {shown(value)}.")
    try:
        array = np.asarray(value)
        kind = "masked ones" if _masked(value) else _KINDS.get(array.dtype.kind)
    except ValueError:
        raise ArgumentError(f"Expected rows of the same length for {name}, found {shown(value)}.") from None
    except Exception:  # whatever the object raises
        raise ArgumentError(f"Expected numbers for {name}, found {shown(value)}.") from None
    if kind is not None:
        raise ArgumentError(f"Expected real numbers for {name}, found {kind}.")
    try:
        if array.dtype.kind == "O":
            return np.array([_float(x) for x in array.flat]).reshape(array.shape)
        if array.dtype == np.float64:
            return array
        if array.dtype.kind in "fiu":
            with np.errstate(over="ignore"):
                return array.astype(np.float64, copy=False)
    except OverflowError:
        raise ArgumentError(f"Expected numbers that a float can hold for {name}, found {shown(value)}.") from None
    except Exception:  # whatever an entry raises
        pass
    raise ArgumentError(f"Expected numbers for {name}, found {shown(value)}.")


def check_rising(what: str, values: FloatArray) -> None:
    """Raise :class:`ArgumentError` for *values* (k,), called *what*, that are not finite or not increasing."""
    import numpy as np

    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ArgumentError(
            f"Expected finite {what}, found {values[wrong[0]]:g} as number {wrong[0] + 1} of {len(values)}."
        )
    falls = np.flatnonzero(np.diff(values) <= 0)
    if len(falls):
        k = int(falls[0])
        raise ArgumentError(
            f"Expected {what} in rising order, found {values[k + 1]:.9g} after {values[k]:.9g} (number {k + 2} of {len(values)})."
        )


def _masked(value: Any) -> bool:
    """Whether *value* is a masked number, or an array with one. Without the module ``numpy.ma`` there is none."""
    found = sys.modules.get("numpy.ma")
    return found is not None and isinstance(value, found.MaskedArray) and bool(found.is_masked(value))


def _float(entry: Any) -> float:
    """*entry* as a float, if it is a number: of Python, a fraction, or an expression without symbols."""
    if type(entry).__name__ in ("bool", "bool_", "timedelta64") or not hasattr(type(entry), "__float__"):
        raise TypeError
    return float(entry)
