"""Andreev's models: values at given states, and motions under every kind of element."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from tests.mechanics.truth import error, load
from tests.reference_problems.tables import TIGHT, column, run
from tests.support import EXAMPLES, quick_but

TREES = ["hopping_robot", "puma_as_printed", "puma_rx6", "branched_rheonomic"]


def vectors(name: str) -> dict[str, Any]:
    return load(f"vectors/andreev_{name}.json")


def system_of(data: dict[str, Any], extra: str = "") -> kn.System:
    """The text of a vector file as a model, with its coordinates and parameters (not all the moments of a real body)."""
    given = ", ".join(f"{n} = {v!r}" for n, v in data["parameters"].items())
    head = f"model m; parameters {given}; coordinates {', '.join(data['coordinates'])};"
    return kn.loads(f"{head}\n{data['model'].replace(' ;', ', unchecked ;')}\n{extra}")


@pytest.mark.parametrize("name", quick_but(TREES, ["puma_as_printed", "puma_rx6"]))
def test_values_at_given_states(name: str) -> None:
    data = vectors(name)
    tolerance = data["tolerance"]["relative"]
    equations = kn.derive(system_of(data, "gravity g;"))
    f = {
        n: equations.function(n)
        for n in ("mass_matrix", "bias", "inverse", "forward", "kinetic_energy", "potential_energy")
    }
    for case in data["cases"]:
        state = case.get("t", 0.0), case["q"], case["qd"]
        bias = np.subtract(case["bias"], case["gravity_generalized_force"])
        assert error(f["mass_matrix"](*state), case["mass_matrix"]) < tolerance
        assert error(f["bias"](*state), bias) < tolerance
        assert error(f["inverse"](*state, case["qdd"]), case["inverse_dynamics"]) < tolerance
        assert error(f["forward"](*state, case["inverse_dynamics"]), case["qdd"]) < 1e-12
        assert error(f["kinetic_energy"](*state), case["kinetic_energy"]) < tolerance
        if "forward_dynamics_zero_input" in case:
            assert error(f["forward"](*state), case["forward_dynamics_zero_input"]) < 1e-12
            assert error(f["potential_energy"](*state), case["potential_energy"]) < tolerance


@pytest.mark.parametrize("name", TREES)
def test_kinematics_of_bodies(name: str) -> None:
    """Positions, velocities and structure matrices S_R, S_M of every body (omega in its own axes)."""
    data = vectors(name)
    system = system_of(data)
    equations = kn.derive(system)
    f = {n: equations.function(n) for n in ("positions", "velocities", "rotations", "jacobian")}
    for case in data["cases"]:
        state = case.get("t", 0.0), case["q"], case["qd"]
        found = {n: function(*state) for n, function in f.items()}
        for i, body in enumerate(system.bodies):
            expected, S = case["bodies"][body.name], found["rotations"][i]
            shown = {
                "r_C": found["positions"][i],
                "v_C": found["velocities"][i, :3],
                "omega_body": S.T @ found["velocities"][i, 3:],
                "rotation_body_to_absolute": S,
                "S_R": found["jacobian"][i, :3],
                "S_M": S.T @ found["jacobian"][i, 3:],
            }
            for key in shown.keys() & expected.keys():
                assert error(shown[key], expected[key]) < data["tolerance"]["relative"], (body.name, key)


@pytest.mark.parametrize("name", TREES)
def test_accelerations_of_bodies(name: str) -> None:
    """A_C in ground axes, eps in those of the body, by structures: terms in q'', q' q', q' t and t t (A.4)."""
    data = vectors(name)
    d = kn.derive(system_of(data)).derivation
    s = d.symbols
    rates = s.levels.of(d["velocities"].refs, 1)
    names = ("t", *s.system.q_names, *s.system.v_names, *(f"{n}'" for n in s.system.v_names))
    for case in data["cases"]:
        given = [case.get("t", 0.0), *case["q"], *case["qd"], *case["qdd"]]
        state = data["parameters"] | dict(zip(names, map(float, given), strict=True))
        found = np.array(evaluate(d.graph, rates, state)).reshape(-1, 6)
        R = np.array(evaluate(d.graph, d["rotations"].refs, state)).reshape(-1, 3, 3)
        for body, rate, S in zip(s.system.bodies, found, R, strict=True):
            expected = case["bodies"][body.name]
            for own, key in ((rate[:3], "a_C"), (S.T @ rate[3:], "eps_body")):
                assert error(own, expected[key]) < data["tolerance"]["relative"], (body.name, key)


def unknown_forces(data: dict[str, Any], lines: str) -> tuple[kn.System, list[str]]:
    """The cut tree of a mechanism, with its unknown forces as parameters of the model."""
    names = data["unknowns"]
    unknown = "parameters " + ", ".join(f"{n} = 0" for n in names) + ";"
    return system_of(data, f"{unknown} gravity (0, -g, 0); {lines}"), names


CUT = {
    "four_bar": """
        point End on Coupler = (L2 - a2, -e2, 0);
        point Pin on Rocker = (L3 - a3, 0, 0);
        force load = Mload on q3;
        force pulled at Pin = (cut_X, cut_Y, 0);
        """,
    "slider_crank": """
        point End on Rod = (L2 - a2, -e2, 0);
        force load = Fload on q3;
        force guide = guide_N on y3;
        force pulled at Slider = (cut_X, cut_Y, 0);
        """,
}
COMMON = """
    force drive = drive_couple on q1;
    force on_x = pivot_X on x0;
    force on_y = pivot_Y on y0;
    force pushed at End = (-cut_X, -cut_Y, 0);
    """


@pytest.mark.parametrize("name", CUT)
def test_unknown_forces_of_a_cut_loop(name: str) -> None:
    """Kinetostatics (3.3)-(3.5): the residual is B - A R, linear in the unknown forces, and R solves it."""
    data = vectors(name)
    system, unknown = unknown_forces(data, COMMON + CUT[name])
    inverse = kn.derive(system).function("inverse")
    held = np.zeros(len(system.q_names) - 3)
    for case in data["cases"]:
        motion = [[*case[key], *held] for key in ("q", "qd", "qdd")]
        B = inverse(case["t"], *motion)
        A = np.column_stack([B - inverse(case["t"], *motion, p={n: 1.0}) for n in unknown])
        R = [case["reactions"][n] for n in unknown]
        assert error(A, case["A"]) < 1e-12
        assert error(B, case["B"]) < 1e-12
        assert error(np.linalg.solve(A, B), R) < data["tolerance"]["relative"]
        assert error(inverse(case["t"], *motion, p=dict(zip(unknown, R, strict=True))), np.zeros(len(B))) < 1e-11


def test_reactions_of_a_beam_at_rest() -> None:
    """Statics (3.2): the forces on released coordinates are S_1 F + S_2 R, and vanish with the reactions."""
    data = load("vectors/andreev_statics_beam.json")
    known, unknown = ["weight", "pull"], ["X", "Y", "N"]
    given = ", ".join(f"{n} = {v!r}" for n, v in data["parameters"].items() if n not in "GF")
    zeros = ", ".join(f"{n} = 0" for n in known + unknown)
    system = kn.loads(
        f"""
        model beam;
        parameters {given}, {zeros};
        coordinates x, y, phi;
        Beam | Sx(x), Sy(y), Rz(phi) = 1, 1, 1, 1;
        point Load on Beam = (a, 0, 0);
        point Roller on Beam = (c, 0, 0);
        point End on Beam = (L, 0, 0);
        force w at Load = (0, weight, 0);
        force f at End = (pull*cos(th), pull*sin(th), 0);
        force pin at Beam = (X, Y, 0);
        force roller at Roller = (-N*sin(alpha), N*cos(alpha), 0);
        """
    )
    bias, rest = kn.derive(system).function("bias"), np.zeros(3)
    S1, S2 = (np.column_stack([-bias(0.0, rest, rest, p={n: 1.0}) for n in names]) for names in (known, unknown))
    assert error(S1, data["S1"]) < data["tolerance"]
    assert error(S2, data["S2"]) < data["tolerance"]
    R = [data["reactions"][n] for n in unknown]
    assert error(-np.linalg.solve(S2, S1 @ data["F_known"]), R) < data["tolerance"]


def example(name: str) -> kn.System:
    return kn.load(Path(EXAMPLES, f"{name}.kin"))


def test_springs_dampers_and_a_force_at_a_point_of_time() -> None:
    data = vectors("spring_damper")
    start, expected, tolerance = data["initial"], data["initial_point"], data["tolerance"]["point"]
    system = example("cart_pendulum")
    assert dict(zip(system.parameter_names, (p.value for p in system.parameters), strict=True)) == {
        n: v for n, v in data["parameters"].items() if n != "g"
    }
    equations = kn.derive(system)
    state = 0.0, start["q"], start["qd"]
    forces = sum(np.array(expected[f"Q_{n}"]) for n in ("gravity", "springs", "dampers", "external"))
    f = {n: equations.function(n)(*state) for n in ("mass_matrix", "bias", "forward", "kinetic_energy", "power")}
    assert error(f["mass_matrix"], expected["mass_matrix"]) < tolerance
    assert error(f["bias"], expected["bias"] - forces) < tolerance
    assert error(f["forward"], expected["qdd"]) < tolerance
    assert error(f["kinetic_energy"], expected["kinetic"]) < tolerance
    assert error(f["power"], -expected["dissipation_power"]) < tolerance
    assert error(equations.function("potential_energy")(*state), expected["potential_total"]) < tolerance


def test_motion_with_springs_dampers_and_a_force() -> None:
    data = vectors("spring_damper")
    table, tolerance = data["trajectory"], data["tolerance"]["trajectory"]
    system = example("cart_pendulum")
    result = run(system, table)
    rates = kn.derive(system).function("forward")(result.t, result.q, result.v)
    assert error(result.q, column(table, "q")) < tolerance
    assert error(result.v, column(table, "qd")) < tolerance
    assert error(rates, column(table, "qdd")) < tolerance
    assert error(result.kinetic_energy, column(table, "kinetic")) < tolerance
    assert error(result.potential_energy, column(table, "potential")) < tolerance
    assert error(-result.work, column(table, "dissipated_minus_external_work")) < tolerance


def test_oscillator_chain() -> None:
    data = vectors("oscillator_chain")
    expected, tolerance = data["expected"], data["tolerance"]
    names = data["coordinates"]
    system = example("oscillator_chain")
    assert {p.name: p.value for p in system.parameters} == data["parameters"]
    bias = kn.derive(system).function("bias")
    columns = np.eye(len(names))
    rest = np.zeros(len(names))
    M = kn.derive(system).function("mass_matrix")(0.0, rest, rest)
    K = np.column_stack([bias(0.0, c, rest) for c in columns])
    D = np.column_stack([bias(0.0, rest, c) for c in columns])
    assert error(M, expected["mass_matrix"]) < tolerance["matrices"]
    assert error(K, expected["stiffness_matrix"]) < tolerance["matrices"]
    assert error(D, expected["damping_matrix"]) < tolerance["matrices"]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    assert squares == pytest.approx(expected["omega_squared"], rel=tolerance["omega_squared_relative"])
    free = np.block([[np.zeros((4, 4)), columns], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    roots = np.array(expected["eigenvalues_re_im"]) @ [1, 1j]
    assert error(np.sort_complex(np.linalg.eigvals(free)), np.sort_complex(roots)) < tolerance["matrices"]
    table = expected["trajectory"]
    result = run(system, table)
    assert error(result.q, column(table, "q")) < tolerance["trajectory"]
    assert error(result.v, column(table, "qd")) < tolerance["trajectory"]
    rates = kn.derive(system).function("forward")(result.t, result.q, result.v)
    assert error(rates, column(table, "qdd")) < tolerance["trajectory"]
    assert error(result.kinetic_energy, column(table, "kinetic")) < tolerance["trajectory"]
    assert error(result.potential_energy, column(table, "potential")) < tolerance["trajectory"]


def test_forces_and_equilibria_of_a_two_link_arm() -> None:
    data = vectors("equilibrium")
    tolerance = data["tolerance"]
    system = system_of(
        data,
        """
        gravity (0, -g, 0);
        point T on B = (L2 - a2, 0, 0);
        spring shoulder = C1 on q1 - g10;
        spring elbow = C2 on q2 - g20;
        spring rod = C3, L0 between ground at (ax, ay, 0) and T;
        force tip at T = (Fx, Fy, 0);
        output total = potential_energy - Fx*T.x - Fy*T.y;
        """,
    )
    equations = kn.derive(system)
    bias, potential = equations.function("bias"), equations.function("outputs")  # with that of the dead force
    rest = [0.0, 0.0]
    at = data["Q_at_test_point"]
    assert error(-bias(0.0, at["q"], rest), at["Q"]) < tolerance["Q"]
    assert error(potential(0.0, at["q"], rest), at["potential"]) < tolerance["Q"]
    for row in data["equilibria"]:
        assert error(potential(0.0, row["q0"], rest), row["potential"]) < tolerance["Q"]
        stiffness = np.array(row["tangent_stiffness"])
        # A force within rounding of zero is a position within 1e-12 of the equilibrium.
        assert np.abs(np.linalg.solve(stiffness, bias(0.0, row["q0"], rest))).max() < tolerance["q0"]
        step = 1e-5
        shifts = step * np.eye(2)
        found = [(bias(0.0, row["q0"] + d, rest) - bias(0.0, row["q0"] - d, rest)) / (2 * step) for d in shifts]
        assert error(np.array(found), stiffness) < tolerance["tangent_stiffness"]
        M = equations.function("mass_matrix")(0.0, row["q0"], rest)
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, stiffness)).real)
        assert squares == pytest.approx(row["omega_squared"], rel=tolerance["omega_squared"])
        resting = kn.simulate(system, 0.1, q=row["q0"], **TIGHT)
        assert np.abs(resting.q - row["q0"]).max() < 1e-11
