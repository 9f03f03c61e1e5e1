"""Settings of the test suite."""

from __future__ import annotations

import os
import signal
import tempfile

import pytest

# Before anything compiles: tests neither use nor leave code in the user's cache.
os.environ["KINETA_CACHE_DIR"] = tempfile.mkdtemp(prefix="kineta-test-cache")

# A shell that starts a command in the background has the command ignore Ctrl-C, which the tests of interruptions send.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew instead of comparing with them")
