"""Solution strategies agree, and reactions are ideal, on random closed systems."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import kineta as kn
from kineta.equations.equations import derive
from kineta.errors import ArgumentError
from kineta.mechanics.constraints.solution_strategies import STRATEGIES
from kineta.model.kind import Condition
from kineta.model.system import System
from kineta.numerics.linear_algebra import unit_rows
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_loops import KINDS, chain, joints
from tests.mechanics.random_systems import random_state, random_system
from tests.support import quick_but, some

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


def geared(seed: int) -> System:
    """Two wheels on a carrier, in mesh; a rod connects a bead to the second."""
    rng = random.Random(seed)
    return kn.loads(f"""
        gravity (0, 0, -9.81);
        C | Rx(q1) = 1, 1, 2, 3;
        A ~ C | Sx({rng.uniform(-1, 1)}), Ry(q2) = 1, 1, 2, 1, com = (0.1, 0, 0.2);
        B ~ C | Sz(1), Rx({rng.uniform(-2, 2)}), Rz(q3) = 1, 1, 1, 2, com = (0, 0.3, 0);
        D ~ B | Sx(q4), Sy(0.2) = 0.7;
        coordinates q1, q2, q3, q4;
        loop G : gear = {rng.uniform(-3, -1)} between A axis (0, 1, 0) and B axis (0, 0, 1);
        loop E : distance = 2 between ground at (1, 1, 1) and D;
    """)


#: Closed trees, chains that a joint of every kind closes, and gears.
SYSTEMS = {
    **{f"tree {seed}": closed_system(seed) for seed in SEEDS},
    **{kind: chain(seed, joints(seed).index(kind)) for seed, kind in enumerate(KINDS)},
    "gear": geared(0),
}


def evaluated(system: System, strategy: str, quantity: str, state: dict[str, float]) -> np.ndarray:
    equations = derive(system, strategy=strategy)
    return np.array(evaluate(equations.graph, equations.expressions(quantity).refs, state))


def regular_state(system: System) -> dict[str, float]:
    """Of several random states, the state with the rows of constraints farthest from dependence."""

    def least(state: dict[str, float]) -> float:
        rows = evaluated(system, "multipliers", "constraint_jacobian", state).reshape(-1, system.nv)
        return float(np.linalg.svd(unit_rows(rows), compute_uv=False)[-1])

    return max((random_state(system, seed) for seed in range(4)), key=least)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_but(SYSTEMS, sorted({"tree 0", "revolute", *list(SYSTEMS)[1::2]})))
def test_strategies_agree_in_accelerations_and_reactions(name: str) -> None:
    system = SYSTEMS[name]
    state = regular_state(system)
    for quantity in ("forward", "multipliers", "reaction_forces"):
        first, *others = (evaluated(system, strategy, quantity, state) for strategy in STRATEGIES)
        size = max(1.0, np.abs(first).max())
        for other in others:
            np.testing.assert_allclose(other, first, rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("name", some(SYSTEMS, 3))
def test_ideal_reactions_do_no_work_on_what_the_constraints_allow(name: str) -> None:
    """By the constraints alone: their rates, differenced, are constant along the speeds to which the reactions are normal."""
    system = SYSTEMS[name]
    state = regular_state(system)
    force = evaluated(system, "multipliers", "reaction_forces", state)
    labels = derive(system).expressions("constraints").labels
    last = [k for k, label in enumerate(labels) if f"{label}'" not in labels]

    def residual(speed: str, h: float) -> np.ndarray:
        return evaluated(system, "multipliers", "constraints", {**state, speed: state[speed] + h})[last]

    A = np.array([(residual(n, 1e-5) - residual(n, -1e-5)) / 2e-5 for n in system.v_names]).T
    allowed = np.linalg.svd(A)[2][len(A) :]
    assert np.abs(allowed @ force).max(initial=0.0) < 1e-7 * max(1.0, np.abs(force).max())


def test_a_loop_in_space_is_parted_in_no_more_expressions_than_by_multipliers() -> None:
    sizes = {}
    for strategy in STRATEGIES:
        equations = derive(SYSTEMS["rigid"], strategy=strategy)
        equations.expressions("forward")
        sizes[strategy] = len(equations.graph)
    assert max(sizes.values()) < 1.5 * sizes["multipliers"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_constraints_and_energy_are_kept_along_runs(seed: int) -> None:
    """The balance of energy contains the work of rheonomic constraints, and no other work of constraints."""
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


@pytest.mark.slow
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
