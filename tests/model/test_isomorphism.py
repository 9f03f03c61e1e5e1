"""Systems that are alike up to names and numbers: which are, and what they then have in common."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.model.transformations.isomorphism import isomorphisms, named_as

FIRST = (
    "gravity 9.81; parameters l = 1; A | Sx(2.5), Ry(a), Sz(-l) = 3; point Tip on A = (0.2, 0, 1); "
    "spring k = 4*l on sin(a) + 3*a;"
    "contact foot : point between Tip, A and ground axis (0, 0, 1), friction = 0.4; output x = Tip.x, f = lambda.foot.Tip.n;"
)


def firsts(*texts: str) -> list[int]:
    """The first system that is like each of the systems in *texts*."""
    return [one.first for one in isomorphisms([kn.loads(text).expanded for text in texts])]


def test_names_and_numbers_make_no_difference() -> None:
    second = FIRST.replace("l ", "length ").replace("-l)", "-length)").replace("*l ", "*length ").replace("2.5", "7.5")
    second = (
        second.replace("A ", "B ").replace("A,", "B,").replace("(a)", "(b)").replace("*a;", "*b;").replace("Tip", "End")
    )
    one, two = isomorphisms([kn.loads(FIRST), kn.loads(second)])
    assert (one.first, two.first) == (0, 0)
    assert two.names["A"] == "B"
    assert two.names["foot.Tip"] == "foot.End"
    assert named_as(two.names, "lambda.foot.Tip.u") == "lambda.foot.End.u"
    # The number that differs is a parameter of both; those that do not are numbers still.
    assert [p.value for p in one.system.parameters] == [1, 2.5]
    assert [p.value for p in two.system.parameters] == [1, 7.5]
    assert two.system.bodies[0].inertia.mass.value == 3
    assert one.system.parameter_names[1] == "2.5"


def test_a_system_alone_keeps_its_numbers() -> None:
    system = kn.loads(FIRST)
    assert isomorphisms([system])[0].system is system


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sin(a)", "cos(a)"),
        ("Tip.x", "Tip.z"),
        ("point between Tip, A", "ball = 0.1 between Tip, A"),
        ("3*a", "a"),
        ("Sx(2.5)", "Sx(-2.5)"),
        ("Ry(a)", "Rx(a)"),
        ("friction = 0.4", "friction = 0.4, restitution = 0.2"),
        ("axis (0, 0, 1)", "axis (0, 1, 1)"),
        ("lambda.foot.Tip.n", "lambda.foot.A.n"),
        ("k = 4*l", "k = 4"),
        ("gravity 9.81;", "gravity (0, 0, -9.81); damper d = 1 on a';"),
    ],
)
def test_what_tells_systems_apart(old: str, new: str) -> None:
    assert old in FIRST
    assert firsts(FIRST, FIRST.replace(old, new)) == [0, 1]


def test_components_of_places_are_no_names() -> None:
    """Though both have a coordinate of the name of the component."""
    text = "A | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z; output o = A.{};"
    assert firsts(text.format("x"), text.format("y")) == [0, 1]


def test_terms_stand_in_any_order() -> None:
    kn.loads("A | Sx(u) = 1; coordinates u; force f = w*z + u on u; parameters z = 1, w = 2;")
    texts = (f"A | Sx(x) = 1; coordinates x; force f = {f} on x; parameters m = 1;" for f in ("m*x + 3", "3 + x*m"))
    assert firsts(*texts, "A | Sx(u) = 1; coordinates u; force f = u*w + 3 on u; parameters w = 1;") == [0, 0, 0]


def test_signs_do_not_depend_on_which_symbol_is_older() -> None:
    kn.loads("A | Sx(u) = 1; coordinates u; force f = 77.5 - u on u;")
    text = "A | Sx({0}) = 1; coordinates {0}; force f = sin({1} - {0})/({0} - {1})^3 on {0};"
    assert firsts(text.format("u", 77.5), text.format("s", 78.5), text.replace("3", "2").format("s", 3)) == [0, 0, 2]


@pytest.mark.parametrize("name", ["Aaa", "Zzz"])
def test_vectors_stand_in_any_order(name: str) -> None:
    text = (
        "model m; coordinates x, z, s; parameters L = 6 m; Load | Sx(x), Sz(z) = 1 kg; Weight | Sx(1 m - s) = 2 kg;"
        "point Eye on ground = (-1 m, 0, 0); constraint rope : |r(Load) - r(Eye)| + |r(Load) - r(Weight)| + s = L;"
    )
    for old in ("Load", "Weight", "Eye"):
        assert firsts(text, text.replace(old, name)) == [0, 0], old
