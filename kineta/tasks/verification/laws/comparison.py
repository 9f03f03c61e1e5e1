"""Comparisons of quantities of the equations with reference values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.mechanics.constraints.rows import Row
from kineta.model.reserved_symbols import TIME
from kineta.passes.magnitude import magnitude
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics

#: A quantity of the equations and its reference, (n, entries) each, with the size of the terms, (n,).
Comparison = tuple[FloatArray, FloatArray, FloatArray]


def compare(kin: ReferenceKinematics, found: Any, expected: Any, *sizes: Any) -> Comparison:
    """Return the comparison of *found* with *expected*; *sizes* are terms that may cancel in them."""
    flat = [np.asarray(x).reshape(kin.n, -1) for x in (found, expected)]
    most = [np.abs(np.asarray(x, dtype=float)).reshape(kin.n, -1).max(axis=1, initial=0) for x in sizes]
    return flat[0], flat[1], np.max([np.zeros(kin.n), *most], axis=0)


def compare_row(kin: ReferenceKinematics, row: Row, gap: Any) -> Iterator[Comparison]:
    """Yield the comparisons of a row of the equations and its rates with the derivatives of *gap*."""
    g, s = kin.d.graph, kin.d.symbols
    top = g.sum([row.rest, *(g.mul(x, s.level(kin.order)[k]) for k, x in row.gradient.items())])
    refs = [*row.levels, top]
    sizes = values(g, magnitude(g, refs), kin.accelerated).T
    for k, (found, size) in enumerate(zip(values(g, refs, kin.accelerated).T, sizes, strict=True)):
        yield compare(kin, found, kin.of(gap, k), size, 1.0 + 0 * kin.states[TIME])


def rotated(R: Any, v: Any) -> Any:
    """Return the products R v of matrices (n, ..., 3, 3) and vectors (n, ..., 3)."""
    return np.sum(R * v[..., None, :], axis=-1)
