"""Redundancy detection: dependence of rows, from their values at random states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot

from kineta import tolerances
from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import Graph, Ref
from kineta.model.system import System
from kineta.numerics.plain_matrices import LARGE, Rows, dependent_row, unit_rows
from kineta.numerics.random_numbers import UniformNumbers
from kineta.passes.evaluate import evaluate

#: Name of the computation in error messages.
CONSTRAINTS = "the constraints that are independent"
#: Number of trial states before expressions count as undefined.
TRIES = 60


def matrix(graph: Graph, rows: Sequence[Mapping[int, Ref]], columns: int, state: Mapping[str, float]) -> Rows:
    """The *rows* at a *state* (len(rows), columns), scaled to unit length."""
    G = [[0.0] * columns for _ in rows]
    for values, row in zip(G, rows, strict=True):
        for k, value in zip(row, evaluate(graph, list(row.values()), state), strict=True):
            values[k] = value
    return unit_rows(G)


def dependent(G: Rows, rank: float | None = None) -> list[int]:
    """The first set of dependent rows of *G*, the dependent row last; [] for independent rows.

    In G^T = Q R with rows of unit length |R_kk| is the distance of row k from the span of the rows before it. Below *rank*,
    RANK_TOLERANCE by default, it counts as zero.
    """
    least = tolerances.RANK_TOLERANCE if rank is None else rank
    if len(G) > LARGE:
        # Lazy: few rows need no NumPy.
        from kineta.numerics import linear_algebra

        found = linear_algebra.dependent_row(G, least, what=CONSTRAINTS)
    else:
        found = dependent_row(G, least, what=CONSTRAINTS)
    if found is None:
        return []
    k, weights = found
    return [*(i for i, w in enumerate(weights) if abs(w) > tolerances.PARTICIPATION_TOLERANCE), k]


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
    rng = UniformNumbers(0)
    turned = {f"{joint}.qw" for joint in system.quaternions}
    state = {n: float(n in turned) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: rng.uniform(0.5, 1.5) if p.value is None else p.value for p in system.parameters}
    given = {name: evaluate(value.graph, [value.ref], state)[0] for name, value in system.expanded.initial}
    return state | given


def _state(system: System, seed: int, width: float) -> dict[str, float]:
    rng = UniformNumbers(seed)
    state = {n: rng.uniform(-1, 1) for n in (*system.q_names, *system.v_names, "t")}
    state |= {p.name: rng.uniform(0.5, 1.5) if p.value is None else p.value for p in system.parameters}
    for name, value in system.expanded.initial:
        (start,) = evaluate(value.graph, [value.ref], state)
        state[name] = start + width * state.get(
            name, 0.0
        )  # derivatives of speeds are no part of a state and keep their values
    for parts in (joint.quaternion for joint in system.joints.values()):
        length = hypot(*(state[n] for n in parts))
        state |= {n: state[n] / length for n in parts}
    return state
