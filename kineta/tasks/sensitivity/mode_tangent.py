"""First derivatives of a motion in a contact mode, in numbers, for many states at once.

With the residuals R of :mod:`~kineta.tasks.sensitivity.mode_equations`, linear in x, and K = dR/dx::

    x = -K^-1 R(0)          dx/dz = -K^-1 dR/dz

Where contacts share forces that nothing tells apart, K is singular, and x is that of least norm: accelerations and their
derivatives are the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.numerics.linear_algebra import det, inv, norm, pinv
from kineta.records import dataclass
from kineta.runtime.compiled import BoundSystem
from kineta.tasks.sensitivity.mode_equations import ModeFunctions, mode_functions

#: Interpreted calls of a function, for many states each, comparable in time to its compilation.
CALLS = 200
#: Name of the computed quantity in errors.
FORCES = "the forces of contacts"


@dataclass(frozen=True)
class LinearRates:
    """LinearRates of k states (q, v, integrals) and their derivatives.

    f : (k, n) rates; A : (k, n, n + m) their derivatives by the state and the m symbols that vary
    x : (k, n_x) accelerations, multipliers and contact forces; x_z : (k, n_x, n_z) their derivatives
    """

    f: FloatArray
    A: FloatArray
    x: FloatArray
    x_z: FloatArray


@dataclass(frozen=True)
class ModeTangent:
    """The tangent of the motions of *equations* in all modes, by the symbols *varied*, with the integrals of *goals* behind the
    speeds in the state, and the series *shown*.
    """

    equations: Equations
    varied: tuple[str, ...]
    goals: tuple[Expr, ...] = ()
    shown: tuple[Expr, ...] = ()
    functions: ModeFunctions = field(init=False)

    def __post_init__(self) -> None:
        made = mode_functions(self.equations, self.varied, self.goals, self.shown)
        object.__setattr__(self, "functions", made)

    @property
    def states(self) -> int:
        """Number of coordinates, speeds and integrals."""
        return self.functions.nq + self.functions.nv + self.functions.goals

    def _call(self, name: str, mode: BoundSystem, t: FloatArray, y: FloatArray) -> FloatArray:
        """The function *name* at the times *t* (k,) of rows *y* behind which the flags of the *mode* are not yet."""
        made = self.functions.functions
        block = made.interpreted(f"{'impact' if name == 'impact' else 'mode'}_setup")(
            np.concatenate([mode.p, mode.forces.constant])
        )
        calls = self.functions.calls
        calls[name] = calls.get(name, 0) + 1
        # Machine code is made where a function is called often: that of large models takes seconds.
        call = made.interpreted(name) if calls[name] <= CALLS else made[name].batch
        return np.asarray(call(t[:, None], np.ascontiguousarray(y), block)).reshape(len(t), -1)

    def _extended(self, mode: BoundSystem, y: FloatArray, x: FloatArray) -> FloatArray:
        return np.concatenate(
            [y[:, : self.functions.nq + self.functions.nv], x, np.tile(mode.flags, (len(y), 1))], axis=1
        )

    @np.errstate(over="ignore", invalid="ignore")  # who asks tells of what has no value
    def rates(self, mode: BoundSystem, t: FloatArray, y: FloatArray) -> LinearRates:
        """Return the rates at the times *t* (k,) in the states *y* (k, ...) of a *mode*."""
        F = self.functions
        k, n_x, n_z, n = len(t), F.n_x, F.n_z, self.states
        motion = self._call("motion", mode, t, self._extended(mode, y, np.zeros((k, n_x))))
        inverse = _inverses(motion[:, n_x:].reshape(k, n_x, n_x), F.nv)
        x = -np.einsum("kij,kj->ki", inverse, motion[:, :n_x])
        found = self._call("slopes", mode, t, self._extended(mode, y, x))
        D, qdot, qdot_z, g, g_z, g_x = _cut(
            found, (n_x, n_z), (F.nq,), (F.nq, n_z), (F.goals,), (F.goals, n_z), (F.goals, n_x)
        )
        x_z = -inverse @ D
        J = np.concatenate([qdot_z, x_z[:, : F.nv], g_z + g_x @ x_z], axis=1)
        A = np.zeros((k, n, n + F.symbols))
        A[:, :, : F.nq + F.nv] = J[:, :, : F.nq + F.nv]
        A[:, :, n:] = J[:, :, F.nq + F.nv + 1 :]
        return LinearRates(np.concatenate([qdot, x[:, : F.nv], g], axis=1), A, x, x_z)

    def watched(
        self, mode: BoundSystem, t: FloatArray, y: FloatArray, rates: LinearRates
    ) -> tuple[FloatArray, FloatArray]:
        """Return the watched values (k, w), and their derivatives (k, w, n_z) by z."""
        return self._valued("watched", mode, t, y, rates, self.functions.n_watched)

    def shown_values(
        self, mode: BoundSystem, t: FloatArray, y: FloatArray, rates: LinearRates
    ) -> tuple[FloatArray, FloatArray]:
        """Return the series shown (k, s), and their derivatives (k, s, n_z) by z."""
        return self._valued("shown", mode, t, y, rates, self.functions.shown)

    @np.errstate(over="ignore", invalid="ignore")  # who asks tells of what has no value
    def _valued(
        self, name: str, mode: BoundSystem, t: FloatArray, y: FloatArray, rates: LinearRates, size: int
    ) -> tuple[FloatArray, FloatArray]:
        F = self.functions
        if not size:
            return np.empty((len(t), 0)), np.empty((len(t), 0, F.n_z))
        found = self._call(name, mode, t, self._extended(mode, y, rates.x))
        values, by_z, by_x = _cut(found, (size,), (size, F.n_z), (size, F.n_x))
        return values, by_z + by_x @ rates.x_z

    def impact(
        self, mode: BoundSystem, t: float, y: FloatArray, after: FloatArray, laws: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the residuals of an impact of the state *y* with the speeds and impulses *after* it, under fixed *laws*
        (contacts, LAWS); the inverse of their derivatives by *after*, and their derivatives by z.
        """
        F = self.functions
        row = np.concatenate([y[: F.nq + F.nv], after, laws.ravel()])[None]
        found = self._call("impact", mode, np.array([t]), row)
        left, K, D = _cut(found, (F.n_x,), (F.n_x, F.n_x), (F.n_x, F.n_z))
        return left[0], _inverses(K, F.nv)[0], D[0]

    def by_state(self, slopes: FloatArray, P: FloatArray) -> FloatArray:
        """Return *slopes* (..., n_z) by z along the changes *P* (n + m, columns) of the state and the symbols at a fixed time."""
        F = self.functions
        own = F.nq + F.nv
        return np.asarray(slopes[..., :own] @ P[:own] + slopes[..., own + 1 :] @ P[self.states :])

    def in_time(self, slopes: FloatArray, f: FloatArray) -> FloatArray:
        """Return the rate of what has the *slopes* (..., n_z) along a motion with the rates *f* (n,)."""
        own = self.functions.nq + self.functions.nv
        return np.asarray(slopes[..., :own] @ f[:own] + slopes[..., own])


def _cut(found: FloatArray, *shapes: Sequence[int]) -> list[FloatArray]:
    """Parts of *shapes* of the rows *found* (k, all), with the axis of rows before them."""
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    return [found[:, a:b].reshape(len(found), *shape) for a, b, shape in zip(ends[:-1], ends[1:], shapes, strict=True)]


def _inverses(K: FloatArray, nv: int) -> FloatArray:
    """Inverses (k, n, n) of the matrices K, whose first *nv* rows and columns are those of the speeds, each scaled; or, where
    rows depend on each other, pseudoinverses.
    """
    k, n = K.shape[:2]
    mass = np.sqrt(np.abs(K[:, range(nv), range(nv)]).clip(min=tolerances.LEAST_DIVISOR))
    column = np.ones((k, n))
    column[:, :nv] = 1.0 / mass
    column[:, nv:] = 1.0 / norm(K[:, :nv, nv:] / mass[:, :, None], axis=1).clip(min=tolerances.LEAST_DIVISOR)
    scaled = K * column[:, None, :]
    row = 1.0 / np.abs(scaled).max(axis=2, initial=tolerances.LEAST_DIVISOR)
    scaled = scaled * row[:, :, None]
    singular = np.abs(det(scaled)) <= tolerances.LEAST_DIVISOR
    found = np.empty_like(scaled)
    plain = ~singular
    if plain.any():
        found[plain] = inv(scaled[plain], what=FORCES)
        size = np.abs(scaled[plain]).sum(axis=2).max(axis=1) * np.abs(found[plain]).sum(axis=2).max(axis=1)
        singular[np.flatnonzero(plain)[~(size * tolerances.RANK_TOLERANCE < 1)]] = True
    if singular.any():
        found[singular] = pinv(scaled[singular], what=FORCES, rcond=tolerances.RANK_TOLERANCE)
    return np.asarray(found * column[:, :, None] * row[:, None, :])
