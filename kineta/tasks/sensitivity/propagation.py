"""Propagation of the variations of a motion along a piece of it: linear maps from step to step, with error control.

Variations X of the state and of the symbols that vary obey a linear equation, S' = A(t) X, whose matrix is known all along the
piece. So the maps of all steps are found at once, by the method of the motion itself, and those steps are halved whose maps are
not accurate enough for the variations that pass through them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import domain_violation
from kineta.errors import SimulationError
from kineta.numerics.tableaux import Tableau
from kineta.records import dataclass
from kineta.tasks.sensitivity.mode_tangent import ModeTangent
from kineta.tasks.sensitivity.recorded_motion import MotionPiece

#: Halvings of a step at most.
HALVINGS = 60
#: Weight of the second error estimate of a pair, as in DOP853.
SECOND = 0.01
#: Steps whose maps are computed together.
CHUNK = 256


@dataclass(frozen=True)
class Accuracy:
    """The method of propagation, and its tolerances."""

    tableau: Tableau
    rtol: float
    atol: float


#: Maps (k, n, n + m) of steps, and one or two errors of these.
Maps = tuple[FloatArray, FloatArray]


def propagated(
    tangent: ModeTangent, piece: MotionPiece, nodes: FloatArray, X: FloatArray, accuracy: Accuracy
) -> Iterator[tuple[float, FloatArray]]:
    """Yield the *nodes* (k,) of a *piece*, rising from its start or a later time, behind the first, with the variations
    (n + m, columns) there, which are *X* at the first.

    Raises :class:`SimulationError` where no step is short enough.
    """
    ends = nodes.copy()
    maps, errors = _maps(tangent, piece, ends[:-1], ends[1:], accuracy)
    for _ in range(HALVINGS):
        _check_finite(tangent, piece, ends, maps)
        rows, bad = _walk(X, maps, errors, accuracy)
        if not bad.any():
            break
        middles = 0.5 * (ends[:-1] + ends[1:])[bad]
        made, lost = _maps(
            tangent,
            piece,
            np.stack([ends[:-1][bad], middles], axis=1).ravel(),
            np.stack([middles, ends[1:][bad]], axis=1).ravel(),
            accuracy,
        )
        places = np.repeat(np.arange(len(bad)), np.where(bad, 2, 1))
        halved = bad[places]
        maps, errors = maps[places], errors[:, places]
        maps[halved], errors[:, halved] = made, lost
        ends = np.insert(ends, np.flatnonzero(bad) + 1, middles)
    else:
        at = ends[int(np.argmax(bad))]
        raise SimulationError(f"the derivatives grow without bound near t = {at:g} s")
    wanted = np.isin(ends[1:], nodes[1:])
    yield from zip(
        ends[1:][wanted].tolist(), (x for x, own in zip(rows, wanted.tolist(), strict=True) if own), strict=True
    )


def _check_finite(tangent: ModeTangent, piece: MotionPiece, ends: FloatArray, maps: FloatArray) -> None:
    """Raise :class:`SimulationError` for *maps* of steps between *ends* without a value."""
    lost = ~np.isfinite(maps).all(axis=(1, 2))
    if not lost.any():
        return
    k = int(np.argmax(lost))
    (y,) = states(piece, ends[k : k + 1])
    why = domain_violation(tangent.equations, piece.mode.p, float(ends[k]), y)
    raise SimulationError(
        f"the derivatives have no value near t = {ends[k]:g} s{f': {why}' if why else ''}. End before it, or begin behind it"
    )


def _walk(
    X: FloatArray, maps: FloatArray, errors: FloatArray, accuracy: Accuracy
) -> tuple[list[FloatArray], FloatArray]:
    """Variations behind all steps, and which steps are not accurate."""
    n, rows, bad = maps.shape[1], list[FloatArray](), np.zeros(len(maps), dtype=bool)
    for k, step in enumerate(maps):
        after = np.concatenate([step @ X, X[n:]])
        size = np.maximum(np.abs(X[:n]).max(axis=1, initial=0.0), np.abs(after[:n]).max(axis=1, initial=0.0))
        scale = (accuracy.atol + accuracy.rtol * size)[:, None]
        first, *more = (np.abs(e @ X / scale).max(initial=0.0) for e in errors[:, k])
        if more and first > 0:
            first = first * first / np.sqrt(first * first + SECOND * more[0] * more[0])
        bad[k] = not first <= 1.0
        rows.append(after)
        X = after
    return rows, bad


def _maps(tangent: ModeTangent, piece: MotionPiece, a: FloatArray, b: FloatArray, accuracy: Accuracy) -> Maps:
    """Maps of the steps from the times *a* (k,) to *b*, and their errors (1 or 2, k, n, n + m)."""
    parts = [_some_maps(tangent, piece, a[i : i + CHUNK], b[i : i + CHUNK], accuracy) for i in range(0, len(a), CHUNK)]
    return np.concatenate([maps for maps, _ in parts]), np.concatenate([errors for _, errors in parts], axis=1)


@np.errstate(over="ignore", invalid="ignore")  # of maps without a value :func:`_check_finite` tells
def _some_maps(tangent: ModeTangent, piece: MotionPiece, a: FloatArray, b: FloatArray, accuracy: Accuracy) -> Maps:
    tableau, h, n = accuracy.tableau, (b - a)[:, None, None], tangent.states
    # The last stage, behind all others, is at the end of the step.
    times = a[:, None] + (b - a)[:, None] * np.array([*tableau.C[: tableau.stages], 1.0])
    times[:, -1] = b
    A = tangent.rates(piece.mode, times.ravel(), states(piece, times.ravel())).A.reshape(*times.shape, n, -1)
    whole = A.shape[-1]
    start = np.broadcast_to(np.eye(n, whole), (len(a), n, whole))
    slopes = list[FloatArray]()

    def slope(i: int, weights: tuple[float, ...]) -> FloatArray:
        at = start + h * _sum(weights, slopes)
        found = A[:, i, :, :n] @ at
        found[:, :, n:] += A[:, i, :, n:]
        return np.asarray(found)

    for i in range(tableau.stages):
        slopes.append(slope(i, () if i == 0 else tableau.A[i - 1]))
    maps = start + h * _sum(tableau.B, slopes)
    last = A[:, -1, :, :n] @ maps
    last[:, :, n:] += A[:, -1, :, n:]
    errors = np.array([h * _sum(weights, [*slopes, last]) for weights in tableau.errors])
    return maps, errors


def _sum(weights: tuple[float, ...], slopes: list[FloatArray]) -> FloatArray:
    found: FloatArray = np.zeros(())
    for weight, slope in zip(weights, slopes, strict=False):
        if weight:
            found = found + weight * slope
    return found


def states(piece: MotionPiece, t: FloatArray) -> FloatArray:
    """Return the states (k, n) of a *piece* at the times *t* (k,) in it."""
    if piece.solution is None:
        return np.broadcast_to(piece.y[0], (len(t), piece.y.shape[1]))
    found = piece.solution(t)
    found[t == piece.t[0]] = piece.y[0]
    found[t == piece.t[-1]] = piece.y[-1]
    return found
