"""Limiting cases: small angles, slender bodies, springs of zero length, redundant coordinates."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kineta as kn

HEAD = "gravity 9.81;\n"


def value(text: str, quantity: str, q: list[float], v: list[float] | None = None) -> np.ndarray:
    system = kn.loads(text)
    return kn.derive(system).function(quantity)(0.0, q, v or [0.0] * system.nv)


@pytest.mark.parametrize("small", [1e-3, 1e-9, 1e-12, 1e-16])
def test_the_small_moment_of_a_slender_body_survives(small: float) -> None:
    assert value(f"A | Rz(q1) = 1, 1.1, 1.1, {small};", "mass_matrix", [0.3]).item() == pytest.approx(small, rel=1e-15)
    system = kn.loads(f"parameters a = 1.1, c = {small};\nA | Rz(q1) = 1, a, a, c;")
    assert kn.derive(system).function("mass_matrix")(0, [0.3], [0]).item() == pytest.approx(small, rel=1e-15)


@pytest.mark.parametrize("motion", ["Ry(1e-8)", "Rz(1e-8)", "Rx(-1e-8)"])
def test_inertia_turns_by_small_angles(motion: str) -> None:
    text = f"A | Rx(q1), Ry(q2), Rz(q3) = 1, 1, 1, 1;\nB~A | {motion} = 0, 1, 2, 2.5;"
    M = value(text, "mass_matrix", [0.0, 0.0, 0.0])
    i, j, sign = {"y": (0, 2, 1.5), "z": (0, 1, -1.0), "x": (1, 2, 0.5)}[motion[1]]
    assert M[i, j] == pytest.approx(1e-8 * sign, rel=1e-6)


def test_an_axis_that_is_nearly_vertical_is_not_vertical() -> None:
    tau = value(HEAD + "A | R[1e-8, 0, 1](q1) = 1, 1, 1, 1, com = (0, 1, 0);", "bias", [0.0])
    assert tau.item() == pytest.approx(9.81e-8, rel=1e-9)


def test_a_spring_without_length_is_smooth_where_its_ends_meet() -> None:
    text = "A | Sx(q1), Sy(q2) = 2; spring s = 3 between A and ground;"
    assert value(text, "forward", [0.0, 0.0]) == pytest.approx([0, 0])
    assert value(text, "forward", [1.0, -2.0]) == pytest.approx([-1.5, 3.0])
    assert value(text, "potential_energy", [1.0, -2.0]) == pytest.approx(7.5)
    assert kn.derive(kn.loads(text)).operations("forward").sqrt == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A | Sx(q1) = 1; spring s = 3 on q1';", "Spring 's' (<text>:1:33): the speed 'q1'' has no place here"),
        ("A | Sx(q1) = 1; spring s = 3 on A.vx;", "the velocity 'A.vx' has no place here"),
        ("A | Sx(q1) = 1; spring s = 3, 0.1*q1' between A and ground;", "A force that depends on speeds is a damper"),
        ("A | Sx(q1) = 1; spring s = 3 between A and A;", "the two places between which it acts are always the same."),
        ("A | Sx(q1) = 1; damper d = 3 between ground and ground;", "Damper 'd' (<text>:1:24): the two places"),
        ("A | Sx(q1) = 1; spring s = 3 between A at (q1, 0, 0) and ground;", "the coordinate 'q1' has no place here"),
        ("A | Rz(q1 + q2) = Jz(1);", "all inertia that the speed 'q1'' moves is moved in the same way by others."),
        ("A | Rz(q1), Rz(q2) = Jz(1);", "all inertia that the speed 'q1'' moves is moved in the same way by others."),
        ("A | Rz(q1), Ry(pi/2), Rx(q2) = Jz(1);", "the speed 'q2'' moves nothing that has inertia"),
        ("A | Sx(1e-160*q1) = 1;", "Body 'A' (<text>:1:1): the number 1e-160 is too small to derive with: 1/"),
        ("constants l = 1e-160; A | Sx(l*q1) = 1;", "Parameter 'l' (<text>:1:11): the number 1e-160 is too small"),
        (
            "A | Sx(q1) = 1; B ~ A | Sx(1e200*q1) = 1e100;",
            "Body 'B' (<text>:1:17): the number 1e+200 is too large to derive with: 1e+200*1e+300 is not a finite "
            "number. Choose other units.",
        ),
        (
            "A | Sx(x + y) = 1e18; B | Sx(x - y) = 1; coordinates x, y;",
            "the mass matrix is singular up to rounding in 'x''. The masses lie between 1 and 1e+18 kg, and beside the largest "
            "the smallest are lost in rounding: let heavy bodies carry light ones, or choose values that differ less.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError, match=re.escape(message)):
        kn.derive(kn.loads(text)).expressions("forward")


def test_a_number_at_which_formulas_fail_is_named() -> None:
    with pytest.raises(
        kn.ModelError, match=r"^Potential 'V' \(<text>:1:27\): the number 1e\+200 is too large to derive with"
    ):
        kn.derive(kn.loads("A | Sx(q1) = 1; potential V = (1e200*q1)^2;")).operations("forward")


def pendulums(n: int, *, absolute: bool) -> kn.System:
    q = [kn.symbol(f"q{i}") for i in range(n)]
    angles = [q[i] - q[i - 1] if absolute and i else q[i] for i in range(n)]
    bodies = [
        kn.body(
            f"b{i}", [kn.Rz(angles[i]), kn.Sy(-1)], kn.inertia(1, (0.1, 0.1, 0.1)), base=f"b{i - 1}" if i else "ground"
        )
        for i in range(n)
    ]
    return kn.System("chain", bodies, gravity=(0, -9.81, 0))


@pytest.mark.slow
def test_forward_dynamics_is_linear_in_absolute_coordinates_too() -> None:
    small, large = (kn.derive(pendulums(n, absolute=True)).operations("forward").total for n in (20, 40))
    assert large < 2.1 * small


def test_absolute_and_relative_coordinates_move_alike() -> None:
    n = 12
    q, v = np.random.default_rng(1).uniform(-1, 1, (2, n))
    relative, absolute = (kn.derive(pendulums(n, absolute=a)).function("forward") for a in (False, True))
    expected = relative(0.0, np.diff(q, prepend=0), np.diff(v, prepend=0))
    assert absolute(0.0, q, v) == pytest.approx(np.cumsum(expected), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("stiffness", ["k*(1 + sin(t))", "k*(1 + q1^2)"])
def test_a_spring_without_length_is_smooth_whatever_its_stiffness(stiffness: str) -> None:
    text = f"parameters k = 3; A | Sx(q1) = 1; B ~ A | Sy(q2) = 1; spring s = {stiffness} between ground and B;"
    assert value(text, "forward", [0.0, 0.0]) == pytest.approx([0, 0])
    assert kn.simulate(kn.loads(text), 2.0, q=[0.3, -0.2], v=[0.1, 0.4]).energy_balance < 1e-7


def test_parameters_of_any_size_and_depth_are_parameters() -> None:
    mass = kn.symbol("M") * 1e200 * 1e200
    system = kn.System("huge", [kn.body("b", [kn.Sx(kn.symbol("q"))], kn.inertia(mass))], parameters={"M": 1e-100})
    assert kn.derive(system).function("mass_matrix")(0, [0], [0]).item() == pytest.approx(1e300)
    mass = kn.symbol("M")
    for _ in range(1200):
        mass = mass * 0.987654321 + 1.0
    system = kn.System("deep", [kn.body("b", [kn.Sx(kn.symbol("q"))], kn.inertia(mass))], parameters={"M": 1.0})
    expected = 1.0
    for _ in range(1200):
        expected = expected * 0.987654321 + 1.0
    assert kn.derive(system).function("mass_matrix")(0, [0], [0]).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("states", [(), (5,)], ids=["one state", "rows"])
def test_a_model_that_only_the_time_moves_has_every_quantity(states: tuple[int, ...]) -> None:
    equations = kn.derive(kn.loads("parameters m = 1; A | Rz(t) = m, 1, 1, 1; B ~ A | Sx(1) = 2;"))
    for name in equations.quantities:
        f = equations.function(name, "numpy")
        found = f(np.zeros(states), *(np.zeros((*states, 0)) for argument in f.arguments if argument != "t"))
        assert all(np.shape(x)[: len(states)] == states for x in (found if isinstance(found, tuple) else (found,)))
