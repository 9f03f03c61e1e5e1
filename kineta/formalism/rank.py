"""Whether rows depend on each other, as their numbers at random states tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import Graph, Ref
from kineta.model.motion import quaternion_names
from kineta.model.system import System
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Singular values below this part of the largest count as zero.
RANK = 1e-9
#: A distance at which rows of unit length are independent without a doubt.
APART = 1e-2
#: Rows at which those of large sets are looked at without their zeros.
LARGE = 100
#: Weights below this have no part in what a row depends on.
PART = 1e-6
#: Random states that are tried before expressions count as having no values.
TRIES = 60


def matrix(
    graph: Graph, rows: Sequence[Mapping[int, Ref]], columns: int, state: Mapping[str, float]
) -> NDArray[np.float64]:
    """The *rows* at a *state* (len(rows), columns), scaled to unit length."""
    # Here and below: what has no constraints is derived without NumPy.
    import numpy as np

    G = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        G[i, list(row)] = evaluate(graph, list(row.values()), state)
    return scaled(G)


def scaled(G: NDArray[np.float64]) -> NDArray[np.float64]:
    """*G* (..., rows, columns) with rows of unit length, but for those that are zero."""
    import numpy as np

    size = np.linalg.norm(G, axis=-1, keepdims=True)
    return np.asarray(G / np.where(size > 0, size, 1.0))


def dependent(G: NDArray[np.float64], rank: float = RANK) -> list[int]:
    """The rows of *G* of which the last follows from the others, the first such set; [] where all are independent.

    In G^T = Q R with rows of unit length |R_kk| is the distance of row k from those before it. Below *rank* it counts as zero.
    """
    import numpy as np

    if len(G) > LARGE and nearest(G) > APART:
        return []
    R = _triangle(G)
    far = np.abs(R.diagonal()) > rank
    k = len(far) if far.all() else int(far.argmin())
    if k == len(G):
        return []
    weights = np.linalg.solve(R[:k, :k], R[:k, k])
    return [*(i for i in range(k) if abs(weights[i]) > PART), k]


def nearest(G: NDArray[np.float64]) -> float:
    """The least distance of a row of *G* from what those before it span, in a sequence that keeps zeros where there are many
    rows; to 1e-7 then. Zero where there are more rows than columns.
    """
    import numpy as np

    if len(G) > G.shape[1]:
        return 0.0
    if len(G) <= LARGE:
        return float(np.abs(_triangle(G).diagonal()).min(initial=np.inf))
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    rows = csr_array(G)
    try:
        factors = splu(
            (rows @ rows.T).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a pivot is exactly zero
        return 0.0
    return float(np.sqrt(max(factors.U.diagonal().min(), 0.0)))


def _triangle(G: NDArray[np.float64]) -> NDArray[np.float64]:
    """R of G^T = Q R."""
    import numpy as np

    return np.asarray(np.linalg.qr(G.T, mode="r"))


def random_state(system: System, graph: Graph, refs: Sequence[Ref], seed: int) -> dict[str, float]:
    """A random state at which all *refs* have values, by the names of the symbols: near the start of *system*, the nearer the
    more states have been tried. Raises :class:`ModelError` where there is none.
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
    """The state in which *system* starts, by the names of the symbols; parameters without values are random."""
    import numpy as np

    rng = np.random.default_rng(0)
    turned = {f"{joint}.qw" for joint in system.joints}
    state = {n: float(n in turned) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: float(rng.uniform(0.5, 1.5)) if p.value is None else p.value for p in system.parameters}
    given = {name: evaluate(value.graph, [value.ref], state)[0] for name, value in system.expanded.initial}
    return state | given


def _state(system: System, seed: int, width: float) -> dict[str, float]:
    import numpy as np

    rng = np.random.default_rng(seed)
    state = {n: float(rng.uniform(-1, 1)) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: float(rng.uniform(0.5, 1.5)) if p.value is None else p.value for p in system.parameters}
    for name, value in system.expanded.initial:
        (start,) = evaluate(value.graph, [value.ref], state)
        state[name] = start + width * state.get(name, 0.0)  # derivatives of speeds are none of a state, and stay
    for motion in system.joints.values():
        parts = quaternion_names(motion)
        length = float(np.linalg.norm([state[n] for n in parts]))
        state |= {n: state[n] / length for n in parts}
    return state
