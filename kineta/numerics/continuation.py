"""Curves of zeros along a parameter: n functions of n + 1 variables, followed by their tangent through folds.

With J the slope (n, n + 1) and s the tangent, J s = 0, steps go along s and come back across it::

    (J; s^T) change = (-off; 0)

Where the last component of s changes its sign the curve folds; where the determinant of (J; s^T) does, another curve crosses.
There (J; s^T) is singular: the state is that to which the curve leads from beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
State = TypeVar("State")

#: Steps across the tangent at most, and the change of the variables after which no further one is taken.
CORRECTIONS, DONE = 12, 1e-11
#: Cosine of the largest angle by which the tangent may turn over a step.
TURN = 0.95
#: How far across the tangent a step may come, as a part of its length; an arc that turns by so much comes half its angle.
ASIDE = 0.25
#: What a step is multiplied with after one that went well, or failed; and the least one, as a part of the first.
LONGER, SHORTER, LEAST = 1.4, 0.5, 1e-6
#: Part of a step within which a zero is looked for by interpolation, and the parts of what is left that are tried before.
FINE, PARTS = 1e-3, (0.5, 0.4, 0.6, 0.3, 0.7)
#: How many times farther along the first curve than beside it another that crosses may be.
FARTHER = 20.0
#: Why a curve ends: no room is left, it has all its points, no step leads on.
ROOM, POINTS, STUCK = "room", "points", "stuck"


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
        found = self.beside(state, across)
        return None if found is None else found[0]

    def beside(self, state: State, across: FloatArray) -> tuple[State, float] | None:
        """:meth:`near`, and how long the changes are."""
        last, way = np.inf, np.zeros(len(across))
        for _ in range(CORRECTIONS):
            off = self.off(state)
            A = np.vstack([self.slope(state), across])
            if not (np.isfinite(off).all() and np.isfinite(A).all()):
                return None
            change = -np.linalg.lstsq(A, np.append(off, 0.0), rcond=None)[0]
            size = float(np.abs(change).max())
            if size > max(1.0, 2 * last):
                return None
            state, way = self.moved(state, change), way + change
            if size <= DONE:
                break
            last = size
        return (state, float(np.linalg.norm(way))) if size < 1e3 * DONE else None

    def step(self, point: Point[State], length: float) -> Point[State] | None:
        """The point after a step of this *length* along the tangent; None where there is none near it: a way across the tangent
        that is longer than that of a curve which turns as far as it may leads to another part of the curve, beyond a fold.
        """
        found = self.beside(self.moved(point.state, length * point.tangent), point.tangent)
        if found is None or found[1] > ASIDE * abs(length):
            return None
        return self.at(found[0], point.tangent)


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
) -> tuple[list[Point[State]], str]:
    """Points of the *curve* from *start* on in steps of about this *length*, *most* at most, with its folds and bifurcations
    among them, up to where *room* becomes negative; and why it ends.
    """
    points, step = [start], length
    while len(points) < most:
        if step <= LEAST * length:
            return points, STUCK
        last = replace(points[-1], kind="", other=None)
        found = curve.step(last, step)
        if found is None or found.tangent @ last.tangent < TURN:
            step *= SHORTER
            continue
        if room(found) < 0:
            edge = _where(curve, last, step, room)
            return points if edge is None else [*points, _back(curve, edge)], ROOM
        points += [*_between(curve, last, found, step), found]
        step = min(LONGER * step, length)
    return points, POINTS


def leaving(curve: Curve[State], point: Point[State], length: float) -> list[Point[State]]:
    """The starts, in both directions, of the curve that crosses at a bifurcation."""
    found: list[Point[State]] = []
    if point.other is None:
        return found
    aside = FINE * length
    for across in (point.other, -point.other):
        beside = curve.beside(curve.moved(point.state, aside * across), across)
        # The first curve, where it bends, comes as far to the side only much farther along.
        if beside is not None and beside[1] < FARTHER * aside:
            found.append(Point(point.state, curve.at(beside[0], across).tangent, 0.0))
    return found


def _between(curve: Curve[State], a: Point[State], b: Point[State], length: float) -> list[Point[State]]:
    """The fold or bifurcation on the step from *a* to *b*, where there is one; a bifurcation where both are one."""
    if a.determinant * b.determinant < 0 and (zero := _where(curve, a, length, lambda x: x.determinant)):
        state, tangent = zero.state, zero.tangent
        plane = np.linalg.svd(curve.slope(state))[2][-2:]
        other = plane.T @ _normal(plane, tangent)
        return [Point(state, tangent, 0.0, "bifurcation", other / np.linalg.norm(other))]
    if a.tangent[-1] * b.tangent[-1] < 0 and (zero := _where(curve, a, length, lambda x: float(x.tangent[-1]))):
        return [replace(_back(curve, zero), kind="fold")]
    return []


def _normal(plane: FloatArray, tangent: FloatArray) -> FloatArray:
    """The vector within the *plane* (2, n), by its two, that is normal to the *tangent*."""
    a, b = plane @ tangent
    return np.array([-b, a])


def _where(
    curve: Curve[State], a: Point[State], length: float, value: Callable[[Point[State]], float]
) -> Point[State] | None:
    """The point within a step of this *length* from *a* where the *value* changes its sign, as those beside it say, with what
    it has no value for left open; None where it does not.
    """
    b = curve.step(a, length)
    if b is None or not value(a) * value(b) < 0:
        return None
    least = FINE * length
    while length > least:
        inside = _within(curve, a, length)
        if inside is None:
            return None
        part, middle = inside
        if value(middle) * value(a) > 0:
            a, length = middle, (1 - part) * length
        else:
            b, length = middle, part * length
    s = _zero(curve, a, b, length, value)
    # The way along tangents that change evenly, as none can be taken across where the slope is singular.
    tangent = a.tangent + s / length * (b.tangent - a.tangent)
    state = curve.moved(a.state, s * (a.tangent + tangent) / 2)
    return Point(state, tangent / np.linalg.norm(tangent), 0.0)


def _within(curve: Curve[State], a: Point[State], length: float) -> tuple[float, Point[State]] | None:
    """A part of the step of this *length* from *a*, and the point to which it leads: in one place the slope may be singular."""
    for part in PARTS:
        found = curve.step(a, part * length)
        if found is not None and found.tangent @ a.tangent >= TURN:
            return part, found
    return None


def _zero(
    curve: Curve[State], a: Point[State], b: Point[State], length: float, value: Callable[[Point[State]], float]
) -> float:
    """How far from *a*, before *b* in this *length* from it, the *value* vanishes, by inverse interpolation."""
    known = {0.0: value(a), length: value(b)}
    for far in (-length, 2 * length):
        found = curve.step(a, far)
        if found is not None:
            known[far] = value(found)
    rising = np.diff([known[s] for s in sorted(known)])
    if not (np.all(rising > 0) or np.all(rising < 0)):
        known = {s: known[s] for s in (0.0, length)}
    total = 0.0
    for s, x in known.items():
        total += s * float(np.prod([y / (y - x) for r, y in known.items() if r != s]))
    return min(max(total, 0.0), length)


def _back(curve: Curve[State], zero: Point[State]) -> Point[State]:
    """A point beside the curve, taken back to it."""
    state = curve.near(zero.state, zero.tangent)
    return zero if state is None else curve.at(state, zero.tangent)
