"""The mass matrix by composite bodies, in all frames in which momenta may be swept."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from benchmarks.chains import chain
from kineta.mechanics.algorithms.composite_bodies import mass_matrix
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system


def matrices(system: kn.System, seed: int) -> list[np.ndarray]:
    """The mass matrices of the *system* in frames of links, limbs and trees."""
    state, n = random_state(system, seed), len(system.v_names)
    with kn.derive(system).shared() as d:
        found = [mass_matrix(d.mechanism, sharing) for sharing in ("link", "limb", "tree")]
        every = evaluate(d.graph, [x for M in found for row in M for x in row], state)
    return list(np.reshape(every, (3, n, n)))


@pytest.mark.parametrize("seed", range(12))
def test_all_frames_give_the_same(seed: int) -> None:
    own, *shared = matrices(random_system(seed, rheonomic=seed % 2 == 1, n=7), seed)
    for M in shared:
        assert np.abs(M - own).max() <= 1e-12 * np.abs(own).max()
        assert (M == M.T).all()


def test_frames_of_a_chain_of_thirty_links() -> None:
    own, limb, tree = matrices(chain(30), 1)
    assert np.abs(limb - own).max() <= 1e-12 * np.abs(own).max()
    assert (limb == tree).all()
