"""What several test files need."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Reference problems and theory that lie beside the repository.
SHARED = ROOT.parent / "shared"
EXAMPLES = ROOT / "examples"

#: For tests that compare with the reference problems: a copy of the repository alone does without them.
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no folder '{SHARED.name}' beside the repository")
