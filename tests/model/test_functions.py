"""Named expressions with arguments: what calls stand for, and the sentences on what makes no sense in them."""

from __future__ import annotations

import math

import pytest

import kineta as kn
from tests.support import reads_back

HEAD = """
parameters k = 100 N/m, k3 = 2 kN/m^3, d = 3 N*s/m;
A | Sx(x) = 1 kg; B ~ A | Rz(q), Sx(0.5) = 1, 0, 0, 1;
coordinates x, q;
"""


def read(text: str) -> kn.System:
    return kn.loads(HEAD + text, "m.kin")


def test_a_call_is_the_expression_with_its_arguments() -> None:
    system = read(
        "let spring(s) = k*s + k3*s^3, damped(s, rate) = -spring(s) - d*rate; let two = spring(2*x);"
        "force f = damped(x, x') + two on x; force g on B = (drag(v(B)), 0, 0); let drag(u) = -d*|u|*u.x/(1 m/s);"
    )
    written = read(
        "let two = k*(2*x) + k3*(2*x)^3;"
        "force f = -(k*x + k3*x^3) - d*x' + two on x; force g on B = (-d*|v(B)|*v(B).x/(1 m/s), 0, 0);"
    )
    values = [
        kn.derive(s).function("forward")(0.0, [0.2, 0.4], [0.3, 0.5], tau=[0, 0]).tolist() for s in (system, written)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert system.lets.keys() == ["two"]
    reads_back(system)


def test_arguments_hide_names_of_the_model() -> None:
    system = read("let f(x, k) = x*k + q; output o = f(3, 2);")
    assert str(system.outputs["o"]) in ("6 + q", "q + 6")


def test_functions_stand_in_repetitions() -> None:
    system = read("let f(s) = 2*s; for i in 1..3 : output o[i] = f(i);")
    assert [o.value.value for o in system.outputs] == [2, 4, 6]


BAD = [
    (
        "let f(s) = k*s; force a = f(1 kg) on x;",
        "m.kin:5:27: the value of force 'a' on a length [m] must be a force [kg*m/s^2], found a quantity [kg^2/s^2].",
    ),
    (
        "let f(s) = s + 1 m;\nforce a = f(1 kg) on x;",
        "m.kin:5:12: in f(s), called at m.kin:6:11: a mass [kg] and a length [m] cannot be added or compared.",
    ),
    ("let f(s) = s;\nforce a = f(1, 2) on x;", "m.kin:6:11: f(s) takes 1 argument, found 2."),
    (
        "let f(s) = g(s);\nlet g(s) = 2*f(s);",
        "Let 'f' (m.kin:5:5): the name stands for itself: f = g = f. One must do without the others.",
    ),
    (
        "let f(s) = f(s - 1);",
        "Let 'f' (m.kin:5:5): the name stands for itself: f = f. One must do without the others.",
    ),
    ("let sin(s) = s;", "m.kin:5:5: 'sin' is a function of the language; choose another name."),
    ("let m(s) = s;", "m.kin:5:5: 'm' is a key of inertia; choose another name."),
    ("let f(s, s) = s;", "m.kin:5:10: the argument 's' is named twice."),
    ("let f(s.x) = s;", "m.kin:5:7: expected the name of an argument, found 's.x'."),
    ("let f(s) = s; let f(u) = u;", "m.kin:5:19: the function 'f' is given twice, first at m.kin:5:5."),
    ("let sprung(s) = s; force a = sprong(x) on x;", "m.kin:5:30: unknown function 'sprong'. Did you mean 'sprung'?"),
    (
        "let f(s) = s.x; force a = f(2) on x;",
        "m.kin:5:12: in f(s), called at m.kin:5:27: expected a vector before '.x', found the number '2'.",
    ),
    (
        "let g(s) = s + 1 m;\nlet f(s) = 2*g(s);\nforce a = f(1 kg) on x;",
        "m.kin:5:12: in g(s), called at m.kin:6:14, in f(s), called at m.kin:7:11: "
        "a mass [kg] and a length [m] cannot be added or compared.",
    ),
    (
        "let f(s) = s + nothing;\nforce a = f(x) on x;",
        "Force 'a' (m.kin:5:16): in f(s), called at m.kin:6:11: unknown symbol 'nothing'.",
    ),
    (
        "output nothing = x; let f(s) = x'*s; potential a = f(x);",
        "Potential 'a' (m.kin:5:32): in f(s), called at m.kin:5:52: the speed 'x'' has no place here; expected coordinates, "
        "parameters, the time and positions of points only. A force that depends on speeds is a damper, or a force on a "
        "coordinate.",
    ),
    ("let f(s) = 2*s; force a = f on x;", "m.kin:5:27: 'f' is a function; expected it with its arguments, f(s)."),
    # Functions that nothing calls.
    ("let f(s) = 2*wrong(s);", "m.kin:5:14: unknown function 'wrong'."),
    ("let f(s) = s*nothing;", "Let 'f' (m.kin:5:14): unknown symbol 'nothing'."),
    ("let f(s) = s + g(s, 1); let g(s) = s;", "m.kin:5:16: g(s) takes 1 argument, found 2."),
    ("let f(s) = s*(x + 1 kg + k);", "m.kin:5:15: a length [m] and a mass [kg] cannot be added or compared."),
    ("let f(u) = u + u.x;", "m.kin:5:12: u is a vector and cannot be added to a number."),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=lambda x: x[-40:])
def test_a_wrong_function_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        read(text)
    assert str(raised.value) == message


def test_a_function_that_nothing_calls_takes_numbers_and_vectors() -> None:
    system = read(
        "let f(s) = k*s + q', g(u) = -d*|u|*u.x, h(u, s) = s*dot(u, v(B)), c(u) = cross(u, r(B)), n(u) = 2*u + r(A);"
        "let value(P) = energy + P, far(u, w) = |u - w|;"
    )
    assert not system.lets


def test_values_of_parameters_may_call_functions() -> None:
    text = "parameters a = 2, b = square(a) + 1; B | Sx(x) = b; let square(s) = s^2; coordinates x;"
    assert kn.loads(text).parameters["b"] == 5


def test_functions_that_call_each_other_without_end_are_refused() -> None:
    chain = "".join(f"let f{i}(s) = f{i + 1}(s); " for i in range(150))
    with pytest.raises(kn.ModelError, match=r"functions call each other more than 100 deep, down to f100\(s\)\.$"):
        read(f"{chain} let f150(s) = s; output o = f0(x);")


def test_functions_that_call_others_twice_are_read_once_for_equal_arguments() -> None:
    chain = "".join(f"let f{i}(s) = sin(f{i + 1}(s)) + cos(f{i + 1}(s)); " for i in range(40))
    system = kn.loads(f"coordinates x; B | Sx(x) = 1; {chain} let f40(s) = s; output o = f38(x) + f38(2*x);")
    values = {x: math.sin(math.sin(x) + math.cos(x)) + math.cos(math.sin(x) + math.cos(x)) for x in (0.3, 0.6)}
    assert kn.derive(system).function("outputs")(0.0, [0.3], [0.0])[0] == pytest.approx(sum(values.values()), rel=1e-14)
