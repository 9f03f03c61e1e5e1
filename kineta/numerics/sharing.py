"""How contacts that hold more than motion tells apart may share their forces: so that all push, as far within all bounds of
friction as they can.

With the forces of least size T0, and Z the changes of forces that move nothing, a linear programme finds forces T0 + Z c that
push where T0 would pull. From there :mod:`kineta.numerics.within` makes the largest part of a bound that is at work small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kineta.numerics.complementarity import Matrix, Numbers, apart, spread, working
from kineta.numerics.cone import Cone, FloatArray
from kineta.numerics.within import within

#: Part of itself by which an acceleration that is held may be missed; singular values below this part are none.
MISSED, RANK = 1e-9, 1e-11
#: Part of the largest normal force that is hardly one; and the least with which more of them are told to push.
HARDLY, PUSHES = 1e-7, 1e-6


@dataclass(frozen=True, slots=True)
class Shares:
    """Forces ``x`` (r,) along rows, and the ``least`` ones that hold as much. Of a bound of what sticks no more than the part
    ``most`` is at work, and no forces need less than the part ``best``. ``pulls`` are the normals that would have to pull.
    """

    x: list[float]
    least: list[float]
    most: float
    best: float
    pulls: frozenset[int]


def shares(S: Matrix, b: Numbers, cones: Sequence[Cone]) -> Shares | None:
    """Forces with which normals keep closed, and tangents stick or slip in the directions that are known: the least, if they are
    within the bounds, else some with room up to these, if there are; None where nothing holds so. Where normals pull, or
    hardly push, with all of them, nothing is shared.
    """
    used = [i for cone in cones for i in cone.rows]
    matrix, right, own = apart(S, b, cones, used)
    pushing = np.zeros(len(used))
    pushing[[c.normal for c in own if c.normal is not None]] = 1.0
    system = working(matrix, right, own, pushing)
    if system is None:
        return None
    A, goal, weight = system
    U, sizes, V = np.linalg.svd(A / weight)
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    least = (V[:rank].T @ ((U[:, :rank].T @ goal) / sizes[:rank])) / weight
    if np.abs(A @ least - goal).max(initial=0.0) > MISSED * np.abs(goal).max(initial=0.0):
        return None
    Z = V[rank:].T / weight[:, None]
    Z[np.abs(Z) < RANK * np.abs(Z).max(initial=0.0)] = 0.0
    least = _softest(least, Z, U[:, rank:], weight, own)
    x, most, best = least, np.inf, np.inf
    pushed, shared, pulls = _pushed(least, Z, [c.normal for c in own if c.normal is not None])
    if not pulls:
        sticking = [c for c in own if c.tangents and c.slip is None]
        x, most, best = within(pushed, Z, sticking, shared)
        pulls = [c.normal for c in own if c.normal is not None and x[c.normal] < 0]
    whole, smallest = (spread(forces.tolist(), used, len(b), 0.0) for forces in (x, least))
    return Shares(whole, smallest, most, best, frozenset(used[n] for n in pulls))


def _softest(x: FloatArray, Z: FloatArray, left: FloatArray, weight: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """Of the forces x + Z c, with A x = b, those towards which rows lead that give way by D, as it becomes little: L^T D x = 0,
    where L^T A = 0. They are the least where nothing slips, and what a run finds in any case.
    """
    slipping = [i for c in cones if c.slip is not None for i in c.tangents]
    D = weight**2
    D[slipping] = 0.0
    return np.asarray(x - Z @ np.linalg.lstsq(left.T @ (D[:, None] * Z), left.T @ (D * x), rcond=RANK)[0])


def _pushed(x: FloatArray, Z: FloatArray, normals: Sequence[int]) -> tuple[FloatArray, set[int], list[int]]:
    """Of the forces x + Z c those with which all *normals* push, x if it does; the normals that can be shared anew; and those
    that pull, or of these hardly push.

    All push that can with y = s x + Z c, s >= 1, where the sum of the min(y_i, 1) is largest; with the least s as much as
    they can.
    """
    unit = float(np.abs(x[normals]).max(initial=0.0))
    most = RANK * np.abs(Z).max(initial=0.0)
    moved = [n for n in normals if np.abs(Z[n]).max(initial=0.0) > most]
    pulls = [n for n in normals if x[n] < 0]
    if not unit or (x[moved] > HARDLY * unit).all() or not set(pulls) <= set(moved):  # nothing, or enough, is pressed
        return x, set(moved), pulls
    from scipy.optimize import linprog

    k, m = Z.shape[1], len(moved)
    cost = np.r_[np.zeros(k), np.full(m, -1.0), PUSHES / 2]
    bounds = [(None, None)] * k + [(0.0, 1.0)] * m + [(1.0, 1 / PUSHES)]
    found = linprog(cost, np.c_[-Z[moved], np.eye(m), -x[moved] / unit], np.zeros(m), bounds=bounds)
    if found.x is None:
        return x, set(moved), pulls
    pushed = x + unit / found.x[-1] * (Z @ found.x[:k])
    return pushed, set(moved), [n for n in moved if pushed[n] < HARDLY * unit]
