"""Laws of constraints and their multipliers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.model.constraints import holding
from kineta.passes.magnitude import magnitude
from kineta.tasks.verification.closure_laws import MEANINGS
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.law import MechanicalLaw, by_reference, having
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics


def constraint_residuals(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Constraint residuals and their derivatives along the motion vanish."""
    m = kin.motion
    reach = [kin.of(r, k) for _, r in m.frames.values() for k in range(3)]
    turns = [kin.of(w) ** 2 for w in m.turning.values()] + [kin.of(w, 1) for w in m.turning.values()]
    sizes = [1.0 + _row_magnitudes(kin, kin.d.constraint_rows), *reach, *turns]
    for c in kin.system.constraints:
        for first, gap in MEANINGS[type(c)].gaps(m, c):
            for k in range(3 - first):
                off = kin.of(gap, k)
                yield compare(kin, off, 0 * off, *sizes)


def _row_magnitudes(kin: ReferenceKinematics, rows: Any) -> Any:
    """Return the largest term in the rows of constraints, (n,)."""
    d = kin.d.unconstrained if kin.system.quasi else kin.d
    refs = [x for row in rows for x in (*row.levels, row.rest)]
    base = {n: kin.of(kin.motion.named[n]) for n in kin.system.base_speeds}
    found = values(d.graph, magnitude(d.graph, refs), {**kin.accelerated, **base})
    return np.nan_to_num(np.asarray(found, dtype=float)).max(axis=1, initial=0)


def loop_reactions(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Force and couple of a loop or rolling body = its multipliers along their directions."""
    found = kin.at("loop_reactions")
    for k, c in enumerate(holding(kin.system.constraints)):
        _, _, f, n = next(MEANINGS[type(c)].pushes(kin.motion, c, kin.component_multipliers(c.name)))
        own = np.concatenate([kin.of(f), kin.of(n)], axis=1)
        yield compare(kin, found[:, k], own, *kin.multipliers.values())


LAWS = (
    MechanicalLaw(
        "constraints hold in plain kinematics",
        "gaps, turns and slips of the two sides of every constraint, and their rates along the motion, with zero",
        by_reference(constraint_residuals),
        having("constraints"),
    ),
    MechanicalLaw(
        "multipliers are the forces that they stand for",
        "force and couple of every loop and rolling body with its multipliers along their directions",
        by_reference(loop_reactions),
        having("constraints"),
    ),
)
