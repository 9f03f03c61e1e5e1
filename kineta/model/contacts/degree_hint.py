"""Limits of angles that look like degrees without their unit."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kineta.model.constraints import placement
from kineta.model.contacts.limit import Limit
from kineta.model.dimensions import unit_of
from kineta.model.system import System

#: Bounds of this size, in radians, are few; in degrees they are usual.
_TURN, _DEGREES = 2 * math.pi, 360


def degrees(system: System) -> Iterator[str]:
    """Sentences on the limits of angles with a bound that is a whole number, of more than a turn in radians."""
    for record in system.contacts:
        if not isinstance(record, Limit) or unit_of(system, record.value) != "rad":
            continue
        known = [placement.numeric_value(system, bound) for bound in (record.lower, record.upper) if bound is not None]
        large = [b for b in known if b is not None and _TURN < abs(b) <= _DEGREES and b == round(b)]
        if large:
            place = f" ({record.location})" if record.location else ""
            yield (
                f"Limit '{record.name}'{place}: the angle '{record.value}' is in radians, and {large[0]:g} of them are "
                f"{abs(large[0]) / _TURN:.1f} turns; if degrees are meant, write {large[0]:g} deg."
            )
