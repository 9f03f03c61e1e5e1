"""Pairs that are near: those of comparing all with all, in machine code as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.stepping_records import SteppingData
from kineta.kernels.machine_code import machine_code
from kineta.kernels.time_stepping import near_pairs
from kineta.kernels.time_stepping.near_pairs import find_pairs, keep_last
from kineta.kernels.time_stepping.step_impulses import REACH
from kineta.simulation.inputs import run_inputs
from kineta.simulation.piles.pile import pile_memory
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.simulate import RunSettings, pile_tasks

N, STEP = 40, 1e-3


@pytest.fixture(scope="module")
def memory() -> PileMemory:
    """Memory of balls of two sizes and two groups."""
    system = kn.loads(
        f"for i in 1..{N} : P[i] | Free(b[i]) = 1, 0.1, 0.1, 0.1;"
        f"contact pile : ball = 0.1 among P[1..{N - 5}] and ball = 0.4 among P[{N - 4}..{N}], friction = 0.5;"
        f"contact core : ball = 0.02 among P[1..{N}];"
    )
    given = run_inputs(system, (None,) * 5, (), "moreau")
    settings = RunSettings((0.0, 1.0), (1e-9, 1e-12, STEP), None, np.array([0.0]))
    parts, tasks = pile_tasks(kn.derive(system), given, settings, dense_output=False)
    return pile_memory(system, given, parts, tasks)


def moved(memory: PileMemory, seed: int) -> SteppingData:
    """The memory with places and velocities at random."""
    rng, pairs = np.random.default_rng(seed), memory.data.pairs
    at = pairs.array("places")
    centres, velocities = rng.uniform(-0.6, 0.6, (N, 3)), rng.normal(size=(N, 3)) * rng.uniform(0, 20, (N, 1))
    for s, shape in enumerate(memory.shapes):
        k, start = int(shape.body[2:-1]) - 1, pairs.array("place_start")[s]
        at[start], at[start + 1 : start + 4], at[start + 4 : start + 7] = shape.radius, centres[k], velocities[k]
    pairs.count = 0
    return memory.data


def expected(memory: PileMemory) -> list[int]:
    """Pairs whose gap may close in a step, by comparing all with all."""
    pairs, found, n = memory.data.pairs, [], len(memory.shapes)
    at = pairs.array("places")[pairs.array("place_start")[:, None] + np.arange(7)]
    speed = np.linalg.norm(at[:, 4:], axis=1)
    for a in range(n):
        for b in range(a + 1, n):
            one, other = memory.shapes[a], memory.shapes[b]
            room = STEP * (speed[a] + speed[b]) + 2 * REACH * STEP * STEP
            near = np.linalg.norm(at[a, 1:4] - at[b, 1:4]) - at[a, 0] - at[b, 0] <= room
            if near and one.group == other.group and one.body != other.body:
                found.append(a * n + b)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_what_may_touch_is_found_in_the_order_of_its_numbers(memory: PileMemory, seed: int) -> None:
    data = moved(memory, seed)
    find: Any = machine_code(find_pairs)
    find(data, STEP)
    pairs = data.pairs
    found = pairs.array("key")[: pairs.count].tolist()
    assert found == sorted(set(found))
    assert set(expected(memory)) <= set(found)
    assert data.motion.problem.contacts == memory.fixed + pairs.count
    kept = found.copy()
    pairs.count = 0
    near_pairs.find_pairs(data, STEP)
    assert pairs.array("key")[: pairs.count].tolist() == kept


def test_a_pair_keeps_what_pressed_it(memory: PileMemory) -> None:
    data = moved(memory, 7)
    find: Any = machine_code(find_pairs)
    keep: Any = machine_code(keep_last)
    find(data, STEP)
    pairs, impulse = data.pairs, data.motion.solution.array("impulse")
    key = pairs.array("key")[: pairs.count].copy()
    impulse[: 3 * pairs.count] = np.repeat(key, 3)
    at = pairs.array("places")
    for start in pairs.array("place_start"):
        at[start + 1 : start + 4] *= 0.95
    keep(data)
    find(data, STEP)
    now = pairs.array("key")[: pairs.count]
    known = np.isin(now, key)
    assert known.sum() > 10
    assert not known.all()
    np.testing.assert_array_equal(impulse[: 3 * pairs.count : 3], np.where(known, now, 0))
