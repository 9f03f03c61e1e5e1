"""Stability of rest and of steady motion, by the potential and by small motions.

K, C and M are stiffness, damping and mass matrix of the motions that constraints allow, at constant momenta of the ignorable
coordinates::

    K symmetric and > 0, no force feeds the motion            stable (Lagrange and Dirichlet, Routh)
    K symmetric, with a value < 0, nothing gyroscopic         unstable
    M x'' + C x' + K x = 0: real parts of s in x e^(s t)      all < 0: stable; one > 0: unstable (Lyapunov)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.consistency.definition_domain import domain_violation, position_text
from kineta.errors import ArgumentError, SimulationError, SingularMatrixError
from kineta.numerics.linear_algebra import eigvals, eigvalsh, inv, norm, null_space, solve
from kineta.records import dataclass
from kineta.runtime.steady_motion import SteadyConditions, SteadyState
from kineta.tasks.linear.corners import Corners, corners
from kineta.tasks.linear.linearize import linearize

#: What errors call what is computed here.
DAMPING, STIFFNESS = "the work of the damping", "the stiffness of the equilibrium"
#: Amplitudes of trial speeds, and their number, for negative damping beyond first order.
FED, TRIES = (1e-3, 1e-2, 1e-1), 8


@dataclass(frozen=True)
class Stability:
    """The stability of an equilibrium.

    stable : True, False, or None where undecided; ``reason`` in words
    stiffness : (f, f), K of the f independent *directions* (nv, f) of motion, at constant momenta of the steady motion
    omega_squared : (f,) squared frequencies of small motions without velocity-dependent forces, K x = omega^2 M x; empty where K
        is not symmetric
    poles : s of the small motions x e^(s t), by falling real part; zero for the steady motion itself

    Where forces have a corner, what is another on each side is empty.
    """

    stable: bool | None
    reason: str
    stiffness: FloatArray
    directions: FloatArray
    omega_squared: FloatArray
    poles: ComplexArray

    def __str__(self) -> str:
        return f"{ {True: 'stable', False: 'unstable', None: 'stability undecided'}[self.stable] } ({self.reason})"


def stability(conditions: SteadyConditions, at: SteadyState, steady: Sequence[int]) -> Stability:
    """Return the stability of the equilibrium *at* with the persistent speeds number *steady*. Raises :class:`SimulationError`
    for a force without a derivative.
    """
    n, way = conditions.system.nv, conditions.motion_directions(at)
    slope, momentum = conditions.blocks(at), conditions.blocks(at, "momentum")
    C, M, A = slope["speed"], momentum["speed"], -slope["multiplier"].T
    K, P = (x["motion"] @ way for x in (slope, momentum))
    Z = _allowed(A)
    rolls = bool(steady) and conditions.on_speeds
    corner = corners(conditions, at)
    if corner is not None and corner.placed:
        return _at_corner(conditions, at, corner, Z, fed=bool(steady) or _fed(conditions, at, Z, np.zeros((n, n))))
    poles = _linear(conditions, at) if rolls or conditions.system.states else _poles(*(Z.T @ X @ Z for X in (M, C, K)))
    if corner is not None:
        poles = poles[:0]
    if conditions.system.states:
        return _by_all_poles(Stability(None, "", Z.T @ K @ Z, Z, np.empty(0), poles), steady)
    if steady:
        going = list(steady)
        rest = [k for k in range(n) if k not in going]
        if np.abs(A[:, going]).max(initial=0.0) > 0 or rolls:
            return _by_poles(Stability(None, "", np.empty((0, 0)), np.empty((n, 0)), np.empty(0), poles))
        Z = np.zeros((n, 0)) if not rest else np.eye(n)[:, rest] @ _allowed(A[:, rest])
        shares = solve(M[np.ix_(going, going)], np.hstack([P[going], M[going]]), what="the motion that goes on")
        K, M = K - C[:, going] @ shares[:, :n], M - M[:, going] @ shares[:, n:]
    K, M, C = (Z.T @ X @ Z for X in (K, M, C))
    size = max(np.abs(K).max(initial=0.0), tolerances.LEAST_DIVISOR)
    if np.abs(K - K.T).max(initial=0.0) > tolerances.FORCE_TOLERANCE * size:
        return _by_poles(Stability(None, "", K, Z, np.empty(0), poles))
    values = _values(K, M)
    little, unsure = (
        tolerances.FORCE_TOLERANCE * np.abs(values),
        np.zeros(len(values)) if steady else _unsure(conditions, at, Z, K, M),
    )
    if unsure.max(initial=0.0) > np.abs(values).max(initial=0.0) / 2:
        _check_slope(conditions, at)
    little = np.maximum(little.max(initial=0.0), unsure)
    found = Stability(None, "", K, Z, values, poles)
    if corner is not None and corner.uneven:
        return replace(found, reason="a force has a corner at this speed")
    return _by_potential(found, C, little, fed=not steady and _fed(conditions, at, Z, C))


def _at_corner(
    conditions: SteadyConditions, at: SteadyState, corner: Corners, Z: FloatArray, *, fed: bool
) -> Stability:
    """Return the verdict where a force has a *corner* in the position *at*: stable where the potential rises on every side."""
    none = np.empty((0, 0)), np.empty((conditions.system.nv, 0)), np.empty(0), np.empty(0, dtype=complex)
    way, sides = conditions.motion_directions(at), list[FloatArray]()
    for K in corner.stiffness:
        own = Z.T @ K @ way @ Z
        size = tolerances.FORCE_TOLERANCE * np.abs(own).max(initial=0.0)
        if np.abs(own - own.T).max(initial=0.0) <= size and (eigvalsh(own, what=STIFFNESS) > size).all():
            sides.append(own)
    if sides and len(sides) == len(corner.stiffness) and not (fed or corner.uneven or conditions.system.states):
        return Stability(True, "the potential has a minimum, with another stiffness on each side", *none)
    what = "have another stiffness on each side of it" if corner.stiffness else "jump there"
    return Stability(None, f"the forces {what}", *none)


def _allowed(A: FloatArray) -> FloatArray:
    """Return independent directions in the null space of the rows *A*, as columns."""
    return (
        null_space(A, what="the motions that constraints allow", rcond=tolerances.RANK_TOLERANCE)
        if len(A)
        else np.eye(A.shape[1])
    )


def _values(K: FloatArray, M: FloatArray) -> FloatArray:
    """Return the eigenvalues omega^2 of K x = omega^2 M x, or of K alone where M is singular."""
    K = (K + K.T) / 2
    try:
        return eigvalsh(K, (M + M.T) / 2, what=STIFFNESS)
    except SingularMatrixError:
        return eigvalsh(K, what=STIFFNESS)


def _unsure(conditions: SteadyConditions, at: SteadyState, Z: FloatArray, K: FloatArray, M: FloatArray) -> FloatArray:
    """Return the changes of the eigenvalues of K beside the equilibrium *at*, (f,)."""
    values, way = _values(K, M), conditions.motion_directions(at)
    rng, most = np.random.default_rng(0), np.zeros(len(values))
    change = np.zeros(conditions.parts["parameter"].stop)
    for _ in range(2 * bool(len(values))):
        change[: len(way)] = tolerances.SIDE_DISTANCE * way @ Z @ rng.choice([-1.0, 1.0], len(values))
        for sign in (1, -1):
            beside = Z.T @ conditions.blocks(conditions.retract(at, sign * change))["motion"] @ way @ Z
            if np.isfinite(beside).all():
                most = np.maximum(most, np.abs(_values(beside, M) - values))
    return most


def _check_slope(conditions: SteadyConditions, at: SteadyState) -> None:
    """Raise for an operation without a derivative in the equilibrium *at*."""
    acting = tuple(conditions.tau.expressions.values())
    if why := domain_violation(conditions.equations, at.p, at.t, np.concatenate([at.q, at.v]), acting):
        system = conditions.system
        raise SimulationError(
            f"Model '{system.name}': the equilibrium at {position_text(system, at.q)} has no stiffness: {why}. Make the force "
            "smooth there, or start from another guess."
        )


def _fed(conditions: SteadyConditions, at: SteadyState, Z: FloatArray, C: FloatArray) -> bool:
    """Return whether forces supply power to motions from the rest *at*, in the directions Z that the damping C leaves free.

    The powers of inertia and of forces that depend on the position alone are odd in the speeds, and cancel in the sum.
    """
    n, rng = conditions.system.nv, np.random.default_rng(0)
    free = Z @ null_space((C + C.T) / 2, what=DAMPING, rcond=tolerances.RANK_TOLERANCE) if C.any() else Z
    for u in rng.standard_normal((TRIES, free.shape[1])) @ free.T if free.shape[1] else ():
        for size in FED:
            v = size * u / norm(u)
            ahead, back = (conditions.residuals(replace(at, v=sign * v))[:n] for sign in (1, -1))
            power = -v @ (ahead - back)
            if power > tolerances.ROUNDING_TOLERANCE * float(np.abs(v) @ (np.abs(ahead) + np.abs(back))):
                return True
    return False


def _linear(conditions: SteadyConditions, at: SteadyState) -> ComplexArray:
    """Return the poles of a steady motion whose persistent speeds are constrained, and vary with the position. Empty where the
    linearisation does not exist, or does not cover the expressions of forces.
    """
    if conditions.tau.expressions:
        return np.empty(0, dtype=complex)
    try:
        found = linearize(conditions.equations, (at.q, at.v), t=at.t, p=at.p, tau=conditions.tau.constant).eigenvalues
    except ArgumentError:
        return np.empty(0, dtype=complex)
    return found[np.argsort(-found.real)].astype(complex)


def _poles(M: FloatArray, C: FloatArray, K: FloatArray) -> ComplexArray:
    n = len(M)
    try:
        inverse = inv(M, what="the poles")
    except SingularMatrixError:
        return np.empty(0, dtype=complex)
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ C]])
    found = eigvals(system, what="the poles")
    return found[np.argsort(-found.real)]


def _by_potential(found: Stability, C: FloatArray, little: FloatArray, *, fed: bool) -> Stability:
    """Return the verdict of a symmetric K, with *little* eigenvalues counted as zero; without one, the verdict of the poles."""
    values = found.omega_squared
    if not len(values):
        return replace(found, stable=True, reason="nothing else can move")
    size = tolerances.FORCE_TOLERANCE * max(1.0, np.abs(C).max(initial=0.0))
    fed = fed or eigvalsh((C + C.T) / 2, what=DAMPING).min(initial=0.0) < -size
    gyroscopic = np.abs(C - C.T).max(initial=0.0) > size
    if (values > little).all() and not fed:
        return replace(found, stable=True, reason="the potential has a minimum")
    if (values < -little).any() and not gyroscopic and not fed:
        falling = int((values < -little).sum())
        return replace(found, stable=False, reason=f"the potential falls in {falling} of {len(values)} directions")
    if (values >= -little).all() and not fed:
        level = int((np.abs(values) <= little).sum())
        return replace(found, reason=f"the potential is level in {level} of {len(values)} directions")
    return _by_poles(found)


def _by_all_poles(found: Stability, steady: Sequence[int]) -> Stability:
    """Return the verdict of the poles of motions and first-order states, undecided where one is zero in a rest."""
    size = tolerances.EIGENVALUE_TOLERANCE * max(1.0, float(np.abs(found.poles).max(initial=0.0)))
    still, told = int((np.abs(found.poles) <= size).sum()), _by_poles(found)
    if steady or not still or told.stable is False or not len(found.poles):
        return told
    return replace(told, stable=None, reason=f"{still} of {len(found.poles)} small motions neither grow nor die out")


def _by_poles(found: Stability) -> Stability:
    """Return the verdict of the poles but for the zero poles of the steady motion."""
    if not len(found.poles):
        return replace(found, reason="neither potential nor small motions tell")
    size = tolerances.EIGENVALUE_TOLERANCE * max(1.0, float(np.abs(found.poles).max()))
    moving = found.poles[np.abs(found.poles) > size]
    if (moving.real > size).any():
        return replace(found, stable=False, reason=f"a small motion grows by e^({moving.real.max():.3g} t)")
    if len(moving) and (moving.real < -size).all():
        return replace(found, stable=True, reason="all small motions die out")
    return replace(found, reason="small motions neither grow nor die out")
