"""Zeros of functions of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

#: Parts of a step at which events are looked at: its ends, and equally far from each other between them.
PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Parts of a step at which an event may have left a zero at the start of the run, before the first of the others.
AWAY = (1e-3, 1e-2, 1e-1)
#: How far a value may come nearer to zero between two samples, in units of how much it bends there: a parabola by an eighth.
DIP = 0.25
#: Part of a step over which a slope is taken, and that to which its zero is found.
SPAN, ACCURACY = 2.0**-13, 1e-10
#: Zeros of one event in one step at most: one on each side of a dip between any two samples.
MOST = 2 * (len(PARTS) - 1)
#: How many times larger than at both ends of a step a value is at a pole.
POLE = 100.0


def bend(values: Sequence[float]) -> float:
    """How far *values* at :data:`PARTS` may come nearer to zero between two of these: the largest second difference, also beyond
    those known, as the third and the fourth say.
    """
    second = [a - 2 * b + c for a, b, c in zip(values, values[1:], values[2:], strict=False)]
    third = [b - a for a, b in pairwise(second)]
    return DIP * (max(map(abs, second)) + max(map(abs, third)) + abs(third[1] - third[0]))


def dip(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, step: float) -> float | None:
    """Where *f*, of one sign at *a* and *b*, is nearest to zero between them, in a *step*; None where that is at an end."""
    span = SPAN * step
    left, right = f(a + span) - fa, fb - f(b - span)
    if not (left * fa < 0 < right * fb):
        return None
    return root(lambda x: f(x + span) - f(x), a, b - span, left, right, ACCURACY * abs(step)) + span / 2


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
