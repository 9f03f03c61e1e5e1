"""What forces of contacts and of dry friction may be, and the nearest to some that they may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cone:
    """What the forces along the rows of one contact may be.

    normal : the row along which it pushes with at least the force ``least``; None for friction in a joint
    tangents : the rows of friction, of which the force is at most ``bound``, times that of the normal if there is one
    slip : the direction in which it slips, against which the force is at its bound; None where that is not known
    ease : what its forces count for beside those of others, where least forces are asked for
    """

    normal: int | None
    tangents: tuple[int, ...]
    bound: float
    slip: tuple[float, ...] | None = None
    least: float = 0.0
    ease: float = 1.0

    @property
    def rows(self) -> tuple[int, ...]:
        """All its rows."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)


def paces(S: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The force along each row that makes up for an acceleration along it: 1 over the diagonal, the largest of the tangents of
    one contact; none where nothing gives way.
    """
    diagonal, found = S.diagonal().tolist(), np.zeros(len(S))
    for cone in cones:
        if cone.normal is not None:
            found[cone.normal] = _pace(diagonal[cone.normal])
        if cone.tangents:
            found[list(cone.tangents)] = _pace(max(diagonal[i] for i in cone.tangents))
    return found


def _pace(stiffness: float) -> float:
    return 1.0 / stiffness if stiffness > 0 else 0.0


def nearest(t: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The forces that may be which are nearest to *t*, normals first."""
    given, found = t.tolist(), [0.0] * len(t)
    for cone in cones:
        pushed, n, own = 1.0, cone.normal, cone.tangents
        if n is not None:
            found[n] = pushed = max(cone.least, given[n])
        if not own:
            continue
        most, force = cone.bound * pushed, [given[i] for i in own]
        size = math.hypot(*force)
        if cone.slip is not None:
            force = [most * -e for e in cone.slip]
        elif size > most:
            force = [most * (f / size) for f in force]
        for i, f in zip(own, force, strict=True):
            found[i] = f
    return np.array(found)


def slopes(t: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The derivatives of what is :func:`nearest` to *t*, by *t*."""
    slope = np.zeros((len(t), len(t)))
    for cone in cones:
        pushed, n, own = 1.0, cone.normal, list(cone.tangents)
        if n is not None:
            pushed = max(cone.least, float(t[n]))
            slope[n, n] = t[n] > cone.least
        if not own:
            continue
        most, size = cone.bound * pushed, math.hypot(*t[own])
        if cone.slip is None and size <= most:
            slope[own, own] = 1.0
            continue
        toward = t[own] / size if cone.slip is None else -np.array(cone.slip)
        if cone.slip is None:
            slope[np.ix_(own, own)] = most / size * (np.eye(len(own)) - np.outer(toward, toward))
        if n is not None:
            slope[own, n] = cone.bound * toward * slope[n, n]
    return slope
