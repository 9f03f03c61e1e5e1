"""Curves of zeros along a parameter: n functions of n + 1 variables, followed by their tangent through folds.

With J the slope (n, n + 1) and s the tangent, J s = 0, steps go along s and come back across it::

    (J; s^T) change = (-off; 0)

Where the last component of s changes its sign the curve folds; where the determinant of (J; s^T) does, another curve crosses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

FloatArray = NDArray[np.float64]
State = TypeVar("State")

#: Steps across the tangent at most, and the change of the variables after which no further one is taken.
CORRECTIONS, DONE = 12, 1e-11
#: Cosine of the largest angle by which the tangent may turn over a step.
TURN = 0.95
#: What a step is multiplied with after one that went well, or failed; and the least one, as a part of the first.
LONGER, SHORTER, LEAST = 1.4, 0.5, 1e-6


@dataclass(frozen=True)
class Curve(Generic[State]):
    """What is followed: ``off`` (n,) of a state, its ``slope`` (n, n + 1) by changes of the state, the last one that of the
    parameter, and the state ``moved`` by a change.
    """

    off: Callable[[State], FloatArray]
    slope: Callable[[State], FloatArray]
    moved: Callable[[State, FloatArray], State]

    def at(self, state: State, like: FloatArray) -> Point[State]:
        """A point of the curve, with the tangent that goes the way of *like*."""
        J = self.slope(state)
        tangent = np.linalg.svd(J)[2][-1]
        tangent = -tangent if tangent @ like < 0 else tangent
        sign, size = np.linalg.slogdet(np.vstack([J, tangent]))
        return Point(state, tangent, float(sign * np.exp(size)))

    def near(self, state: State, across: FloatArray) -> State | None:
        """The state of the curve that changes normal to *across* lead to from *state*; None where they lead to none."""
        last = np.inf
        for _ in range(CORRECTIONS):
            off = self.off(state)
            A = np.vstack([self.slope(state), across])
            if not (np.isfinite(off).all() and np.isfinite(A).all()):
                return None
            change = -np.linalg.lstsq(A, np.append(off, 0.0), rcond=None)[0]
            size = float(np.abs(change).max())
            if size > max(1.0, 2 * last):
                return None
            state = self.moved(state, change)
            if size <= DONE:
                return state
            last = size
        return state if last < 1e3 * DONE else None

    def step(self, point: Point[State], length: float) -> Point[State] | None:
        """The point after a step of this *length* along the tangent."""
        state = self.near(self.moved(point.state, length * point.tangent), point.tangent)
        return None if state is None else self.at(state, point.tangent)


@dataclass(frozen=True)
class Point(Generic[State]):
    """A state of a curve, its unit ``tangent`` and the ``determinant`` of (J; s^T). ``kind`` is ``fold`` or ``bifurcation``
    where it is one, and ``other`` is then the direction of the curve that crosses.
    """

    state: State
    tangent: FloatArray
    determinant: float
    kind: str = ""
    other: FloatArray | None = None


def follow(
    curve: Curve[State],
    start: Point[State],
    length: float,
    room: Callable[[Point[State]], float],
    most: int,
) -> list[Point[State]]:
    """Points of the *curve* from *start* on in steps of about this *length*, *most* at most, with its folds and bifurcations
    among them, up to where *room* becomes negative.
    """
    points, step = [start], length
    while len(points) < most and step > LEAST * length:
        last = replace(points[-1], kind="", other=None)
        found = curve.step(last, step)
        if found is None or found.tangent @ last.tangent < TURN:
            step *= SHORTER
            continue
        if room(found) < 0:
            edge = _where(curve, last, step, room)
            return points if edge is None else [*points, edge]
        points += [*_between(curve, last, found, step), found]
        step = min(LONGER * step, length)
    return points


def _between(curve: Curve[State], a: Point[State], b: Point[State], length: float) -> list[Point[State]]:
    """The fold and the bifurcation on the step from *a* to *b*, where there are any."""
    found = []
    if a.tangent[-1] * b.tangent[-1] < 0 and (fold := _where(curve, a, length, lambda x: float(x.tangent[-1]))):
        found.append(replace(fold, kind="fold"))
    if a.determinant * b.determinant < 0 and (crossing := _where(curve, a, length, lambda x: x.determinant)):
        plane = np.linalg.svd(curve.slope(crossing.state))[2][-2:]
        other = plane.T @ (plane @ _normal(plane, crossing.tangent))
        found.append(replace(crossing, kind="bifurcation", other=other / np.linalg.norm(other)))
    return found


def _normal(plane: FloatArray, tangent: FloatArray) -> FloatArray:
    """The vector of the *plane* (2, n) that is normal to the *tangent*."""
    a, b = plane @ tangent
    return np.asarray(a * plane[1] - b * plane[0])


def _where(
    curve: Curve[State], a: Point[State], length: float, value: Callable[[Point[State]], float]
) -> Point[State] | None:
    """The point within a step of this *length* from *a* where the *value* vanishes."""

    def at(part: float) -> float:
        found = curve.step(a, part) if part else a
        return np.nan if found is None else value(found)

    ends = at(0.0), at(length)
    if not ends[0] * ends[1] < 0:
        return None
    part = brentq(at, 0.0, length, xtol=1e-13, rtol=1e-14, maxiter=100)
    return curve.step(a, float(part))
