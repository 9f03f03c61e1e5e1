"""Redundancy detection: dependence of rows, from their values at random states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kineta import tolerances
from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import Graph, Ref
from kineta.model.system import System
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.arrays import FloatArray

#: Name of the computation in error messages.
CONSTRAINTS = "the constraints that are independent"
#: Number of rows from which on sparse elimination is used.
LARGE = 100
#: Number of trial states before expressions count as undefined.
TRIES = 60


def matrix(graph: Graph, rows: Sequence[Mapping[int, Ref]], columns: int, state: Mapping[str, float]) -> FloatArray:
    """The *rows* at a *state* (len(rows), columns), scaled to unit length."""
    # Lazy, here and below: systems without constraints need no NumPy.
    import numpy as np

    G = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        G[i, list(row)] = evaluate(graph, list(row.values()), state)
    return scaled(G)


def scaled(G: FloatArray) -> FloatArray:
    """*G* (..., rows, columns) with nonzero rows scaled to unit length."""
    import numpy as np

    from kineta.numerics.linear_algebra import norm

    size = norm(G, axis=-1, keepdims=True)
    return np.asarray(G / np.where(size > 0, size, 1.0))


def dependent(G: FloatArray, rank: float | None = None) -> list[int]:
    """The first set of dependent rows of *G*, the dependent row last; [] for independent rows.

    In G^T = Q R with rows of unit length |R_kk| is the distance of row k from the span of the rows before it. Below *rank*,
    RANK_TOLERANCE by default, it counts as zero.
    """
    import numpy as np

    from kineta.numerics.linear_algebra import solve, triangle

    if len(G) > LARGE and nearest(G) > tolerances.INDEPENDENCE_TOLERANCE:
        return []
    R = triangle(G.T, what=CONSTRAINTS)
    far = np.abs(R.diagonal()) > (tolerances.RANK_TOLERANCE if rank is None else rank)
    k = len(far) if far.all() else int(far.argmin())
    if k == len(G):
        return []
    weights = solve(R[:k, :k], R[:k, k], what=CONSTRAINTS)
    return [*(i for i in range(k) if abs(weights[i]) > tolerances.PARTICIPATION_TOLERANCE), k]


def nearest(G: FloatArray) -> float:
    """The least distance of a row of *G* from the span of the rows before it; for many rows to 1e-7, in an order that preserves
    zeros. Zero for more rows than columns.
    """
    import numpy as np

    from kineta.numerics.linear_algebra import sparse_pivots, triangle

    if len(G) > G.shape[1]:
        return 0.0
    if len(G) <= LARGE:
        return float(np.abs(triangle(G.T, what=CONSTRAINTS).diagonal()).min(initial=np.inf))
    return float(np.sqrt(max(sparse_pivots(G, what=CONSTRAINTS).min(), 0.0)))


def random_state(system: System, graph: Graph, refs: Sequence[Ref], seed: int) -> dict[str, float]:
    """A random state at which all *refs* have values, by the names of the symbols; it approaches the start of *system* with the
    number of trials. Raise :class:`ModelError` if there is none.
    """
    for attempt in range(TRIES):
        state = _state(system, seed + 1000 * attempt, 4.0 / (4 + attempt))
        try:
            evaluate(graph, refs, state)
        except ExpressionError as error:
            fault = error
        else:
            return state
    raise ModelError(
        f"Model '{system.name}': its constraints and quasi-velocities have no values at any of {TRIES} random states: {fault} "
        "Give initial values near which they have some."
    )


def start(system: System) -> dict[str, float]:
    """The initial state of *system*, by the names of the symbols; parameters without values are random."""
    import numpy as np

    rng = np.random.default_rng(0)
    turned = {f"{joint}.qw" for joint in system.quaternions}
    state = {n: float(n in turned) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: float(rng.uniform(0.5, 1.5)) if p.value is None else p.value for p in system.parameters}
    given = {name: evaluate(value.graph, [value.ref], state)[0] for name, value in system.expanded.initial}
    return state | given


def _state(system: System, seed: int, width: float) -> dict[str, float]:
    import numpy as np

    from kineta.numerics.linear_algebra import norm

    rng = np.random.default_rng(seed)
    state = {n: float(rng.uniform(-1, 1)) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: float(rng.uniform(0.5, 1.5)) if p.value is None else p.value for p in system.parameters}
    for name, value in system.expanded.initial:
        (start,) = evaluate(value.graph, [value.ref], state)
        state[name] = start + width * state.get(
            name, 0.0
        )  # derivatives of speeds are no part of a state and keep their values
    for parts in (joint.quaternion for joint in system.joints.values()):
        length = float(norm([state[n] for n in parts]))
        state |= {n: state[n] / length for n in parts}
    return state
