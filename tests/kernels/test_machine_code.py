"""Compiled kernels are made once, by however many threads they are asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from kineta.kernels import machine_code


@machine_code._once
def made(*values: object) -> object:
    return object()


def test_threads_get_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses within a result are in use: a second one would go with its machine code."""
    monkeypatch.setattr(machine_code, "static_text", str)
    threads = 8
    for k in range(50):
        barrier = Barrier(threads)

        def ask(_: int, k: int = k, barrier: Barrier = barrier) -> object:
            barrier.wait()
            return made(k)

        with ThreadPoolExecutor(threads) as pool:
            assert len(set(map(id, pool.map(ask, range(threads))))) == 1
