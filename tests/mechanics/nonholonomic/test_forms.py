"""The nonholonomic forms against Newton and Euler's equations in the same independent speeds, and against books."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.nonholonomic.table import NONHOLONOMIC
from kineta.passes.evaluate import evaluate
from tests.support import EXAMPLES

ROLLING_SLEIGH = """parameters m = 1.5, I = 0.4, a = 0.35, k = 2, c = 0.3, W = 1.2; gravity (0.3, -1, 0);
Sleigh | Sx(x), Sy(y), Rz(phi) = m(m), Jz(I), com = (a, 0, 0);
Rotor ~ Sleigh | Sx(0.2), Rz(beta) = 0.4, 0.1, 0.1, 0.2;
coordinates x, y, phi, beta;
spring s = k on beta; damper d = c on x'; force F = 2*sin(t) on phi';
constraint blade : y'*cos(phi) = x'*sin(phi) + W*sin(t)*cos(x); """
QUASI = ROLLING_SLEIGH + "quasi u = cos(phi)*x' + sin(phi)*y', w = phi' + 0.1*x*beta', n = (2 + cos(y))*beta';"
MODELS = {
    **{n: (EXAMPLES / f"{n}.kin").read_text() for n in ("skate", "chaplygin_sleigh", "vertical_disk", "fourbar")},
    "rheonomic": ROLLING_SLEIGH,
    "quasi": QUASI,
}


@pytest.mark.parametrize("form", NONHOLONOMIC)
@pytest.mark.parametrize("model", MODELS)
def test_forms_give_the_forces_of_newton_and_euler(model: str, form: str) -> None:
    system = kn.loads(MODELS[model])
    d = NONHOLONOMIC[form].derivation(system)
    if why := NONHOLONOMIC[form].refusal(d):
        assert (model, form) in {(m, "chaplygin") for m in ("skate", "fourbar", "rheonomic", "quasi")}, why
        return
    own = d.symbols.system
    reference = kn.derive(own, "newton_euler").derivation
    rng = np.random.default_rng(5)
    known = {p.name: p.value for p in own.parameters}
    for _ in range(3):
        names = ("t", *own.q_names, *own.v_names, *(f"{n}'" for n in own.v_names))
        state = known | dict(zip(names, rng.uniform(0.3, 1.2, len(names)), strict=True))
        found = evaluate(d.graph, NONHOLONOMIC[form].residual(d), state)
        expected = np.array(evaluate(reference.graph, reference["inverse"].refs, state))
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10 * np.abs(expected).max())


def lines(model: str, form: str) -> list[str]:
    return [line for line in kn.derive(kn.loads(MODELS[model])).account(form).markdown().splitlines() if " = " in line]


def test_the_sleigh_is_chaplygins() -> None:
    found = lines("chaplygin_sleigh", "chaplygin")
    for line in (
        "T* = m*x'^2/(2*cos(phi)^2) + (I + m*a^2)*phi'^2/2",
        "alpha[y',x'] = sin(phi)/cos(phi)",
        "b[y',x'] = phi'/cos(phi)^2",
        "b[y',phi'] = -x'/cos(phi)^2",
    ):
        assert line in found


def test_the_skate_has_boltzmanns_symbols() -> None:
    found = lines("skate", "boltzmann_hamel")
    for line in ("gamma[edge,u,w] = 1", "gamma[edge,w,u] = -1", "P[edge] = 0", "tau[u] = 2*u' + 19.62*sin(phi)"):
        assert line in found


def test_constraints_that_can_be_integrated_have_no_coefficients() -> None:
    bead = kn.loads("coordinates x, y; P | Sx(x), Sy(y) = 2; constraint line : y' = 3*x';")
    found = kn.derive(bead).account("voronets").markdown()
    assert "b[" not in found
    assert "tau[y'] = 20*y''/9" in found


@pytest.mark.parametrize(
    ("text", "form", "sentence"),
    [
        (
            "coordinates x; P | Sx(x) = 1;",
            "voronets",
            "the form voronets is for systems with constraints or quasi-velocities",
        ),
        (
            MODELS["fourbar"],
            "chaplygin",
            "the form chaplygin does not apply: energies or constraints depend on the dep",
        ),
        (
            "coordinates b, x; B | Ball(b) = 1, 1, 2, 2; P | Sx(x) = 1; constraint c : x' = b.wx;",
            "boltzmann_hamel",
            "it is for speeds that are rates of coordinates, and the angular velocity of 'b' is none",
        ),
        ("coordinates x, y; P | Sx(x), Sy(y) = 1; constraint c : x'^2 + y'^2 = 1;", "voronets", "linear in the speeds"),
    ],
)
def test_systems_without_a_form_are_told(text: str, form: str, sentence: str) -> None:
    with pytest.raises(kn.KinetaError, match=sentence):
        kn.derive(kn.loads(text)).account(form)


@pytest.mark.parametrize("form", NONHOLONOMIC)
def test_reports_are_written(form: str) -> None:
    report = kn.derive(kn.loads(MODELS["vertical_disk"])).account(form)
    assert report.title == f"vertical_disk by {form}"
    assert report.latex().isascii()
    assert report.steps[-1].title == "Equations of motion"
