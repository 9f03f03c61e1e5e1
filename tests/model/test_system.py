"""Systems built in Python: what is left unsaid and found, and what is refused."""

from __future__ import annotations

import copy
import html
import pickle
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.model import name_inference
from tests.support import EXAMPLES

q, q2, t = kn.symbol("q"), kn.symbol("q_2"), kn.symbol("t")
m, l, w, phi = (kn.symbol(n) for n in ("m", "l", "w", "phi"))


def system(*motions: Any, **more: Any) -> kn.System:
    return kn.System("S", [kn.body("A", motions or [kn.Rz(q)], kn.inertia(m))], **more)


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize(
    ("motions", "parameters", "coordinates"),
    [
        ([kn.Rz(phi), kn.Sx(l)], None, ("phi",)),  # what turns is a coordinate
        ([kn.Sx(l), kn.Sy(q2)], None, ("q_2",)),  # what shifts is one if it is called so
        ([kn.Rz(w * t + q)], {"w": 1, "m": 1}, ("q",)),  # a declared parameter is none
        ([kn.Rz(q2 - phi), kn.Sx(kn.cos(q))], None, ("phi", "q_2", "q")),  # of one motion by name
        ([kn.Free("hull"), kn.Rx(t)], None, ("hull",)),
        ([kn.Sx(l), kn.Ball("b"), kn.Ry(phi)], None, ("b", "phi")),
    ],
)
def test_coordinates_are_found(motions: Any, parameters: Any, coordinates: tuple[str, ...]) -> None:
    assert system(*motions, parameters=parameters).coordinates == coordinates


def test_a_coordinate_near_a_parameter_is_refused_unless_something_tells_that_it_is_meant() -> None:
    sentence = "Body 'A': 'phi' is no declared parameter. Did you mean 'phi0'? If it is a coordinate, list it: "
    with pytest.raises(kn.ModelError) as raised:
        system(kn.Rz(phi), parameters={"phi0": 1, "m": 1})
    assert str(raised.value) == f"{sentence}coordinates=['phi']"
    for said in (
        {"initial": {"phi": kn.symbol("phi0")}},
        {"elements": [kn.damper("d", 1, kn.symbol("phi'"))]},
        {"outputs": {"rate": kn.symbol("phi'")}},
        {"coordinates": ["phi"]},
    ):
        assert system(kn.Rz(phi), parameters={"phi0": 1, "m": 1}, **said).coordinates == ("phi",)
    assert system(kn.Rz(q), kn.Ry(phi), parameters={"q0": 1, "psi_1": 1, "m": 1}).coordinates == ("q", "phi")


@pytest.mark.parametrize("said", ["initial x = 1;", "initial x' = 1;", "damper d = 1 on x';", "output rate = 2*x';"])
def test_a_name_with_a_speed_or_an_initial_value_is_a_coordinate(said: str) -> None:
    assert kn.loads(f"A | Sx(x - 2) = 1; {said}").coordinates == ("x",)


def test_units_hold_for_coordinates_that_are_found_by_their_speed() -> None:
    with pytest.raises(kn.ModelError, match="the stiffness of spring 's' on a length"):
        kn.loads("A | Sx(x) = 1; spring s = 4 N*m on x - 5 cm; initial x = 1;")


DOUBTS = [
    (
        "A | Sx(x), Sy(y), Rz(phi) = m, 0, 0, J;",
        "Model 'm': 'x', 'y' stand in shifts only and are taken for parameters. List the coordinates to say what is "
        "meant: coordinates phi; or coordinates phi, x, y;",
    ),
    (
        "A | Sx(a + b) = 1; spring s = k on a - b;",
        "Model 'm': 'a', 'b' stand in shifts only and are taken for parameters. List the coordinates to say what is "
        "meant: coordinates a, b;",
    ),
    (
        "A | Rz(W*t), Ry(q1) = 1, 1, 1, 1;",
        "Model 'm': 'W' stands in an angle beside other names and is taken for a coordinate. List the coordinates to say "
        "what is meant: coordinates q1, W; or coordinates q1;",
    ),
    (
        "A | Rz(asin(r*sin(phi))) = Jz(1);",
        "Model 'm': 'phi', 'r' stand in an angle beside other names and are taken for coordinates. List the coordinates "
        "to say what is meant: coordinates phi, r;",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), DOUBTS)
def test_what_nothing_tells_apart_is_not_taken_without_a_word(text: str, sentence: str) -> None:
    with pytest.warns(kn.KinetaWarning) as said:
        kn.loads(text, "m.kin")
    assert [str(w.message) for w in said] == [sentence]
    assert said[0].filename == __file__


CERTAIN = [
    "A | Sx(l), Rz(phi - 2*psi/3) = m, J, J, J, com = (l, 0, 0);",
    "A | Sx(l), Ry(q1) = m; point P on A = (l, 0, 0);",
    "A | Sx(x), Ry(phi) = m; coordinates phi, x;",
    "A | Sx(x), Ry(phi) = m; coordinates phi;",
    "parameters x, m; A | Sx(x), Ry(q1) = m;",
    "A | Sx(x), Ry(phi) = m; initial x = 1;",
    "A | Rz(2*sin(phi)) = Jz(J);",
    "A | Rz(q1*q2) = Jz(J);",
]


@pytest.mark.parametrize("text", CERTAIN)
def test_what_something_tells_is_taken_without_a_warning(text: str) -> None:
    assert kn.loads(text).nv


def test_doubts_are_said_once_and_in_the_words_of_python() -> None:
    bodies = [kn.body("A", [kn.Sx(l), kn.Ry(phi)], kn.inertia(m))]
    with pytest.warns(kn.KinetaWarning, match=r"coordinates=\['phi'\] or coordinates=\['phi', 'l'\]$") as said:
        found = kn.System("S", bodies)
    assert len(said) == 1
    assert found.replace(name="T").fixed([]).taken == {
        "phi": "in an angle",
        "l": "in shifts only",
        "m": "where only parameters may stand",
    }


def test_a_system_knows_whether_its_coordinates_were_found() -> None:
    assert system(kn.Rz(q)).inferred
    assert system(kn.Rz(q)).replace(name="T").inferred
    assert not system(kn.Rz(q)).replace(coordinates=["q"]).inferred
    assert not system(kn.Rz(q), coordinates=["q"]).inferred


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
def test_the_printed_models_need_no_declarations() -> None:
    text = "Колонна | Rz(Fi1), Sz(h) = Jz(J_1z);\nПлечо~Колонна | Sz(h1), Ry(Fi2), Sx(l2) = m2, J_2x, J_2z, J_2y;"
    found = kn.loads(text)
    assert found.coordinates == ("Fi1", "Fi2")
    assert found.parameter_names == ("h", "J_1z", "h1", "l2", "m2", "J_2x", "J_2z", "J_2y")
    assert found.bodies[0].inertia.lumped
    assert found.bodies[1].inertia.moments == tuple(kn.symbol(n) for n in ("J_2x", "J_2z", "J_2y"))


def test_parameters_are_what_is_no_coordinate_speed_point_or_time() -> None:
    found = system(
        kn.Rz(q + t),
        elements=[kn.spring("s", kn.symbol("k"), kn.symbol("A.x") - l), kn.damper("d", 1, kn.symbol("q'"))],
        outputs={"energy": kn.symbol("energy"), "e": w},
        initial={"q": kn.symbol("start")},
    )
    assert found.parameter_names == ("m", "k", "l", "start", "w")


def test_a_base_comes_before_what_it_carries() -> None:
    bodies = [kn.body("C", [], base="B"), kn.body("B", [], base="A"), kn.body("D", []), kn.body("A", [])]
    assert [b.name for b in kn.System("S", bodies).tree] == ["D", "A", "B", "C"]


def test_blocks_of_names_follow_the_order_of_the_coordinates() -> None:
    found = system(kn.Rz(q), kn.Ball("b"), coordinates=["b", "q"])
    assert found.q_names == ("b.qw", "b.qx", "b.qy", "b.qz", "q")
    assert found.v_names == ("b.wx", "b.wy", "b.wz", "q'")
    assert (found.nq, found.nv) == (5, 4)
    assert name_inference.units(found) == {
        "q": "rad",
        "q'": "rad/s",
        **{f"b.q{x}": "" for x in "wxyz"},
        **{f"b.w{x}": "rad/s" for x in "xyz"},
    }


def test_a_quaternion_is_checked_where_it_has_a_value() -> None:
    parts = {"b.qw": kn.cos(phi), "b.qx": kn.sin(phi)}
    assert system(kn.Ball("b"), initial=parts).parameter_names == ("m", "phi")
    with pytest.raises(
        kn.ModelError, match=r"^Model 'S': the initial quaternion of 'b' has the length 0\.5; expected 1\."
    ):
        system(kn.Ball("b"), parameters={"m": 1, "h": 0.5}, initial={"b.qw": kn.symbol("h")})


def test_fixed_parameters_leave_the_array_p() -> None:
    found = system(kn.Rz(q), kn.Sx(l), parameters={"m": 1, "l": 2}).fixed(["l"])
    assert found.parameter_names == ("m",)
    assert kn.loads(kn.dumps(found)) == found
    with pytest.raises(kn.ArgumentError, match=r"^Model 'S' has no parameter 'M'\. Did you mean 'm'\?$"):
        found.fixed(["M"])


def test_numbers_of_numpy_are_numbers() -> None:
    found = system(kn.R(np.array([0, 3, 4]), q), parameters={"m": np.float64(1.5)}, gravity=np.array([0, 0, -9.81]))
    assert kn.loads(kn.dumps(found)) == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameters": {"m": float("inf")}}, "Parameter 'm': expected a finite number, found inf."),
        ({"parameters": {"m": "2 kg"}}, "Parameter 'm': expected a finite number, found '2 kg'."),
        ({"parameters": {"m": True}}, "Parameter 'm': expected a finite number, found True."),
        ({"parameters": {"m_1": 1}}, "Body 'A': unknown symbol 'm'."),
        (
            {"parameters": {"m": 1}, "outputs": {"x": kn.symbol("A.X")}},
            "Output 'x': unknown symbol 'A.X'. Did you mean 'A.x'?",
        ),
        ({"outputs": {"the x": q}}, "Output 'the x': expected a name such as x, P.x or q1'."),
        ({"points": [kn.point("left tip", "A")]}, "Point 'left tip': expected a name of letters, digits and '_', "),
        ({"points": [kn.point("P", "B")]}, "Point 'P': body 'B' does not exist."),
        ({"points": [kn.point("P", "A"), kn.point("P", "A")]}, "Point 'P': the name is taken by a point described"),
        ({"elements": [kn.force("f", "B", (1, 0, 0))]}, "Force 'f': body 'B' does not exist."),
        ({"elements": [kn.line_damper("d", 1, "A", "a")]}, "Damper 'd': body 'a' does not exist. Did you mean 'A'?"),
        ({"coordinates": []}, "Body 'A': unknown symbol 'q'."),
        ({"initial": {"q": q}}, "Initial value 'q': the coordinate 'q' has no place here; expected parameters only."),
        ({"initial": {"p": 0}}, "Model 'S': initial 'p' is neither a coordinate nor a speed."),
        ({"gravity": (0, 0, t)}, "Model 'S': the time 't' has no place here; expected parameters only."),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_wrong_description_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        system(**({"parameters": {"m": 1}} | arguments))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("name", ["my robot", "2dof", "", "a-b", "модель!"])
def test_names_are_what_the_language_can_say(name: str) -> None:
    sentence = f"'{name}': expected a name of letters, digits and '_', not starting with a digit."
    with pytest.raises(kn.ModelError) as raised:
        kn.System(name, [kn.body("A", [kn.Rz(q)])])
    assert str(raised.value) == f"Model {sentence}"
    with pytest.raises(kn.ModelError) as raised:
        kn.System("S", [kn.body(name, [kn.Rz(q)])])
    assert str(raised.value) == f"Body {sentence}"


def test_a_statement_is_no_name_of_a_body() -> None:
    with pytest.raises(kn.ModelError, match=r"^Body 'spring': the name is taken by a statement of the language\. "):
        kn.System("S", [kn.body("spring", [kn.Rz(q)], kn.inertia(1))])


def test_vectors_have_three_components() -> None:
    with pytest.raises(kn.ArgumentError, match=r"^Expected three components, found 2: \(1, 0\)\.$"):
        kn.force("f", "A", (1, 0))
    with pytest.raises(kn.ModelError, match=r"^Expected an axis of three components, found 2: \(1\.0, 0\.0\)\.$"):
        kn.S((1, 0), q)


def test_an_axis_has_a_length() -> None:
    with pytest.raises(kn.ModelError, match=r"^Expected an axis of non-zero, finite length, found \(0, 0, 0\)\.$"):
        kn.R((0, 0, 0), q)


def test_the_order_of_names_does_not_depend_on_what_was_described_before() -> None:
    kn.symbols("b20 b3 a1"), kn.symbols("q12 q9 q8")
    motions = [kn.Rz(kn.symbol("q8") + kn.symbol("q9") * kn.symbol("q12")), kn.Sx(kn.symbol("b3") * kn.symbol("b20"))]
    inertia = kn.inertia(kn.symbol("a1"), (1, 1, 1), com=(motions[1].argument, 0, 0))
    system = kn.System("s", [kn.body("A", motions, inertia)])
    assert system.q_names == ("q8", "q9", "q12")
    assert system.parameter_names == ("b3", "b20", "a1")


def test_systems_are_copied_and_sent_between_processes() -> None:
    system = kn.load(EXAMPLES / "cart_pendulum.kin")
    for same in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert same == system
        assert kn.derive(same).operations("forward") == kn.derive(system).operations("forward")


def test_notebooks_show_a_system_as_text() -> None:
    found = system(kn.Rz(q), elements=[kn.generalized_force("f", kn.minimum(q, 1), q)])
    assert found._repr_html_() == f"<pre>{html.escape(kn.dumps(found))}</pre>"
    assert "model S;\n" in found._repr_html_()


def test_a_system_shows_itself_in_a_line() -> None:
    assert (
        repr(kn.load(EXAMPLES / "free_satellite.kin")) == "<System 'free_satellite': 2 bodies, 8 coordinates, 7 speeds>"
    )


def test_an_empty_name_is_refused() -> None:
    motions = [kn.Rz(kn.symbol("q1"))]
    with pytest.raises(kn.ModelError, match=r"^Body '': expected a name of letters"):
        kn.body("", motions)
    with pytest.raises(kn.ModelError, match=r"expected a name of letters, digits and '_'"):
        kn.System("", [kn.body("A", motions)])
