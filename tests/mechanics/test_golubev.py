"""Golubev's vectors: Appell's function of a body and of chains, his equations and their simplified forms, quaternions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.formalisms.wittenburg import Tree
from kineta.passes.evaluate import evaluate
from tests.mechanics.golubev import BASE, PLANE, State, chain, matrix, place, sums
from tests.mechanics.truth import error, vectors
from tests.support import some

TOLERANCE = 1e-12
OMEGA = np.array(kn.symbols("b.wx b.wy b.wz"))
CHAINS = [("planar", f"planar_K{K}") for K in (2, 3, 4)] + [("spatial", f"spatial_K{K}") for K in (2, 3, 5)]


def case(kind: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = vectors(f"golubev_{kind}")[name]
    return found["input"], found["expected"]


def agree(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in found.items():
        assert error(value, expected[name]) < TOLERANCE, name


# -- one body -----------------------------------------------------------------------------------------------------------


def particles(given: dict[str, Any], origin: Any, *, forces: bool) -> kn.System:
    """A free body of point masses, its frame at *origin*."""
    names = [f"P{k}" for k in range(len(given["point_masses"]))]
    rows = zip(names, given["point_positions_from_A_body"], given["point_masses"], strict=True)
    points = [kn.body(n, place(np.subtract(r, origin)), kn.inertia(m), base="Body") for n, r, m in rows]
    pushed = zip(names, given["point_forces"], strict=True)
    elements = [kn.force(f"on_{n}", kn.station(n), f) for n, f in pushed] if forces else []
    return kn.System("body", [kn.body("Body", BASE), *points], elements=elements, coordinates=[*"xyz", "base"])


@pytest.mark.parametrize("name", some(["fb2", "fb1", "fb3_A_is_com"], 3))
def test_appells_function_of_a_free_body(name: str) -> None:
    """(1.4), (1.5), equal to W up to terms free of accelerations; their gradients (2.1), (2.3); the motion."""
    given, expected = case("free_body", name)
    R, omega = matrix(given["q"]), np.array(given["omega"])
    w_A, rate = np.array(given["w_A"]), np.array(given["omega_dot"])
    q, v = [0, 0, 0, *given["q"]], [0, 0, 0, *(R.T @ omega)]
    free = kn.derive(particles(given, (0, 0, 0), forces=False), "appell")
    r_c = free.function("mass_centre")(0.0, q, v)
    assert error(r_c, expected["r_c"]) < TOLERANCE
    w_c = w_A + np.cross(rate, r_c) + np.cross(omega, np.cross(omega, r_c))
    for at, origin, w, S, J, K in (
        ("A", (0, 0, 0), w_A, "S_A_eq1_5", "J_A", "K_A"),
        ("C", R.T @ r_c, w_c, "S_c_eq1_4", "J_c", "K_c"),
    ):
        free, pushed = (kn.derive(particles(given, origin, forces=forces), "appell") for forces in (False, True))
        vdot = [*w, *(R.T @ rate)]
        M = free.function("mass_matrix")(0.0, q, v)
        W, tau = free.function("appell_function")(0.0, q, v, vdot), free.function("inverse")(0.0, q, v, vdot)
        own = M[3:, 3:]
        dropped = 0.5 * omega @ omega * (omega @ R @ own @ R.T @ omega)
        applied = free.function("bias")(0.0, q, v) - pushed.function("bias")(0.0, q, v)
        solved = pushed.function("forward")(0.0, q, v)
        c = "c" if at == "C" else "A"
        agree(
            {
                "mass": M[0, 0],
                f"{J}_body": own,
                J: R @ own @ R.T,
                K: R @ own @ R.T @ omega,
                "acceleration_energy_W": W,
                f"W_minus_S_{c}": dropped,
                S: W - dropped,
                f"dS_dw{c}": tau[:3],
                f"dS_domegadot_{c}": R @ tau[3:],
                "Q_w": applied[:3],
                f"Q_omega_about_{at}": R @ applied[3:],
                f"solution_w_{c}": solved[:3],
                "solution_omega_dot": R @ solved[3:],
            },
            expected,
        )
    assert error(w_c, expected["w_c"]) < TOLERANCE


# -- chains -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), CHAINS)
def test_kinematics_of_a_chain(kind: str, name: str) -> None:
    """(3.1)-(3.3), (3.5), (4.1): angular velocities, accelerations of the joints and of the mass centres."""
    given, expected = case(f"{kind}_chain", name)
    K, state = given["K"], State(given, weight=False)
    joints, R, velocities = state("positions"), state("rotations"), state("velocities")
    centres = np.array([state(f"position(C{nu})") for nu in range(1, K + 1)])
    agree(
        {
            "r": np.diff(joints, axis=0),
            "c": centres - joints,
            "e": [S @ e for S, e in zip(R[1:], given["axis_in_previous_body"], strict=True)],
            "Omega": velocities[:, 3:],
            "Omega_dot_bias": state.rates("velocities", np.zeros(len(state.v)))[:, 3:],
        },
        expected,
    )
    solution = expected["solution"]
    solved = [*solution["w_A"], *solution["omega_dot"], *solution["omega_rel_dot"]]
    for u, moving in ((given["trial_acceleration"], expected["trial"]), (solved, solution)):
        rates = state.rates("velocities", u)
        sigma = [state.rates(f"velocity(C{nu})", u)[:3] for nu in range(1, K + 1)]
        agree({"Omega_dot": rates[:, 3:], "w": rates[:, :3], "sigma": sigma}, moving)


@pytest.mark.parametrize(("kind", "name"), CHAINS)
def test_equations_of_a_chain(kind: str, name: str) -> None:
    """S (3.4), its derivatives (3.9), (3.12), (4.3), the forces of weight (3.6)-(3.8), (4.2), and the accelerations."""
    given, expected = case(f"{kind}_chain", name)
    state, heavy = State(given, weight=False), State(given)
    u, B = np.array(given["trial_acceleration"]), state.turn
    R, omega = state("rotations"), state("velocities")[:, 3:]
    J = [
        S @ (np.array(own) + m * (np.dot(c, c) * np.eye(3) - np.outer(c, c))) @ S.T
        for S, own, m, c in zip(R, given["J_central_body"], given["mass"], given["zeta0_body"], strict=True)
    ]
    dropped = sum(0.5 * w @ w * (w @ own @ w) for w, own in zip(omega, J, strict=True))
    weight = B.T @ (state("bias") - heavy("bias"))
    weight[6:] -= given["joint_torque"]
    agree(
        {
            "J_joint": J,
            "mass_matrix": B.T @ state("mass_matrix") @ B,
            "bias": B.T @ state("bias"),
            "Q_w": weight[:3],
            "Q_omega": weight[3:6],
            "Q_joint_gravity": weight[6:],
        },
        expected,
    )
    agree(
        {"S": state("appell_function", u) - dropped, "gradient_S": B.T @ state("inverse", u)},
        expected["trial"],
    )
    vdot = np.linalg.solve(B, heavy("forward"))
    agree({"w_A": vdot[:3], "omega_dot": vdot[3:6], "omega_rel_dot": vdot[6:]}, expected["solution"])


@pytest.mark.parametrize(("kind", "name"), CHAINS)
def test_what_the_joints_of_a_chain_pass_on(kind: str, name: str) -> None:
    """P - P^g and G - G^g: force and moment on the outer body; none on the base, which is free."""
    given, expected = case(f"{kind}_chain", name)
    state = State(given, "wittenburg")
    d, system = state.equations.derivation, state.equations.derivation.symbols.system
    tree = Tree(d, kn.system_graph(system))
    names = (*system.q_names, *system.v_names, *(f"{n}'" for n in system.v_names))
    values = dict(zip(names, map(float, [*state.q, *state.v, *state("forward")]), strict=True))
    X, Y = np.array([[evaluate(d.graph, v.refs, values) for v in pair] for pair in tree.interaction]).swapaxes(0, 1)
    signs = np.array([tree.graph.S[a, a] for a in range(given["K"])])[:, None]
    X, Y = signs * X, signs * Y
    scale = np.abs(np.array(expected["joint_force_on_outer_body"])).max()
    assert np.abs(X[0]).max() < TOLERANCE * scale
    agree({"joint_force_on_outer_body": X[1:], "joint_moment_on_outer_body": Y[1:]}, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"planar_K{K}" for K in (2, 3, 4)])
def test_parallel_axes_in_absolute_angles(name: str) -> None:
    """(5.1) is Appell's equation for absolute angles of bodies, with differences of (4.3)."""
    given, expected = case("planar_chain", name)
    solution = expected["solution"]
    R, psi = matrix(given["q"]), sums(given["phi"])
    q = [0, 0, 0, *given["q"], *psi]
    v = [0, 0, 0, *(R.T @ given["omega"]), *sums(given["omega_rel"])]
    vdot = [*solution["w_A"], *(R.T @ solution["omega_dot"]), *sums(solution["omega_rel_dot"])]
    inertia, heavy = (kn.derive(chain(given, absolute=True, weight=weight), "appell") for weight in (False, True))
    left = inertia.function("inverse")(0.0, q, v, vdot)[6:]
    right = (inertia.function("bias")(0.0, q, v) - heavy.function("bias")(0.0, q, v))[6:]
    agree({"eq5_1_lhs_at_solution": left, "eq5_1_rhs": right}, expected)
    assert error(heavy.function("forward")(0.0, q, v), vdot) < TOLERANCE


@pytest.mark.parametrize("name", ["planar_motion_K2", "planar_motion_K4"])
def test_a_chain_that_stays_in_a_plane(name: str) -> None:
    """(5.2), in the angles of the bodies; they turn about parallel axes and stay in the plane of their mass centres."""
    given, expected = case("planar_motion", name)
    w, _, _, z = given["q"]
    angles = sums([2 * np.arctan2(z, w), *given["phi"]])
    q, v = [0, 0, *angles], [0, 0, *sums([given["omega"][2], *given["omega_rel"]])]
    vdot = [*expected["w_A"][:2], *expected["Omega_dot_e"]]
    inertia, heavy = (kn.derive(chain(given, PLANE, absolute=True, weight=w), "appell") for w in (False, True))
    left = inertia.function("inverse")(0.0, q, v, vdot)
    forces = inertia.function("bias")(0.0, q, v) - heavy.function("bias")(0.0, q, v)
    drives = np.array([0, *given["joint_torque"], 0])
    Q = np.cumsum((forces[2:] - drives[:-1] + drives[1:])[::-1])[::-1]
    alone = [
        kn.System("one", [kn.body("b", [kn.Rz(kn.symbol("a"))], body.inertia)])
        for body in chain(given, PLANE, absolute=True).bodies
    ]
    solved = heavy.function("forward")(0.0, q, v)
    agree(
        {
            "J_e_about_joint": [kn.derive(s).function("mass_matrix")(0.0, [0], [0])[0, 0] for s in alone],
            "Omega_e": v[2:],
            "Q_e": Q,
            "eq5_2_lhs_at_solution": left[2:],
            "eq5_2_rhs": forces[2:],
            "Omega_dot_e": solved[2:],
            "omega_rel_dot": np.diff(solved[2:]),
        },
        expected,
    )
    assert error(solved[:2], expected["w_A"][:2]) < TOLERANCE
    spatial = State(given, weight=False)
    u = [*expected["w_A"], 0, 0, expected["Omega_dot_e"][0], *expected["omega_rel_dot"]]
    sigma = [spatial.rates(f"velocity(C{nu})", u)[:3] for nu in range(1, given["K"] + 1)]
    assert error(sigma, expected["sigma"]) < TOLERANCE
    free = np.linalg.solve(spatial.turn, State(given)("forward"))
    assert error(free, u) < TOLERANCE


# -- kinematics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kin1", "kin2", "kin3"])
def test_quaternions_and_their_rates(name: str) -> None:
    """(5.5) for components in body axes and in ground axes, and turning with a constant angular velocity."""
    given, expected = case("kinematics", name)
    ball = kn.System("ball", [kn.body("Body", [kn.Ball("b")], kn.inertia(0, (1, 1, 1), lumped=True))])
    equations, omega = kn.derive(ball), np.array(given["omega"])
    in_ground = [kn.quasi(f"W{k}", row) for k, row in enumerate(matrix(kn.symbols("b.qw b.qx b.qy b.qz")) @ OMEGA)]
    R = equations.function("rotations")(0.0, given["q"], omega)[0]
    rate = equations.function("qdot")
    agree(
        {
            "R": R,
            "rotated_vector": R @ given["vector"],
            "q_dot_if_omega_body": rate(0.0, given["q"], omega),
            "q_dot_if_omega_inertial": kn.derive(ball.replace(quasi=in_ground)).function("qdot")(
                0.0, given["q"], omega
            ),
        },
        expected,
    )
    for axes, own in (("body", omega), ("inertial", R.T @ omega)):
        run = kn.simulate(ball, given["t"], q=given["q"], v=own, rtol=1e-13, atol=1e-14)
        assert error(run.q[-1], expected[f"q_at_t_const_{axes}_omega"]) < TOLERANCE, axes


@pytest.mark.parametrize("name", ["kin1", "kin2", "kin3"])
def test_vectors_down_a_chain(name: str) -> None:
    """A vector of the last body in the axes of every body before it, and of the ground; turns about one axis add (5.3), (5.4)."""
    given, expected = case("kinematics", name)
    K, phi = given["K"], given["phi"]

    def resolved(axes: Any, last: int) -> dict[str, np.ndarray]:
        bodies = [kn.body("b1", [kn.Ball("base")])]
        for nu, axis in enumerate(axes, 2):
            bodies.append(kn.body(f"b{nu}", [kn.R(axis, kn.symbol(f"phi{nu}"))], base=f"b{nu - 1}"))
        point = kn.point("P", f"b{last}", given["rho_body"])
        equations = kn.derive(kn.System("chain", bodies, points=[point]))
        state = 0.0, [*given["q"], *phi], np.zeros(3 + len(phi))
        frames = ("ground", *(b.name for b in bodies))
        return {f: equations.function(f"position(P in {f})", "numpy")(*state) for f in frames}

    steps = resolved(given["axis_in_previous_body"], K)
    agree(
        {
            "chain_recurrence_steps": [steps[f"b{K - k}"] for k in range(K)],
            "chain_recurrence_inertial": steps["ground"],
            "planar_psi": sums(phi),
            "planar_rotated_rho": [resolved([given["planar_axis"]] * (K - 1), nu)["b1"] for nu in range(2, K + 1)],
        },
        expected,
    )
