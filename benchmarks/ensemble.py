"""A thousand runs from random states: one call of ``simulate`` for all of them beside one call each.

Every run is sampled at the same times and takes the same steps either way; the end states are compared first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

import kineta as kn
from benchmarks.robots import EXAMPLES
from benchmarks.timing import interleaved, table

FloatArray = NDArray[np.float64]

SPAN = 10.0
#: Models, and how far the starts lie from theirs.
MODELS = {"puma560": 0.3, "hopping_robot_stance": 0.02}


@contextmanager
def one_core() -> Iterator[None]:
    """This process on one core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def starts(system: kn.System, runs: int, spread: float) -> FloatArray:
    """Coordinates (runs, nq) around those of the model."""
    first = kn.simulate(system, 1e-6, samples=2).q[0]
    return np.asarray(first + spread * np.random.default_rng(0).normal(size=(runs, system.nq)))


def contestants(system: kn.System, q: FloatArray) -> dict[str, Callable[[], kn.Result | list[kn.Result]]]:
    equations = kn.derive(system)

    def together() -> kn.Result:
        return kn.simulate(equations, SPAN, q=q, samples=101)

    def on_one_core() -> kn.Result:
        with one_core():
            return together()

    def apart() -> list[kn.Result]:
        return [kn.simulate(equations, SPAN, q=row, samples=101) for row in q]

    return {"one call each": apart, "one call, one core": on_one_core, "one call, all cores": together}


def main(quick: bool = False) -> None:
    runs = 100 if quick else 1000
    rows = []
    for name, spread in MODELS.items():
        system = kn.load(EXAMPLES / f"{name}.kin")
        calls = contestants(system, starts(system, runs, spread))
        each, all_of_them = calls["one call each"](), calls["one call, all cores"]()
        assert isinstance(each, list)
        assert isinstance(all_of_them, kn.Result)
        difference = max(np.abs(one.y - y).max() for one, y in zip(each, all_of_them.y, strict=True))
        seconds = interleaved(calls, 2 if quick else 5)
        slowest = seconds["one call each"]
        for contestant, s in seconds.items():
            times = (f"{s:.3f}", f"{1e3 * s / runs:.3f}", f"{slowest / s:.1f}", f"{difference:.0e}")
            rows.append((f"{name}, {contestant}", *times))
    print(table((f"{runs} runs over {SPAN:g} s", "s", "ms a run", "ratio", "difference"), rows))
