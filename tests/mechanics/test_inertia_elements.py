"""Inertia elements: the same equations as with bodies, by every formalism that applies without bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state
from tests.support import general

APPLY = general(without=["wittenburg"])
QUANTITIES = ("inverse", "mass_matrix", "bias", "forward", "kinetic_energy", "power", "momentum")

#: Euler's angles, and the angular velocity in the axes of the body.
RATES = """p = psi'*sin(theta)*sin(phi) + theta'*cos(phi), q = psi'*sin(theta)*cos(phi) - theta'*sin(phi),
    r = psi'*cos(theta) + phi'"""
HEAD = "model m; coordinates psi, theta, phi; parameters A = 0.3, B = 0.4, C = 0.5; initial theta = 1;"

#: A system of elements alone, and the same of bodies.
TWINS = {
    "a body with a fixed point": (
        f"{HEAD} let {RATES}; inertia Ax = A on p; inertia Ay = B on q; inertia Az = C on r;",
        f"{HEAD} Body | Rz(psi), Rx(theta), Rz(phi) = 0, A, B, C, unchecked;",
    ),
    "a particle on a driven slide": (
        """model m; coordinates x, y; spring s = 3 on x - y;
        inertia sx = 2 on x + 0.3*sin(t); inertia sy = 2 on y' + t*x' + x;""",
        """model m; coordinates x, y; Slide | Sx(x + 0.3*sin(t)), Sy(y + t*x) = 2; spring s = 3 on x - y;""",
    ),
    "beside a ball joint": (
        "model m; Body | Ball(b) = 1, 0.1, 0.2, 0.25; inertia extra = 0.3 on b.wz;",
        "model m; Body | Ball(b) = 1, 0.1, 0.2, 0.55, unchecked;",
    ),
}


def values(system: kn.System, formalism: str, quantity: str) -> Any:
    equations = kn.derive(system, formalism)
    return np.array(evaluate(equations.graph, equations.expressions(quantity).refs, random_state(system, 3)))


@pytest.mark.parametrize("formalism", APPLY)
@pytest.mark.parametrize("name", TWINS)
def test_elements_give_the_equations_of_the_bodies_they_stand_for(name: str, formalism: str) -> None:
    elements, bodies = map(kn.loads, TWINS[name])
    for quantity in QUANTITIES:
        expected = values(bodies, "newton_euler", quantity)
        assert values(elements, formalism, quantity) == pytest.approx(expected, rel=1e-11, abs=1e-12), quantity


@pytest.mark.parametrize("formalism", APPLY)
def test_three_moments_give_eulers_equations(formalism: str) -> None:
    system = kn.loads(f"{HEAD} inertia Ax = A on p; inertia Ay = B on q; inertia Az = C on r; quasi {RATES};")
    assert kn.derive(system, formalism).text("inverse").splitlines() == [
        "tau[p] = A*p' + (C - B)*q*r",
        "tau[q] = B*q' + (A - C)*p*r",
        "tau[r] = C*r' + (B - A)*p*q",
    ]


def test_a_model_of_elements_alone_is_certified_and_moves() -> None:
    text = TWINS["a particle on a driven slide"][0]
    certificate = kn.verify(kn.loads(text), states=5)
    assert certificate.holds, str(certificate)
    assert "wittenburg: the inertia element 'sx' belongs to no body of the system graph." in str(certificate)
    run = kn.simulate(kn.loads(text + "initial x = 0.2;"), 1.0)
    assert run.success
    assert abs(run["x"][-1]) < 1


def test_written_and_read_again_it_is_the_same() -> None:
    x = kn.symbol("x")
    system = kn.System("m", [], coordinates=["x"], elements=[kn.inertia_element("M", 2, x * x)], initial={"x": 1})
    assert kn.loads(kn.dumps(system)) == system
    assert kn.derive(system).text("kinetic_energy") == "T = 4*x^2*x'^2"


WRONG = {
    "inertia a = 2 on x'^2;": "Inertia 'a' (m.kin:1:24): expected a rate that is linear in the speeds, found 'x'^2'.",
    "inertia a = -2 on x';": "Inertia 'a' (m.kin:1:24): expected an inertia above zero, found -2.",
    "inertia a = x on x';": "Inertia 'a' (m.kin:1:28): the coordinate 'x' has no place here; expected parameters only.",
    "inertia a = 1 on B.vx; B | Sx(x) = 1;": "Inertia 'a' (m.kin:1:33): expected a rate of coordinates, speeds, parameters and "
    "the time, found 'B.vx' in it.",
    "B | Rz(x) = 1, 1, 1, 1; inertia a = 1 kg on x';": "m.kin:1:52: the inertia of 'a' on a rate or an angular "
    "velocity [1/s] must be a moment of inertia [kg*m^2], found a mass [kg].",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_inertia_element_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(f"coordinates x; {text}", "m.kin")
    assert str(raised.value) == WRONG[text]


@pytest.mark.parametrize(
    "element", ["inertia s = 1 on 3", "spring s = 3 on a", "damper s = 3 on 2*a", "force s = 3 on 2"]
)
def test_what_no_motion_changes_is_nothing_to_act_on(element: str) -> None:
    word = element.partition(" ")[0].capitalize()
    with pytest.raises(
        kn.ModelError, match=rf"{word} 's' .*: expected an expression that changes with the motion behind 'on'"
    ):
        kn.loads(f"parameters a = 2; A | Rz(q1) = Jz(1); {element};")
