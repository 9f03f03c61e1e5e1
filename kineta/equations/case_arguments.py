"""Arguments with a row for every case: their values, their number, and checks that they are finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError
from kineta.model.system import System
from kineta.values import numbers


def column(name: str, value: Any) -> FloatArray:
    """*value* as a number, or as one number per case, (cases,)."""
    values = numbers(name, value)
    if values.ndim > 1:
        raise ArgumentError(f"Expected a number for {name}, or one for every case, found shape {values.shape}.")
    return values


def check_finite(system: System, what: str, names: Sequence[str], values: FloatArray) -> None:
    """Raise for a value (n,) or (cases, n) that is not finite."""
    finite = np.isfinite(values)
    if not finite.all():
        bad = np.argwhere(~finite)
        *case, i = bad[0].tolist()
        where = f" in case {case[0]}" if case else ""
        value = values[tuple(bad[0])]
        raise ArgumentError(f"Model '{system.name}': {what} '{names[i]}' is {value}{where}; expected a finite number.")


def case_count(given: Mapping[str, FloatArray]) -> int | None:
    """The number of cases, or None for a single motion. *given*: rows (n,) or (cases, n) by name."""
    found = {name: len(rows) for name, rows in given.items() if rows.ndim > 1}
    if len(set(found.values())) > 1:
        raise ArgumentError(
            f"Expected the same number of cases, found {', '.join(f'{k} for {n}' for n, k in found.items())}."
        )
    count = next(iter(found.values()), None)
    if count == 0:
        raise ArgumentError(f"Expected at least one case, found none for {next(iter(found))}.")
    return count
