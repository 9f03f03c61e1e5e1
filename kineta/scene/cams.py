"""Cams: bodies that turn on the ground and lift others by a function of their angle, as corners of the hull of their outline."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.errors import ExpressionError
from kineta.model.axis import LETTERS
from kineta.model.body import GROUND, Body
from kineta.model.constraints.equation import Constraint
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.system import System
from kineta.passes.evaluate import evaluate

#: Corners of an outline, and half the thickness of a cam in its radius at the angle zero.
AROUND, THICK = 48, 0.2


def cams(system: System) -> dict[str, tuple[Expr, ...]]:
    """The corners, three components each, of the cams of *system* by their bodies, in axes of these.

    A follower that slides along a line through the axis of the cam stands on it at the distance f of the constraint
    ``z = f(phi)``, which is above zero and the same after a turn.
    """
    alone = {n: (body.name, motion) for body in system.tree for n, motion in _alone(body)}
    found = dict[str, tuple[Expr, ...]]()
    for c in (c for c in system.constraints if isinstance(c, Constraint)):
        moved = [n for n in c.value.symbols() if n in alone]
        for phi, z in (moved, moved[::-1]) if len(moved) == 2 else ():
            (name, cam), (_, follower) = alone[phi], alone[z]
            if not cam.turns or follower.turns or np.dot(_numbers(cam), _numbers(follower)) != 0:
                continue
            slope, rest = c.value.diff(z).value, c.value.subs(z, 0.0)
            if slope in (1.0, -1.0) and {*rest.symbols()} <= {phi, *system.parameter_names}:
                radii = [-slope * rest.subs(phi, 2 * math.pi * k / AROUND) for k in range(AROUND + 1)]
                if _closed(radii, system):
                    found[name] = tuple(_corners(radii, _numbers(cam), _numbers(follower)))
    return found


def _alone(body: Body) -> Iterator[tuple[str, ElementaryMotion]]:
    """The coordinate that alone turns or shifts a *body* on the ground, along one of its axes, with the motion."""
    motion, *more = body.motions or (None,)
    if body.base != GROUND or more or not isinstance(motion, ElementaryMotion) or motion.axis not in LETTERS.values():
        return
    if motion.argument.name is not None:
        yield motion.argument.name, motion


def _numbers(motion: ElementaryMotion) -> FloatArray:
    return np.array([float(x) for x in motion.axis])


def _closed(radii: list[Expr], system: System) -> bool:
    """Whether a curve is above zero, and closed, with the values of the model."""
    try:
        found = evaluate(radii[0].graph, [r.ref for r in radii], system.parameters.numbers)
    except ExpressionError:
        return False
    return bool(min(found) > 0 and abs(found[-1] - found[0]) <= tolerances.STATE_TOLERANCE * found[0])


def _corners(radii: list[Expr], n: FloatArray, towards: FloatArray) -> Iterator[Expr]:
    for k, r in enumerate(radii[:-1]):
        angle = -2 * math.pi * k / AROUND
        d = math.cos(angle) * towards + math.sin(angle) * np.cross(n, towards)
        for side in (THICK, -THICK):
            yield from (r * a + radii[0] * (side * b) for a, b in zip(d.tolist(), n.tolist(), strict=True))
