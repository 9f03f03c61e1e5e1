"""Rotations: one turn, however it is written."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE, ZERO, Graph
from kineta.passes.evaluate import evaluate
from kineta.spatial.rotation import (
    about,
    conjugated,
    quaternion_matrix,
    quaternion_rate,
    rodrigues,
    turn,
    turn_matrix,
)
from kineta.spatial.vector import Matrix, Vector, identity, skew

E = np.eye(3)
SEEDS = range(6)


def array(m: Matrix | Vector, **values: float) -> np.ndarray:
    found = np.array(evaluate(m.graph, m.refs, values))
    return found.reshape(3, 3) if isinstance(m, Matrix) else found


def constant(graph: Graph, values: Sequence[float] | np.ndarray) -> Matrix | Vector:
    refs = [graph.const(float(x)) for x in np.ravel(values)]
    return Vector(graph, *refs) if len(refs) == 3 else Matrix(graph, (refs[:3], refs[3:6], refs[6:]))


def unit(rng: random.Random, n: int = 3) -> np.ndarray:
    v = np.array([rng.gauss(0, 1) for _ in range(n)])
    return v / np.linalg.norm(v)


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-14)


def formula(axis: np.ndarray, angle: float) -> np.ndarray:
    """The exponential of the skew matrix of axis times angle, by its series."""
    x, y, z = axis * math.remainder(angle, 2 * math.pi)
    A = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    term, total = E, E
    for k in range(1, 40):
        term = term @ A / k
        total = total + term
    return total


@pytest.mark.parametrize("axis", range(3))
def test_about_a_coordinate_axis(axis: int) -> None:
    g = Graph()
    a = g.symbol("a")
    R = about(g, axis, g.cos(a), g.sin(a))
    close(array(R, a=0.7), formula(E[axis], 0.7))
    assert array(R, a=math.pi / 2) @ E[(axis + 1) % 3] == pytest.approx(E[(axis + 2) % 3])  # right-handed
    for sign in (1, -1):
        spelled = rodrigues(constant(g, sign * E[axis]), a if sign > 0 else a ^ 1)
        assert spelled.refs == R.refs
    v = Vector(g, *(g.symbol(n) for n in "xyz"))
    M = Matrix(g, [[g.symbol(f"{r}{c}") for c in "xyz"] for r in "xyz"])
    numbers = {name: 0.1 + 0.37 * k % 1 for k, name in enumerate(g.names)}
    close(array(turn(v, axis, g.cos(a), g.sin(a)), **numbers), array(R @ v, **numbers))
    direct = array(R.times(M).times(R.T), **numbers)
    close(array(turn_matrix(M, axis, g.cos(a), g.sin(a)), **numbers), direct)
    close(array(conjugated(R, M), **numbers), direct)


@pytest.mark.parametrize("seed", SEEDS)
def test_about_any_axis_by_angle_or_by_quaternion(seed: int) -> None:
    rng = random.Random(seed)
    g = Graph()
    e, angle = unit(rng), rng.uniform(-6, 6)
    R = rodrigues(constant(g, e), g.symbol("a"))
    close(array(R, a=angle), formula(e, angle))
    close(array(rodrigues(constant(g, e), g.const(angle))), formula(e, angle))
    quaternion = [math.cos(angle / 2), *(math.sin(angle / 2) * e)]
    names = ("w", "x", "y", "z")
    Q = quaternion_matrix(g, [g.symbol(n) for n in names])
    for sign in (1, -1):  # two quaternions, one rotation
        found = array(Q, **{n: sign * c for n, c in zip(names, quaternion, strict=True)})
        close(found, formula(e, angle))
        close(found @ found.T, E)
        assert np.linalg.det(found) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rate_of_a_quaternion_turns_the_axes_and_keeps_the_length(seed: int) -> None:
    """R' = R [omega], omega in the axes after the turn, by central differences along the rate."""
    rng = random.Random(seed)
    g = Graph()
    omega = np.array([rng.uniform(-2, 2) for _ in range(3)])
    p = unit(rng, 4)
    w = constant(g, omega)
    assert isinstance(w, Vector)
    rate = np.array(evaluate(g, quaternion_rate(g, [g.const(c) for c in p], w), {}))
    assert p @ rate == pytest.approx(0, abs=1e-15)

    def R(quaternion: np.ndarray) -> np.ndarray:
        return array(quaternion_matrix(g, [g.const(c) for c in quaternion]))

    h = 1e-5  # R is quadratic in p: the central difference is exact
    np.testing.assert_allclose((R(p + h * rate) - R(p - h * rate)) / (2 * h), R(p) @ array(skew(w)), atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tensor_in_other_axes(seed: int) -> None:
    rng = random.Random(seed)
    g = Graph()
    M = constant(g, [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(3)])
    quarter, e = about(g, seed % 3, 0, ONE), seed % 3
    turns = [rodrigues(constant(g, unit(rng)), g.const(1.1)), about(g, e, g.cos(g.const(2)), g.sin(g.const(2)))]
    turns += [quarter, quarter.times(about(g, (e + 1) % 3, 0, ONE)), quarter.times(quarter), identity(g)]
    for R in turns:
        close(array(conjugated(R, M)), array(R) @ array(M) @ array(R).T)


QUARTERS = {
    "two halves of a quarter": [((0, 0, 1), math.pi / 4)] * 2,
    "three thirds of a quarter": [((0, 0, 1), math.pi / 6)] * 3,
    "a quarter and a whole": [((0, 0, 1), math.pi / 2), ((0, 0, -1), 4 * math.pi)],
    "three quarters backwards": [((0, 0, 1), -math.pi / 2)] * 3,
    "by way of the cube's diagonal": [((1, 1, 1), 2 * math.pi / 3), ((1, 0, 0), math.pi / 2)],
}


@pytest.mark.parametrize("spelling", QUARTERS)
def test_turns_that_end_on_the_axes_are_exact_however_they_are_composed(spelling: str) -> None:
    g = Graph()
    R, expected = identity(g), E
    for axis, angle in QUARTERS[spelling]:
        e = np.array(axis) / np.linalg.norm(axis)
        R, expected = R.times(rodrigues(constant(g, e), g.const(angle))), expected @ formula(e, angle)
    assert R.refs.count(ZERO) == 6
    close(array(R), expected)


Q, R_ = kn.symbol("q"), kn.symbol("r")
PI = math.pi
SPELLINGS: dict[str, list[object]] = {
    "axis (1, 0, 0)": [kn.R((1, 0, 0), Q)],
    "axis of any length": [kn.R((0.3, 0, 0), Q)],
    "axis and angle reversed": [kn.R((-2, 0, 0), -Q)],
    "axis by a rounded cosine": [kn.R((1, math.cos(PI / 2), -math.sin(PI)), Q)],
    "y axis turned into x": [kn.Rz(-PI / 2), kn.Ry(Q), kn.Rz(PI / 2)],
    "z axis turned into x": [kn.Ry(PI / 2), kn.Rz(Q), kn.Ry(-PI / 2)],
    "backwards about -x": [kn.Ry(PI), kn.Rx(-Q), kn.Ry(PI)],
    "quarter in two steps": [kn.Rz(-PI / 4), kn.Rz(-PI / 4), kn.Ry(Q), kn.Rz(PI / 6), kn.Rz(PI / 3)],
    "about the cube's diagonal": [kn.R((1, 1, 1), 2 * PI / 3), kn.Rz(Q), kn.R((1, 1, 1), -2 * PI / 3)],
    "axis by rounded cosines in all places": [
        kn.Rz(-PI / 3),
        kn.R((math.cos(PI / 3), math.sin(PI / 3), math.cos(PI / 2)), Q),
        kn.Rz(PI / 3),
    ],
    "with an angle that goes to and fro": [kn.Rx(0.3), kn.Rx(Q), kn.Rx(-0.3)],
    "a quarter before and after": [kn.Rx(PI / 2), kn.Rx(Q - PI / 2)],
    "whole turns around it": [kn.Rz(4 * PI), kn.Rx(Q), kn.Ry(-2 * PI)],
}


def arm(motions: Sequence[object]) -> kn.Equations:
    first = kn.body("upper", motions, kn.inertia(1.3, (0.02, 0.03, 0.04), com=(0.1, 0.2, 0.3)))
    second = kn.inertia(0.7, (0.02, 0.025, 0.03), (0.001, 0.002, 0.003), com=(0.1, -0.1, 0.05))
    bodies = [first, kn.body("lower", [kn.Sx(0.5), kn.Ry(R_)], second, base="upper")]
    return kn.derive(kn.System("arm", bodies, gravity=(0.3, 0, -9.81), coordinates=["q", "r"]))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_spelling_of_a_rotation_does_not_change_the_result(spelling: str) -> None:
    plain, spelled = arm([kn.Rx(Q)]), arm(SPELLINGS[spelling])
    state = {"t": 0.0, "q": 0.4, "r": -0.9, "q'": 1.2, "r'": -0.7, "tau[q']": 0.3, "tau[r']": -0.2}
    for quantity in ("kinetic_energy", "mass_matrix", "bias", "forward", "positions"):
        assert spelled.operations(quantity) == plain.operations(quantity), quantity
        values = [evaluate(e.graph, e.expressions(quantity).refs, state) for e in (spelled, plain)]
        np.testing.assert_allclose(*values, rtol=1e-13, atol=1e-14)


P = kn.symbol("p")
OFFSETS: dict[str, list[object]] = {
    "in two turns": [kn.Rx(Q), kn.Rx(P)],
    "before": [kn.Rx(P), kn.Rx(Q)],
    "around a shift along the axis": [kn.Rx(Q), kn.Sx(0.2), kn.Rx(P), kn.Sx(-0.2)],
    "on both sides, about opposite axes": [kn.R((-1, 0, 0), 1 - P), kn.Rx(Q + 1)],
}


@pytest.mark.parametrize("spelling", OFFSETS)
def test_constant_turns_about_the_axis_of_a_joint_join_its_angle(spelling: str) -> None:
    plain, spelled = (
        kn.derive(arm(motions).system.replace(parameters={"p": 0.3})) for motions in ([kn.Rx(Q + P)], OFFSETS[spelling])
    )
    for quantity in ("kinetic_energy", "mass_matrix", "bias", "forward"):
        assert spelled.operations(quantity) == plain.operations(quantity), quantity


def test_a_quarter_turn_is_free_wherever_it_is_written() -> None:
    counts = [arm(m).operations("forward") for m in ([kn.Rx(Q), kn.Rx(PI / 2)], [kn.Rx(PI / 2 + Q)], [kn.Rx(Q)])]
    assert counts[0] == counts[1]
    assert counts[0].total <= counts[2].total + 2


FRAMES = {
    "in one body": "B ~ A | Rz(q1), Rz({a}) = {inertia};",
    "in a frame before": "frame F ~ A | Rz({a});\nB ~ F | Rz(q1) = {inertia};",
    "in the body after a frame": "frame F ~ A | Rz(q1);\nB ~ F | Rz({a}) = {inertia};",
    "around a shift, in the body after a frame": "frame F ~ A | Rz(q1), Sz(0.1);\nB ~ F | Rz({a}), Sz(-0.1) = {inertia};",
}


@pytest.mark.parametrize("angle", ["a", "0.4"])
@pytest.mark.parametrize("spelling", FRAMES)
def test_turns_join_across_frames_without_mass(spelling: str, angle: str) -> None:
    def robot(text: str) -> kn.Equations:
        body = text.format(a=angle, inertia="1.1, 0.2, 0.3, 0.25, com = (0.1, 0.2, 0.3)")
        head = "gravity 9.81; parameters a = 0.4; coordinates q1, q2, q3;\nA | Ry(q3) = 2, 0.1, 0.2, 0.15, com = (0.1, 0, 0);\n"
        tail = "\nC ~ B | Sx(0.4), Rx(q2) = 0.7, 0.02, 0.03, 0.04, com = (0.1, 0.05, 0.02);"
        return kn.derive(kn.loads(head + body + tail))

    plain, spelled = robot("B ~ A | Rz(q1 + {a}) = {inertia};"), robot(FRAMES[spelling])
    state = (0.0, [0.3, -0.7, 1.1], [1.0, 2.0, -0.5])
    for quantity in ("inverse", "forward", "kinetic_energy"):
        assert spelled.operations(quantity).total == plain.operations(quantity).total, quantity
        more = [[0.1, 0.2, 0.3]] if quantity == "inverse" else []
        one, other = (e.function(quantity, "numpy")(*state, *more) for e in (plain, spelled))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_a_frame_whose_child_turns_with_it_stays_where_it_is() -> None:
    system = kn.loads("coordinates q1;\nframe F | Rz(q1), Sx(1);\nB ~ F | Rz(0.5), Sx(2) = 1;")
    moved = kn.loads("coordinates q1;\nframe F | Sx(1), Rz(q1);\nB ~ F | Rz(0.5), Sx(2) = 1;")
    for model, place in ((system, [np.cos(0.3), np.sin(0.3), 0]), (moved, [1, 0, 0])):
        equations = kn.derive(model)
        positions, rotations = (equations.function(n)(0, [0.3], [0]) for n in ("positions", "rotations"))
        np.testing.assert_allclose(positions[0], place, atol=1e-15)
        np.testing.assert_allclose(rotations[0][:, 0], [np.cos(0.3), np.sin(0.3), 0], atol=1e-15)
