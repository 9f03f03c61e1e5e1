"""Wittenburg's trees: his constants and matrices, accelerations and joint forces, however bodies and arcs are numbered."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.formalism.wittenburg import Tree, residual
from kineta.passes.evaluate import evaluate
from kineta.spatial.vector import Vector
from tests.formalism.random_systems import random_state, random_system
from tests.formalism.truth import vectors
from tests.support import needs_shared

TREES = ("worked3", "pend1", "double2", "chain3", "branch3", "tree5", "tree7")
t = kn.symbol("t")


def rotation(q: list[float]) -> Any:
    w, x, y, z = q
    tilde = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * tilde + 2 * tilde @ tilde


class Case:
    """A tree of the vectors as a system, its graph, and its state by names."""

    def __init__(self, name: str) -> None:
        self.given, self.expected = (
            vectors("wittenburg_trees")[name]["input"],
            vectors("wittenburg_trees")[name]["expected"],
        )
        g, n = self.given, self.given["n"]
        outer = range(1, n + 1)
        inner = [g["i_minus"][a - 1] if g["i_plus"][a - 1] == a else g["i_plus"][a - 1] for a in outer]
        outward = [f"b{a}" for a in outer if g["i_plus"][a - 1] != a]
        on_outer = [g[f"hinge_from_com_on_i_{'minus' if f'b{a}' in outward else 'plus'}_body"][a - 1] for a in outer]
        on_inner = [g[f"hinge_from_com_on_i_{'plus' if f'b{a}' in outward else 'minus'}_body"][a - 1] for a in outer]
        R = [np.eye(3), *(rotation(q) for q in g["q"])]
        w = [np.zeros(3), *map(np.array, g["omega"])]
        bodies, elements, state = [], [], {"t": 0.0}
        for a, base in zip(outer, inner, strict=True):
            J, com = np.array(g["J_central_body"][a - 1]), -np.array(on_outer[a - 1])
            place = [x + 0.5 * acc * t * t for x, acc in zip(g["r0"], g["r0_ddot"], strict=True)]
            if base:  # from the origin of the base's frame, its own hinge, to this hinge
                place = list(np.array(on_inner[a - 1]) - np.array(on_outer[base - 1]))
            motions = [make(x) for make, x in zip((kn.Sx, kn.Sy, kn.Sz), place, strict=True)]
            own = kn.inertia(g["mass"][a - 1], J.diagonal(), (J[0, 1], J[0, 2], J[1, 2]), com=com)
            bodies.append(kn.body(f"b{a}", [*motions, kn.Ball(f"j{a}")], own, base=f"b{base}" if base else "ground"))
            torque = np.array(g["joint_torque_on_i_plus"][a - 1]) * (-1 if f"b{a}" in outward else 1)
            elements.append(kn.force(f"f{a}", kn.station(f"b{a}", com), g["force_at_com"][a - 1]))
            elements.append(kn.couple(f"m{a}", f"b{a}", list(np.array(g["moment"][a - 1]) + torque)))
            if base:
                elements.append(kn.couple(f"y{a}", f"b{base}", list(-torque)))
            relative = np.array(
                _product(
                    [g["q"][base - 1][0], *(-x for x in g["q"][base - 1][1:])] if base else [1, 0, 0, 0], g["q"][a - 1]
                )
            )
            state |= dict(zip((f"j{a}.{c}" for c in ("qw", "qx", "qy", "qz")), relative, strict=True))
            state |= dict(zip((f"j{a}.{c}" for c in ("wx", "wy", "wz")), R[a].T @ (w[a] - w[base]), strict=True))
        self.system = kn.System(name, bodies, elements=elements)
        self.state = {k: float(x) for k, x in state.items()} | {f"tau.{n}": 0.0 for n in self.system.v_names}
        self.R, self.d = R, kn.derive(self.system, "wittenburg").derivation
        self.graph = kn.system_graph(self.system, [f"b{a}" for a in outer], outward)
        self.tree = Tree(self.d, self.graph)
        vdot = evaluate(self.d.graph, self.d["forward"].refs, self.state)
        self.state |= {f"{n}'": x for n, x in zip(self.system.v_names, vdot, strict=True)}

    def value(self, v: Vector) -> Any:
        return np.array(evaluate(self.d.graph, v.refs, self.state))


def _product(a: list[float], b: list[float]) -> list[float]:
    (w, *u), (x, *v) = a, b
    return [w * x - np.dot(u, v), *(w * np.array(v) + x * np.array(u) + np.cross(u, v))]


@needs_shared
@pytest.mark.parametrize("name", TREES)
def test_constants_of_the_augmented_bodies(name: str) -> None:
    case = Case(name)
    n, M = case.given["n"], case.expected["total_mass"]
    blocks = np.zeros((n, 3, n, 3))
    for i in range(1, n + 1):
        to_body = case.R[i].T
        for j in range(1, n + 1):
            d = case.tree.d[i].get(j)
            found = to_body @ case.value(d) if d is not None else np.zeros(3)
            assert found == pytest.approx(np.array(case.expected["d_body"][i - 1][j - 1]), abs=1e-13)
            K = np.array(evaluate(case.d.graph, case.tree.coupling(i, j).refs, case.state)).reshape(3, 3)
            blocks[i - 1, :, j - 1] = K
        assert to_body @ case.value(case.tree.p[i]) / M == pytest.approx(
            np.array(case.expected["b_i0_body"][i - 1]), abs=1e-13
        )
        own = to_body @ blocks[i - 1, :, i - 1] @ to_body.T
        assert own == pytest.approx(np.array(case.expected["K_i_body"][i - 1]), abs=1e-12)
    assert blocks.reshape(3 * n, 3 * n) == pytest.approx(np.array(case.expected["K_matrix"]), abs=1e-12)


@needs_shared
@pytest.mark.parametrize("name", TREES)
def test_accelerations_and_joint_forces(name: str) -> None:
    case = Case(name)
    rates = np.array([case.value(rate) for _, rate in case.tree.turning[1:]])
    expected = np.array(case.expected["omega_dot"])
    assert rates == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())
    centres = np.array([case.value(a) for a in case.tree.accelerations])
    assert centres == pytest.approx(np.array(case.expected["r_ddot"]), abs=1e-11 * np.abs(centres).max())
    X = np.array([case.value(x) for x, _ in case.tree.interaction]) - case.graph.T @ np.array(
        case.given["force_at_com"]
    )
    assert pytest.approx(np.array(case.expected["joint_force_on_i_plus"]), abs=1e-11 * np.abs(X).max()) == X


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
