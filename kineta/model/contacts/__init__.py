"""Contacts: what pushes but does not pull, and what holds only up to a bound.

A file holds a kind: its record, its words, its reading, writing and checking. Gaps, directions and bounds, as expressions, stand
in ``kineta.formalism.touch``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kineta.model.contacts import contact, friction, limit
from kineta.model.elements.kind import Kind

#: The record of any kind.
Unilateral = contact.Contact | limit.Limit | friction.Friction

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (contact.KIND, limit.KIND, friction.KIND)

#: The first words of their statements.
WORDS = tuple(k.word for k in KINDS)

_OF: Mapping[type, Kind[Any]] = {k.record: k for k in KINDS}


def kind_of(record: Unilateral) -> Kind[Any]:
    """The kind of *record*."""
    return _OF[type(record)]
