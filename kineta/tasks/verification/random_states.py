"""Random states of a system, and quantities at all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.constraints.quasi_velocities import definitions
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.variables import Symbols
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, pinv
from kineta.passes import multiprecision
from kineta.passes.evaluate import evaluate
from kineta.passes.magnitude import magnitude
from kineta.runtime.parameter_checks import parameters

#: Most Newton steps of the projection.
STEPS = 30
#: Residual of a constraint, relative to its terms, in a state by which laws are judged: less than a law may miss.
STATE_RESIDUAL = 10 * tolerances.ROUNDING_TOLERANCE

#: Values of all symbols of the equations by name, (n,): in double precision, or numbers of mpmath.
States = Mapping[str, FloatArray]


class RememberingStates(dict[str, FloatArray]):
    """States of which the values of all nodes of one *graph* are kept: what several quantities share is computed once."""

    def __init__(self, graph: Graph, states: States) -> None:
        super().__init__(states)
        self.graph = graph
        self.known: dict[int, Any] = {}


def at_state(d: Derivation, t: float, q: Any, v: Any, p: Any) -> Callable[[Sequence[Ref]], FloatArray]:
    """Return the evaluation of expressions of *d* at one state, given as to :func:`~kineta.simulation.simulate.simulate`."""
    system = d.symbols.system
    numbers = parameters(system, p)
    q0, v0 = initial_state(system, q, v, numbers)
    if max(q0.ndim, v0.ndim, numbers.ndim) > 1:
        raise ArgumentError("Expected one state and one set of parameters, found cases; take them one by one.")
    names = (TIME, *system.q_names, *system.v_names, *system.parameter_names)
    state = dict(zip(names, (t, *q0.tolist(), *v0.tolist(), *numbers.tolist()), strict=True))
    return lambda refs: np.array(evaluate(d.graph, refs, state), dtype=float)


def random_states(system: System, n: int, seed: int = 0) -> dict[str, FloatArray]:
    """Return values of t, q, v, vdot, tau and the parameters at *n* states around the start of *system*.

    Parameters have the values of the model, where it gives them. Quaternions are unit.
    """
    rng = np.random.default_rng(seed)
    p = {r.name: rng.uniform(0.5, 1.5) if r.value is None else r.value for r in system.parameters}
    q0, v0 = initial_state(system, p={name: p[name] for name in system.parameter_names})
    q = q0 + rng.uniform(-1, 1, (n, system.nq)) * np.maximum(1.0, 0.1 * np.abs(q0))
    for offset in system.quaternions.values():
        q[:, offset : offset + 4] /= norm(q[:, offset : offset + 4], axis=1, keepdims=True)
    v = v0 + rng.uniform(-1, 1, (n, system.nv)) * np.maximum(1.0, 0.1 * np.abs(v0))
    columns = {TIME: rng.uniform(0, 1, n)} | {name: np.full(n, value) for name, value in p.items()}
    columns |= dict(zip(system.q_names, q.T, strict=True)) | dict(zip(system.v_names, v.T, strict=True))
    for marked in ("{}'", "tau[{}]"):
        columns |= {marked.format(name): rng.uniform(-3, 3, n) for name in system.v_names}
    return columns


def on_constraints(d: Derivation, states: States) -> dict[str, FloatArray]:
    """Return the *states* projected onto the constraints: first the coordinates, along directions of the speeds,
    then the speeds, by least-squares steps. Quasi-velocities satisfy velocity constraints; under them coordinates alone move.
    """
    if not d.symbols.system.quasi:
        return _moved(d.symbols, d.rows, states)
    own = definitions(d.symbols)
    rows = [row for row in own.kept if row.order == 0]
    moved = _moved(own.base, rows, {**dict.fromkeys(own.base.names, 0 * states[TIME]), **states})
    return {name: moved[name] for name in states}


def _moved(s: Symbols, rows: Sequence[Row], states: States) -> dict[str, FloatArray]:
    system, columns = s.system, dict(states)
    n, met = len(columns[TIME]), np.ones(len(columns[TIME]), dtype=bool)
    for level, kept in enumerate(([r for r in rows if r.order == 0], list(rows))):
        refs = [r.levels[-level] for r in kept]
        gradients = [r.gradient.get(k, ZERO) for r in kept for k in range(len(s.v))]
        for _ in range(STEPS if kept else 0):
            off = values(s.graph, refs, columns)
            A = values(s.graph, gradients, columns).reshape(n, len(kept), len(s.v))
            back = pinv(np.nan_to_num(A), what="states that meet the constraints", rcond=tolerances.RANK_TOLERANCE)
            step = -np.einsum("nij,nj->ni", back, np.nan_to_num(off))
            moved = dict(zip(s.names, step.T, strict=True))
            if level == 0:
                moved = dict(zip(system.q_names, values(s.graph, s.motion_rates, {**columns, **moved}).T, strict=True))
            columns |= {name: columns[name] + change for name, change in moved.items()}
            _normalise(system, columns)
        size = np.maximum(1.0, values(s.graph, magnitude(s.graph, refs), columns))
        met &= (np.abs(values(s.graph, refs, columns)) < STATE_RESIDUAL * size).all(axis=1)
    return chosen(columns, met)


def _normalise(system: System, columns: dict[str, FloatArray]) -> None:
    for names in (joint.quaternion for joint in system.joints.values()):
        length = np.sqrt(sum(columns[n] ** 2 for n in names))
        columns |= {n: columns[n] / length for n in names}


def chosen(states: States, which: Any) -> dict[str, FloatArray]:
    """Return a selection of *states* by a mask or by indices."""
    return {name: column[which] for name, column in states.items()}


def values(graph: Graph, refs: Sequence[Ref], states: States) -> FloatArray:
    """Return the values of *refs* at all states, (n, len(refs)), in the arithmetic of the states; NaN outside their domain."""
    n = len(states[TIME])
    functions = multiprecision.multiprecision_operations() if states[TIME].dtype == object else FUNCTIONS
    with np.errstate(all="ignore"):
        known = states.known if isinstance(states, RememberingStates) and states.graph is graph else None
        columns = evaluate(graph, refs, states, functions, known)
    return np.array([np.broadcast_to(c, n) for c in columns]).reshape(len(refs), n).T


def quantity(d: Derivation, name: str, states: States) -> FloatArray:
    """Return a quantity at all states, (n, *shape)."""
    array = d[name]
    return values(d.graph, array.refs, states).reshape(len(states[TIME]), *array.shape)
