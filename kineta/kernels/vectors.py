"""Vectors: copies, multiples and largest sizes."""

from __future__ import annotations

from kineta.kernels.language import fabs, kernel, sqrt
from kineta.memory import Integers, Reals


@kernel
def copy(source: Reals, target: Reals, n: int) -> None:
    """Copy n numbers."""
    for i in range(n):
        target[i] = source[i]


@kernel
def take_multiple(y: Reals, a: float, x: Reals, n: int) -> None:
    """Take a times n numbers of x from those of y, which is no part of x; machine code does so with several at once."""
    for i in range(n):
        y[i] -= a * x[i]


@kernel
def maximum(a: float, b: float) -> float:
    """The larger of two numbers; NaN if either is."""
    return a if a > b or a != a else b


@kernel
def largest(x: Reals, n: int) -> float:
    """The largest size of n numbers; NaN if one is."""
    found = 0.0
    for i in range(n):
        found = maximum(found, fabs(x[i]))
    return found


@kernel
def largest_change(x: Reals, y: Reals, n: int) -> float:
    """The largest difference between n numbers; NaN if one is."""
    found = 0.0
    for i in range(n):
        found = maximum(found, fabs(x[i] - y[i]))
    return found


@kernel
def normalise(q: Reals) -> None:
    """Make a quaternion one of unit length."""
    square = 0.0
    for j in range(4):
        square += q[j] * q[j]
    length = sqrt(square)
    for j in range(4):
        q[j] = q[j] / length


@kernel
def number_of(marks: Integers, n: int) -> int:
    """How many of n marks are set."""
    found = 0
    for k in range(n):
        found += marks[k]
    return found
