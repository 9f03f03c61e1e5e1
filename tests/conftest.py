"""Settings of the test suite."""

from __future__ import annotations

import os
import tempfile

import pytest

# Before anything compiles: tests neither use nor leave code in the user's cache.
os.environ["KINETA_CACHE_DIR"] = tempfile.mkdtemp(prefix="kineta-test-cache")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew instead of comparing with them")
