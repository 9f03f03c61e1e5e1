"""Force elements, each a characteristic and a coordinate (Andreev, section 1).

Characteristics and coordinates are expressions of coordinates, speeds, parameters, the time t and of the positions and
velocities of points (``P.x``, ``P.vx``). A file holds a kind: its record, its words, its reading, writing and checking. What
it does to the equations stands in ``kineta.mechanics.elements.applied_forces``.

Reading order: ``coordinate``, ``axes``, ``force``, ``couple``, ``generalized``, ``spring``, ``damper``, ``smooth_friction``,
``potential``, ``inertia``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kineta.model.compound import CompoundElement
from kineta.model.elements import couple, damper, force, generalized, inertia, potential, smooth_friction, spring
from kineta.model.kind import Kind

#: The record of any kind.
Element = (
    force.Force
    | couple.Couple
    | generalized.GeneralizedForce
    | spring.Spring
    | damper.Damper
    | smooth_friction.SmoothFriction
    | potential.Potential
    | inertia.InertiaElement
    | CompoundElement
)

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
)

#: The first words of their statements.
WORDS = tuple(dict.fromkeys(k.word for k in KINDS))

_OF: Mapping[type, Kind[Any]] = {k.record: k for k in KINDS}


def kind_of(element: Element) -> Kind[Any]:
    """The kind of *element*."""
    return element.kind if isinstance(element, CompoundElement) else _OF[type(element)]
