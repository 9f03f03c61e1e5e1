"""The rate of a motion that slides along surfaces towards which it is driven from both sides (Filippov's convex combination).

Off the surfaces operations are held on their sides over a step, so that stages behind a surface see nothing of its other side.

With the rates f on the lower sides of the surfaces s_j = 0 and f + d_k on the higher side of one, the motion along all of them is
f + sum_k a_k d_k, whose shares a follow from s_j' = 0, a linear system. Where operations enter linearly these are the values of
Utkin's equivalent control.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.expr.op import HIGH, KEPT, LOW, SLIDING
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel
from kineta.memory import Reals


@kernel
def evaluate_sliding(run: RunData, y: Reals, out: Reals) -> None:
    """The rate in the state y at the time that functions see, the shares of all surfaces along which the motion slides, and the
    rates of all switching functions; the sides in y are set.
    """
    s, n = run.slides, run.n
    for j in range(s.n):
        y[s.place + j] = float(LOW) if s.sides[j] == SLIDING else told_side(s.sides[j])
    s.held(run.time, y, run.block, s.base)
    for j in range(s.n):
        if s.sides[j] == SLIDING:
            y[s.place + j] = float(HIGH)
            s.held(run.time, y, run.block, s.ways[j * n :])
            run.evaluations += 1
            y[s.place + j] = float(LOW)
            for i in range(n):
                s.ways[j * n + i] = s.ways[j * n + i] - s.base[i]
        s.rest[j] = -s.base[s.place + j] if s.sides[j] == SLIDING else 0.0
    if s.active > 0:
        solve_shares(run)
    for i in range(n):
        total = s.base[i]
        for j in range(s.n):
            if s.sides[j] == SLIDING:
                total += s.rest[j] * s.ways[j * n + i]
        out[i] = total
    for j in range(s.n):
        s.drifts[j], out[s.place + j] = out[s.place + j], 0.0
        if s.sides[j] == SLIDING:
            s.shares[j] = s.rest[j]
            y[s.place + j] = float(SLIDING) + s.rest[j]


@kernel
def told_side(side: int) -> float:
    """The number of a *side* in the state; that of a surface on which contacts keep the motion is half way."""
    return float(SLIDING) + 0.5 if side == KEPT else float(side)


@kernel
def solve_shares(run: RunData) -> None:
    """Solve the equations of the shares for the right-hand side ``rest``, by elimination with row pivots."""
    s = run.slides
    for j in range(s.n):
        size = 0.0
        for k in range(s.n):
            entry = 1.0 if j == k else 0.0
            if s.sides[j] == SLIDING:
                entry = s.ways[k * run.n + s.place + j] if s.sides[k] == SLIDING else 0.0
            s.matrix[j * s.n + k] = entry
            size = max(size, fabs(entry))
        if size > 0.0:
            for k in range(s.n):
                s.matrix[j * s.n + k] = s.matrix[j * s.n + k] / size
            s.rest[j] = s.rest[j] / size
    s.singular = False
    for k in range(s.n):
        eliminate(run, k)
    for back in range(s.n):
        k = s.n - 1 - back
        total = s.rest[k]
        for i in range(k + 1, s.n):
            total -= s.matrix[k * s.n + i] * s.rest[i]
        s.rest[k] = total / s.matrix[k * s.n + k]


@kernel
def eliminate(run: RunData, k: int) -> None:
    """Bring the row of the largest pivot to place k, and take column k from the rows below."""
    s, best = run.slides, k
    for i in range(k + 1, s.n):
        if fabs(s.matrix[i * s.n + k]) > fabs(s.matrix[best * s.n + k]):
            best = i
    if best != k:
        for i in range(s.n):
            s.matrix[k * s.n + i], s.matrix[best * s.n + i] = s.matrix[best * s.n + i], s.matrix[k * s.n + i]
        s.rest[k], s.rest[best] = s.rest[best], s.rest[k]
    pivot = s.matrix[k * s.n + k]
    if not fabs(pivot) > tolerances.RANK_TOLERANCE:
        s.singular = True
    for i in range(k + 1, s.n):
        factor = s.matrix[i * s.n + k] / pivot
        for c in range(k, s.n):
            s.matrix[i * s.n + c] = s.matrix[i * s.n + c] - factor * s.matrix[k * s.n + c]
        s.rest[i] = s.rest[i] - factor * s.rest[k]
