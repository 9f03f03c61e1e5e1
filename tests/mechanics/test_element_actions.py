"""Actions of elements, on systems with solutions by hand."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.elements.element_actions import ACTIONS
from kineta.mechanics.kinematics.description_route import PAIRS
from kineta.model.compound import CompoundElement
from kineta.model.elements import KINDS


def value(text: str, quantity: str, q: list[float], v: list[float] | None = None, t: float = 0.0) -> np.ndarray:
    system = kn.loads(text)
    return kn.derive(system).function(quantity, "numpy")(t, q, np.zeros(system.nv) if v is None else v)


def test_every_kind_of_element_acts() -> None:
    assert ACTIONS.keys() == PAIRS.keys() == {k.record for k in KINDS if not issubclass(k.record, CompoundElement)}


def test_a_force_between_two_places_drives_them_apart() -> None:
    text = "A | Sx(q1), Sy(q2) = 2; B | Sx(q3) = 1; force ram = 5 between A and B; coordinates q1, q2, q3;"
    assert value(text, "forward", [0.0, 3.0, 4.0]) == pytest.approx([-2.0, 1.5, 4.0])
    assert value(text, "power", [0.0, 3.0, 4.0], [1.0, 0.0, 2.0]) == pytest.approx(4.0)


@pytest.mark.parametrize("where", ["on q1", "between A and ground"])
def test_a_spring_is_slack_at_its_free_length(where: str) -> None:
    text = f"A | Sx(q1) = 2; spring s = 10, 0.5 {where};"
    assert value(text, "forward", [0.5]) == pytest.approx([0.0])
    assert value(text, "forward", [0.7]) == pytest.approx([-1.0])
    assert value(text, "potential_energy", [0.7]) == pytest.approx(0.2)


def test_a_winch_that_reels_a_spring_in_is_pulled_at() -> None:
    text = (
        "A | Sx(q1) = 2; Drum | Rz(q2) = Jz(0.5); spring s = 10, 1 - 0.1*q2 between A and ground; coordinates q1, q2;"
    )
    # Stretched by 0.2 m: 2 N on the load, 2 N times the drum's radius of 0.1 m on the drum.
    assert value(text, "forward", [1.2, 0.0]) == pytest.approx([-1.0, -0.4])


AXES = """
frame Mount | Rz(0.3), Rx(-1);
Arm ~ Mount | Rz(q1), Sx(0.5) = 1, 1, 1, 1;
Hand ~ Arm | Ry(q2), Sx(0.2) = 1, 1, 1, 1;
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [("in Hand", "in body"), ("in ground", ""), ("in Mount", "turned"), ("in Arm", "carried")],
)
def test_axes_are_those_of_the_body_that_is_named(one: str, other: str) -> None:
    q, v = [0.4, -0.7], [0.2, 0.9]
    axes = {n: value(AXES, "rotations", q)[i] for i, n in enumerate(("Mount", "Arm", "Hand"))}
    components = np.array([1.0, 2.0, 3.0])
    if other in ("turned", "carried"):
        components = axes["Mount" if other == "turned" else "Arm"] @ components
        other = ""
    for what, quantity in (("force f", "bias"), ("couple c", "bias"), ("force f", "power"), ("couple c", "power")):
        first = value(f"{AXES} {what} on Hand = (1, 2, 3) {one};", quantity, q, v)
        second = value(
            f"{AXES} {what} on Hand = ({', '.join(map(repr, components.tolist()))}) {other};", quantity, q, v
        )
        assert first == pytest.approx(second, rel=1e-13)


SPRUNG = "A | Sx(q1), Sy(q2) = 2; point P on A = (0.1, 0, 0); {} coordinates q1, q2;"


@pytest.mark.parametrize(
    ("potential", "spring"),
    [
        ("potential v = 3*(q1 - 0.2)^2;", "spring s = 6 on q1 - 0.2;"),
        ("potential v = 3*(q1 - sin(t))^2;", "spring s = 6 on q1 - sin(t);"),
        ("potential v = (P.x^2 + P.y^2)/2;", "spring s = 1 between P and ground;"),
    ],
)
@pytest.mark.parametrize("quantity", ["forward", "potential_energy", "power"])
def test_a_potential_acts_as_the_spring_of_the_same_energy(potential: str, spring: str, quantity: str) -> None:
    state = [0.3, -0.4], [1.0, 2.0], 0.7
    found = value(SPRUNG.format(potential), quantity, *state)
    assert found == pytest.approx(value(SPRUNG.format(spring), quantity, *state), rel=1e-13)


def test_energy_and_work_balance_under_a_potential_that_depends_on_the_time() -> None:
    text = "A | Sx(x) = 2; potential v = 5*x^2*(1 + 0.3*sin(2*t)) - log(2 - x); initial x = 1;"
    run = kn.simulate(kn.loads(text), 5.0, rtol=1e-10)
    assert run.status == 0
    assert abs(run.energy_balance) < 1e-8
