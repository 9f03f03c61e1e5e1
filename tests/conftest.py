"""Settings of the test suite."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile

import pytest

# Before anything compiles: tests neither use nor leave code in the user's cache. Workers of one run share theirs.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["KINETA_CACHE_DIR"] = tempfile.mkdtemp(prefix="kineta-test-cache")
    atexit.register(shutil.rmtree, os.environ["KINETA_CACHE_DIR"], ignore_errors=True)

# A shell that starts a command in the background has the command ignore Ctrl-C, which the tests of interruptions send.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Thousands of tests stay for the whole run: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew instead of comparing with them")
