"""Zeros of functions of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

#: Sampling points of events in a step: its ends, and equidistant points between them.
PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Numbers of some of these, and parts of the way to the next, at which events are compared with the straight line; these parts
#: have nothing in common. And the bound for excursions relative to what events are off it, where that is more than expected.
BETWEEN, OFF = ((0, 0.3127), (1, 0.4271), (3, 0.1733)), 4.0
#: Shortest piece of a step that has sampling points of its own, where those of a longer one do not show what events do.
LEAST = 2.0**-12
#: Zeros in a step from which on it is made shorter; and the least step of which this is so, relative to the time left: of a
#: shorter one the rest is one piece behind so many zeros, or pieces with searches for them.
MANY, CROWDED = 32, 1e-5
#: Sampling points before the first of :data:`PARTS`, for events that start at a zero.
AWAY = (1e-3, 1e-2, 1e-1)
#: Largest excursion of a value between two samples, relative to its second difference: one eighth for a parabola.
DIP = 0.25
#: Interval of a difference quotient as a fraction of the step, and the accuracy of the zero of a slope.
SPAN, ACCURACY = 2.0**-13, 1e-10
#: Largest number of zeros of one event in a step: one on each side of an extremum between any two samples.
MOST = 2 * (len(PARTS) - 1)
#: Ratio of a value at a sign change to the values at both ends of the step that identifies a pole.
POLE = 100.0


def curvature_bound(values: Sequence[float], off: float = 0.0) -> float:
    """A bound for the excursion of *values* at :data:`PARTS` between two samples: the largest second difference,
    extrapolated beyond the ends by the third and fourth differences; :data:`OFF` times what they are *off* the straight line
    between two, where that is more.
    """
    second = [a - 2 * b + c for a, b, c in zip(values, values[1:], values[2:], strict=False)]
    third = [b - a for a, b in pairwise(second)]
    told = DIP * (max(map(abs, second)) + max(map(abs, third)) + abs(third[1] - third[0]))
    return OFF * off if off > told else told


def bends_to_one_side(values: Sequence[float]) -> bool:
    """Whether *values* at :data:`PARTS` are, as far as their differences show, those of a function with one extremum at most."""
    r, s, t = (a - 2 * b + c for a, b, c in zip(values, values[1:], values[2:], strict=False))
    u, v = s - r, t - s
    return r * s > 0 and s * t > 0 and min(abs(r), abs(s), abs(t)) > max(abs(u), abs(v)) + abs(v - u)


def is_blurred(values: Sequence[float], off: float = 0.0) -> bool:
    """Whether a function with these *values* at :data:`PARTS` may come to zero and go back between two of them: a parabola
    through both that bends as much as the function may does, and the function has more than one extremum. The function is so
    far *off* the straight line between two of these values.
    """
    near = curvature_bound(values, off)
    if (bends_to_one_side(values) and not off > curvature_bound(values)) or not near > 0:
        return False
    return any(
        math.sqrt(abs(a)) + math.sqrt(abs(b)) < 2 * math.sqrt(near) if a * b > 0 else abs(b - a) < 4 * near
        for a, b in pairwise(values)
    )


def nearest_approach(
    f: Callable[[float], float], a: float, b: float, fa: float, fb: float, step: float
) -> float | None:
    """The extremum nearest to zero between *a* and *b* of *f*, of one sign at both, in a *step*; None for an extremum at an
    end.
    """
    span = SPAN * step
    left, right = f(a + span) - fa, fb - f(b - span)
    if not (left * fa < 0 < right * fb):
        return None
    return root(lambda x: f(x + span) - f(x), a, b - span, left, right, ACCURACY * abs(step)) + span / 2


def root(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, tolerance: float) -> float:
    """The first number behind a zero of *f* between *a* and *b*, with values *fa* and *fb* of opposite signs.

    Chandrupatla's method [Advances in Engineering Software 28 (1997) 145]: inverse quadratic interpolation through the last
    three points where it is monotone, else bisection. Of the last bracket, no wider than *tolerance* or the spacing of
    floats, the result is the end at which f is zero or has the sign of *fb*. *f* is never called at *a* or *b*.
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


def sign_change(f: Callable[[float], float], a: float, b: float, fa: float, tolerance: float) -> float:
    """The point between *a* and *b* where *f*, of value *fa* at *a* and zero at *b*, loses the sign of *fa*; f may be zero
    long before *b*.
    """
    while abs(b - a) > tolerance and (x := a + (b - a) / 2) not in (a, b):
        a, b = (x, b) if f(x) * fa > 0 else (a, x)
    return b


def domain_boundary(f: Callable[[float], float], a: float, b: float, tolerance: float) -> float:
    """The boundary, on the side of *b*, of the domain of *f*, which is undefined at *a* and defined at *b*."""
    while abs(b - a) > tolerance and (x := a + (b - a) / 2) not in (a, b):
        a, b = (x, b) if math.isnan(f(x)) else (a, x)
    return b
