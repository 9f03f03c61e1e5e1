"""Zeros of functions of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable

#: Parts of a step at which an event may have left a zero at the start of the run.
AWAY = (1e-3, 1e-2, 1e-1)
#: How many times larger than at both ends of a step a value is at a pole.
POLE = 100.0


def root(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, tolerance: float) -> float:
    """Where *f* has passed a zero between *a* and *b*, its values there *fa* and *fb* having opposite signs.

    Chandrupatla's method [Advances in Engineering Software 28 (1997) 145]: the inverse parabola through the last three
    points where it is monotone between them, else the middle. Of the last bracket, no wider than *tolerance* or the spacing
    of numbers, it is the end where f is zero or has the sign of *fb*. *f* is never called at *a* or *b*.
    """
    c, fc, s, above = b, fb, 0.5, fb > 0
    while True:
        x = a + s * (b - a)
        if x in (a, b):
            return a if fa == 0 or (fa > 0) == above else b
        fx = f(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        margin = tolerance / abs(b - a)
        if fa == 0 or margin >= 1:
            return a if fa == 0 or (fa > 0) == above else b
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        s = 0.5
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            s = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        s = min(max(s, margin / 2), 1 - margin / 2)


def reached(f: Callable[[float], float], a: float, b: float, fa: float, tolerance: float) -> float:
    """Where *f*, which is *fa* at *a* and zero at *b*, is no longer of the sign of *fa*: it may be zero long before *b*."""
    while abs(b - a) > tolerance and (x := a + (b - a) / 2) not in (a, b):
        a, b = (x, b) if f(x) * fa > 0 else (a, x)
    return b


def inside(f: Callable[[float], float], a: float, b: float, tolerance: float) -> float:
    """The end, on the side of *b*, of the domain of *f*, which has no value at *a* and one at *b*."""
    while abs(b - a) > tolerance and (x := a + (b - a) / 2) not in (a, b):
        a, b = (x, b) if math.isnan(f(x)) else (a, x)
    return b
