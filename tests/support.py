"""What several test files need."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import kineta as kn

ROOT = Path(__file__).resolve().parent.parent
#: Reference problems and theory that lie beside the repository.
SHARED = ROOT.parent / "shared"
EXAMPLES = ROOT / "examples"

#: For tests that compare with the reference problems: a copy of the repository alone does without them.
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no folder '{SHARED.name}' beside the repository")


def reads_back(system: kn.System) -> None:
    """Assert that *system* is the same, and is written alike, after it was written and read, in text and in bytes."""
    again = kn.loads(kn.dumps(system))
    assert again == system
    assert hash(again) == hash(system)
    assert kn.dumps(again) == kn.dumps(system)
    assert pickle.loads(pickle.dumps(system)) == system == system.replace(name=system.name)
