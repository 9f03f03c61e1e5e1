"""How contacts that hold more than motion tells apart may share their forces: so that all push, as far within all bounds of
friction as they can.

With the forces of least size T0, and Z the changes of forces that move nothing, a linear programme finds forces T0 + Z c that
push where T0 would pull. From there the largest part s of a bound that is at work is made small by an interior point method (Boyd
and Vandenberghe, Convex Optimization, 11.3)::

    minimise  tau s - sum log(s^2 - |T_i|^2 / most_i^2) - sum log n_j        for growing tau, with T = T0 + Z c

the last for the normals n_j of what slips there. On this way s is above the least one by at most (2 m + k) / tau, with m
contacts that stick and k that slip. Where forces are shared along one line, as those of two feet are, s is halved between
the least one and one that is enough: each leaves a part of the line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kineta.numerics.complementarity import Matrix, Numbers, apart, spread, working
from kineta.numerics.cone import Cone, FloatArray

#: Part of itself by which an acceleration that is held may be missed; singular values below this part are none.
MISSED, RANK = 1e-9, 1e-11
#: Part of a bound up to which the least forces are well within it.
FULL = 0.999
#: Part of the largest normal force that is hardly one; and the least with which more of them are told to push.
HARDLY, PUSHES = 1e-7, 1e-6
#: By how much tau grows from one stage to the next; Newton's steps in one; and how near to the least s is near enough.
FASTER, NEWTON, NEAR = 8.0, 30, 1e-11
#: Part of Newton's step below which none is taken.
LEAST = 1e-6


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
    least = _softest(least, Z, U[:, rank:], weight, own)
    x, most, best = least, np.inf, np.inf
    pushed, shared, pulls = _pushed(least, Z, [c.normal for c in own if c.normal is not None])
    if not pulls:
        sticking = [c for c in own if c.tangents and c.slip is None]
        x, most, best = _inside(pushed, Z, sticking, shared - {c.normal for c in sticking})
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
    """Of the forces x + Z c those with which all *normals* push, x if it does; the normals that share anew for that; and those
    that pull, or of these hardly push.

    All push that can with y = s x + Z c, s >= 1, where the sum of the min(y_i, 1) is largest; with the least s as much as
    they can.
    """
    unit = float(np.abs(x[normals]).max(initial=0.0))
    most = RANK * np.abs(Z).max(initial=0.0)
    moved = [n for n in normals if np.abs(Z[n]).max(initial=0.0) > most]
    pulls = [n for n in normals if x[n] < 0]
    if (x[moved] > HARDLY * unit).all() or not set(pulls) <= set(moved):
        return x, set(), pulls
    from scipy.optimize import linprog

    k, m = Z.shape[1], len(moved)
    cost = np.r_[np.zeros(k), np.full(m, -1.0), PUSHES / 2]
    bounds = [(None, None)] * k + [(0.0, 1.0)] * m + [(1.0, 1 / PUSHES)]
    found = linprog(cost, np.c_[-Z[moved], np.eye(m), -x[moved] / unit], np.zeros(m), bounds=bounds)
    if found.x is None:
        return x, set(), pulls
    pushed = x + unit / found.x[-1] * (Z @ found.x[:k])
    return pushed, set(moved), [n for n in moved if pushed[n] < HARDLY * unit]


def _inside(
    x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int]
) -> tuple[FloatArray, float, float]:
    """Forces x + Z c inside of all *cones*, or those nearest to that, with which the normals *pushing* do; the largest part of a
    bound that is at work, and a bound of it from below.
    """
    work = _squares(x, cones)
    s, m = float(np.sqrt(work.max(initial=0.0))), 2 * len(cones) + len(pushing)
    if s < FULL or not Z.shape[1] or not np.isfinite(s):
        return x, s, s
    if Z.shape[1] == 1:
        return _along(x, Z[:, 0], cones, pushing, s)
    s, tau = 1.1 * s, m / s
    while True:
        x, s = _centred(x, Z, cones, pushing, s, tau)
        gap = m / tau
        if 1 - s >= gap or s - gap > 1 + NEAR or gap < NEAR:
            return x, float(np.sqrt(_squares(x, cones).max())), s - gap
        tau *= FASTER


def _along(
    x: FloatArray, z: FloatArray, cones: Sequence[Cone], pushing: Collection[int], high: float
) -> tuple[FloatArray, float, float]:
    """As :func:`_inside`, of forces x + z c; of a bound no more than the part *high* is at work with x."""
    low, c, reach = 0.0, 0.0, float(np.abs(x).max() / np.abs(z).max())
    push = (-math.inf, math.inf)
    for k in (*pushing, *(cone.normal for cone in cones if cone.normal is not None)):
        push = _left(*push, 0.0, -float(z[k]) / 2, -float(x[k]), 0.0)
    lines = [_line(x, z, cone) for cone in cones]
    while True:
        s = (low + high) / 2
        first, last = _part(*push, lines, s)
        if first <= last:
            high, c = s, _middle(first, last, reach)
        else:
            low = s
        if max(1 - high, low - 1, NEAR) >= high - low:
            shared = x + c * z
            return shared, float(np.sqrt(_squares(shared, cones).max())), low


def _middle(first: float, last: float, reach: float) -> float:
    """The middle between *first* and *last*; where one of them is infinite, a *reach* from the other or from zero."""
    if math.isfinite(first) and math.isfinite(last):
        return (first + last) / 2
    return max(first + reach, min(0.0, last - reach))


class _Line(NamedTuple):
    """The friction of a contact under forces x + z c: least where c is ``near``, with a ``square`` to which ``across`` times the
    square of the way from there comes; its bound is ``most`` there, and changes by ``more`` times that way.
    """

    near: float
    across: float
    square: float
    most: float
    more: float


def _line(x: FloatArray, z: FloatArray, cone: Cone) -> _Line:
    own, n = list(cone.tangents), cone.normal
    most, more = (cone.bound, 0.0) if n is None else (cone.bound * float(x[n]), cone.bound * float(z[n]))
    across = float(z[own] @ z[own])
    near = -float(x[own] @ z[own]) / across if across else 0.0
    force = x[own] + near * z[own]
    return _Line(near, across, float(force @ force), most + near * more, more)


def _part(first: float, last: float, lines: Sequence[_Line], s: float) -> tuple[float, float]:
    """The first and the last c, between a *first* and a *last*, with which no more than the part *s* of the bounds on all *lines*
    is needed; the first after the last, if there is none.
    """
    for near, across, square, most, more in lines:
        a, h, e = across - (s * more) ** 2, -s * s * most * more, square - (s * most) ** 2
        first, last = (end + near for end in _left(first - near, last - near, a, h, e, more))
    return first, last


def _left(first: float, last: float, a: float, h: float, e: float, more: float) -> tuple[float, float]:
    """What is left between *first* and *last* where a c^2 + 2 h c + e <= 0, of what is convex: where a < 0 the part in which
    *more* lets a bound grow.
    """
    if a == 0:
        if h == 0:
            return (first, last) if e <= 0 else (1.0, 0.0)
        end = -e / (2 * h)
        return (first, min(last, end)) if h > 0 else (max(first, end), last)
    root = h * h - a * e
    if root < 0:
        return 1.0, 0.0
    ends = sorted(((-h - math.sqrt(root)) / a, (-h + math.sqrt(root)) / a))
    if a > 0:
        return max(first, ends[0]), min(last, ends[1])
    return (max(first, ends[1]), last) if more > 0 else (first, min(last, ends[0]))


def _centred(
    x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int], s: float, tau: float
) -> tuple[FloatArray, float]:
    """Forces x and the part s in the middle of what is left with *tau*, by Newton's method."""
    k = Z.shape[1]
    for _ in range(NEWTON):
        slope, bend = np.zeros(k + 1), np.zeros((k + 1, k + 1))
        slope[k] = tau
        for cone, square in zip(cones, _squares(x, cones).tolist(), strict=True):
            own, most = list(cone.tangents), _bound(x, cone)
            R, J = x[own] / most, Z[own] / most
            room, down = s * s - square, np.append(J.T @ R, -s)
            slope += 2 * down / room
            bend[:k, :k] += 2 * J.T @ J / room
            bend[k, k] -= 2 / room
            bend += 4 * np.outer(down, down) / room**2
        for n in pushing:
            slope[:k] -= Z[n] / x[n]
            bend[:k, :k] += np.outer(Z[n], Z[n]) / x[n] ** 2
        step = -np.linalg.lstsq(bend, slope, rcond=None)[0]
        share = 1.0
        while not _room(x + share * (Z @ step[:k]), cones, pushing, s + share * float(step[k])):
            share /= 2
            if share < LEAST:  # rounding leaves no way on
                return x, s
        x, s = x + share * (Z @ step[:k]), s + share * float(step[k])
        if -(slope @ step) < 1e-6 and share == 1:
            break
    return x, s


def _room(x: FloatArray, cones: Sequence[Cone], pushing: Collection[int], s: float) -> bool:
    return s > 0 and bool((_squares(x, cones) < s * s).all() and all(x[n] > 0 for n in pushing))


def _squares(x: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The squares of the parts of their bounds that are at work."""
    sizes = [float(np.hypot.reduce(x[list(c.tangents)])) for c in cones]
    return np.array([(size / _bound(x, c)) ** 2 if size else 0.0 for size, c in zip(sizes, cones, strict=True)])


def _bound(x: FloatArray, cone: Cone) -> float:
    """The bound of the friction of a *cone*, more than zero: its inverse to the fourth is a number."""
    return max(cone.bound * (1.0 if cone.normal is None else float(x[cone.normal])), 1e-60)
