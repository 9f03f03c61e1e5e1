"""Indeterminate contact forces in the interior of their friction cones, by a log-barrier method.

Among the forces x + Z c, which all have the same effect on the motion, the largest friction utilisation s is minimised by an
interior-point method (Boyd and Vandenberghe, Convex Optimization, 11.3)::

    minimise  tau s - sum log((b_i(x) + (s - 1) b_i)^2 - |T_i|^2) - sum log n_j        for growing tau

with the friction limits b_i(x) of sticking contacts with friction T_i, the limits b_i at the last increase of tau, and the
redundant normal forces n_j. On the central path s exceeds its minimum by at most (2 m + k) / tau, for m sticking contacts and k
such normals. For a one-dimensional null space, as of two feet, s is found by bisection: each value admits an interval of c.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.friction_cone import Cone
from kineta.numerics.linear_algebra import norm, svd

#: Friction utilisation below which forces need no redistribution.
FULL = 0.999
#: Growth factor of tau between stages.
FASTER = 20.0
#: Factor on the duality gap of a converged s that suffices away from the friction limits.
CLEAR = 8.0
#: Newton steps of a stage.
NEWTON = 30
#: Shortest fraction of a Newton step, and the squared Newton decrement of a centred point.
LEAST, CENTRED = 1e-6, 0.03
#: Smallest friction limit: its inverse to the fourth power is still a float.
NO_BOUND = 1e-60
#: The square root of 2, and the diagonal of J, which reverses the sign of friction.
ROOT, MIRROR = math.sqrt(2), np.array([1.0, -1.0, -1.0])


def interior_forces(
    x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int]
) -> tuple[FloatArray, float, float]:
    """Forces x + Z c inside all *cones*, or of least violation, with compressive normals *pushing*; their largest friction
    utilisation, and a lower bound of it.
    """
    work = squared_utilisation(x, cones)
    s, ends = float(np.sqrt(work.max(initial=0.0))), 2 * len(cones) + len(pushing)
    if s < FULL or not Z.shape[1] or not s < np.inf:
        return x, s, s
    if Z.shape[1] == 1:
        return interior_forces_on_line(x, Z[:, 0], cones, pushing, s)
    if not (s * tolerances.NEWTON_TOLERANCE < 1 and (x[list(pushing)] > 0).all()):
        return x, s, s
    free = _LogBarrier.of(x, Z, cones, pushing)
    m = ends + math.sqrt(ends)  # a centred point up to the accepted Newton decrement
    way, s, tau = np.zeros(Z.shape[1]), 1.1 * s, m / s
    while True:
        way, s, centred = _centred(free, way, s, tau)
        gap, most = m / tau, free.part(way)
        if not centred:
            return x + Z @ way, most, most
        if 1 - s >= CLEAR * gap or s - gap > 1 + tolerances.NEWTON_TOLERANCE or gap < tolerances.NEWTON_TOLERANCE:
            return x + Z @ way, most, s - gap
        s = max(s, most + gap / m)
        tau *= FASTER


def interior_forces_on_line(
    x: FloatArray, z: FloatArray, cones: Sequence[Cone], pushing: Collection[int], high: float
) -> tuple[FloatArray, float, float]:
    """As :func:`interior_forces`, for forces x + z c along one direction; *high* is the friction utilisation of x."""
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
        if max((1 - high) / CLEAR, low - 1, tolerances.NEWTON_TOLERANCE) >= high - low:
            shared = x + c * z
            return shared, float(np.sqrt(squared_utilisation(shared, cones).max())), low


def _middle(first: float, last: float, reach: float) -> float:
    """The midpoint between *first* and *last*; for an infinite end, a point at the distance *reach* from the finite end or
    from zero.
    """
    if math.isfinite(first) and math.isfinite(last):
        return (first + last) / 2
    return max(first + reach, min(0.0, last - reach))


class _FrictionOnLine(NamedTuple):
    """The friction of a contact under forces x + z c: its square is ``square + across (c - near)^2``, its limit ``most +
    more (c - near)``.
    """

    near: float
    across: float
    square: float
    most: float
    more: float


def _line(x: FloatArray, z: FloatArray, cone: Cone) -> _FrictionOnLine:
    own, n = list(cone.tangents), cone.normal
    most, more = (cone.bound, 0.0) if n is None else (cone.bound * float(x[n]), cone.bound * float(z[n]))
    across = float(z[own] @ z[own])
    near = -float(x[own] @ z[own]) / across if across else 0.0
    force = x[own] + near * z[own]
    return _FrictionOnLine(near, across, float(force @ force), most + near * more, more)


def _part(first: float, last: float, lines: Sequence[_FrictionOnLine], s: float) -> tuple[float, float]:
    """The interval of c within *first* to *last* in which the friction utilisation of all *lines* is at most *s*; empty
    where the first end is above the last.
    """
    for near, across, square, most, more in lines:
        a, h, e = across - (s * more) ** 2, -s * s * most * more, square - (s * most) ** 2
        first, last = (end + near for end in _left(first - near, last - near, a, h, e, more))
    return first, last


def _left(first: float, last: float, a: float, h: float, e: float, more: float) -> tuple[float, float]:
    """The part of the interval *first* to *last* with a c^2 + 2 h c + e <= 0; for a < 0 the branch towards which *more* lets
    the friction limit grow.
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


@dataclass(frozen=True, slots=True)
class _LogBarrier:
    """The barrier over the forces x + Z c: friction limits and friction ``u`` of contacts (m, 3) with slopes ``G`` (m, 3,
    k), compressive normal forces ``pushes`` (p,) with slopes ``P`` (p, k).
    """

    u: FloatArray
    G: FloatArray
    pushes: FloatArray
    P: FloatArray

    @classmethod
    def of(cls, x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int]) -> _LogBarrier:
        """The barrier of *cones* and of the compressive normals *pushing*."""
        both = np.c_[x, Z]
        found = np.zeros((len(cones), 3, both.shape[1]))
        for own, cone in zip(found, cones, strict=True):
            own[0] = cone.bound * (both[cone.normal] if cone.normal is not None else np.eye(1, both.shape[1])[0])
            own[1 : 1 + len(cone.tangents)] = both[list(cone.tangents)]
        rest = both[list(pushing)]
        return cls(found[:, :, 0], found[:, :, 1:], rest[:, 0], rest[:, 1:])

    def at(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Friction limits with friction, and normal forces, at *c*."""
        return self.u + self.G @ c, self.pushes + self.P @ c

    def part(self, c: FloatArray) -> float:
        """The largest friction utilisation at *c*."""
        u = self.at(c)[0]
        return float((np.hypot(u[:, 1], u[:, 2]) / np.maximum(u[:, 0], NO_BOUND)).max())

    def inside(self, c: FloatArray, s: float, most: FloatArray) -> bool:
        """Whether friction is within its limits, enlarged by s - 1 times *most* (m, 1), and all normal forces are
        compressive.
        """
        u, pushes = self.at(c)
        u[:, :1] += (s - 1) * most
        return bool(s > 0 and (u[:, 0] > np.hypot(u[:, 1], u[:, 2])).all() and (pushes > 0).all())


def _centred(free: _LogBarrier, c: FloatArray, s: float, tau: float) -> tuple[FloatArray, float, bool]:
    """The point (c, s) of the central path at *tau*, by Newton's method, and whether Newton's method has converged."""
    most = free.at(c)[0][:, :1]
    H = np.concatenate([free.G, np.stack([most, 0 * most, 0 * most], axis=1)], axis=2)
    P = np.c_[free.P, np.zeros(len(free.P))]
    right = np.r_[np.tile([-ROOT, 0.0, 0.0], len(most)), np.full(len(P), -1.0)]
    for _ in range(NEWTON):
        u, pushes = free.at(c)
        u[:, :1] += (s - 1) * most
        rows = np.concatenate([_roots(u) @ H, P[:, None] / pushes[:, None, None]], axis=None).reshape(-1, len(c) + 1)
        size = norm(rows, axis=0)
        size[size == 0] = 1.0
        U, widths, V = svd(rows / size, what="the forces that stay within their bounds", full_matrices=False)
        kept = widths > 4 * tolerances.EPS * widths[0]
        force = (U.T @ right)[kept] + tau / size[-1] * V[kept, -1] / widths[kept]
        step = -(V[kept].T @ (force / widths[kept])) / size
        share = 1.0
        while not free.inside(c + share * step[:-1], s + share * float(step[-1]), most):
            share /= 2
            if share < LEAST:  # no feasible step remains within rounding
                return c, s, False
        c, s = c + share * step[:-1], s + share * float(step[-1])
        if force @ force < CENTRED and share == 1:
            return c, s, True
    return c, s, False


def _roots(u: FloatArray) -> FloatArray:
    """Square roots R (m, 3, 3) of the Hessians R R of -log(u^T J u), J = diag(1, -1, -1): near the boundary of a cone they lose
    fewer digits than the Hessians. With a = J u / (u^T J u)^(1/2) and its sum w with the first unit vector e::

        R = (2 / u^T J u)^(1/2) (w w^T / w_0 - J)        first derivatives = -2^(1/2) R e
    """
    friction = np.hypot(u[:, 1], u[:, 2])
    size = np.sqrt((u[:, 0] - friction) * (u[:, 0] + friction))[:, None, None]
    w = u[:, :, None] * MIRROR[:, None] / size
    w[:, 0] += 1
    return np.asarray(ROOT / size * (w / w[:, :1] @ w.transpose(0, 2, 1) - np.diag(MIRROR)))


def squared_utilisation(x: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The squares (m,) of the friction utilisations of *cones*."""
    sizes = [float(np.hypot.reduce(x[list(c.tangents)])) for c in cones]
    return np.array([(size / _bound(x, c)) ** 2 if size else 0.0 for size, c in zip(sizes, cones, strict=True)])


def _bound(x: FloatArray, cone: Cone) -> float:
    """The friction limit of a *cone*."""
    return max(cone.bound * (1.0 if cone.normal is None else float(x[cone.normal])), NO_BOUND)
