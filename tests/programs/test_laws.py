"""What laws of control have in common and in what they differ, on random trees and in other coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kineta as kn
from kineta.mechanics.programs import dynamics
from tests.mechanics.random_systems import random_system
from tests.programs.instants import any_state, at, controlled, solution, unforced, values

S = kn.symbol
T = S("t")


def size(kind: str, of: str) -> Any:
    return abs(kn.vector(kind, of))


#: Programs on a body, by r: how often equations are differentiated for them.
NONLINEAR = {
    1: lambda of: size("a", of) ** 2 + 0.3 * kn.vector("a", of).x - 2,
    2: lambda of: size("jerk", of) ** 2 + 0.3 * kn.vector("jerk", of).x - 2,
    3: lambda of: S(f"jerk({of}).x'") ** 2 + S(f"jerk({of}).y'") ** 2 + S(f"jerk({of}).z'") ** 2 - 2,
}


def under(system: kn.System, law: str, *programs: Any) -> kn.System:
    """*system* with such programs, by a law."""
    named = [kn.program(f"p{k}", f) for k, f in enumerate(programs)]
    return system.replace(programs=named, control=kn.control(law))


def last(system: kn.System) -> str:
    return system.bodies[-1].name


@pytest.mark.parametrize("seed", range(5))
def test_laws_coincide_where_the_equations_are_not_differentiated(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    a = kn.vector("a", last(system))
    programs = (0.7 * a.x - a.z + kn.sin(T), S(f"w({last(system)}).y") ** 2 - 0.4)
    state = any_state(system, seed, 2)
    (found, multipliers), *others = (solution(under(system, law, *programs), state) for law in ("covariant", "kineta"))
    for other in others:
        assert other[0] == pytest.approx(found, rel=1e-9, abs=1e-9)
        assert other[1] == pytest.approx(multipliers, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("r", NONLINEAR)
def test_of_points_in_flat_space_the_kineta_law_is_the_covariant_one(r: int) -> None:
    """Two points on a spring, in a field that depends on places and speeds; one in polar coordinates."""
    x, y, rho, phi = S("x"), S("y"), S("rho"), S("phi")
    bodies = [
        kn.body("A", [kn.Sx(x), kn.Sy(y)], kn.inertia(1.3)),
        kn.body("B", [kn.Rz(phi), kn.Sx(rho), kn.Sz(0.2)], kn.inertia(0.7)),
    ]
    acting = [
        kn.force("F", "A", (S("y'") * x, -S("x'") - kn.sin(y), 0)),
        kn.force("G", "B", (0.3 * rho**2, S("phi'"), 0), axes="body"),
        kn.line_spring("K", 2.0, kn.station("A"), kn.station("B"), length=0.3),
    ]
    system = kn.System("points", bodies, coordinates=["x", "y", "rho", "phi"], elements=acting)
    state = any_state(system, r, r + 1) | {"rho": 1.1}
    covariant, kineta = (solution(under(system, law, NONLINEAR[r]("B")), state) for law in ("covariant", "kineta"))
    assert kineta[0] == pytest.approx(covariant[0], rel=1e-9, abs=1e-9)
    assert kineta[1] == pytest.approx(covariant[1], rel=1e-9, abs=1e-9)


# -- free motion ------------------------------------------------------------------------------------------------------


def free(seed: int, r: int, law: str, system: kn.System, f: Any) -> tuple[Any, Any, Any, float]:
    """The highest derivatives of the motion without control, those under the program f = c t which that motion meets, the
    multiplier, and the size of the control.
    """
    system = system.replace(parameters={p.name: p.value for p in system.parameters} | {"c": None})
    alone, d = (controlled(under(system, name, f - S("c") * T)) for name in ("covariant", law))
    state = any_state(system, seed, r + 1) | {"c": 0.0}
    for k in range(2, r + 3):
        natural = values(alone, dynamics.uncontrolled(alone, k), state)
        if k < r + 2:
            state |= {n + "'" * (k - 1): float(x) for n, x in zip(system.v_names, natural, strict=True)}
    (row,) = d.programs.rows
    gradient = values(d, row.dense(system.nv), state)
    state["c"] = float(gradient @ natural + values(d, [row.rest], state)[0])
    return (
        natural,
        at(d, "highest", state),
        at(d, "program_multipliers", state)[0],
        np.abs(at(d, "control", state)).max(),
    )


@pytest.mark.parametrize("r", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_covariant_law_leaves_alone_what_meets_a_program_by_itself(seed: int, r: int) -> None:
    system = random_system(seed, rheonomic=True, n=2)
    natural, found, multiplier, control = free(seed, r, "covariant", system, NONLINEAR[r](last(system)))
    scale = max(1.0, np.abs(natural).max())
    assert found == pytest.approx(natural, rel=1e-7, abs=1e-9 * scale)
    assert multiplier == pytest.approx(0, abs=1e-9 * scale)
    assert control < 1e-10 * scale


def ball(**more: Any) -> kn.System:
    own = kn.inertia(1.4, (2.0, 3.1, 4.2), (0.1, -0.2, 0.3), com=(0.1, -0.2, 0.05))
    return kn.System("top", [kn.body("Hull", [kn.Ball("b"), kn.Sx(0.4)], own)], coordinates=["b"], **more)


@pytest.mark.parametrize("law", ["covariant", "inertial", "kineta"])
def test_of_three_laws_of_one_body_the_kineta_law_alone_disturbs_free_rotation(law: str) -> None:
    body = kn.body("Hull", [kn.Ball("b")], kn.inertia(1.0, (2.0, 3.1, 4.2)))
    natural, found, multiplier, _ = free(
        1, 1, law, kn.System("top", [body], coordinates=["b"]), size("eps", "Hull") ** 2
    )
    alone = law != "kineta"
    assert (np.abs(found - natural).max() < 1e-10) == alone
    assert (abs(multiplier) < 1e-10) == alone


def test_a_circular_orbit_keeps_its_acceleration_without_control() -> None:
    x, y = S("x"), S("y")
    r = kn.sqrt(x**2 + y**2)
    craft = kn.body("P", [kn.Sx(x), kn.Sy(y)], kn.inertia(3.0))
    pull = kn.force("F", "P", (-3 * x / r**3, -3 * y / r**3, 0))
    system = kn.System("orbit", [craft], coordinates=["x", "y"], elements=[pull])
    for law in ("covariant", "kineta"):
        result = kn.simulate(under(system, law, size("a", "P") - 1), 6.0, q=[1, 0], v=[0, 1], rtol=1e-12, atol=1e-13)
        assert result.success, result.message
        assert np.hypot(*result.q.T) == pytest.approx(np.ones(len(result.t)), abs=1e-10)
        assert np.abs([result["control.x'"], result["control.y'"]]).max() < 1e-9


# -- other coordinates ------------------------------------------------------------------------------------------------


def told(d: Any, parts: Sequence[Any], state: Mapping[str, float], order: int) -> list[Any]:
    """What *parts* of one description are in a *state*, and their derivatives up to this *order*."""
    refs = d.expression_of_levels(*parts)
    return [values(d, d.symbols.levels.of(refs, k), state) for k in range(order + 1)]


def same(
    one: kn.System, other: kn.System, speeds: Sequence[Any], q: Any, state: Mapping[str, float], tolerance: float = 1e-9
) -> None:
    """That two descriptions of a system move alike: *speeds* of the other in terms of the one, its coordinates *q*."""
    d = controlled(one)
    s = d.programs.s
    z, multipliers = at(d, "highest", state), at(d, "program_multipliers", state)
    state = {**state, **{n + "'" * (s - 1): float(x) for n, x in zip(d.symbols.names, z, strict=True)}}
    levels = told(d, speeds, state, s - 1)
    moved = {"t": state["t"], **unforced(other), **dict(zip(other.q_names, map(float, q), strict=True))}
    moved |= {n + "'" * k: float(x) for k in range(s - 1) for n, x in zip(other.v_names, levels[k], strict=True)}
    found, theirs = solution(other, moved)
    scale = max(1.0, np.abs(levels[-1]).max())
    assert found == pytest.approx(levels[-1], rel=tolerance, abs=tolerance * scale)
    assert theirs == pytest.approx(multipliers, rel=tolerance, abs=tolerance)


LAWS = ["covariant", "kineta"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("r", NONLINEAR)
def test_a_body_moves_alike_in_quaternions_angles_and_quasi_velocities(r: int, law: str) -> None:
    own = ball()
    spin = own.bodies[0]
    angles = [S("q1"), S("q2"), S("q3")]
    body = kn.body("Hull", [kn.Rx(angles[0]), kn.Ry(angles[1]), kn.Rz(angles[2]), *spin.motions[1:]], spin.inertia)
    acting = [kn.force("F", "Hull", (1.0, S("t"), 0.3)), kn.force("G", "Hull", (0.2, 0, 1.0), axes="body")]
    cardan, quaternion = (
        under(kn.System("top", [b], coordinates=c, elements=acting), law, NONLINEAR[r]("Hull"))
        for b, c in ((body, ["q1", "q2", "q3"]), (spin, ["b"]))
    )
    state = any_state(cardan, r, r + 1) | {"q2": 0.4}
    w = kn.vector("w", "Hull", "Hull")
    matrix = kn.derive(cardan.replace(programs=(), control=kn.Control())).function("rotations")(
        state["t"], [state[n] for n in cardan.q_names], [0, 0, 0]
    )[0]
    x, y, z, scalar = Rotation.from_matrix(matrix).as_quat()
    same(cardan, quaternion, [w.x, w.y, w.z], [scalar, x, y, z], state)
    forms = [S("q1'") + kn.sin(angles[1]) * S("q3'"), S("q2'") - S("q1'"), 2 * S("q3'")]
    quasi = cardan.replace(quasi=[kn.quasi(f"u{k}", form) for k, form in enumerate(forms)])
    same(cardan, quasi, forms, [state[n] for n in cardan.q_names], state)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("r", NONLINEAR)
def test_points_move_alike_in_polar_and_moving_coordinates_and_as_inertia_elements(r: int, law: str) -> None:
    rho, phi, x, y = S("rho"), S("phi"), S("x"), S("y")
    acting = [kn.force("F", "P", (0.3, S("t") ** 2, 0))]

    def point(motions: Sequence[Any], names: Sequence[str], mass: float = 1.3, **more: Any) -> kn.System:
        elements = [*acting, *more.pop("inertias", ())]
        own = kn.System("point", [kn.body("P", motions, kn.inertia(mass))], coordinates=names, elements=elements)
        return under(own, law, NONLINEAR[r]("P"))

    polar = point([kn.Rz(phi), kn.Sx(rho)], ["rho", "phi"])
    state = any_state(polar, r, r + 1) | {"rho": 1.2}
    place = rho * kn.cos(phi), rho * kn.sin(phi)
    known = {n: state[n] for n in ("rho", "phi", "t")}
    at_place = [known["rho"] * np.cos(known["phi"]), known["rho"] * np.sin(known["phi"])]
    v = kn.vector("v", "P")
    same(polar, point([kn.Sx(x), kn.Sy(y)], ["x", "y"]), [v.x, v.y], at_place, state)
    drift, lift = kn.sin(2 * T), T**3
    moving = point([kn.Sx(drift), kn.Sx(x), kn.Sy(y + lift)], ["x", "y"])
    t = known["t"]
    left = [at_place[0] - np.sin(2 * t), at_place[1] - t**3]
    same(polar, moving, [v.x - 2 * kn.cos(2 * T), v.y - 3 * T**2], left, state)
    inertias = [kn.inertia_element(f"I{k}", 1.3, p) for k, p in enumerate(place)]
    elements = point([kn.Rz(phi), kn.Sx(rho)], ["rho", "phi"], 0.0, inertias=inertias)
    same(polar, elements, [S("rho'"), S("phi'")], [state["rho"], state["phi"]], state)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("r", [1, 2])
def test_a_constraint_kept_by_reactions_and_one_kept_by_coordinates_give_one_motion(r: int, law: str) -> None:
    th, ph, x, y, z = (S(n) for n in ("th", "ph", "x", "y", "z"))
    motions = [kn.Rz(ph), kn.Ry(-th), kn.Sz(-1.0)]
    shared: dict[str, Any] = {"gravity": (0, 0, -0.9)}
    angles = kn.System("sphere", [kn.body("P", motions, kn.inertia(1.3))], coordinates=["th", "ph"], **shared)
    wire = kn.constraint("wire", x**2 + y**2 + z**2 - 1)
    body = kn.body("P", [kn.Sx(x), kn.Sy(y), kn.Sz(z)], kn.inertia(1.3))
    embedded = kn.System("sphere", [body], coordinates=["x", "y", "z"], constraints=[wire], **shared)
    one, other = (under(own, law, NONLINEAR[r]("P")) for own in (angles, embedded))
    state = any_state(angles, r, r + 1) | {"th": 0.8}
    a, b = state["th"], state["ph"]
    v = kn.vector("v", "P")
    same(one, other, [v.x, v.y, v.z], [np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), -np.cos(a)], state)


ARM = "A | Rz(a) = m(1), Jz(0.1), com=(0.5,0,0); B ~ A | Sx(1), Rz(b) = m(1), Jz(0.1), com=(0.5,0,0);"
ASKED = "control least on a weight 3, b; initial a = 0.3, b = 0.9, a' = 1, b' = -0.5"
#: The tip of the arm as a body of its own, on a loop.
TIP = "C | Sx(c), Sy(d) = 1; loop k : ball between B at (1,0,0) and C;"
THERE = "c = cos(0.3)+cos(1.2), d = sin(0.3)+sin(1.2), c' = -sin(0.3)-0.5*sin(1.2), d' = cos(0.3)+0.5*cos(1.2)"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["a''' = 1 + t", "a'''' = 1 + t"])
def test_the_least_forces_of_motors_do_not_depend_on_how_a_loop_is_described(program: str) -> None:
    """Equations that are differentiated once and twice: what the loop carries is no force of a motor, nor are its rates."""
    tree = kn.loads(f"{ARM} C ~ B | Sx(1) = 1; coordinates a, b; program p : {program}; {ASKED};")
    loop = kn.loads(f"{ARM} {TIP} coordinates a, b, c, d; program p : {program}; {ASKED}, {THERE};")
    one, other = (kn.simulate(system, 0.5, samples=3, rtol=1e-11, atol=1e-12) for system in (tree, loop))
    for name in ("a", "b", "control.a'", "control.b'", "control.work"):
        assert other[name] == pytest.approx(one[name], rel=1e-8, abs=1e-9)
    for name in ("control.c'", "control.d'"):
        assert other[name] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("ideal", ["x = y", "x' = y'"])
def test_a_control_acts_where_its_actuator_is_alone(ideal: str) -> None:
    text = (
        f"P | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : {ideal}; program p : x''' = 1 + t; control least on x;"
    )
    run = kn.simulate(kn.loads(text), 0.5, samples=2)
    assert run["control.x'"] == pytest.approx([0, 2 * (0.5 + 0.125)], abs=1e-9)
    assert run["control.y'"] == pytest.approx(0, abs=1e-12)


# -- programs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_a_program_times_a_number_has_the_same_motion(law: str) -> None:
    system = random_system(3, n=3)
    f, state = NONLINEAR[1](last(system)), any_state(system, 3, 2)
    one, other = (solution(under(system, law, c * f), state) for c in (1, -4))
    assert other[0] == pytest.approx(one[0], rel=1e-9)
    assert -4 * other[1] == pytest.approx(one[1], rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(3))
def test_programs_of_different_orders_are_met_together(seed: int, law: str) -> None:
    system = random_system(seed, n=3, rheonomic=True)
    of = last(system)
    programs = (kn.vector("r", of).z - T, NONLINEAR[1](of))
    d = controlled(under(system, law, *programs))
    state = any_state(system, seed, 2)
    z = at(d, "highest", state)
    assert (d.programs.s, len(d.programs.rows)) == (3, 2)
    for row in d.programs.rows:
        gradient = values(d, row.dense(len(z)), state)
        rest = values(d, [row.rest], state)[0]
        assert gradient @ z + rest == pytest.approx(0, abs=1e-9 * max(1.0, abs(rest)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", [3, 4, 5])
def test_a_derivative_of_given_size_turns_with_a_magnetic_field(order: int, law: str) -> None:
    """m x^(k+1) = F^(k-1) + lambda x^(k), |x^(k)| = J: with F = q v x B it turns evenly."""
    m, turning, J = 1.5, 0.8, 0.6
    x, y = S("x"), S("y")
    marks = "'" * order
    body = kn.body("P", [kn.Sx(x), kn.Sy(y)], kn.inertia(m))
    field = kn.force("F", "P", (m * turning * S("y'"), -m * turning * S("x'"), 0))
    system = kn.System("craft", [body], coordinates=["x", "y"], elements=[field])
    system = under(system, law, S("x" + marks) ** 2 + S("y" + marks) ** 2 - J**2)
    rng = np.random.default_rng(order)
    lower = rng.normal(size=order) + 1j * rng.normal(size=order)
    rows = [[c.real, c.imag] for c in lower] + [[J, 0.0]]
    result = kn.simulate(system, 2.0, q=rows[0], v=rows[1], levels=rows[2:], samples=9, rtol=1e-12, atol=1e-13)
    assert result.success, result.message
    assert result.residual < 1e-10
    assert result.energy_balance < 1e-10
    t, w = result.t, -1j * turning
    fast = J * np.exp(w * t) / w**order
    slow = sum((lower[j] - J * w ** (j - order)) * t**j / np.prod(np.arange(1, j + 1)) for j in range(order))
    exact = fast + slow
    assert result["x"] + 1j * result["y"] == pytest.approx(exact, abs=1e-9)
    assert result["lambda.p0"] == pytest.approx(np.zeros(len(t)), abs=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", [3, 4, 5])
def test_a_linear_program_of_any_order_makes_a_polynomial(order: int, law: str) -> None:
    y, body = S("y"), kn.body("P", [kn.Sx(S("x")), kn.Sy(S("y"))], kn.inertia(2.0))
    pull = kn.force("F", "P", (-S("x") + y, 0.3 * y, 0))
    system = kn.System("line", [body], coordinates=["x", "y"], elements=[pull])
    system = under(system, law, S("x" + "'" * order) - 0.6 - T)
    d = controlled(system)
    assert (d.programs.r, d.programs.s, d.programs.linear) == (order - 2, order, (True,))
    lower = [0.2, -0.4, 0.5, 0.3, -0.1][:order]
    start = [{"x" + "'" * k: lower[k]} for k in range(order)]
    higher = {name: value for row in start[2:] for name, value in row.items()}
    result = kn.simulate(system, 1.5, q={"x": 0.2}, v={"x'": -0.4}, levels=higher, samples=7, rtol=1e-12, atol=1e-13)
    assert result.success, result.message
    factorial = np.cumprod([1, *range(1, order + 2)])
    exact = sum(c * result.t**k / factorial[k] for k, c in enumerate(lower))
    exact += 0.6 * result.t**order / factorial[order] + result.t ** (order + 1) / factorial[order + 1]
    assert result["x"] == pytest.approx(exact, abs=1e-10)
    assert result.residual < 1e-10
    assert result.energy_balance < 1e-10


@pytest.mark.parametrize("law", LAWS)
def test_complete_programs_say_the_motion_themselves(law: str) -> None:
    q1, q2 = S("q1"), S("q2")
    bodies = [
        kn.body("A", [kn.Rx(q1), kn.Sz(-0.5)], kn.inertia(1.0, (0.1, 0.1, 0.1))),
        kn.body("B", [kn.Sz(-0.5), kn.Rx(q2), kn.Sz(-0.4)], kn.inertia(0.7, (0.1, 0.1, 0.1)), base="A"),
    ]
    system = kn.System("pendulum", bodies, coordinates=["q1", "q2"], gravity=(0, 0, -9.81))
    system = under(system, law, S("q1''") - kn.cos(T), S("q2'''") ** 3 - 8.0)
    result = kn.simulate(system, 2.0, levels={"q2''": 0.5, "q2'''": 2.0}, samples=9, rtol=1e-12, atol=1e-13)
    assert result.success, result.message
    assert result["q1"] == pytest.approx(1 - np.cos(result.t), abs=1e-10)
    assert result["q2"] == pytest.approx(0.25 * result.t**2 + result.t**3 / 3, abs=1e-10)
    assert result.residual < 1e-10
    assert result.energy_balance < 1e-10


@pytest.mark.parametrize("method", ["Radau", "DOP853", "CVODE"])
def test_methods_that_stabilise_give_the_motion_of_those_that_project(method: str) -> None:
    system = under(ball(gravity=(0, 0, -9.81)), "covariant", size("eps", "Hull") ** 2 - 4.25 - kn.sin(T))
    start: dict[str, Any] = {"samples": 6, "v": [0.3, 0.2, 1.0], "levels": [[2.0, 0.4, 0.3]]}
    exact = kn.simulate(system, 0.5, rtol=1e-12, atol=1e-13, **start)
    found = kn.simulate(system, 0.5, rtol=1e-9, atol=1e-10, method=method, **start)
    assert exact.success, exact.message
    assert found.success, found.message
    assert found.y == pytest.approx(exact.y, abs=1e-6)
    assert exact.energy_balance < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "r", "law"), [(1, 2, "covariant"), (3, 1, "kineta")])
def test_runs_of_random_trees_keep_programs_and_balance_the_work_of_controls(seed: int, r: int, law: str) -> None:
    system = random_system(seed, n=2, rheonomic=True, elements=r == 1)
    v = 0.3 * np.random.default_rng(seed).normal(size=system.nv)
    result = kn.simulate(under(system, law, NONLINEAR[r](last(system))), 0.3, v=v, rtol=1e-9, atol=1e-10)
    assert result.success, result.message
    assert result.residual < 1e-10
    assert result.energy_balance < 1e-9
