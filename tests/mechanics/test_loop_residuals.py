"""Closed loops: a loop joint constrains its bodies as the equivalent motions do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE
from kineta.expr.walk import reachable
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.runtime.functions import run_functions

a, b, c, d, e = kn.symbols("q1 q2 q3 q4 q5")
GRAVITY = (0.3, -1.1, -9.0)
#: From the body A to the joint, and from the joint to the body B.
BEFORE = (kn.Sx(0.3), kn.Rz(0.4), kn.Sy(-0.2), kn.Rx(0.7))
AFTER = (kn.Ry(-0.5), kn.Sz(0.4), kn.Rx(0.2))
BACK = (kn.Rx(-0.2), kn.Sz(-0.4), kn.Ry(0.5))
Z: dict[str, Any] = {"axis": (0, 0, 1)}

#: The motions equivalent to a joint, the arguments of a loop beside its name, and its components.
JOINTS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "ball": ((kn.Ball("s"),), {}, "x y z"),
    "revolute": ((kn.Rz(c),), Z, "x y z ru rw"),
    "prismatic": ((kn.Sz(c),), Z, "u w rx ry rz"),
    "universal": ((kn.Rx(c), kn.Ry(d)), {"axis": (1, 0, 0), "end_axis": (0, 1, 0)}, "x y z r"),
    "cylindrical": ((kn.Rz(c), kn.Sz(d)), Z, "u w ru rw"),
    "rigid": ((), {}, "x y z rx ry rz"),
    "line": ((kn.Sz(c), kn.Ball("s")), Z, "u w"),
    "plane": ((kn.Sx(c), kn.Sy(d), kn.Ball("s")), Z, ""),
    "distance": ((kn.Ry(c), kn.Rx(d), kn.Sz(0.6), kn.Ball("s")), {"value": 0.6}, ""),
}


def bodies(*, closed: bool, motions: tuple[Any, ...]) -> list[kn.Body]:
    """A body A, a body B that it carries over a joint or that floats, and the frames of the joint."""
    inertia = kn.inertia(1.3, (0.2, 0.3, 0.4), (0.01, 0.02, -0.03), com=(0.1, 0.2, -0.1))
    arm = [kn.body("C", [kn.Rz(a)], inertia), kn.body("A", [kn.Sx(0.5), kn.Ry(b), kn.Sy(e)], inertia, base="C")]
    near = kn.body("Near", BEFORE, base="A")
    if closed:
        return [*arm, near, kn.body("B", [kn.Free("f")], inertia), kn.body("Far", BACK, base="B")]
    return [*arm, near, kn.body("Far", motions, base="Near"), kn.body("B", AFTER, inertia, base="Far")]


def state_of(system: kn.System, rng: np.random.Generator) -> dict[str, float]:
    names = (*system.q_names, *system.v_names)
    state = dict(zip(names, rng.uniform(-0.8, 0.8, len(names)).tolist(), strict=True)) | {"t": 0.0}
    for joint in system.joints:
        parts = [f"{joint}.{k}" for k in ("qw", "qx", "qy", "qz")]
        length = float(np.linalg.norm([state[n] for n in parts]))
        state |= {n: state[n] / length for n in parts}
    return state | {f"tau[{n}]": 0.0 for n in system.v_names}


def quaternion(R: np.ndarray) -> list[float]:
    w = np.sqrt(1 + np.trace(R)) / 2
    return [w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))]


@pytest.mark.parametrize("joint", JOINTS)
def test_a_loop_moves_as_the_motions_of_its_joint(joint: str) -> None:
    motions, given, components = JOINTS[joint]
    open_ = kn.System("open", bodies(closed=False, motions=motions), gravity=GRAVITY)
    loop = kn.loop("E", joint, "Near", "Far", **given)
    shut = kn.System("shut", bodies(closed=True, motions=motions), gravity=GRAVITY, constraints=[loop])
    d, state = kn.derive(open_).derivation, state_of(open_, np.random.default_rng(len(joint)))
    s, speeds, accelerations = d.symbols, d["velocity(B in B)"].refs, d["forward"].refs
    rates = forward(d.graph, speeds, {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + accelerations, strict=True))})
    values = {
        n: evaluate(d.graph, refs, state) for n, refs in (("u", speeds), ("rate", rates), ("vdot", accelerations))
    }
    X = np.array(evaluate(d.graph, d["pose(B)"].refs, state)).reshape(4, 4)
    own = [n for n in (*shut.q_names, *shut.v_names) if n.startswith("f.")]
    floating = [*X[:3, 3], *quaternion(X[:3, :3]), *values["u"]]
    there = state | dict(zip(own, floating, strict=True)) | {f"tau[{n}]": 0.0 for n in shut.v_names}
    known = dict(zip(s.names, values["vdot"], strict=True))
    expected = [known[n] for n in shut.v_names if n in known] + values["rate"]
    equations = kn.derive(shut)

    def at(quantity: str) -> np.ndarray:
        return np.array(evaluate(equations.graph, equations.expressions(quantity).refs, there))

    assert np.abs(at("constraints")).max() < 1e-14
    assert at("forward") == pytest.approx(expected, rel=1e-11, abs=1e-11)
    names = [f"E.{k}" for k in components.split()] or ["E"]
    assert [n for n in equations.expressions("constraints").labels if not n.endswith("'")] == names
    assert len(shut.v_names) - len(names) == open_.nv


def windows(n: int) -> kn.System:
    """A02 of the IFToMM library: *n* four-bars in a row."""
    rods = [f"L{i} | Sx({i}), Rz(-a{i}) = m(1), Jz(1/12), com = (0, 0.5, 0);" for i in range(n + 1)]
    for i in range(n):
        rods.append(f"T{i} ~ L{i} | Sy(1), Rz(b{i}) = m(1), Jz(1/12), com = (0.5, 0, 0);")
        rods.append(f"loop E{i} : ball between T{i} at (1, 0, 0) and L{i + 1} at (0, 1, 0);")
    return kn.loads("gravity (0, -9.81, 0);" + "".join(rods))


def test_windows_cost_the_same_however_many_there_are() -> None:
    counts = [kn.derive(windows(n)).operations("forward").total for n in (5, 10, 20)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])
    assert counts[1] - counts[0] <= 5 * 180


def test_what_a_run_computes_grows_with_the_windows_and_no_faster() -> None:
    """Operations counted with all tests of pivots."""

    def sizes(n: int) -> np.ndarray:
        system = windows(n)
        d = run_derivation(kn.derive(system), PROJECTED)
        found, _ = run_functions(d, applied_forces(system, 0.0), ())
        return np.array([len(reachable(d.graph, refs)) for refs in found.values()])

    few, some, many = map(sizes, (5, 10, 20))
    assert (abs((many - some) - 2 * (some - few)) <= 2).all()


def test_a_derivation_factors_its_constraints_once() -> None:
    d = kn.derive(windows(2)).derivation
    first = kkt_factors(d, d.rows, range(5)[::-1])
    assert kkt_factors(d, list(d.rows), [4, 3, 2, 1, 0]) is first
    assert kkt_factors(d, d.rows[:2], range(5)[::-1]) is not first


def test_what_no_motion_changes_is_subtracted_before_the_rest() -> None:
    """Else the noise of a closure would grow with its distance from the ground's origin."""

    def shown(x: float) -> str:
        hinge = "loop E : ball between A at (1, 0, 0) and B at (1, 0, 0);"
        text = f"A | Sx({x}), Rz(q1) = m(1); B | Sx({x + 0.5}), Rz(q2) = m(1); {hinge}"
        return kn.derive(kn.loads(text)).text("constraints")

    assert shown(0.0) == shown(4096.0)


def test_loops_of_chains_that_share_a_base_do_not_know_where_it_is() -> None:
    base = "C | Sx(q1), Ry(q2) = 1, 1, 1, 1; A ~ C | Rz(q3) = m(1); B ~ C | Sy(1), Rx(q4) = m(1);"
    equations = kn.derive(kn.loads(base + "loop E : revolute between A at (1, 0, 0) axis (0, 0, 1) and B;"))
    assert set(re.findall(r"q\d", equations.text("constraints"))) == {"q3", "q4"}


def test_the_multiplier_of_a_loop_is_the_force_on_its_second_body() -> None:
    hung = kn.loads("gravity 9.81; B | Sx(q1), Sy(q2), Sz(q3) = m(2); loop E : ball between ground and B;")
    equations = kn.derive(hung)
    found = equations.function("multipliers")(0.0, [0.0] * 3, [0.0] * 3)
    assert dict(zip(equations.expressions("multipliers").labels, found, strict=True)) == {
        "lambda.E.x": 0.0,
        "lambda.E.y": 0.0,
        "lambda.E.z": pytest.approx(2 * 9.81),
    }


def test_a_turn_of_the_second_body_is_resisted_by_a_couple_on_it() -> None:
    wheel = "B | Rz(q1), Rx(q2), Ry(q3) = 1, 1, 2, 3; couple M on B = (3, 4, 5);"
    held = kn.derive(kn.loads(wheel + "loop E : rigid between ground and B;"))
    assert held.function("multipliers")(0.0, [0.0] * 3, [0.0] * 3) == pytest.approx([-3, -4, -5])
    hinged = kn.derive(kn.loads(wheel + "loop E : revolute between ground axis (0, 0, 1) and B;"))
    assert hinged.function("multipliers")(0.0, [0.0] * 3, [0.0] * 3) == pytest.approx([-3, -4])


def test_gears_keep_the_ratio_of_the_angles_that_their_bodies_turn_by() -> None:
    geared = kn.loads("""
        C | Rx(q1) = 1, 1, 1, 1;
        A ~ C | Ry(q2) = 1, 1, 1, 1;
        B ~ C | Sz(1), Rx(90 deg), Rz(q3 + 0.1*t), Rz(-q4), Sz(q5) = 1, 1, 1, 1;
        loop G : gear = -3 between A axis (0, 1, 0) and B axis (0, 0, 1);
    """)
    state = {"q1": 0.3, "q2": 0.7, "q3": -1.1, "q4": 0.2, "q5": 0.0, "t": 2.0}
    equations = kn.derive(geared)
    f = evaluate(equations.graph, equations.derivation["constraints"].refs[:1], state)
    assert f == pytest.approx([(-1.1 + 0.2 - 0.2) + 3 * 0.7])


def test_a_component_is_left_out_only_where_it_vanishes_for_all_parameters() -> None:
    planar = "A | Sz({}), Rz(q1) = m(1), Jz(1); B | Sz({}), Rz(q2) = m(1), Jz(1); loop E : ball between A and B at (h, 0, 0);"
    kept = kn.derive(kn.loads("parameters h = 1, k = 1;" + planar.format("h + k - h", "k")))
    assert [n for n in kept.expressions("constraints").labels if "'" not in n] == ["E.x", "E.y"]
    apart = kn.derive(kn.loads("parameters h = 1, k = 1;" + planar.format("h", "k")))
    with pytest.raises(
        kn.ModelError, match=r"Loop 'E': no motion changes its component z\. Give places that agree in it\."
    ):
        apart.expressions("constraints")
