"""The graph of a system: incidence and path matrices of Wittenburg's trees, whichever way arcs point."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.random_systems import random_system
from tests.mechanics.truth import vectors


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
    with pytest.raises(kn.ArgumentError, match="once in the order: 'b1', found that it is missing"):
        kn.system_graph(system, ["b0"])
    with pytest.raises(kn.ArgumentError, match="'b1', found that it stands there 2 times"):
        kn.system_graph(system, ["b0", "b1", "b1", *(b.name for b in system.bodies[2:])])
    assert "T =" in str(kn.system_graph(system))


def test_graphs_of_the_same_arcs_are_equal() -> None:
    system = random_system(0)
    graph = kn.system_graph(system)
    assert pickle.loads(pickle.dumps(graph)) == graph == kn.system_graph(system)
    assert graph != kn.system_graph(system, outward=[system.bodies[0].name])


FRAMES = """
coordinates x, a, b, c;
Cart | Sx(x) = 2;
Mast ~ Cart | Sz(0.5) = 0;
Joint ~ Mast | Rz(a) = 0;
Arm ~ Joint | Ry(b), Sx(0.3) = 1, 0.1, 0.1, 0.1;
Lamp ~ Mast | Rx(c) = 1, 0.1, 0.1, 0.1;
Marker ~ Arm | Sx(0.1) = 0;
"""


def test_frames_are_parts_of_joints() -> None:
    graph = kn.system_graph(kn.loads(FRAMES))
    assert graph.bodies == ("Cart", "Arm", "Lamp")
    assert [graph.base(i) for i in (1, 2, 3)] == [0, 1, 1]
    with pytest.raises(kn.ArgumentError, match="found 'Mast': 'Mast' is part of a joint"):
        kn.system_graph(kn.loads(FRAMES), ["Cart", "Mast", "Arm", "Lamp"])


def test_a_moving_frame_that_carries_two_is_a_body_without_mass() -> None:
    graph = kn.system_graph(kn.loads(FRAMES.replace("Sz(0.5)", "Sz(0.5 + sin(t))")))
    assert graph.bodies == ("Cart", "Mast", "Arm", "Lamp")


def test_a_moving_root() -> None:
    system = kn.loads(FRAMES)
    for root in ("Cart", "Mast"):
        graph = kn.system_graph(system, root=root)
        assert (graph.root, graph.bodies) == (root, ("Arm", "Lamp"))
        assert np.array_equal(graph.S0, [-1, -1])
        assert f"0: {root}" in str(graph)
    with pytest.raises(kn.ArgumentError, match="found that 'Lamp' does not hang on 'Arm'"):
        kn.system_graph(system, root="Arm")
    with pytest.raises(kn.ArgumentError, match=r"has no body 'Crt'. Did you mean 'Cart'"):
        kn.system_graph(system, root="Crt")


def test_frames_change_neither_equations_nor_reactions() -> None:
    """By the graph, and by the sweeps that know links only; reactions at frames too."""
    system = kn.loads(FRAMES)
    q, v, vdot = ([0.3, 0.7, -0.4, 1.1][: system.nq], [0.5, -1.0, 0.8, 0.2], [1.0, 0.3, -0.2, 0.6])
    for quantity, given in (("inverse", vdot), ("mass_matrix", None), ("reactions", vdot)):
        one, other = (
            kn.derive(system, f).function(quantity)(0.0, q, v, *([] if given is None else [given]))
            for f in ("wittenburg", "newton_euler")
        )
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
