"""Ways to accelerations under constraints agree, and what their reactions may not do, on random closed systems."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import kineta as kn
from kineta.compiler import derive
from kineta.errors import ArgumentError
from kineta.formalism.strategies import STRATEGIES
from kineta.model.constraints import Condition
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from tests.formalism.random_systems import random_state, random_system

SEEDS = (0, 1, 2, 3, 4, 7)


def closed_system(seed: int) -> System:
    """A random tree with one to three constraints: loops, and expressions of positions, of speeds, of the time."""
    rng = random.Random(seed)
    tree = random_system(seed, rheonomic=seed % 3 == 0, elements=seed % 2 == 0, n=3)
    last, first = tree.bodies[-1].name, tree.bodies[0].name
    q = [kn.symbol(n) for n in tree.q_names if "." not in n]
    t = kn.symbol("t")
    rate = {n: kn.symbol(n) for n in (f"{last}.vx", f"{last}.vy", f"{last}.vz")}
    ground = kn.station("ground", [rng.uniform(-3, 3) for _ in range(3)])
    known: list[Condition] = [
        kn.loop("rod", "distance", ground, last, value=2 + 0.1 * kn.sin(t)),
        kn.loop("wall", "plane", ground, last, axis=(1, 2, 3)),
        kn.constraint("skate", rate[f"{last}.vx"] + kn.cos(t) * rate[f"{last}.vy"] - 0.3),
        kn.constraint("servo", rate[f"{last}.vz"] ** 3 + rate[f"{last}.vx"] - 0.2 * t),
        kn.constraint("path", kn.symbol(f"{first}.x") + kn.symbol(f"{last}.y") ** 2 - kn.sin(t)),
        kn.constraint("law", sum((kn.sin(c) for c in q), kn.cos(t)) + kn.symbol(f"{last}.z")),
    ]
    return tree.replace(constraints=rng.sample(known, rng.randint(1, 3)))


def evaluated(system: System, strategy: str, quantity: str, state: dict[str, float]) -> np.ndarray:
    equations = derive(system, strategy=strategy)
    return np.array(evaluate(equations.graph, equations.expressions(quantity).refs, state))


@pytest.mark.parametrize("seed", SEEDS)
def test_strategies_agree_in_accelerations_and_reactions(seed: int) -> None:
    system = closed_system(seed)
    state = random_state(system, seed)
    for quantity in ("forward", "multipliers", "reaction_forces"):
        first, *others = (evaluated(system, name, quantity, state) for name in STRATEGIES)
        size = max(1.0, np.abs(first).max())
        for other in others:
            np.testing.assert_allclose(other, first, rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_ideal_reactions_do_no_work_on_what_the_constraints_allow(seed: int) -> None:
    """By the constraints alone: their rates, differenced, do not change along what the reactions are normal to."""
    system = closed_system(seed)
    state = random_state(system, seed)
    force = evaluated(system, "multipliers", "reaction_forces", state)
    labels = derive(system).expressions("constraints").labels
    last = [k for k, name in enumerate(labels) if f"{name}'" not in labels]

    def residual(name: str, h: float) -> np.ndarray:
        return evaluated(system, "multipliers", "constraints", {**state, name: state[name] + h})[last]

    A = np.array([(residual(n, 1e-5) - residual(n, -1e-5)) / 2e-5 for n in system.v_names]).T
    allowed = np.linalg.svd(A)[2][len(A) :]
    assert np.abs(allowed @ force).max(initial=0.0) < 1e-7 * max(1.0, np.abs(force).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_constraints_and_energy_are_kept_along_runs(seed: int) -> None:
    """The balance of energy counts what constraints that the time moves do, and nothing else that they do."""
    system = closed_system(seed)
    rng = np.random.default_rng(seed)
    try:
        start = kn.assemble(system, v=dict(zip(system.v_names, rng.uniform(-0.5, 0.5, system.nv), strict=True)))
    except kn.SimulationError:
        return  # out of reach
    if np.abs(start.v).max() > 1e3:
        return  # out of reach but for the one point
    run = kn.simulate(system, 0.2, q=start.q, v=start.v, rtol=1e-10, atol=1e-12, samples=21)
    assert run.success, run.message
    assert run.residual < 1e-10
    assert run.energy_balance < 1e-6


def test_a_run_is_the_same_by_every_strategy() -> None:
    four_bar = kn.load("examples/fourbar.kin")
    runs = [kn.simulate(derive(four_bar, strategy=name), 1.0, samples=11) for name in STRATEGIES]
    for run in runs[1:]:
        np.testing.assert_allclose(run.y, runs[0].y, atol=1e-7)
        assert run.residual < 1e-13


def test_the_strategy_chosen_is_said_and_kept() -> None:
    four_bar = kn.load("examples/fourbar.kin")
    assert derive(four_bar).strategy == "multipliers"
    assert "by the strategy multipliers" in derive(four_bar).account().markdown()
    parted = pickle.loads(pickle.dumps(derive(four_bar, strategy="partition")))
    assert parted.strategy == "partition"
    assert parted.operations("forward").total < derive(four_bar).operations("forward").total
    with pytest.raises(ArgumentError, match="Did you mean 'partition'"):
        derive(four_bar, strategy="partitions")
    with pytest.raises(ArgumentError, match="quasi-velocities are its strategy, found 'partition'"):
        derive(kn.load("examples/skate.kin"), strategy="partition")
