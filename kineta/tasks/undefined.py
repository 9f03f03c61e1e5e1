"""Outputs that have no value at some of the times of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from kineta.model.system import System

FloatArray = NDArray[np.float64]


def undefined(
    system: System, t: FloatArray, outputs: Mapping[str, FloatArray], recorded: NDArray[np.bool_]
) -> Iterator[str]:
    """A sentence on every output of *system* that is not finite at some of the times *t* (..., k) that are *recorded*, with the
    first of these; of several cases, where it is first.
    """
    for name in (o.name for o in system.outputs):
        bad = recorded & ~np.isfinite(outputs[name])
        if bad.any():
            first = np.unravel_index(np.where(bad, t, np.inf).argmin(), bad.shape)
            where = f"in case {first[0]} " if bad.ndim > 1 else ""
            yield (
                f"The output '{name}' is not finite at {bad.sum()} of {recorded.sum()} times, first {where}at "
                f"t = {t[first]:g} s: an expression in it has left its domain."
            )
