"""Parts of sentences of the text language: vectors and places."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.algebra.expression import Expr
from kineta.model.body import Station


def vector(components: Sequence[Expr]) -> str:
    """``(x, y, z)``."""
    return f"({', '.join(map(str, components))})"


def place(station: Station) -> str:
    """``Body at (x, y, z)``, or the name alone for a place at its origin."""
    away = any(p.value != 0 for p in station.position)
    return f"{station.body} at {vector(station.position)}" if away else station.body
