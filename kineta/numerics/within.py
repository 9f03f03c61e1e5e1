"""Forces within all bounds of friction, of those that do the same.

Of forces x + Z c the largest part s of a bound that is at work is made small by an interior point method (Boyd and Vandenberghe,
Convex Optimization, 11.3)::

    minimise  tau s - sum log((b_i(x) + (s - 1) b_i)^2 - |T_i|^2) - sum log n_j        for growing tau

with the bounds b_i(x) of the friction T_i of contacts that stick, b_i where tau has last grown, and the normals n_j that can be
shared. On this way s is above the least one by at most (2 m + k) / tau, with m contacts that stick and k such normals. Where
forces are shared along one line, as those of two feet are, s is halved between the least one and one that is enough: each
leaves a part of the line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kineta.numerics.cone import Cone, FloatArray

#: Part of a bound up to which forces are well within it.
FULL = 0.999
#: By how much tau grows from one stage to the next; Newton's steps in one; how near to the least s is near enough, and how many
#: times that is left up to the bounds where s need not be nearer.
FASTER, NEWTON, NEAR, CLEAR = 20.0, 30, 1e-11, 8.0
#: Part of Newton's step below which none is taken; what its square in the measure of the second derivatives is in the middle; and
#: the part of the largest singular value that is rounding.
LEAST, CENTRED, ROUNDING = 1e-6, 0.03, 1e-15
#: A bound is more than this: its inverse to the fourth is a number.
NO_BOUND = 1e-60
#: The root of two, and what turns the sign of friction.
ROOT, MIRROR = math.sqrt(2), np.array([1.0, -1.0, -1.0])


def within(
    x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int]
) -> tuple[FloatArray, float, float]:
    """Forces x + Z c inside of all *cones*, or those nearest to that, with which the normals *pushing* do; the largest part of a
    bound that is at work, and a bound of it from below.
    """
    work = squares(x, cones)
    s, ends = float(np.sqrt(work.max(initial=0.0))), 2 * len(cones) + len(pushing)
    if s < FULL or not Z.shape[1] or not s < np.inf:
        return x, s, s
    if Z.shape[1] == 1:
        return along(x, Z[:, 0], cones, pushing, s)
    if not (s * NEAR < 1 and (x[list(pushing)] > 0).all()):
        return x, s, s
    free = _Room.of(x, Z, cones, pushing)
    m = ends + math.sqrt(ends)  # as near to the middle as is enough
    way, s, tau = np.zeros(Z.shape[1]), 1.1 * s, m / s
    while True:
        way, s, centred = _centred(free, way, s, tau)
        gap, most = m / tau, free.part(way)
        if not centred:
            return x + Z @ way, most, most
        if 1 - s >= CLEAR * gap or s - gap > 1 + NEAR or gap < NEAR:
            return x + Z @ way, most, s - gap
        s = max(s, most + gap / m)
        tau *= FASTER


def along(
    x: FloatArray, z: FloatArray, cones: Sequence[Cone], pushing: Collection[int], high: float
) -> tuple[FloatArray, float, float]:
    """As :func:`within`, of forces x + z c; of a bound no more than the part *high* is at work with x."""
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
        if max((1 - high) / CLEAR, low - 1, NEAR) >= high - low:
            shared = x + c * z
            return shared, float(np.sqrt(squares(shared, cones).max())), low


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


@dataclass(frozen=True, slots=True)
class _Room:
    """What forces x + Z c leave free: the bounds and the friction ``u`` of contacts (m, 3) change by ``G`` (m, 3, k), the
    ``pushes`` of normals (p,) by ``P`` (p, k).
    """

    u: FloatArray
    G: FloatArray
    pushes: FloatArray
    P: FloatArray

    @classmethod
    def of(cls, x: FloatArray, Z: FloatArray, cones: Sequence[Cone], pushing: Collection[int]) -> _Room:
        """That of *cones* and of normals that are *pushing*."""
        both = np.c_[x, Z]
        found = np.zeros((len(cones), 3, both.shape[1]))
        for own, cone in zip(found, cones, strict=True):
            own[0] = cone.bound * (both[cone.normal] if cone.normal is not None else np.eye(1, both.shape[1])[0])
            own[1 : 1 + len(cone.tangents)] = both[list(cone.tangents)]
        rest = both[list(pushing)]
        return cls(found[:, :, 0], found[:, :, 1:], rest[:, 0], rest[:, 1:])

    def at(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds and friction, and pushes."""
        return self.u + self.G @ c, self.pushes + self.P @ c

    def part(self, c: FloatArray) -> float:
        """The largest part of a bound that is at work."""
        u = self.at(c)[0]
        return float((np.hypot(u[:, 1], u[:, 2]) / np.maximum(u[:, 0], NO_BOUND)).max())

    def inside(self, c: FloatArray, s: float, most: FloatArray) -> bool:
        """Whether friction is within bounds larger by s - 1 of the *most* (m, 1), and all that is to push does."""
        u, pushes = self.at(c)
        u[:, :1] += (s - 1) * most
        return bool(s > 0 and (u[:, 0] > np.hypot(u[:, 1], u[:, 2])).all() and (pushes > 0).all())


def _centred(free: _Room, c: FloatArray, s: float, tau: float) -> tuple[FloatArray, float, bool]:
    """The way c and the part s in the middle of what is free with *tau*, by Newton's method; and whether that is found."""
    most = free.at(c)[0][:, :1]
    H = np.concatenate([free.G, np.stack([most, 0 * most, 0 * most], axis=1)], axis=2)
    P = np.c_[free.P, np.zeros(len(free.P))]
    right = np.r_[np.tile([-ROOT, 0.0, 0.0], len(most)), np.full(len(P), -1.0)]
    for _ in range(NEWTON):
        u, pushes = free.at(c)
        u[:, :1] += (s - 1) * most
        rows = np.concatenate([_roots(u) @ H, P[:, None] / pushes[:, None, None]], axis=None).reshape(-1, len(c) + 1)
        size = np.linalg.norm(rows, axis=0)
        size[size == 0] = 1.0
        U, widths, V = np.linalg.svd(rows / size, full_matrices=False)
        kept = widths > ROUNDING * widths[0]
        force = (U.T @ right)[kept] + tau / size[-1] * V[kept, -1] / widths[kept]
        step = -(V[kept].T @ (force / widths[kept])) / size
        share = 1.0
        while not free.inside(c + share * step[:-1], s + share * float(step[-1]), most):
            share /= 2
            if share < LEAST:  # rounding leaves no way on
                return c, s, False
        c, s = c + share * step[:-1], s + share * float(step[-1])
        if force @ force < CENTRED and share == 1:
            return c, s, True
    return c, s, False


def _roots(u: FloatArray) -> FloatArray:
    """Square roots R (m, 3, 3) of the second derivatives R R of -log(u^T J u), J = diag(1, -1, -1): fewer digits are lost with
    them at the ends of cones than with their squares. With a = J u / (u^T J u)^(1/2) and its sum w with the first unit vector e::

        R = (2 / u^T J u)^(1/2) (w w^T / w_0 - J)        first derivatives = -2^(1/2) R e
    """
    friction = np.hypot(u[:, 1], u[:, 2])
    size = np.sqrt((u[:, 0] - friction) * (u[:, 0] + friction))[:, None, None]
    w = u[:, :, None] * MIRROR[:, None] / size
    w[:, 0] += 1
    return np.asarray(ROOT / size * (w / w[:, :1] @ w.transpose(0, 2, 1) - np.diag(MIRROR)))


def squares(x: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The squares of the parts of their bounds that are at work."""
    sizes = [float(np.hypot.reduce(x[list(c.tangents)])) for c in cones]
    return np.array([(size / _bound(x, c)) ** 2 if size else 0.0 for size, c in zip(sizes, cones, strict=True)])


def _bound(x: FloatArray, cone: Cone) -> float:
    """The bound of the friction of a *cone*."""
    return max(cone.bound * (1.0 if cone.normal is None else float(x[cone.normal])), NO_BOUND)
