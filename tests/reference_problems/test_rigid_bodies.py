"""Closed forms and reference integrations of rigid body motion, each to its stated tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.truth import tree_system
from tests.reference_problems.tables import TIGHT, ball, column, pendulums, rigid, rotations, run


@pytest.mark.parametrize("name", ["euler_top", "dzhanibekov"])
def test_torque_free_body(name: str) -> None:
    data = rigid(name)
    p, expected, tolerance = data["parameters"], data["expected"], data["tolerance"]["abs"]
    system = ball([p["A"], p["B"], p["C"]])
    omega = data["initial_state"]["omega_body"]
    result = run(system, expected["table"], v=omega)
    attitudes = rotations(system, result)
    assert result.v == pytest.approx(column(expected["table"], "omega_body"), abs=tolerance)
    assert attitudes == pytest.approx(column(expected["table"], "R"), abs=tolerance)
    assert result.kinetic_energy == pytest.approx(expected["kinetic_energy"], rel=1e-12)
    momentum = kn.derive(system).function("angular_momentum")(result.t, result.q, result.v)
    assert momentum == pytest.approx(np.tile(expected["L_inertial"], (len(momentum), 1)), abs=tolerance)
    once = kn.simulate(system, expected["period_of_omega"], v=omega, **TIGHT)
    assert once.v[-1] == pytest.approx(omega, abs=tolerance)


def test_lagrange_top_in_euler_angles() -> None:
    data = rigid("lagrange_top")
    p, expected, start = data["parameters"], data["expected"], data["initial_state"]
    m, l, across = p["m"], p["l"], p["I1"] - p["m"] * p["l"] ** 2
    phi, theta, psi = (kn.symbol(n) for n in ("phi", "theta", "psi"))
    body = kn.body(
        "top", [kn.Rz(phi), kn.Rx(theta), kn.Rz(psi)], kn.inertia(m, (across, across, p["I3"]), com=(0, 0, l))
    )
    system = kn.System("top", [body], gravity=(0, 0, -p["g"]), coordinates=["theta", "phi", "psi"])
    q = {"theta": start["theta"]}
    result = run(system, expected["table"], q=q, v={"psi'": start["psi_dot"]})
    tolerance = data["tolerance"]["abs"]
    assert result.q == pytest.approx(column(expected["table"], "theta_phi_psi"), abs=tolerance)
    assert result.v == pytest.approx(column(expected["table"], "rates"), abs=tolerance)
    assert result.energy == pytest.approx(expected["energy"], rel=1e-12)
    momentum = kn.derive(system).function("momentum")(result.t, result.q, result.v)
    assert momentum[:, 1] == pytest.approx(expected["p_phi"], rel=1e-11)
    assert momentum[:, 2] == pytest.approx(expected["p_psi"], rel=1e-11)
    turns = kn.simulate(
        system, 1.6 * expected["nutation_period"], q=q, v={"psi'": 140}, events=kn.symbol("theta'"), **TIGHT
    )
    (times,) = turns.t_events
    extremes = [expected["theta_min_max"][1], expected["theta_min_max"][0], expected["theta_min_max"][1]]
    assert times == pytest.approx(expected["nutation_period"] * np.array([0.5, 1.0, 1.5]), abs=tolerance)
    assert turns.y_events[0][:, 0] == pytest.approx(extremes, abs=tolerance)


def test_kovalevskaya_top() -> None:
    data = rigid("kovalevskaya")
    p, expected, start = data["parameters"], data["expected"], data["initial_state"]
    mass, length = 0.5, 1.0  # of which only the product with g is given
    weight = p["m*g*l"]
    moments = [p["A"], p["B"] - mass * length**2, p["C"] - mass * length**2]
    system = ball(moments, mass, (length, 0, 0), (0, 0, -weight / (mass * length)))
    half = np.arctan2(start["gamma"][0], start["gamma"][2]) / 2
    attitude = [np.cos(half), 0.0, -np.sin(half), 0.0]  # about y, where gamma starts across it
    assert start["gamma"][1] == 0
    result = run(system, expected["table"], q=attitude, v=start["omega_body"])
    gammas = rotations(system, result)[:, 2, :]
    tolerance = data["tolerance"]["abs"]
    assert result.v == pytest.approx(column(expected["table"], "omega_body"), abs=tolerance)
    assert gammas == pytest.approx(column(expected["table"], "gamma"), abs=tolerance)
    (u, w, _), k, (x, y, _) = result.v.T, weight / p["C"], gammas.T
    assert (u**2 - w**2 - k * x) ** 2 + (2 * u * w - k * y) ** 2 == pytest.approx(expected["K"], abs=tolerance)
    assert result.energy == pytest.approx(expected["energy"], abs=tolerance)
    momentum = result.v * [p["A"], p["B"], p["C"]]
    assert np.sum(momentum * gammas, axis=1) == pytest.approx(expected["area_integral"], abs=tolerance)


def test_spherical_pendulum_on_a_ball_joint() -> None:
    data = rigid("spherical_pendulum")
    p, expected, start = data["parameters"], data["expected"], data["initial_state"]
    half = start["theta"] / 2
    # The rod lies along -z of the body, turned by -theta about y. A point has no inertia about the rod; without a spin
    # about it, what is given instead stays out of the motion.
    own = kn.inertia(p["m"], (0, 0, 1), com=(0, 0, -p["L"]), lumped=True)
    system = kn.System(
        "pendulum",
        [kn.body("rod", [kn.Ball("b")], own)],
        points=[kn.point("P", "rod", (0, 0, -p["L"]))],
        gravity=(0, 0, -p["g"]),
        outputs={n: kn.symbol(f"P.{n}") for n in ("x", "y", "z", "vx", "vy", "vz")},
    )
    omega = [start["phi_dot"] * np.sin(start["theta"]), 0.0, 0.0]
    result = run(system, expected["table"], q=[np.cos(half), 0, -np.sin(half), 0], v=omega)
    found = np.column_stack([result[n] for n in ("x", "y", "z")])
    speeds = np.column_stack([result[n] for n in ("vx", "vy", "vz")])
    tolerance = data["tolerance"]["abs"]
    assert found == pytest.approx(column(expected["table"], "xyz"), abs=tolerance)
    assert speeds == pytest.approx(column(expected["table"], "velocity"), abs=tolerance)


@pytest.mark.parametrize("name", ["double_pendulum", "triple_pendulum", "pendulum_chain10"])
def test_chain_of_pendulums(name: str) -> None:
    data = rigid(name)
    p, expected, start = data["parameters"], data["expected"], data["initial_state"]
    system = pendulums(p["masses"], p["lengths"], p["g"])
    forward = kn.derive(system).function("forward")
    at_start = forward(0.0, start["theta"], start["theta_dot"])
    assert at_start == pytest.approx(np.array(expected["accelerations_at_t0"]), rel=1e-12)
    result = run(system, expected["table"], q=start["theta"], v=start["theta_dot"])
    tolerance = data["tolerance"]["abs"]
    assert result.q == pytest.approx(column(expected["table"], "theta"), abs=tolerance)
    assert result.v == pytest.approx(column(expected["table"], "theta_dot"), abs=tolerance)
    assert result.energy == pytest.approx(expected["energy"], rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ball_chain3", "free_tree4"])
def test_spatial_tree(name: str) -> None:
    data = rigid(name)
    model, table, start = data["parameters"]["model"], data["expected"]["table"], data["initial_state"]
    system = tree_system(model)
    result = run(system, table, q=start["q"], v=start["qd"])
    tolerance = data["tolerance"]["abs_poses"]
    equations = kn.derive(system)
    positions = equations.function("positions")(result.t, result.q, result.v)
    for i, record in enumerate(model["bodies"]):
        poses = [row["poses"][record["name"]] for row in table]
        assert positions[:, i] == pytest.approx(np.array([pose["p"] for pose in poses]), abs=tolerance)
        assert rotations(system, result, i) == pytest.approx(np.array([pose["R"] for pose in poses]), abs=tolerance)
    assert result.q == pytest.approx(column(table, "q"), abs=tolerance)
    assert result.energy == pytest.approx(column(table, "energy"), rel=data["tolerance"]["energy_rel"])
    for quantity, key in (
        ("linear_momentum", "momentum"),
        ("angular_momentum", "angular_momentum_about_origin"),
        ("mass_centre", "mass_centre"),
    ):
        found = equations.function(quantity)(result.t, result.q, result.v)
        assert found == pytest.approx(column(table, key), abs=tolerance), quantity
