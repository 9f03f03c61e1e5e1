"""Friction cones: the admissible forces of contacts and of dry friction, and the projection onto them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kineta.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Cone:
    """The admissible forces along the rows of one contact.

    normal : the row of the normal force, at least ``least``; None for joint friction
    tangents : the rows of friction; its limit is ``bound``, times the normal force if there is a normal
    slip : the direction of slip, opposite to friction at its limit; None if unknown
    ease : weight of these forces among the forces of all contacts in least-norm solutions
    """

    normal: int | None
    tangents: tuple[int, ...]
    bound: float
    slip: tuple[float, ...] | None = None
    least: float = 0.0
    ease: float = 1.0

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows of the contact."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)


def step_sizes(S: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """Step sizes (r,) of projected iterations: the reciprocal diagonal of S, for tangents of the largest entry of their
    contact; zero for rows without response.
    """
    diagonal, found = S.diagonal().tolist(), np.zeros(len(S))
    for cone in cones:
        if cone.normal is not None:
            found[cone.normal] = _step_size(diagonal[cone.normal])
        if cone.tangents:
            found[list(cone.tangents)] = _step_size(max(diagonal[i] for i in cone.tangents))
    return found


def _step_size(stiffness: float) -> float:
    return 1.0 / stiffness if stiffness > 0 else 0.0


def project_onto_cones(t: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The projection of *t* onto the cones, normals first."""
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


def projection_jacobian(t: FloatArray, cones: Sequence[Cone]) -> FloatArray:
    """The Jacobian of :func:`project_onto_cones` at *t*."""
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
