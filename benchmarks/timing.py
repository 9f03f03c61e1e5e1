"""Measuring: medians over repeats in which the contestants take turns, so that what slows the machine slows them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]


def interleaved(
    calls: Mapping[str, Call], repeats: int, at_least: float = 5e-3, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of one call of each, by *clock*: *repeats* rounds, in each of which every contestant runs for *at_least*
    seconds.
    """
    rounds = {name: _rounds(call, at_least) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            n = rounds[name]
            start = clock()
            for _ in range(n):
                call()
            seconds[name].append((clock() - start) / n)
    return {name: statistics.median(s) for name, s in seconds.items()}


def _rounds(call: Call, at_least: float) -> int:
    """Calls that take about *at_least* seconds; the first one warms caches and is not looked at."""
    call()
    start = time.perf_counter()
    call()
    return max(1, round(at_least / (time.perf_counter() - start)))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * sum(widths, 2 * len(widths) - 2))
    return "\n".join(lines)
