"""Compiled kernels are made once, by however many threads they are asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from kineta.kernels import machine_code
from kineta.kernels.language import kernel
from kineta.kernels.vectors import take_multiple
from kineta.memory import Reals


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


@kernel
def take_from(y: Reals, a: float, x: Reals, n: int) -> None:
    """A call within machine code, which has several entries at once."""
    take_multiple(y, a, x, n)


def test_several_entries_at_once_have_the_bits_of_one_by_one() -> None:
    rng = np.random.default_rng(0)
    for n in range(12):
        x, y = rng.normal(size=(2, 12))
        at_once = y.copy()
        machine_code.machine_code(take_from)(at_once, 0.3, x, n)
        take_multiple(y, 0.3, x, n)
        assert (at_once == y).all()
