"""Force elements, each a characteristic and a coordinate (Andreev, section 1).

Characteristics and coordinates are expressions of coordinates, speeds, parameters, the time t and of the positions and
velocities of points (``P.x``, ``P.vx``). A file holds a kind: its record, its words, its reading, writing and checking. What
it does to the equations stands in ``kineta.mechanics.elements.applied_forces``.

Reading order: ``coordinate``, ``axes``, ``force``, ``couple``, ``generalized``, ``spring``, ``damper``, ``smooth_friction``,
``potential``, ``inertia``, ``compliant_contact``.
"""

from __future__ import annotations

from typing import Any

from kineta.model.elements import (
    compliant_contact,
    couple,
    damper,
    force,
    generalized,
    inertia,
    potential,
    smooth_friction,
    spring,
)
from kineta.model.kind import Kind

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (
    force.KIND,
    generalized.KIND,
    couple.KIND,
    spring.KIND,
    damper.KIND,
    smooth_friction.KIND,
    potential.KIND,
    inertia.KIND,
    compliant_contact.KIND,
)
