"""Zero dynamics: the motion that servo-constraints leave free, linearised about rest, and its stability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.numerics.differentiation_index import equilibrated
from kineta.numerics.linear_algebra import eigvals, lstsq, null_space
from kineta.numerics.newton import NonlinearSystem, nearest_zero
from kineta.tasks.servo.derivative_array import DerivativeArray, Hold, Jet

#: What errors call what is computed here.
ZERO = "the internal dynamics"


def poles(hold: Hold, state: Jet) -> ComplexArray | None:
    """Return the poles s of the free small motions x e^(s t) about the equilibrium nearest to *state*, with programs frozen at
    its time, by falling real part; None where no equilibrium is found.
    """
    array, n = hold.array, hold.array.n
    rest = _rest(array, array.extended(replace(state, x=np.zeros(0)), 2))
    if rest is None:
        return None
    A, turned = _still(array, rest, hold.order)
    rows, columns = equilibrated(A)
    A = rows[:, None] * A * columns
    own, others = A[:, : 2 * n + array.nz], A[:, 2 * n + array.nz :]
    ways = null_space(
        null_space(others.T, what=ZERO, rcond=tolerances.RANK_TOLERANCE).T @ own,
        what=ZERO,
        rcond=tolerances.RANK_TOLERANCE,
    )
    follow = -lstsq(others, own @ ways, what=ZERO, rcond=tolerances.RANK_TOLERANCE)
    whole = columns[:, None] * np.vstack([ways, follow])
    speeds, accelerations = whole[n : 2 * n], whole[2 * n + array.nz :][:n]
    rates = np.vstack([speeds, accelerations, turned @ whole]) / columns[: 2 * n + array.nz, None]
    found = eigvals(lstsq(ways, rates, what=ZERO), what=ZERO)
    found[np.abs(found) < tolerances.ROUNDING_TOLERANCE * (columns[n : 2 * n] / columns[:n]).max()] = 0.0
    return np.asarray(found[np.lexsort((found.imag, -found.real.round(9)))])


def words(found: ComplexArray | None) -> str:
    """Return the verdict of the *poles* in words."""
    if found is None:
        return "no position of rest that meets the programs is found: whether it dies out is not decided"
    size = np.abs(found).max(initial=0.0)
    if found.real.max() > tolerances.EIGENVALUE_TOLERANCE * size:
        return f"not minimum phase: it grows, by exp({found.real.max():.4g} t) about rest"
    if found.real.max() < -tolerances.EIGENVALUE_TOLERANCE * size:
        return f"minimum phase: it dies out, by exp({found.real.max():.4g} t) at least about rest"
    return "neither dies out nor grows to the first order about rest"


def _own(array: DerivativeArray, state: Jet) -> tuple[FloatArray, FloatArray]:
    """Return the undifferentiated equations, and their Jacobian by the variables up to order 2."""
    off, A = array.at(state, 2)
    kept = [i for i, (_, times) in enumerate(array.labels(2)) if not times]
    return off[kept], A[kept]


def _rest(array: DerivativeArray, state: Jet) -> Jet | None:
    """Return the equilibrium nearest to *state*, with the multipliers of the constraints and the first-order states."""
    n, nz = array.n, array.nz
    free = [*range(n), *range(n + array.size(2))[3 * n :]]
    own = len(state.q) - nz

    def moved(at: Jet, change: FloatArray) -> Jet:
        whole = np.zeros(n + array.size(2))
        whole[free] = change[: len(free)]
        there = array.moved(at, whole)
        return replace(there, q=np.concatenate([there.q[:own], there.q[own:] + change[len(free) :]]))

    def off(at: Jet) -> FloatArray:
        return np.concatenate([_own(array, at)[0], array.qdot(at)[own:]])

    def slope(at: Jet) -> FloatArray:
        by_states, rates = array.state_slopes(at)
        turned = np.hstack([rates[:, :n], np.zeros((nz, len(free) - n)), rates[:, 2 * n :]])
        return np.vstack([np.hstack([_own(array, at)[1][:, free], by_states]), turned])

    functions: NonlinearSystem[Jet] = NonlinearSystem(off, slope, moved)
    found = nearest_zero(state, functions)
    return found.state if found.converged else None


def _still(array: DerivativeArray, rest: Jet, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the Jacobian of all equations up to *order* at an equilibrium, where the derivatives of constants vanish, by
    displacements, speeds, states, then the others; and that of the rates of the states.
    """
    slopes, n = _own(array, rest)[1], array.n
    by_states, rates = array.state_slopes(rest)
    starts = [0, *(n + array.size(k) for k in range(order))]
    size = n + array.size(order)
    undifferentiated = [name for name, times in array.labels(2) if not times]
    named = dict(zip(undifferentiated, zip(slopes, by_states, strict=True), strict=True))
    orders = {name: own for name, own, _ in array.equations}
    states = np.eye(array.nz, size + array.nz, size)  # derivatives of order k of the states, by all variables
    higher = [states]
    for k in range(order):
        states = rates[:, 2 * n :] @ states
        states[:, starts[k] :][:, :n] += rates[:, :n]
        states[:, starts[k + 1] :][:, :n] += rates[:, n : 2 * n]
        higher.append(states)
    found = []
    for k in range(order + 1):
        for name, times in array.labels(k)[len(array.labels(k - 1)) if k else 0 :]:
            slope, by = named[name]
            row = by @ higher[times]
            for j in range(orders[name] + 1):
                entries = slope[starts[j] : n + array.size(j)]
                row[starts[j + times] :][: len(entries)] += entries
            found.append(row)
    first = [*range(2 * n), *range(size, size + array.nz)]
    columns = [*first, *range(2 * n, size)]
    return np.array(found)[:, columns], higher[1][:, columns]
