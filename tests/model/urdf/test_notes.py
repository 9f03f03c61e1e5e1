"""What is said of the parts of a URDF file that have no part in the motion."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import kineta as kn
from kineta.model.io import urdf
from tests.model.urdf.texts import ENDS, joint, noted, robot

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
    "limit of the drive": (
        joint("revolute", '<limit upper="1" effort="9"/>'),
        "attribute 'effort' of <limit> left out: is a matter of the drive",
        False,
    ),
    "no bounds": (joint("prismatic", "<limit/>"), "<limit> left out: it has no bounds", False),
    "bounds of a wheel": (
        joint("continuous", '<limit upper="1"/>'),
        "<limit> left out: a continuous joint has no use for it",
        False,
    ),
    "no room": (
        joint("revolute", '<limit lower="0"/>'),
        "<limit> ignored: the lower bound is not below the upper one",
        True,
    ),
    "zero outside": (
        joint("prismatic", '<limit lower="1" upper="2"/>'),
        "<limit> moves the start: zero is outside; the joint starts at the nearest bound",
        True,
    ),
    "fixed axis": (joint("fixed", '<axis xyz="0 0 0"/>'), "<axis> left out: a fixed joint has no use for it", False),
    "fixed mimic": (joint("fixed", '<mimic joint="?"/>'), "<mimic> left out: a fixed joint has no use for it", False),
    "fixed damping": (joint("fixed", '<dynamics damping="1"/>'), "<dynamics> left out: a fixed joint", False),
    "planar friction": (
        joint("planar", '<dynamics friction="1"/>'),
        "<dynamics> approximated: friction of a planar joint does not act",
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


def test_of_many_notes_the_first_are_warned_of_and_the_rest_counted() -> None:
    odd = " ".join(f'odd{k}="1"' for k in range(1000))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        urdf.reads(robot(f'<link name="a" {odd}/>'))
    said = [str(w.message) for w in caught]
    assert len(said) == urdf.WARNINGS + 1
    assert "attribute 'odd0' of <link> ignored" in said[0]
    assert said[-1].endswith("980 more such notes from here on; the report of kineta import has them all.")
