"""Robots in model files: what a file says is added to them, and closes their loops."""

from __future__ import annotations

from pathlib import Path

import pytest

import kineta as kn

LINK = '<link name="{}"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>'
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>'
)
ROBOT = f"""<robot name="pair">
{LINK.format("base")}{LINK.format("left")}{LINK.format("slide")}
{JOINT.format("turn", "continuous", "base", "left")}{JOINT.format("lift", "prismatic", "left", "slide")}
</robot>"""
TIED = """
include "pair.urdf";
parameters l = 0.5;
Rod ~ slide | Sx(l), Rz(q1) = m(1), Jz(0.1);
loop end : line between base axis (1, 0, 0) and Rod at (l, 0, 0);
initial turn = 0.3, lift = 0.1;
"""


@pytest.fixture(autouse=True)
def _robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pair.urdf").write_text(ROBOT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_a_model_file_adds_to_a_robot_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tied.kin").write_text(TIED, encoding="utf-8")
    system = kn.load(tmp_path / "tied.kin")
    assert system.coordinates == ("turn", "lift", "q1")
    assert kn.loads(kn.dumps(system)) == system
    assert "include" not in kn.dumps(system)
    assert kn.derive(system).expressions("multipliers").labels == ("lambda.end.u", "lambda.end.w")


def test_what_the_model_says_comes_before_what_the_robot_says() -> None:
    plain, own = kn.loads('include "pair.urdf";'), kn.loads('gravity 1; include "pair.urdf"; coordinates lift, turn;')
    assert [g.value for g in plain.gravity] == [0, 0, -9.81]
    assert [g.value for g in own.gravity] == [0, 0, -1]
    assert own.coordinates == ("lift", "turn")
    assert kn.loads('include "pair.urdf" floating;').coordinates == ("root", "turn", "lift")


BAD = [
    ('include "pear.urdf";', r"m\.kin:1:9: pear\.urdf: there is no such file\. Did you mean 'pair\.urdf'\?"),
    ('include "pair.kin";', r"m\.kin:1:9: expected the file of a robot, as in \"robot\.urdf\", found \"pair\.kin\""),
    ("include pair;", r"m\.kin:1:9: expected the name of a file in quotes, found 'pair'"),
    ('include "pair.urdf"; include "pair.urdf";', r"m\.kin:1:22: 'include' is given twice, first at m\.kin:1:1"),
    (
        'include "pair.urdf"; left | Rz(q1) = m(1);',
        r"Body 'left' \(m\.kin:1:22\): the name is taken by a body described before",
    ),
    ('include "pair.urdf" loose;', r"m\.kin:1:21: expected ';' or 'floating', found 'loose'"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        kn.loads(text, "m.kin")


def test_mistakes_in_the_robot_are_named_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "pair.urdf").write_text(ROBOT.replace('child link="left"', 'child link="lift"'), encoding="utf-8")
    with pytest.raises(kn.ModelError, match=r"pair\.urdf:3:59: joint 'turn': link 'lift' does not exist"):
        kn.loads(TIED, "m.kin")
