"""Distribution of indeterminate contact forces: all normals compressive, friction as far from its limits as possible.

From the forces T0 of least size and the null space Z of changes without effect on the motion, a linear programme finds forces
T0 + Z c that are compressive at every contact. :mod:`kineta.numerics.cone_interior_point` then minimises the largest friction
utilisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.cone_interior_point import interior_forces
from kineta.numerics.contact_problem import Matrix, Numbers, active_equations, scatter, subproblem
from kineta.numerics.friction_cone import Cone
from kineta.numerics.linear_algebra import lstsq, svd

#: Name of the computed quantity in errors.
LEAST_FORCES = "the least forces of contacts"
#: Normal force, relative to the largest, below which a contact counts as unloaded: the linear programme meets its bounds to
#: this error and no better, so that FORCE_TOLERANCE would count forces that it leaves at zero as loads.
UNLOADED = 1e-7
#: The least force that the linear programme imposes, relative to the largest.
PUSHES = 1e-6


@dataclass(frozen=True, slots=True)
class ForceDistribution:
    """Forces ``x`` (r,) along rows and the equivalent forces ``least`` of least size. ``most`` is the largest friction
    utilisation of sticking contacts, ``best`` a lower bound of it over all equivalent forces, ``pulls`` the normals that
    would be tensile.
    """

    x: list[float]
    least: list[float]
    most: float
    best: float
    pulls: frozenset[int]


def distribute_forces(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> ForceDistribution | None:
    """Forces that keep normals closed and tangents sticking, or slipping in known directions: the forces of least size if
    they are inside the friction cones, else redistributed forces; None for inconsistent equations. Without compressive
    forces for all normals nothing is redistributed.
    """
    used = [i for cone in cones for i in cone.rows]
    matrix, right, own = subproblem(S, b, cones, used)
    pushing = np.zeros(len(used))
    pushing[[c.normal for c in own if c.normal is not None]] = 1.0
    system = active_equations(matrix, right, own, pushing)
    if system is None:
        return None
    A, goal, weight = system
    U, sizes, V = svd(A / weight, what=LEAST_FORCES)
    rank = int((sizes > tolerances.ROUNDING_TOLERANCE * sizes.max(initial=0.0)).sum())
    least = (V[:rank].T @ ((U[:, :rank].T @ goal) / sizes[:rank])) / weight
    if np.abs(A @ least - goal).max(initial=0.0) > tolerances.FORCE_TOLERANCE * np.abs(goal).max(initial=0.0):
        return None
    Z = V[rank:].T / weight[:, None]
    Z[np.abs(Z) < tolerances.ROUNDING_TOLERANCE * np.abs(Z).max(initial=0.0)] = 0.0
    least = _compliant_limit(least, Z, U[:, rank:], weight, own)
    x, most, best = least, np.inf, np.inf
    pushed, shared, pulls = _compressive(least, Z, [c.normal for c in own if c.normal is not None])
    if not pulls:
        sticking = [c for c in own if c.tangents and c.slip is None]
        x, most, best = interior_forces(pushed, Z, sticking, shared)
        pulls = [c.normal for c in own if c.normal is not None and x[c.normal] < 0]
    whole, smallest = (scatter(forces.tolist(), used, len(b), 0.0) for forces in (x, least))
    return ForceDistribution(whole, smallest, most, best, frozenset(used[n] for n in pulls))


def _compliant_limit(
    x: FloatArray, Z: FloatArray, left: FloatArray, weight: FloatArray, cones: Sequence[Cone]
) -> FloatArray:
    """The forces x + Z c, with A x = b, in the limit of vanishing compliance D of the rows: L^T D x = 0 with L^T A = 0.
    Without slip these are the forces of least size.
    """
    slipping = [i for c in cones if c.slip is not None for i in c.tangents]
    D = weight**2
    D[slipping] = 0.0
    found = lstsq(left.T @ (D[:, None] * Z), left.T @ (D * x), what=LEAST_FORCES, rcond=tolerances.ROUNDING_TOLERANCE)
    return np.asarray(x - Z @ found)


def _compressive(x: FloatArray, Z: FloatArray, normals: Sequence[int]) -> tuple[FloatArray, set[int], list[int]]:
    """The forces x + Z c with compressive *normals*, x itself if it is compressive; the redundant normals; and the normals that
    remain tensile or unloaded.

    A linear programme finds y = s x + Z c, s >= 1, with the largest sum of min(y_i, 1), and among these the least s.
    """
    unit = float(np.abs(x[normals]).max(initial=0.0))
    most = tolerances.ROUNDING_TOLERANCE * np.abs(Z).max(initial=0.0)
    moved = [n for n in normals if np.abs(Z[n]).max(initial=0.0) > most]
    pulls = [n for n in normals if x[n] < 0]
    if (
        not unit or (x[moved] > UNLOADED * unit).all() or not set(pulls) <= set(moved)
    ):  # no contact, or every contact, is loaded
        return x, set(moved), pulls
    from scipy.optimize import linprog

    k, m = Z.shape[1], len(moved)
    cost = np.r_[np.zeros(k), np.full(m, -1.0), PUSHES / 2]
    bounds = [(None, None)] * k + [(0.0, 1.0)] * m + [(1.0, 1 / PUSHES)]
    found = linprog(cost, np.c_[-Z[moved], np.eye(m), -x[moved] / unit], np.zeros(m), bounds=bounds)
    if found.x is None:
        return x, set(moved), pulls
    pushed = x + unit / found.x[-1] * (Z @ found.x[:k])
    return pushed, set(moved), [n for n in moved if pushed[n] < UNLOADED * unit]
