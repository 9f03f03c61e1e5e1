"""Components of systems: what couples bodies, what does not, and systems of their own that move as they do in the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import Expr
from kineta.model.transformations.components import Components

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Three pendulums, the last of which carries another.
PENDULUMS = """gravity 9.81; parameters l = 1, m = 2;
Wall | Sx(2*t) = 3; A | Ry(a), Sz(-l) = m; B ~ Wall | Ry(b), Sz(-l) = 2*m; C | Ry(c), Sz(-1) = 1; D ~ C | Ry(d), Sz(-1) = 1;
point P on Wall = (0, 0, 1); coordinates b, a, c, d;
"""


def split(text: str, *groups: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The coordinates of each component."""
    return [own.coordinates for own in Components(kn.loads(PENDULUMS + text), groups).systems]


def test_what_one_body_carries_belongs_to_it_and_the_ground_carries_none() -> None:
    assert split("") == [("b",), ("a",), ("c", "d")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spring k = 2 on a - b;", [("b", "a"), ("c", "d")]),
        ("spring k = 2 between A and D;", [("b",), ("a", "c", "d")]),
        ("force F on A = (1, 0, 0) in B;", [("b", "a"), ("c", "d")]),
        ("force F on A = (sin(c), 0, 0);", [("b",), ("a", "c", "d")]),
        ("constraint even : a = c;", [("b",), ("a", "c", "d")]),
        ("contact touch : point between A and B axis (0, 0, 1);", [("b", "a"), ("c", "d")]),
        ("output turns = w(A in B).x;", [("b", "a"), ("c", "d")]),
        ("let both = a + b; spring k = 2 on both;", [("b", "a"), ("c", "d")]),
        ("when up : a >= 1 : b' = 0;", [("b", "a"), ("c", "d")]),
        ("when up : a >= 1 : m = 2;", [("b", "a"), ("c", "d")]),
        ("when up : a >= 1 : l = 2; when down : D.z <= -1 and l == 2 : stop;", [("b", "a", "c", "d")]),
        (
            "contact foot : point between A and ground axis (0, 0, 1); when up : foot strikes : d' = 0;",
            [("b",), ("a", "c", "d")],
        ),
        # What all of them may know couples none.
        ("spring k = 2 between A and P; spring h = 2 between B and P;", [("b",), ("a",), ("c", "d")]),
        ("force f = sin(t) on a; force g = sin(t) on b;", [("b",), ("a",), ("c", "d")]),
        ("contact one : point between A and ground axis (0, 0, 1);", [("b",), ("a",), ("c", "d")]),
        (
            "when up : a >= 1 : stop; when down : c <= -1 : c' = 0; when late : t >= 1 : stop;",
            [("b",), ("a",), ("c", "d")],
        ),
        ("output sum = a + b, E = energy, far = A.x - P.x;", [("b",), ("a",), ("c", "d")]),
    ],
)
def test_what_depends_on_two_couples_them(text: str, expected: list[tuple[str, ...]]) -> None:
    assert split(text) == expected


def test_names_that_are_needed_together_are_of_one_component() -> None:
    assert split("", ("a'", "D.vx")) == [("b",), ("a", "c", "d")]
    assert split("", ("energy",)) == [("b", "a", "c", "d")]


def test_quasi_velocities_couple_what_they_add() -> None:
    text = "quasi u = a' + b'; quasi w = a' - b'; quasi x = c'; quasi y = d';"
    assert split(text) == [("b", "a"), ("c", "d")]


def test_parts_hold_the_whole_once() -> None:
    whole = kn.loads(
        PENDULUMS + "spring k = 2 on a; spring r = 1 between Wall and ground; initial c = 1, a = l; "
        "output s = a + D.x + t, E = energy, o = a'', n = m;"
    )
    found = Components(whole)
    b, a, _ = found.systems
    assert [own.inertia.mass.value for own in b.bodies if own.name == "Wall"] == [3]
    assert [own.inertia.mass.value for own in a.bodies if own.name == "Wall"] == [0]
    assert [[e.name for e in own.elements] for own in found.systems] == [["r"], ["k"], []]
    assert [own.initial.keys() for own in found.systems] == [[], ["a"], ["c"]]
    assert [own.parameter_names for own in found.systems] == [("l", "m"), ("l", "m"), ()]
    assert [own.outputs.keys() for own in found.systems] == [["n"], ["o"], ["D.x"]]
    assert [o.name for o in found.over] == ["s", "E"]
    assert found.places(["D.x", "a"]) == [2, 1]
    assert found.places(["t"]) == [0]


def test_a_model_in_one_piece_is_its_own_component() -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    assert Components(system).systems[0] is system


def test_accelerations_depend_on_their_own_component() -> None:
    whole = kn.loads(PENDULUMS + "spring k = 2 on a; spring h = 2 between B and P; damper g = 0.3 on d';")
    equations = kn.derive(whole)
    forward = equations.expressions("forward")
    for own in Components(whole).systems:
        known = {*own.q_names, *own.v_names, "t", *whole.parameter_names, *(f"tau[{n}]" for n in own.v_names)}
        for name in own.v_names:
            ref = forward.refs[whole.v_names.index(name)]
            assert known.issuperset(Expr(equations.graph, ref).symbols())


def test_components_accelerate_as_the_whole_does() -> None:
    whole = kn.loads(PENDULUMS + "spring k = 2 on a; damper g = 0.3 on b' ; force f = sin(t) on c;")
    rng = np.random.default_rng(0)
    q, v = rng.standard_normal((2, whole.nq))
    together = kn.derive(whole).function("forward")(0.3, q, v, np.zeros(whole.nv), p={"l": 0.7})
    for own in Components(whole).systems:
        places = [whole.q_names.index(n) for n in own.q_names]
        given = {"p": {"l": 0.7}} if own.parameters else {}
        alone = kn.derive(own).function("forward")(0.3, q[places], v[places], np.zeros(own.nv), **given)
        np.testing.assert_allclose(alone, together[places], rtol=1e-12, atol=1e-12)


def test_a_coordinate_with_the_name_of_a_body_belongs_to_what_it_moves() -> None:
    """As joints and links of a robot that have the same names: the name stands for both."""
    system = kn.loads("""
        A | Rz(A), Sx(1) = 1; B | Sy(0.3) = 1; C ~ A | Rx(B), Sy(1) = 1, 0.1, 0.1, 0.1; D | Ry(q), Sz(1) = 1;
        point E on D = (0, 0, 1); F ~ A | Ry(E) = 1, 0.1, 0.1, 0.1; coordinates A, B, q, E;
    """)
    assert [own.q_names for own in Components(system).systems] == [("A", "B", "q", "E")]
    system = kn.loads(
        "A | Rz(A), Sx(1) = 1; B ~ A | Sy(0.3) = 1; C ~ B | Rx(B), Sy(1) = 1; D | Ry(q), Sz(1) = 1; coordinates A, B, q;"
    )
    assert [own.q_names for own in Components(system).systems] == [("A", "B"), ("q",)]
