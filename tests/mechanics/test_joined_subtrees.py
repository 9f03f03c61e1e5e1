"""Subtrees that move as one body with their carriers: the same forces whichever links are joined."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.algorithms import joined_subtrees
from kineta.mechanics.from_residual import moving, rate_residual
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system
from tests.mechanics.test_rotors import arm


def forces(system: kn.System, seed: int) -> tuple[list[float], list[list[float]]]:
    """Forces on the rates of *system* from link to link; and with every choice of joined links, all that may be, and some."""
    rng = random.Random(seed)
    with kn.derive(system).shared() as d:
        motion = moving(d, d.symbols.vdot)
        suited = [link.kind in ("turn", "shift") and link.parent >= 0 for link in d.mechanism.links]
        choices = [
            *joined_subtrees.choices(motion),
            suited,
            *([own and rng.random() < 0.5 for own in suited] for _ in range(3)),
        ]
        plain = rate_residual(d, motion)
        ways = [joined_subtrees.rate_forces(motion, d.elements.wrenches, c) for c in choices]
        state = {
            **random_state(system, seed),
            **{d.graph.names[d.graph.lhs[a >> 1]]: rng.gauss(0, 1) for a in d.symbols.vdot},
        }
        return evaluate(d.graph, list(plain.values()), state), [
            evaluate(d.graph, [phi[at] for at in plain], state) for phi in ways
        ]


def agree(found: Sequence[Sequence[float]], expected: Sequence[float]) -> None:
    for way in found:
        assert np.abs(np.subtract(way, expected)).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(16))
def test_joined_subtrees_of_random_systems(seed: int) -> None:
    system = random_system(seed, rheonomic=seed % 2 == 1, elements=seed % 4 < 2, n=5)
    expected, found = forces(system, seed)
    agree(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_joined_subtrees_with_rotors(seed: int) -> None:
    expected, found = forces(arm(seed), seed)
    agree(found, expected)
