"""Motions of a body: turns and shifts by an expression, and joints with coordinates and speeds of their own.

A file holds a kind: its word in the language, its coordinates and speeds with their units, its frame and its rates. Everything
else asks the record. Reading order: ``motion``, ``rotation``, ``shift``, ``joint``, ``ball``, ``free``.
"""

from __future__ import annotations

from typing import Any

from kineta import entry_points
from kineta.errors import shown
from kineta.model.joints.ball import Ball
from kineta.model.joints.free import Free
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.joints.rotation import Rotation
from kineta.model.joints.shift import Shift

#: Turns and shifts, in the order in which the documents name them.
ELEMENTARY: tuple[type[ElementaryMotion], ...] = (Rotation, Shift)

#: The joints, in the order in which the documents name them.
JOINTS: tuple[type[Joint], ...] = (Ball, Free)


#: The group of entry points that add joints.
GROUP = "kineta.joints"


def words() -> str:
    """The words of the joints of the table: ``Ball or Free``."""
    return " or ".join(joint.__name__ for joint in JOINTS)


def known_words() -> tuple[str, ...]:
    """The words of all joints, those of entry points included."""
    return (*(joint.__name__ for joint in JOINTS), *entry_points.installed(GROUP))


def joint_of(word: str) -> type[Joint] | None:
    """The joint of this *word* of the language, of the table or of an entry point; None where there is none."""
    own = next((joint for joint in JOINTS if joint.__name__ == word), None)
    return own or entry_points.load(GROUP, word, lambda found: _fault(word, found))


def _fault(word: str, found: Any) -> str:
    """The sentence on an object that is no joint with this *word*; "" for one that is."""
    if not (isinstance(found, type) and issubclass(found, Joint)):
        return f"expected a subclass of kineta.model.joints.joint.Joint, found {shown(found)}."
    return "" if found.__name__ == word else f"expected a joint with the word '{word}', found '{found.__name__}'."
