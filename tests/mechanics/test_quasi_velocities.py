"""Nonholonomic systems and quasi-velocities: Gantmacher's closed forms, his vectors, and reactions against projections."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from tests.mechanics.golubev import matrix
from tests.mechanics.random_systems import random_inertia, random_state, random_system
from tests.mechanics.truth import error, vectors
from tests.support import general, slow

sin, cos, t = kn.sin, kn.cos, kn.symbol("t")
x, y, phi, theta, psi = (kn.symbol(n) for n in ("x", "y", "phi", "theta", "psi"))
xd, yd, phid, thetad, psid = (kn.symbol(f"{n}'") for n in ("x", "y", "phi", "theta", "psi"))


def skate(m: Any = 1, speed: Any = 0) -> kn.System:
    """Two particles on a rod whose centre moves along it (and across it with the given speed)."""
    l = kn.symbol("l")
    ends = [kn.body(n, [kn.Sx(s * l / 2)], kn.inertia(m), base="Rod") for n, s in (("A", 1), ("B", -1))]
    return kn.System(
        "skate",
        [kn.body("Rod", [kn.Sx(x), kn.Sy(y), kn.Rz(phi)]), *ends],
        gravity=(0, -kn.symbol("g"), 0),
        coordinates=["x", "y", "phi"],
        constraints=[kn.constraint("edge", yd * cos(phi) - xd * sin(phi) - speed)],
        quasi=[kn.quasi("u", xd * cos(phi) + yd * sin(phi)), kn.quasi("w", phid)],
    )


def top() -> kn.System:
    """A body with a fixed point, in Euler's angles, with the components of its angular velocity as speeds."""
    A, B, C = (kn.symbol(n) for n in "ABC")
    return kn.System(
        "top",
        [kn.body("Body", [kn.Rz(psi), kn.Rx(theta), kn.Rz(phi)], kn.inertia(0, (A, B, C)))],
        coordinates=["psi", "theta", "phi"],
        quasi=[
            kn.quasi("p", psid * sin(theta) * sin(phi) + thetad * cos(phi)),
            kn.quasi("q", psid * sin(theta) * cos(phi) - thetad * sin(phi)),
            kn.quasi("r", psid * cos(theta) + phid),
        ],
    )


def coin() -> kn.System:
    """A coin that rolls upright on a plane, with gravity in the plane."""
    m, R, axial, diametral, g = (kn.symbol(n) for n in ("m", "R", "I_axial", "I_diametral", "g_x"))
    return kn.System(
        "coin",
        [kn.body("Coin", [kn.Sx(x), kn.Sy(y), kn.Rz(theta), kn.Ry(psi)], kn.inertia(m, (diametral, axial, diametral)))],
        gravity=(g, 0, 0),
        coordinates=["x", "y", "theta", "psi"],
        constraints=[
            kn.constraint("along", xd - R * psid * cos(theta)),
            kn.constraint("across", yd - R * psid * sin(theta)),
        ],
        quasi=[kn.quasi("rolling", psid), kn.quasi("turning", thetad)],
    )


@pytest.mark.parametrize("formalism", general())
def test_the_skate_comes_out_as_printed(formalism: str) -> None:
    equations = kn.derive(skate(), formalism)
    assert equations.text("inverse") == "tau[u] = 2*u' + 2*g*sin(phi)\ntau[w] = l^2*w'/2"
    assert equations.text("forward") == "u' = tau[u]/2 - g*sin(phi)\nw' = 2*tau[w]/l^2"
    assert equations.text("qdot") == "qdot[1] = cos(phi)*u\nqdot[2] = sin(phi)*u\nqdot[3] = w"
    assert equations.text("multipliers") == "lambda.edge = 2*u*w + 2*g*cos(phi)"


@pytest.mark.parametrize("formalism", general(without=["wittenburg"]))  # in ground axes, longer
def test_the_fixed_point_body_gives_eulers_equations(formalism: str) -> None:
    equations = kn.derive(top(), formalism)
    assert equations.text("inverse").splitlines() == [
        "tau[p] = A*p' + (C - B)*q*r",
        "tau[q] = B*q' + (A - C)*p*r",
        "tau[r] = C*r' + (B - A)*p*q",
    ]
    assert equations.text("kinetic_energy") == "T = (A*p^2 + B*q^2 + C*r^2)/2"
    assert "sin(theta)" in equations.text("qdot")


def at(system: kn.System, quantity: str, state: dict[str, float], formalism: str = "newton_euler") -> Any:
    equations = kn.derive(system, formalism)
    array = equations.expressions(quantity)
    return np.array(evaluate(equations.graph, array.refs, state)).reshape(array.shape)


@pytest.mark.parametrize("formalism", general())
@pytest.mark.parametrize("name", ["dumbbell_scleronomic", "dumbbell_rheonomic", "upright_coin"])
def test_gantmachers_vectors(name: str, formalism: str) -> None:
    case = vectors("gantmacher_quasi_velocities")[name]
    given, expected = case["input"], case["expected"]
    system = skate(given["m"], given["v0"] * cos(given["kappa"] * t)) if "dumbbell" in name else coin()
    state = {n: value for n, value in given.items() if isinstance(value, float)} | {"t": given.get("t", 0.0)}
    state |= dict(zip((*system.q_names, *system.v_names), given["q"] + given["pi_dot"], strict=True))
    state |= {f"tau[{n}]": 0.0 for n in system.v_names}
    for quantity, values in (
        ("qdot", expected["q_dot"]),
        ("mass_matrix", expected["u"]),
        ("forward", expected["pi_ddot"]),
        ("bias", np.subtract(expected["bias"], expected["Pi"])),
        ("multipliers", expected["lam"]),
    ):
        assert at(system, quantity, state, formalism) == pytest.approx(np.array(values), rel=1e-12, abs=1e-12), quantity


@pytest.mark.parametrize("name", ["algebra_m3_g1", "algebra_m5_g2", "algebra_m6_g3"])
def test_quasi_velocities_of_any_forms(name: str) -> None:
    """(4)-(9), (19)-(24) where everything depends on the time: M = L L^T of masses that move by L^T q, forces Q - c."""
    case = vectors("gantmacher_quasi_velocities")[name]
    given, expected = ({k: np.array(x) for k, x in case[part].items()} for part in ("input", "expected"))
    m, g = len(given["Q"]), len(given["A"])
    q = np.array([kn.symbol(f"q{i}") for i in range(m)])
    rates = np.array([kn.symbol(f"q{i}'") for i in range(m)])
    bodies = [kn.body(f"b{k}", [kn.Sx(L @ q)], kn.inertia(1)) for k, L in enumerate(np.linalg.cholesky(given["M"]).T)]
    # A coefficient x with the rate x' is one term as x e^(t x' / x).
    A, A0, f = (given[n] * np.vectorize(kn.exp)(t * (given[f"{n}_dot"] / given[n])) for n in ("A", "A0", "f"))
    system = kn.System(
        "forms",
        bodies,
        coordinates=[f"q{i}" for i in range(m)],
        elements=[kn.generalized_force(f"f{i}", x, q[i]) for i, x in enumerate(given["Q"] - given["c"])],
        constraints=[kn.constraint(f"c{i}", x) for i, x in enumerate(A @ rates + A0)],
        quasi=[kn.quasi(f"w{i}", x) for i, x in enumerate(f @ rates)],
    )
    state = {"t": 0.0} | dict.fromkeys(
        (*system.q_names, *(f"tau[{n}]" for n in system.v_names + system.base_speeds)), 0.0
    )
    d, kept = kn.derive(system, "appell").derivation, kn.derive(system.replace(quasi=()), "appell").derivation

    def value(own: Any, quantity: str, speeds: Any) -> Any:
        names = own.symbols.names
        return np.array(
            evaluate(own.graph, own[quantity].refs, state | dict(zip(names, map(float, speeds), strict=True)))
        )

    h0 = value(d, "qdot", np.zeros(m - g))
    for wanted, found in (
        ("h0", h0),
        ("h", np.transpose([value(d, "qdot", e) - h0 for e in np.eye(m - g)])),
        ("q_dot", value(d, "qdot", given["pi_dot"])),
        ("u", value(d, "mass_matrix", given["pi_dot"]).reshape(m - g, m - g)),
        ("pi_ddot", value(d, "forward", given["pi_dot"])),
        ("q_ddot", value(kept, "forward", expected["q_dot"])),
        ("lam", value(kept, "multipliers", expected["q_dot"])),
    ):
        assert error(found, expected[wanted]) < 1e-12, wanted
    assert error(value(d, "bias", given["pi_dot"]), expected["bias"] - expected["Pi"]) < 1e-12


@pytest.mark.parametrize("formalism", general())
@pytest.mark.parametrize("name", ["euler_1", "euler_2"])
def test_euler_s_equations_at_a_state(name: str, formalism: str) -> None:
    """(27): accelerations under a moment, the rates of the angles, and U at trial accelerations up to terms free of them."""
    case = vectors("gantmacher_example2")[name]
    given, expected = case["input"], case["expected"]
    system = top()
    equations = kn.derive(system, formalism)
    state = 0.0, given["euler_zxz_psi_theta_phi"], given["pqr"]
    p = {n: given[n] for n in "ABC"}
    assert error(equations.function("forward")(*state, given["moment_body"], p=p), expected["pqr_dot"]) < 1e-12
    assert error(equations.function("qdot")(*state, p=p), expected["euler_angle_rates"]) < 1e-12
    if formalism == "appell":
        U = equations.function("appell_function")
        trial, still = (float(U(*state, vdot, p=p)) for vdot in (given["trial_pqr_dot"], [0.0] * 3))
        assert trial - still == pytest.approx(expected["S_trial"], rel=1e-12)


def constrained(seed: int, count: int) -> kn.System:
    """A random tree with random linear constraints, dependent on the time, on its speeds and on the position of a point."""
    rng = random.Random(seed)
    free = random_system(seed, rheonomic=True, elements=True, n=4)
    speeds = [kn.symbol(n) for n in free.base_speeds]
    coordinates = [kn.symbol(n) for n in free.q_names]
    point = kn.symbol(f"{free.bodies[-1].name}.vx")

    def form(i: int) -> kn.Expr:
        total = 0.2 * sin(t + i) if i else 0.2 * sin(t) + point
        for v in rng.sample(speeds, min(3, len(speeds))):
            total = total + (rng.uniform(0.5, 1.5) + 0.3 * sin(rng.choice(coordinates))) * v
        return total

    return free.replace(constraints=[kn.constraint(f"c{i}", form(i)) for i in range(count)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "formalism"),
    [*((k, "newton_euler") for k in range(6)), *((k, ("lagrange", "dalembert")[k // 2]) for k in range(4))],
)
def test_projection_gives_the_motion_and_the_reactions_of_the_multipliers(seed: int, formalism: str) -> None:
    kept = constrained(seed, 2)
    free = kn.independent(kept)
    assert set(free.v_names) < set(kept.v_names)
    mixed = [kn.quasi(f"w{i}", w.value + 0.1 * kn.symbol(kept.v_names[i])) for i, w in enumerate(free.quasi)]
    projected = free if seed % 2 else free.replace(quasi=mixed)
    equations, state = kn.derive(projected, formalism), random_state(projected, seed)
    state |= {f"tau[{n}]": 0.0 for n in (*projected.v_names, *kept.v_names)}
    s, g = equations.derivation.symbols, equations.graph
    state |= dict(zip(s.system.base_speeds, evaluate(g, s.speeds, state), strict=True))
    vdot = {f"{n}'": a for n, a in zip(s.names, at(projected, "forward", state, formalism), strict=True)}
    found = evaluate(g, s.levels.of(s.speeds, 1), state | vdot)
    expected = at(kept, "forward", state)
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() < 1e-10 * scale
    reactions = at(kept, "multipliers", state)
    assert at(projected, "multipliers", state, formalism) == pytest.approx(reactions, rel=1e-9, abs=1e-9 * scale)
    assert np.abs(at(projected, "constraints", state, formalism)).max() < 1e-12
    assert np.abs(at(kept, "constraints", state)).max() < 1e-12
    assert at(projected, "power", state, formalism) == pytest.approx(
        at(kept, "power", state), rel=1e-9, abs=1e-9 * scale
    )


@pytest.mark.parametrize("half", [0.0, 0.5, -0.5], ids=["at rest", "a quarter turn", "and back"])
def test_forms_are_singular_only_where_they_depend_on_each_other(half: float) -> None:
    """The angular velocity in ground axes: no entry of a rotation is a pivot everywhere, but its determinant is one."""
    a, b, c, d = kn.symbols("b.qw b.qx b.qy b.qz")
    R = [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]
    own = np.array(kn.symbols("b.wx b.wy b.wz"))
    body = kn.body("Body", [kn.Ball("b")], kn.inertia(0, (2, 3, 4)))
    ball = kn.System("ball", [body], quasi=[kn.quasi(f"W{k}", row @ own) for k, row in enumerate(np.array(R))])
    w, q = np.array([0.3, 0.4, -0.2]), [np.sqrt(1 - half * half * 2), 0, 0, 2 * half * np.sqrt(0.5)]
    turn = matrix(q)
    omega = turn.T @ w
    moments = np.array([2.0, 3.0, 4.0])
    expected = turn @ (-np.cross(omega, moments * omega) / moments)
    assert kn.derive(ball).function("forward")(0.0, q, w) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("turns", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 1), (0.3, -1.2, 2.0)])
def test_forms_of_four_speeds_are_singular_nowhere_but_where_they_depend_on_each_other(
    turns: tuple[float, ...],
) -> None:
    """The matrix of a unit quaternion, whose entries all vanish somewhere, three at a time."""
    x0, x1, x2, _ = position = [kn.symbol(f"x{i}") for i in range(4)]
    a, b, c, d = cos(x0) * cos(x1), cos(x0) * sin(x1), sin(x0) * cos(x2), sin(x0) * sin(x2)
    Q = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    forms = Q @ np.array([kn.symbol(f"x{i}'") for i in range(4)])
    bodies = [kn.body(f"b{i}", [kn.Sx(x)], kn.inertia(i + 1)) for i, x in enumerate(position)]
    names = [f"x{i}" for i in range(4)]
    mixed = kn.System(
        "mixed", bodies, coordinates=names, quasi=[kn.quasi(f"w{i}", form) for i, form in enumerate(forms)]
    )
    equations, q, w = kn.derive(mixed), np.pi / 2 * np.array([*turns, 0.0]), np.array([0.3, -0.2, 0.5, 0.7])
    numbers = [[evaluate(e.graph, [e.ref], dict(zip(names, q, strict=True)))[0] for e in row] for row in Q]
    assert equations.function("qdot")(0.0, q, w) == pytest.approx(np.linalg.solve(numbers, w), abs=1e-14)
    assert np.isfinite(equations.function("forward")(0.0, q, w)).all()


def mixed(seed: int, n: int = 8) -> kn.System:
    """Two random branches under a constraint on speeds, with sums of all *n* rates as quasi-velocities."""
    rng = random.Random(seed)
    q, rates = ([kn.symbol(f"q{i}{prime}") for i in range(n)] for prime in ("", "'"))
    bodies = []
    for k in range(n // 2):
        first, second = rng.sample((kn.Rx, kn.Ry, kn.Rz, kn.Sx, kn.Sy, kn.Sz), 2)
        motions = [kn.Sx(rng.uniform(0.2, 0.6)), first(q[2 * k]), second(q[2 * k + 1])]
        own = random_inertia(rng, rng.uniform(0.5, 2))
        bodies.append(kn.body(f"b{k}", motions, own, base="ground" if k in (0, n // 4) else f"b{k - 1}"))
    forms = [sum((round(rng.uniform(-1, 1), 2) * x for x in rates), 0.3 * q[0] * rates[1]) for _ in range(n - 1)]
    return kn.System(
        f"mixed{seed}",
        bodies,
        gravity=(0.3, -0.5, -9.81),
        coordinates=[f"q{i}" for i in range(n)],
        constraints=[kn.constraint("fold", rates[4] + 0.6 * rates[5] * sin(q[5]) - 0.14 * kn.symbol("b1.vx"))],
        quasi=[kn.quasi(f"w{i}", form) for i, form in enumerate(forms)],
    )


@pytest.mark.parametrize("seed", slow((0, 1, 2, 4)))
def test_quasi_velocities_of_a_sound_model_have_accelerations_at_any_state(seed: int) -> None:
    """At states where elimination of the speeds loses digits, too; mass matrices of condition 3e4 are among them."""
    system, rng = mixed(seed), np.random.default_rng(seed)
    equations, kept = kn.derive(system), kn.derive(system.replace(quasi=()), "lagrange")
    q, w = rng.uniform(-1, 1, (50, 8)), rng.uniform(-1, 1, (50, 7))
    wdot, rates = (equations.function(name)(0.0, q, w) for name in ("forward", "qdot"))
    expected = kept.function("forward")(0.0, q, rates)
    s, g = equations.derivation.symbols, equations.graph
    names = [*s.system.q_names, *s.names, *s.system.base_speeds, *(f"{n}'" for n in s.names)]
    for row, wanted in zip(np.hstack([q, w, rates, wdot]).tolist(), expected, strict=True):
        found = evaluate(g, s.levels.of(s.speeds, 1), {"t": 0.0, **dict(zip(names, row, strict=True))})
        assert error(found, wanted) < 1e-11


@pytest.mark.parametrize("seed", range(3))
def test_angular_velocities_in_space_are_those_in_the_body_turned(seed: int) -> None:
    """A heavy body on a ball joint, whose rotation is a unit quaternion: R w' of the body are the rates in space."""
    rng = np.random.default_rng(seed)
    names = ("Jx(%.3f)", "Jy(%.3f)", "Jz(%.3f)", "com = (%.3f, %.3f, %.3f)")
    inertia = ", ".join(names) % (*rng.uniform(1, 1.5, 3), *rng.uniform(-0.5, 0.5, 3))
    own = f"gravity 9.81; coordinates b; Body | Ball(b) = m(0.7), {inertia};"
    turned = kn.loads(own + "quasi wx = w(Body).x, wy = w(Body).y, wz = w(Body).z;")
    for _ in range(3):
        q, w = rng.normal(size=4), rng.normal(size=3)
        q /= np.linalg.norm(q)
        a, v = q[0], q[1:]
        R = (a * a - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * a * np.cross(np.eye(3), v)
        plain, found = (kn.derive(s).function("forward")(0.0, q, u) for s, u in ((kn.loads(own), w), (turned, R @ w)))
        assert found == pytest.approx(R @ plain, rel=1e-12, abs=1e-12)
    assert kn.derive(turned).operations("forward").div == 3  # by pivots of the mass matrix alone


@pytest.mark.slow
def test_mass_matrices_in_quasi_velocities_are_singular_only_where_the_motions_are() -> None:
    system = kn.loads("""coordinates a, b, c, x, y; A | Rz(a), Ry(b), Rz(c) = 1, 1, 2, 2.5; B | Sx(x), Sy(y) = 1;
        constraint n : x' = 0.3*y' + 0.2*sin(a)*b';
        quasi u = 0.3*a' + 0.8*b' - 0.02*c' + 0.1*sin(b)*y', v = a' - 0.4*b' + 0.6*c', w = 0.7*c' - 0.2*b' + y',
        z = 0.03*a' + 0.5*y' - 0.9*x'; initial b = 0;""")
    forward = kn.derive(system).function("forward")
    states = np.array([[0.3, b, 0.2, 0.1, 0.5] for b in (1.0, 0.0, 1e-3, 1e-5, 1e-16, np.pi, 2.0)])
    refused = np.isnan(forward(0.0, states, np.ones((7, 4)))).any(axis=1)
    assert refused.tolist() == [False, True, False, False, True, True, False]
    with pytest.raises(kn.KinetaError, match=r"the mass matrix is singular at t = 0 s: the combination u .* moves no"):
        kn.simulate(system, 1.0)


@pytest.mark.parametrize(("angle", "free"), [(0.0, "x'"), (np.pi / 2, "y'")])
def test_independent_speeds_are_those_that_are_free_at_the_start(angle: float, free: str) -> None:
    """A skate is free along its blade; dependent initial speeds have no values of their own."""
    start = {"phi": angle, "x'": 1.0, "y'": 2.0, "phi'": 0.5}
    edge = kn.constraint("edge", xd * sin(phi) - yd * cos(phi))
    sledge = kn.System(
        "sledge",
        [kn.body("S", [kn.Sx(x), kn.Sy(y), kn.Rz(phi)], kn.inertia(2, (0, 0, 0.1), lumped=True))],
        coordinates=["x", "y", "phi"],
        constraints=[edge],
        initial=start,
    )
    found = kn.independent(sledge)
    assert found.v_names == (free, "phi'")
    assert [name for name, _ in found.initial] == ["phi", free, "phi'"]
    assert np.isfinite(kn.derive(found).function("forward")(0.0, [0.0, 0.0, angle], [1.0, 0.5])).all()


def test_quasi_velocities_that_a_model_has_are_kept_and_completed() -> None:
    along = skate().quasi[0]
    assert kn.independent(skate()) == skate()
    assert kn.independent(kn.loads("A | Sx(x), Ry(a) = 1; coordinates x, a;")).v_names == ("x'", "a'")
    assert kn.independent(skate().replace(quasi=[along])).v_names == ("u", "phi'")


@pytest.mark.parametrize("seed", range(4))
def test_energy_changes_by_the_power_under_driven_constraints(seed: int) -> None:
    kept = constrained(seed, 1)
    equations, state = kn.derive(kept), random_state(kept, seed)
    d, g = equations.derivation, equations.graph
    (row,) = d.rows
    wanted, slope = evaluate(g, [row.levels[0], *row.gradient.values()], state), dict(row.gradient)
    k = max(slope, key=lambda j: abs(evaluate(g, [slope[j]], state)[0]))
    state[kept.v_names[k]] -= wanted[0] / evaluate(g, [slope[k]], state)[0]  # onto the constraint
    s = d.symbols
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    rates = evaluate(g, forward(g, [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]], motion), state)
    scale = max(1.0, *map(abs, rates), np.abs(at(kept, "forward", state)).max())
    assert sum(rates) == pytest.approx(float(at(kept, "power", state)), abs=1e-10 * scale)


def test_a_constraint_on_the_position_is_kept_in_its_second_derivative() -> None:
    a = kn.symbol("a")
    circle = kn.System(
        "circle",
        [kn.body("P", [kn.Sx(x), kn.Sy(y)], kn.inertia(2))],
        coordinates=["x", "y"],
        parameters={"a": 1.0},
        constraints=[kn.constraint("wire", x * x + y * y - a * a)],
    )
    state = {"x": 0.6, "y": 0.8, "x'": 0.8, "y'": -0.6, "a": 1.0, "t": 0.0, "tau[x']": 0.0, "tau[y']": 0.0}
    assert at(circle, "forward", state) == pytest.approx([-0.6, -0.8])
    assert at(circle, "multipliers", state) == pytest.approx([-1.0])  # -m v^2 / (2 a^2)
    assert at(circle, "constraints", state) == pytest.approx([0, 0], abs=1e-15)
    assert kn.derive(circle).text("constraints").startswith("wire = ")


def test_a_constraint_may_be_nonlinear_in_the_speeds() -> None:
    """Appell and Hamel's: the speed has a constant size; its reaction is along the speed."""
    fast = kn.System(
        "fast",
        [kn.body("P", [kn.Sx(x), kn.Sy(y)], kn.inertia(1))],
        gravity=(0, -10, 0),
        coordinates=["x", "y"],
        constraints=[kn.constraint("size", xd * xd + yd * yd - 25)],
    )
    state = {"x": 0.0, "y": 0.0, "x'": 3.0, "y'": 4.0, "t": 0.0, "tau[x']": 0.0, "tau[y']": 0.0}
    vdot = at(fast, "forward", state)
    assert vdot @ [3, 4] == pytest.approx(0, abs=1e-14)
    assert vdot == pytest.approx(np.array([0, -10]) + 40 / 25 * np.array([3, 4]))


#: Two wheels on one axle, of which the second says a second time that the axle does not slip along itself.
AXLE = """parameters m, r, b; coordinates x, y, psi, left, right; frame Axle | Sx(x), Sy(y), Sz(r), Rz(psi);
    Left ~ Axle | Sy(b), Ry(left) = m, m, m, m; Right ~ Axle | Sy(-b), Ry(right) = m, m, m, m;
    rolling l : wheel = r between Left axis (0, 1, 0) and ground axis (0, 0, 1);
    rolling rr : wheel = r between Right axis (0, 1, 0) and ground axis (0, 0, 1);"""


def test_redundant_rows_are_left_out_beside_quasi_velocities_and_without_values() -> None:
    said = r"1 of 4 rows of constraints is redundant and left out \(rr\.w follows from l\.u, l\.w, rr\.u\)"
    with pytest.warns(kn.KinetaWarning, match=said):
        assert kn.derive(kn.loads(AXLE)).settled().left_out == {"rr.w"}
    equations = kn.derive(kn.loads(AXLE + "quasi v = x'*cos(psi) + y'*sin(psi), psi';"))
    assert equations.text("inverse").startswith("tau[v] = m*(2/r^2 + 2)*v'")
    assert equations.text("multipliers").endswith("lambda.rr.w = 0")
    with pytest.warns(kn.KinetaWarning, match=said):
        equations.settled()


def test_constraints_that_contradict_each_other_are_not_redundant() -> None:
    moving = "parameters m; coordinates x, y; B | Sx(x), Sy(y) = m; constraint a : x' = 1; constraint b : 2*x' = {};"
    other = kn.derive(kn.loads(moving.format(3)))
    assert other.settled() is other
    with pytest.raises(kn.ModelError, match="expected 0 quasi-velocities"):
        kn.derive(kn.loads(moving.format(3) + "quasi v = y';")).text("inverse")
    assert kn.derive(kn.loads(moving.format(2) + "quasi v = y';")).text("inverse") == "tau[v] = m*v'"
    placed = kn.derive(
        kn.loads("parameters m; coordinates x, y; B | Sx(x), Sy(y) = m; constraint a : x = 1; constraint b : 2*x = 3;")
    )
    assert placed.settled() is placed


BAD: dict[str, tuple[Any, str]] = {
    "too few": (
        lambda: skate().replace(quasi=[kn.quasi("u", xd)]),
        r"expected 2 quasi-velocities \(3 speeds less 1 constraints\), found 1: u\. The speeds are x', y', phi'\.",
    ),
    "dependent": (
        lambda: skate().replace(quasi=[kn.quasi("u", xd * sin(phi) - yd * cos(phi)), kn.quasi("w", phid)]),
        r"edge, u depend on each other, so that they do not tell all motions apart\.",
    ),
    "not linear": (
        lambda: skate().replace(quasi=[kn.quasi("u", xd * xd), kn.quasi("w", phid)]),
        r"Quasi 'u': expected an expression linear in the speeds, found 'x'\^2'\.",
    ),
    "without speeds": (
        lambda: skate().replace(quasi=[kn.quasi("u", x), kn.quasi("w", phid)]),
        r"Quasi 'u': expected an expression that contains speeds, found 'x'\.",
    ),
    "a constraint that nothing can keep": (
        lambda: skate().replace(constraints=[kn.constraint("c", t)], quasi=()),
        r"Constraint 'c': expected an expression that changes with the motion, found 't'\.",
    ),
    "a constraint said twice": (
        lambda: skate().replace(constraints=[kn.constraint("c", xd), kn.constraint("d", xd)], quasi=()),
        r"the constraint 'd' binds only what 'c' binds already: ",
    ),
}


def test_forms_are_looked_at_where_they_have_values() -> None:
    """The root has none at half of all random states."""
    wire = kn.loads("""model wire; coordinates x, y; P | Sx(x), Sy(y) = 1; constraint c : sqrt(x) * x' = y';
        quasi u = x'; initial x = 1;""")
    assert kn.derive(wire).text("qdot") == "qdot[1] = u\nqdot[2] = sqrt(x)*u"
    nowhere = wire.replace(constraints=[kn.constraint("c", kn.sqrt(-1 - x * x) * xd - yd)])
    with pytest.raises(
        kn.ModelError, match=r"have no values at any of 60 random states: sqrt\(.*\) is not a finite number"
    ):
        kn.derive(nowhere)


@pytest.mark.parametrize("formalism", general())
def test_a_constraint_said_twice_in_other_words_is_named_by_every_formalism(formalism: str) -> None:
    other = cos(phi) * xd * 2 - cos(phi) * 2 * yd
    twice = skate().replace(constraints=[kn.constraint("c", xd - yd), kn.constraint("d", other)], quasi=())
    with pytest.raises(kn.ModelError, match=r"the constraint 'd' binds only what 'c' binds already: .* Leave it out\."):
        kn.derive(twice, formalism).expressions("forward")


@pytest.mark.parametrize("name", BAD)
def test_forms_that_make_no_sense_are_named(name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(kn.ModelError, match=message):
        kn.derive(make()).expressions("forward")
