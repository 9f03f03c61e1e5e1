"""Colours of shapes, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Colours by their names in the language.
COLOURS: Mapping[str, str] = {
    "black": "#22262b",
    "blue": "#4e79c4",
    "brown": "#8a5a3b",
    "cyan": "#3d9aa8",
    "gold": "#b9902f",
    "green": "#4f9d69",
    "grey": "#8a9099",
    "orange": "#e08a3c",
    "pink": "#a8638f",
    "purple": "#7d6bb3",
    "red": "#c8575b",
    "silver": "#c4c9d1",
    "white": "#f4f5f7",
    "yellow": "#e3c34a",
}
_HEX = re.compile(r"#[0-9a-f]{6}")


def known(colour: str) -> bool:
    """Whether *colour* is one of ``COLOURS`` or ``#rrggbb``."""
    return colour in COLOURS or _HEX.fullmatch(colour) is not None


def code(colour: str) -> str:
    """The colour as ``#rrggbb``."""
    return COLOURS.get(colour, colour)
