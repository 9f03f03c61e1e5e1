"""Forces of many contacts where sweeps from one to the next do not end: Newton's method on a problem that is made stiffer.

Forces x keep to their laws where they are what they may be that is nearest to x - (S x + b) / D, D the diagonal of S. Where rows
depend on each other this has many solutions, or none but at the far end of a line along which accelerations stay within
rounding. So from forces x0 those are looked for that keep to the laws with d D (x - x0) beside S x + b (Rockafellar's
proximal point method), by Newton's method, since corners are few (Alart and Curnier); from there on again with a
smaller d, or a larger one where that was too far. At their end x is x0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.numerics.cone import Cone, FloatArray, nearest, paces, slopes

#: Part of the diagonal by which the problem is stiffer at first, at most and at least; and how many are tried.
FIRST, MOST, LEAST, TRIALS = 1e-2, 1e3, 1e-12, 100
#: What that part is multiplied with after one that is solved, and after one that is not.
SOFTER, STIFFER = 0.1, 20.0
#: Newton's steps in one; the shortest part of a step, and by which part of that the error is less after it.
STEPS, SHORTEST, RATE = 12, 0.02, 1e-4
#: Part of the error of the forces, and of the forces, to which one is solved; an error that is rounding; and one that is small
#: enough to end with where the next is not smaller.
SOLVED, SHARPEST, ROUNDING, SMALL = 1e-3, 1e-14, 1e-13, 1e-10


def proximal(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray:
    """The forces along the rows of *cones*, from near *x*: those with the least error that are found."""
    diagonal, scale, d = np.diag(S), _largest(b, paces(S, cones), x), FIRST
    best, least, last, way = x, error(S, b, cones, x), d, np.zeros_like(x)
    for _ in range(TRIALS):
        if least <= ROUNDING or d > MOST:
            break
        sharp = max(SHARPEST, SOLVED * min(least, SOLVED)) * scale
        ahead = x + way * (last / d)
        found = _solved(S + d * np.diag(diagonal), b - d * diagonal * x, cones, ahead, sharp)
        if found is None:
            d *= STIFFER
            continue
        x, way, last, d = found, found - x, d, max(SOFTER * d, LEAST)
        missed, before = error(S, b, cones, x), least
        if missed < least:
            best, least = x, missed
        if least <= SMALL and missed > before / 2:
            break
    return nearest(best - paces(S, cones) * (S @ best + b), cones)


def error(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> float:
    """How far forces are from what they may be that is nearest, relative to the largest that forces might be."""
    pace = paces(S, cones)
    found = nearest(x - pace * (S @ x + b), cones)
    return float(np.abs(found - x).max(initial=0.0)) / _largest(b, pace, x)


def _largest(b: FloatArray, pace: FloatArray, x: FloatArray) -> float:
    """The largest that forces might be, of which those of *pace* make up for accelerations."""
    return float(max(np.abs(b * pace).max(initial=0.0), np.abs(x).max(initial=0.0), 1e-300))


def _solved(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray, sharp: float) -> FloatArray | None:
    """The forces by Newton's method from *x*, to an error *sharp*; None where that does not end."""
    unit, pace = np.eye(len(b)), paces(S, cones)
    turned = unit - pace[:, None] * S
    ahead = x - pace * (S @ x + b)
    found = nearest(ahead, cones)
    size = np.linalg.norm(x - found)
    for _ in range(STEPS):
        if size <= sharp:
            return x
        try:
            step = np.linalg.solve(unit - slopes(ahead, cones) @ turned, found - x)
        except np.linalg.LinAlgError:
            return None
        share = 1.0
        while True:
            tried = x + share * step
            ahead = tried - pace * (S @ tried + b)
            found = nearest(ahead, cones)
            after = np.linalg.norm(tried - found)
            if after < (1 - RATE * share) * size or share < SHORTEST:
                break
            share /= 2
        x, size = tried, after
    return x if size <= sharp else None
