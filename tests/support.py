"""What several test files need."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Reference problems and theory that lie beside the repository.
SHARED = ROOT.parent / "shared"
EXAMPLES = ROOT / "examples"
