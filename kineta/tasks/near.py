"""All states of a system near a state, whether independent or not, as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError
from kineta.tasks.kinks import at_kink
from kineta.tasks.reduction import reduction, state_names
from kineta.tasks.variation import Variation

FloatArray = NDArray[np.float64]

#: How far from a state without derivatives those are that are asked in its place, and by how much they may differ, relative
#: to the largest, where there is a limit.
BESIDE, LIMIT = 1e-7, 1e-5
#: Part of that distance at which rates that have no jump differ by the same part.
NEARER = 1 / 16


@dataclass(frozen=True)
class Near:
    """x' = rate + A x + B u, y = C x + D u for changes x and y of all states (..., nb + nv); and how constraints change with
    them, H on the position with coordinates, f on the speeds with coordinates and speeds, both with the inputs w.
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
    """The matrices at states with leading axes. Where there are none, their limit; raises where there is no limit either."""
    found = _near(variation, t, q, v, tau, p)
    if all(np.isfinite(getattr(found, f.name)).all() for f in fields(found)) and not at_kink(
        variation.equations, variation.outputs.values(), t, q, v, p
    ):
        return found
    reduction(
        variation.equations.system, found.H, found.f_q, found.f_v, variation.rows
    )  # says what depends on each other
    rng = np.random.default_rng(0)
    around = []
    for _ in range(3):
        dq, dv = (BESIDE * rng.choice([-1.0, 1.0], x.shape[-1]) * rng.uniform(0.5, 1.0, x.shape[-1]) for x in (q, v))
        around += [_near(variation, t, q + sign * dq, v + sign * dv, tau, p) for sign in (1, -1)]
    nearer = [_near(variation, t, q + part * dq, v + part * dv, tau, p).rate for part in (NEARER, -NEARER)]
    _check_steady(variation, [x.rate for x in around[-2:]], nearer)
    means = {}
    for f in fields(found):
        values = np.array([getattr(x, f.name) for x in around])
        size = max(1.0, float(np.abs(np.nan_to_num(values)).max(initial=0.0)))
        if not np.isfinite(values).all() or np.ptp(values, axis=0).max(initial=0.0) > LIMIT * size:
            raise ArgumentError(_no_limit(variation, f.name, values))
        own, mean = getattr(found, f.name), values.mean(axis=0)
        kept = np.isfinite(own) & (np.abs(np.nan_to_num(own) - mean) <= LIMIT * size)
        means[f.name] = np.where(kept, own, mean)
    return Near(**means)


def _check_steady(variation: Variation, far: Sequence[FloatArray], near: Sequence[FloatArray]) -> None:
    """Raise where rates on both sides of a state, *far* from it and *near*, jump: they differ as much near as far."""
    wide, narrow = (np.abs(a - b) for a, b in (far, near))
    size = max(1.0, float(np.abs(np.nan_to_num(far)).max(initial=0.0)))
    if (narrow > np.maximum(LIMIT * size, wide / 2)).any():
        raise ArgumentError(_no_limit(variation, "rate", np.array(near)))


def _no_limit(variation: Variation, name: str, values: FloatArray) -> str:
    """What to say of entries that have no limit where a state is approached."""
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
        f"Model '{system.name}': {what} has no derivative at this state: it has a corner, a jump or no value there. "
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
    """The x with K x = right; NaN where K is singular."""
    finite = np.isfinite(K).all(axis=(-2, -1), keepdims=True) & np.isfinite(right).all(axis=(-2, -1), keepdims=True)
    safe = np.where(finite, K, np.eye(K.shape[-1]))
    try:
        return np.asarray(np.where(finite, np.linalg.solve(safe, np.where(finite, right, 0.0)), np.nan))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)
