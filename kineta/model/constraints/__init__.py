"""Constraints: what stays zero whatever the motion, by ideal reactions.

A file holds a kind: its record, its words, its reading, writing and checking. What has to vanish, as expressions, stands in
``kineta.formalism.closures``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kineta.model.constraints import loop, plain, rolling
from kineta.model.elements.kind import Kind

#: The record of any kind.
Condition = plain.Constraint | loop.Loop | rolling.Rolling

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (plain.KIND, loop.KIND, rolling.KIND)

#: The first words of their statements.
WORDS = tuple(k.word for k in KINDS)

_OF: Mapping[type, Kind[Any]] = {k.record: k for k in KINDS}


def holding(conditions: Iterable[Condition]) -> tuple[loop.Loop | rolling.Rolling, ...]:
    """Those of *conditions* that hold places of bodies: loops but for gears, and rolling."""
    kinds = (c for c in conditions if isinstance(c, loop.Loop | rolling.Rolling))
    return tuple(c for c in kinds if not (isinstance(c, loop.Loop) and c.joint == "gear"))


def kind_of(condition: Condition) -> Kind[Any]:
    """The kind of *condition*."""
    return _OF[type(condition)]
