"""The language of kernels: what their sources import, beside :mod:`kineta.memory`.

A kernel is a plain typed function. Called, it runs as Python: that is its meaning, it can be stepped through, and compiled code
gives the same bits; the sign of NaN alone is the machine's. Its parameters are float, int, bool, arrays, records and compiled
functions, as in :mod:`kineta.memory`. A parameter of any other type is *static*: the kernel is translated anew for each of its
values, everything that is made of static values alone is evaluated in translation, loops over a static sequence are unrolled,
and branches of a static test are chosen. Static values are numbers, words, tuples, frozen dataclasses and kernels.

Statements are assignments, ``if``, ``while``, ``for ... in range(...)``, ``break``, ``continue``, ``return`` and calls. Integers
become reals in arithmetic alone, and index an array from its start. ``x[k:]`` is a view of the same memory.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Callable
from typing import Any, TypeVar, cast

from kineta.errors import KinetaError
from kineta.memory import Integers
from kineta.threads import once

F = TypeVar("F", bound=Callable[..., Any])

fabs, copysign = math.fabs, math.copysign


class KernelError(KinetaError):
    """A kernel that is no part of the language."""


class Kernel:
    """A function of the language."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *arguments: Any) -> Any:
        """Run it as Python."""
        return self.function(*arguments)

    @once
    def hints(self) -> dict[str, Any]:
        """The types of its parameters, and that of its result as ``return``."""
        return typing.get_type_hints(self.function)

    def __repr__(self) -> str:
        return f"{self.__module__}.{self.__name__}"


def kernel(function: F) -> F:
    """*function* as a kernel."""
    return cast(F, Kernel(function))


def take(counter: Integers) -> int:
    """The next number of a *counter* that lanes and threads share: its entry, which is counted up."""
    counter[0] += 1
    return counter[0] - 1


def static_text(value: Any) -> str:
    """A static value as text that tells it from all others: 1, 1.0 and True are one key of Python, and 0.0 and -0.0. Raises
    :class:`KernelError` for one that has no such text.
    """
    if value is None or isinstance(value, bool | int | float | str | Kernel):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(static_text, value))})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (f"{f.name}={static_text(getattr(value, f.name))}" for f in dataclasses.fields(value))
        return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(fields)})"
    raise KernelError(
        f"Expected a static value of numbers, words, tuples, dataclasses and kernels, found one of type"
        f" '{type(value).__name__}'. Make it of these."
    )


def sqrt(x: float) -> float:
    """The square root; NaN of a negative number."""
    return math.sqrt(x) if x >= 0.0 else math.nan


def sin(x: float) -> float:
    """The sine, as the C library has it; NaN of an infinite angle."""
    return math.sin(x) if math.isfinite(x) else math.nan


def cos(x: float) -> float:
    """The cosine, as the C library has it; NaN of an infinite angle."""
    return math.cos(x) if math.isfinite(x) else math.nan


def pow(x: float, y: float) -> float:
    """X to the power y, as C has it: infinite beyond all numbers, NaN where it is no real number."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.inf if x > 0.0 or y % 2.0 != 1.0 else -math.inf
    except ValueError:
        return math.nan if x != 0.0 else math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf


def fma(a: float, b: float, c: float) -> float:
    """A b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    from fractions import Fraction  # needed by Python's runs alone

    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
