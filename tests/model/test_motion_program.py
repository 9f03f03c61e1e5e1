"""Programs of motion, their control, and vectors of points and bodies: in the language and from Python."""

from __future__ import annotations

from typing import Any

import pytest

import kineta as kn
from kineta.model import name_inference
from kineta.model.dimensions import output_units
from kineta.model.motion_program import LAWS, Control
from kineta.model.transformations.equivalents import parametrised, reframed, renumbered, respelled
from kineta.runtime import run_arguments
from tests.support import reads_back

MODEL = """
parameters k = 2, a0 = 2 m/s^2, c = -3;
Craft | Sx(x), Sy(y) = 1 kg;
Arm ~ Craft | Rz(phi) = 1, 1, 1, 1;
Moon | Free(b) = 1, 1, 1, 1;
coordinates x, y, phi, b;
point Tip on Arm = (1, 0, 0);
let size = |a(Tip)|^2, pull = 3*Tip.vx;
"""
STATEMENTS = [
    "program hold : |a(Tip)| = 2 m/s^2;",
    "program hold : |a(Tip)|^2 + sin(x/1 m) = a0^2; control;",
    "program hold : a( Tip  in Arm ).y'*w(Arm).z + |v( Craft )|'^2 = 3*x'''; control least;",
    "program hold : size = a0^2 + pull^2; control least on x weight k, y' weight 2*k, b.wx;",
    "program hold : x + y' = t; program turn : eps(Moon in Arm).x = jerk(Tip).z; "
    "control inertial transversal b.wx = 3*t*b.wx', x = r(Tip).x;",
    "program hold : b.wx'' = 3; control on phi transversal phi' = |eps(Moon)|; initial x'' = 0.3 m/s^2, b.wx' = 1;",
    "quasi u = x' + y', y', phi', b.vx, b.vy, b.vz, b.wx, b.wy, b.wz; "
    "program p : u'' = 2; control on u, phi; initial u' = 3;",
]


def read(text: str) -> kn.System:
    return kn.loads(MODEL + text, "m.kin")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_written_reads_back(statement: str) -> None:
    system = read(statement)
    assert system.programs
    reads_back(system)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_same_in_other_words_keeps_programs_and_another_ground_frame_has_none(statement: str) -> None:
    system = read(statement)
    for other in (renumbered(system), respelled(system)):
        assert (other.programs, other.control) == (system.programs, system.control)
    assert [p.name for p in parametrised(system).programs] == [p.name for p in system.programs]
    initial = [pair for pair in system.initial if pair[0] in (*system.q_names, *system.v_names)]
    seen = reframed(system.replace(initial=initial))
    assert (seen.programs, seen.control) == ((), Control())


def test_text_and_python_say_the_same() -> None:
    x = kn.symbol("x")
    built = kn.System(
        "m",
        [kn.body("Craft", [kn.Sx(x), kn.Sy(kn.symbol("y"))], kn.inertia(1))],
        coordinates=["x", "y"],
        programs=[kn.program("hold", abs(kn.vector("a", "Craft")) ** 2 - kn.vector("jerk", "Craft", "Craft").x)],
        control=kn.control(actuators={"x'": 2, "y'": 1}, transversal={"y'": kn.symbol("y''")}),
    )
    text = """model m; Craft | Sx(x), Sy(y) = 1; coordinates x, y;
        program hold : |a(Craft)|^2 = jerk(Craft in Craft).x; control on x weight 2, y transversal y = y'';"""
    assert kn.loads(text) == built
    assert kn.control(actuators=["x'"]).actuators == kn.control(actuators={"x'": 1}).actuators


@pytest.mark.parametrize("law", LAWS)
def test_every_law_may_be_named(law: str) -> None:
    assert read(f"program hold : x'' = 3; control {law};").control.law == law


def test_named_actuators_act_by_their_own_law() -> None:
    assert read("program hold : x'' = 3; control on x;").control == kn.control(actuators=["x'"])
    assert kn.control(actuators=["x'"]).law == "least"
    with pytest.raises(
        kn.ModelError, match="the law kineta acts on all speeds; of single actuators the law least makes use"
    ):
        read("program hold : x'' = 3; control kineta on x;")


def test_names_of_vectors_are_free_for_other_things() -> None:
    system = read("let a = |a(Tip)|, w = w(Arm).z + a; program hold : a = w; constants r = 3, eps = 4;")
    assert {n.name for n in system.lets} >= {"a", "w"}


@pytest.mark.parametrize(
    ("expression", "order"),
    [
        ("x", 0),
        ("Tip.x", 0),
        ("r(Tip).x", 0),
        ("phi' + x", 1),
        ("Tip.vx", 1),
        ("|v(Tip)|", 1),
        ("w(Arm).z", 1),
        ("b.wx", 1),
        ("x''", 2),
        ("b.wx'", 2),
        ("eps(Moon).x*x'", 2),
        ("size", 2),
        ("v(Tip).x'", 2),
        ("jerk(Tip).x", 3),
        ("|a(Tip)|'' - x'''", 4),
    ],
)
def test_the_order_of_a_program_is_its_highest_derivative(expression: str, order: int) -> None:
    system = read(f"program hold : {expression} = 3;")
    assert name_inference.derivative_order(system, system.programs[0].value) == order


@pytest.mark.parametrize(
    ("left", "unit"),
    [
        ("r(Tip).x", "m"),
        ("|v(Tip)|", "m/s"),
        ("a(Tip in Arm).x", "m/s^2"),
        ("jerk(Tip).z", "m/s^3"),
        ("|jerk(Tip)|'", "m/s^4"),
        ("w(Arm).z", "rad/s"),
        ("eps(Arm).z", "rad/s^2"),
        ("eps(Arm).z''", "rad/s^4"),
        ("x''", "m/s^2"),
        ("phi'''", "rad/s^3"),
        ("b.wx'", "rad/s^2"),
        ("b.vx''", "m/s^3"),
        ("|a(Tip)|^2", "m^2/s^4"),
        ("size", "m^2/s^4"),
        ("a(Tip).x*w(Arm).z", "m/s^3"),
    ],
)
def test_both_sides_have_one_dimension(left: str, unit: str) -> None:
    read(f"program hold : {left} = 2 {unit};")
    with pytest.raises(
        kn.ModelError, match=r"m\.kin:9:\d+: the right side of program 'hold' must be .*, found a mass \[kg\]\.$"
    ):
        read(f"program hold : {left} = 2 kg;")


WITH = "program p : x'' = 3; "
SPEEDS = "x', y', phi', b.vx, b.vy, b.vz, b.wx, b.wy, b.wz"
SEEN = "coordinates, speeds, parameters, the time, positions and velocities of points"
STAND = (
    " Accelerations stand in programs, in transversal parts of the control, in outputs and in events; what acts on the motion "
    "would have to know those that it causes."
)
BAD = [
    (
        "program p : a(Tip) = 3;",
        "m.kin:9:13: a(Tip) is a vector; expected a component of it, as in a(Tip).x, or its magnitude, |a(Tip)|.",
    ),
    (
        "program p : 2*w(Arm in Tip) = 3;",
        "m.kin:9:15: w(Arm in Tip) is a vector; expected a component of it, as in w(Arm in Tip).x, or its "
        "magnitude, |w(Arm in Tip)|.",
    ),
    (
        "program p : a(Tip)' = 3;",
        "m.kin:9:13: a(Tip) is a vector; expected a component of it, as in a(Tip).x, or its magnitude, |a(Tip)|.",
    ),
    ("program p : a(Tip).q = 3;", "m.kin:9:13: expected a component x, y or z of a(Tip), found 'q'."),
    (
        "program p : jerks(Tip).x = 3;",
        "m.kin:9:13: unknown vector 'jerks'; expected one of r, v, a, jerk, w, eps. Did you mean 'jerk'?",
    ),
    (
        "program p : |jrek(Tip)| = 3;",
        "m.kin:9:14: unknown function 'jrek'. Did you mean 'jerk'?",
    ),
    ("program p : jrek(Tip) = 3;", "m.kin:9:13: unknown function 'jrek'. Did you mean 'jerk'?"),
    ("program p : sinn(x) = 3;", "m.kin:9:13: unknown function 'sinn'. Did you mean 'sin'?"),
    (
        "program p : sin(x).x = 3;",
        "m.kin:9:13: sin(...) is a number and has neither components nor bars nor primes; expected sin(x), or a vector.",
    ),
    (
        "program p : a(2*Tip).x = 3;",
        "m.kin:9:13: expected the name of a point or body, as in a(Tip).x, or a(Tip in Hand).x in the axes of Hand, "
        "found '2*Tip'.",
    ),
    (
        "program p : x = a(Tipp).x;",
        "Program 'p' (m.kin:9:17): expected a point or a body in a(Tipp), found 'Tipp'. Did you mean 'Tip'?",
    ),
    ("program p : w(Tip).x = 3;", "Program 'p' (m.kin:9:13): expected a body in w(Tip), found the point 'Tip'."),
    (
        "program p : a(Tip in Arn).x = 3;",
        "Program 'p' (m.kin:9:13): expected a body in a(Tip in Arn), found 'Arn'. Did you mean 'Arm'?",
    ),
    (
        "program p : |a(Tip in Tip)| = 3;",
        "Program 'p' (m.kin:9:13): expected a body in a(Tip in Tip), found the point 'Tip'.",
    ),
    ("program p : phj'' = 3;", "Program 'p' (m.kin:9:13): unknown symbol 'phj'''. Did you mean phi''?"),
    (
        "program p : energy = 3;",
        f"Program 'p' (m.kin:9:13): the energy 'energy' has no place here; expected {SEEN}, derivatives and vectors only.",
    ),
    (
        "program p : a0 = 3*t;",
        "Program 'p' (m.kin:9:9): expected coordinates, their derivatives or vectors in it, found 'a0 - 3*t', which no motion "
        "changes.",
    ),
    (
        "program p : x'' = x'';",
        "Program 'p' (m.kin:9:9): expected coordinates, their derivatives or vectors in it, found '0', which no motion changes.",
    ),
    (
        WITH + "constraint p : x = y;",
        "Program 'p' (m.kin:9:9): the name is taken by a constraint described before (m.kin:9:33). Choose another.",
    ),
    (
        "program program | Rz(q) = 1;",
        "m.kin:9:17: expected ':', found '|'; for example, program path : x = a*sin(t).",
    ),
    ("control | Rz(q) = 1;", "m.kin:9:1: 'control' is a word of the language and cannot name a body."),
    (
        "force f at Tip = (a(Tip).x, 0, 0);",
        f"Force 'f' (m.kin:9:19): the acceleration 'a(Tip).x' has no place here; expected {SEEN} only.{STAND}",
    ),
    (
        "force f at Tip = (0, size, 0);",
        f"Force 'f' (m.kin:9:22): 'size' holds the acceleration '|a(Tip)|', which has no place here; expected {SEEN} "
        f"only.{STAND}",
    ),
    (
        "constraint c : r(Tip).x'' = 0;",
        f"Constraint 'c' (m.kin:9:16): a rate 'r(Tip).x''' has no place here; expected {SEEN} only.{STAND}",
    ),
    (
        "frame F | Rz(w(Arm).z);",
        "Body 'F' (m.kin:9:14): the angular velocity 'w(Arm).z' has no place here; expected coordinates, parameters and the "
        "time only.",
    ),
    (
        "let z = 2*x'''; constraint c : z = 2;",
        f"Constraint 'c' (m.kin:9:32): 'z' holds the derivative 'x'''', which has no place here; expected {SEEN} only.",
    ),
    (
        WITH + "control kinetta;",
        f"Model 'm' (m.kin:9:30): control: expected a law ({', '.join(LAWS)}), found 'kinetta'. Did you mean 'kineta'?",
    ),
    (WITH + "control; control;", "m.kin:9:31: 'control' is given twice, first at m.kin:9:22."),
    (
        "control least;",
        "Model 'm' (m.kin:9:1): control: there is no program that controls could hold; give one, as in "
        "program hold : |a(Tip)| = 2 m/s^2, or no control.",
    ),
    (WITH + "control on z;", f"Model 'm' (m.kin:9:33): control: expected actuators by speeds ({SPEEDS}), found 'z'."),
    (
        WITH + "control kineta on phj';",
        f"Model 'm' (m.kin:9:40): control: expected actuators by speeds ({SPEEDS}), found 'phj''. Did you mean 'phi''?",
    ),
    (WITH + "control on x, x';", "Model 'm' (m.kin:9:33): control: 'x'' is twice among the actuators."),
    (
        WITH + "control on x weight c;",
        "Model 'm' (m.kin:9:33): control: expected the weight of 'x'' above zero, found -3.",
    ),
    (
        WITH + "control on x weight y;",
        "Model 'm' (m.kin:9:42): control: the coordinate 'y' has no place here; expected parameters only.",
    ),
    (
        WITH + "control transversal b.wz' = 2;",
        f"Model 'm' (m.kin:9:42): control: expected transversal parts by speeds ({SPEEDS}), found 'b.wz''. Did you mean 'b.wz'?",
    ),
    (WITH + "control transversal x = qq'';", "Model 'm' (m.kin:9:46): control: unknown symbol 'qq'''."),
    (
        WITH + "control transversal x = w(Tip).x;",
        "Model 'm' (m.kin:9:46): control: expected a body in w(Tip), found the point 'Tip'.",
    ),
    (
        "initial x'' = 3;",
        "Model 'm' (m.kin:9:9): initial 'x''' is neither a coordinate nor a speed. Derivatives of speeds have values of their "
        "own at the start of a model with programs only.",
    ),
    (
        WITH + "initial z'' = 3;",
        "Model 'm' (m.kin:9:30): initial 'z''' is neither a coordinate nor a speed. "
        "There are x, y, phi, b.x, b.y, b.z, b.qw, b.qx, ....",
    ),
    (
        WITH + "initial x'' = 3 m/s;",
        "m.kin:9:36: initial 'x''' must be an acceleration [m/s^2], found a velocity [m/s].",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=lambda x: x[-40:])
def test_a_wrong_text_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        read(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"programs": [kn.program("p q", kn.symbol("x"))]}, "expected a name of letters"),
        ({"control": kn.control(), "programs": kn.program("p", 3)}, "put it in brackets"),
        ({"programs": [kn.program("p", kn.symbol("a(Tip)"))]}, r"unknown symbol 'a\(Tip\)'"),
        ({"programs": [kn.program("p", kn.vector("eps", "Tip").x)]}, "found the point 'Tip'"),
        ({"control": kn.control("kinetta")}, "Did you mean 'kineta'"),
    ],
)
def test_what_python_gives_is_checked_alike(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(kn.KinetaError, match=message):
        read("").replace(**changes)


def test_arguments_that_are_none_get_a_sentence() -> None:
    with pytest.raises(kn.ArgumentError, match="write the difference, a - 3 and not a == 3"):
        kn.program("p", kn.symbol("x") == 3)
    with pytest.raises(kn.ArgumentError, match="Expected a list of names of speeds"):
        kn.control(actuators="x'")
    with pytest.raises(
        kn.ArgumentError, match=r"Expected a vector \(r, v, a, jerk, w, eps\), found 'jrek'. Did you mean 'jerk'"
    ):
        kn.vector("jrek", "Tip")


def test_outputs_of_vectors_and_derivatives_have_units() -> None:
    system = read(
        WITH
        + "output a = |a(Tip)|, b = jerk(Tip in Arm).y, c = w(Arm).z, d = eps(Moon).x', e = x''', f = b.wx'', g = size;"
    )
    units = {"a": "m/s^2", "b": "m/s^3", "c": "rad/s", "d": "rad/s^3", "e": "m/s^3", "f": "rad/s^3", "g": "m^2/s^4"}
    assert output_units(system) == units


def test_events_may_watch_vectors_and_derivatives_only_where_there_are_programs() -> None:
    watched = [abs(kn.vector("v", "Tip")) - 2, kn.symbol("x'''") - 1]
    assert [e.value for e in run_arguments.watched(read(WITH), watched)] == watched
    with pytest.raises(kn.ArgumentError, match="has the unknown symbol 'x''''"):
        run_arguments.watched(read(""), watched)


def test_a_system_says_how_many_programs_it_has() -> None:
    assert repr(read(WITH)).endswith("speeds, 1 program>")
    assert repr(read(WITH + "program q : y = 2;")).endswith("speeds, 2 programs>")
    assert "program" not in repr(read(""))
