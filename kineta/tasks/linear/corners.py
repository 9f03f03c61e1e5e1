"""Corners and jumps of forces at an equilibrium, where the matrices of small motions are others on each side.

Derivatives at two distances on both sides of the equilibrium, of which the nearer one is a fraction, are extrapolated to it;
those of a smooth force meet there.
"""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.records import dataclass
from kineta.runtime.kinks import at_kink
from kineta.runtime.steady_motion import SteadyConditions, SteadyState
from kineta.tasks.linear.descriptor_matrices import LIPSCHITZ, NEARER

#: Pairs of opposite sides that are looked at.
PAIRS = 4


@dataclass(frozen=True)
class Corners:
    """Corners and jumps at an equilibrium.

    placed, moving : whether the derivatives of the forces by the position, or by the speeds and states, are others on each side,
        or the forces jump
    uneven : whether forces at opposite speeds have a part in common that has a corner, so that it may feed the motion
    stiffness : the extrapolated derivatives (sides, nv, nb) of the forces by the motions; none where the forces jump
    """

    placed: bool
    moving: bool
    uneven: bool
    stiffness: tuple[FloatArray, ...]


def corners(conditions: SteadyConditions, at: SteadyState) -> Corners | None:
    """Return the corners of forces and rates at the equilibrium *at*; None where all is smooth."""
    here = (np.array([at.t]), at.q, at.v, at.p)
    if not at_kink(conditions.equations, conditions.tau.expressions.values(), *here):
        return None
    parts, rng, n = conditions.parts, np.random.default_rng(0), conditions.system.nv
    far, near = list[FloatArray](), list[FloatArray]()
    for _ in range(PAIRS):
        change = _change(conditions, rng, "motion", "speed", "state")
        for sign in (1, -1):
            for to, part in ((far, 1.0), (near, NEARER)):
                to.append(conditions.jacobian(conditions.retract(at, sign * part * change)))
    limits = np.array(near) + NEARER / (1 - NEARER) * (np.array(near) - np.array(far))
    size = max(1.0, float(np.abs(np.nan_to_num(limits)).max(initial=0.0)))
    # What is singular here is no corner, and has a sentence of its own.
    spread = np.nan_to_num(np.ptp(limits, axis=0), nan=0.0, posinf=0.0) > tolerances.SIDE_DISTANCE * size
    stepping = _jumps(conditions, at, rng, "motion")
    placed = bool(stepping or spread[:, parts["motion"]].any())
    moving = bool(spread.any() or _jumps(conditions, at, rng, "speed", "state"))
    if not (placed or moving):
        return None
    K = tuple(x[:n, parts["motion"].start : parts["motion"].stop] for x in limits)
    return Corners(placed, moving, _is_uneven(conditions, at, rng), () if stepping else K)


def _change(conditions: SteadyConditions, rng: np.random.Generator, *kinds: str) -> FloatArray:
    """A small random change of some *kinds* of a state."""
    change = np.zeros(conditions.parts["parameter"].stop)
    for part in (conditions.parts[kind] for kind in kinds):
        signs, sizes = rng.choice([-1.0, 1.0], len(part)), rng.uniform(0.5, 1.0, len(part))
        change[part.start : part.stop] = tolerances.SIDE_DISTANCE * signs * sizes
    return change


def _jumps(conditions: SteadyConditions, at: SteadyState, rng: np.random.Generator, *kinds: str) -> bool:
    """Whether forces or rates jump with some *kinds* of changes: their differences are as large near as far."""
    for _ in range(PAIRS):
        change = _change(conditions, rng, *kinds)
        wide, narrow = (
            np.abs(
                conditions.residuals(conditions.retract(at, part * change))
                - conditions.residuals(conditions.retract(at, -part * change))
            )
            for part in (1.0, NEARER)
        )
        size = max(1.0, float(np.abs(np.nan_to_num(wide)).max(initial=0.0)))
        if (narrow > np.maximum(LIPSCHITZ * tolerances.SIDE_DISTANCE * size, wide / 2)).any():
            return True
    return False


def _is_uneven(conditions: SteadyConditions, at: SteadyState, rng: np.random.Generator) -> bool:
    """Whether forces at opposite speeds have a part in common that is of their first order."""
    n, middle = conditions.system.nv, conditions.residuals(at)
    for _ in range(PAIRS):
        change = _change(conditions, rng, "speed")
        ahead, back = (conditions.residuals(conditions.retract(at, sign * change)) for sign in (1, -1))
        even = np.abs((ahead - middle) + (back - middle))[:n]
        # Inertia has such a part of second order, and rounding.
        rounding = tolerances.ROUNDING_TOLERANCE * max(1.0, float(np.abs([ahead, back]).max(initial=0.0)))
        if (even > LIPSCHITZ * tolerances.SIDE_DISTANCE**2 + rounding).any():
            return True
    return False
