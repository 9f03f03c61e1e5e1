"""Kineta of any order, and the generalised forces of inertia, against energies, Appell's function and Rodionov's formulas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ZERO
from kineta.passes.differentiate import gradient
from tests.mechanics.random_systems import random_system
from tests.mechanics.truth import load
from tests.programs.instants import any_state, at, values

S = kn.symbol


def weightless(seed: int, **more: Any) -> kn.System:
    return random_system(seed, **more).replace(gravity=(0, 0, 0))


@pytest.mark.parametrize("seed", range(5))
def test_the_first_kineta_is_the_kinetic_energy_and_the_second_the_function_of_appell(seed: int) -> None:
    d = kn.derive(weightless(seed, rheonomic=True), "appell").derivation
    state = any_state(d.symbols.system, seed, 2)
    for order, energy, slope in ((1, "kinetic_energy", "momentum"), (2, "appell_function", "inverse")):
        assert at(d, f"kineta({order})", state) == pytest.approx(at(d, energy, state), rel=1e-12)
        forces = at(d, f"inertia_forces({order})", state)
        assert forces == pytest.approx(at(d, slope, state), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_the_function_of_appell_holds_the_weight_and_the_second_kineta_does_not(seed: int) -> None:
    """S - K_2 = M g^2 / 2 - sum of m a . g, which grows with accelerations as the weight on the speeds says."""
    system = random_system(seed, rheonomic=True)
    d, bare = (kn.derive(x, "appell").derivation for x in (system, system.replace(gravity=(0, 0, 0))))
    state = any_state(system, seed, 2)
    still = state | {f"{n}'": 0.0 for n in system.v_names}

    def more(at_state: dict[str, float]) -> float:
        return float((at(d, "appell_function", at_state) - at(d, "kineta(2)", at_state))[0])

    vdot = np.array([state[f"{n}'"] for n in system.v_names])
    weight = at(bare, "bias", state) - at(d, "bias", state)
    size = abs(float(at(d, "appell_function", state)[0]))
    assert more(state) - more(still) == pytest.approx(-weight @ vdot, abs=1e-12 * size)
    assert at(d, "kineta(2)", state) == pytest.approx(at(bare, "appell_function", state), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_forces_of_inertia_are_the_slope_of_the_kineta(seed: int, order: int) -> None:
    d = kn.derive(with_inertia(weightless(seed, rheonomic=True))).derivation
    state, highest = any_state(d.symbols.system, seed, order), d.symbols.level(order)
    by = gradient(d.graph, d[f"kineta({order})"].refs[0], set(highest))
    expected = values(d, [by.get(v, ZERO) for v in highest], state)
    found = at(d, f"inertia_forces({order})", state)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-11 * np.abs(expected).max())


def with_inertia(system: kn.System) -> kn.System:
    """*system* with an inertia element on the rate of a coordinate's expression."""
    moved = next(n for n in system.q_names if "." not in n)
    return system.replace(elements=[kn.inertia_element("I", 0.4, kn.sin(S(moved)) * 0.7)])


def test_an_inertia_on_a_form_of_speeds_has_no_kineta_of_the_third_order() -> None:
    system = kn.System(
        "turning",
        [kn.body("B", [kn.Ball("b")], kn.inertia(1, (1, 2, 3)))],
        coordinates=["b"],
        elements=[kn.inertia_element("I", 0.4, S("b.wx"))],
    )
    equations = kn.derive(system)
    assert equations.function("kineta(2)")(0, [1, 0, 0, 0], [1, 0, 0], [1, 0, 0]) > 0
    with pytest.raises(kn.ModelError, match="the inertia 'I' is on a form of speeds"):
        equations.function("kineta(3)")


@pytest.mark.parametrize("name", ["kineta", "kineta(0)", "kineta(x)", "inertia_forces(13)", "kineta(3"])
def test_a_kineta_without_a_right_order_is_refused(name: str) -> None:
    text = f"with its order in brackets, from 1 to 12, as in {name.partition('(')[0]}(3), found '{name}'"
    with pytest.raises(kn.ArgumentError, match=re.escape(text)):
        kn.derive(weightless(0)).function(name)


@pytest.mark.slow
def test_a_function_of_kineta_takes_rows_and_names_its_arguments() -> None:
    equations = kn.derive(weightless(0))
    f = equations.function("inertia_forces( 4 )")
    assert f is equations.function("inertia_forces(4)")
    assert f.arguments == ("t", "q", "v", "vdot", "vddot", "vdddot")
    state = np.random.default_rng(0).normal(size=(4, 3, equations.system.nv))
    q = np.random.default_rng(1).normal(size=(3, equations.system.nq))
    rows = f(0.0, q, *state)
    assert rows == pytest.approx(equations.function("inertia_forces(4)", "numpy")(0.0, q, *state), rel=1e-12)
    for k in range(3):
        assert f(0.0, q[k], *state[:, k]) == pytest.approx(rows[k], rel=1e-12)
    with pytest.raises(kn.ArgumentError, match="Expected vddot of shape"):
        f(0.0, q[0], *state[:2, 0], [1.0], state[3, 0])


@pytest.mark.parametrize("number", range(3))
def test_a_rigid_body_has_the_kineta_of_its_points(number: int) -> None:
    data = load("vectors/rodionov_rigid_kineta.json")
    case, tolerance = data["cases"][number], data["tolerance"]
    J = np.array(case["J"])
    own = kn.inertia(case["mass"], J.diagonal(), (J[0, 1], J[0, 2], J[1, 2]))
    f = kn.derive(kn.System("cloud", [kn.body("Hull", [kn.Free("b")], own)])).function
    v, a, j, w, eps, eps_dot = (np.array(case[n]) for n in ("v_C", "a_C", "j_C", "omega", "eps", "eps_dot"))
    v1 = a - np.cross(w, v)  # component by component in body axes, as speeds are differentiated
    v2 = j - np.cross(w, a) - np.cross(eps, v) - np.cross(w, v1)
    rows = [np.concatenate(pair) for pair in ((v, w), (v1, eps), (v2, eps_dot))]
    state = 0.0, [0, 0, 0, 1, 0, 0, 0]
    for order in (1, 2, 3):
        found = f(f"kineta({order})")(*state, *rows[:order])
        assert found == pytest.approx(case[f"K{order}"], rel=tolerance)
    for order, name in ((2, "dK2_deps"), (3, "dK3_deps_dot")):
        forces = f(f"inertia_forces({order})")(*state, *rows[:order])
        assert forces[3:] == pytest.approx(case[name], rel=tolerance, abs=tolerance)
        assert forces[:3] == pytest.approx(case["mass"] * (a, j)[order - 2], rel=tolerance, abs=tolerance)


# -- Rodionov (14)-(20) -------------------------------------------------------------------------------------------------


def matrix_of(own: Any) -> Any:
    """The tensor of inertia about the mass centre."""
    (a, b, c), (ab, ac, bc) = own.moments, own.products
    return np.array([[a, ab, ac], [ab, b, bc], [ac, bc, c]], dtype=float)


def bracket(J: Any, w: Any, eps: Any) -> Any:
    """What (14) multiplies by the components of e_j: J_ab there are the products + sum m x_a x_b."""
    found = np.zeros(3)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        ab, ac, bc = -J[a, b], -J[a, c], -J[b, c]
        found[a] = J[a, a] * eps[a] - ab * (eps[b] - w[c] * w[a]) - ac * (eps[c] + w[a] * w[b])
        found[a] -= bc * (w[b] ** 2 - w[c] ** 2) + (J[b, b] - J[c, c]) * w[b] * w[c]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_forces_of_inertia_of_bodies_are_those_of_rodionov(seed: int) -> None:
    """(14), (15) with the mass centre for pole, and (16) with the origin of the body's frame."""
    system = weightless(seed).fixed()
    equations, rng = kn.derive(system), np.random.default_rng(seed)
    q = np.array([any_state(system, seed, 1)[n] for n in system.q_names])
    v, vdot = rng.normal(size=(2, system.nv))
    state = 0.0, q, v
    R, jacobians = equations.function("rotations")(*state), equations.function("jacobian")(*state)
    motion, velocity = equations.function("accelerations")(*state, vdot), equations.function("velocities")(*state)
    central, about_origin = np.zeros(system.nv), np.zeros(system.nv)
    for body, own, J, a, u in zip(system.bodies, R, jacobians, motion, velocity, strict=True):
        m, c = body.inertia.mass.value or 1.3, np.array([x.value for x in body.inertia.com])
        I = matrix_of(body.inertia)
        b, e = own.T @ J[:3], own.T @ J[3:]  # in body axes: of the origin, and of the rotation
        a_A, w, eps = own.T @ a[:3], own.T @ u[3:], own.T @ a[3:]
        a_C = a_A + np.cross(eps, c) + np.cross(w, np.cross(w, c))
        to_centre = b + np.cross(e.T, c).T
        assert bracket(I, w, eps) == pytest.approx(I @ eps + np.cross(w, I @ w), rel=1e-12, abs=1e-12)
        central += to_centre.T @ (m * a_C) + e.T @ bracket(I, w, eps)
        I_A = I + m * (c @ c * np.eye(3) - np.outer(c, c))
        about_origin += m * (b.T @ a_C) + m * (np.cross(e.T, c) @ a_A)
        about_origin += e.T @ I_A @ eps + np.cross(e.T, w) @ (I_A @ w)
    found = equations.function("inertia_forces(2)")(*state, vdot)
    assert found == pytest.approx(central, rel=1e-11, abs=1e-11)
    assert found == pytest.approx(about_origin, rel=1e-11, abs=1e-11)


def test_forces_of_inertia_in_rodionovs_special_cases() -> None:
    """(17) translation, (18) a fixed axis, (19) plane motion, (20) a fixed point."""
    own = kn.inertia(1.5, (2.0, 3.0, 4.0), com=(0.2, 0.1, -0.3))
    x, y, phi = S("x"), S("y"), S("phi")

    def forces(motions: list[Any], names: list[str], v: list[float], vdot: list[float], body: Any = own) -> Any:
        equations = kn.derive(kn.System("case", [kn.body("B", motions, body)], coordinates=names))
        at_rest = [1.0, 0.0, 0.0, 0.0] if names == ["b"] else [0.0] * len(names)
        return equations.function("inertia_forces(2)")(0.0, at_rest, v, vdot)

    assert forces([kn.Sx(x), kn.Sy(x + y)], ["x", "y"], [1, 2], [3, 4]) == pytest.approx(1.5 * np.array([3 + 7, 7]))
    about_z = 4.0 + 1.5 * (0.2**2 + 0.1**2)
    assert forces([kn.Rz(phi)], ["phi"], [5], [2]) == pytest.approx([about_z * 2])
    central = kn.inertia(1.5, (2.0, 3.0, 4.0))
    plane = forces([kn.Sx(x), kn.Sy(y), kn.Rz(phi)], ["x", "y", "phi"], [1, 2, 3], [4, 5, 6], central)
    assert plane == pytest.approx([1.5 * 4, 1.5 * 5, 4.0 * 6])
    w, eps = np.array([0.3, -0.4, 0.5]), np.array([1.0, 2.0, -1.5])
    point = forces([kn.Ball("b")], ["b"], w.tolist(), eps.tolist(), central)
    assert point == pytest.approx(bracket(np.diag([2.0, 3.0, 4.0]), w, eps))
