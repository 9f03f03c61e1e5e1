"""Outputs have the units that follow from their expressions, and none where nothing follows."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.expr.op import LEAVES, Op
from kineta.model.dimensions import _RULES, multiplier_units

MODEL = """
parameters m = 1 kg, l = 50 cm, c = 2 N/m, k = 3 N*m, d = 2 N*s/m, n = 0.1;
A | Rz(q1), Sx(q2) = m, 1, 1, 1;
B ~ A | Ball(b) = 1, 1, 1, 1;
"""


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("q1", "rad"),
        ("-q1", "rad"),
        ("q1'/t", "rad/s^2"),
        ("acos(A.y/l)", "rad"),
        ("q1 - acos(0.3) + sin(t)", "rad"),
        ("q1*step(t - 1)", "rad"),
        ("atan2(A.y, A.x)", "rad"),
        ("sin(q1)", ""),
        ("b.qw", ""),
        ("max(A.x, 0.3)", "m"),
        ("A.x - A.y + 0.1*sin(t)", "m"),
        ("l*q1", "m"),
        ("l*sin(q1)", "m"),
        ("sqrt(A.x^2 + A.y^2)", "m"),
        ("q1'^2*l", "m/s^2"),
        ("c*q2 + d*q2'", "N"),
        ("k*q1", "N*m"),
        ("m*A.vx", "kg*m/s"),
        ("d*A.vx^2", "W"),
        ("kinetic_energy + potential_energy - 3", "J"),
        # What has no unit in the text may stand for anything.
        ("2*q1", None),
        ("q1*180/pi", None),
        ("n*q1", None),
        ("q1 + q2", None),
        ("3", None),
        ("q1^n", None),
    ],
)
def test_units_of_outputs_follow_from_their_expressions(expression: str, unit: str | None) -> None:
    system = kn.loads(f"{MODEL} output shown = {expression};")
    found = kn.simulate(system, 0.01, q={"b.qw": 1}).units
    assert found.get("shown") == unit


def test_units_follow_through_named_expressions_and_quasi_velocities() -> None:
    system = kn.loads(
        f"{MODEL} let h = l*sin(q1), double = 2 m + h; quasi u = h*q1', w = q2', b.wx, b.wy, b.wz;"
        "initial b.qw = 1, u = 2 m/s; output h, double, speed = u - h*q1', couple = c*h*h;"
    )
    found = kn.simulate(system, 0.01, q=[0.5, 0, 1, 0, 0, 0]).units
    assert {n: found[n] for n in ("h", "double", "speed", "couple")} == {
        "h": "m",
        "double": "m",
        "speed": "m/s",
        "couple": "N*m",
    }
    assert (found["u"], found["w"], found["tau[u]"]) == ("m/s", "m/s", "N")


def test_every_operation_has_a_rule() -> None:
    assert _RULES.keys() == set(Op) - LEAVES - {
        Op.POW,
        Op.TABLE,
        Op.LOOKUP,
    }  # more than kinds of operands, and none of models


@pytest.mark.parametrize(
    ("limited", "unit"),
    [
        ("|r(Bob) - r(Hook)| <= L", "N"),
        ("sling >= -4", "N"),
        ("2*x <= L", "N"),
        ("dot(r(Bob), r(Hook)) <= 9", "N/m"),
        ("atan2(x, z) <= 4", "N*m"),
        ("2*x <= 9", ""),
        ("2*x <= 9 m", "N"),
        ("2*atan2(x, z) >= -90 deg", "N*m"),
    ],
)
def test_the_force_at_a_limit_has_a_unit_where_its_expression_or_a_bound_has_one(limited: str, unit: str) -> None:
    system = kn.loads(f"""
        parameters m = 2 kg, L = 5 m; coordinates x, z; Bob | Sx(x), Sz(z) = m;
        point Hook on ground = (0, 0, 1); let sling = L - |r(Bob) - r(Hook)|; limit stop : {limited};""")
    (row,) = system.contacts[0].rows(system)
    for same in (system, kn.loads(kn.dumps(system))):
        assert multiplier_units(same, [f"lambda.{row}"]) == ({f"lambda.{row}": unit} if unit else {})


def test_the_force_of_a_constraint_on_a_velocity_has_a_unit() -> None:
    system = kn.loads(
        "coordinates x, y, phi; S | Sx(x), Sy(y), Rz(phi) = 2, 1, 1, 1; constraint edge : v(S in S).y = 0;"
    )
    assert multiplier_units(system, ["lambda.edge"]) == {"lambda.edge": "N"}
