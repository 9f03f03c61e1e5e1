"""Impacts: the impulses of contacts that strike, by Newton's and by Poisson's restitution.

All contacts that are closed take part, and friction acts during the impact by Coulomb's law on impulses. With the velocities
s along the rows before, and S = W M^-1 W^T, they are S x + s after the impulses x.

Newton's law with friction may give energy to bodies that turn. Where it would, there is less restitution, just so that
none is given.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.complementarity import Cone, forces
from kineta.tasks.look import Look

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Part of the work of impulses that is rounding; and to which part a restitution is known that gives no energy.
ROUNDING, SHARE = 1e-12, 1e-12


def impulses(look: Look, near: Bools, restitution: FloatArray, poisson: Bools) -> FloatArray | None:
    """The impulses (r,) along the rows of the contacts that are *near*, with their *restitution* (m,), which is Poisson's where
    that is said; None where the laws have no solution.
    """
    whole = _with(look, near, restitution, poisson)
    if whole is None or not _gains(look, whole):
        return whole
    low, high = 0.0, 1.0
    while high - low > SHARE:
        share = (low + high) / 2
        tried = _with(look, near, share * restitution, poisson)
        low, high = (low, share) if tried is None or _gains(look, tried) else (share, high)
    return _with(look, near, low * restitution, poisson)


def _gains(look: Look, x: FloatArray) -> bool:
    """Whether impulses give energy, seen from what is struck."""
    work = x * (look.slip + look.S @ x / 2)
    return float(work.sum()) > ROUNDING * float(np.abs(work).sum())


def _with(look: Look, near: Bools, restitution: FloatArray, poisson: Bools) -> FloatArray | None:
    """The impulses that compress and, by Newton's law, part; then those that Poisson's law gives back."""
    b = look.slip.copy()
    for place, e, own in zip(look.places, restitution, poisson, strict=True):
        if place.normal is not None and not own:
            b[place.normal] += e * look.slip[place.normal]
    first = _solved(look, b, near, lambda _: 0.0)
    if first is None or not (poisson & (restitution > 0)).any():
        return first
    pushed = look.normal(first) * restitution * poisson
    second = _solved(look, b + look.S @ first, near, lambda i: float(pushed[i]))
    return None if second is None else first + second


def _solved(look: Look, b: FloatArray, near: Bools, least: Callable[[int], float]) -> FloatArray | None:
    """The impulses after which S x + b is none of what contacts forbid."""
    cones: list[Cone] = [
        look.cone(i, sticks=False, least=least(i))
        for i, place in enumerate(look.places)
        if near[i] and place.normal is not None
    ]
    return forces(look.S, b, cones)
