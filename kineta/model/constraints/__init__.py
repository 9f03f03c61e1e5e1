"""Constraints: expressions that ideal reactions keep at zero.

A file holds a kind: its record, its words, its reading, writing and checking. Constraint residuals, as expressions, stand in
``kineta.mechanics.constraints``. Reading order: ``placement``, ``equality``, ``equation``, ``loop``, ``rolling``. Beside them, of
contacts: ``three``, ``box_pairs``, ``shapes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kineta.model.body import Station
from kineta.model.constraints import equation, loop, rolling
from kineta.model.kind import Condition, Kind

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (equation.KIND, loop.KIND, rolling.KIND)


def holding(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Constraints of *conditions* on places of bodies: loops but for gears, and rolling."""
    return tuple(c for c in conditions if c.kind.place(c))


def place(condition: Condition) -> Station:
    """Point of reference of the constraint force and couple of a constraint from :func:`holding`."""
    found: Station = getattr(condition, condition.kind.place(condition))
    return found


def at(condition: Condition, place: Station) -> Condition:
    """One of :func:`holding` with another *place*."""
    return replace(condition, **{condition.kind.place(condition): place})  # type: ignore[type-var]  # records are dataclasses
