"""Servo-constraints: forces of a few actuators that hold programs which they influence through the rest of the system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import kineta as kn
from kineta.tasks.servo.derivative_array import Hold, Jet
from kineta.tasks.servo.path_following import followed
from tests.support import EXAMPLES, slow

Floats = NDArray[np.float64]

CRANE = """
model crane;
gravity 9.81 m/s^2;
parameters M = 10 kg, m = 5 kg;
coordinates x, phi, l;
Trolley | Sx(x) = m(M);
Load ~ Trolley | Ry(phi), Sz(-l) = m(m);
program along : Load.x = 1 + 0.5*sin(2*t);
program height : Load.z = -2 + 0.3*cos(3*t);
control least on x, l;
initial x = 1 m, l = 2 m;
"""


def chain(n: int, k: float = 100.0) -> kn.System:
    """Cars of one kilogram joined by springs *k*; the last follows sin(5 t), the first is driven."""
    names = [f"x{i}" for i in range(1, n + 1)]
    cars = "".join(f"Car_{x} | Sx({x}) = m(1);" for x in names)
    springs = "".join(f"spring s{b} = {k} on {b} - {a};" for a, b in pairwise(names))
    path = f"program path : {names[-1]} = sin(5*t);"
    return kn.loads(f"coordinates {', '.join(names)}; {cars} {springs} {path} control least on x1;")


def at(times: Floats, *formulas: sp.Expr) -> list[Floats]:
    t = sp.symbols("t")
    return [np.asarray(sp.lambdify(t, f)(times)) * np.ones_like(times) for f in formulas]


@pytest.mark.slow
def test_a_crane_is_flat_and_its_forces_are_those_of_the_path() -> None:
    found = kn.servo(kn.loads(CRANE), 3.0, samples=61)
    t = sp.symbols("t")
    X, Z = 1 + sp.sin(2 * t) / 2, -2 + sp.Rational(3, 10) * sp.cos(3 * t)
    along, up = sp.diff(X, t, 2), sp.diff(Z, t, 2) + 9.81  # the rope pulls along the acceleration less gravity
    x = X - Z * along / up
    drive = 10 * sp.diff(x, t, 2) + 5 * along
    names = ("x", "phi", "l", "control.x'", "control.l'")
    closed = at(
        found.t, x, sp.atan(along / up), -Z * sp.sqrt(1 + (along / up) ** 2), drive, -5 * sp.sqrt(along**2 + up**2)
    )
    for name, value in zip(names, closed, strict=True):
        assert found[name] == pytest.approx(value, abs=1e-12 * max(1.0, np.abs(value).max())), name
    assert (found.index, found.flat, found.inversion, found.internal) == (5, True, False, 0)
    assert found.residual < 1e-14
    assert found.left < 1e-14


@pytest.mark.parametrize(
    ("w", "lean"), [(3.0, 1.83), *slow([(8.0, 2.0), (3.0, 2.75), (4.0, 3.0), (8.0, 3.0), (12.0, 3.0)])]
)
def test_a_path_that_is_fast_at_once_is_held_from_its_start(w: float, lean: float) -> None:
    """The rope leans by the acceleration, up to 72 degrees."""
    way = lean * 9.81 / w**2
    path = f"program along : Load.x = {way}*sin({w}*t); program height : Load.z = -4; control on x, l; initial l = 4 m;"
    found = kn.servo(kn.loads(CRANE.partition("program")[0] + path), 2 * np.pi / w, samples=101)
    sway = way * np.sin(w * found.t)
    assert found["x"] == pytest.approx((1 - 4 * w**2 / 9.81) * sway, abs=1e-11 * way)
    assert np.tan(found["phi"]) == pytest.approx(-(w**2) * sway / 9.81, abs=1e-11 * lean)


@pytest.mark.parametrize(("n", "k"), [(2, 100.0), (3, 100.0), *slow([(4, 100.0), (4, 1e8), (4, 1e9), (5, 1e5)])])
def test_the_force_on_a_chain_of_cars_takes_two_derivatives_more_with_every_car(n: int, k: float) -> None:
    found = kn.servo(chain(n, k), 2.0, samples=21)
    t = sp.symbols("t")
    x = sp.sin(5 * t)
    force = sp.diff(x, t, 2)
    for _ in range(n - 1):
        x = x + force / k
        force = force + sp.diff(x, t, 2)
    assert found["control.x1'"] == pytest.approx(at(found.t, force)[0], abs=1e-11 + 1e-14 * k)
    assert found["x1"] == pytest.approx(at(found.t, x)[0], abs=1e-12)
    assert (found.index, found.flat) == (2 * n + 1, True)


def test_a_motion_whose_accelerations_are_not_its_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from equations that leave the first car free, whose acceleration is in no equation but that of its force."""

    def slipped(hold: Hold, state: Jet, times: Floats) -> Iterator[Jet]:
        own = np.where(np.arange(len(state.x)) == hold.array.n, 1.01, 1.0)
        return (replace(one, x=one.x * own) for one in followed(hold, state, times))

    monkeypatch.setattr("kineta.tasks.servo.servo.followed", slipped)
    with pytest.raises(
        kn.SimulationError, match="the acceleration x1'' that is found and the rate at which x1' changes"
    ):
        kn.servo(chain(3), 2.0, samples=21)


K, C, W = 4.0, 1.0, 5.0
TWO = (
    f"coordinates x1, x2; A | Sx(x1) = m(1); B | Sx(x2) = m(1); spring s = {K} on x2 - x1; damper d = {C} on x2' - x1';"
)
DAMPED = f"{TWO} program path : x2 = sin({W}*t); control least on x1;"


@pytest.mark.slow
def test_dampers_between_cars_leave_a_motion_of_their_own() -> None:
    """k x + c x' of a car is what the path of the next asks for: exp(-k t / c) is left free."""
    start = {"q": {"x1": 0.3}, "v": {"x1'": W - K * 0.3 / C, "x2'": W}}
    found = kn.servo(kn.loads(DAMPED), 2.0, **start, samples=21, rtol=1e-12, atol=1e-13)
    share = (K + 1j * W * C - W**2) / (K + 1j * W * C)
    closed = (share * np.exp(1j * W * found.t)).imag + (0.3 - share.imag) * np.exp(-K / C * found.t)
    assert found["x1"] == pytest.approx(closed, abs=1e-10)
    assert (found.index, found.flat, found.internal) == (4, False, 1)
    assert found.poles == pytest.approx([-K / C])
    assert found.stability == "minimum phase: it dies out, by exp(-4 t) at least about rest"


def pendulum(share: float) -> kn.System:
    """Two rods that hang from each other, point masses at their ends, a motor at the first; the program weighs both angles."""
    return kn.loads(
        f"""
        gravity (0, -9.81, 0);
        coordinates a, b;
        One | Rz(a), Sy(-1) = m(1);
        Two ~ One | Rz(b - a), Sy(-1) = m(1);
        program path : a + {share}*b = 0.4*sin(t)^2;
        control least on a;
        """
    )


@pytest.mark.slow
def test_a_passive_joint_moves_as_its_own_equation_says() -> None:
    """b'' + a'' cos(b - a) + a'^2 sin(b - a) + 9.81 sin b = 0 is the balance about the second hinge, in absolute angles."""
    share = 0.3
    found = kn.servo(pendulum(share), 3.0, samples=31, rtol=1e-12, atol=1e-13)

    def rate(t: float, y: Floats) -> list[float]:
        b, db = y
        a, da, own = 0.4 * np.sin(t) ** 2 - share * b, 0.4 * np.sin(2 * t) - share * db, 0.8 * np.cos(2 * t)
        rest = own * np.cos(b - a) + da**2 * np.sin(b - a) + 9.81 * np.sin(b)
        return [db, -rest / (1 - share * np.cos(b - a))]

    reduced = solve_ivp(rate, (0, 3), [0.0, 0.0], "DOP853", t_eval=found.t, rtol=1e-12, atol=1e-13)
    assert found["b"] == pytest.approx(reduced.y[0], abs=1e-9)
    assert (found.index, found.inversion, found.internal) == (3, True, 2)
    assert found.poles == pytest.approx(np.array([-1j, 1j]) * np.sqrt(9.81 / (1 - share)))
    assert found.stability == "neither dies out nor grows to the first order about rest"
    assert found.residual < 1e-13


@pytest.mark.slow
def test_a_point_beyond_the_second_rod_is_not_minimum_phase() -> None:
    found = kn.servo(pendulum(1.5), 0.5, samples=11)
    assert found.stability.startswith("not minimum phase: it grows, by exp(4.429 t)")
    assert found.poles == pytest.approx(np.array([1, -1]) * np.sqrt(9.81 / 0.5))
    with pytest.raises(kn.SimulationError, match=r"a singular position at t = 0\.50"):
        kn.servo(pendulum(1.5), 2.0, samples=11)  # to which what grows leads


@pytest.mark.slow
@pytest.mark.parametrize("samples", [2, 11, pytest.param(1001, marks=pytest.mark.slow)])
def test_forces_of_control_do_the_work_that_energy_says(samples: int) -> None:
    crane = kn.load(EXAMPLES / "crane_servo.kin")
    found = kn.servo(crane, 2.0, samples=samples)
    energy = kn.derive(crane).function("energy")(found.t, found.q, found.v)
    assert found["control.work"] == pytest.approx(energy - energy[0], abs=1e-9 * found.work)
    assert found["control.power"] == pytest.approx(np.sum(found.tau * found.v, axis=1))


@pytest.mark.slow
def test_no_work_is_done_from_rest_to_rest_at_the_same_height() -> None:
    assert abs(kn.servo(kn.load(EXAMPLES / "crane_servo.kin"), 4.0, samples=2).work) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("samples", [101, pytest.param(1001, marks=pytest.mark.slow)])
def test_the_work_of_control_is_what_is_stored_and_dissipated(samples: int) -> None:
    """Two cars with a spring and a damper between them, and internal dynamics."""
    cars = kn.loads(
        "coordinates x1, x2; A | Sx(x1) = m(2); B | Sx(x2) = m(1); spring c = 40 on x2 - x1; damper d = 3 on x2 - x1;"
        "program p : x2 = 0.3*t^2; control least on x1; initial x1 = 0.015;"
    )
    few, many = (kn.servo(cars, 1.0, samples=n) for n in (11, samples))
    spent = make_interp_spline(many.t, 3 * (many["x2'"] - many["x1'"]) ** 2, k=5).antiderivative()
    for found in (few, many):
        energy = kn.derive(cars).function("energy")(found.t, found.q, found.v)
        assert found["control.work"] == pytest.approx(energy - energy[0] + spent(found.t), abs=1e-9 * found.work)
    assert few.work == pytest.approx(many.work, rel=1e-10)


@pytest.mark.slow
def test_the_work_of_forces_that_jump_does_not_depend_on_samples() -> None:
    system = kn.loads(CRANE.replace("1 + 0.5*sin(2*t)", "max(0, t - 0.7)^4"))
    for found in (kn.servo(system, 1.5, samples=n) for n in (2, 11)):
        energy = kn.derive(system).function("energy")(found.t, found.q, found.v)
        assert found["control.work"] == pytest.approx(energy - energy[0], abs=1e-9 * found.work)


@pytest.mark.slow
def test_a_start_that_meets_its_program_is_kept_while_all_moves() -> None:
    """Two passive pendulums swing under a cart whose path begins with an acceleration."""
    passive = kn.loads(
        "gravity 9.81; Cart | Sx(x) = 1.6; P1 ~ Cart | Ry(p1), Sz(-0.45) = 1.4; P2 ~ P1 | Ry(p2), Sz(-0.7) = 2;"
        "coordinates x, p1, p2; program a : x = 0.6*t^2; control least on x;"
        "initial p1 = 0.1, p2 = 0.2, p1' = -0.05, p2' = -0.3;"
    )
    found, run = kn.servo(passive, 0.5, samples=6), kn.simulate(passive, 0.5, samples=6, rtol=1e-11)
    for name in ("x", "p1", "p2", "p2'"):
        assert found[name] == pytest.approx(run[name], abs=1e-8), name


@pytest.mark.slow
def test_a_model_follows_its_program_under_the_forces_found() -> None:
    crane = kn.load(EXAMPLES / "crane_servo.kin")
    found = kn.servo(crane, 4.0, samples=401)
    plain = crane.replace(programs=(), control=kn.control())
    assert kn.derive(plain).function("forward")(found.t, found.q, found.v, found.tau) == pytest.approx(
        found.vdot, abs=1e-11
    )
    # Forces at the middle of an interval are held through it, which costs the square of 0.02 s.
    tau = {n: kn.sampled(found.t[:-1:2], found[f"control.{n}"][1::2]) for n in found.actuators}
    run = kn.simulate(plain, 4.0, q=found.q[0], v=found.v[0], tau=tau, t_eval=found.t[::80])
    for name in ("Load.x", "Load.z"):
        assert run[name] == pytest.approx(found[name][::80], abs=1e-3)


@pytest.mark.slow
def test_speeds_are_held_through_springs_too() -> None:
    """The rate of the second of two cars: x1 = x2 + x2'' / k, with a place of x2 that nobody asks for."""
    text = "coordinates x1, x2; A | Sx(x1) = m(1); B | Sx(x2) = m(1); spring s = 4 on x2 - x1;"
    system = kn.loads(f"{text} program path : x2' = sin(t); control least on x1;")
    found = kn.servo(system, 2.0, q={"x1": 0.75, "x2": 0.5}, v={"x1'": 0.0, "x2'": 0.0}, samples=11)
    place = 1.5 - np.cos(found.t)
    assert found["x2"] == pytest.approx(place, abs=1e-10)
    assert found["x1"] == pytest.approx(place + np.cos(found.t) / 4, abs=1e-10)
    assert (found.index, found.internal) == (4, 1)


@pytest.mark.slow
def test_where_inversion_does_it_forces_are_those_of_a_run() -> None:
    ball = kn.loads(
        """
        gravity 9.81 m/s^2;
        B | Ball(b) = 1, 0.1, 0.2, 0.3;
        P ~ B | Sz(-1) = m(1);
        program across : P.x = 0.3*sin(t);
        program along : P.y = 0.2*t^2;
        control least on b.wx, b.wy;
        initial b.wy = -0.3, b.wz = 0.5;
        """
    )
    found = kn.servo(ball, 1.0, samples=11)
    run = kn.simulate(ball, 1.0, samples=11, rtol=1e-11, atol=1e-13)
    assert found.inversion
    for name in ("b.qx", "b.qz", "b.wz", "control.b.wx", "control.b.wy", "control.work"):
        assert found[name] == pytest.approx(run[name], abs=1e-9), name


@pytest.mark.slow
def test_the_motion_of_a_flat_system_is_the_same_backwards() -> None:
    crane = kn.load(EXAMPLES / "crane_servo.kin")
    there, back = kn.servo(crane, 4.0, samples=21), kn.servo(crane, (4.0, 0.0), samples=21)
    assert back.tau[::-1] == pytest.approx(there.tau, abs=1e-10)


@pytest.mark.slow
def test_closed_systems_are_driven_where_the_actuator_is() -> None:
    fourbar = kn.load(EXAMPLES / "fourbar.kin")
    theta = kn.symbol("theta")
    own = fourbar.replace(programs=(kn.program("path", theta - 0.8 - 0.3 * kn.sin(kn.symbol("t"))),))
    found = kn.servo(own, 2.0, actuators=["gamma'"], samples=21)
    known = kn.inverse(fourbar, {"theta": "0.8 + 0.3*sin(t)"}, ["gamma'"], t=found.t)
    assert found["control.gamma'"] == pytest.approx(known["tau[gamma']"], abs=1e-10)
    assert found.flat


ARM = "coordinates a, b; A | Rz(a), Sx(1) = m(1); B ~ A | Rz(b), Sx(1) = m(1); initial a = 0.5, b = 0.5; control least on a, b;"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TWO, "has no programs of motion to hold"),
        (f"{TWO} program p : x2 = 1;", "names no actuators; give some, as in control on x1'"),
        (
            f"{TWO} program p : x2 = t; program r : x1 = t; control least on x1;",
            "cannot hold so many programs, p, r; name",
        ),
        (f"{TWO} program p : x2 = t; control least on x1, x2;", "forces on x1', x2' hold p in many ways; name as many"),
        (
            f"{TWO} program p : x2'' = t; control least on x1;",
            "Program 'p': expected an expression of the time, coordinates",
        ),
        (
            f"{TWO} limit wall : x1 <= 1; program p : x2 = t; control least on x1;",
            "and wall may bring some; leave these out",
        ),
        (
            "coordinates x, y; A | Sx(x) = m(1); B | Sx(y) = m(1); program p : y = sin(t); control least on x;",
            "no force on x' changes 'p' beside what else is asked for, at any order up to 2. Name other actuators.",
        ),
        (
            f"{TWO} program p : x2 = 1; program r : 2*x2 = 3; control least on x1, x2;",
            "'p' and 'r' contradict each other: at t = 0 s the nearest motion misses 'p' by 0.25, 'r' by -0.5",
        ),
        (
            f"{TWO} program p : x2 = t; program r : 2*x2 = 2*t; control least on x1, x2;",
            "'p' and 'r' say the same of the motion",
        ),
        (
            f"{TWO} program p : x2 = t^6; program r : x2 = 2*t^6; control least on x1, x2;",
            "'p' and 'r' contradict each other: at t = 0.1 s",
        ),
        (f"{TWO} program p : x2 = sqrt(t - 1); control least on x1;", "the program 'p' has no finite value at t = 0 s"),
        (
            DAMPED,
            "the start misses the programs at t = 0 s, or what follows from them, and 1 of its variables are free",
        ),
        (f"{ARM} program p : B.x = 3; program r : B.y = 1;", "the nearest misses the program 'p' by -1.0"),
        (f"{ARM} program p : B.x = 1 + t; program r : B.y = 0.3;", "a singular position at t = 0.97737"),
    ],
)
def test_what_cannot_be_held_is_told(text: str, says: str) -> None:
    with pytest.raises(kn.KinetaError) as told:
        kn.servo(kn.loads(text), 2.0)
    assert says in str(told.value)


def test_a_start_beside_its_programs_is_shown_with_the_nearest() -> None:
    with pytest.raises(kn.SimulationError, match=r"the nearest to x1 = .*, x2' = .* are x1 = ") as told:
        kn.servo(kn.loads(DAMPED), 2.0)
    assert "e-" not in str(told.value)


def test_a_corner_of_a_path_is_told_with_its_time() -> None:
    with pytest.raises(kn.SimulationError) as error:
        kn.servo(kn.loads(CRANE.replace("1 + 0.5*sin(2*t)", "abs(t - 1)")), 2.0, samples=21)
    assert "at t = 1 s the first derivative of the program 'along' jumps, and the forces take 3 more" in str(
        error.value
    )


@pytest.mark.slow
def test_forces_that_jump_with_their_path_are_told_and_held() -> None:
    found = kn.servo(kn.loads(CRANE.replace("1 + 0.5*sin(2*t)", "max(0, t - 0.7)^4")), 1.5, samples=21)
    assert found.jumps == ("forces may jump at t = 0.7 s, as the 4th derivative of the program 'along' does",)
    assert found.residual < 1e-12
    smooth = kn.servo(kn.loads(CRANE.replace("1 + 0.5*sin(2*t)", "max(0, t - 0.7)^6")), 1.5, samples=21)
    assert smooth.jumps == ()


@pytest.mark.slow
def test_an_integrator_neither_dies_out_nor_grows() -> None:
    text = "coordinates x1, x2; A | Sx(x1) = m(2); B | Sx(x2) = m(1); spring c = 50 on x2 - x1; damper d = 3 on x2;"
    found = kn.servo(kn.loads(f"{text} program p : x2' = t^4;"), 1.0, actuators=["x1"], samples=5)
    assert found.stability.startswith("neither dies out nor grows")


PENDULUM = "gravity 9.81; A | Sx(x) = 2; L ~ A | Ry(f), Sz(-1) = m(1); coordinates x, f; control least on x; "


@pytest.mark.slow
def test_what_is_left_is_measured_by_what_could_act() -> None:
    found = kn.servo(kn.loads(PENDULUM + "program p : L.x = 0.1*t;"), 1.0, samples=11)
    assert np.abs(found.tau).max() < 1e-12
    assert found.left < 1e-12


def test_a_start_across_which_the_force_does_nothing_is_singular() -> None:
    """Where the rope hangs straight down the trolley does not move its load; anywhere else it does."""
    with pytest.raises(kn.SimulationError) as error:
        kn.servo(kn.loads(PENDULUM + "program p : L.x = 0.1*sin(t);"), 1.0)
    assert "the position at t = 0 s that meets the programs is singular" in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1e-12", "1e12"])
def test_a_path_times_a_number_is_the_same_path(scale: str) -> None:
    larger = CRANE.replace("Load.x = 1 + 0.5*sin(2*t)", f"{scale}*Load.x = {scale}*(1 + 0.5*sin(2*t))")
    one, other = (kn.servo(kn.loads(text), 1.0, samples=5) for text in (CRANE, larger))
    assert (other.index, other.flat) == (one.index, one.flat)
    np.testing.assert_allclose(other.tau, one.tau, atol=1e-11)


@pytest.mark.slow
def test_redundant_constraints_are_found_at_the_start_that_is_given() -> None:
    """The model's own start is another one, and its parameter has no value."""
    text = "model pair; coordinates x, y; A | Sx(x) = 2; B | Sy(y) = 3; constraint c : y = k*x; {} initial x = 5;"
    text += "program path : x = 0.1*sin(t); control on x';"
    system = kn.loads(text.format("constraint again : 2*y = 2*k*x; "))
    start = {"q": {"x": 0.0, "y": 0.0}, "p": {"k": 2.0}}
    with pytest.warns(
        kn.KinetaWarning, match=r"'pair': 1 of 2 rows of constraints is redundant and left out \(again follows"
    ):
        found = kn.servo(system, 1.0, samples=5, **start)
    assert found.tau[:, 0] == pytest.approx(-(2 + 3 * 4) * 0.1 * np.sin(found.t), abs=1e-9)
    with pytest.raises(
        kn.SimulationError, match="'pair': the constraint 'd' contradicts c: no state near the start meets all"
    ):
        kn.servo(kn.loads(text.format("constraint d : y = k*x + 1; ")), 1.0, **start)


@pytest.mark.slow
def test_states_are_integrated_along_a_flat_path() -> None:
    model = kn.loads(
        "coordinates x, y; A | Sx(x) = 2; B | Sx(y) = 1; spring k = 50 on y - x; state w : w' = y' - w; force f = -4*w on y;"
        "program p : y = t^4; control least on x;"
    )
    found = kn.servo(model, 2.0, samples=41)
    t, free = found.t, found["w"]
    w = 4 * (t**3 - 3 * t**2 + 6 * t - 6 + 6 * np.exp(-t))  # w' = 4 t^3 - w from rest
    assert free == pytest.approx(w, rel=1e-8, abs=1e-8)
    assert found["x"] == pytest.approx(t**4 + (12 * t**2 + 4 * w) / 50, rel=1e-8, abs=1e-8)
    assert (found.flat, found.internal) == (False, 1)
    assert found.poles == pytest.approx([-1])


@pytest.mark.slow
def test_states_belong_to_the_internal_dynamics() -> None:
    model = kn.loads(
        "coordinates x, y; A | Sx(x) = 2; B | Sx(y) = 1; spring k = 50 on y - x; damper d = 2 on y - x;"
        "state w : w' = 3*(y - x) - 2*w + x*t/1 s; force f = -4*w on y; program p : x = sin(t); control least on x;"
        "initial x' = 1, y' = 1, w = 0.1;"
    )
    found, run = kn.servo(model, 2.0, samples=41), kn.simulate(model, 2.0, samples=41, rtol=1e-11, atol=1e-13)
    for name in ("y", "w", "control.x'"):
        assert found[name] == pytest.approx(run[name], rel=1e-7, abs=1e-7)
    A = np.array([[0, 1, 0], [-50, -2, -4], [3, 0, -2]])
    assert found.internal == 3
    assert found.poles is not None
    assert np.sort_complex(found.poles) == pytest.approx(np.sort_complex(np.linalg.eigvals(A)), rel=1e-9)
