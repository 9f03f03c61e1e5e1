"""First-order states against closed forms, matrix exponentials, differences, and each other task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import kineta as kn
from tests.reference_problems.tables import TIGHT
from tests.support import EXAMPLES

MOTOR = """
model motor;
parameters u = 12 V, R = 2 V/A, L = 0.5 V*s/A, k = 0.5 N*m/A, J = 0.01 kg*m^2, d = 0.001 N*m*s;
Rotor | Rz(phi) = Jz(J);
coordinates phi;
state i in A : i' = (u - R*i - k*phi')/L;
force torque = k*i on phi;
damper bearing = d on phi';
initial i = 0.5 A, phi' = 3 rad/s;
output power = u*i, rate = i';
"""

#: A mechanism with a closed loop, a motor, and an observer of the place of a body.
CLOSED = """
model closed;
gravity (0, -9.81, 0);
parameters R = 2 V/A, L = 0.05 V*s/A, k = 0.5, u = 1 V, m = 0.5, a = 0.1 m, b = 0.3 m, c = 0.25 m, d = 0.3 m;
Crank | Rz(q1), Sx(a) = m(m), Jz(0.001);
Coupler ~ Crank | Rz(q2), Sx(b) = m(m), Jz(0.002);
Rocker | Sx(d), Rz(q3), Sx(c) = m(m), Jz(0.002);
loop pin : revolute between Coupler axis (0, 0, 1) and Rocker axis (0, 0, 1);
state i in A : i' = (u - R*i - k*q1')/L;
state y : y' = (Coupler.x - y)/0.1;
force torque = k*i + 0.1*y on q1;
damper slow = 0.5 on q1';
initial q1 = 0.6929994079278217, q2 = -0.02508862313133717, q3 = 1.5209015084380206, i = 0.2 A;
output behind = y - Coupler.x, rate = i';
"""

#: Springs with a movable end, potentials, friction and forces that states feed, beside states that watch points.
COUPLED = """
model coupled;
gravity 9.81;
parameters k = 20, m = 1, l = 0.5, c = 3;
Arm | Ry(q1), Sz(-l) = m;
Fore ~ Arm | Ry(q2), Sz(-l) = m;
point P on Fore = (0, 0, -0.1);
state z : z' = (sin(t) - z)/0.1 + 0.1*P.vx + v(P in Arm).y;
state w : w' = z + r(P in Arm).z - q1';
spring series = k, z on q1 - 0.1*q2;
spring cord = 5, 0.2 m + 0.01*w between Fore and ground at (1, 0, 0);
spring stiff = 5*(1 + w^2), 0.1*z on q2;
potential V = c*(q1 - z)^2*q2^2;
force f on Fore = (w*q1', 0, z);
force g = z*w' on q2;
friction rub = 0.1*z^2, smooth = 0.1 on q2;
output rate = z', all = w*energy;
"""

BOUNCER = """
model bouncer;
gravity 9.81;
parameters m = 1, mode = 1, lam = 0.1;
Ball | Sx(x), Sz(h) = m;
coordinates x, h;
contact floor : point between Ball and ground axis (0, 0, 1), restitution = 0.8, friction = 0.3;
state w : w' = -w/0.5 + h' + lam*mode;
force fan = 2*w + 1 on x;
when low : w <= -1 : w = 0.5, mode = 2;
initial h = 1, x' = 0.2;
"""


def matrices(system: kn.System) -> tuple[Any, Any]:
    """A and b of the linear system x' = A x + b of the motor, x = (phi, i, phi')."""
    p = {own.name: own.value for own in system.parameters}
    A = [
        [0, 0, 1],
        [0, -p["R"] / p["L"], -p["k"] / p["L"]],
        [0, p["k"] / p["J"], -p["d"] / p["J"]],
    ]
    return np.array(A), np.array([0, p["u"] / p["L"], 0])


@pytest.mark.parametrize("method", ["dop853", pytest.param("Radau", marks=pytest.mark.slow), "CVODE"])
def test_a_motor_follows_the_matrix_exponential(method: str) -> None:
    system = kn.loads(MOTOR)
    A, b = matrices(system)
    whole = np.zeros((4, 4))
    whole[:3, :3], whole[:3, 3] = A, b
    run = kn.simulate(system, 1.0, method=method, **TIGHT)
    expected = expm(whole) @ [0.0, 0.5, 3.0, 1.0]
    assert run.y[:, -1] == pytest.approx(expected[:3], rel=1e-7 if method in ("Radau", "CVODE") else 1e-10)
    assert run["rate"][-1] == pytest.approx((A @ expected[:3] + b)[1], rel=1e-6)


def test_the_current_of_a_motor_that_is_held_rises_exponentially() -> None:
    system = kn.loads(MOTOR).replace(initial={}, elements=())
    run = kn.simulate(system, 1.0, p={"k": 0}, **TIGHT)
    assert run["i"] == pytest.approx(6.0 * (1 - np.exp(-4.0 * run.t)), rel=1e-10, abs=1e-12)


def test_a_state_that_counts_up_power_balances_the_energy() -> None:
    system = kn.loads(MOTOR + "state E in J : E' = k*i*phi' - d*phi'^2;")
    run = kn.simulate(system, 1.0, **TIGHT)
    assert run["E"] == pytest.approx(run.energy - run.energy[0], rel=1e-9, abs=1e-10)
    assert run["E"] == pytest.approx(run.work, rel=1e-9, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("text", [MOTOR, CLOSED, COUPLED], ids=["motor", "closed", "coupled"])
def test_all_formalisms_agree_and_the_laws_hold(text: str) -> None:
    system = kn.loads(text)
    found = kn.verify(system, states=10, digits=0)
    assert found.holds
    assert "rates of states are what they say" in {law.law for law in found.laws}
    assert kn.loads(kn.dumps(system)) == system


@pytest.mark.parametrize("text", [CLOSED, COUPLED], ids=["closed", "coupled"])
def test_forces_with_states_do_work_as_any_other(text: str) -> None:
    run = kn.simulate(kn.loads(text), 1.0, **TIGHT)
    assert run.success
    assert run.energy_balance < 1e-10


def test_the_linearisation_of_a_motor_is_its_matrix() -> None:
    system = kn.loads(MOTOR)
    A, _ = matrices(system)
    linear = kn.linearize(system, inputs=["u"], outputs=["i", "power"])
    assert linear.states == ("phi", "i", "phi'")
    np.testing.assert_allclose(linear.A, A, rtol=1e-14, atol=1e-14)
    assert linear.B[:, 0] == pytest.approx([0, 2.0, 0])
    assert linear.C.tolist() == [[0, 1, 0], [0, 12, 0]]
    found = np.sort_complex(kn.linearize(system).eigenvalues)
    assert found == pytest.approx(np.sort_complex(np.linalg.eigvals(A)), abs=1e-10)


def test_small_motions_of_a_closed_mechanism_are_those_of_its_run() -> None:
    system = kn.loads(CLOSED)
    at = kn.equilibrium(system)
    linear = kn.linearize(system, at)
    assert at.initial["i"] == pytest.approx(0.5)
    place = {n: at.initial[n] for n in system.q_names}
    off = 1e-5
    run = kn.simulate(system, 0.2, q=place | {"i": place["i"] + off}, **TIGHT)
    change = expm(0.2 * linear.A)[:, linear.states.index("i")] * off
    moved = [run[n][-1] - at.initial[n] for n in linear.states]
    assert moved == pytest.approx(change, abs=2e-9)


def test_an_arm_that_a_motor_holds_is_at_rest_where_torque_and_weight_balance() -> None:
    system = kn.loads(
        """
        gravity 9.81;
        parameters R = 2, L = 0.01, k = 0.3, u = 5, m = 0.5, l = 0.4;
        Arm | Ry(q), Sz(-l) = m;
        state i : i' = (u - R*i - k*q')/L;
        force torque = k*i on q;
        damper b = 0.2 on q';
        """
    )
    at = kn.equilibrium(system)
    assert (at.q[1], at.q[0]) == pytest.approx((2.5, np.arcsin(0.75 / (0.5 * 9.81 * 0.4))), rel=1e-12)
    assert at.stable
    assert sorted(at.stability.poles.real) == pytest.approx(sorted(kn.linearize(system, at).eigenvalues.real), rel=1e-9)
    assert [own.stable for own in kn.equilibria(system, starts=10)] == [True, False]
    with pytest.raises(kn.SimulationError, match="the rate of 'clock' is still off by 1"):
        kn.equilibrium(system.replace(states=[*system.states, kn.state("clock", 1)]))


@pytest.mark.parametrize("text", [MOTOR, CLOSED], ids=["motor", "closed"])
def test_derivatives_forward_and_back_are_those_of_differences(text: str) -> None:
    system = kn.loads(text)
    names, h = ["i", "R"], 1e-5
    final, integral = kn.symbol(system.q_names[0]), kn.symbol("i") ** 2
    both = [kn.objective(system, 0.3, names, final=final, integral=integral, adjoint=back) for back in (False, True)]
    x0 = both[0].x0
    (one, slope), (other, back) = (f.value_and_gradient(x0) for f in both)
    assert (one, *slope) == pytest.approx((other, *back), rel=1e-7)
    differences = [(both[0](x0 + h * e) - both[0](x0 - h * e)) / (2 * h) for e in np.eye(2)]
    assert slope == pytest.approx(differences, rel=1e-6)


@pytest.mark.slow
def test_derivatives_pass_impacts_and_switches_that_set_a_state() -> None:
    system, h = kn.loads(BOUNCER), 1e-6
    found = kn.sensitivity(system, 1.5, by=["w", "lam"])["x"][-1]

    def end(w: float, lam: float) -> float:
        q = {"h": 1, "w": w}
        return float(kn.simulate(system, 1.5, q=q, p={"lam": lam}, rtol=1e-12, atol=1e-13)["x"][-1])

    differences = [
        (end(h, 0.1) - end(-h, 0.1)) / (2 * h),
        (end(0, 0.1 + h) - end(0, 0.1 - h)) / (2 * h),
    ]
    assert found == pytest.approx(differences, rel=1e-5)


@pytest.mark.slow
def test_time_stepping_and_ensembles_carry_states() -> None:
    system = kn.loads(BOUNCER)
    by_events = kn.simulate(system, 1.0)
    stepped = kn.simulate(system, 1.0, method="moreau", max_step=1e-4)
    assert stepped["w"][-1] == pytest.approx(by_events["w"][-1], abs=5e-4)
    several = kn.simulate(system, 1.0, q={"w": [0.0, 0.3]})
    assert several.case(0).y[:, -1] == pytest.approx(by_events.y[:, -1], rel=1e-8, abs=1e-9)
    alone = kn.simulate(system, 1.0, q={"h": 1, "w": 0.3})
    assert several.case(1).y[:, -1] == pytest.approx(alone.y[:, -1], rel=1e-8, abs=1e-9)


@pytest.mark.slow
def test_runs_record_the_rates_of_states() -> None:
    run = kn.simulate(kn.loads(MOTOR), 0.5, dense_output=True)
    assert list(run.series)[-3:] == ["power", "rate", "i'"]
    assert run["i'"].tolist() == run["rate"].tolist()
    assert run.units["i'"] == "A/s"
    at = run.at([0.1, 0.2])
    assert at["i'"] == pytest.approx((12 - 2 * at["i"] - 0.5 * at["phi'"]) / 0.5, rel=1e-12)
    system = kn.loads(BOUNCER)
    for run in (kn.simulate(system, 0.7), kn.simulate(system, 0.7, method="moreau", max_step=1e-2)):
        assert run["w'"] == pytest.approx(-run["w"] / 0.5 + run["h'"] + 0.1 * run["mode"], rel=1e-12)
    several = kn.simulate(system, 0.7, q={"w": [0.0, 0.3]})
    assert several["w'"] == pytest.approx(-several["w"] / 0.5 + several["h'"] + 0.1 * several["mode"], rel=1e-12)


def test_runs_of_parts_record_the_rates_of_their_states() -> None:
    parts = "".join(f"B{n} | Sx({n}) = 1; state z{n} : z{n}' = {n} - z{n}; " for n in ("x", "y"))
    run = kn.simulate(kn.loads(f"{parts} coordinates x, y; spring s = 3 on x; initial x = 1, y = 2; output zy';"), 1.0)
    assert list(run.outputs) == ["zy'", "zx'"]
    for n in ("x", "y"):
        assert run[f"z{n}'"] == pytest.approx(run[n] - run[f"z{n}"], rel=1e-12)


@pytest.mark.slow
def test_quasi_velocities_stand_in_rates() -> None:
    text = """
    Rod | Sx(x), Sy(y), Rz(phi) = m(2), Jz(0.08);
    coordinates x, y, phi;
    constraint edge : x'*sin(phi) = y'*cos(phi);
    {quasi}
    state z in N : z' = (2*({u}) - z)/0.3 + Rod.vx - phi';
    force f on Rod = (-z, 0, 0) in body;
    initial {start}, phi' = 2, z = 0.1;
    """
    form = "x'*cos(phi) + y'*sin(phi)"
    chosen = kn.loads(text.format(quasi=f"quasi u = {form}, phi';", u="u", start="u = 0.5"))
    plain = kn.loads(text.format(quasi="", u=form, start="x' = 0.5"))
    runs = [kn.simulate(system, 1.0, **TIGHT) for system in (chosen, plain)]
    assert runs[0]["z"][-1] == pytest.approx(runs[1]["z"][-1], abs=1e-9)
    assert kn.verify(chosen, states=5, digits=0).holds


def test_programs_of_motion_carry_states() -> None:
    system = kn.loads(
        """
        parameters k = 2, R = 1;
        A | Sx(x) = 2;
        B | Sx(y) = 1;
        coordinates x, y;
        spring s = 3 on x - y;
        state i : i' = x' - R*i;
        force f = -k*i on x;
        program p : x = 0.1*t^2;
        control least on x';
        initial i = 0.3;
        """
    )
    run = kn.simulate(system, 1.0, **TIGHT)
    expected = 0.2 * (run.t - 1) + 0.5 * np.exp(-run.t)  # i' = 0.2 t - i
    assert run["i"] == pytest.approx(expected, abs=1e-10)
    assert kn.verify(system, states=5, digits=0).holds


def test_forces_along_a_given_motion_need_its_states() -> None:
    system, t = kn.loads(MOTOR), np.linspace(0, 1, 5)
    with pytest.raises(kn.ArgumentError, match="the motion does not say its state 'i'"):
        kn.inverse(system, {"phi": "sin(t)"}, t=t)
    found = kn.inverse(system, {"phi": "21.8*t - 2*t^2", "i": "0.3 + t"}, t=t)["tau[phi']"]  # i' = 1
    assert found == pytest.approx(-0.04 + 0.001 * (21.8 - 4 * t) - 0.5 * (0.3 + t), rel=1e-12)
    assert kn.statics(system, {"i": 2.0})["tau[phi']"] == pytest.approx([-1.0])


def test_a_wheel_that_is_towed_shimmies_where_the_trail_is_shorter_than_the_relaxation_length() -> None:
    system = kn.load(EXAMPLES / "shimmy.kin")
    for e, stable in ((0.119, False), (0.121, True)):
        for V in (3.0, 12.0, 40.0):
            assert (kn.linearize(system, p={"e": e, "V": V}).eigenvalues.real < 0).all() == stable


def test_a_hoist_settles_to_the_speed_at_which_its_motor_carries_the_load() -> None:
    system = kn.load(EXAMPLES / "hoist.kin")
    run = kn.simulate(system, 2.0, q={"phi": 0, "q": 0})
    p = {own.name: own.value for own in system.parameters}
    current = p["m"] * 9.81 * p["r"] / (p["n"] * p["k"])
    assert run["i"][-1] == pytest.approx(current, rel=1e-6)
    assert p["n"] * run["phi'"][-1] == pytest.approx((p["u"] - p["R"] * current) / p["k"], rel=1e-6)


def test_a_boom_rests_on_the_pressure_that_carries_it() -> None:
    system = kn.load(EXAMPLES / "boom.kin")
    raised = kn.simulate(system, 3.0, p={"G": 0.0})
    at = kn.equilibrium(system, raised.q[-1], t=3.0, p={"G": 0.0})
    q, p = at.q
    x, z = 0.7 * np.cos(q) - 0.3, 0.7 * np.sin(q) + 0.9
    lever = (z * 0.7 * np.cos(q) - x * 0.7 * np.sin(q)) / np.hypot(x, z)
    assert p * 12e-4 * lever == pytest.approx(120 * 9.81 * 1.2 * np.cos(q), rel=1e-9)
