"""Stability of rest and of steady motion, by the potential and by small motions.

K is how the forces change with the motions that constraints allow, those that go on keeping their momenta; C how they change with
the speeds, M is the inertia of these motions::

    K symmetric and > 0, no force feeds the motion            stable (Lagrange and Dirichlet, Routh)
    K symmetric, with a value < 0, nothing gyroscopic         unstable
    M x'' + C x' + K x = 0: real parts of s in x e^(s t)      all < 0: stable; one > 0: unstable (Lyapunov)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, null_space

from kineta.errors import ArgumentError
from kineta.tasks.linearize import linearize
from kineta.tasks.steady import Conditions, State

FloatArray = NDArray[np.float64]

#: Part of the largest entry that counts as nothing.
ROUNDING = 1e-9
#: Part of the largest pole that counts as nothing: double poles at zero come out by half of the digits.
POLE = 1e-6
#: How far from an equilibrium a stiffness is taken too: what changes its sign so near, where the equilibrium is hardly known,
#: counts as nothing.
BESIDE = 1e-7
#: Speeds with which it is tried whether forces feed motions that they neither feed nor damp at first.
FED, TRIES = (1e-3, 1e-2, 1e-1), 8
#: Part of the power of all forces that counts as fed.
TOLD = 1e-13


@dataclass(frozen=True)
class Stability:
    """What is known of the stability of an equilibrium.

    stable : True, False, or None where it is not decided; ``reason`` in words
    stiffness : (f, f), K of the f independent *directions* (nv, f) of motion, at the momenta of what goes on
    omega_squared : (f,) squares of the frequencies of small motions without forces that depend on speeds, K x = omega^2 M x;
        empty where K is not symmetric
    poles : s of the small motions x e^(s t), by falling real part; those of what goes on are zero
    """

    stable: bool | None
    reason: str
    stiffness: FloatArray
    directions: FloatArray
    omega_squared: FloatArray
    poles: NDArray[np.complex128]

    def __str__(self) -> str:
        return f"{ {True: 'stable', False: 'unstable', None: 'stability undecided'}[self.stable] } ({self.reason})"


def stability(conditions: Conditions, at: State, steady: Sequence[int]) -> Stability:
    """The stability of the equilibrium *at*, along which the speeds number *steady* go on."""
    parts, n = conditions.parts, conditions.system.nv
    slope, momentum = conditions.slope(at), conditions.slope(at, "momentum")
    C, M = (x[:n, parts["speed"].start : parts["speed"].stop] for x in (slope, momentum))
    way = conditions.ways(at)
    K, P = (x[:n, : len(way)] @ way for x in (slope, momentum))
    A = -slope[:n, parts["multiplier"].start : parts["multiplier"].stop].T
    Z = _allowed(A)
    rolls = bool(steady) and conditions.on_speeds
    poles = _linear(conditions, at) if rolls else _poles(*(Z.T @ X @ Z for X in (M, C, K)))
    if steady:
        going = list(steady)
        rest = [k for k in range(n) if k not in going]
        if np.abs(A[:, going]).max(initial=0.0) > 0 or rolls:
            return _by_poles(Stability(None, "", np.empty((0, 0)), np.empty((n, 0)), np.empty(0), poles))
        Z = np.zeros((n, 0)) if not rest else np.eye(n)[:, rest] @ _allowed(A[:, rest])
        shares = np.linalg.solve(M[np.ix_(going, going)], np.hstack([P[going], M[going]]))
        K, M = K - C[:, going] @ shares[:, :n], M - M[:, going] @ shares[:, n:]
    K, M, C = (Z.T @ X @ Z for X in (K, M, C))
    size = max(np.abs(K).max(initial=0.0), 1e-300)
    if np.abs(K - K.T).max(initial=0.0) > ROUNDING * size:
        return _by_poles(Stability(None, "", K, Z, np.empty(0), poles))
    values = _values(K, M)
    little = np.full(len(values), ROUNDING * np.abs(values).max(initial=0.0))
    if not steady:
        little = np.maximum(little, _unsure(conditions, at, Z, K, M))
    found = Stability(None, "", K, Z, values, poles)
    return _by_potential(found, C, little, fed=not steady and _fed(conditions, at, Z, C))


def _allowed(A: FloatArray) -> FloatArray:
    """Independent directions that the rows *A* allow, as columns."""
    return null_space(A, rcond=ROUNDING) if len(A) else np.eye(A.shape[1])


def _values(K: FloatArray, M: FloatArray) -> FloatArray:
    """omega^2 of K x = omega^2 M x, those of K alone where M is singular."""
    K = (K + K.T) / 2
    try:
        return np.array(eigh(K, (M + M.T) / 2, eigvals_only=True), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.array(np.linalg.eigvalsh(K), dtype=np.float64)


def _unsure(conditions: Conditions, at: State, Z: FloatArray, K: FloatArray, M: FloatArray) -> FloatArray:
    """By how much the values of K change beside the equilibrium *at*, (f,)."""
    values, way, n = _values(K, M), conditions.ways(at), conditions.system.nv
    rng, most = np.random.default_rng(0), np.zeros(len(values))
    change = np.zeros(conditions.parts["parameter"].stop)
    for _ in range(2 * bool(len(values))):
        change[: len(way)] = BESIDE * way @ Z @ rng.choice([-1.0, 1.0], len(values))
        for sign in (1, -1):
            slope = conditions.slope(conditions.moved(at, sign * change))
            beside = Z.T @ slope[:n, : len(way)] @ way @ Z
            if np.isfinite(beside).all():
                most = np.maximum(most, np.abs(_values(beside, M) - values))
    return most


def _fed(conditions: Conditions, at: State, Z: FloatArray, C: FloatArray) -> bool:
    """Whether forces feed motions from the rest *at*, within the directions Z, that the damping C leaves alone.

    What depends on the position alone, and inertia, do as much work backwards as forwards, with the other sign.
    """
    n, rng = conditions.system.nv, np.random.default_rng(0)
    free = Z @ null_space((C + C.T) / 2, rcond=ROUNDING) if C.any() else Z
    for u in rng.standard_normal((TRIES, free.shape[1])) @ free.T if free.shape[1] else ():
        for size in FED:
            v = size * u / np.linalg.norm(u)
            ahead, back = (conditions.off(replace(at, v=sign * v))[:n] for sign in (1, -1))
            power = -v @ (ahead - back)
            if power > TOLD * float(np.abs(v) @ (np.abs(ahead) + np.abs(back))):
                return True
    return False


def _linear(conditions: Conditions, at: State) -> NDArray[np.complex128]:
    """Poles where constraints bind speeds that go on: these change with the position, so that speeds and positions do not go
    together. Empty where the linearisation does not exist, or forces are expressions that it does not know.
    """
    if conditions.tau.expressions:
        return np.empty(0, dtype=complex)
    try:
        found = linearize(conditions.equations, (at.q, at.v), t=at.t, p=at.p, tau=conditions.tau.constant).eigenvalues
    except ArgumentError:
        return np.empty(0, dtype=complex)
    return found[np.argsort(-found.real)].astype(complex)


def _poles(M: FloatArray, C: FloatArray, K: FloatArray) -> NDArray[np.complex128]:
    n = len(M)
    try:
        inverse = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return np.empty(0, dtype=complex)
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ C]])
    found = np.linalg.eigvals(system).astype(complex)
    return found[np.argsort(-found.real)]


def _by_potential(found: Stability, C: FloatArray, little: FloatArray, *, fed: bool) -> Stability:
    """The verdict of a symmetric K, whose values count as nothing where they are *little*; that of the poles where it gives
    none.
    """
    values = found.omega_squared
    if not len(values):
        return replace(found, stable=True, reason="nothing else can move")
    size = ROUNDING * max(1.0, np.abs(C).max(initial=0.0))
    fed = fed or np.linalg.eigvalsh((C + C.T) / 2).min(initial=0.0) < -size
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


def _by_poles(found: Stability) -> Stability:
    """The verdict of the poles other than those at zero that belong to what goes on."""
    if not len(found.poles):
        return replace(found, reason="neither potential nor small motions tell")
    size = POLE * max(1.0, float(np.abs(found.poles).max()))
    moving = found.poles[np.abs(found.poles) > size]
    if (moving.real > size).any():
        return replace(found, stable=False, reason=f"a small motion grows by e^({moving.real.max():.3g} t)")
    if len(moving) and (moving.real < -size).all():
        return replace(found, stable=True, reason="all small motions die out")
    return replace(found, reason="small motions neither grow nor die out")
