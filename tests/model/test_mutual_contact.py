"""The statement on many bodies that may touch each other: reading, writing, checks, and the same from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import kineta as kn
from kineta.model.body import Station
from kineta.model.contacts.mutual_contact import MOST_PLACES

BODIES = "parameters r = 0.1, mu = 0.5; for i in 1..3 : P[i] | Sx(x[i]), Sz(z[i]) = 1; Big | Sx(u), Sz(w) = 5;"
COORDINATES = "coordinates x[1], z[1], x[2], z[2], x[3], z[3], u, w;"
PILE = (
    "contact pile : ball = r among P[1..3] and ball = 2*r among Big at (0, 0, r),"
    "restitution = 0.3, friction = mu, overlap = 1 mm;"
)


def model(statement: str) -> kn.System:
    """A model with a *statement* on its second line."""
    return kn.loads(f"{BODIES} {COORDINATES}\n{statement}")


def test_it_is_written_back_and_the_same_from_python() -> None:
    system = model(PILE)
    (pile,) = system.contacts
    assert kn.loads(kn.dumps(system)) == system
    r = kn.symbol("r")
    shapes = [("ball", r, ["P[1]", "P[2]", "P[3]"]), ("ball", 2 * r, [Station("Big", (0, 0, r))])]
    law = {"restitution": 0.3, "friction": kn.symbol("mu"), "overlap": 0.001}
    assert kn.mutual_contact("pile", shapes, **law) == pile


MIXED = (
    "contact mix : box = 0.1, 0.2, 0.3 among P[1], P[2] and capsule = r, 0.4 among P[3] axis (1, 0, 0), Big axis (0, 0, 1)"
    " and plane among ground axis (0, 1, 2) and ball = r among Big at (0, 0, 1), friction = mu;"
)


def test_shapes_with_axes_are_written_back_and_the_same_from_python() -> None:
    system = model(MIXED)
    (mix,) = system.contacts
    assert kn.loads(kn.dumps(system)) == system
    r, at = kn.symbol("r"), Station("Big", (0, 0, 1))
    shapes = [
        ("box", (0.1, 0.2, 0.3), ["P[1]", "P[2]"]),
        ("capsule", (r, 0.4), ["P[3]"], (1, 0, 0)),
        ("capsule", (r, 0.4), ["Big"], (0, 0, 1)),
        ("plane", (), ["ground"], (0, 1, 2)),
        ("ball", r, [at]),
    ]
    assert kn.mutual_contact("mix", shapes, friction=kn.symbol("mu")) == mix


def test_a_pair_is_a_contact_of_the_shape_that_touches_the_other() -> None:
    pairs = {c.name: (c.shape, c.surface) for c in model(MIXED).contacts[0].pairs()}
    assert pairs["mix.P[1].P[2]"] == ("box", "box")
    assert pairs["mix.P[1].P[3]"] == ("capsule", "box")
    assert pairs["mix.ground.Big_2"] == ("ball", "plane")


def test_each_pair_has_a_name() -> None:
    system = model(PILE)
    (pile,) = system.contacts
    assert pile.count == 6
    assert pile.impacts(system)[:3] == ("pile.P[1].P[2]", "pile.P[1].P[3]", "pile.P[1].Big")
    assert kn.derive(system).contact_rows[:2] == ("pile.P[1].P[2].n", "pile.P[1].P[2].u")


def test_a_range_may_have_bounds_of_constants_and_indices() -> None:
    text = f"constants n = 3; {BODIES} {COORDINATES} for k in 1..2 : contact c[k] : ball = 0.1 among P[k..n];"
    assert [len(c.owners) for c in kn.loads(text).contacts] == [3, 2]


def test_laws_hold_for_its_rows() -> None:
    with pytest.warns(kn.KinetaWarning, match="of its equations without pile: only runs know contacts"):
        assert kn.verify(model(PILE), states=2, digits=0).holds


def test_a_model_verifies_without_a_contact_of_too_many_places() -> None:
    system = model("contact p : box = r, r, r among P[1..3], Big;")
    (pile,) = system.contacts
    assert pile.places == 6 * 84 > MOST_PLACES
    with pytest.warns(kn.KinetaWarning, match="of its equations without p: only runs know contacts"):
        assert kn.verify(system, states=2, digits=0).holds


def test_another_model_uses_it(tmp_path: Path) -> None:
    (tmp_path / "pile.kin").write_text(f"{BODIES} {COORDINATES} {PILE}")
    (tmp_path / "two.kin").write_text('use "pile.kin" as a; use "pile.kin" as b on ground at Sx(3);')
    one, other = kn.load(tmp_path / "two.kin").contacts
    assert one.owners == ("P[1]", "P[2]", "P[3]", "Big")
    assert one.rows(kn.load(tmp_path / "two.kin"))[0] == "a.pile.P[1].P[2].n"
    assert (one.shapes[0].shape, other.name) == ("ball", "b.pile")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("ball among P[1..3];", r"a ball has 1 size, its radius; found 0"),
        ("plane = 1 among ground axis (0, 0, 1) and ball = r among P[1];", r"a plane has no size; found 1"),
        ("boxes = 1, 1, 1 among P[1..3];", r"expected a shape \(ball, capsule, box, plane\).*box.*, found 'boxes'"),
        ("box = 1, 1 among P[1..3];", r"a box has 3 sizes, its side along x, side along y, side along z; found 2"),
        ("box = 1, 0, 1 among P[1..3];", r"expected a side along y above zero, found 0"),
        (
            "capsule = 0.1, 1 among P[1..3];",
            r"2:39: a capsule needs its axis, in the axes of its body, as in P\[1\] axis",
        ),
        ("ball = r among P[1..3] and plane among ground;", r"a plane needs its axis, .* as in ground axis \(0, 0, 1\)"),
        ("ball = r among P[1];", r"expected at least two bodies that may touch each other"),
        ("ball = r among P[1], P[1], P[2];", r"the place at 'P\[1\]' is given twice"),
        ("ball = r among P[1..4];", r"2:31: expected a point or a body, found 'P\[4\]'"),
        ("ball = r among P[3..1];", r"2:33: expected a range that rises, as in \[1..50\], found '\[3..1\]'"),
        ("ball = r among P[1..];", r"2:33: expected a range with both ends, as in \[1..50\], found '\[1..\]'"),
        ("ball = r among P[1..q];", r"expected an end of the range in 'P\[1..q\]' of whole numbers"),
        ("ball = -1 among P[1..3];", r"expected a radius above zero, found -1"),
        ("ball = 3 kg among P[1..3];", r"a size of the ball 'pile' must be a length \[m\], found a mass \[kg\]"),
        ("ball = x[1] among P[1..3];", r"'x\[1\]' has no place here; expected parameters only"),
        ("ball = r among P[1..3] axis (0, 0, 1);", r"a ball has no axis; leave it out at 'P\[1\]'"),
        ("ball = r among P[1..3], restitution = 2;", r"expected a restitution from 0 to 1, found 2"),
        ("ball = r among P[1..3], overlap = -1;", r"expected an overlap of zero or more, found -1"),
        ("ball = r among P[1..3], friction = 0.3, P[2];", r"2:56: expected options behind all places, found the place"),
        (
            "ball = r among P[1..3], stiffness = 3;",
            r"expected an option \(restitution, friction, static, overlap\), found 's",
        ),
        ("ball = r among P[1..3], friction = 0.5, static = 0.1;", r"expected static friction of at least the sliding"),
        (
            "ball = r between P[1..3] and ground axis (0, 0, 1);",
            r"2:33: expected a point or a body, found 'P\[1..3\]'\. A range stands behind 'among', as in among P\[1..3\], where "
            r"bodies may touch each other; elsewhere it is a repetition, as in for i in 1..3 : ... P\[i\] ...",
        ),
        ("ball = r between P[1];", r"found ';': 'between' has 'and' before what bears .* ground axis \(0, 0, 1\)\.$"),
        (
            "ball = r on plane between P[1], P[2];",
            r"found ';': 'between' has 'and' before .* ground axis \(0, 0, 1\)\.$",
        ),
        (
            "ball = r between P[1..3], friction = 0.3;",
            r"2:51: expected .*, found '=': 'between' has 'and' before what bears the others, .* as in among P\[1..3\]\.",
        ),
        (
            "ball = r between P[1..3], P[4];",
            r"2:46: expected ',' or 'and', found ';': .* 'among', as in among P\[1..3\], P\[4\]\.",
        ),
        (
            "ball = r among P[1..2] and P[3];",
            r"2:47: expected '=' or 'among', found ';': 'and' begins another shape, and bodies of one shape stand behind commas, "
            r"as in among P\[1..2\], P\[3\]\.",
        ),
        (
            "ball = r among P[1..2] and P[3], friction = 0.2;",
            r"2:47: .*, found ',': .* as in among P\[1..2\], P\[3\]\.",
        ),
    ],
)
def test_errors_are_sentences(statement: str, sentence: str) -> None:
    with pytest.raises(kn.ModelError, match=sentence):
        model(f"contact pile : {statement}")


def test_errors_of_python_are_sentences() -> None:
    for wrong in (3, None, "abc", [], [("ball", 0.1)], [3]):
        with pytest.raises(kn.ArgumentError, match="expected rows of a shape, its sizes and places, as in"):
            kn.mutual_contact("pile", wrong)
    with pytest.raises(kn.ModelError, match="expected a coefficient of friction of zero or more, found -1"):
        kn.mutual_contact("pile", [("ball", 0.1, ["A", "B"])], friction=-1)
    with pytest.raises(kn.ArgumentError, match=r"write kn\.symbol"):
        kn.mutual_contact("pile", [("ball", "x", ["A", "B"])])


def test_boxes_touch_at_many_places() -> None:
    bodies = "for i in 1..3 : A[i] | Free(a[i]) = 1, 1, 1, 1;"
    text = f"{bodies} contact pile : box = 1, 1, 1 among A[1..3] and plane among ground axis (0, 0, 1);"
    system = kn.loads(text)
    (pile,) = system.contacts
    assert pile.places == 3 * 84 + 3 * 8 == len(set(pile.impacts(system)))


def test_too_many_pairs_have_no_equations_of_their_own() -> None:
    system = kn.loads("for i in 1..40 : A[i] | Free(a[i]) = 1, 1, 1, 1; contact pile : ball = 0.1 among A[1..40];")
    assert system.contacts[0].rows(system) == ()
    with pytest.raises(
        kn.ModelError, match=r"'pile' is of 780 pairs .* 780 places, and at most 500 have equations .* 'moreau'"
    ):
        _ = kn.derive(system).contact_rows
