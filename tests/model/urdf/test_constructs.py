"""What every construct of URDF becomes. Whole robots are compared with a peer in ``test_peer.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.model.io import urdf
from tests.model.urdf.texts import (
    FINGER,
    HEAVY_B,
    INERTIAL,
    assert_same_dynamics,
    between,
    joint,
    noted,
    quietly,
    random_state,
    robot,
)

JOINTS = {
    "revolute": (joint("revolute", '<axis xyz="0 0 1"/>'), "Rz(j)", "j"),
    "the axis is x where none is given": (joint("revolute"), "Rx(j)", "j"),
    "continuous": (joint("continuous", '<axis xyz="0 1 0"/>'), "Ry(j)", "j"),
    "prismatic": (joint("prismatic", '<axis xyz="-1 0 0"/>'), "Sx(-j)", "j"),
    "oblique": (joint("prismatic", '<axis xyz="0.6 0 0.8"/>'), "S[0.6, 0, 0.8](j)", "j"),
    "fixed": (joint("fixed", '<origin xyz="0 0 2"/>'), "Sz(2)", ""),
    "floating": (joint("floating"), "Free(j_motion)", "j_motion"),
    "planar about z": (joint("planar", '<axis xyz="0 0 1"/>'), "Sx(j_x), Sy(j_y), Rz(j_a)", "j_x, j_y, j_a"),
    "planar about x": (joint("planar"), "Sy(j_x), Sz(j_y), Rx(j_a)", "j_x, j_y, j_a"),
    "roll, pitch, yaw are about fixed axes, so about own axes in the other order": (
        joint("revolute", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'),
        "Sx(1), Sy(2), Sz(3), Rz(0.3), Ry(0.2), Rx(0.1), Rx(j)",
        "j",
    ),
}


@pytest.mark.parametrize(("text", "motions", "coordinates"), JOINTS.values(), ids=JOINTS)
def test_a_joint_becomes_elementary_motions(text: str, motions: str, coordinates: str) -> None:
    expected = kn.loads(f"""
        model r;
        gravity (0, 0, -9.81);
        {f"coordinates {coordinates};" if coordinates else ""}
        frame a | ;
        b ~ a | {motions} = m(2), Jx(0.3), Jy(0.4), Jz(0.5), Jxy(0.01), Jxz(-0.02), Jyz(0.03), com = (0.1, 0, 0.2);
        """)
    assert urdf.reads(robot(HEAVY_B, text)) == expected


def test_mimic_in_a_chain_adds_no_coordinate_and_damping_acts_through_it() -> None:
    system = urdf.reads(FINGER)
    assert system.coordinates == ("l",)
    arguments = [str(m.angle) for b in system.bodies for m in b.motions if hasattr(m, "angle")]
    assert [kn.loads(f"model m; P | Rx({a}) = 1;") for a in arguments] == [
        kn.loads(f"model m; P | Rx({a}) = 1;") for a in ("0.5 - 6*l", "3*l")
    ]
    # Q_l = -sum D k^2 l', with k the ratio of the joint's rate to l'.
    q, v, x = random_state(system, 1)
    with_, without = (
        kn.derive(s).function("inverse", backend="numpy")(0.0, q, v, x) for s in (system, system.replace(elements=()))
    )
    assert with_ - without == pytest.approx((4 * 36 + 1.5) * v, rel=1e-13)


def test_mimic_with_multiplier_zero_is_a_constant() -> None:
    system = urdf.reads(FINGER.replace('multiplier="3"', 'multiplier="0"'))
    assert len(system.elements) == 1
    assert "Rx(0.5)" in kn.dumps(system)


def test_a_turned_inertia_is_that_of_a_turned_link_on_a_fixed_joint_and_costs_no_more() -> None:
    """Also: bodies held fast are merged, links without inertia are legal, quaternions say the same as rpy."""
    pose = 'xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"'
    rest = '<mass value="2"/><inertia ixx="0.3" iyy="0.4" izz="0.5"/></inertial></link>'
    own, turn = '<link name="a"/><link name="b"><inertial><origin ', joint("revolute")
    one = urdf.reads(robot(f"{own}{pose}/>{rest}", turn))
    held = joint("fixed", f"<origin {pose}/>", "k", between("b", "c"))
    two = urdf.reads(robot('<link name="a"/><link name="b"/><link name="c"><inertial>' + rest, turn, held))
    assert_same_dynamics(one, two)
    forward = [kn.derive(s).operations("forward") for s in (one, two)]
    assert forward[0] == forward[1]

    half = [np.array([np.cos(a / 2), *(np.sin(a / 2) * np.eye(3)[k])]) for k, a in enumerate((0.4, -0.5, 0.6))]
    w, x, y, z = product(product(half[2], half[1]), half[0])
    quaternion = f'xyz="0.1 0.2 0.3" quat_xyzw="{2 * x} {2 * y} {2 * z} {2 * w}"'
    assert_same_dynamics(one, urdf.reads(robot(f"{own}{quaternion}/>{rest}", turn)))


@pytest.mark.parametrize(
    "angles", [(0.4, -0.5, 0.6), (0.7, np.pi / 2, 0.2), (0.7, -np.pi / 2, 0.2), (np.pi / 2, np.pi / 2, 0), (3, 1, -3)]
)
@pytest.mark.parametrize("sense", [1, -1])
def test_a_quaternion_turns_as_its_angles_do_at_any_pitch(angles: tuple[float, float, float], sense: int) -> None:
    half = [np.array([np.cos(a / 2), *(np.sin(a / 2) * np.eye(3)[k])]) for k, a in enumerate(angles)]
    w, x, y, z = sense * product(product(half[2], half[1]), half[0])
    inertial = '<inertial><origin {}/><mass value="2"/><inertia ixx="0.3" iyy="0.4" izz="0.5"/></inertial>'
    roll, pitch, yaw = angles
    one, other = (
        urdf.reads(robot(f'<link name="a"/><link name="b">{inertial.format(pose)}</link>', joint("revolute")))
        for pose in (f'rpy="{roll} {pitch} {yaw}"', f'quat_xyzw="{x} {y} {z} {w}"')
    )
    assert_same_dynamics(one, other)


def product(a: Any, b: Any) -> Any:
    """Hamilton's product of quaternions (w, x, y, z)."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def test_a_planar_joint_is_two_prismatic_and_a_revolute_one_with_links_without_mass_between() -> None:
    axis = '<axis xyz="0 0 1"/>'
    planar = urdf.reads(robot(HEAVY_B, joint("planar", axis)))
    chain = urdf.reads(
        robot(
            HEAVY_B,
            '<link name="m"/><link name="n"/>',
            joint("prismatic", '<axis xyz="1 0 0"/>', "x", between("a", "m")),
            joint("prismatic", '<axis xyz="0 1 0"/>', "y", between("m", "n")),
            joint("revolute", axis, "angle", between("n", "b")),
        )
    )
    assert_same_dynamics(planar, chain)


def test_the_floating_option_is_a_floating_joint_under_the_root() -> None:
    body, limb = f'<link name="b">{INERTIAL}</link>', f'<link name="c">{INERTIAL}</link>'
    hip = joint("revolute", '<origin xyz="0 1 0"/>', "hip", between("b", "c"))
    option = urdf.reads(robot(body, limb, hip), floating=True)
    assert option.q_names == (*(f"root.{c}" for c in ("x", "y", "z", "qw", "qx", "qy", "qz")), "hip")
    assert option.v_names == (*(f"root.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")), "hip'")
    written = urdf.reads(robot('<link name="a"/>', body, limb, joint("floating", name="f"), hip))
    assert_same_dynamics(option, written)


def test_gravity_is_an_option() -> None:
    system = urdf.reads(robot(HEAVY_B, joint("revolute")), gravity=(0, -1.62, 0))
    assert [g.value for g in system.gravity] == [0, -1.62, 0]


def test_names_become_identifiers_and_stay_distinct(tmp_path: Path) -> None:
    links = "".join(f'<link name="{n}"/>' for n in ("left arm", "left-arm", "2nd", "root", "model", "p"))
    joints = [
        joint("revolute", '<dynamics damping="1"/>', "a-b", between("left arm", "left-arm")),
        joint("revolute", '<dynamics damping="1"/>', "a_b", between("left-arm", "2nd")),
        joint("planar", "", "p", between("2nd", "root")),
        joint("prismatic", "", "p_x", between("root", "model")),
        joint("floating", "", "pi", between("model", "p")),
    ]
    text = robot(links, *joints)
    system = quietly(text, floating=True)
    assert [b.name for b in system.bodies] == ["left_arm", "left_arm_", "_2nd", "root", "model_", "p"]
    assert system.coordinates == ("root_", "a_b", "a_b_", "p_x_", "p_y", "p_a", "p_x", "pi_motion")
    assert [e.name for e in system.elements] == ["a_b_damping", "a_b_damping_"]
    assert kn.loads(kn.dumps(system)) == system
    _, notes = noted(text, tmp_path)
    assert f"{tmp_path / 'r.urdf'}:2:1: <link> renamed: 'left arm' is called 'left_arm'" in map(str, notes)


def test_load_takes_the_floating_base_too(tmp_path: Path) -> None:
    file = tmp_path / "box.urdf"
    file.write_text('<robot name="box"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
                    'iyy="1" iyz="0" izz="1"/></inertial></link></robot>')  # fmt: skip
    assert kn.load(file, floating=True).nv == 6
    with pytest.raises(kn.ArgumentError, match=r"floating=True is for URDF robots; in .kin write a motion Free"):
        kn.load(tmp_path / "box.kin", floating=True)
