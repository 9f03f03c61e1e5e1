"""Models that come with kineta."""

from __future__ import annotations

from pathlib import Path

#: The model that ``kineta new`` writes; NAME in it stands for the name of the new model.
TEMPLATE = Path(__file__).with_name("new.kin")


def example_files() -> list[Path]:
    """The example models: of the installed package, or of the source tree around it."""
    here = Path(__file__).parent
    installed = here / "examples"
    folder = installed if installed.is_dir() else here.parent.parent / "examples"
    return sorted(folder.glob("*.kin"))
