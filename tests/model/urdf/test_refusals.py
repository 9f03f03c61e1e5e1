"""URDF files that are refused, and the sentence that says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kineta as kn
from kineta.model.io import urdf
from tests.model.urdf.texts import AB, ABC, A, between, inertial, joint, robot

REFUSED = {
    "not a robot": ("<robo/>", "f:1:1: expected <robot>, found <robo>. Did you mean 'robot'?"),
    "another format": (
        "<sdf version='1.7'><model/></sdf>",
        "f:1:1: expected <robot>, found <sdf>: a description in SDFormat",
    ),
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
    with pytest.raises(kn.ModelError, match=r"expected a model file, found a folder"):
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
