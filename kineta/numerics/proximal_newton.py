"""Contact forces by a proximal Newton method, for contact problems on which Gauss-Seidel sweeps do not converge.

A solution x is a fixed point of the projection of x - (S x + b) / D onto the friction cones, D the diagonal of S. For dependent
rows the solution is not unique, or lies at the far end of a line along which accelerations stay within rounding. From forces x0
the problem regularised by d D (x - x0) is therefore solved (Rockafellar's proximal point method), by a semismooth Newton method
(Alart and Curnier); the solution is the next x0, with a smaller d, or a larger one after a failure. At convergence x is x0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import NumericalError
from kineta.numerics.friction_cone import Cone, project_onto_cones, projection_jacobian, step_sizes
from kineta.numerics.linear_algebra import norm, solve

#: First regularisation d.
FIRST = 1e-2
#: Smallest and largest regularisation d.
LEAST, MOST = 1e-12, 1e3
#: Number of trials.
TRIALS = 100
#: Factor on d after a solved subproblem and after a failure.
SOFTER, STIFFER = 0.1, 20.0
#: Newton steps of a subproblem.
STEPS = 12
#: Shortest fraction of a step, and the sufficient decrease of the residual per fraction.
SHORTEST, RATE = 0.02, 1e-4
#: Accuracy of a subproblem, relative to the residual.
SOLVED = 1e-3


def proximal_newton(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> FloatArray:
    """The forces of least residual along the rows of *cones*, from the start *x*."""
    diagonal, scale, d = np.diag(S), _largest(b, step_sizes(S, cones), x), FIRST
    best, least, last, way = x, projection_residual(S, b, cones, x), d, np.zeros_like(x)
    for _ in range(TRIALS):
        if least <= tolerances.ROUNDING_TOLERANCE or d > MOST:
            break
        sharp = max(tolerances.RESIDUAL_TOLERANCE, SOLVED * min(least, SOLVED)) * scale
        ahead = x + way * (last / d)
        found = _solved(S + d * np.diag(diagonal), b - d * diagonal * x, cones, ahead, sharp)
        if found is None:
            d *= STIFFER
            continue
        x, way, last, d = found, found - x, d, max(SOFTER * d, LEAST)
        missed, before = projection_residual(S, b, cones, x), least
        if missed < least:
            best, least = x, missed
        if least <= tolerances.FORCE_TOLERANCE and missed > before / 2:
            break
    return project_onto_cones(best - step_sizes(S, cones) * (S @ best + b), cones)


def projection_residual(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray) -> float:
    """The distance of *x* from its projected fixed-point iterate, relative to the largest possible force."""
    pace = step_sizes(S, cones)
    found = project_onto_cones(x - pace * (S @ x + b), cones)
    return float(np.abs(found - x).max(initial=0.0)) / _largest(b, pace, x)


def _largest(b: FloatArray, pace: FloatArray, x: FloatArray) -> float:
    """The scale of the forces, from the accelerations *b*, the step sizes *pace* and the forces *x*."""
    return float(max(np.abs(b * pace).max(initial=0.0), np.abs(x).max(initial=0.0), tolerances.LEAST_DIVISOR))


def _solved(S: FloatArray, b: FloatArray, cones: Sequence[Cone], x: FloatArray, sharp: float) -> FloatArray | None:
    """The forces by a semismooth Newton method from *x*, to the residual *sharp*; None without convergence."""
    unit, pace = np.eye(len(b)), step_sizes(S, cones)
    turned = unit - pace[:, None] * S
    ahead = x - pace * (S @ x + b)
    found = project_onto_cones(ahead, cones)
    size = norm(x - found)
    for _ in range(STEPS):
        if size <= sharp:
            return x
        try:
            step = solve(unit - projection_jacobian(ahead, cones) @ turned, found - x, what="the forces of contacts")
        except NumericalError:
            return None
        share = 1.0
        while True:
            tried = x + share * step
            ahead = tried - pace * (S @ tried + b)
            found = project_onto_cones(ahead, cones)
            after = norm(tried - found)
            if after < (1 - RATE * share) * size or share < SHORTEST:
                break
            share /= 2
        x, size = tried, after
    return x if size <= sharp else None
