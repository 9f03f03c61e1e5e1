"""Random states of a system, and quantities at all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.numpy import FUNCTIONS
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.formalism.derivation import Derivation
from kineta.model.infer import TIME
from kineta.model.motion import quaternion_names
from kineta.model.system import System
from kineta.passes import digits
from kineta.passes.evaluate import evaluate
from kineta.passes.magnitude import magnitude
from kineta.tasks.state import initial_state

FloatArray = NDArray[np.float64]

#: Newton steps onto constraints; the part of what a constraint adds up that counts as met; the part of the largest singular value
#: below which others are rounding.
STEPS, MET, NOTHING = 30, 1e-11, 1e-9

#: Values of all symbols of the equations by name, (n,): in double precision, or numbers of mpmath.
States = Mapping[str, FloatArray]


def random_states(system: System, n: int, seed: int = 0) -> dict[str, FloatArray]:
    """Values of t, q, v, vdot, tau and the parameters at *n* states around the start of *system*.

    Parameters have the values of the model, where it gives them. Quaternions are unit.
    """
    rng = np.random.default_rng(seed)
    p = {r.name: rng.uniform(0.5, 1.5) if r.value is None else r.value for r in system.parameters}
    q0, v0 = initial_state(system, p={name: p[name] for name in system.parameter_names})
    q = q0 + rng.uniform(-1, 1, (n, system.nq)) * np.maximum(1.0, 0.1 * np.abs(q0))
    for offset in system.quaternions.values():
        q[:, offset : offset + 4] /= np.linalg.norm(q[:, offset : offset + 4], axis=1, keepdims=True)
    v = v0 + rng.uniform(-1, 1, (n, system.nv)) * np.maximum(1.0, 0.1 * np.abs(v0))
    columns = {TIME: rng.uniform(0, 1, n)} | {name: np.full(n, value) for name, value in p.items()}
    columns |= dict(zip(system.q_names, q.T, strict=True)) | dict(zip(system.v_names, v.T, strict=True))
    for marked in ("{}'", "tau.{}"):
        columns |= {marked.format(name): rng.uniform(-3, 3, n) for name in system.v_names}
    return columns


def on_constraints(d: Derivation, states: States) -> dict[str, FloatArray]:
    """Those of *states* that could be moved onto the constraints that reactions keep, there: first the coordinates, along
    motions of the speeds, then the speeds, each by the least steps.
    """
    system, columns = d.symbols.system, dict(states)
    n, met = len(columns[TIME]), np.ones(len(columns[TIME]), dtype=bool)
    for level, kept in enumerate(([r for r in d.rows if r.order == 0], list(d.rows))):
        refs = [r.levels[-level] for r in kept]
        gradients = [r.gradient.get(k, ZERO) for r in kept for k in range(len(d.symbols.v))]
        for _ in range(STEPS if kept else 0):
            off = values(d.graph, refs, columns)
            A = values(d.graph, gradients, columns).reshape(n, len(kept), len(d.symbols.v))
            step = -np.einsum("nij,nj->ni", np.linalg.pinv(np.nan_to_num(A), rcond=NOTHING), np.nan_to_num(off))
            moved = dict(zip(d.symbols.names, step.T, strict=True))
            if level == 0:
                moved = dict(zip(system.q_names, values(d.graph, d.symbols.qdot, {**columns, **moved}).T, strict=True))
            columns |= {name: columns[name] + change for name, change in moved.items()}
            _normalise(system, columns)
        size = np.maximum(1.0, values(d.graph, magnitude(d.graph, refs), columns))
        met &= (np.abs(values(d.graph, refs, columns)) < MET * size).all(axis=1)
    return chosen(columns, met)


def _normalise(system: System, columns: dict[str, FloatArray]) -> None:
    for motion in system.joints.values():
        names = quaternion_names(motion)
        length = np.sqrt(sum(columns[n] ** 2 for n in names))
        columns |= {n: columns[n] / length for n in names}


def chosen(states: States, which: Any) -> dict[str, FloatArray]:
    """Some of the *states*: a mask, or indices."""
    return {name: column[which] for name, column in states.items()}


def values(graph: Graph, refs: Sequence[Ref], states: States) -> FloatArray:
    """Values of *refs* at all states, (n, len(refs)), in the numbers of these; NaN where an expression has none."""
    n = len(states[TIME])
    functions = digits.functions() if states[TIME].dtype == object else FUNCTIONS
    with np.errstate(all="ignore"):
        columns = evaluate(graph, refs, states, functions)
    return np.array([np.broadcast_to(c, n) for c in columns]).reshape(len(refs), n).T


def quantity(d: Derivation, name: str, states: States) -> FloatArray:
    """A quantity at all states, (n, *shape)."""
    array = d[name]
    return values(d.graph, array.refs, states).reshape(len(states[TIME]), *array.shape)
