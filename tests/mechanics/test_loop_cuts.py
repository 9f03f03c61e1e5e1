"""The motion of a loop is independent of the joint at which it is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.initial_values import initial_state
from tests.mechanics.random_loops import BODIES, KINDS, chain, joints
from tests.support import slow, some

CUTS = range(len(BODIES) + 1)


def of_bodies(equations: kn.Equations, quantity: str, *state: Any) -> np.ndarray:
    """A *quantity* of the bodies of the chain, whatever frames there are beside them."""
    names = [b.name for b in equations.system.bodies]
    return equations.function(quantity, "numpy")(*state)[[names.index(n) for n in BODIES]]


def start(seed: int) -> np.ndarray:
    """Velocities of the bodies in the reference position that the loop allows, (bodies, 6)."""
    system = chain(seed, 0)
    some = np.random.default_rng(seed).uniform(-1, 1, system.nv)
    v = kn.assemble(system, v=dict(zip(system.v_names, some, strict=True))).v
    return of_bodies(kn.derive(system), "velocities", 0.0, initial_state(system)[0], v)


def state(equations: kn.Equations, velocities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The reference position, and the speeds with which the bodies have these *velocities*."""
    q, still = initial_state(equations.system)
    J = of_bodies(equations, "jacobian", 0.0, q, still).reshape(velocities.size, -1)
    v, *_ = np.linalg.lstsq(J, velocities.ravel(), rcond=None)
    assert J @ v == pytest.approx(velocities.ravel(), abs=1e-12)
    return q, v


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(len(KINDS)), 3))
def test_bodies_accelerate_alike_wherever_their_loop_is_cut(seed: int) -> None:
    velocities, found = start(seed), []
    for cut in CUTS:
        equations = kn.derive(chain(seed, cut))
        q, v = state(equations, velocities)
        vdot = equations.function("forward", "numpy")(0.0, q, v)
        found.append(of_bodies(equations, "accelerations", 0.0, q, v, vdot))
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-9, abs=1e-9 * np.abs(found[0]).max())


@pytest.mark.parametrize("seed", slow([3, 7]))
def test_bodies_move_alike_wherever_their_loop_is_cut(seed: int) -> None:
    velocities, ends = start(seed), []
    for cut in (seed % 4, 3 - seed % 4):
        equations = kn.derive(chain(seed, cut))
        q, v = state(equations, velocities)
        run = kn.simulate(equations, 0.5, q=q, v=v, rtol=1e-11, atol=1e-13, samples=2)
        assert run.success
        assert run.residual < 1e-13
        last = 0.5, run.q[-1], run.v[-1]
        ends.append([of_bodies(equations, what, *last) for what in ("positions", "velocities")])
    for one, other in zip(*ends, strict=True):
        assert other == pytest.approx(one, abs=1e-8)


def test_every_kind_of_joint_is_in_some_chain() -> None:
    assert {kind for seed in range(len(KINDS)) for kind in joints(seed)} == set(KINDS)
