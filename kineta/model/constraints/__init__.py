"""Constraints: expressions that ideal reactions keep at zero.

A file holds a kind: its record, its words, its reading, writing and checking. Constraint residuals, as expressions, stand in
``kineta.mechanics.constraints``. Reading order: ``placement``, ``equality``, ``equation``, ``loop``, ``rolling``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kineta.model.body import Station
from kineta.model.compound import CompoundConstraint
from kineta.model.constraints import equation, loop, rolling
from kineta.model.kind import Kind

#: The record of any kind.
Condition = equation.Constraint | loop.Loop | rolling.Rolling | CompoundConstraint

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (equation.KIND, loop.KIND, rolling.KIND)

#: The first words of their statements.
WORDS = tuple(k.word for k in KINDS)

_OF: Mapping[type, Kind[Any]] = {k.record: k for k in KINDS}


def holding(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Constraints of *conditions* on places of bodies: loops but for gears, and rolling."""
    return tuple(c for c in conditions if kind_of(c).place(c))


def place(condition: Condition) -> Station:
    """Point of reference of the constraint force and couple of a constraint from :func:`holding`."""
    found: Station = getattr(condition, kind_of(condition).place(condition))
    return found


def at(condition: Condition, place: Station) -> Condition:
    """One of :func:`holding` with another *place*."""
    return replace(condition, **{kind_of(condition).place(condition): place})  # type: ignore[type-var]  # compounds hold no places, so that it is a dataclass


def kind_of(condition: Condition) -> Kind[Any]:
    """The kind of *condition*."""
    return condition.kind if isinstance(condition, CompoundConstraint) else _OF[type(condition)]
