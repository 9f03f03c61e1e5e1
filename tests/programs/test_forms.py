"""Rodionov's covariant forms, each derived by itself, against the laws of control that runs are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import kineta as kn
from kineta.mechanics.programs import forms
from kineta.mechanics.programs.forms import FORMS
from kineta.mechanics.programs.forms.kineta_forms import lagrangian
from kineta.mechanics.programs.forms.least_constraint import characteristic, compulsion
from tests.programs.instants import any_state, at, controlled, values
from tests.programs.test_laws import NONLINEAR, size, under
from tests.support import EXAMPLES

S = kn.symbol
T = S("t")


def arm(*, damped: bool = False, turned: bool = False) -> kn.System:
    """Two links on a drive and a pendulum in space, with weight, springs and forces at points."""
    q1, q2, q3 = S("q1"), S("q2"), S("q3")
    own = kn.inertia(1.2, (0.2, 0.3, 0.25), (0.02, -0.03, 0.01), com=(0.1, 0.05, -0.2))
    bodies = [
        kn.body("A", [kn.Sx(kn.sin(2 * T)), kn.Rx(q1), kn.Sz(-0.5)], own),
        kn.body("B", [kn.Ry(q2), kn.Sx(0.3 + q3)], own, base="A"),
    ]
    elements: list[Any] = [
        kn.force("F", kn.station("B", (0.1, 0.2, 0)), (1 + q3, kn.cos(T), 0.4), axes="body"),
        kn.force("G", kn.station("A"), (0.3, T, -q1)),
        kn.line_spring("K", 3.0, kn.station("ground", (1, 1, 1)), kn.station("B"), length=0.3),
        kn.inertia_element("I", 0.4, kn.sin(q1) + q3),
    ]
    elements += [kn.line_damper("D", 0.4, kn.station("ground", (1, 0, 1)), kn.station("B"))] * damped
    elements += [kn.couple("C", "A", (0.2, q2, 0.1)), kn.spring("k", 2.0, q2)] * turned
    return kn.System("arm", bodies, coordinates=["q1", "q2", "q3"], elements=elements, gravity=(0.3, 0, -9.81))


def instant(d: Any, form: Any, state: Any) -> tuple[Any, Any]:
    """Highest derivatives and multipliers by a form."""
    n, rows = len(d.symbols.v), d.programs.rows
    M, c = form.equations(d)
    B = np.array([values(d, row.dense(n), state) for row in rows])
    W = values(d, [row.rest for row in rows], state)
    K = np.block([[values(d, M.refs, state).reshape(n, n), -B.T], [B, np.zeros((len(rows), len(rows)))]])
    x = np.linalg.solve(K, -np.concatenate([values(d, c.refs, state), W]))
    return x[:n], x[n:]


LINEAR = kn.vector("a", "B").x * 0.7 + S("q1''") - kn.sin(T)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("r", [0, 1, 2])
def test_a_form_gives_what_its_law_gives(r: int, name: str) -> None:
    form = FORMS[name]
    system = under(arm(), form.law, NONLINEAR[r]("B") if r else LINEAR, *([kn.vector("r", "A").z - T] * (r == 1)))
    d, state = controlled(system), any_state(system, r, r + 1)
    if name == "RnGL" and r == 0:
        assert form.applies(system, r) == "it begins where equations are differentiated."
        return
    assert form.applies(system, r) == ""
    z, multipliers = instant(d, form, state)
    expected = at(d, "highest", state)
    assert z == pytest.approx(expected, rel=1e-9, abs=1e-10 * np.abs(expected).max())
    assert multipliers == pytest.approx(at(d, "program_multipliers", state), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [n for n in FORMS if n != "RnGL"])
def test_forms_take_forces_that_depend_on_speeds_and_couples(name: str) -> None:
    form = FORMS[name]
    system = under(arm(damped=True, turned=True), form.law, NONLINEAR[1]("B"))
    d, state = controlled(system), any_state(system, 5, 2)
    z, multipliers = instant(d, form, state)
    assert z == pytest.approx(at(d, "highest", state), rel=1e-9, abs=1e-9)
    assert multipliers == pytest.approx(at(d, "program_multipliers", state), rel=1e-9, abs=1e-9)


def test_a_form_says_where_it_does_not_apply() -> None:
    own = kn.inertia(1, (1, 2, 3))
    ball = kn.System("top", [kn.body("B", [kn.Ball("b")], own)], coordinates=["b"])
    tied = arm().replace(constraints=[kn.constraint("wire", S("q1") - S("q3"))])
    quasi = arm().replace(quasi=[kn.quasi(n, S(f"q{k}'")) for k, n in enumerate("uvw", 1)])
    assert {form.applies(ball, 1) for form in FORMS.values()} == {
        "it speaks of rates of coordinates, and those of 'b' are none."
    }
    assert {form.applies(tied, 1) for form in FORMS.values()} == {
        "it speaks of coordinates that are free, and 'wire' ties them."
    }
    assert all("quasi-velocities" in form.applies(quasi, 1) for form in FORMS.values())
    for damped, name in ((arm(damped=True), "D"), (arm(turned=True), "C")):
        why = f"it takes forces at points that depend on time and place alone, and '{name}' is none."
        assert FORMS["RnGL"].applies(damped, 1) == why


@pytest.mark.slow
@pytest.mark.parametrize("r", [0, 1, 2])
def test_true_motions_make_the_compulsion_least_of_all_that_meet_the_program(r: int) -> None:
    """Gauss' principle, for r > 0 generalised: Z_r over all highest derivatives with B z = -W."""
    system = under(arm(damped=True), "kineta", NONLINEAR[r]("B") if r else LINEAR)
    d, state = controlled(system), any_state(system, r, r + 1)
    n, (row,) = system.nv, d.programs.rows
    names = [n + "'" * (r + 1) for n in system.v_names]
    Z, B = compulsion(d, r), values(d, row.dense(n), state)
    W = values(d, [row.rest], state)[0]

    def of(z: Any) -> float:
        return float(values(d, [Z], state | dict(zip(names, z.tolist(), strict=True)))[0])

    met = {"type": "eq", "fun": lambda z: B @ z + W}
    true = at(d, "highest", state)
    least = minimize(of, true + 0.3, constraints=[met], method="SLSQP", options={"ftol": 1e-14, "maxiter": 300})
    assert true == pytest.approx(least.x, rel=1e-4, abs=1e-4 * max(1, np.abs(true).max()))
    across = np.linalg.svd(B[None])[2][1:]
    for step in (*across, *-across):
        assert of(true + 0.01 * step) > of(true)


def test_what_the_characteristic_function_leaves_out_of_the_compulsion_is_needed_in_lagranges_form() -> None:
    """With R_2 in place of Z_0 the form (35) is off by the sum of F . d(e_j)/dt, which no program excuses."""
    d = controlled(under(arm(), "kineta", NONLINEAR[1]("B")))
    state = any_state(d.symbols.system, 1, 2) | {n + "''": 0.3 for n in d.symbols.names}
    cut, full = (values(d, lagrangian(d, of(d, 0), 1), state) for of in (characteristic, compulsion))
    assert full == pytest.approx(values(d, FORMS["RnA"].left(d, 1), state), rel=1e-9, abs=1e-9)
    assert np.abs(cut - full).max() > 0.1


# -- the certificate ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_certificate_compares_the_forms_and_tells_two_laws_from_an_error() -> None:
    certificate = kn.verify(under(arm(damped=True), "covariant", NONLINEAR[1]("B")), states=6, digits=0)
    assert certificate.holds, str(certificate)
    assert {f.form: (f.equation, f.law, f.verdict) for f in certificate.forms} == {
        name: (form.equation, form.law, "does not apply" if name == "RnGL" else "agrees")
        for name, form in FORMS.items()
    }
    assert all(f.worst < 1e-11 for f in certificate.forms)
    assert certificate.laws_apart > 1e-3
    assert "These are two laws here" in str(certificate)
    assert certificate.sentence.endswith("6 forms under programs agree with their laws.")
    data = certificate.as_dict()
    assert [f["form"] for f in data["forms"]] == list(FORMS)
    assert data["laws_apart"] == certificate.laws_apart
    assert "RnR_sA" in certificate.page()


@pytest.mark.slow
def test_of_points_and_of_undifferentiated_equations_all_forms_are_one_law() -> None:
    rho, phi = S("rho"), S("phi")
    body = kn.body("P", [kn.Rz(phi), kn.Sx(rho)], kn.inertia(1.3))
    point = kn.System("point", [body], coordinates=["rho", "phi"], initial={"rho": 2.0})
    for system in (under(point, "kineta", size("a", "P") ** 2 - 4), under(arm(), "kineta", LINEAR)):
        certificate = kn.verify(system, states=4, digits=0)
        assert certificate.holds, str(certificate)
        assert certificate.laws_apart == 0
        assert "two laws" not in str(certificate)


@pytest.mark.slow
@pytest.mark.parametrize("digits", [0, 30])
def test_a_wrong_form_is_found(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(d: Any, r: int) -> list[Any]:
        first, *rest = FORMS["RnA"].left(d, r)
        return [d.graph.add(first, d.graph.mul(d.graph.const(1e-6), d.symbols.v[0])), *rest]

    monkeypatch.setitem(forms.FORMS, "RnL", replace(FORMS["RnL"], left=wrong))
    certificate = kn.verify(under(arm(), "kineta", NONLINEAR[1]("B")), states=4, digits=digits)
    assert not certificate.holds
    assert "of the forms under programs RnL (26) disagrees with the law." in certificate.sentence
    others = [f for f in certificate.forms if f.form != "RnL"]
    assert all(f.agrees for f in others)


def test_what_no_form_speaks_of_is_said_once() -> None:
    system = kn.loads("B | Ball(b) = 1, 2, 3, 4; program p : |eps(B)|^2 = 1;")
    certificate = kn.verify(system, states=2, digits=0)
    assert [n for n in certificate.notes() if "rates of coordinates" in n] == [
        "RnQ, RnA, RnL, RnQ^(r), RnR_sA, RnGA, RnGL: it speaks of rates of coordinates, and those of 'b' are none."
    ]


@pytest.mark.slow
def test_programs_that_leave_nothing_to_a_law_have_one() -> None:
    """Every law gives the motion that complete programs ask for, and with it the same forces."""
    complete = kn.load(EXAMPLES / "tracking_arm.kin")
    assert kn.verify(complete, states=4, digits=0).laws_apart == 0.0
    runs = [kn.simulate(complete.replace(control=kn.control(law)), 0.5, samples=3) for law in ("covariant", "kineta")]
    for name in runs[0].series:
        if not name.startswith("lambda."):
            assert runs[0][name] == pytest.approx(runs[1][name], rel=1e-8, abs=1e-8), name
