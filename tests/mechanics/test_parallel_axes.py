"""Links in axes that are held past parallel axes: forces, mass matrix and accelerations are those in axes that turn."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms import articulated_bodies, composite_bodies, joined_subtrees
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.from_residual import less_applied, rate_residual, seen_motion
from kineta.mechanics.kinematics.sweeps import rate_forces
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_elements, random_inertia, random_state


def parallel(seed: int) -> kn.System:
    """Seven bodies, of which most turn about the axis of their base or its opposite, past constant turns and shifts; some slide,
    have moments as of rotors, or carry two; with elements for odd seeds.
    """
    rng = random.Random(seed)
    bodies, angles = list[kn.Body](), list[kn.Expr]()
    turn = rng.choice((kn.Rx, kn.Ry, kn.Rz))
    for k in range(7):
        q = kn.symbol(f"q{k}")
        angles.append(q)
        if k and rng.random() < 0.25:
            turn = rng.choice((kn.Rx, kn.Ry, kn.Rz))
        flipped = rng.choice(([], [turn(0.4)], [{kn.Rx: kn.Ry, kn.Ry: kn.Rz, kn.Rz: kn.Rx}[turn](np.pi)]))
        motion = rng.choice((kn.Sx, kn.Sy, kn.Sz)) if rng.random() < 0.1 else turn
        placed = [kn.Sx(rng.gauss(0, 1)), *flipped, kn.Sy(rng.gauss(0, 1)), motion(q), kn.Sz(rng.gauss(0, 1))]
        wheel = kn.inertia(1.5, (0.2, 0.2, 0.2))
        inertia = wheel if rng.random() < 0.2 else random_inertia(rng, 1.0 + 0.1 * k)
        base = "ground" if k == 0 else f"link{k - 1 if rng.random() < 0.9 else rng.randrange(k)}"
        bodies.append(kn.body(f"link{k}", placed, inertia, base=base))
    elements = random_elements(rng, bodies, angles) if seed % 2 else []
    return kn.System(
        f"parallel{seed}", bodies, gravity=(1, -2, -9.81), elements=elements, parameters={"k": 1.7} if elements else {}
    )


def test_most_of_the_systems_have_runs_of_parallel_axes() -> None:
    runs = [len(kn.derive(parallel(seed)).derivation.held.arms) for seed in range(20)]
    assert sum(n > 2 for n in runs) > 10
    assert sum(n > 0 for n in runs) > 15


@pytest.mark.parametrize("seed", range(20))
def test_axes_that_are_held_change_nothing(seed: int) -> None:
    d = kn.derive(parallel(seed)).derivation
    (motion, _), (held, applied) = (seen_motion(d, d.symbols.vdot, held=held) for held in (False, True))
    phi, wrenches = rate_residual(d, motion), less_applied(held.wrenches(2), applied)
    ways = [rate_forces(held.mechanism, wrenches, arms) for arms in ({}, d.held.arms)]
    ways += [joined_subtrees.rate_forces(held, applied, c) for c in joined_subtrees.choices(held)]
    equal(d, [list(phi.values()), *([way[at] for at in phi] for way in ways)], seed)
    M = (
        composite_bodies.mass_matrix(d.mechanism, "link"),
        composite_bodies.mass_matrix(d.held.mechanism, "link", d.held.arms),
    )
    equal(d, [[x for row in way for x in row] for way in M], seed)
    forces = [d.graph.add(*both) for both in zip(d.symbols.tau, d.elements.forces, strict=True)]
    still = [seen_motion(d, [ZERO] * len(forces), held=held) for held in (False, True)]
    equal(d, [articulated_bodies.forward_dynamics(m, forces, wrenches) for m, wrenches in still], seed)


def equal(d: Derivation, ways: Sequence[Sequence[Ref]], seed: int) -> None:
    rng = random.Random(seed)
    state = {d.graph.names[d.graph.lhs[x >> 1]]: rng.gauss(0, 1) for x in (*d.symbols.vdot, *d.symbols.tau)}
    state |= random_state(d.symbols.system, seed)
    first, *others = np.array(evaluate(d.graph, [x for way in ways for x in way], state)).reshape(len(ways), -1)
    for other in others:
        assert np.abs(other - first).max() <= 1e-12 * np.abs(first).max()
