"""Loops and rolling in the text language and from Python: read, written, and refused."""

from __future__ import annotations

import pytest

import kineta as kn

FOURBAR = """
parameters a = 0.3, b = 0.9, c = 0.7, d = 0.8;
Crank | Rz(q1) = m(1), Jz(0.02);
Coupler ~ Crank | Sx(a), Rz(q2) = m(1), Jz(0.2);
Rocker | Sx(d), Rz(q3) = m(1), Jz(0.1);
frame Mark ~ Rocker | Sx(0.1), Rx(30 deg);
point Pin on Rocker = (c, 0, 0);
"""
CLOSED = [
    "loop E : ball between Coupler at (b, 0, 0) and Pin;",
    "loop E : revolute between Coupler at (b, 0, 0) axis (0, 0, 2) and Pin;",
    "loop E : universal between Coupler axis (0, 0, 1) and Mark axis (1, 1, 0);",
    "loop E : prismatic between ground axis (1, 0, 0) and Mark;",
    "loop E : rigid between Coupler and Mark;",
    "loop E : line between ground axis (1, 0, 0) and Pin;",
    "loop E : plane between Crank axis (1, 2, 0) and Pin;",
    "loop E : distance = a + 0.1*sin(t) between Crank and Pin;",
    "loop E : gear = -a/b between Crank axis (0, 0, 1) and Rocker;",
    "rolling W : wheel = a between Rocker axis (0, 0, 1) and ground at (0, -a, 0) axis (0, 1, 0);",
    "rolling W : torus = a, 1 cm between Pin axis (0, 0, 1) and Crank axis (0, 1, 0);",
    "rolling W : ball = a between Pin and Mark axis (0, 1, 0) in Crank;",
    "rolling W : ellipsoid = a, b, c between Pin and ground axis (0, 1, 0);",
]


@pytest.mark.parametrize("statement", CLOSED)
def test_what_is_written_reads_back(statement: str) -> None:
    system = kn.loads(FOURBAR + statement)
    assert kn.loads(kn.dumps(system)) == system
    assert len(system.constraints) == 1


def test_one_axis_stands_for_both_and_is_written_for_both() -> None:
    system = kn.loads(FOURBAR + "loop E : revolute between Coupler at (b, 0, 0) axis (0, 0, 2) and Pin;")
    assert "axis (0, 0, 1) and Pin axis (0, 0, 1);" in kn.dumps(system)


def test_loops_from_python_are_those_of_the_language() -> None:
    read = kn.loads(FOURBAR + CLOSED[1] + "rolling W : ball = a between Pin and ground axis (0, 1, 0);")
    points = {p.name: p for p in read.points}
    hinge = kn.loop("E", "revolute", kn.station("Coupler", (kn.symbol("b"), 0, 0)), points["Pin"], axis=(0, 0, 3))
    ball = kn.rolling("W", "ball", kn.symbol("a"), points["Pin"], "ground", normal=(0, 2, 0))
    assert kn.loads(FOURBAR).replace(name=read.name, constraints=[hinge, ball]) == read


BAD = [
    ("loop E : revolute between Coupler and Shaft;", r":8:39: expected a point or a body, found 'Shaft'"),
    (
        "loop E : bal between Coupler and Pin;",
        r"Loop 'E' \(loops:8:10\): expected a joint \(ball, .*\), found 'bal'\. Did you mean 'ball'\?",
    ),
    ("loop E : hinge between Coupler and Pin;", r"Loop 'E' .*, found 'hinge'\. Did you mean 'revolute'\?"),
    (
        "loop E : ball between Rocker and Pin;",
        r"Loop 'E' \(loops:8:23\): expected two bodies that move against each other, found 'Rocker' twice\.",
    ),
    (
        "loop E : ball between Rocker and Mark;",
        r"'Rocker' and 'Mark' are fixed to each other; expected two bodies that move",
    ),
    (
        "loop E : revolute between Coupler and Pin;",
        r"a joint 'revolute' needs an axis at each place, 'Coupler' and 'Rocker', as in axis \(0, 0, 1\)",
    ),
    (
        "loop E : universal between Coupler axis (0, 0, 1) and Pin;",
        r"a joint 'universal' needs an axis at each place",
    ),
    ("loop E : line between Coupler and Pin axis (0, 0, 1);", r"a joint 'line' needs an axis at 'Coupler'"),
    ("loop E : ball between Coupler axis (0, 0, 1) and Pin;", r"a joint 'ball' has no axis; leave it out\."),
    (
        "loop E : line between Coupler axis (0, 0, 0) and Pin;",
        r":8:36: Expected an axis of non-zero, finite length",
    ),
    (
        "loop E : line between Coupler axis (q1, 0, 0) and Pin;",
        r"'q1' has no place here; expected parameters and constants only",
    ),
    (
        "loop E : distance between Coupler and Pin;",
        r"a joint 'distance' needs a distance, as in distance = 0\.5\.",
    ),
    (
        "loop E : distance = 0 between Coupler and Pin;",
        r"expected a distance above zero, found 0\. A joint 'ball' holds",
    ),
    (
        "loop E : distance = 2 s between Coupler and Pin;",
        r"a distance of loop 'E' must be a length \[m\], found a time",
    ),
    ("loop E : distance = q1' between Coupler and Pin;", r"the speed 'q1'' has no place here"),
    ("loop E : ball = 2 between Coupler and Pin;", r"a joint 'ball' takes no number, found '2'\."),
    (
        "loop E : gear = q1 between Crank axis (0, 0, 1) and Rocker;",
        r"'q1' has no place here; expected parameters only",
    ),
    (
        "rolling W : wheel = a between Rocker and ground axis (0, 1, 0);",
        r"a wheel needs its axis, as in 'Rocker axis \(0, 1, 0\)'\.",
    ),
    (
        "rolling W : wheel = a between Rocker axis (0, 0, 1) and ground;",
        r":8:57: the plane of rolling 'W' needs its normal",
    ),
    (
        "rolling W : ball = a between Rocker axis (0, 0, 1) and ground axis (0, 1, 0);",
        r"a ball has no axis; leave it out\.",
    ),
    ("rolling W : ball = a between Rocker and Mark axis (0, 1, 0) in Rod;", r"body 'Rod' does not exist"),
    (
        "rolling W : ball = a, b between Rocker and ground axis (0, 1, 0);",
        r"a ball has 1 size, radius, found a, b\.",
    ),
    (
        "rolling W : ball = a - a between Rocker and ground axis (0, 1, 0);",
        r"expected a radius above zero, found 0\.",
    ),
    (
        "rolling W : bowl = a between Rocker and ground axis (0, 1, 0);",
        r"expected a shape \(wheel, .*\), found 'bowl'\.",
    ),
    (
        "constraint E : q1 = q2; loop E : ball between Coupler and Pin;",
        r"Loop 'E' .*the name is taken by a constraint described",
    ),
]


@pytest.mark.parametrize(("statement", "message"), BAD)
def test_mistakes_are_named_with_their_place(statement: str, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        kn.loads(FOURBAR + statement, "loops")


IDLE = [
    (
        "loop E : plane between ground axis (0, 0, 1) and Pin;",
        r"Loop 'E': the motions of the model keep it in any position\. Leave it out\.",
    ),
    (
        "loop E : ball between Coupler at (b, 0, 1 cm) and Pin;",
        r"Loop 'E': no motion changes its component z, which stays -0\.01 instead of 0\. Give places that agree in it\.",
    ),
    (
        "loop E : gear = 2 between Crank axis (1, 0, 0) and Rocker;",
        r"Loop 'E': expected 'Crank' to turn against 'ground' about the axis of its gear only",
    ),
]


@pytest.mark.parametrize(("statement", "message"), IDLE)
def test_a_loop_that_no_motion_can_close_is_refused(statement: str, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        kn.derive(kn.loads(FOURBAR + statement)).expressions("constraints")
