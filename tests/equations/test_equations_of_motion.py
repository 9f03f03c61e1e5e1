"""Equations of motion as a whole: with the multipliers of constraints and programs, of the order that programs ask for."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.equations_of_motion import equations_of_motion
from kineta.mechanics.programs.dynamics import controlled
from kineta.passes.evaluate import evaluate
from tests.notation.text_reader import computed
from tests.support import EXAMPLES

PENDULA = "gravity (0, -9.81, 0); A | Rz(q1), Sy(-1) = 2; B ~ A | Rz(q2), Sy(-0.7) = 1; coordinates q1, q2;"
BEAD = "P | Sx(x), Sy(y), Sz(z) = 2; constraint wire : y = x^2/2 + z; coordinates x, y, z; force pull on P = (0, -3*x*y', x);"
#: Models with programs of the orders 0 to 4, linear and not, with and without constraints, by all laws.
MODELS = {
    "path": f"{PENDULA} program up : B.x = 0.3*sin(t);",
    "transversal": f"{PENDULA} program up : B.x = 0.3*sin(t); control transversal q2' = 3*sin(t);",
    "acceleration": f"{PENDULA} program hold : |a(B)| = 4;",
    "jerk": f"{PENDULA} program rise : jerk(B).y = 0.3*t; control kineta;",
    "size of a jerk": f"{PENDULA} program rise : |jerk(B)| = 3;",
    "actuators": f"{PENDULA} program hold : |a(B)| = 4; control least on q1, q2 weight 3;",
    "wire": f"{BEAD} program hold : |a(P)| = 4;",
    "wire, path": f"{BEAD} program along : x = sin(t);",
    "wire, actuators": f"{BEAD} program along : x''' = sin(t); control least on x;",
    "ball": "Body | Ball(b) = m(2), Jx(1), Jy(2), Jz(2.5); program turn : |eps(Body)| = 1 + t; control inertial;",
}


@pytest.mark.parametrize("name", MODELS)
def test_equations_under_programs_hold_for_the_motion_that_runs_follow(name: str) -> None:
    d = controlled(kn.derive(kn.loads(MODELS[name])).alone())
    found, rng = equations_of_motion(d), random.Random(3)
    solved = {"highest": d["highest"].refs, "multipliers": d["program_multipliers"].refs}
    state = {n: 0.0 if n.startswith("tau[") else rng.uniform(0.3, 1.2) for n in d.graph.names}
    z = dict(zip(found.highest, evaluate(d.graph, solved["highest"], state), strict=True))
    state |= z
    values = evaluate(d.graph, solved["multipliers"], state)
    multipliers = dict(zip((row.constraint for row in d.programs.rows), values, strict=True))
    needed = np.array(evaluate(d.graph, found.balance, state))
    n = len(needed)
    M = np.array(evaluate(d.graph, found.inertia, state)).reshape(n, n)
    assert M @ list(z.values()) + evaluate(d.graph, found.rest, state) == pytest.approx(needed, rel=1e-10, abs=1e-10)
    directions = np.array([evaluate(d.graph, row, state) for row in found.reactions.values()]).T
    unknowns, *_ = np.linalg.lstsq(directions, needed, rcond=None)
    assert directions @ unknowns == pytest.approx(needed, rel=1e-9, abs=1e-9)
    shown = dict(zip(found.reactions, unknowns, strict=True))
    for program, value in multipliers.items():
        if f"lambda.{program}" in shown:
            assert shown[f"lambda.{program}"] == pytest.approx(value, rel=1e-8, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_printed_equations_under_programs_have_the_values_derived(name: str) -> None:
    equations = kn.derive(kn.loads(MODELS[name]))
    d, rng = equations.alone(), random.Random(4)
    found = equations_of_motion(d)
    state = {n: rng.uniform(0.3, 1.2) for n in (*d.graph.names, *found.reactions, *found.highest)}
    directions = [evaluate(d.graph, row, state) for row in found.reactions.values()]
    forces = evaluate(d.graph, found.balance, state) - np.array([state[n] for n in found.reactions]) @ directions
    conditions = evaluate(d.graph, found.conditions, state)
    sides = _sides(equations.text(), state)
    assert sides[: len(forces)] == pytest.approx(list(forces), rel=1e-11, abs=1e-11)
    assert sides[len(forces) :] == pytest.approx(conditions, rel=1e-11, abs=1e-11)
    below = equations.matrix_form().text().partition("\n\n")[2]
    assert _sides(below, state)[-len(conditions) :] == pytest.approx(conditions, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("unforced", [False, True])
def test_equations_without_reactions_are_printed_as_inverse_dynamics(*, unforced: bool) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "branched.kin"))
    forces = [line.partition(" = ") for line in equations.text("inverse").splitlines()]
    own = ["0" if unforced and left.startswith("tau[") else left for left, _, _ in forces]
    found = [line.partition(" = ") for line in equations.text(unforced=unforced).splitlines()]
    assert [left for left, _, _ in found] == own
    assert [right for _, _, right in found] == [right for _, _, right in forces]


def _sides(text: str, state: dict[str, float]) -> list[float]:
    """What the lines of equations say is zero: M z less the rest, forces, conditions; parts are values for others."""
    scope, sides = dict(state), list[float]()
    for line in text.splitlines():
        left, right = line.split(" = ")
        value = computed(f"right = {right}", scope)
        if re.fullmatch(r"[zd]\d+", left):
            scope[left] = value
        else:
            sides.append(value if left == "0" or "[" in left else computed(f"left = {left}", scope) - value)
    return sides


def test_the_craft_of_rodionov_has_the_equations_of_the_source() -> None:
    craft = kn.derive(kn.load(EXAMPLES / "charged_craft.kin"))
    assert craft.text().splitlines() == [
        "m*x''' = m*x''*lambda.accelerate + charge*B*y''",
        "m*y''' = m*y''*lambda.accelerate - charge*B*x'' + charge*growth",
        "0 = m*x''^2/2 + m*y''^2/2 - rate*t - S0",
    ]
    assert craft.matrix_form().text().splitlines()[:2] == [
        "[ m  0 ] [ x''' ] + [        -charge*B*y''         ] = [ m*x'' ] [ lambda.accelerate ]",
        "[ 0  m ] [ y''' ]   [ charge*B*x'' - charge*growth ]   [ m*y'' ]",
    ]
    assert r"m\,\dddot{x} &= m\,\ddot{x}\,\lambda_{\mathrm{accelerate}} + " in craft.latex()
    assert r"\dddot{x}" in craft._repr_latex_()


def test_programs_that_actuators_hold_show_the_forces_of_the_actuators() -> None:
    crane = kn.derive(kn.load(EXAMPLES / "crane_servo.kin"))
    lines = crane.text().splitlines()
    assert [line.split(" = ")[0] for line in lines] == ["s", "tau[x']", "tau[phi']", "tau[l']", "0", "0"]
    assert ["control." in line for line in lines] == [False, True, False, True, False, False]
    assert "- u_{x} " in crane.latex() + " "
    rates = kn.derive(kn.loads(MODELS["wire, actuators"])).latex()
    assert r"\dot{u}_{x}" in rates
    assert r"\nu_{\mathrm{wire}}" in rates


def test_the_account_goes_on_to_the_equations_under_programs() -> None:
    account = kn.derive(kn.load(EXAMPLES / "charged_craft.kin"), "lagrange").account()
    assert [told.step.title for told in account.told][-4:] == [
        "Programs of motion, which vanish",
        "Programs, by the highest derivatives z",
        "Forces that a motion asks for, as the law covariant differentiates them",
        "Equations of the order 3 under the programs",
    ]
    assert "0 = m*x''' - m*x''*lambda.accelerate - charge*B*y''" in account.markdown()
    assert r"\dddot{x}" in account.latex()
    assert "⃛" in account.html()


def test_a_law_that_does_not_apply_is_said() -> None:
    system = kn.loads(f"{PENDULA} program hold : |a(B)| = 4; control inertial;")
    with pytest.raises(kn.ModelError, match="the law inertial does not apply: it speaks of one body"):
        kn.derive(system).text()
    assert kn.derive(system)._repr_latex_() is None
