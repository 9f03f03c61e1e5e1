"""Numerical continuation: curves of zeros of n functions of n + 1 variables, traced along their tangent through folds.

With the Jacobian J (n, n + 1) and the tangent s, J s = 0, a predictor step along s is followed by corrector steps across it::

    (J; s^T) change = (-residual; 0)

The curve folds where the last component of s changes its sign; another curve crosses where the determinant of (J; s^T) does. At
such a bifurcation (J; s^T) is singular, and the state is interpolated from neighbouring points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import lstsq, norm, slogdet, svd
from kineta.records import dataclass

State = TypeVar("State")

#: Name of the computed quantity in errors.
TANGENT = "the tangent of the curve"
#: Corrector steps at most.
CORRECTIONS = 12
#: Cosine of the largest turn of the tangent over a step.
TURN = 0.95
#: Largest correction across the tangent as a fraction of the step: an arc that turns by this angle deviates by half of it.
ASIDE = 0.25
#: Growth and reduction factor of the step.
LONGER, SHORTER = 1.4, 0.5
#: Least step relative to the first.
LEAST = 1e-6
#: Width of the interval for the final interpolation as a fraction of the step, and the fractions of the interval tried before.
FINE, PARTS = 1e-3, (0.5, 0.4, 0.6, 0.3, 0.7)
#: Largest distance to the crossing curve, in units of the displacement from the first curve.
FARTHER = 20.0
#: Reasons for the end of a curve: the end of its domain, the limit on points, a failed corrector.
ROOM, POINTS, STUCK = "room", "points", "stuck"


@dataclass(frozen=True)
class Curve(Generic[State]):
    """A curve of zeros: the ``residual`` (n,) of a state, its ``jacobian`` (n, n + 1) by changes of the state, the
    last column by the parameter, and the retraction ``retract`` of a state by a change.
    """

    residual: Callable[[State], FloatArray]
    jacobian: Callable[[State], FloatArray]
    retract: Callable[[State, FloatArray], State]

    def at(self, state: State, like: FloatArray) -> CurvePoint[State]:
        """The point of the curve at *state*, with its tangent oriented like *like*."""
        J = self.jacobian(state)
        tangent = svd(J, what=TANGENT)[2][-1]
        tangent = -tangent if tangent @ like < 0 else tangent
        sign, size = slogdet(np.vstack([J, tangent]), what=TANGENT)
        return CurvePoint(state, tangent, float(sign * np.exp(size)))

    def near(self, state: State, across: FloatArray) -> State | None:
        """The state of the curve reached from *state* by corrections normal to *across*; None without convergence."""
        found = self.beside(state, across)
        return None if found is None else found[0]

    def beside(self, state: State, across: FloatArray) -> tuple[State, float] | None:
        """:meth:`near`, with the length of the correction."""
        last, way = np.inf, np.zeros(len(across))
        for _ in range(CORRECTIONS):
            off = self.residual(state)
            A = np.vstack([self.jacobian(state), across])
            if not (np.isfinite(off).all() and np.isfinite(A).all()):
                return None
            change = -lstsq(A, np.append(off, 0.0), what=TANGENT)
            size = float(np.abs(change).max())
            if size > max(1.0, 2 * last):
                return None
            state, way = self.retract(state, change), way + change
            if size <= tolerances.NEWTON_TOLERANCE:
                break
            last = size
        return (state, float(norm(way))) if size < 100 * tolerances.NEWTON_TOLERANCE else None

    def step(self, point: CurvePoint[State], length: float) -> CurvePoint[State] | None:
        """The point after a step of this *length* along the tangent; None without convergence, and for a correction longer
        than the largest admissible turn explains: such a correction leads to another part of the curve, beyond a fold.
        """
        found = self.beside(self.retract(point.state, length * point.tangent), point.tangent)
        if found is None or found[1] > ASIDE * abs(length):
            return None
        return self.at(found[0], point.tangent)


@dataclass(frozen=True)
class CurvePoint(Generic[State]):
    """A state of a curve, its unit ``tangent`` and the ``determinant`` of (J; s^T). ``kind`` is ``fold``, ``bifurcation`` or
    empty; ``other`` is the direction of the crossing curve at a bifurcation.
    """

    state: State
    tangent: FloatArray
    determinant: float
    kind: str = ""
    other: FloatArray | None = None


def follow(
    curve: Curve[State], start: CurvePoint[State], length: float, room: Callable[[CurvePoint[State]], float], most: int
) -> tuple[list[CurvePoint[State]], str]:
    """At most *most* points of the *curve* from *start* on, in steps of about this *length*, with folds and bifurcations,
    while *room* is positive; and the reason for the end.
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
            edge = _located(curve, last, step, room)
            return points if edge is None else [*points, _corrected(curve, edge)], ROOM
        points += [*_special_points(curve, last, found, step), found]
        step = min(LONGER * step, length)
    return points, POINTS


def branch_starts(curve: Curve[State], point: CurvePoint[State], length: float) -> list[CurvePoint[State]]:
    """The start points, in both directions, of the curve that crosses at a bifurcation."""
    found: list[CurvePoint[State]] = []
    if point.other is None:
        return found
    aside = FINE * length
    for across in (point.other, -point.other):
        beside = curve.beside(curve.retract(point.state, aside * across), across)
        # The first curve itself, where it bends, comes this far to the side only much farther along.
        if beside is not None and beside[1] < FARTHER * aside:
            found.append(CurvePoint(point.state, curve.at(beside[0], across).tangent, 0.0))
    return found


def _special_points(
    curve: Curve[State], a: CurvePoint[State], b: CurvePoint[State], length: float
) -> list[CurvePoint[State]]:
    """The fold or bifurcation on the step from *a* to *b*, if there is one; a coincidence of both counts as a bifurcation."""
    if a.determinant * b.determinant < 0 and (zero := _located(curve, a, length, lambda x: x.determinant)):
        state, tangent = zero.state, zero.tangent
        plane = svd(curve.jacobian(state), what=TANGENT)[2][-2:]
        other = plane.T @ _normal(plane, tangent)
        return [CurvePoint(state, tangent, 0.0, "bifurcation", other / norm(other))]
    if a.tangent[-1] * b.tangent[-1] < 0 and (zero := _located(curve, a, length, lambda x: float(x.tangent[-1]))):
        return [replace(_corrected(curve, zero), kind="fold")]
    return []


def _normal(plane: FloatArray, tangent: FloatArray) -> FloatArray:
    """The vector in the *plane* (2, n) normal to the *tangent*, in coordinates of the plane."""
    a, b = plane @ tangent
    return np.array([-b, a])


def _located(
    curve: Curve[State], a: CurvePoint[State], length: float, value: Callable[[CurvePoint[State]], float]
) -> CurvePoint[State] | None:
    """The point within a step of this *length* from *a* with a sign change of *value*, interpolated from its neighbours;
    None without a sign change.
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
    # The displacement by a linearly varying tangent: a corrector step is undefined at a singular Jacobian.
    tangent = a.tangent + s / length * (b.tangent - a.tangent)
    state = curve.retract(a.state, s * (a.tangent + tangent) / 2)
    return CurvePoint(state, tangent / norm(tangent), 0.0)


def _within(curve: Curve[State], a: CurvePoint[State], length: float) -> tuple[float, CurvePoint[State]] | None:
    """A fraction of the step of this *length* from *a* and the point it leads to; several fractions are tried, as the
    Jacobian may be singular at one point.
    """
    for part in PARTS:
        found = curve.step(a, part * length)
        if found is not None and found.tangent @ a.tangent >= TURN:
            return part, found
    return None


def _zero(
    curve: Curve[State],
    a: CurvePoint[State],
    b: CurvePoint[State],
    length: float,
    value: Callable[[CurvePoint[State]], float],
) -> float:
    """The arc length from *a*, below *length*, of the zero of *value*, by inverse interpolation."""
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


def _corrected(curve: Curve[State], zero: CurvePoint[State]) -> CurvePoint[State]:
    """The point of the curve nearest to a point beside it."""
    state = curve.near(zero.state, zero.tangent)
    return zero if state is None else curve.at(state, zero.tangent)
