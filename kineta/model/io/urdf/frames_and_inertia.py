"""Numbers of robots in URDF that stand in attributes: places and turns of frames, masses and moments of inertia of links."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from kineta import tolerances
from kineta.algebra.expression import expr
from kineta.errors import ModelError
from kineta.model.body import Inertia
from kineta.model.checks.inertia_check import principal_moments
from kineta.model.coercion import vector
from kineta.model.io.urdf.coverage import Note, note
from kineta.model.io.urdf.xml import XMLElement
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rotation, Rx, Ry, Rz
from kineta.model.joints.shift import Sx, Sy, Sz

#: A decimal number as XML writes it.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def numbers(element: XMLElement, attribute: str, count: int, default: Sequence[float] | None = None) -> list[float]:
    """The *count* numbers of an attribute."""
    text = element.attributes.get(attribute)
    if text is None and default is not None:
        return list(default)
    text = element.get(attribute) if text is None else text
    parts = text.split()
    values = [float(part) for part in parts if _NUMBER.fullmatch(part)]
    if len(values) != count or len(parts) != count or not all(map(math.isfinite, values)):
        plural = "numbers" if count > 1 else "number"
        raise ModelError(f"<{element.tag}> {attribute}: expected {count} {plural}, found '{text}'.", element.location)
    return values


def placement(element: XMLElement | None) -> list[Motion]:
    """Constant motions to a frame: shifts, then turns about fixed axes x, y, z, that is about own axes z, y, x."""
    if element is None:
        return []
    xyz = numbers(element, "xyz", 3, (0, 0, 0))
    shifts: list[Motion] = [make(x) for make, x in zip((Sx, Sy, Sz), xyz, strict=True) if x]
    return [*shifts, *turns(element)]


def turns(element: XMLElement) -> list[Rotation]:
    """Turns about fixed axes x, y, z, as those about own axes z, y, x."""
    roll, pitch, yaw = angles(element)
    return [make(angle) for make, angle in ((Rz, yaw), (Ry, pitch), (Rx, roll)) if angle]


def angles(element: XMLElement) -> list[float]:
    """The angles of turns about the fixed axes x, y, z, from ``rpy`` or ``quat_xyzw``."""
    if "quat_xyzw" not in element.attributes:
        return numbers(element, "rpy", 3, (0, 0, 0))
    if "rpy" in element.attributes:
        raise ModelError("<origin>: expected rpy or quat_xyzw, found both.", element.location)
    quaternion = numbers(element, "quat_xyzw", 4)
    length = math.hypot(*quaternion)
    if not tolerances.ROUNDING_TOLERANCE < length < math.inf:
        found = element.attributes["quat_xyzw"]
        raise ModelError(f"<origin> quat_xyzw: expected a quaternion of length 1, found '{found}'.", element.location)
    x, y, z, w = (c / length for c in quaternion)
    # Half the sum and half the difference of roll and yaw: with a pitch of +-90 degrees the rotation depends on one alone.
    half_sum, half_difference = math.atan2(x + z, w - y), math.atan2(x - z, w + y)
    pitch = 2 * math.atan2(math.hypot(x - z, w + y), math.hypot(x + z, w - y)) - math.pi / 2
    return [half_sum + half_difference, pitch, half_sum - half_difference]


def link_inertia(link: XMLElement, name: str, notes: list[Note]) -> Inertia:
    """The inertia of the *link* called *name*; of one that no body can have, *notes* get one."""
    element = link.one("inertial")
    if element is None:
        return Inertia()
    mass_element, inertia_element = element.one("mass"), element.one("inertia")
    for tag, child in (("mass", mass_element), ("inertia", inertia_element)):
        if child is None:
            raise ModelError(f"link '{name}': <inertial> has no <{tag}>.", element.location)
    assert mass_element is not None
    assert inertia_element is not None
    (mass,) = numbers(mass_element, "value", 1)
    if mass < 0:
        raise ModelError(f"link '{name}': mass is {mass:g} kg; expected zero or more.", mass_element.location)
    entries = {k: numbers(inertia_element, k, 1)[0] for k in ("ixx", "iyy", "izz")}
    entries |= {k: numbers(inertia_element, k, 1, (0,))[0] for k in ("ixy", "ixz", "iyz")}
    origin = element.one("origin")
    com = numbers(origin, "xyz", 3, (0, 0, 0)) if origin is not None else [0.0, 0.0, 0.0]
    rpy = angles(origin) if origin is not None else [0.0, 0.0, 0.0]
    moments, products = _rotated(entries, rpy)
    unchecked = _impossible(inertia_element, moments, products, notes)
    return Inertia(
        mass=expr(mass), com=vector(com), moments=vector(moments), products=vector(products), unchecked=unchecked
    )


def _impossible(element: XMLElement, moments: Sequence[float], products: Sequence[float], notes: list[Note]) -> bool:
    """Note an inertia tensor that no body can have; it is used unchanged, as in other programs."""
    a, b, c = sorted(principal_moments(moments, products))
    slack = tolerances.INERTIA_TOLERANCE * abs(c)
    if a >= -slack and a + b >= c - slack:
        return False
    notes.append(note(element, "used as it stands", "no body has these moments of inertia; correct them"))
    return True


def _rotated(entries: dict[str, float], rpy: Sequence[float]) -> tuple[list[float], list[float]]:
    """Moments and products of an inertia tensor given in axes turned by *rpy*."""
    I = [
        [entries["ixx"], entries["ixy"], entries["ixz"]],
        [entries["ixy"], entries["iyy"], entries["iyz"]],
        [entries["ixz"], entries["iyz"], entries["izz"]],
    ]
    if any(rpy):
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in rpy)
        R = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
        half = [[sum(R[i][k] * I[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        I = [[sum(half[i][k] * R[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    return [I[0][0], I[1][1], I[2][2]], [I[0][1], I[0][2], I[1][2]]
