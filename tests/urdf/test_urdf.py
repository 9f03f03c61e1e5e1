"""The URDF reader: what every construct becomes, what is said of the rest, and what is refused.

Whole robots are compared with a peer in ``test_peer.py``.
"""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import kineta as kn
from kineta.cli.main import app
from kineta.model.io import urdf, urdf_survey
from tests.support import ROOT
from tests.urdf.peer import ROBOTS

ENDS = '<parent link="a"/><child link="b"/>'
INERTIAL = """<inertial><origin xyz="0.1 0 0.2"/><mass value="2"/>
  <inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>"""
HEAVY_B = f'<link name="a"/><link name="b">{INERTIAL}</link>'
QUANTITIES = ("mass_matrix", "bias", "inverse", "forward")


def robot(*parts: str) -> str:
    """A file: the first part is on line 2, the second on line 3 where each takes one line."""
    return "\n".join(('<robot name="r">', *parts, "</robot>"))


def joint(kind: str, inner: str = "", name: str = "j", ends: str = ENDS) -> str:
    return f'<joint name="{name}" type="{kind}">{ends}{inner}</joint>'


def between(parent: str, child: str) -> str:
    return f'<parent link="{parent}"/><child link="{child}"/>'


def noted(text: str, tmp_path: Path) -> tuple[kn.System, tuple[urdf.Note, ...]]:
    file = tmp_path / "r.urdf"
    file.write_text(text, encoding="utf-8")
    return urdf.read_with_report(file)


def quietly(text: str, *, floating: bool = False) -> kn.System:
    """The system in *text*; the test is not about warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KinetaWarning)
        return urdf.reads(text, floating=floating)


def random_state(system: kn.System, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    q, v, x = (rng.uniform(-1, 1, n) for n in (system.nq, system.nv, system.nv))
    for name in system.joints:
        k = system.q_names.index(f"{name}.qw")
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, v, x


def assert_same_dynamics(one: kn.System, other: kn.System) -> None:
    """The two agree at random states, with coordinates and speeds in the same order."""
    equations = [kn.derive(s) for s in (one, other)]
    q, v, x = random_state(one, 7)
    for quantity in QUANTITIES:
        extra = (x,) if quantity in ("inverse", "forward") else ()
        a, b = (e.function(quantity, backend="numpy")(0.0, q, v, *extra) for e in equations)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=quantity)


# -- what every construct becomes -------------------------------------------------------------------------------------

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


FINGER = robot(
    HEAVY_B,
    f'<link name="c">{INERTIAL}</link>',
    f'<link name="d">{INERTIAL}</link>',
    joint("revolute", '<dynamics damping="4"/><mimic joint="k" multiplier="-2" offset="0.5"/>', "j"),
    joint("revolute", '<mimic joint="l" multiplier="3"/>', "k", between("b", "c")),
    joint("prismatic", '<dynamics damping="1.5"/>', "l", between("c", "d")),
)


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


# -- what is said of the rest -----------------------------------------------------------------------------------------

#: A part of a file, the place and text of the one note on it, and whether it matters, which is a warning.
NOTES = {
    "visual": ('<link name="a"><visual/></link>', "2:16: <visual> left out: has no part in the motion", False),
    "collision": ('<link name="a"><collision/></link>', "2:16: <collision> left out: has no part", False),
    "surface": ('<link name="a"><surface/></link>', "2:16: <surface> left out: has no part", False),
    "self_filter": ('<link name="a"><self_filter/></link>', "2:16: <self_filter> left out: has no part", False),
    "usual gravity": ('<link name="a"><gravity>1</gravity></link>', "<gravity> left out: has no part", False),
    "no gravity": (
        '<link name="a"><gravity> false </gravity></link>',
        "2:16: <gravity> ignored: gravity acts on every link",
        True,
    ),
    "kinematic": (
        '<link name="a"><kinematic>1</kinematic></link>',
        "2:16: <kinematic> ignored: every link obeys the forces on it",
        True,
    ),
    "origin of a link": (
        '<link name="a"><origin/></link>',
        "2:16: <origin> in <link> ignored: is not part of URDF",
        True,
    ),
    "limit": (
        joint("revolute", '<limit lower="0"/>'),
        "<limit> left out: limits do not act; watch them with events",
        False,
    ),
    "fixed axis": (joint("fixed", '<axis xyz="0 0 0"/>'), "<axis> left out: a fixed joint has no use for it", False),
    "fixed mimic": (joint("fixed", '<mimic joint="?"/>'), "<mimic> left out: a fixed joint has no use for it", False),
    "fixed damping": (joint("fixed", '<dynamics damping="1"/>'), "<dynamics> left out: a fixed joint", False),
    "friction": (
        joint("revolute", '<dynamics friction="1"/>'),
        "<dynamics> approximated: dry friction does not act; add a force of your own if it matters",
        True,
    ),
    "planar damping": (
        joint("planar", '<dynamics damping="1"/>'),
        "<dynamics> approximated: damping of a planar joint does not act",
        True,
    ),
    "foreign attribute": (
        joint("revolute", '<dynamics mu_viscous="16"/>'),
        "attribute 'mu_viscous' of <dynamics> ignored: is not part of URDF",
        True,
    ),
    "foreign element": (
        joint("revolute", "<spring/>"),
        "<spring> in <joint> ignored: is not part of URDF",
        True,
    ),
    "element in a leaf": (
        joint("revolute", "<origin><scale/></origin>"),
        "<scale> in <origin> ignored: is not part of URDF",
        True,
    ),
    "long axis": (
        joint("revolute", '<axis xyz="0 0 2"/>'),
        "<axis> normalised: the axis is used as a direction, its length is not",
        True,
    ),
    "ros2_control": ("<ros2_control><joint/></ros2_control>", "2:1: <ros2_control> left out: has no part", False),
    "transmission": ("<transmission><joint/></transmission>", "2:1: <transmission> left out: has no part", False),
    "foreign in robot": ("<mujoco/>", "2:1: <mujoco> in <robot> ignored: is not part of URDF", True),
    "impossible inertia": (
        '<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial></link>',
        "2:43: <inertia> used as it stands: no body has these moments of inertia; correct them",
        True,
    ),
    "several": (
        '<link name="a"><visual/><visual/></link>',
        "2:16: <visual> left out: has no part in the motion (2 times, first here)",
        False,
    ),
}


@pytest.mark.parametrize(("part", "expected", "matters"), NOTES.values(), ids=NOTES)
def test_what_is_not_used_is_said_with_its_line(part: str, expected: str, matters: bool, tmp_path: Path) -> None:
    links = [f'<link name="{n}"/>' for n in ("a", "b") if f'<link name="{n}">' not in part]
    held = [] if part.startswith("<joint") else [joint("fixed", ends=ENDS)]
    text = robot(part, *links, *held)
    _, notes = noted(text, tmp_path)
    assert [n.matters for n in notes] == [matters]
    assert str(notes[0]).startswith(f"{tmp_path / 'r.urdf'}:2:")
    assert expected in str(notes[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        urdf.reads(text)
        urdf.read(tmp_path / "r.urdf")
    assert len(caught) == 2 * matters
    assert all(w.category is kn.KinetaWarning and w.filename == __file__ and expected in str(w.message) for w in caught)


def test_a_switch_of_a_simulator_is_ignored_aloud_where_it_would_change_the_motion(tmp_path: Path) -> None:
    inner = (
        "<turnGravityOff>true</turnGravityOff>",
        '<turnGravityOff value="true"/>',
        "<turnGravityOff>0</turnGravityOff>",
    )
    text = robot('<link name="a"/>', *(f"<gazebo>{i}<mu1>1</mu1></gazebo>" for i in inner))
    _, notes = noted(text, tmp_path)
    assert [(n.location.line, n.element, n.treatment, n.count) for n in notes] == [
        (3, "<gazebo>", "left out", 3),
        (3, "<turnGravityOff>", "ignored", 2),
    ]


# -- what is refused --------------------------------------------------------------------------------------------------

A, AB = '<link name="a"/>', '<link name="a"/><link name="b"/>'
ABC = AB + '<link name="c"/>'


def inertial(inner: str) -> str:
    return robot(f'<link name="a"><inertial>{inner}</inertial></link>')


REFUSED = {
    "not a robot": ("<robo/>", "f:1:1: expected <robot>, found <robo>. Did you mean 'robot'?"),
    "another format": ("<sdf version='1.7'><model/></sdf>", "f:1:1: expected <robot>, found <sdf>."),
    "no links": (robot(), "f:1:1: expected one root link, found no links at all."),
    "not expanded": (robot(A, '<xacro:arm side="left"/>'), "f:3:1: <xacro:arm>: expected plain URDF; expand the file"),
    "missing link": (
        robot('<link name="base"/>', joint("fixed", ends='<parent link="base"/>\n<child link="bsae"/>')),
        "f:4:1: joint 'j': link 'bsae' does not exist. Did you mean 'base'?",
    ),
    "no child": (robot(A, joint("fixed", ends='<parent link="a"/>')), "f:3:1: joint 'j': <child> is missing."),
    "two parents": (
        robot(ABC, joint("fixed", ends=between("a", "c")), joint("fixed", name="k", ends=between("b", "c"))),
        "f:4:1: link 'c' hangs on two joints, 'j' and 'k'; URDF allows trees only.",
    ),
    "two roots": (robot(A, '<link name="b"/>'), "f:3:1: expected one root link, found 2 (a, b)."),
    "loop": (
        robot(AB, joint("fixed"), joint("fixed", name="k", ends=between("b", "a"))),
        "f:1:1: expected one root link, found none: the joints form a loop.",
    ),
    "loop beside a root": (
        robot(A, '<link name="b"/><link name="c"/>').replace(
            "</robot>", joint("fixed", ends=between("b", "c")) + joint("fixed", "", "k", between("c", "b"))
        )
        + "</robot>",
        "f:3:1: link 'b' is not connected to the root link 'a'; its joints form a loop.",
    ),
    "two links of a name": (robot(A, A), "f:3:1: link 'a' is described twice (first at f:2:1)."),
    "no name": (robot("<link/>"), "f:2:1: <link>: the attribute 'name' is missing."),
    "empty name": (robot('<link name=" "/>'), 'f:2:1: the link has no name; expected name="...".'),
    "joint type": (
        robot(AB, joint("revolut")),
        "f:3:1: joint type 'revolut' is unknown; expected fixed, revolute, continuous, prismatic, floating, planar. "
        "Did you mean 'revolute'?",
    ),
    "no type": (robot(AB, '<joint name="j"/>'), "f:3:1: <joint>: the attribute 'type' is missing."),
    "zero axis": (
        robot(AB, joint("revolute", '\n<axis xyz="0 0 0"/>')),
        "f:4:1: joint 'j': Expected an axis of non-zero, finite length, found (0, 0, 0).",
    ),
    "two axes": (
        robot(AB, joint("revolute", '\n<axis xyz="1 0 0"/>\n<axis xyz="0 1 0"/>')),
        "f:5:1: <joint>: expected one <axis>, found 2.",
    ),
    "too few numbers": (
        robot(AB, joint("fixed", '\n<origin xyz="1 2"/>')),
        "f:4:1: <origin> xyz: expected 3 numbers, found '1 2'.",
    ),
    "both orientations": (
        robot(AB, joint("fixed", '\n<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>')),
        "f:4:1: <origin>: expected rpy or quat_xyzw, found both.",
    ),
    "zero quaternion": (
        robot(AB, joint("fixed", '\n<origin quat_xyzw="0 0 0 0"/>')),
        "f:4:1: <origin> quat_xyzw: expected a quaternion of length 1, found '0 0 0 0'.",
    ),
    "no mass": (
        inertial('<inertia ixx="1" iyy="1" izz="1"/>'),
        "f:2:16: link 'a': <inertial> has no <mass>.",
    ),
    "no inertia": (inertial('<mass value="1"/>'), "f:2:16: link 'a': <inertial> has no <inertia>."),
    "missing moment": (
        inertial('<mass value="1"/>\n<inertia ixx="1" iyy="1"/>'),
        "f:3:1: <inertia>: the attribute 'izz' is missing.",
    ),
    "negative mass": (
        inertial('\n<mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/>'),
        "f:3:1: link 'a': mass is -1 kg; expected zero or more.",
    ),
    "negative damping": (
        robot(AB, joint("revolute", '\n<dynamics damping="-1"/>')),
        "f:4:1: <dynamics> damping: expected zero or more, found -1.",
    ),
    "misspelt element": (
        robot('<link name="a">', "<inertail/></link>"),
        "f:3:1: unknown element <inertail> in <link>. Did you mean 'inertial'?",
    ),
    "misspelt attribute": (
        robot(AB, joint("fixed", '\n<origin xzy="1 2 3"/>')),
        "f:4:1: <origin>: unknown attribute 'xzy'. Did you mean 'xyz'?",
    ),
    "misplaced": (
        robot('<link name="a">', '<mass value="1"/></link>'),
        "f:3:1: <mass> stands in <link>; expected it in <inertial>.",
    ),
    "mimic of an unknown joint": (
        robot(AB, joint("revolute", '\n<mimic joint="elbo"/>', "elbow")),
        "f:4:1: joint 'elbow' mimics 'elbo', which does not exist. Did you mean 'elbow'?",
    ),
    "mimic of a fixed joint": (
        robot(ABC, joint("fixed"), joint("revolute", '<mimic joint="j"/>', "k", between("b", "c"))),
        "f:4:68: joint 'k' mimics 'j', a fixed joint; expected one with one coordinate.",
    ),
    "mimic in a circle": (
        robot(
            ABC,
            joint("revolute", '<mimic joint="k"/>'),
            joint("revolute", '<mimic joint="j"/>', "k", between("b", "c")),
        ),
        "f:4:68: joint 'j' mimics itself: j -> k -> j.",
    ),
    "mimic of a floating joint": (
        robot(AB, joint("floating", '\n<mimic joint="j"/>')),
        "f:4:1: joint 'j': a floating joint cannot mimic; expected a joint with one coordinate.",
    ),
    "nothing": ("", "f:1:1: the XML is broken: no element found."),
    "broken XML": ("<robot>\n  <link name='a'>\n</robot>", "f:3:3: the XML is broken: mismatched tag."),
    "no XML": ("model pendulum;", "f:1:1: the XML is broken: syntax error."),
    "surrogate": ("<robot name='\ud800'/>", "f:1:1: the XML is broken: "),
    "deep": ("<robot>" + "<link>\n" * 300, "f:200:1: elements are nested deeper than 200."),
    "document type": (
        '<?xml version="1.0"?>\n<!DOCTYPE robot SYSTEM "file:///etc/hostname">\n<robot/>',
        "f:2:46: document types and entities are not read, for safety; remove <!DOCTYPE ...>.",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]><robot name="&e;"/>',
        "f:1:13: document types and entities are not read, for safety",
    ),
    "billion laughs": (
        "<!DOCTYPE r [<!ENTITY a0 'ha'>"
        + "".join(f"<!ENTITY a{k + 1} '{f'&a{k};' * 10}'>" for k in range(30))
        + "]><robot name='&a30;'/>",
        "f:1:13: document types and entities are not read, for safety",
    ),
    "entity without document type": ("<robot name='&e;'/>", "f:1:1: the XML is broken: undefined entity."),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_broken_file_is_refused_with_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as caught:
        urdf.reads(text, file="f")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert caught.value.location is not None


@pytest.mark.parametrize("number", ["", "x", "1 2", "1,5", "nan", "inf", "1e999", "1_0", "0x1", "٣", "${pi}"])
def test_what_is_no_finite_decimal_number_is_refused(number: str) -> None:
    with pytest.raises(kn.ModelError, match=re.escape(f"<mass> value: expected 1 number, found '{number}'.")):
        urdf.reads(inertial(f'<mass value="{number}"/><inertia ixx="1" iyy="1" izz="1"/>'))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_bytes(b"<robot name='\xff'/>")
    with pytest.raises(kn.ModelError, match=r"robot\.urdf:1:14: the XML is broken: not well-formed"):
        kn.load(tmp_path / "robot.urdf")
    with pytest.raises(kn.ModelError, match=r"robt\.urdf: there is no such file\. Did you mean 'robot\.urdf'\?"):
        kn.load(tmp_path / "robt.urdf")
    with pytest.raises(kn.ModelError, match=r"the file cannot be read \(Is a directory\)"):
        urdf.read(tmp_path)


def test_an_encoding_declared_in_the_file_is_obeyed(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-16", "iso-8859-5"):
        file = tmp_path / f"{encoding}.urdf"
        file.write_bytes(
            f'<?xml version="1.0" encoding="{encoding}"?><robot name="Нога"><link name="a"/></robot>'.encode(encoding)
        )
        assert kn.load(file).name == "Нога"
    assert (
        urdf.reads('<?xml version="1.0" encoding="iso-8859-5"?><robot name="Нога"><link name="a"/></robot>').name
        == "Нога"
    )


# -- files of any content ---------------------------------------------------------------------------------------------


def outcome(text: str) -> kn.System | None:
    """The system, or None for what was refused in one sentence; any other exception is a failure."""
    try:
        return quietly(text, floating=len(text) % 2 == 0)
    except kn.KinetaError as error:
        if len(str(error).splitlines()) != 1:
            raise
        return None


def test_every_beginning_of_a_file_is_refused() -> None:
    assert all(outcome(FINGER[:k]) is None for k in range(len(FINGER)))
    assert outcome(FINGER) is not None


AWKWARD = '0|-0|1e308|-1e-320|nan|&lt;|&#0;|<|/>|"||root|floating|planar|pi|ё'.split("|")


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_a_system_or_refused(seed: int) -> None:
    """Tokens exchanged, doubled, dropped, and replaced by others or by awkward ones; what is read can be written."""
    rng = random.Random(seed)
    tokens = re.findall(r"[\w.-]+|\s+|.", FINGER)
    systems = []
    for _ in range(300):
        mutant = tokens.copy()
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(mutant))
            mutant[k : k + rng.randint(0, 2)] = [rng.choice([rng.choice(tokens), rng.choice(AWKWARD)])]
        systems.append(outcome("".join(mutant)))
    read = [s for s in systems if s is not None]
    assert 0 < len(read) < len(systems)
    assert all(kn.loads(kn.dumps(s)) == s for s in read)


@pytest.mark.parametrize("seed", range(2))
def test_values_of_any_size_are_read_or_refused(seed: int) -> None:
    """Only the values are changed, so that most files pass the parser and meet the mechanics."""
    rng = random.Random(seed)
    values = list(re.finditer(r'(?<==")[^"]*', FINGER))
    others = [v.group() for v in values] + AWKWARD[:4] + ["1e-300", "1e200 0 1e-200", "-1e300"]
    read = 0
    for _ in range(300):
        v = rng.choice(values)
        system = outcome(FINGER[: v.start()] + rng.choice(others) + FINGER[v.end() :])
        if system is not None:
            read += 1
            assert kn.loads(kn.dumps(system)) == system
    assert 0 < read < 300


def test_a_long_chain_of_links_and_mimics_is_read() -> None:
    n = 2000
    links = [f'<link name="l{k}"/>' for k in range(n)]
    joints = [
        joint("revolute", f'<mimic joint="j{k - 1}"/>' if k > n - 100 else "", f"j{k}", between(f"l{k}", f"l{k + 1}"))
        for k in range(n - 1)
    ]
    assert urdf.reads(robot(*links, *joints)).nv == n - 100 + 1


#: Files of the package that no reader can make sense of, with the reason.
UNREADABLE = {
    "alex_psyonic_hands.urdf": "joint 'Left_index_q2' mimics 'index_q1', which does not exist. Did you mean 'Left_index_q1'?",
    "ur3.urdf": "expected one root link, found no links at all.",
}


def test_all_robots_of_the_package_are_read_and_written() -> None:
    """Read, written in the text language, read again: the same system."""
    files = sorted(ROBOTS.rglob("*.urdf"))
    assert len(files) > 60
    refused = {}
    for file in files:
        try:
            system, notes = urdf.read_with_report(file)
        except kn.ModelError as error:
            refused[file.name] = str(error).partition(": ")[2]
            continue
        assert kn.loads(kn.dumps(system)) == system, file
        assert all(n.location.file == str(file) for n in notes)
    assert refused == UNREADABLE


# -- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = (ROOT / "docs" / "urdf.md").read_text(encoding="utf-8")


def test_the_document_names_every_element_and_attribute() -> None:
    attributes = {a for own, _ in urdf_survey._READ.values() for a in own}
    attributes |= {a for own in urdf_survey._LEFT_OUT_ATTRIBUTES.values() for a in own}
    elements = {e for table in (urdf_survey._READ, urdf_survey._SWITCHES) for e in table}
    elements |= {e for own in urdf_survey._LEFT_OUT.values() for e in own}
    assert [n for n in sorted(attributes) if f"`{n}`" not in DOCUMENT] == []
    assert [n for n in sorted(elements) if f"`<{n}>`" not in DOCUMENT] == []


def test_the_examples_of_the_document_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (crane,) = re.findall(r"```xml\n(.*?)```", DOCUMENT, re.DOTALL)
    Path("crane.urdf").write_text(crane, encoding="utf-8")
    Path("broken.urdf").write_text(
        crane.replace('<child link="load-hook"/>', '<child link="load-hok"/>'), encoding="utf-8"
    )
    blocks = re.findall(r"```console\n\$ kineta (.*?)\n(.*?)```", DOCUMENT, re.DOTALL)
    codes = []
    for arguments, shown in blocks:
        run = CliRunner().invoke(app, arguments.split())
        assert run.stderr + run.stdout == shown
        codes.append(run.exit_code)
    assert codes == [0, 1]


def test_load_takes_the_floating_base_too(tmp_path: Path) -> None:
    file = tmp_path / "box.urdf"
    file.write_text('<robot name="box"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
                    'iyy="1" iyz="0" izz="1"/></inertial></link></robot>')  # fmt: skip
    assert kn.load(file, floating=True).nv == 6
    with pytest.raises(kn.ArgumentError, match=r"floating=True is for URDF robots; in .kin write a motion Free"):
        kn.load(tmp_path / "box.kin", floating=True)
