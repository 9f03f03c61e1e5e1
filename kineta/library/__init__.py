"""Models that come with kineta."""

from __future__ import annotations

from pathlib import Path


def example_files() -> list[Path]:
    """The example models: of the installed package, or of the source tree around it."""
    here = Path(__file__).parent
    installed = here / "examples"
    folder = installed if installed.is_dir() else here.parent.parent / "examples"
    return sorted(folder.glob("*.kin"))
