"""Routh's function and the effective potential against textbooks, Hamilton's form and Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE, ZERO
from kineta.model.reserved_symbols import added_force, momentum
from kineta.passes.differentiate import forward, gradient
from kineta.passes.evaluate import evaluate

TOP = """model top; gravity g; parameters A, C, m, l, g;
T | Rz(psi), Ry(theta), Rz(phi) = m(m), Jx(A - m*l^2), Jy(A - m*l^2), Jz(C), com = (0, 0, l);"""
# A turntable that is driven up and down, with a slider on a damped spring, which carries a hinge.
TABLE = """parameters J, m, k, c, a; gravity 9.81;
Table | Sz(a*sin(2*t)), Rz(phi) = Jz(J);
Slider ~ Table | Sx(s), Rz(beta), Sy(0.3) = m, 0.1, 0.2, 0.2;
spring Coil = k on s; damper Oil = c on s';"""


@pytest.mark.slow
def test_the_top_is_as_in_the_book() -> None:
    top = kn.derive(kn.loads(TOP))
    tilt = "(p[psi] - cos(theta)*p[phi])^2/(2*A*sin(theta)^2)"
    assert top.text("routhian") == f"R = A*theta'^2/2 - {tilt} - p[phi]^2/(2*C) - m*l*g*cos(theta)"
    assert top.text("effective_potential") == f"V_eff = {tilt} + p[phi]^2/(2*C) + m*l*g*cos(theta)"
    assert top.function("routhian").arguments == ("t", "q", "v", "momentum")
    assert top.function("effective_potential").arguments == ("t", "q", "momentum")


@pytest.mark.parametrize(("text", "ignorable"), [(TOP, ["psi'", "phi'"]), (TABLE, ["phi'"])])
def test_the_other_coordinates_obey_lagranges_equations_with_it(text: str, ignorable: list[str]) -> None:
    """d/dt dR/dv - dR/dq = Q while the momenta p of the ignorable coordinates stay constant; their rates are -dR/dp."""
    system = kn.loads(text)
    d = kn.derive(system).derivation
    s, g, rng = d.symbols, d.graph, np.random.default_rng(3)
    (R,) = d["routhian"].refs
    names = ("t", *system.parameter_names, *system.q_names, *system.v_names)
    state = dict(zip(names, rng.uniform(0.5, 1.5, len(names)), strict=True))
    state |= dict.fromkeys((f"tau[{n}]" for n in system.v_names), 0.0)
    state |= {momentum(n): x for n, x in zip(system.v_names, evaluate(g, d["momentum"].refs, state), strict=True)}
    accelerations = evaluate(g, d["forward"].refs, state)
    state |= {f"{n}'": x for n, x in zip(system.v_names, accelerations, strict=True)}
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + s.vdot, strict=True))}
    for k, name in enumerate(system.v_names):
        if name in ignorable:
            (rate,) = evaluate(g, forward(g, [R], {s.momenta[k]: ONE}), state)
            assert rate == pytest.approx(-state[name], rel=1e-12)
            continue
        (p,) = forward(g, [R], {s.v[k]: ONE})
        found = evaluate(g, [*forward(g, [p], motion), *forward(g, [R], {s.q[k]: ONE})], state)
        damped = -state["c"] * state["s'"] if name == "s'" else 0.0
        assert found[0] - found[1] == pytest.approx(damped, rel=1e-10, abs=1e-10)


def test_values_are_those_of_the_lagrangian() -> None:
    pendulum = kn.derive(kn.loads("gravity 9.81; Bob | Rz(phi), Ry(theta), Sz(-0.5) = 2;"))
    q, v = [0.3, 0.8], [1.5, -0.4]
    p = pendulum.function("momentum")(0, q, v)
    found = pendulum.function("routhian")(0, q, [0.0, v[1]], p)
    assert found == pytest.approx(pendulum.function("lagrangian")(0, q, v) - p[0] * v[0], rel=1e-14)
    assert pendulum.function("effective_potential")(0, q, p) == pytest.approx(
        p[0] ** 2 / (2 * 2 * 0.25 * np.sin(0.8) ** 2) - 2 * 9.81 * 0.5 * np.cos(0.8), rel=1e-14
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "gravity 9.81; Bob | Ry(q), Sz(-1) = 1;",
            "has no ignorable coordinate: the Lagrangian contains q\\. ",
        ),
        ("Disk | Rz(q) = Jz(1); damper c = 1 on q';", "has no ignorable coordinate: damper 'c' acts on q\\."),
        ("Disk | Rz(q) = Jz(1); spring c = 1 on q;", "has no ignorable coordinate"),
        (
            "Disk | Rz(q) = Jz(1); Bead ~ Disk | Sz(s) = 1; coordinates q, s; force f = cos(q) on s;",
            "has no ignorable coordinate: a force contains q; force 'f' acts on s\\.",
        ),
        ("P | Sx(x), Sy(y) = 1; constraint c : x' = y';", "Routh's function is for the speeds of the motions"),
    ],
)
def test_systems_without_it_are_told(text: str, sentence: str) -> None:
    for quantity in ("routhian", "effective_potential"):
        with pytest.raises(kn.ModelError, match=sentence):
            kn.derive(kn.loads(text)).text(quantity)


BOB = "parameters m, g, l, F, k, c; gravity g; coordinates phi, theta; B | Rz(phi), Ry(-theta), Sz(-l) = m; "


@pytest.mark.parametrize(
    ("force", "energy"),
    [
        ("force a on B = (0, 0, F);", "+ (F - m*g)*l*cos(theta)"),
        ("force a = F on theta; damper d = c on theta';", "- m*g*l*cos(theta) - F*theta"),
        ("force a = -k*theta on theta;", "- m*g*l*cos(theta) + k*theta^2/2"),
        ("force a = F*sin(theta)^2*cos(theta) on theta;", "- F*sin(theta)^3/3 - m*g*l*cos(theta)"),
    ],
)
def test_forces_that_are_slopes_enter_the_effective_potential(force: str, energy: str) -> None:
    found = kn.derive(kn.loads(BOB + force)).text("effective_potential")
    assert found == f"V_eff = p[phi]^2/(2*m*l^2*sin(theta)^2) {energy}"


def test_steady_motions_are_where_the_effective_potential_is_stationary() -> None:
    """p_r' of Hamilton's form at rest is its slope, with forces that have a potential only together."""
    text = "parameters m, F; coordinates phi, r, z; B | Rz(phi), Sx(r), Sz(z) = m; force a = F*z on r; force b = F*r - F*z on z;"
    d = kn.derive(kn.loads(text)).derivation
    s, g = d.symbols, d.graph
    slopes = gradient(g, d["effective_potential"].refs[0], set(s.q))
    state = {"t": 0.0, "m": 1.3, "F": 0.7, "phi": 0.4, "r": 0.9, "z": -0.6, **{momentum(n): 0.0 for n in s.names}}
    state |= {momentum("phi'"): 2.1, **{added_force(n): 0.0 for n in s.names}}
    rates = evaluate(g, d["canonical"].refs[3:], state)
    assert rates == pytest.approx([-x for x in evaluate(g, [slopes.get(q, ZERO) for q in s.q], state)], rel=1e-13)


@pytest.mark.parametrize("force", ["F*exp(theta) on theta", "F*phi' on theta", "F*sin(theta)^2 on theta"])
def test_forces_that_are_no_slopes_are_named(force: str) -> None:
    with pytest.raises(
        kn.ModelError, match="no effective potential that is known: at steady motions the forces of force 'a' are"
    ):
        kn.derive(kn.loads(f"{BOB} force a = {force};")).text("effective_potential")


def test_near_words_lead_to_it() -> None:
    with pytest.raises(kn.ArgumentError, match="Did you mean 'routhian'"):
        kn.derive(kn.loads(TOP)).text("routh")
