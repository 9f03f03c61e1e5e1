"""Values that are hardly meant: angles that look like degrees without their unit, and gravity upwards."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kineta.model.constraints import placement
from kineta.model.contacts.limit import Limit
from kineta.model.dimensions import unit_of, variable_units
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.system import System

#: Bounds of this size, in radians, are few; in degrees they are usual.
_TURN, _DEGREES = 2 * math.pi, 360


def doubtful_values(system: System) -> Iterator[str]:
    """Sentences on gravity along z, and on turns, limits and initial values of angles that are whole numbers, of more than a turn
    in radians.
    """
    x, y, z = (component.value for component in system.gravity)
    if x == y == 0 and z is not None and z > 0:
        yield f"Gravity points upwards, along z; write gravity {z:g} m/s^2 if it is to point downwards."
    yield from _turns(system)
    yield from _limits(system)
    units = variable_units(system)
    for name, value in system.initial:
        if name in system.initial.measured:
            continue
        found = placement.numeric_value(system, value)
        if units.get(name) == "rad" and not value.symbols() and found is not None and _suspect(found):
            yield f"Initial '{name}': {_in_degrees(found)}"


def _turns(system: System) -> Iterator[str]:
    for body in system.bodies:
        for motion in body.motions:
            found = motion.argument.value if isinstance(motion, ElementaryMotion) and motion.turns else None
            if found is not None and _suspect(found):
                place = f" ({body.location})" if body.location else ""
                yield f"Body '{body.name}'{place}: {motion.text} turns by {_in_degrees(found)}"


def _limits(system: System) -> Iterator[str]:
    for record in system.contacts:
        if not isinstance(record, Limit) or unit_of(system, record.value) != "rad":
            continue
        bounds = zip((record.lower, record.upper), record.dimensions, strict=True)
        bare = [placement.numeric_value(system, x) for x, own in bounds if x is not None and own is None]
        large = [b for b in bare if b is not None and _suspect(b)]
        if large:
            place = f" ({record.location})" if record.location else ""
            yield (
                f"Limit '{record.name}'{place}: the angle '{record.value}' is in radians, and {large[0]:g} of them are "
                f"{abs(large[0]) / _TURN:.1f} turns; if degrees are meant, write {large[0]:g} deg."
            )


def _in_degrees(angle: float) -> str:
    return f"{angle:g} rad = {math.degrees(angle):.1f} deg; write {angle:g} deg if degrees are meant."


def _suspect(angle: float) -> bool:
    """Whether *angle* is as those that are written in degrees."""
    return _TURN < abs(angle) <= _DEGREES and angle == round(angle)
