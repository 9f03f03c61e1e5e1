"""Checks of the parameters of a run, as of the model's own: inertias, bounds, directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.equations import case_arguments
from kineta.equations.function import checked_directions, parameter_values
from kineta.errors import ArgumentError
from kineta.model.body import Body
from kineta.model.bounds import Bound
from kineta.model.checks.check import check_inertias
from kineta.model.checks.diagnostics import CheckError
from kineta.model.description import word
from kineta.model.kind import KindRecord
from kineta.model.system import System
from kineta.numerics.linear_algebra import eigvalsh
from kineta.passes.evaluate import evaluate
from kineta.threads import memo


def parameters(system: System, p: Any) -> FloatArray:
    """Finite parameters, (np,) or (cases, np), with a physical inertia of every body.

    Raises :class:`ArgumentError` for other parameters, :class:`~kineta.errors.ModelError` for other inertia.
    """
    if p is None:
        return memo(system, parameters, lambda: parameters(system, {})).copy()
    values = parameter_values(system, p)
    if values.ndim > 2:
        raise ArgumentError(f"Expected p of shape (np,) or (cases, np), found shape {values.shape}.")
    case_arguments.check_finite(system, "the parameter", system.parameter_names, values)
    check_parameters(system, values)
    return values


def check_parameters(system: System, values: FloatArray) -> None:
    """Raise :class:`~kineta.errors.ModelError` where parameters, (np,) or (cases, np), that differ from the model's give a body
    an impossible inertia, leave the bounds of a size or coefficient, or make a direction zero.
    """
    own = system.parameters.numbers
    checked_directions(system, values)
    columns = dict(zip(system.parameter_names, np.atleast_2d(values).T, strict=True))
    changed = [name for name, column in columns.items() if (column != own.get(name)).any()]
    bodies = dict.fromkeys(b for name in changed for b in system.weighed.get(name, ()))
    for body in bodies:
        for case in np.flatnonzero(_implausible(body, {**own, **columns}, len(np.atleast_2d(values)))):
            check_inertias(system, [body], own | {name: float(column[case]) for name, column in columns.items()})
    for record, bound in system.bounded:
        if not {*changed}.isdisjoint(bound.value.symbols()):
            _check_bound(record, bound, {**own, **columns})


def _check_bound(record: KindRecord, bound: Bound, values: Mapping[str, FloatArray | float]) -> None:
    with np.errstate(all="ignore"):
        (found,) = evaluate(bound.value.graph, [bound.value.ref], values, FUNCTIONS)
    for wrong in np.atleast_1d(found)[~np.atleast_1d(bound.kept(found))]:
        raise CheckError(word(record), record.name, record.location, bound.broken(float(wrong)))


def _implausible(body: Body, values: Mapping[str, FloatArray | float], cases: int) -> FloatArray:
    """1 for each case with a negative mass, a negative principal moment, or a violated triangle inequality, (cases,)."""
    own = body.inertia
    entries = [e.ref for e in (own.mass, *own.moments, *own.products)]
    found = np.empty((len(entries), cases))
    with np.errstate(all="ignore"):
        for row, value in zip(found, evaluate(own.mass.graph, entries, values, FUNCTIONS), strict=True):
            row[:] = value
    mass, Jx, Jy, Jz, Jxy, Jxz, Jyz = np.nan_to_num(found)
    if found[4:].any():
        tensor = np.array([[Jx, Jxy, Jxz], [Jxy, Jy, Jyz], [Jxz, Jyz, Jz]])
        a, b, c = eigvalsh(np.moveaxis(tensor, -1, 0), what=f"the moments of inertia of '{body.name}'").T
    else:  # the axes are principal
        a, b, c = np.sort([Jx, Jy, Jz], axis=0)
    slack = tolerances.INERTIA_TOLERANCE * c
    least = np.min([mass, a + slack, a + b - c + slack], axis=0)
    return np.where(np.isfinite(found).all(axis=0) & (least >= 0), 0.0, 1.0)
