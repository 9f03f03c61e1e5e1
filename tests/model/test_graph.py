"""The graph of a system: incidence and path matrices of Wittenburg's trees, whichever way arcs point."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import kineta as kn
from tests.formalism.random_systems import random_system
from tests.formalism.truth import vectors
from tests.support import needs_shared


@needs_shared
@pytest.mark.parametrize("name", ["worked3", "pend1", "double2", "chain3", "branch3", "tree5", "tree7"])
def test_wittenburgs_matrices(name: str) -> None:
    case = vectors("wittenburg_trees")[name]
    plus, minus = case["input"]["i_plus"], case["input"]["i_minus"]
    bodies, outward = [], []
    for a, (i, j) in enumerate(zip(plus, minus, strict=True), 1):
        inner = j if i == a else i
        outward += [f"b{a}"] * (i != a)
        bodies.append(
            kn.body(f"b{a}", [kn.Ball(f"j{a}")], kn.inertia(1, (1, 1, 1)), base=f"b{inner}" if inner else "ground")
        )
    order = [f"b{a}" for a in range(1, len(plus) + 1)]
    graph = kn.system_graph(kn.System(name, bodies), order, outward)
    for matrix in ("S0", "S", "T"):
        assert np.array_equal(getattr(graph, matrix), case["expected"][matrix])


@pytest.mark.parametrize("seed", range(6))
def test_paths_undo_incidence(seed: int) -> None:
    system, rng = random_system(seed), random.Random(seed)
    names = [b.name for b in system.bodies]
    rng.shuffle(names)
    graph = kn.system_graph(system, names, [n for n in names if rng.random() < 0.5])
    assert np.array_equal(graph.T @ graph.S, np.eye(len(names)))
    assert np.array_equal(graph.S0 @ graph.T, -np.ones(len(names)))
    assert [graph.base(i) for i in range(1, len(names) + 1)] == [
        0 if b.base == "ground" else names.index(b.base) + 1 for n in names for b in system.bodies if b.name == n
    ]


def test_bodies_are_named_once_each() -> None:
    system = random_system(1)
    with pytest.raises(kn.ArgumentError, match=r"has no body 'b9'"):
        kn.system_graph(system, outward=["b9"])
    with pytest.raises(kn.ArgumentError, match="each once"):
        kn.system_graph(system, ["b0"])
    assert "T =" in str(kn.system_graph(system))


def test_graphs_of_the_same_arcs_are_equal() -> None:
    system = random_system(0)
    graph = kn.system_graph(system)
    assert pickle.loads(pickle.dumps(graph)) == graph == kn.system_graph(system)
    assert graph != kn.system_graph(system, outward=[system.bodies[0].name])
