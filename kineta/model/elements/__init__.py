"""Elements: what acts in a system. Each is a characteristic and a coordinate (Andreev, section 1).

Characteristics and coordinates are expressions of coordinates, speeds, parameters, the time ``t`` and of the positions and
velocities of points (``P.x``, ``P.vx``). A file holds a kind: its record, its words, its reading, writing and checking. What
it does to the equations stands in ``kineta.formalism.elements``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kineta.model.elements import couple, damper, force, generalized, inertia, potential, spring
from kineta.model.elements.kind import Kind

#: The record of any kind.
Element = (
    force.Force
    | couple.Couple
    | generalized.GeneralizedForce
    | spring.Spring
    | damper.Damper
    | potential.Potential
    | inertia.InertiaElement
)

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (
    force.KIND,
    generalized.KIND,
    couple.KIND,
    spring.KIND,
    damper.KIND,
    potential.KIND,
    inertia.KIND,
)

#: The first words of their statements.
WORDS = tuple(dict.fromkeys(k.word for k in KINDS))

_OF: Mapping[type, Kind[Any]] = {k.record: k for k in KINDS}


def kind_of(element: Element) -> Kind[Any]:
    """The kind of *element*."""
    return _OF[type(element)]
