"""Which constraints of a motion say what others say, decided once, where it starts and in positions near by.

At a position where constraints happen to coincide, as where a parallelogram is folded flat, fewer of them are independent than
next to it. So the rank is that of the most regular of some positions near the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import ModelError, SimulationError, warn
from kineta.formalism.constraint import check_independent
from kineta.formalism.rank import APART, nearest
from kineta.function import parameter_values
from kineta.tasks.closing import MET, Closing
from kineta.tasks.state import initial_state

FloatArray = NDArray[np.float64]
#: Coordinates and speeds.
State = tuple[FloatArray, FloatArray]

#: Pivots below this part of the largest, of rows scaled to unit length, are those of constraints that say what others say.
RANK = 1e-6
#: Positions near the start that are looked at, and how far the motions between go: the root of twice the kinetic energy that
#: would take them there in a second, as a part of that of the largest unit speed.
NEAR, FAR = 3, 0.1
#: Singular values of scaled constraints below which a run has ended in a singular position, and below which none can start.
FOLDED, FLAT = 1e-3, 1e-9
#: The least length of a row, as a part of the longest, where nothing else is looked at.
SHORT = 1e-3


@dataclass(frozen=True)
class Rank:
    """Names of the constraints *left_out*; for each the names of those that say together what it says; and regular states
    (q, v) of the motion.
    """

    left_out: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    states: tuple[State, ...]

    def said(self, total: int) -> str:
        """The finding in words, ``''`` where all constraints are independent."""
        if not self.left_out:
            return ""
        k = len(self.left_out)
        groups = "; ".join(
            f"{name} follows from {', '.join(others)}" if others else f"{name} changes with no motion"
            for name, others in zip(self.left_out, self.others, strict=True)
        )
        verb = "is" if k == 1 else "are"
        return f"{k} of {total} rows of constraints {verb} redundant and left out ({groups}): their reactions are indeterminate"


def rank(closing: Closing, t: float, q: FloatArray, v: FloatArray) -> Rank:
    """The rank of the constraints around the state *q*, *v* that meets them."""
    return _rank(closing, t, (q, v), closing.rows_at(t, q, v))


def _rank(closing: Closing, t: float, state: State, own: FloatArray) -> Rank:
    """The rank around a *state* with rows of its *own*."""
    if _clear(own):
        return Rank((), (), (state,))
    states = [state, *_near(closing, t, *state)]
    rows = [own, *(closing.rows_at(t, *other) for other in states[1:])]
    length = np.max([np.linalg.norm(A, axis=1) for A in rows], axis=0)
    found = [_independent(A, length) for A in rows]
    best = max(range(len(states)), key=lambda i: (len(found[i][0]), found[i][1]))
    kept = found[best][0]
    names = [name for name, _ in closing.rows]
    null = closing.null(t, *states[best], kept)
    return Rank(
        tuple(names[i] for i in null),
        tuple(tuple(names[k] for k in sorted(others)) for others in null.values()),
        tuple(states),
    )


def redundant(equations: Equations, p: FloatArray) -> tuple[str, ...]:
    """Names of the constraints that follow from others around the start of a system, moved onto them."""
    system = equations.system
    if system.quasi or not system.constraints:
        return ()
    closing, (q, v) = Closing(equations, p), initial_state(system, p=p)
    q = closing.position(0.0, q)
    return rank(closing, 0.0, q, closing.velocity(0.0, q, v)).left_out


def settled(equations: Equations) -> Equations:
    """*equations* without the constraints that are redundant around the start of the model, moved onto them, with a warning that
    names them; as they are where parameters have no values or no state near the start meets the constraints.

    Raises :class:`ModelError` for constraints that contradict each other in any position.
    """
    system, d = equations.system, equations.derivation
    if any(p.value is None for p in system.parameters):
        return equations
    closing, (q, v) = Closing(equations, parameter_values(system)), initial_state(system)
    why = contradiction(closing, 0.0, q, v)
    if why:
        try:
            check_independent(d.symbols, d.rows)
        except ModelError as error:
            raise ModelError(f"Model '{system.name}': {why}", error.location) from None
        return equations
    q = closing.position(0.0, q)
    v = closing.velocity(0.0, q, v)
    rows = closing.rows_at(0.0, q, v)
    if not np.isfinite(rows).all():
        return equations
    found = _rank(closing, 0.0, (q, v), rows)
    if found.left_out:
        warn(f"Model '{system.name}': {found.said(len(closing.rows))}.")
    return equations.without(found.left_out)


def contradiction(closing: Closing, t: float, q: FloatArray, v: FloatArray) -> str:
    """Which constraints contradict each other where a state near *q*, *v* meets them best, in words; ``''`` for none."""
    q = closing.position(t, q)
    v = closing.velocity(t, q, v)
    off = closing.off(t, q, v)
    k = int(np.abs(off).argmax()) if len(off) else 0
    if not np.isfinite(off).all() or not np.abs(off).max(initial=0.0) > MET * closing.size(q, v):
        return ""
    found = rank(closing, t, q, v)
    for name, others in zip(found.left_out, found.others, strict=True):
        if others and closing.labels[k].rstrip("'") in (name, *others):
            return (
                f"the constraint '{name}' contradicts {', '.join(others)}: no state near the start meets all, and where they are "
                f"missed least, {closing.named(k)} is {off[k]:.3g} instead of 0. Leave one out, or change it."
            )
    return ""


def folded(
    equations: Equations, p: FloatArray, t: float, end: State, regular: Sequence[State], part: float = FOLDED
) -> str:
    """Which constraints depend on each other in the state *end*, at the time *t*, though they are independent in *regular* ones,
    in words; ``''`` for none. So they do where the least singular value, of constraints scaled with what they are in regular
    states, is less than *part*.
    """
    system, left_out = equations.system, equations.derivation.left_out
    if not system.constraints or system.quasi:
        return ""
    closing = Closing(equations, p)
    kept = [k for k, (name, _) in enumerate(closing.rows) if name not in left_out]
    elsewhere = [state for state in regular if not all(map(np.array_equal, state, end))]
    *others, A = (closing.rows_at(t, *state)[kept] for state in (*elsewhere, end))
    if not np.isfinite(A).all():
        return ""
    length = np.max([np.linalg.norm(rows, axis=1, keepdims=True) for rows in (*others, A)], axis=0)
    A = A / np.where(length > 0, length, 1.0)
    if nearest(A) > APART:
        return ""
    left, sizes, _ = np.linalg.svd(A)
    if len(sizes) == len(kept) and sizes[-1] > part:
        return ""
    shares = np.abs(left[:, -1])
    names = [closing.rows[kept[k]][0] for k in np.flatnonzero(shares > 0.1 * shares.max())]
    if len(names) == 1:
        return f"the constraint {names[0]} changes with no motion there"
    return f"the constraints {', '.join(names)} depend on each other there"


def _independent(A: FloatArray, length: FloatArray) -> tuple[list[int], float]:
    """Of the rows *A*, scaled with the *length* that each has in regular positions, those that are independent of each other,
    those first that are farthest from the span of those before; and the distance of the last.
    """
    from scipy.linalg import qr  # which runs that are regular do without

    R, order = qr((A / np.where(length > 0, length, 1.0)[:, None]).T, mode="r", pivoting=True, check_finite=False)
    far = np.abs(R.diagonal())
    count = int((far > RANK).sum())
    return order[:count].tolist(), float(far[count - 1]) if count else 1.0


def _clear(A: FloatArray) -> bool:
    """Whether the rows *A* are independent without a doubt."""
    if not len(A):
        return True
    length = np.linalg.norm(A, axis=1)
    return bool(length.min() >= SHORT * max(1.0, length.max())) and nearest(A / length[:, None]) > APART


def _near(closing: Closing, t: float, q: FloatArray, v: FloatArray) -> list[State]:
    """States that meet the constraints, near to *q*, *v*."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(NEAR):
        W = closing.inverse_root(t, q, v)
        W = W / max(np.linalg.norm(W, axis=0).max(initial=0.0), 1e-300)
        A = closing.jacobian(t, q, v) @ W
        x = FAR * rng.standard_normal(W.shape[1])
        x -= np.linalg.lstsq(A, A @ x, rcond=RANK)[0]
        there = closing.position(t, closing.moved(t, q, W @ x))
        speeds = closing.velocity(t, there, v)
        if np.isfinite(there).all() and np.isfinite(speeds).all():
            found.append((there, speeds))
    return found


def closed(
    equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[Equations, tuple[State, ...], tuple[str, ...]]:
    """*equations* without the constraints that are redundant where a motion starts, regular states of it, and what is to be
    said; of several cases that of the first.
    """
    system = equations.system
    if not system.constraints or system.quasi:
        return equations, (), ()
    q, v, p = (np.atleast_2d(x)[0] for x in (q, v, p))
    closing = Closing(equations, p)
    rows = closing.rows_at(t, q, v)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise SimulationError(
            f"Model '{system.name}': the constraint '{closing.rows[int(finite.argmin())][0]}' has no value, or no slope, at the "
            "start. Give another start."
        )
    found = _rank(closing, t, (q, v), rows)
    said = found.said(len(closing.rows))
    return equations.without(found.left_out), found.states, (said,) * bool(said)
