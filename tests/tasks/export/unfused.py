"""Runs on a processor that fuses no operations, as exported code does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from llvmlite import binding

from kineta.codegen import target


class NoFeatures(dict[str, bool]):
    """A processor with nothing beyond the least of its kind."""

    def flatten(self) -> str:
        return ""


@contextmanager
def unfused() -> Iterator[None]:
    """Code is compiled for a processor without fused operations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binding, "get_host_cpu_features", NoFeatures)
        patch.setattr(binding, "get_host_cpu_name", lambda: "generic")
        target.host.cache_clear()
        target.machine.cache_clear()
        yield
    target.host.cache_clear()
    target.machine.cache_clear()
