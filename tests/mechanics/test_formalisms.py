"""Every formalism against the recursion, on random trees with every kind of motion and element."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system
from tests.support import general, some

OTHERS = general(without=["newton_euler"])
SEEDS = range(12)
QUANTITIES = ("inverse", "mass_matrix", "bias")


@cache
def system(seed: int) -> kn.System:
    return random_system(seed, rheonomic=True, elements=True)


def values(seed: int, formalism: str, quantity: str) -> Any:
    equations = kn.derive(system(seed), formalism)
    array = equations.expressions(quantity)
    return np.array(evaluate(equations.graph, array.refs, random_state(system(seed), seed)))


@cache
def expected(seed: int, quantity: str) -> Any:
    return values(seed, "newton_euler", quantity)


@pytest.mark.parametrize("formalism", OTHERS)
@pytest.mark.parametrize("seed", some(SEEDS, 4))
def test_formalisms_agree(seed: int, formalism: str) -> None:
    for quantity in QUANTITIES:
        found, scale = values(seed, formalism, quantity), np.abs(expected(seed, quantity)).max()
        assert np.abs(found - expected(seed, quantity)).max() <= 1e-13 * max(1.0, scale)


@pytest.mark.parametrize("formalism", OTHERS)
def test_forward_dynamics_and_power_follow_from_the_residual(formalism: str) -> None:
    for quantity in ("forward", "power"):
        assert values(3, formalism, quantity) == pytest.approx(expected(3, quantity), rel=1e-11)


def test_the_true_accelerations_make_the_constraint_least() -> None:
    equations, state = kn.derive(system(5), "gauss"), random_state(system(5), 5)
    (Z,) = equations.expressions("gauss_constraint").refs
    names = system(5).v_names
    state |= {f"tau[{n}]": 0.0 for n in names}
    true = dict(zip((f"{n}'" for n in names), evaluate_at(equations, "forward", state), strict=True))
    (least,) = evaluate(equations.graph, [Z], state | true)
    rng = np.random.default_rng(0)
    for _ in range(10):
        other = {n: a + rng.normal() for n, a in true.items()}
        assert evaluate(equations.graph, [Z], state | other)[0] > least


def test_the_constraint_of_gauss_is_the_sum_of_squares_less_the_squares_of_forces() -> None:
    """The term of docs/index.md, F^2/(2 m), that is left out: here F = - 3 x and m = 2."""
    equations = kn.derive(kn.loads("coordinates x, z; P | Sx(x), Sz(z) = 2; gravity 9.81; spring k = 3 on x;"), "gauss")
    Z, x = equations.function("gauss_constraint"), 0.1
    for a, b in ((1.0, 2.0), (-1.5 * x, -9.81), (0.0, 0.0)):
        whole = (a + 1.5 * x) ** 2 + (b + 9.81) ** 2
        assert Z(0.0, [x, 0.0], [0.0, 0.0], [a, b]) == pytest.approx(whole - (3 * x) ** 2 / 4, rel=1e-13)


def evaluate_at(equations: kn.Equations, quantity: str, state: dict[str, float]) -> list[float]:
    return evaluate(equations.graph, equations.expressions(quantity).refs, state)
