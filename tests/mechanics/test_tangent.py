"""Derivatives of accelerations and forces are the limits of difference quotients, shown in fifty digits."""

from __future__ import annotations

from collections.abc import Mapping

import mpmath
import numpy as np
import pytest

import kineta as kn
from kineta.equations.equations import Equations, derive
from kineta.mechanics.tangent import DIRECTIONS
from kineta.passes.evaluate import evaluate
from kineta.passes.multiprecision import multiprecision_operations
from tests.mechanics.random_systems import random_state, random_system
from tests.support import EXAMPLES, some

#: Closed systems of both orders, and quasi-velocities; all other names are trees with every motion and element.
MODELS = ("fourbar", "rolling_coin", "bicycle", "upright_coin", "euler_top", "ball_tree")
SYSTEMS = [*range(4), *MODELS]
DIGITS, STEP = 50, "1e-15"


def system(name: str | int) -> kn.System:
    """An example, or a random tree."""
    return (
        kn.load(EXAMPLES / f"{name}.kin")
        if isinstance(name, str)
        else random_system(name, rheonomic=True, elements=True)
    )


def slope(equations: Equations, quantity: str, state: Mapping[str, float], along: Mapping[str, float]) -> np.ndarray:
    """The derivative of *quantity* in a direction, by a central difference."""
    refs = equations.expressions(quantity).refs
    with mpmath.workdps(DIGITS):
        h = mpmath.mpf(STEP)
        ends = []
        for sign in (1, -1):
            at = {n: mpmath.mpf(x) + sign * h * mpmath.mpf(along.get(n, 0.0)) for n, x in state.items()}
            ends.append(evaluate(equations.graph, refs, at, multiprecision_operations()))
        return np.array([float((a - b) / (2 * h)) for a, b in zip(*ends, strict=True)])


@pytest.mark.parametrize("name", some(SYSTEMS, 2))
@pytest.mark.parametrize("quantity", ["forward", "inverse"])
def test_derivatives_are_limits_of_differences(name: str | int, quantity: str) -> None:
    equations = derive(system(name))
    d, rng = equations.derivation, np.random.default_rng(5)
    state = random_state(equations.system, 3)
    for block in ("q", "v") if quantity == "inverse" else DIRECTIONS:
        directions = DIRECTIONS[block](d)
        weights = rng.uniform(-1, 1, len(directions))
        along: dict[str, float] = {}
        for weight, direction in zip(weights, directions, strict=True):
            for symbol, change in direction.items():
                n = d.graph.names[d.graph.lhs[symbol >> 1]]
                along[n] = along.get(n, 0.0) + weight * evaluate(d.graph, [change], state)[0]
        array = equations.expressions(f"{quantity}_by_{block}")
        found = np.array(evaluate(d.graph, array.refs, state)).reshape(-1, len(weights)) @ weights
        expected = slope(equations, quantity, state, along)
        assert np.abs(found - expected).max() <= 1e-11 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", some(SYSTEMS, 2))
def test_forces_change_accelerations_symmetrically(name: str | int) -> None:
    equations, state = derive(system(name)), random_state(system(name), 4)
    array = equations.expressions("forward_by_tau")
    compliance = np.array(evaluate(equations.graph, array.refs, state)).reshape(array.shape)
    assert np.array_equal(compliance, compliance.T)
    if not equations.derivation.rows:
        M = equations.expressions("mass_matrix")
        mass = np.array(evaluate(equations.graph, M.refs, state)).reshape(M.shape)
        assert np.allclose(mass @ compliance, np.eye(len(mass)), atol=1e-15 * np.linalg.cond(mass))


@pytest.mark.slow
def test_derivatives_of_several_blocks_come_together() -> None:
    equations = derive(kn.load(EXAMPLES / "puma560.kin"))
    q, v, tau = np.linspace(-1, 1, 6), np.linspace(1, 2, 6), np.linspace(0, 3, 6)
    found = equations.function("forward_derivatives")(0.0, q, v, tau)
    assert found._fields == ("forward_by_q", "forward_by_v", "forward_by_tau")
    assert np.allclose(found.forward_by_q, equations.function("forward_by_q")(0.0, q, v, tau), rtol=1e-12)
    vdot = equations.function("forward")(0.0, q, v, tau)
    by_q, _, mass = equations.function("inverse_derivatives")(0.0, q, v, vdot)
    assert np.allclose(mass @ found.forward_by_q, -by_q, atol=1e-9)
