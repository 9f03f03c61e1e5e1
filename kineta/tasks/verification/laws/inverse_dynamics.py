"""Laws of inverse and forward dynamics."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.tasks.verification.laws.law import MechanicalLaw
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error


def _affine_form(case: SampledEquations) -> FloatArray:
    M, bias, tau = case.at("mass_matrix"), case.at("bias"), case.at("inverse")
    inertia = np.einsum("nij,nj->ni", M, case.by_speed("{}'"))
    return relative_error(inertia + bias, tau, np.abs(bias).max(axis=1, initial=0))


def _forward_of_inverse(case: SampledEquations) -> FloatArray:
    """Forward dynamics of the forces of inverse dynamics; forces of elements may be far larger than their sum."""
    tau = dict(zip((added_force(n) for n in case.system.v_names), case.at("inverse").T, strict=True))
    vdot = case.by_speed("{}'")
    return relative_error(case.at("forward", {**case.states, **tau}), vdot, case.acceleration_scale)


def _force_balance(case: SampledEquations) -> FloatArray:
    """M vdot + bias = tau + A^T lambda at the accelerations and multipliers of forward dynamics."""
    vdot = dict(zip((f"{n}'" for n in case.system.v_names), case.at("forward").T, strict=True))
    needed, given = case.at("inverse", {**case.states, **vdot}), case.by_speed("tau[{}]") + case.at("reaction_forces")
    M, bias = case.at("mass_matrix"), case.at("bias")
    inertia = np.einsum("nij,nj->ni", np.abs(M), np.abs(case.at("forward")))
    return relative_error(needed, given, (inertia + np.abs(bias)).max(axis=1, initial=0) * case.condition)


def _constrained(system: System) -> bool:
    """Return whether reactions maintain the constraints of *system*."""
    return bool(system.constraints) and not system.quasi


LAWS = (
    MechanicalLaw(
        "tau = M vdot + bias",
        "the forces of inverse dynamics with the mass matrix times the accelerations, and the forces without these",
        _affine_form,
    ),
    MechanicalLaw(
        "forward dynamics undo inverse dynamics",
        "accelerations with those that the forces found for them produce",
        _forward_of_inverse,
        lambda system: not _constrained(system),
        "reactions of constraints act beside the forces; that both balance stands in its place",
    ),
    MechanicalLaw(
        "accelerations and reactions balance the forces",
        "the forces that the accelerations ask for with added forces and reactions of constraints",
        _force_balance,
        _constrained,
    ),
)
