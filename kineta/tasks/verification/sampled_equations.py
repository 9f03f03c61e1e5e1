"""Equations at sampled states, and the relative error of a comparison."""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.mechanics.derivation import Derivation
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.numerics.linear_algebra import cond, pinv, unit_rows
from kineta.records import dataclass
from kineta.tasks.verification.random_states import States, quantity
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.threads import once


@dataclass(frozen=True)
class SampledEquations:
    """Equations with the states at which their laws are checked."""

    equations: Equations
    states: States

    @property
    def system(self) -> System:
        """The system."""
        return self.equations.system

    @property
    def d(self) -> Derivation:
        """The derivation."""
        return self.equations.derivation

    def at(self, name: str, states: States | None = None) -> FloatArray:
        """Return a quantity at the states, (n, *shape)."""
        return quantity(self.d, name, self.states if states is None else states)

    def constant(self, value: float) -> FloatArray:
        """Return *value* at every state, (n,), in the arithmetic of the states."""
        return np.full(len(self.states[TIME]), value) + 0 * self.states[TIME]

    def by_speed(self, pattern: str) -> FloatArray:
        """Return the values of ``pattern.format(speed)`` for every speed, (n, nv)."""
        return np.array([self.states[pattern.format(n)] for n in self.system.v_names]).T

    @once
    def reference(self) -> ReferenceKinematics:
        """The reference kinematics of the states."""
        return ReferenceKinematics(self.d, self.states)

    @once
    def condition(self) -> FloatArray:
        """Condition numbers (n,) of the mass matrices scaled to unit diagonals, times the squared condition numbers of the
        constraint Jacobians scaled to unit rows.
        """
        M = doubles(self.at("mass_matrix"))
        scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
        found = cond(M / (scale[:, :, None] * scale[:, None, :]))
        if self.d.rows:
            A = unit_rows(doubles(self.at("constraint_jacobian")) / scale[:, None, :])
            found = found * cond(A) ** 2
        return np.asarray(found)

    @once
    def inertia_scale(self) -> FloatArray:
        """Bound of the quadratic inertia forces before they cancel, max|v| max(|M| |v|), (n,)."""
        M, v = doubles(self.at("mass_matrix")), np.abs(doubles(self.by_speed("{}")))
        momenta = np.einsum("nij,nj->ni", np.abs(M), v)
        return np.asarray(v.max(axis=1, initial=0) * momenta.max(axis=1, initial=0))

    @once
    def acceleration_scale(self) -> FloatArray:
        """Bound of the accelerations before forces cancel, |M^-1| (|M| |vdot| + |bias|), (n, nv); at least the condition."""
        M, bias = doubles(self.at("mass_matrix")), np.abs(doubles(self.at("bias")))
        scale = np.sqrt(np.diagonal(np.abs(M), axis1=1, axis2=2))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse = np.abs(pinv(M / outer, what="the inverse of the mass matrix")) / outer
        vdot = np.abs(doubles(np.maximum(np.abs(self.by_speed("{}'")), np.abs(self.at("forward")))))
        found = np.einsum("nij,nj->ni", inverse, np.einsum("nij,nj->ni", np.abs(M), vdot) + bias)
        return np.asarray(np.maximum(found, self.condition[:, None]))


def doubles(x: FloatArray) -> FloatArray:
    """Return *x* in double precision."""
    return np.asarray(x, dtype=float)


def relative_error(found: FloatArray, expected: FloatArray, scale: FloatArray | float = 0.0) -> FloatArray:
    """Return the largest difference at every state, (n,), relative to the largest entry there or to *scale*, (n,) or
    (n, entries), where that is larger.
    """
    found, expected = (x.reshape(len(x), -1) for x in (found, expected))
    size = np.maximum(np.abs(found).max(axis=1, initial=0), np.abs(expected).max(axis=1, initial=0))[:, None]
    scale = np.asarray(scale) if np.ndim(scale) != 1 else np.asarray(scale)[:, None]
    off = np.abs(found - expected)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = doubles(off / np.maximum(np.maximum(size, scale), tolerances.LEAST_DIVISOR))
        return np.asarray(np.nan_to_num(relative, nan=np.inf).max(axis=1, initial=0))
