"""What must hold of a system, and the sentence said where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kineta.model.system import System


def check(system: System) -> None:
    """Raise :class:`~kineta.errors.ModelError` for the first thing wrong with *system*."""
