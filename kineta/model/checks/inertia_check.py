"""Physical consistency of inertias: signs, the triangle inequality of moments, and its exceptions."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.errors import ExpressionError
from kineta.model.axis import LETTERS, Numbers, unit
from kineta.model.body import GROUND, Inertia
from kineta.model.coercion import vector
from kineta.model.joints.motion import Motion
from kineta.model.reserved_symbols import TIME
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.model.description import Description

#: The least positive number with all its digits.
LEAST = sys.float_info.min
_LEAST = f"; expected zero, or {LEAST:.1e} and more: smaller numbers lose their digits. Choose other units."

#: Axes of rotation of a body, in its frame: empty, a single axis, or None for several.
RotationAxes = tuple[Numbers, ...] | None


def inertia_fault(inertia: Inertia, turning: RotationAxes, values: Mapping[str, float]) -> str:
    """Sentence on a mass distribution *inertia* that no body has; ``''`` for a possible or irrelevant distribution.

    Raises :class:`ExpressionError` where a parameter has no value yet.
    """
    (mass,) = _numbers([inertia.mass], values)
    if 0 < mass < LEAST:
        return f"mass is {mass:g} kg{_LEAST}"
    if mass < 0:
        return f"mass is {mass:g} kg; expected zero or more."
    if inertia.unchecked:
        return ""
    moments = _numbers(inertia.moments, values)
    for axis, moment in zip("xyz", moments, strict=True):
        if 0 < moment < LEAST:
            return f"J{axis} is {moment:g} kg*m^2{_LEAST}"
        if moment < 0:
            return f"J{axis} is {moment:g} kg*m^2; expected zero or more."
    products = _numbers(inertia.products, values)
    if inertia.lumped or _is_lumped(moments, products, turning):
        return ""
    principal = principal_moments(moments, products)
    a, b, c = sorted(principal)
    slack = tolerances.INERTIA_TOLERANCE * max(c, 0.0)
    if a < -slack:
        return f"the inertia tensor has the principal moment {a:g} kg*m^2; expected zero or more."
    if a + b < c - slack:
        shown = ", ".join(f"{m if abs(m) > slack else 0:g}" for m in principal)
        return (
            f"no body has the principal moments {shown} kg*m^2: the largest exceeds the sum of the others. "
            "Correct them, give only the ones that matter with keys, as in Jz(J1), or add the word unchecked to the list."
        )
    return ""


def inertia_margins(inertia: Inertia) -> list[Expr]:
    """Values that are zero or more where *inertia* is a possible mass distribution.

    Principal moments a, b, c obey the triangle inequality where the eigenvalues of K = (tr J)/2 - J, which are (a + b - c)/2 and
    so on, are no less than zero, and so the coefficients of its characteristic polynomial.
    """
    signs, given = [inertia.mass, *inertia.moments], [*inertia.moments, *inertia.products]
    if inertia.unchecked:
        return signs[:1]
    if inertia.lumped or sum(entry.value != 0 for entry in given) < 2:
        return signs
    Jx, Jy, Jz, Jxy, Jxz, Jyz = given
    trace = Jx + Jy + Jz
    x, y, z = (trace / 2 - J for J in inertia.moments)
    second = x * y + y * z + z * x - Jxy * Jxy - Jxz * Jxz - Jyz * Jyz
    third = x * (y * z - Jyz * Jyz) - Jxy * (Jxy * z + Jyz * Jxz) - Jxz * (Jxy * Jyz + Jxz * y)
    slack = tolerances.INERTIA_TOLERANCE
    return [*signs, second + slack * trace * trace, third + slack * trace * trace * trace]


def _numbers(expressions: Sequence[Expr], values: Mapping[str, float]) -> list[float]:
    return [evaluate(e.graph, [e.ref], values)[0] if (x := e.value) is None else x for e in expressions]


def _is_lumped(moments: Sequence[float], products: Sequence[float], turning: RotationAxes) -> bool:
    """Whether the only moment given is about the only axis of rotation of the body: the other moments never enter."""
    given = [i for i, moment in enumerate(moments) if moment]
    if turning is None or len(given) != 1 or any(products):
        return False
    return all(_are_parallel(axis, tuple(LETTERS.values())[given[0]]) for axis in turning)


def rotation_axes(system: Description, values: Mapping[str, float]) -> dict[str, RotationAxes]:
    """Axes about which the bodies of *system* can turn, by their own motions and by the motions of their bases."""
    changing = {TIME, *system.q_names}

    def after(axes: RotationAxes, motion: Motion) -> RotationAxes:
        """Axes of rotation in the frame after *motion*, its own axis included."""
        if axes is None or not motion.turn_axes:
            return axes
        if len(motion.turn_axes) > 1:
            return None
        changes = motion.moved_by(changing)
        if not axes and not changes:
            return ()
        try:
            axis = unit(tuple(_numbers(vector(motion.turn_axes[0]), values)))
            if not axes or _are_parallel(axes[0], axis):
                return axes or (axis,)
            (angle,) = (0.0,) if changes else _numbers(motion.arguments, values)
        except ExpressionError:
            return None
        return None if changes else (_turned(axes[0], axis, -angle),)

    found: dict[str, RotationAxes] = {GROUND: ()}
    for body in system.tree:
        axes = found[body.base]
        for motion in body.motions:
            axes = after(axes, motion)
        found[body.name] = axes
    return found


def _are_parallel(a: Numbers, b: Numbers) -> bool:
    """Whether two unit vectors are parallel or opposite."""
    return abs(abs(sum(x * y for x, y in zip(a, b, strict=True))) - 1) < tolerances.ROUNDING_TOLERANCE


def _turned(v: Numbers, axis: Numbers, angle: float) -> Numbers:
    """*v* turned about the unit vector *axis* (Rodrigues)."""
    (a, b, c), (x, y, z) = axis, v
    across = (b * z - c * y, c * x - a * z, a * y - b * x)
    along = (1 - math.cos(angle)) * (a * x + b * y + c * z)
    p, q, r = (math.cos(angle) * i + math.sin(angle) * j + along * k for i, j, k in zip(v, across, axis, strict=True))
    return p, q, r


def principal_moments(moments: Sequence[float], products: Sequence[float]) -> tuple[float, float, float]:
    """Principal moments of the inertia tensor with the given diagonal and (xy, xz, yz) entries, by Jacobi rotations."""
    A = [
        [moments[0], products[0], products[1]],
        [products[0], moments[1], products[2]],
        [products[1], products[2], moments[2]],
    ]
    for _ in range(30):
        p, q = max(((0, 1), (0, 2), (1, 2)), key=lambda ij: abs(A[ij[0]][ij[1]]))
        if A[p][q] == 0.0:
            break
        theta = 0.5 * math.atan2(2 * A[p][q], A[q][q] - A[p][p])
        c, s = math.cos(theta), math.sin(theta)
        for row in A:
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
        A[p], A[q] = (
            [c * x - s * y for x, y in zip(A[p], A[q], strict=True)],
            [s * x + c * y for x, y in zip(A[p], A[q], strict=True)],
        )
    return A[0][0], A[1][1], A[2][2]
