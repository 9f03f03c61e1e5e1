"""Closed loops: a joint that closes a loop moves its bodies as the motions do that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate

a, b, c, d, e = kn.symbols("q1 q2 q3 q4 q5")
GRAVITY = (0.3, -1.1, -9.0)
#: From the body A to the joint, and from the joint to the body B.
BEFORE = (kn.Sx(0.3), kn.Rz(0.4), kn.Sy(-0.2), kn.Rx(0.7))
AFTER = (kn.Ry(-0.5), kn.Sz(0.4), kn.Rx(0.2))
BACK = (kn.Rx(-0.2), kn.Sz(-0.4), kn.Ry(0.5))
Z: dict[str, Any] = {"axis": (0, 0, 1)}

#: The motions that a joint stands for, what a loop needs beside its name, and its components.
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
    return state | {f"tau.{n}": 0.0 for n in system.v_names}


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
    there = state | dict(zip(own, floating, strict=True)) | {f"tau.{n}": 0.0 for n in shut.v_names}
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
