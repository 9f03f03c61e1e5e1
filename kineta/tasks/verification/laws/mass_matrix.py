"""Laws of the mass matrix."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.expr.graph import ONE
from kineta.numerics.linear_algebra import eigvalsh
from kineta.passes.differentiate import forwards
from kineta.tasks.verification.laws.law import MechanicalLaw
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.sampled_equations import SampledEquations, doubles, relative_error


def _symmetry(case: SampledEquations) -> FloatArray:
    M = case.at("mass_matrix")
    return relative_error(M, M.transpose(0, 2, 1))


def _positive_definiteness(case: SampledEquations) -> FloatArray:
    """Distance of the smallest eigenvalue of the scaled mass matrix below zero."""
    M = doubles(case.at("mass_matrix"))
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    least = eigvalsh(M / (scale[:, :, None] * scale[:, None, :]), what="the least inertia").min(axis=1, initial=np.inf)
    return np.asarray(np.maximum(0.0, -least))


def _momentum_derivatives(case: SampledEquations) -> FloatArray:
    """M = d(dT/dv)/dv."""
    s, g = case.d.symbols, case.d.graph
    columns = list(forwards(g, case.d["momentum"].refs, [{v: ONE} for v in s.v]))
    n = len(s.v)
    found = np.array([values(g, c, case.states) for c in columns]).reshape(n, -1, n).transpose(1, 2, 0)
    return relative_error(found, case.at("mass_matrix"))


LAWS = (
    MechanicalLaw("the mass matrix is symmetric", "the mass matrix with its transpose", _symmetry),
    MechanicalLaw(
        "the mass matrix is positive definite",
        "the least eigenvalue of the scaled mass matrix with zero",
        _positive_definiteness,
    ),
    MechanicalLaw(
        "the mass matrix is the derivative of the momenta",
        "the mass matrix with the derivatives of dT/dv by the speeds",
        _momentum_derivatives,
    ),
)
