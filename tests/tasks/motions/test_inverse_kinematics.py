"""Inverse kinematics: every solution of simple chains, limits, closed systems, and the distance that is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from tests.support import EXAMPLES

ARM = kn.loads("A | Rz(a) = 1; B ~ A | Sx(1), Rz(b) = 1; point T on B = (0.7, 0, 0); coordinates a, b;")
PUMA = kn.load(EXAMPLES / "puma560.kin")
POSE = np.array([0.3, -0.4, 0.9, 0.5, 0.7, -0.2])


def pose(q: Any, name: str = "link6") -> np.ndarray:
    return np.asarray(kn.derive(PUMA).function(f"pose({name})")(0.0, q, np.zeros(6)))


def test_an_arm_of_two_links_bends_both_ways() -> None:
    up, down = kn.inverse_kinematics(ARM, {"T.x": 1.0, "T.y": 0.6}, starts=20)
    bend = np.arccos((1.0 + 0.36 - 1.49) / 1.4)
    assert sorted([up.q[1], down.q[1]]) == pytest.approx([-bend, bend], abs=1e-12)
    assert (up.free, up.distance) == (0, pytest.approx(0, abs=1e-12))
    (only,) = kn.inverse_kinematics(ARM, {"T.x": 1.0, "T.y": 0.6}, starts=20, limits={"b": (0, 3)})
    assert only.q[1] == pytest.approx(bend)


@pytest.mark.slow
def test_a_puma_has_eight_ways_to_a_pose() -> None:
    found = kn.inverse_kinematics(PUMA, {"link6": pose(POSE)}, POSE + 0.05)
    assert len(found) == 8
    assert found[0].q == pytest.approx(POSE, abs=1e-10)
    for one in found:
        assert pose(one.q) == pytest.approx(pose(POSE), abs=1e-9)


def test_what_leaves_motions_open_is_found_near_the_guess() -> None:
    (near,) = kn.inverse_kinematics(PUMA, {"link6": pose(POSE)[:3, 3]}, POSE + 0.01)
    assert near.free == 3
    assert np.abs(near.q - POSE).max() < 0.05
    turned = kn.inverse_kinematics(PUMA, {"link6": pose(POSE)[:3, :3]}, POSE + 0.1)[0]
    assert pose(turned.q)[:3, :3] == pytest.approx(pose(POSE)[:3, :3], abs=1e-9)
    seen = pose(POSE, "link6 in link2")
    inside = kn.inverse_kinematics(PUMA, {"link6": seen}, POSE + 0.1, frame="link2")[0]
    assert pose(inside.q, "link6 in link2") == pytest.approx(seen, abs=1e-9)


def test_a_stretched_arm_has_no_motion_left() -> None:
    """The Jacobian loses rank where the only solution is double."""
    (only,) = kn.inverse_kinematics(ARM, {"T": (1.7, 0.0, 0.0)}, {"a": 0.0, "b": 0.0}, starts=20)
    assert (only.free, only.q.tolist()) == (0, [0.0, 0.0])
    (far,) = kn.inverse_kinematics(ARM, {"T": (1.7, 0.0, 0.0)}, {"a": 0.3, "b": -0.5}, starts=20)
    assert (far.free, far.q) == (0, pytest.approx([0.0, 0.0], abs=1e-4))


def test_motions_that_are_left_in_singular_positions_are_counted() -> None:
    """With the fifth angle of a puma zero, the fourth and the sixth turn against each other; a third link of no length moves."""
    straight = np.array([0.3, -0.4, 0.9, 0.5, 0.0, -0.2])
    assert kn.inverse_kinematics(PUMA, {"link6": pose(straight)}, straight)[0].free == 1
    bent = kn.loads("A | Rz(a) = 1; B ~ A | Sx(1), Rz(b) = 1; C ~ B | Sx(0.7), Rz(c) = 1; coordinates a, b, c;")
    assert kn.inverse_kinematics(bent, {"C": (1.7, 0.0, 0.0)}, {"a": 0.0, "b": 0.0})[0].free == 1


@pytest.mark.slow
def test_closed_systems_and_free_bodies_are_placed() -> None:
    fourbar = kn.load(EXAMPLES / "fourbar.kin")
    found = kn.inverse_kinematics(fourbar, {"mass.y": 0.5}, starts=40)
    position, constraints = (kn.derive(fourbar).function(n) for n in ("position(mass)", "constraints"))
    assert len(found) >= 2
    for one in found:
        assert position(0.0, one.q, np.zeros(3))[1] == pytest.approx(0.5, abs=1e-9)
        assert constraints(0.0, one.q, np.zeros(3)) == pytest.approx(np.zeros(4), abs=1e-9)
    top = kn.load(EXAMPLES / "spinning_top.kin")
    (one,) = kn.inverse_kinematics(top, {"Tip": (0.12 * 0.6, 0, 0.12 * 0.8)})
    assert one.free == 1
    assert np.linalg.norm(one.q) == pytest.approx(1.0)


def test_what_is_out_of_reach_is_said_with_the_distance_left() -> None:
    with pytest.raises(
        SimulationError, match=r"puts T where wanted: from the guess and 5 random starts .* is 0.3 m away"
    ):
        kn.inverse_kinematics(ARM, {"T": (2.0, 0, 0)}, starts=5)
    with pytest.raises(SimulationError, match="nothing found within the limits puts T"):
        kn.inverse_kinematics(ARM, {"T.x": -1.0, "T.y": 0.0}, starts=5, limits={"a": (-0.5, 0.5), "b": (-0.5, 0.5)})


def test_limits_of_the_model_are_kept() -> None:
    limited = kn.loads(
        "Arm | Rz(q1), Sx(1) = 1; coordinates q1; parameters most = 0.5; limit stop : -0.5 <= q1 <= most; limit low : Arm.y >= 0;"
    )
    (found,) = kn.inverse_kinematics(limited, {"Arm.x": np.cos(0.4)}, starts=20)
    assert found.q[0] == pytest.approx(0.4)
    with pytest.raises(SimulationError, match="nothing found within the limits puts Arm"):
        kn.inverse_kinematics(limited, {"Arm.x": np.cos(1.12)}, starts=20)
    with pytest.raises(SimulationError, match=r"q1 = -0.2 lies beyond 'low' \(Arm.y >= 0\)"):
        kn.inverse_kinematics(limited, {"Arm.y": np.sin(-0.2)}, starts=20)


def test_a_position_is_given_once_whatever_it_is_called() -> None:
    ball = kn.loads("A | Ball(b), Sx(1) = 1, 1, 1, 1;")
    assert len(kn.inverse_kinematics(ball, {"A": np.diag([-1.0, -1.0, 1.0])}, starts=20)) == 1
    hinge = kn.loads("A | Rz(a), Sx(1) = 1;")
    (one,) = kn.inverse_kinematics(hinge, {"A": (-1.0, 0.0, 0.0)}, starts=20)
    assert one.q[0] == pytest.approx(np.pi)


def test_what_nothing_moves_is_said_to_be_out_of_reach() -> None:
    with pytest.raises(SimulationError, match=r"puts B where wanted: .* the nearest position is 0.5 m away"):
        kn.inverse_kinematics(kn.loads("B | Sx(0.5) = 1;"), {"B": (1.0, 0.0, 0.0)}, starts=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"wanted": {}}, "Expected what is wanted by name"),
        ({"wanted": {"U": (1, 2, 3)}}, "no body or point 'U'"),
        ({"wanted": {"T": (1, 2)}}, "Expected a position (3,), axes (3, 3) or a pose (4, 4) for 'T'"),
        ({"wanted": {"T": np.ones((3, 3))}}, "Expected orthogonal, right-handed axes for 'T'"),
        ({"wanted": {"T.x": 1.0}, "limits": {"c": (0, 1)}}, "no coordinate 'c' to limit"),
        ({"wanted": {"T.x": 1.0}, "limits": {"a": (1, 0)}}, "Expected the least and the largest value of 'a'"),
        ({"wanted": {"T.x": 1.0}, "frame": "C"}, "no body 'C'"),
    ],
)
def test_wrong_wishes_are_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError) as error:
        kn.inverse_kinematics(ARM, **given)
    assert said in str(error.value)


def test_limits_hold_for_whole_turns_and_beside_those_of_the_model() -> None:
    a, b = kn.symbol("a"), kn.symbol("b")
    bent = ARM.replace(contacts=[kn.limit("elbow", a + b, upper=0.5)])
    assert all(x.q.sum() <= 0.5 for x in kn.inverse_kinematics(bent, {"T.x": 1.0, "T.y": 0.6}, starts=20))
    stopped = ARM.replace(contacts=[kn.limit("stop", a, -0.5, 0.5)])
    with pytest.raises(ArgumentError, match="its own limits of 'a' leave nothing between 1 and 0"):
        kn.inverse_kinematics(stopped, {"T.x": 1.0}, limits={"a": (1, 2)})


def test_a_pose_ends_with_its_last_row() -> None:
    pose = np.diag([1.0, 1.0, 1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"Expected \(0, 0, 0, 1\) in the last row of the pose of 'B'"):
        kn.inverse_kinematics(ARM, {"B": pose})


def test_equations_are_taken_for_their_system() -> None:
    arm = kn.loads("A | Rz(q), Sx(1) = 1;")
    (found,) = kn.inverse_kinematics(kn.derive(arm), {"A.x": 0.0, "A.y": 1.0})
    assert found.q == pytest.approx([np.pi / 2])
