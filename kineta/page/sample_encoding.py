"""Series of a run as whole numbers of 40 bits, of which those remain that a smooth motion does not tell in advance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.page.compression import compressed, planes

#: The number of steps of a series from its least to its largest value, and bytes of a number of them or of a third difference.
STEPS, BYTES = 2**40 - 2, 6
#: Differences of differences that are tried.
ORDERS = range(4)


def encoded_series(series: Mapping[str, FloatArray]) -> dict[str, Any]:
    """Series of equal length as plain data, within half a step, 5e-13, of their range; ends of it are exact, and numbers that are
    not finite become NaN.

    ``columns`` has the least and the largest value of each, and the order of the differences of which ``codes`` consist; the
    order is -1, and there are no codes, for a series of one value.
    """
    columns, codes = dict[str, list[float]](), list[bytes]()
    rows = 0
    for name, values in series.items():
        rows = len(values)
        low, high, order, code = _encoded(np.asarray(values, float))
        columns[name] = [low, high, order]
        codes.append(code)
    return {"rows": rows, "columns": columns, "codes": compressed(b"".join(codes))}


def one_sample(values: Mapping[str, float]) -> dict[str, Any]:
    """One sample of each series, as :func:`encoded_series` has it."""
    return {"rows": 1, "columns": {n: [x, x, -1] for n, x in values.items()}, "codes": compressed(b"")}


def _encoded(x: FloatArray) -> tuple[float, float, int, bytes]:
    known = np.isfinite(x)
    low, high = (float(x[known].min()), float(x[known].max())) if known.any() else (0.0, 0.0)
    if low == high and known.all():
        return low, high, -1, b""
    # By halves, for the range of two numbers may be larger than any number.
    span = (high / 2 - low / 2) or 1.0
    part = np.where(known, (np.where(known, x, low) / 2 - low / 2) / span, 0.0)
    whole = np.where(known, 1 + np.rint(part * STEPS), 0).astype(np.int64)
    tried = [whole]
    for _ in ORDERS[1:]:
        tried.append(np.diff(tried[-1], prepend=0))
    order = min(ORDERS, key=lambda k: float(np.log2(1.0 + np.abs(tried[k])).sum()))
    found = tried[order]
    return low, high, order, planes((found << 1) ^ (found >> 63), BYTES)
