"""Printed equations keep named expressions of the model where that is shorter to read."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from tests.notation.text_reader import computed
from tests.support import EXAMPLES, slow

CYLINDER = """
gravity (0, -9.81, 0);
parameters m = 2, l = 0.7, a = 0.3, b = 0.2, A = 0.1, c = 4, d = 3, J = 0.2;
Boom | Rz(q) = m(m), Jz(J), com = (l, 0, 0);
coordinates q;
point Eye on Boom = (a, b, 0);
let s1 = |r(Eye) - (b, 0, 0)|, F = A*p - d*rate, rate = dot(r(Eye) - (b, 0, 0), v(Eye))/s1;
state p : p' = c*(1 - A*rate);
force cylinder = F on s1;
"""
ROD = """
parameters r = 0.1, l = 0.3, m = 2, J = 0.4;
Crank | Rz(q) = Jz(J);
let phi = asin(r*sin(q)/l);
Block ~ Crank | Sx(r), Rz(-q - phi), Sx(l) = m;
"""
ROPE = """
gravity 9.81;
parameters k = 2000, d = 30, l = 1.2, height = 2, m = 3;
Load | Sx(x), Sz(height - z) = m;
coordinates x, z;
let reach = sqrt(Load.x^2 + (height - Load.z)^2), excess = reach - l;
let tension = max(0, k*excess + 2*k*excess^3);
force rope on Load = (-tension*Load.x/reach, 0, tension*(height - Load.z)/reach);
damper oil = d on reach;
constraint slope : excess = 0.1*x;
"""


def _state(shown: kn.Equations, rng: random.Random) -> dict[str, float]:
    """Values of everything that printed equations may name."""
    system = shown.system
    orders = (n + "'" * k for n in system.v_names for k in range(3))
    names = {*system.parameter_names, *system.q_names, *orders, *(f"tau[{n}]" for n in system.v_names), "t"}
    names |= set(re.findall(r"\b(?:lambda|control|nu)(?:\.\w+'*(?:\[\d+\])*)+", shown.text()))
    return {n: rng.uniform(0.3, 0.9) for n in sorted(names)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [CYLINDER, ROPE, (EXAMPLES / "car_axis.kin").read_text(), (EXAMPLES / "crane_servo.kin").read_text()]
)
def test_entries_have_the_values_of_those_without_names(text: str) -> None:
    equations = kn.derive(kn.loads(text))
    rng = random.Random(7)
    for quantity in ("equations", "mass_matrix", "lagrangian"):
        shown = equations.printed(quantity)
        state, found = _state(equations, rng), list[list[float]]()
        for form in (shown, replace(shown, defined=None)):
            scope = dict(state)
            values = [
                computed(f"entry = {right}", scope) if left == "0" else computed(f"{left} = {right}", scope)
                for left, right in (line.split(" = ") for line in form.text())
            ]
            found.append(values[len(values) - len(shown.array.refs) :])
        assert found[0] == pytest.approx(found[1], rel=1e-12, abs=1e-12)
        assert shown.reading_cost() <= replace(shown, defined=None).reading_cost()


@pytest.mark.slow
def test_names_are_kept_where_that_is_shorter() -> None:
    boom = kn.derive(kn.loads(CYLINDER))
    assert boom.text().splitlines() == [
        "s1 = sqrt(a^2 + 2*b*(b + b*sin(q) - a*cos(q)))",
        "rate = b*(a*sin(q) + b*cos(q))*q'/s1",
        "tau[q'] = (J + m*l^2)*q'' + b*(a*sin(q) + b*cos(q))*(d*rate - A*p)/s1 + 9.81*m*l*cos(q)",
        "p' = c - A*c*rate",
    ]
    assert "s1" in boom.matrix_form().text()
    assert "s_{1} &= " in boom.latex()
    assert "s1" not in "".join(boom.printed().text(parts=False))
    assert "s1" not in boom.text("kinetic_energy")


def test_rates_of_names_have_a_prime() -> None:
    assert kn.derive(kn.loads(ROPE)).text().splitlines() == [
        "reach = sqrt(x^2 + z^2)",
        "excess = reach - l",
        "tension = max(0, 2*k*excess^3 + k*excess)",
        "reach' = (x*x' + z*z')/reach",
        "tau[x'] = m*x'' + 0.1*lambda.slope + x*(d*reach' - lambda.slope + tension)/reach",
        "tau[z'] = m*z'' + z*(d*reach' - lambda.slope + tension)/reach - 9.81*m",
        "0 = excess - 0.1*x",
    ]


def test_the_constraint_of_the_axis_of_a_car_is_that_of_its_source() -> None:
    lines = kn.derive(kn.load(EXAMPLES / "car_axis.kin")).text().splitlines()
    assert lines[0] == "yb = r*sin(w*t)"
    assert "0 = xl*xb + yl*yb" in lines


DOOR = """gravity g; parameters m = 2, g = 9.81, l = 0.5, k = 40, d = 0.3; coordinates a, b;
Rod | Ry(a), Sx(l), Ry(b - pi/6), Sx(l) = m;
spring hinge = k, pi/6 on b; damper joint = d*180/pi on b' - a';
"""


@pytest.mark.parametrize(
    "more", ["", *slow(["Tip ~ Rod | Ry(0.3 - b), Sx(l) = m/2;", "Tip | Ry(b + 70 deg), Sx(l) = m/2;"])]
)
def test_angles_keep_the_numbers_that_are_added_to_them(more: str) -> None:
    door = kn.derive(kn.loads(DOOR + more))
    shown = door.text().splitlines()
    if not more:
        assert "cos(b - pi/6)" in door.text()
        assert "sqrt" not in door.text()
        assert "k*(b - pi/6)" in door.text()
    state = _state(door, random.Random(3))
    scope = dict(state)
    values = {line.partition(" = ")[0]: computed(line, scope) for line in shown}
    q, v, a = ([state[n + marks] for n in ("a", "b")] for marks in ("", "'", "''"))
    given = {n: state[n] for n in door.system.parameter_names}
    wanted = door.function("inverse")(0.0, q, v, a, p=given)
    assert [values["tau[a']"], values["tau[b']"]] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "text", [ROD, ROD.replace("let phi = asin(r*sin(q)/l);", "").replace("phi", "asin(r*sin(q)/l)")]
)
def test_an_angle_by_its_sine_is_written_in_whether_it_has_a_name_or_not(text: str) -> None:
    shown, rng = kn.derive(kn.loads(text)), random.Random(5)
    known = {n: rng.uniform(0.3, 0.5) for n in ("m", "J", "q", "q'", "q''")} | {"r": 0.1, "l": 0.3}
    lines = shown.text().splitlines()
    assert lines[0] == "phi = asin(r*sin(q)/l)"
    assert "sqrt" not in "".join(lines)
    values = [computed(line, known) for line in lines]
    inverse = shown.formulas("inverse")
    assert values[-1] == pytest.approx(evaluate(inverse.graph, inverse.array.refs, known)[0], rel=1e-12)
