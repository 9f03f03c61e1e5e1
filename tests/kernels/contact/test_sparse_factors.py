"""Factors of large islands by blocks: the solutions of dense factors, and what has no room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.kernels.contact.block_inertia import substitute
from kineta.kernels.contact.island_equations import assemble_matrix, collect_island
from kineta.kernels.contact.sparse_factors import assemble_sparse, factor_sparse, order_blocks, substitute_sparse
from kineta.kernels.machine_code import machine_code
from kineta.kernels.time_stepping.near_pairs import find_pairs
from kineta.kernels.time_stepping.pair_rows import fill_pairs
from kineta.simulation.inputs import run_inputs
from kineta.simulation.piles.pile import pile_memory
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.simulate import RunSettings, pile_tasks

ROWS, ACROSS = 4, 5


@pytest.fixture(scope="module")
def memory() -> PileMemory:
    """Memory of a wall, with its features, and an inertia and derivatives of laws at random."""
    system = kn.loads(f"""
    for i in 1..{ROWS * ACROSS} : B[i] | Free(b[i]) = 1, 0.1, 0.1, 0.1;
    contact wall : box = 0.2, 0.1, 0.08 among B[1..{ROWS * ACROSS}], friction = 0.5;
    for i in 1..{ACROSS} : for k in 0..{ROWS - 1} :
        initial b[i + {ACROSS}*k].x = 0.2*(i + 0.25*mod(k, 2)), b[i + {ACROSS}*k].z = 0.08*k;""")
    given = run_inputs(system, (None,) * 5, (), "moreau")
    settings = RunSettings((0.0, 1.0), (1e-9, 1e-12, 1e-3), None, np.array([0.0]))
    parts, tasks = pile_tasks(kn.derive(system), given, settings, dense_output=False)
    memory = pile_memory(system, given, parts, tasks)
    data, pairs, rng = memory.data, memory.data.pairs, np.random.default_rng(1)
    for task, place in zip(tasks, memory.places, strict=True):
        data.array("y")[place.state] = task.y0
    places: Any = pairs.array("places_of")
    places(data.array("time"), data.array("y"), data.motion.array("block"), pairs.array("places"))
    machine_code(find_pairs)(data, 1e-3)
    machine_code(fill_pairs)(data)
    motion, problem = data.motion, data.motion.problem
    for b in range(problem.blocks):
        A, at = rng.normal(size=(6, 6)), problem.array("inertia_start")[b]
        motion.island.array("inertia")[at : at + 36] = (A @ A.T + 3 * np.eye(6)).ravel()
    motion.island.array("cones")[:] = rng.normal(size=len(motion.island.array("cones"))) + np.resize(
        3 * np.eye(3), 9
    ).tolist() * (len(motion.island.array("cones")) // 9)
    motion.solution.array("delassus")[:] = 1.0
    motion.island.compliance = 1.0
    return memory


@pytest.mark.slow
def test_it_has_the_solution_of_dense_factors(memory: PileMemory) -> None:
    motion = memory.data.motion
    work, problem = motion.island, motion.problem
    count = problem.contacts
    active = np.arange(count)
    right = np.random.default_rng(2).normal(size=problem.speeds)
    given: Any = (problem, motion.terms, motion.solution, work, active, count)
    machine_code(collect_island)(problem, work, active, count)
    machine_code(assemble_matrix)(*given)
    dense = right[: work.n].copy()
    machine_code(substitute)(work.array("hessian"), work.n, dense)
    assert machine_code(order_blocks)(problem, work, active, count)
    assert work.sparse == ROWS * ACROSS
    assert work.entries < work.n**2 / 2
    machine_code(assemble_sparse)(*given)
    machine_code(factor_sparse)(problem, work)
    sparse = right[: work.n].copy()
    machine_code(substitute_sparse)(problem, work, sparse)
    np.testing.assert_allclose(sparse, dense, rtol=1e-9, atol=1e-9 * np.abs(dense).max())
    assert set(work.array("sequence")[: work.sparse].tolist()) == set(range(ROWS * ACROSS))


@pytest.mark.parametrize("room", ["most_entries", "most_later", "most_links"])
def test_it_says_where_there_is_no_room(memory: PileMemory, room: str) -> None:
    motion = memory.data.motion
    work, count = motion.island, motion.problem.contacts
    kept = getattr(work, room)
    setattr(work, room, 10)
    order: Any = machine_code(order_blocks)
    assert not order(motion.problem, work, np.arange(count), count)
    setattr(work, room, kept)
    assert order(motion.problem, work, np.arange(count), count)
