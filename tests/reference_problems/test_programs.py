"""Programs of motion against Rodionov's examples and reference problems, each to its stated tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kineta as kn
from tests.mechanics.truth import load
from tests.programs.instants import solution, state_of
from tests.reference_problems.tables import TIGHT, column, rotations

S = kn.symbol
T = S("t")
#: What the laws of points have in common.
BOTH = ["covariant", "kineta"]


def third_order(name: str) -> dict[str, Any]:
    return load(f"third_order/{name}_s.json")


def vectors(name: str) -> dict[str, Any]:
    return load(f"vectors/rodionov_{name}.json")


def point(
    coordinates: Sequence[str], mass: float, force: Sequence[Any], programs: Sequence[kn.Program], **more: Any
) -> kn.System:
    """A particle in Cartesian coordinates."""
    motions = [make(S(n)) for make, n in zip((kn.Sx, kn.Sy, kn.Sz), coordinates, strict=False)]
    acting = [kn.force("F", "P", tuple(force))]
    body = kn.body("P", motions, kn.inertia(mass))
    return kn.System("point", [body], coordinates=list(coordinates), elements=acting, programs=programs, **more)


def moved(system: kn.System, times: Any, **start: Any) -> kn.Result:
    result = kn.simulate(system, times[-1], t_eval=times, **start, **TIGHT)
    assert result.success, result.message
    assert result.residual < 1e-10
    assert result.energy_balance < 1e-10
    return result


def levels(result: kn.Result, order: int) -> Any:
    """The derivatives of the coordinates of this *order*."""
    return np.stack([result[n + "'" * (order - 1)] for n in result.v_names], axis=-1)


def size(kind: str, of: str) -> Any:
    return abs(kn.vector(kind, of))


# -- points -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", BOTH)
@pytest.mark.parametrize("field", ["uniform", "gradient"])
def test_charged_particle(field: str, law: str) -> None:
    data = third_order(f"charged_particle_{field}")
    p, start, table, tolerance = data["parameters"], data["initial_state"], data["expected"]["table"], data["tolerance"]
    x, y, vx, vy = S("x"), S("y"), S("x'"), S("y'")
    B = p["B"] * (1 + p["bB"] * x)
    force = (p["e"] * (p["Ex"] + p["gx"] * x + B * vy), p["e"] * (p["Ey"] - p["gx"] * y - B * vx), 0)
    held = kn.program("hold", p["m"] / 2 * size("a", "P") ** 2 - 0.9 * (1 + 0.4 * kn.sin(1.5 * T)))
    system = point("xy", p["m"], force, [held], control=kn.control(law))
    result = moved(system, column(table, "t"), q=start["q"], v=start["qd"], levels=[start["qdd"]])
    assert result.q == pytest.approx(column(table, "q"), abs=tolerance["abs_state"])
    assert result.v == pytest.approx(column(table, "qd"), abs=tolerance["abs_state"])
    assert levels(result, 2) == pytest.approx(column(table, "qdd"), abs=tolerance["abs_state"])
    assert result["lambda.hold"] == pytest.approx(column(table, "lambda"), abs=tolerance["abs_lambda"])


def craft(m: float, mu: float, w: float, *, polar: bool) -> kn.System:
    """A craft in a central field whose acceleration keeps its size."""
    if polar:
        motions, r = [kn.Rz(S("phi")), kn.Sx(S("r"))], S("r")
        own: dict[str, Any] = {"coordinates": ["r", "phi"]}
        force = kn.force("F", "P", (-m * mu / r**2, 0, 0), axes="body")
    else:
        motions, r = [kn.Sx(S("x")), kn.Sy(S("y"))], kn.sqrt(S("x") ** 2 + S("y") ** 2)
        own = {"coordinates": ["x", "y"]}
        force = kn.force("F", "P", (-m * mu * S("x") / r**3, -m * mu * S("y") / r**3, 0))
    held = kn.program("hold", size("a", "P") ** 2 - w**2)
    return kn.System("craft", [kn.body("P", motions, kn.inertia(m))], elements=[force], programs=[held], **own)


@pytest.mark.parametrize("law", BOTH)
@pytest.mark.parametrize("name", ["landing_moon", "orbit_moon_raise"])
def test_craft_with_an_acceleration_of_constant_size(name: str, law: str) -> None:
    data = third_order(name)
    p, start, expected, tolerance = (
        data["parameters"],
        data["initial_state"],
        data["expected"],
        data["tolerance"]["rel_state_scaled_abs"],
    )
    unit, r0, scaled = p["time_unit"], p["r0"], start["scaled"]
    control = kn.control(law)
    system = craft(1.0, 1.0, 1.0, polar=False).replace(control=control)
    table, polar = expected["table_scaled"], expected["table_polar_scaled"]
    result = moved(system, column(table, "t"), q=scaled[:2], v=scaled[2:4], levels=[scaled[4:]])
    assert result.q == pytest.approx(column(table, "q"), abs=tolerance)
    assert result.v == pytest.approx(column(table, "qd"), abs=tolerance)
    assert levels(result, 2) == pytest.approx(column(table, "qdd"), abs=tolerance)
    assert result["lambda.hold"] == pytest.approx(column(table, "lambda"), abs=data["tolerance"]["abs_lambda_scaled"])
    first = polar[0]
    system = craft(1.0, 1.0, 1.0, polar=True).replace(control=control)
    result = moved(system, column(polar, "t"), q=first["r_phi"], v=first["rates"], levels=[first["second"]])
    assert result.q == pytest.approx(column(polar, "r_phi"), abs=tolerance)
    assert result.v == pytest.approx(column(polar, "rates"), abs=tolerance)
    assert levels(result, 2) == pytest.approx(column(polar, "second"), abs=tolerance)
    system, table = craft(p["m"], p["mu"], p["w"], polar=False).replace(control=control), expected["table"]
    result = kn.simulate(
        system, table[-1]["t"], q=start["q"], v=start["qd"], levels=[start["qdd"]], t_eval=column(table, "t"), **TIGHT
    )
    assert result.success, result.message
    assert result.q / r0 == pytest.approx(column(table, "q") / r0, abs=tolerance)
    assert result.v * unit / r0 == pytest.approx(column(table, "qd") * unit / r0, abs=tolerance)
    found, scale = result["lambda.hold"], unit / p["m"]
    assert found * scale == pytest.approx(column(table, "lambda") * scale, abs=data["tolerance"]["abs_lambda_scaled"])


def charged(p: dict[str, float], energy: Any, **more: Any) -> kn.System:
    """P.1, the craft in crossed fields with a given energy of accelerations."""
    B = p["B0"]
    force = (p["q"] * B * S("y'"), p["q"] * (p["E0"] + p["epsilon"] * T - B * S("x'")), 0)
    held = kn.program("hold", p["m"] / 2 * size("a", "P") ** 2 - energy)
    return point("xy", p["m"], force, [held], **more)


@pytest.mark.parametrize("law", BOTH)
@pytest.mark.parametrize("name", ["p1", "p1_transversal"])
def test_charged_craft_of_rodionov(name: str, law: str) -> None:
    data = vectors(name)
    p, i, table = data["parameters"], data["initial"], data["trajectory"]
    across = {"x'": -p["tau"] * S("y''"), "y'": p["tau"] * S("x''")}
    system = charged(p, p["S0"] + p["c"] * T, control=kn.control(law, transversal=across if p["tau"] else None))
    start = {"q": [i["x"], i["y"]], "v": [i["vx"], i["vy"]], "levels": [[i["ax"], i["ay"]]]}
    result = moved(system, column(table, "t"), **start)
    names = {"x": "x", "y": "y", "vx": "x'", "vy": "y'", "ax": "x''", "ay": "y''", "lambda": "lambda.hold"}
    names |= {"control_Rx": "control.x'", "control_Ry": "control.y'"}
    for theirs, ours in names.items():
        assert result[ours] == pytest.approx(column(table, theirs), abs=data["tolerance"]), theirs


def test_the_printed_start_of_rodionov_says_that_its_gradient_vanishes() -> None:
    data = vectors("p1_degenerate_start")
    i, system = data["initial"], charged(data["parameters"], data["parameters"]["c"] * T)
    start = {"q": [i["x"], i["y"]], "v": [i["vx"], i["vy"]]}
    with pytest.raises(kn.SimulationError, match="gradient"):
        kn.simulate(system, 1.0, **start, levels=[[0.0, 0.0]])


def regular(p: dict[str, float], i: dict[str, float], end: float) -> Any:
    """The state of P.1 with S = c t from a start with |a| = 0 in the direction alpha0, in the regular variable sqrt(t)."""
    growth, turning = np.sqrt(2 * p["c"] / p["m"]), p["q"] * p["B0"] / p["m"]
    push = 2 * p["q"] * p["epsilon"] / np.sqrt(2 * p["c"] * p["m"])

    def rate(theta: float, y: Any) -> list[float]:
        (_, _, vx, vy, alpha), a = y, 2 * growth * theta**2
        turn = push * np.cos(alpha) - 2 * theta * turning
        return [2 * theta * vx, 2 * theta * vy, a * np.cos(alpha), a * np.sin(alpha), turn]

    start = [i["x"], i["y"], i["vx"], i["vy"], i["alpha0"]]
    x, y, vx, vy, alpha = solve_ivp(rate, (0, np.sqrt(end)), start, method="DOP853", **TIGHT).y[:, -1]
    a = growth * np.sqrt(end)
    return {"q": [x, y], "v": [vx, vy], "levels": [[a * np.cos(alpha), a * np.sin(alpha)]]}


def test_the_printed_start_of_rodionov_with_a_direction_of_the_acceleration() -> None:
    data = vectors("p1_degenerate_start")
    p, table = data["parameters"], data["trajectory"][1:]
    system, began = charged(p, p["c"] * T), 0.01
    start = regular(p, data["initial"], began)
    result = kn.simulate(system, (began, table[-1]["t"]), t_eval=column(table, "t"), **start, **TIGHT)
    assert result.success, result.message
    for theirs, ours in {"x": "x", "y": "y", "vx": "x'", "vy": "y'", "ax": "x''", "ay": "y''"}.items():
        assert result[ours] == pytest.approx(column(table, theirs), abs=data["tolerance"]), theirs


@pytest.mark.parametrize("law", BOTH)
def test_landing_of_rodionov(law: str) -> None:
    data = vectors("p3")
    p, i, table = data["parameters"], data["initial"], data["trajectory"]
    system = craft(p["m"], p["chi"], p["a0"], polar=True).replace(control=kn.control(law))
    start = {"q": [i["r"], i["phi"]], "v": [i["r_d"], i["phi_d"]], "levels": [[i["r_dd"], i["phi_dd"]]]}
    result = moved(system, column(table, "t"), **start)
    names = {"r": "r", "phi": "phi", "r_d": "r'", "phi_d": "phi'", "r_dd": "r''", "phi_dd": "phi''"}
    names |= {"lambda": "lambda.hold", "control_R_r": "control.r'"}
    for theirs, ours in names.items():
        assert result[ours] == pytest.approx(column(table, theirs), abs=data["tolerance"]), theirs
    across = column(table, "control_R_phi") * column(table, "r")
    assert result["control.phi'"] == pytest.approx(across, abs=data["tolerance"])


CASES = ("k0_holonomic", "k1_linear", "k1_nonlinear", "k2_linear", "k2_nonlinear", "k3_linear", "two_programs_r1")


def orders(p: dict[str, float]) -> dict[str, list[Any]]:
    """What stands in the table of one instant."""
    x, y, vx, vy, vz = (S(n) for n in ("x", "y", "x'", "y'", "z'"))
    ax, ay, az = (S(n) for n in ("x''", "y''", "z''"))
    jx, jy, jz = (S(n) for n in ("x'''", "y'''", "z'''"))
    al, be, ga, c = p["al"], p["be"], p["ga"], p["c"]
    third = al * jx + jy + y * jz + be * ax * vy - c
    return {
        "k0_holonomic": [x * x + y * y + S("z") ** 2 - 1],
        "k1_linear": [-be * y * vx + (be * x + 1) * vy + ga * vz],
        "k1_nonlinear": [size("v", "P") ** 2 - c],
        "k2_linear": [ax + al * x * ay + vz * az + al * vx * vy - c],
        "k2_nonlinear": [size("a", "P") ** 2 - c],
        "k3_linear": [third],
        "two_programs_r1": [size("a", "P") ** 2 - c, third],
    }


@pytest.mark.parametrize("law", BOTH)
@pytest.mark.parametrize("case", CASES)
def test_programs_of_every_order_at_one_instant(case: str, law: str) -> None:
    data = vectors("orders")
    p, state, expected = data["parameters"], data["state"], data["solutions"][case]
    force = (-2 * S("x") + S("y'"), -S("y") - S("x'"), -p["g"])
    programs = [kn.program(f"f{k}", f) for k, f in enumerate(orders(p)[case])]
    system = point("xyz", p["m"], force, programs, control=kn.control(law))
    found, multipliers = solution(system, state_of(system, [state["v"], state["a"]], state["x"]))
    assert found == pytest.approx(expected["values"], abs=data["tolerance"])
    assert multipliers == pytest.approx(np.atleast_1d(expected["lambda"]), abs=data["tolerance"])


# -- bodies -----------------------------------------------------------------------------------------------------------

#: The tables of the satellite by the law.
SATELLITE = {"kineta": "law_K3", "covariant": "law_covariant", "inertial": "law_inertial_torque"}


@pytest.mark.parametrize("law", SATELLITE)
@pytest.mark.parametrize("name", ["satellite_const_eps", "satellite_varying_eps"])
def test_satellite_under_three_laws(name: str, law: str) -> None:
    data = third_order(name)
    p, i, expected, tolerance = data["parameters"], data["initial_state"], data["expected"], data["tolerance"]
    table = (expected | expected["alternatives"])[SATELLITE[law]]
    target = p["s0"] if "const" in name else p["s0"] + 0.02 * kn.sin(T)
    own = kn.inertia(1.0, (p["A"], p["B"], p["C"]))
    held = kn.program("turn", size("eps", "Hull") ** 2 - target)
    system = kn.System("satellite", [kn.body("Hull", [kn.Ball("b")], own)], programs=[held], control=kn.control(law))
    result = moved(system, column(table, "t"), v=i["omega_body"], levels=[i["eps_body"]])
    assert rotations(system, result) == pytest.approx(column(table, "rotation_matrix"), abs=tolerance["abs_state"])
    assert result.v == pytest.approx(column(table, "omega_body"), abs=tolerance["abs_state"])
    assert levels(result, 2) == pytest.approx(column(table, "eps_body"), abs=tolerance["abs_state"])
    assert result["lambda.turn"] == pytest.approx(column(table, "lambda"), abs=tolerance["abs_lambda"])
    if law == "inertial":
        return
    angles = [kn.Rx(S("q1")), kn.Ry(S("q2")), kn.Rz(S("q3"))]
    system = system.replace(bodies=[kn.body("Hull", angles, own)], coordinates=["q1", "q2", "q3"])
    start = {"q": i["cardan_q"], "v": i["cardan_qd"], "levels": [i["cardan_qdd"]]}
    result = moved(system, column(table, "t"), **start)
    assert rotations(system, result) == pytest.approx(column(table, "rotation_matrix"), abs=tolerance["abs_state"])
    assert result["lambda.turn"] == pytest.approx(column(table, "lambda"), abs=tolerance["abs_lambda"])
    if law == "kineta":
        cardan = expected["law_K3_cardan"]
        assert result.q == pytest.approx(column(cardan, "q"), abs=tolerance["abs_state"])
        assert result.v == pytest.approx(column(cardan, "qd"), abs=tolerance["abs_state"])
        assert levels(result, 2) == pytest.approx(column(cardan, "qdd"), abs=tolerance["abs_state"])


@pytest.mark.parametrize("name", ["p2", "p2_growing"])
def test_attitude_manoeuvre_of_rodionov(name: str) -> None:
    data = vectors(name)
    p, i, table, tolerance = data["parameters"], data["initial"], data["trajectory"], data["tolerance"]
    own = kn.inertia(1.0, (p["Ix"], p["Iy"], p["Iz"]))
    held = kn.program("turn", size("eps", "Hull") ** 2 - (float(np.dot(i["eps"], i["eps"])) + p["b"] * T))
    body = kn.body("Hull", [kn.Ball("b")], own)
    system = kn.System("manoeuvre", [body], programs=[held], control=kn.control("kineta"))
    result = moved(system, column(table, "t"), q=i["quaternion_wxyz"], v=i["omega"], levels=[i["eps"]])
    assert result.q == pytest.approx(column(table, "quaternion_wxyz"), abs=tolerance)
    assert result.v == pytest.approx(column(table, "omega"), abs=tolerance)
    assert levels(result, 2) == pytest.approx(column(table, "eps"), abs=tolerance)
    assert result["lambda.turn"] == pytest.approx(column(table, "lambda"), abs=tolerance)
    torque = np.stack([result[f"control.{n}"] for n in system.v_names], axis=-1)
    assert torque == pytest.approx(column(table, "control_torque_body"), abs=tolerance)


#: The tables of the particle on a sphere by the law.
SPHERE = {"kineta": "form_22", "covariant": "form_21"}


@pytest.mark.parametrize("law", SPHERE)
def test_particle_on_a_sphere_in_angles_and_beside_an_ideal_constraint(law: str) -> None:
    data = vectors("sphere_forms")
    p, i = data["parameters"], data["initial"]
    times = column(data["trajectory"], "t")
    table = [row[SPHERE[law]] for row in data["trajectory"]]
    held = kn.program("hold", size("a", "P") ** 2 - data["a0_squared"])
    shared: dict[str, Any] = {"gravity": (0, 0, -p["g"]), "programs": [held], "control": kn.control(law)}
    motions = [kn.Rz(S("q2")), kn.Ry(-S("q1")), kn.Sz(-1.0)]
    body = kn.body("P", motions, kn.inertia(p["m"]))
    system = kn.System("sphere", [body], coordinates=["q1", "q2"], **shared)
    result = moved(system, times, q=i["q"], v=i["qd"], levels=[i["qdd"]])
    tolerance = data.get("tolerance", 1e-12)
    assert result.q == pytest.approx(column(table, "q"), abs=tolerance)
    assert result["lambda.hold"] == pytest.approx(column(table, "lambda"), abs=tolerance)
    control = np.stack([result["control.q1'"], result["control.q2'"]], axis=-1)
    assert control == pytest.approx(column(table, "control_generalized_force"), abs=tolerance)
    equations = kn.derive(system.replace(programs=(), control=kn.Control()))
    start = [equations.function(f"{kind}(P)")(0, i["q"], i["qd"])[:3] for kind in ("position", "velocity")]
    acceleration = equations.function("acceleration(P)")(0, i["q"], i["qd"], i["qdd"])[:3]
    x, y, z = S("x"), S("y"), S("z")
    wire = kn.constraint("wire", x**2 + y**2 + z**2 - 1)
    body = kn.body("P", [kn.Sx(x), kn.Sy(y), kn.Sz(z)], kn.inertia(p["m"]))
    system = kn.System("sphere", [body], coordinates=["x", "y", "z"], constraints=[wire], **shared)
    result = moved(system, times, q=start[0], v=start[1], levels=[acceleration])
    th, ph = column(table, "q").T
    places = np.stack([np.sin(th) * np.cos(ph), np.sin(th) * np.sin(ph), -np.cos(th)], axis=-1)
    assert result.q == pytest.approx(places, abs=tolerance)
    assert result["lambda.hold"] == pytest.approx(column(table, "lambda"), abs=tolerance)
