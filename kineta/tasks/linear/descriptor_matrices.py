"""Descriptor matrices: the linearisation in all states, independent and dependent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import domain_violation
from kineta.errors import ArgumentError, SingularMatrixError
from kineta.numerics.linear_algebra import solve
from kineta.runtime.independent_states import reduce_states, state_names
from kineta.runtime.nonsmooth import at_kink
from kineta.tasks.linear.first_variation import Variation

#: Distance of the neighbours that stand in for a state without derivatives, and their largest relative difference where a
#: limit exists.
BESIDE, LIMIT = 1e-7, 1e-5
#: Ratio of a second, smaller distance, at which continuous rates differ in proportion.
NEARER = 1 / 16


@dataclass(frozen=True)
class Near:
    """x' = rate + A x + B u, y = C x + D u for changes x of all states (..., nb + nv); with Jacobians of constraints, H on the
    position by coordinates, f on the speeds by coordinates and speeds, both by the inputs w.
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    rate: FloatArray
    H: FloatArray
    f_q: FloatArray
    f_v: FloatArray
    H_w: FloatArray
    f_w: FloatArray


def near(variation: Variation, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, p: FloatArray) -> Near:
    """Return the matrices at states with leading axes, or their limits where they do not exist. Raises without a limit."""
    found = _near(variation, t, q, v, tau, p)
    if all(np.isfinite(getattr(found, f.name)).all() for f in fields(found)) and not at_kink(
        variation.equations, variation.outputs.values(), t, q, v, p
    ):
        return found
    reduce_states(
        variation.equations.system, found.H, found.f_q, found.f_v, variation.rows
    )  # names the dependent constraints
    rng = np.random.default_rng(0)
    around = []
    for _ in range(3):
        dq, dv = (BESIDE * rng.choice([-1.0, 1.0], x.shape[-1]) * rng.uniform(0.5, 1.0, x.shape[-1]) for x in (q, v))
        around += [_near(variation, t, q + sign * dq, v + sign * dv, tau, p) for sign in (1, -1)]
    nearer = [_near(variation, t, q + part * dq, v + part * dv, tau, p).rate for part in (NEARER, -NEARER)]
    why = _why(variation, t, q, v, p)
    _check_steady(variation, [x.rate for x in around[-2:]], nearer, why)
    means = {}
    for f in fields(found):
        values = np.array([getattr(x, f.name) for x in around])
        size = max(1.0, float(np.abs(np.nan_to_num(values)).max(initial=0.0)))
        if not np.isfinite(values).all() or np.ptp(values, axis=0).max(initial=0.0) > LIMIT * size:
            raise ArgumentError(_no_limit(variation, f.name, values, why))
        own, mean = getattr(found, f.name), values.mean(axis=0)
        kept = np.isfinite(own) & (np.abs(np.nan_to_num(own) - mean) <= LIMIT * size)
        means[f.name] = np.where(kept, own, mean)
    return Near(**means)


def _why(variation: Variation, t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray) -> str:
    """Return the sentence on the first operation without a value or derivative at the states; ``''`` for none."""
    lead = q.shape[:-1]
    for i in np.ndindex(lead):
        own = (np.broadcast_to(x, (*lead, x.shape[-1]))[i] for x in (t, q, v, p))
        time, place, speeds, known = own
        acting = tuple(variation.outputs.values())
        if why := domain_violation(variation.equations, known, float(time[0]), np.concatenate([place, speeds]), acting):
            return why
    return ""


def _check_steady(variation: Variation, far: Sequence[FloatArray], near: Sequence[FloatArray], why: str) -> None:
    """Raise for rates that jump at a state: their differences across it are as large *near* as *far*."""
    wide, narrow = (np.abs(a - b) for a, b in (far, near))
    size = max(1.0, float(np.abs(np.nan_to_num(far)).max(initial=0.0)))
    if (narrow > np.maximum(LIMIT * size, wide / 2)).any():
        raise ArgumentError(_no_limit(variation, "rate", np.array(near), why))


def _no_limit(variation: Variation, name: str, values: FloatArray, why: str) -> str:
    """Return the sentence on entries without a limit at a state, and *why*."""
    system = variation.equations.system
    states = state_names(system)
    rows = (
        variation.rows
        if name in ("H", "f_q", "f_v", "H_w", "f_w")
        else tuple(variation.outputs)
        if name in "CD"
        else states
    )
    spread = np.where(np.isfinite(values).all(axis=0), np.ptp(np.nan_to_num(values), axis=0), np.inf)
    at = np.unravel_index(int(spread.argmax()), spread.shape)
    row = int(at[-1] if name == "rate" else at[-2])
    what = f"the rate of '{rows[row]}'" if rows is states else f"'{rows[row]}'"
    return (
        f"Model '{system.name}': {what} has no derivative at this state: {why or 'it has a corner, a jump or no value there'}. "
        "Linearise beside it."
    )


def _near(variation: Variation, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, p: FloatArray) -> Near:
    n, m = v.shape[-1], len(variation.rows)
    rest = variation.state(t, q, v, np.zeros(n), tau, np.zeros(m), p=p)
    lead = rest["M"].shape[:-2]
    K = np.zeros((*lead, n + m, n + m))
    K[..., :n, :n] = rest["M"]
    K[..., n:, :n] = rest["A"]
    K[..., :n, n:] = -np.swapaxes(rest["A"], -1, -2)
    solved = -_solve(K, np.concatenate([rest["F"], rest["G"]], axis=-2))[..., 0]
    vdot, multipliers = solved[..., :n], solved[..., n:]
    s = variation.slopes(t, q, v, vdot, tau, multipliers, p=p)
    right = np.concatenate([np.concatenate([s[r + c] for c in "qvw"], axis=-1) for r in "FG"], axis=-2)
    moved = -_solve(K, right)
    nb = s["Fq"].shape[-1]
    V, L = moved[..., :n, :], moved[..., n:, :]
    U = np.concatenate([s["u" + c] for c in "qvw"], axis=-1)
    X = np.concatenate([U, V], axis=-2)
    Y = np.concatenate([s["y" + c] for c in "qvw"], axis=-1) + s["ya"] @ V + s["yl"] @ L
    N = nb + n
    rate = np.concatenate([s["u"][..., 0], vdot], axis=-1)
    held = (s[name] for name in ("Hq", "fq", "fv", "Hw", "fw"))
    return Near(X[..., :N], X[..., N:], Y[..., :N], Y[..., N:], rate, *held)


def _solve(K: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution x of K x = right; NaN where K is singular."""
    finite = np.isfinite(K).all(axis=(-2, -1), keepdims=True) & np.isfinite(right).all(axis=(-2, -1), keepdims=True)
    safe = np.where(finite, K, np.eye(K.shape[-1]))
    try:
        found = solve(safe, np.where(finite, right, 0.0), what="the changes of the accelerations")
        return np.asarray(np.where(finite, found, np.nan))
    except SingularMatrixError:
        return np.full(right.shape, np.nan)
