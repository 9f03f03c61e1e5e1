"""Inertia for the parameters of a run: what a model may not say, no run may."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.numpy import FUNCTIONS
from kineta.model.body import Body
from kineta.model.check import check_inertias
from kineta.model.system import System
from kineta.passes.evaluate import evaluate

FloatArray = NDArray[np.float64]


def check_weights(system: System, values: FloatArray) -> None:
    """Raise :class:`~kineta.errors.ModelError` where parameters, (np,) or (cases, np), that differ from those of the model
    give a body the inertia of none.
    """
    own = {p.name: p.value for p in system.parameters if p.value is not None}
    columns = dict(zip(system.parameter_names, np.atleast_2d(values).T, strict=True))
    changed = [name for name, column in columns.items() if (column != own.get(name)).any()]
    bodies = dict.fromkeys(b for name in changed for b in system.weighed.get(name, ()))
    for body in bodies:
        for case in np.flatnonzero(_doubtful(body, {**own, **columns}, len(np.atleast_2d(values)))):
            check_inertias(system, [body], own | {name: float(column[case]) for name, column in columns.items()})


def _doubtful(body: Body, values: Mapping[str, FloatArray | float], cases: int) -> FloatArray:
    """1 for a case in which a mass, a moment, or the sum of two moments less the third is not zero or more, (cases,)."""
    own = body.inertia
    entries = [e.ref for e in (own.mass, *own.moments, *own.products)]
    with np.errstate(all="ignore"):
        found = np.array([np.broadcast_to(x, cases) for x in evaluate(own.mass.graph, entries, values, FUNCTIONS)])
    mass, Jx, Jy, Jz, Jxy, Jxz, Jyz = np.nan_to_num(found)
    tensor = np.array([[Jx, Jxy, Jxz], [Jxy, Jy, Jyz], [Jxz, Jyz, Jz]])
    a, b, c = np.linalg.eigvalsh(np.moveaxis(tensor, -1, 0)).T
    least = np.min([mass, a + 1e-9 * c, a + b - c + 1e-9 * c], axis=0)
    return np.where(np.isfinite(found).all(axis=0) & (least >= 0), 0.0, 1.0)
