"""Wittenburg's trees: his constants and matrices, accelerations and joint forces, however bodies and arcs are numbered."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.walk import reachable
from kineta.mechanics.formalisms.wittenburg import Tree, residual
from kineta.passes.evaluate import evaluate
from kineta.spatial.vector import Vector
from tests.mechanics.ball_trees import BallTree
from tests.mechanics.golubev import matrix
from tests.mechanics.random_systems import random_state, random_system
from tests.mechanics.truth import error, vectors
from tests.support import EXAMPLES

TREES = ("worked3", "pend1", "double2", "chain3", "branch3", "tree5", "tree7")
TOLERANCE = 1e-12
t = kn.symbol("t")


class Case:
    """A tree of the vectors as a system, its graph, and its state by names."""

    def __init__(self, name: str) -> None:
        case = vectors("wittenburg_trees")[name]
        g, self.expected = case["input"], case["expected"]
        self.given, built = g, BallTree(g)
        place = [x + 0.5 * acc * t * t for x, acc in zip(g["r0"], g["r0_ddot"], strict=True)]
        bodies, elements = built.bodies(place), []
        for a, base in zip(built.outer, built.inner, strict=True):
            torque = np.array(g["joint_torque_on_i_plus"][a - 1]) * (-1 if f"b{a}" in built.outward else 1)
            at = kn.station(f"b{a}", -built.on_outer[a - 1])
            elements.append(kn.force(f"f{a}", at, g["force_at_com"][a - 1]))
            elements.append(kn.couple(f"m{a}", f"b{a}", list(np.array(g["moment"][a - 1]) + torque)))
            if base:
                elements.append(kn.couple(f"y{a}", f"b{base}", list(-torque)))
        self.system = kn.System(name, bodies, elements=elements)
        self.state = {"t": 0.0} | built.state() | {f"tau[{n}]": 0.0 for n in self.system.v_names}
        self.R = [np.eye(3), *map(matrix, g["q"])]
        self.d = kn.derive(self.system, "wittenburg").derivation
        self.graph = kn.system_graph(self.system, [f"b{a}" for a in built.outer], built.outward)
        self.tree = Tree(self.d, self.graph)
        vdot = evaluate(self.d.graph, self.d["forward"].refs, self.state)
        self.state |= {f"{n}'": x for n, x in zip(self.system.v_names, vdot, strict=True)}

    def places(self) -> list[Vector]:
        """Mass centres, r_0 less the sum of d_ji (5.16), r_0 being -d_0i."""
        zero = Vector(self.d.graph)
        bodies = range(1, self.given["n"] + 1)
        return [-sum((row[i] for row in self.tree.arms if i in row), zero) for i in bodies]

    def value(self, v: Vector) -> Any:
        return np.array(evaluate(self.d.graph, v.refs, self.state))


@pytest.mark.parametrize("name", TREES)
def test_constants_of_the_augmented_bodies(name: str) -> None:
    """D, b_i0, b, K_i in the axes of body i (5.15), (5.20), (5.21), (5.26), and the matrix of all K_ij (5.30)."""
    case = Case(name)
    n, M = case.given["n"], sum(case.given["mass"])
    blocks, d = np.zeros((n, 3, n, 3)), np.zeros((n, n, 3))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            if j in case.tree.d[i]:
                d[i - 1, j - 1] = case.value(case.tree.d[i][j])
            K = np.array(evaluate(case.d.graph, case.tree.coupling(i, j).refs, case.state)).reshape(3, 3)
            blocks[i - 1, :, j - 1] = K
    b_i0 = np.array([case.value(p) for p in case.tree.p[1:]]) / M
    for found, expected in (
        (M, "total_mass"),
        (d, "d_body"),
        (b_i0, "b_i0_body"),
        (b_i0[:, None] - d, "b_body"),
        ([R.T @ blocks[i, :, i] @ R for i, R in enumerate(case.R[1:])], "K_i_body"),
        (blocks.reshape(3 * n, 3 * n), "K_matrix"),
    ):
        assert error(found, case.expected[expected]) < TOLERANCE, expected


@pytest.mark.parametrize("name", TREES)
def test_motion_and_joint_forces(name: str) -> None:
    """Places of the mass centres (5.16), accelerations, the right sides of (5.30), and X of the joints (5.11)."""
    case = Case(name)
    rates = np.array([case.value(rate) for _, rate in case.tree.turning[1:]])
    K = np.array(case.expected["K_matrix"])
    places = [case.value(p) for p in case.places()]
    X = np.array([case.value(x) for x, _ in case.tree.interaction]) - case.graph.T @ case.given["force_at_com"]
    for found, expected in (
        (places, "r"),
        (rates, "omega_dot"),
        ([case.value(a) for a in case.tree.accelerations], "r_ddot"),
        (K @ rates.ravel(), "rhs"),
        (X, "joint_force_on_i_plus"),
    ):
        assert error(found, case.expected[expected]) < TOLERANCE, expected


@pytest.mark.parametrize("seed", range(6))
def test_bodies_numbered_and_arcs_directed_any_way_give_the_same_residual(seed: int) -> None:
    system, rng = random_system(seed, rheonomic=True, elements=True), random.Random(seed)
    names = [b.name for b in system.bodies]
    rng.shuffle(names)
    d, state = kn.derive(system, "wittenburg").derivation, random_state(system, seed)
    graph = kn.system_graph(system, names, [n for n in names if rng.random() < 0.5])
    expected = np.array(evaluate(d.graph, d["inverse"].refs, state))
    found = np.array(evaluate(d.graph, residual(d, graph), state))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(expected).max())


def test_constants_are_told_without_the_coordinates() -> None:
    """d, p and K of ball joints, and of bodies with frames at their mass centres, are constants in the report."""
    for model in ("ball_tree", "double_pendulum"):
        system = kn.load(EXAMPLES / f"{model}.kin")
        account = kn.derive(system, "wittenburg").account()
        graph, steps = account.graph, {step.title: step for step in account.steps}
        told = [*steps["Vectors between hinges and mass centres"].shown, *steps["Augmented bodies"].shown]
        assert told
        for shown in told:
            held = {graph.name(2 * i) for i in reachable(graph, shown.refs)}
            assert not held & {*system.q_names, *system.v_names}, shown.name
