"""Forces of contacts and of dry friction, from what they may be: the linear complementarity problem with friction cones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul
from typing import TypeVar

import numpy as np

from kineta.numerics.cone import Cone, FloatArray
from kineta.numerics.proximal import error, proximal

Numbers = Sequence[float]
Matrix = Sequence[Numbers]

T = TypeVar("T")

#: Sweeps before each trial to finish exactly.
SWEEPS = 2, 4, 8, 16
#: Error of the forces, relative to the largest, that counts as rounding; and one with which they are still believed.
ROUNDING, BELIEVED = 1e-13, 1e-9
#: Part of the product of its diagonal above which a determinant tells that rows are independent.
DEPENDENT = 1e-6
#: Part of a bound from which on it is reached.
REACHED = 1 - 1e-9


def product(a: Numbers, b: Numbers) -> float:
    """The sum of the products."""
    return float(sum(map(mul, a, b)))


def spread(some: Sequence[T], places: Sequence[int], count: int, none: T) -> list[T]:
    """*some* at their *places*, and elsewhere *none*."""
    found = [none] * count
    for place, value in zip(places, some, strict=True):
        found[place] = value
    return found


def forces(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> list[float] | None:
    """The forces x (r,) along the rows of *cones*, zero along all others; None where none are found. With a = S x + b:

    x >= least, a >= 0, one of both an equation, for normals; for tangents the force is below the bound and a = 0, or at the
    bound and against a.

    Of one contact in closed form, if it does alone what has to be done; else by a few of Gauss and Seidel's sweeps with
    projections (Jean and Moreau), and where these do not end by Newton's method; finished exactly with what is found at work.
    """
    if alone := _by_one(S, b, cones):
        return alone
    used = [i for cone in cones for i in cone.rows]
    if not used:
        return [0.0] * len(b)
    solved = _found(*apart(S, b, cones, used))
    return None if solved is None else spread(solved.tolist(), used, len(b), 0.0)


def _by_one(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> list[float]:
    """The forces of one contact, the only one or the one that is pressed most, where they let all others open; none where they
    do not, or have no closed form.
    """
    normals = [cone.normal for cone in cones if cone.normal is not None and not cone.least]
    if len(cones) > 1 and len(normals) < len(cones):
        return []
    first = 0 if len(cones) == 1 else min(range(len(cones)), key=lambda i: _pressed(S, b, normals[i]), default=None)
    found = [] if first is None else _alone(S, b, cones[first])
    if first is None or not found:
        return []
    x = spread(found, cones[first].rows, len(b), 0.0)
    others = (normals[i] for i in range(len(cones)) if i != first)
    return x if all(b[n] + product(S[n], x) >= 0 for n in others) else []


def _pressed(S: Matrix, b: Numbers, n: int) -> float:
    """How little the normal *n* is pressed: minus the force that keeps it closed alone."""
    return b[n] / (S[n][n] or 1.0)


def _alone(S: Matrix, b: Numbers, cone: Cone) -> list[float]:
    """The forces along the rows of the only contact: the least, where it lets go; those that hold it; or those with which it
    slips. None of them where that is in a direction in space that is to be found, or where friction jams it.
    """
    n, tangents, bound, rows = cone.normal, cone.tangents, cone.bound, cone.rows
    if n is None and len(tangents) == 1:
        gives, pulled = S[tangents[0]][tangents[0]], b[tangents[0]]
        held = -pulled / gives if gives > 0 else -math.copysign(bound, pulled) * bool(pulled)
        return [-bound * cone.slip[0]] if cone.slip else [max(-bound, min(held, bound))]
    if n is None or (cone.least and tangents) or not S[n][n] > 0:
        return []
    if b[n] + S[n][n] * cone.least >= 0:
        return [cone.least, *[0.0] * len(tangents)]
    if not tangents:
        return [-b[n] / S[n][n]]
    directions = [cone.slip] if cone.slip else [(1.0,), (-1.0,)]
    if cone.slip is None:
        matrix, right = [[S[i][j] for j in rows] for i in rows], [-b[i] for i in rows]
        holding = _holding(matrix, right)
        left = max(abs(product(row, holding) - r) for row, r in zip(matrix, right, strict=True))
        holds = left <= BELIEVED * max(map(abs, right))
        if holds and holding[0] >= 0 and math.hypot(*holding[1:]) <= bound * holding[0]:
            return holding
        if len(tangents) > 1:
            return []
    for direction in directions:
        stiffness = S[n][n] - bound * product([S[n][i] for i in tangents], direction)
        if stiffness <= 0:
            return []
        found = [-b[n] / stiffness, *(bound * b[n] / stiffness * e for e in direction)]
        moves = b[tangents[0]] + product([S[tangents[0]][i] for i in rows], found)
        if cone.slip or moves * direction[0] >= 0:
            return found
    return []


def _holding(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The least forces that hold all rows; of two that are independent by Cramer's rule."""
    if len(right) == 2:
        (a, h), (k, d) = matrix
        determinant = a * d - h * k
        if determinant > DEPENDENT * a * d:
            return [(right[0] * d - h * right[1]) / determinant, (a * right[1] - right[0] * k) / determinant]
    found: list[float] = np.linalg.lstsq(matrix, right, rcond=1e-12)[0].tolist()
    return found


def apart(
    S: Matrix, b: Numbers, cones: Sequence[Cone], used: Sequence[int]
) -> tuple[FloatArray, FloatArray, list[Cone]]:
    """The problem of the rows of *cones* alone, the *used* ones."""
    at = {row: k for k, row in enumerate(used)}
    own = [
        replace(c, normal=None if c.normal is None else at[c.normal], tangents=tuple(at[i] for i in c.tangents))
        for c in cones
    ]
    return np.array(S)[np.ix_(used, used)], np.array(b)[used], own


def _found(S: FloatArray, b: FloatArray, cones: Sequence[Cone]) -> FloatArray | None:
    x = np.zeros(len(b))
    matrix, right = S.tolist(), b.tolist()
    for cone in cones:
        if cone.normal is not None:
            x[cone.normal] = cone.least
    for sweeps in SWEEPS:
        x = _swept(matrix, right, cones, x.tolist(), sweeps)
        if (found := _finished(S, b, cones, x)) is not None:
            return found
    x = proximal(S, b, cones, x)
    if (found := _finished(S, b, cones, x)) is not None:
        return found
    return x if error(S, b, cones, x) <= BELIEVED else None


def _finished(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray | None:
    """The forces, exactly, with what is at work in *x*; None where that is not known."""
    for tried in (_exact(S, b, cones, x), x):
        if tried is not None and error(S, b, cones, tried) <= ROUNDING:
            return tried
    return None


def _swept(S: list[list[float]], b: list[float], cones: Sequence[Cone], x: list[float], sweeps: int) -> FloatArray:
    stiff = [max((S[i][i] for i in cone.tangents), default=0.0) for cone in cones]
    for _ in range(sweeps):
        for cone, stiffness in zip(cones, stiff, strict=True):
            _project(S, b, cone, stiffness, x)
    return np.array(x)


def _project(S: list[list[float]], b: list[float], cone: Cone, stiffness: float, x: list[float]) -> None:
    """Make the forces of one contact what they may be, from the accelerations under those of all; those of friction with the
    *stiffness* that is the largest of its tangents.
    """
    pushed, n = 1.0, cone.normal
    if n is not None:
        if S[n][n] > 0:
            x[n] = max(cone.least, x[n] - (b[n] + product(S[n], x)) / S[n][n])
        pushed = x[n]
    most = cone.bound * pushed
    if cone.slip is not None:
        for i, e in zip(cone.tangents, cone.slip, strict=True):
            x[i] = -most * e
        return
    if stiffness <= 0:
        return
    tried = [x[i] - (b[i] + product(S[i], x)) / stiffness for i in cone.tangents]
    size = math.hypot(*tried)
    for i, f in zip(cone.tangents, tried, strict=True):
        x[i] = f if size <= most else f * most / size


def _exact(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray | None:
    """The forces, of least size, with those at a bound or at rest that are so in *x*; None where they slip in directions that are
    still to be found.
    """
    system = working(S, b, cones, x)
    if system is None:
        return None
    A, right, weight = system
    return np.asarray(np.linalg.lstsq(A / weight, right, rcond=1e-12)[0] / weight)


def working(
    S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """A and c of the equations A f = c of forces f of which those are at a bound or at rest that are so in *x*, with the weights
    of their size; None where they slip in directions that are still to be found.
    """
    n = len(b)
    A, right = np.eye(n), np.zeros(n)
    for cone in cones:
        pushes = cone.normal is None or x[cone.normal] > cone.least
        if cone.normal is not None:
            right[cone.normal] = cone.least
            if pushes:
                A[cone.normal], right[cone.normal] = S[cone.normal], -b[cone.normal]
        own = list(cone.tangents)
        if not own or not pushes:
            continue
        most = cone.bound * (1.0 if cone.normal is None else x[cone.normal])
        slip = cone.slip
        if slip is None and np.linalg.norm(x[own]) >= REACHED * most:
            if len(own) > 1:
                return None
            slip = (-float(np.sign(x[own[0]])),)
        if slip is None:
            A[own], right[own] = S[own], -b[own]
        elif cone.normal is None:
            right[own] = -cone.bound * np.array(slip)
        else:
            A[own, cone.normal] += cone.bound * np.array(slip)
    weight = np.sqrt(np.where(np.diag(S) > 0, np.diag(S), 1.0))
    for cone in cones:
        weight[list(cone.rows)] *= cone.ease
    return A, right, weight
