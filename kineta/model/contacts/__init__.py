"""Unilateral constraints: contacts and limits, which push and never pull, and dry friction, bounded by its limit.

A file holds a kind: its record, its words, its reading, writing and checking. Gaps, directions and bounds, as expressions, stand
in ``kineta.mechanics.contact.unilateral_rows``. Reading order: ``restitution``, ``parameter_condition``, ``limit``,
``joint_friction``, ``contact``, ``mutual_contact``.
"""

from __future__ import annotations

from typing import Any

from kineta.model.contacts import contact, joint_friction, limit, mutual_contact
from kineta.model.kind import Kind

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (contact.KIND, mutual_contact.KIND, limit.KIND, joint_friction.KIND)
