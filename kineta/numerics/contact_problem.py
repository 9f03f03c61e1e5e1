"""Forces of contacts and of dry friction: the complementarity problem with friction cones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul
from typing import TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.friction_cone import Cone
from kineta.numerics.linear_algebra import lstsq, norm
from kineta.numerics.proximal_newton import projection_residual, proximal_newton

Numbers = Sequence[float]
Matrix = Sequence[Numbers]

T = TypeVar("T")

#: Gauss-Seidel sweeps before each attempt of an exact solution of the active equations.
SWEEPS = 2, 4, 8, 16
#: Name of the computed quantity in errors.
FORCES = "the forces of contacts"
#: Smallest ratio of a determinant to the product of its diagonal for which Cramer's rule keeps enough digits.
DEPENDENT = 1e-6


def dot(a: Numbers, b: Numbers) -> float:
    """The scalar product of *a* and *b*."""
    return float(sum(map(mul, a, b)))


def scatter(some: Sequence[T], places: Sequence[int], count: int, none: T) -> list[T]:
    """A list of *count* entries: *some* at their *places*, *none* elsewhere."""
    found = [none] * count
    for place, value in zip(places, some, strict=True):
        found[place] = value
    return found


def solve_contact_problem(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> list[float] | None:
    """The forces x (r,) along the rows of *cones*, zero along all other rows; None without a solution. With a = S x + b:

        normals     x >= least,  a >= 0,  (x - least) a = 0
        tangents    friction below its limit and a = 0, or at its limit and opposite to a

    A single or dominant contact has a closed form. Otherwise projected Gauss-Seidel sweeps (Jean and Moreau) find the active
    set, and Newton's method where the sweeps do not converge; the active equations are then solved exactly.
    """
    if alone := _dominant_contact(S, b, cones):
        return alone
    used = [i for cone in cones for i in cone.rows]
    if not used:
        return [0.0] * len(b)
    solved = _found(*subproblem(S, b, cones, used))
    return None if solved is None else scatter(solved.tolist(), used, len(b), 0.0)


def _dominant_contact(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> list[float]:
    """The forces of the only or the most compressed contact, if all others stay open under them; empty without a closed
    form.
    """
    normals = [cone.normal for cone in cones if cone.normal is not None and not cone.least]
    if len(cones) > 1 and len(normals) < len(cones):
        return []
    first = 0 if len(cones) == 1 else min(range(len(cones)), key=lambda i: _pressed(S, b, normals[i]), default=None)
    found = [] if first is None else _single_contact(S, b, cones[first])
    if first is None or not found:
        return []
    x = scatter(found, cones[first].rows, len(b), 0.0)
    others = (normals[i] for i in range(len(cones)) if i != first)
    return x if all(b[n] + dot(S[n], x) >= 0 for n in others) else []


def _pressed(S: Matrix, b: Numbers, n: int) -> float:
    """The negative of the normal force that keeps the normal *n* closed alone."""
    return b[n] / (S[n][n] or 1.0)


def _single_contact(S: Matrix, b: Numbers, cone: Cone) -> list[float]:
    """The forces along the rows of a single contact: the least force at separation, the sticking forces, or the slipping
    forces. Empty for an unknown direction of slip in space, and for jamming by friction.
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
        holding = _sticking_forces(matrix, right)
        left = max(abs(dot(row, holding) - r) for row, r in zip(matrix, right, strict=True))
        holds = left <= tolerances.FORCE_TOLERANCE * max(map(abs, right))
        if holds and holding[0] >= 0 and math.hypot(*holding[1:]) <= bound * holding[0]:
            return holding
        if len(tangents) > 1:
            return []
    for direction in directions:
        stiffness = S[n][n] - bound * dot([S[n][i] for i in tangents], direction)
        if stiffness <= 0:
            return []
        found = [-b[n] / stiffness, *(bound * b[n] / stiffness * e for e in direction)]
        moves = b[tangents[0]] + dot([S[tangents[0]][i] for i in rows], found)
        if cone.slip or moves * direction[0] >= 0:
            return found
    return []


def _sticking_forces(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The sticking forces of least size; by Cramer's rule for two independent rows."""
    if len(right) == 2:
        (a, h), (k, d) = matrix
        determinant = a * d - h * k
        if determinant > DEPENDENT * a * d:
            return [(right[0] * d - h * right[1]) / determinant, (a * right[1] - right[0] * k) / determinant]
    found: list[float] = lstsq(matrix, right, what=FORCES, rcond=tolerances.ROUNDING_TOLERANCE).tolist()
    return found


def subproblem(
    S: Matrix, b: Numbers, cones: Sequence[Cone], used: Sequence[int]
) -> tuple[FloatArray, FloatArray, list[Cone]]:
    """The contact problem restricted to the rows *used* of *cones*."""
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
        x = _gauss_seidel(matrix, right, cones, x.tolist(), sweeps)
        if (found := _polished(S, b, cones, x)) is not None:
            return found
    x = proximal_newton(S, b, cones, x)
    if (found := _polished(S, b, cones, x)) is not None:
        return found
    return x if projection_residual(S, b, cones, x) <= tolerances.FORCE_TOLERANCE else None


def _polished(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray | None:
    """The exact forces for the active set of *x*; None where this set is inconsistent."""
    for tried in (_exact(S, b, cones, x), x):
        if tried is not None and projection_residual(S, b, cones, tried) <= tolerances.ROUNDING_TOLERANCE:
            return tried
    return None


def _gauss_seidel(
    S: list[list[float]], b: list[float], cones: Sequence[Cone], x: list[float], sweeps: int
) -> FloatArray:
    stiff = [max((S[i][i] for i in cone.tangents), default=0.0) for cone in cones]
    for _ in range(sweeps):
        for cone, stiffness in zip(cones, stiff, strict=True):
            _project(S, b, cone, stiffness, x)
    return np.array(x)


def _project(S: list[list[float]], b: list[float], cone: Cone, stiffness: float, x: list[float]) -> None:
    """One projection of the force of a contact onto its cone, in place; *stiffness* is the largest diagonal entry of its
    tangents.
    """
    pushed, n = 1.0, cone.normal
    if n is not None:
        if S[n][n] > 0:
            x[n] = max(cone.least, x[n] - (b[n] + dot(S[n], x)) / S[n][n])
        pushed = x[n]
    most = cone.bound * pushed
    if cone.slip is not None:
        for i, e in zip(cone.tangents, cone.slip, strict=True):
            x[i] = -most * e
        return
    if stiffness <= 0:
        return
    tried = [x[i] - (b[i] + dot(S[i], x)) / stiffness for i in cone.tangents]
    size = math.hypot(*tried)
    for i, f in zip(cone.tangents, tried, strict=True):
        x[i] = f if size <= most else f * most / size


def _exact(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray | None:
    """The forces of least size for the active set of *x*; None for unknown directions of slip."""
    system = active_equations(S, b, cones, x)
    if system is None:
        return None
    A, right, weight = system
    return np.asarray(lstsq(A / weight, right, what=FORCES, rcond=tolerances.ROUNDING_TOLERANCE) / weight)


def active_equations(
    S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """The matrix A, the right side c and the weights of the equations A f = c of the active set of *x*; None for unknown
    directions of slip.
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
        if slip is None and norm(x[own]) >= (1 - tolerances.FORCE_TOLERANCE) * most:
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
