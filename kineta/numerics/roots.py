"""Zeros of functions of one variable."""

from __future__ import annotations

from collections.abc import Callable


def root(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, tolerance: float) -> float:
    """A zero of *f* between *a* and *b*, where its values *fa* and *fb* have opposite signs.

    Chandrupatla's method [Advances in Engineering Software 28 (1997) 145]: the inverse parabola through the last three
    points where it is monotone between them, else the middle. The end of the last bracket, no wider than *tolerance* or the
    spacing of numbers, at which the value is smaller. *f* is never called at *a* or *b*.
    """
    c, fc, s = b, fb, 0.5
    while True:
        x = a + s * (b - a)
        if x in (a, b):
            return a if abs(fa) < abs(fb) else b
        fx = f(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        nearest, value = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        margin = tolerance / abs(b - a)
        if value == 0 or margin >= 1:
            return nearest
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        s = 0.5
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            s = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        s = min(max(s, margin / 2), 1 - margin / 2)
