"""Shapes, paths, forces and the direction of sight in the language and in Python: read, written, checked."""

from __future__ import annotations

import pytest

import kineta as kn
from tests.support import reads_back

HEAD = """model m; gravity 9.81;
parameters l = 1 m, r = 2 cm;
A | Ry(q), Sz(-l) = 1 kg;
point P on A = (0, 0, l);
point G on ground = (0, 0, 0);
spring leg = 10 N/m between A and ground at (1, 0, 0);
"""


def test_text_and_python_say_the_same() -> None:
    text = kn.loads(
        HEAD
        + """shape A = capsule(r) from P to (0, 0, 0) colour orange;
        shape A = box(10 cm, r, 3*r) at (0, 0, 10 cm) turned Rx(30 deg), R[0, 1, 1](0.2) colour "#aabbcc";
        shape A = disk(0.1) axis (0, 1, 0);
        shape ground = mesh "tool.stl" scale 0.001;
        show path of P; show force of leg; view from (1, -2, 1);"""
    )
    r, (point, _) = kn.symbol("r"), text.points
    turns = [kn.Rx(0.5235987755982988), kn.R((0, 1, 1), 0.2)]
    python = text.replace(
        appearance=[
            kn.shape("A", "capsule", r, start=point, end=(0, 0, 0), colour="orange"),
            kn.shape(text.bodies[0], "box", (0.1, r, 3 * r), at=(0, 0, 0.1), turns=turns, colour="#aabbcc"),
            kn.shape("A", "disk", 0.1, axis=(0, 1, 0)),
            kn.shape("ground", "mesh", file="tool.stl", scale=0.001),
            kn.mark("path", point),
            kn.mark("force", "leg"),
            kn.view((1, -2, 1)),
        ]
    )
    assert python == text
    assert hash(python) == hash(text)
    reads_back(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shape B = sphere(1);", "Shape 'B' (m.kin:7:7): body 'B' does not exist."),
        (
            "shape A = sphre(1);",
            "Shape 'A' (m.kin:7:11): expected a solid (box, sphere, capsule, cylinder, ellipsoid, disk, mesh, none), "
            "found 'sphre'. "
            "Did you mean 'sphere'?",
        ),
        ("shape A = sphere(2 kg);", "m.kin:7:18: a size of the sphere of 'A' must be a length [m], found a mass [kg]."),
        ("shape A = sphere(-1);", "Shape 'A' (m.kin:7:11): expected a radius above zero, found -1."),
        (
            "shape A = sphere(q);",
            "Shape 'A' (m.kin:7:18): the coordinate 'q' has no place here; expected parameters and constants only.",
        ),
        ("shape A = sphere(x0);", "Shape 'A' (m.kin:7:18): unknown symbol 'x0'."),
        (
            "shape A = box(1, 2);",
            "Shape 'A' (m.kin:7:11): expected box(side along x, side along y, side along z), found 1, 2.",
        ),
        ("shape A = box(1, 2, 3) axis (1, 0, 0);", "Shape 'A' (m.kin:7:11): a box has no axis; leave it out."),
        (
            "shape A = capsule(0.1, 1) from P to (0, 0, 0);",
            "Shape 'A' (m.kin:7:11): expected capsule(radius) between its ends, found 0.1, 1.",
        ),
        (
            "shape A = capsule(0.1) from P to G;",
            "m.kin:7:34: expected a point of 'A' for an end of the capsule of 'A', found 'G' of 'ground'.",
        ),
        (
            "shape A = capsule(0.1) from P to G at (1, 0, 0);",
            "m.kin:7:34: expected a point of 'A' for an end of the capsule of 'A', found 'G' of 'ground'.",
        ),
        (
            "shape A = disk(1) from P to (0, 0, 0) axis (1, 0, 0);",
            "Shape 'A' (m.kin:7:11): expected both ends of a disk, which give its place and direction, "
            "without at, axis and turned.",
        ),
        ("shape A = mesh;", "Shape 'A' (m.kin:7:11): a mesh needs its file, as in mesh \"tool.stl\"."),
        ('shape A = sphere(1) "a.stl";', "Shape 'A' (m.kin:7:11): a sphere has no file; leave it out."),
        ("shape A = sphere(1) scale 2;", "Shape 'A' (m.kin:7:11): a sphere has no scale; its sizes are lengths."),
        (
            "shape A = sphere(1) colour ornge;",
            "Shape 'A' (m.kin:7:28): expected a colour by its name, or as \"#e08a3c\", found 'ornge'. Did you mean 'orange'?",
        ),
        (
            "shape A = sphere(1) turned Sx(1);",
            "m.kin:7:28: expected turns of the sphere of 'A', as in Rx(30 deg) or R[0, 1, 1](30 deg), found 'Sx'.",
        ),
        (
            "shape A = cylinder(1, 1) turned Rz(3 m);",
            "m.kin:7:36: an angle of the cylinder of 'A' must be an angle or a number without dimension, found a length [m].",
        ),
        ("shape A = none colour red;", "Shape 'A' (m.kin:7:11): none is nothing to be placed, turned or coloured."),
        ("show way of A;", "Show 'way' (m.kin:7:6): expected what to show (path, force), found 'way'."),
        (
            "show path of B;",
            "Show 'path' (m.kin:7:14): expected a body or point, found 'B'. There are A, ground, P, G.",
        ),
        (
            "show force of lag;",
            "Show 'force' (m.kin:7:15): expected an element with a line of action, found 'lag'. Did you mean 'leg'?",
        ),
        ("view at (1, 2, 3);", "m.kin:7:6: expected 'from', as in view from (1, -2, 1), found 'at'."),
        ("view from (0, 0, 0);", "m.kin:7:11: Expected an axis of non-zero, finite length, found (0, 0, 0)."),
        (
            "view from (1, 0, 0); view from (0, 1, 0);",
            "View 'from' (m.kin:7:27): is given twice, first before (m.kin:7:6).",
        ),
    ],
)
def test_what_makes_no_sense_is_said_with_its_place(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(HEAD + text, "m.kin")
    assert str(raised.value) == message


def test_parameters_of_shapes_are_used() -> None:
    from kineta.model.checks.unused_names import unused_declarations

    assert list(unused_declarations(kn.loads(f"{HEAD}shape A = sphere(r);"))) == []


def test_named_expressions_stand_in_shapes() -> None:
    system = kn.loads(f"{HEAD}let big = 3*r; shape A = sphere(big);")
    assert str(system.expanded.appearance[0].sizes[0]) == "3*r"
