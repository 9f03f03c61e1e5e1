"""Damped Newton's method on a manifold: zeros of underdetermined systems by steps of least change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import lstsq, norm
from kineta.records import dataclass

State = TypeVar("State")

#: Newton steps at most, and the damping factors of a step.
STEPS, PARTS = 100, tuple(0.5**k for k in range(12))
#: Number of steps, and the reduction of the residual over them above which the iteration has stalled in a local minimum.
SLOW, STUCK = 8, 0.8
#: Least weight of a function's slope, relative to the largest slope.
LEAST_SLOPE = 1e-3


@dataclass(frozen=True)
class NewtonResult(Generic[State]):
    """The last state of the iteration: ``residual`` (m,) and ``parts``, its :func:`newton_distances`."""

    state: State
    residual: FloatArray
    parts: FloatArray

    @property
    def violation(self) -> float:
        """The largest Newton distance."""
        return float(self.parts.max(initial=0.0))

    @property
    def converged(self) -> bool:
        """Whether the residual is within tolerance."""
        return self.violation <= tolerances.NEWTON_TOLERANCE


@dataclass(frozen=True)
class NonlinearSystem(Generic[State]):
    """A system of equations on a manifold.

    residual : (m,) of a state
    jacobian : (m, n) of ``residual`` by changes of the state
    retract : the state after a change (n,)
    longest : largest changes of the variables in one step
    drag : damping matrix (m, n) of a state, for residuals that are forces; None without damping
    """

    residual: Callable[[State], FloatArray]
    jacobian: Callable[[State], FloatArray]
    retract: Callable[[State, FloatArray], State]
    longest: FloatArray | float = 1.0
    drag: Callable[[State], FloatArray] | None = None

    def step(self, values: FloatArray, A: FloatArray) -> FloatArray:
        """The Newton step of least norm for the residual *values* and the Jacobian *A*, shortened to ``longest``."""
        lengths = _lengths(A)
        change = -lstsq(
            A / lengths[:, None], values / lengths, what="the nearest zero", rcond=tolerances.RANK_TOLERANCE
        )
        return np.asarray(change / max(1.0, float((np.abs(change) / self.longest).max(initial=0.0))))


def damped_newton(
    state: State,
    residual: Callable[[State], FloatArray],
    step: Callable[[State, FloatArray], FloatArray | None],
    retract: Callable[[State, FloatArray], State],
    *,
    weight: FloatArray | float = 1.0,
    patience: int = STEPS,
) -> tuple[State, FloatArray]:
    """The last state of Newton's method from *state*, and its residual.

    step : the change of a state with this residual; None at convergence, and where there is none
    retract : the state after a change, which is halved until the norm of the residual, times *weight*, decreases
    patience : number of steps over which it has to decrease by a part, or the iteration has stalled
    """
    values = residual(state)
    sizes = [float(norm(weight * values))]
    for _ in range(STEPS):
        stalled = len(sizes) > patience and sizes[-1] > STUCK * sizes[-1 - patience]
        if stalled or (change := step(state, values)) is None:
            break
        for part in PARTS:
            tried = retract(state, part * change)
            left = residual(tried)
            if (size := float(norm(weight * left))) < sizes[-1]:
                break
        else:
            break
        state, values = tried, left
        sizes.append(size)
    return state, values


def nearest_zero(state: State, functions: NonlinearSystem[State]) -> NewtonResult[State]:
    """The zero reached from *state* by Newton steps of least norm, or the last state of a stalled iteration.

    From a local minimum of the residual a system with ``drag`` goes on by pseudo-transient continuation: an overdamped
    motion in growing steps.
    """
    found = _damped(state, functions)
    if found.converged or functions.drag is None:
        return found
    sunk = _damped(_pseudo_transient(state, functions), functions)
    return sunk if sunk.violation < found.violation else found


def _damped(state: State, functions: NonlinearSystem[State]) -> NewtonResult[State]:
    """The result of damped Newton steps that reduce the residual, its rows scaled at *state*."""
    known = state, functions.jacobian(state)

    def jacobian(at: State) -> FloatArray:
        nonlocal known
        known = known if known[0] is at else (at, functions.jacobian(at))
        return known[1]

    def step(at: State, values: FloatArray) -> FloatArray | None:
        return functions.step(values, jacobian(at)) if _finite(values, jacobian(at)) else None

    weight = 1.0 / _lengths(known[1])
    state, values = damped_newton(state, functions.residual, step, functions.retract, weight=weight, patience=SLOW)
    return NewtonResult(state, values, newton_distances(values, jacobian(state)))


def _pseudo_transient(state: State, functions: NonlinearSystem[State]) -> State:
    """The state after pseudo-transient continuation; damping decreases with the residual."""
    assert functions.drag is not None
    values, A, D = functions.residual(state), functions.jacobian(state), functions.drag(state)
    much = float(norm(A)) / max(float(norm(D)), tolerances.LEAST_DIVISOR)
    for _ in range(STEPS):
        if not _finite(values, A + D):
            break
        state = functions.retract(state, functions.step(values, A + much * D))
        left, A, D = functions.residual(state), functions.jacobian(state), functions.drag(state)
        much *= float(np.clip(norm(left) / max(float(norm(values)), tolerances.LEAST_DIVISOR), 0.2, 2.0))
        values = left
    return state


def _finite(values: FloatArray, A: FloatArray) -> bool:
    return bool(np.isfinite(values).all() and np.isfinite(A).all())


def newton_distances(values: FloatArray, A: FloatArray) -> FloatArray:
    """Distances (m,) of the residual components from zero, in units of changes of the variables; infinite for undefined
    residuals or Jacobians. Nearly constant functions are scaled by a part of the largest slope.
    """
    if not _finite(values, A):
        return np.where(np.isfinite(values) & np.isfinite(A).all(axis=1), 0.0, np.inf)
    return np.where(values == 0.0, 0.0, np.abs(values) / _lengths(A) if A.any() else np.inf)


def _lengths(A: FloatArray) -> FloatArray:
    """The row norms of the Jacobian A, bounded from below."""
    lengths = norm(A, axis=1)
    lengths = np.maximum(lengths, LEAST_SLOPE * lengths.max(initial=0.0))
    return np.where(lengths > 0, lengths, 1.0)
