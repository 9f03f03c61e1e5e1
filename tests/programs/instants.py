"""The equations of systems under programs at one instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import kineta as kn
from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.passes.evaluate import evaluate
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from tests.mechanics.random_systems import random_state


def controlled(system: kn.System) -> Derivation:
    """The derivation in which controls hold the programs of *system*, as runs have it."""
    return run_derivation(kn.derive(system), PROJECTED)


def state_of(system: kn.System, levels: Sequence[Any], q: Any = (), t: float = 0.0) -> dict[str, float]:
    """Values by name, of time, coordinates and the speeds with their derivatives, *levels*."""
    named = {n + "'" * k: float(x) for k, row in enumerate(levels) for n, x in zip(system.v_names, row, strict=True)}
    return {"t": t, **unforced(system), **dict(zip(system.q_names, map(float, q), strict=True)), **named}


def unforced(system: kn.System) -> dict[str, float]:
    """No forces tau."""
    return {f"tau[{n}]": 0.0 for n in system.v_names}


def any_state(system: kn.System, seed: int, order: int) -> dict[str, float]:
    """A random state of *system* with derivatives of the speeds up to this *order* of the coordinates, without forces tau."""
    rng = np.random.default_rng(seed)
    state = random_state(system, seed) | unforced(system)
    return state | {n + "'" * k: rng.normal() for k in range(order) for n in system.v_names}


def values(d: Derivation, refs: Sequence[Ref], state: Mapping[str, float]) -> Any:
    """*refs* in a *state*."""
    return np.array(evaluate(d.graph, list(refs), dict(state)))


def at(d: Derivation, quantity: str, state: Mapping[str, float]) -> Any:
    """A quantity in a *state*."""
    return values(d, d[quantity].refs, state)


def solution(system: kn.System, state: Mapping[str, float]) -> tuple[Any, Any]:
    """The highest derivatives and the multipliers of the programs in a *state*."""
    d = controlled(system)
    return at(d, "highest", state), at(d, "program_multipliers", state)
