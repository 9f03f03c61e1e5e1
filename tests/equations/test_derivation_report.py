"""Derivations told step by step: what is shown has the value that is computed, in every form and by every formalism."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kineta as kn
from kineta.equations.derivation_report import DerivationReport
from kineta.mechanics.formalisms.table import FORMALISMS
from kineta.model.reserved_symbols import momentum
from kineta.notation import latex
from kineta.notation.mathml import mathml
from kineta.passes.evaluate import evaluate
from kineta.passes.magnitude import magnitude
from tests.cli.latex_reader import value as latex_value
from tests.equations.test_kept_names import ROPE
from tests.mechanics.random_systems import random_state, random_system
from tests.support import EXAMPLES, general, some

SMALL = (
    "cart_pendulum",
    "double_pendulum",
    "euler_top",
    "skate",
    "spinning_top",
    "free_satellite",
    "hopping_robot_stance",
)
FUNCTIONS = {n: getattr(math, n) for n in ("sin", "cos", "tan", "sqrt", "exp", "log", "atan2")}
FUNCTIONS |= {"max": max, "min": min, "step": lambda x: float(x > 0)}


CRANE = """gravity g; parameters M, m, l, g, U, R, L, k, d, goal; coordinates x, phi;
Trolley | Sx(x) = M; Load ~ Trolley | Ry(phi), Sz(-l) = m;
state i : i' = (min(U, k*(goal - x) - d*x') - R*i)/L; force motor = i on x;"""


def state_of(equations: kn.Equations) -> dict[str, float]:
    """A random state, with the speeds of the motions where the equations have others, and momenta."""
    s = equations.derivation.symbols
    state = {n: float(x) for n, x in random_state(equations.system, 3).items()}
    state |= {p.name: 0.7 for p in equations.system.parameters if p.value is None}
    if s.system.quasi:
        refs = [*s.speeds, *s.levels.of(s.speeds, 1)]
        names = [*s.system.base_speeds, *(f"{n}'" for n in s.system.base_speeds)]
        state |= dict(zip(names, evaluate(s.graph, refs, state), strict=True))
    momenta = evaluate(equations.graph, equations.expressions("momentum").refs, state)
    return state | dict(zip(map(momentum, s.names), momenta, strict=True))


#: A number, or a name: perhaps a derivative, with an index, a component and dots.
TOKEN = re.compile(r"\d+\.?\d*(?:e-?\d+)?|(?:d\w+/d)?[^\W\d]\w*(?:\[[^\]]*\])?(?:\.\w+)*'*")


def computed(shown: str, scope: Mapping[str, float]) -> float:
    """The number that a text stands for."""
    found = TOKEN.sub(lambda m: f"scope[{m[0]!r}]" if m[0] in scope else m[0], shown).replace("^", "**")
    return float(eval(found, {"__builtins__": {}, "scope": scope, **FUNCTIONS}))


def check(
    account: DerivationReport, equations: kn.Equations, quantity: str = "inverse", *, printed: bool = False
) -> None:
    """Every line of *account* has the value of what it shows; the last ones are the equations."""
    state = state_of(equations)
    refs = [e.ref for e in account.entries]
    exact, sizes = (evaluate(account.graph, r, state) for r in (refs, magnitude(account.graph, refs)))
    texts = dict(state)
    letters = {latex.name(n): x for n, x in state.items()}
    for entry, expected, size in zip(account.entries, exact, sizes, strict=True):
        error = 1e-12 * max(1.0, abs(size))
        texts[entry.name] = computed(entry.text, texts)
        assert texts[entry.name] == pytest.approx(expected, abs=error), f"{entry.name} = {entry.text}"
        if printed:
            letters[entry.latex_name] = latex_value(entry.latex, letters)
            assert letters[entry.latex_name] == pytest.approx(expected, abs=error), entry.latex
    wanted = evaluate(equations.graph, equations.expressions(quantity).refs, state)
    label = "tau[" if quantity == "inverse" else (*(f"{n}'" for n in equations.system.q_names), "p[")
    final = [x for e, x in zip(account.entries, exact, strict=True) if e.name.startswith(label)]
    np.testing.assert_allclose(final[-len(wanted) :], wanted, rtol=1e-12, atol=1e-12 * max(1.0, *map(abs, wanted)))


#: Formalisms of all of the models printed in LaTeX too, and of others one formalism of two, in turn.
TYPESET = ("double_pendulum", "euler_top", "cart_pendulum")
TOLD = [
    (model, formalism)
    for i, model in enumerate(SMALL)
    for k, formalism in enumerate(general())
    if model in TYPESET or (i + k) % 2
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "formalism"), TOLD)
def test_what_is_told_is_what_is_computed(model: str, formalism: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"), formalism)
    check(equations.account(), equations, printed=model in TYPESET)


@pytest.mark.slow
@pytest.mark.parametrize("formalism", some(general(), 2))
@pytest.mark.parametrize("seed", some(range(2), 2))
def test_what_is_told_of_random_trees_is_what_is_computed(seed: int, formalism: str) -> None:
    equations = kn.derive(random_system(seed, rheonomic=True, elements=seed == 0, n=2), formalism)
    check(equations.account(), equations)


@pytest.mark.parametrize("model", ["double_pendulum", "cart_pendulum", "spinning_top"])
def test_hamiltons_form_is_told_as_it_is_computed(model: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    check(equations.account("canonical"), equations, "canonical")


@pytest.mark.slow
def test_an_account_grows_with_the_program_not_with_the_formulas() -> None:
    def links(n: int) -> list[kn.Body]:
        mass = kn.inertia(1.0, com=(0.3, 0.1, 0))
        moved = [[kn.Sx(1.0), (kn.Rx, kn.Rz)[k % 2](kn.symbol(f"q{k}"))] for k in range(n)]
        return [kn.body(f"b{k}", own, mass, base=f"b{k - 1}" if k else "ground") for k, own in enumerate(moved)]

    def size(n: int) -> int:
        account = kn.derive(kn.System("chain", links(n)), "newton_euler").account()
        assert max(len(e.text) for e in account.entries) < 700
        return sum(len(e.text) for e in account.entries)

    assert size(8) < 2.6 * size(4)


def test_the_steps_of_appell_carry_the_numbers_of_their_sources() -> None:
    page = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"), "appell").account().markdown()
    for number in ("Golubev (1.5)", "Gantmacher (18)", "(4.1)", "(3.3)"):
        assert number in page
    assert "dS/dq2'' = m2*l1*l2*cos(q1 - q2)*q1'' + m2*l2^2*q2''" in page


@pytest.mark.parametrize(
    ("formalism", "shown"),
    [("kane", "f1 = (M*x'', 0, M*g)"), ("newton_euler", "f1 = (M*x'', 0, M*g)"), ("appell", "S1 = M*x''^2/2 +")],
)
def test_every_body_has_the_mass_that_it_is_described_with(formalism: str, shown: str) -> None:
    equations = kn.derive(kn.loads(CRANE), formalism)
    check(equations.account(), equations)
    assert shown in equations.account().markdown()


def test_rates_of_states_have_one_name_in_equations_and_accounts() -> None:
    equations = kn.derive(kn.loads(CRANE))
    rate = "i' = (min(U, k*(goal - x) - d*x') - R*i)/L\n"
    assert rate in f"{equations.text()}\n"
    assert rate in equations.account().markdown()


@pytest.mark.slow
def test_eulers_equations_come_out_of_their_quasi_velocities() -> None:
    page = kn.derive(kn.load(EXAMPLES / "euler_top.kin"), "appell").account().markdown()
    assert "quasi[p] = sin(theta)*sin(phi)*psi' + cos(phi)*theta'" in page
    assert "dS/dp' = A*p' + (C - B)*q*r" in page


def test_steps_keep_the_names_of_the_model() -> None:
    equations = kn.derive(kn.loads(ROPE))
    account = equations.account()
    check(account, equations, printed=True)
    told = account.markdown()
    assert "tension = max(0, k*excess*(2*excess^2 + 1))\nF1 = (m*x'' + x*tension/reach, 0, " in told
    assert "A[slope,x'] = x/reach - 0.1\n" in told


@pytest.mark.slow
def test_quantities_have_other_names_than_parameters_in_latex_too() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "boom.kin"), "lagrange")  # V is the volume of its oil
    check(equations.account(), equations, printed=True)
    assert "V_0 = 9.81*m*h + 4.905*m*l*sin(q)" in equations.account().markdown()


@pytest.mark.slow
@pytest.mark.parametrize("formalism", FORMALISMS)
def test_pages_stand_alone_and_are_well_formed(formalism: str) -> None:
    account = kn.derive(kn.load(EXAMPLES / "cart_pendulum.kin"), formalism).account()
    page = account.html()
    assert "http" not in page
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>").replace('<meta charset="utf-8">', ""))
    assert len(root.findall(".//math")) > 10
    assert len(root.findall(".//section")) == len(account.steps)
    (script,) = root.findall(".//script")
    assert root.find(".//nav").attrib["hidden"]  # without its script the page has all steps and no buttons
    root.find("body").remove(script)
    assert not re.search(r"\\[a-z]", "".join(root.itertext()))
    document = account.latex()
    assert document.count("{") == document.count("}")
    assert document.count(r"\left") == document.count(r"\right")


def test_mathml_of_a_formula() -> None:
    # A power of a function is one element with two children: else browsers draw none of it.
    assert mathml(r"\cos^{2} x") == (
        '<math><mrow><msup><mi>cos</mi><mn>2</mn></msup><mo>&#x2061;</mo><mspace width="0.17em"/><mi>x</mi></mrow></math>'
    )
    # Brackets are as high as what they hold.
    assert 'stretchy="false"' in mathml(r"\left(a\right)")
    assert "stretchy" not in mathml(r"\left(\frac{a}{b}\right)")
    assert mathml(r"\frac{1}{2}\,m\,{\dot{q}_{1}}^{2}") == (
        '<math><mrow><mfrac><mn>1</mn><mn>2</mn></mfrac><mspace width="0.17em"/><mi>m</mi><mspace width="0.17em"/>'
        '<msup><msub><mover accent="true"><mi>q</mi><mo>˙</mo></mover><mn>1</mn></msub><mn>2</mn></msup></mrow></math>'
    )


# -- matrices ----------------------------------------------------------------------------------------------------------


def test_the_matrix_form_of_eulers_equations() -> None:
    shown = kn.derive(kn.load(EXAMPLES / "euler_top.kin")).matrix_form()
    assert str(shown).splitlines() == [
        "[ A  0  0 ] [ p' ]   [ (C - B)*q*r ]   [ tau[p] ]",
        "[ 0  B  0 ] [ q' ] + [ (A - C)*p*r ] = [ tau[q] ]",
        "[ 0  0  C ] [ r' ]   [ (B - A)*p*q ]   [ tau[r] ]",
    ]
    assert shown.latex().startswith(
        r"\begin{pmatrix} A & 0 & 0 \\ 0 & B & 0 \\ 0 & 0 & C \end{pmatrix} \begin{pmatrix} \dot{p}"
    )


@pytest.mark.slow
def test_the_matrix_form_shows_what_is_computed() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "cart_pendulum.kin"))
    scope = state_of(equations)
    head, below = equations.matrix_form().text().split("\n\n")
    for line in below.splitlines():
        name, _, shown = line.partition(" = ")
        scope[name] = computed(shown, scope)
    rows = [re.findall(r"\[ +(.*?) +\](?= |$)", row) for row in head.splitlines()]
    cells = [[computed(c, scope) for c in re.split(" {2,}", M)] + [computed(h, scope)] for M, _, h, _ in rows]
    found = [*cells[0][:2], *cells[1][:2], cells[0][2], cells[1][2]]
    wanted = evaluate(equations.graph, equations.expressions("mass_and_bias").refs, scope)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_reactions_stand_in_the_matrix_form() -> None:
    free = kn.load(EXAMPLES / "skate.kin").replace(quasi=(), initial={})
    shown = kn.derive(free).matrix_form().text().splitlines()
    assert shown[0].endswith("[  sin(phi) ] [ lambda.edge ]")
    assert shown[1].endswith("[ -cos(phi) ]")


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [3, None, "bias", ["inverse"]])
def test_what_has_no_derivation_to_tell_is_refused(wrong: object) -> None:
    with pytest.raises(kn.ArgumentError, match=r"^Expected a quantity whose derivation is told"):
        kn.derive(kn.load(EXAMPLES / "skate.kin")).account(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "said"), [(3, "Expected a file name, found"), ("a.pdf", r"a\.pdf: expected a file name that ends in \.md")]
)
def test_files_of_no_known_form_are_refused(path: object, said: str) -> None:
    with pytest.raises(kn.ArgumentError, match=said):
        kn.derive(kn.load(EXAMPLES / "skate.kin")).account().save(path)


def test_matrices_of_constraints_have_no_empty_rows_and_readable_multipliers() -> None:
    form = kn.derive(kn.load(EXAMPLES / "fourbar.kin")).matrix_form()
    assert r"\begin{pmatrix} \lambda_{\mathrm{pin}.x} \\ \lambda_{\mathrm{pin}.y} \end{pmatrix}" in form.latex()
    assert form.text().splitlines()[2].endswith("-c*cos(gamma) ]")


@pytest.mark.slow
def test_momenta_are_letters_with_the_coordinate_as_index() -> None:
    pendulum = kn.derive(kn.load("examples/double_pendulum.kin"))
    canonical = pendulum.latex("canonical")
    assert r"\dot{p}_{q_{1}} &= \tau_{q_{1}}" in canonical
    assert r"p_{q_{1}}" in canonical
    assert "^{p}" not in canonical + pendulum.latex("hamiltonian")
    top = kn.derive(kn.load("examples/spinning_top.kin")).latex("canonical")
    assert r"\dot{p}_{w^{\mathrm{top}}_{x}} &=" in top
    point = kn.loads("coordinates x; p | Sx(x) = 1; output p.x, p.vx;")
    assert r"x^{\mathrm{p}} &= x" in kn.derive(point).latex("outputs")


@pytest.mark.parametrize("formalism", FORMALISMS)
def test_notes_are_latex(formalism: str) -> None:
    """No letter of a formula stands in words, which LaTeX would stop at."""
    fourbar = kn.load(EXAMPLES / "fourbar.kin")
    report = kn.derive(fourbar, formalism).account()
    assert report.latex().isascii()
    assert "`" not in report.latex() + report.html()
    assert r"$M \dot{v} + h = \tau + A^{T} \lambda$" in report.latex()
    assert "M v̇ + h = τ + Aᵀ λ" in report.html()


@pytest.mark.slow
def test_words_are_latex() -> None:
    assert kn.derive(kn.load(EXAMPLES / "double_pendulum.kin")).account("canonical").latex().isascii()
    assert latex.words(r"50% of {τ}^~\, `a²/2`") == r"50\% of \{$\tau$\}\^{}\~{}\textbackslash{}, $a^{2}/2$"


def test_laws_have_derivatives_as_fractions() -> None:
    assert latex.from_unicode("d/d t ∂T/∂v̇_s − ∂(T* − V)/∂q_s = Q_s") == (
        r"\frac{d }{d t} \frac{\partial T}{\partial \dot{v}_{s}} - \frac{\partial \left(T^{*} - V\right)}{\partial q_{s}} = Q_{s}"
    )
    assert latex.from_unicode("d p_s/d t") == r"\frac{d p_{s}}{d t}"
    assert latex.label("dT*/dpi.q1'") == r"\frac{\partial T^{*}}{\partial \pi_{q_{1}}}"
    assert latex.label("p*[x']") == "p_{x}^{*}"
    assert latex.label("gamma[edge,u,w]") == r"\gamma^{\mathrm{edge}}_{u,w}"


#: Models whose derivations have all kinds of steps.
TYPESET = (
    ("double_pendulum", "newton_euler"),
    ("appell_hamel", "lagrange"),
    ("bicycle", "kane"),
    ("chaplygin_sleigh", "appell"),
    ("fourbar", "lagrange"),
    ("spinning_top", "kane"),
    ("crane_servo", "newton_euler"),
    ("rattleback", "lagrange"),
    ("yielding_ground", "newton_euler"),
    ("flyball_governor", "lagrange"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "formalism"), TYPESET[:3])
def test_documents_close_what_they_open(model: str, formalism: str) -> None:
    document = kn.derive(kn.load(EXAMPLES / f"{model}.kin"), formalism).account().latex()
    open_groups, environments = 0, []
    for found in re.finditer(r"\\begin\{(\w+\*?)\}|\\end\{(\w+\*?)\}|\\.|[{}]", document):
        if found[1]:
            environments.append((found[1], open_groups))
        elif found[2]:
            assert environments.pop() == (found[2], open_groups)
        elif found[0] in "{}":
            open_groups += 1 if found[0] == "{" else -1
            assert open_groups >= 0
    assert (open_groups, environments) == (0, [])
    assert document.count("$") % 2 == 0
    assert document.count(r"\[") == document.count(r"\]")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
@pytest.mark.parametrize(("model", "formalism"), TYPESET)
def test_documents_are_typeset(model: str, formalism: str, tmp_path: Path) -> None:
    kn.derive(kn.load(EXAMPLES / f"{model}.kin"), formalism).account().save(tmp_path / "a.tex")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "a.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("latin1")[-2000:]


def test_forms_in_independent_speeds_print_fractions_as_the_equations_do() -> None:
    """sin^2 + cos^2 over a common denominator is one."""
    sleigh = kn.loads("""parameters m = 1, J = 0.2, a = 0.3; coordinates x, y, phi;
    Sleigh | Sx(x), Sy(y), Rz(phi) = m(m), Jz(J), com = (a, 0, 0);
    constraint blade : y'*cos(phi) = x'*sin(phi); quasi x', phi';""")
    equations = kn.derive(sleigh)
    for name in ("voronets", "maggi"):
        assert [f"{e.name} = {e.text}" for e in equations.account(name).entries[-2:]] == equations.text().splitlines()


WHOLE = [
    "parameters m, R, g, I; gravity (0, 0, -g); Hoop | Rz(psi) = Jz(I); Bead ~ Hoop | Ry(theta), Sz(-R) = m;",
    "parameters m, R, k, g; let w = sqrt(k/m + g/R*sin(q)^2); gravity (0, 0, -g); A | Ry(q), Sz(-R) = m;"
    "force f = -m*w^2*sin(q)*R^2 - R^2*w*q' on q;",
]


@pytest.mark.parametrize("model", WHOLE, ids=["hoop", "let"])
@pytest.mark.parametrize("formalism", ["lagrange", "appell"])
def test_an_account_ends_with_the_equations_as_they_are_printed(model: str, formalism: str) -> None:
    equations = kn.derive(kn.loads(model), formalism)
    printed = equations.text().splitlines()
    assert [f"{e.name} = {e.text}" for e in equations.account().entries[-len(printed) :]] == printed


@pytest.mark.slow
def test_no_part_of_an_account_is_a_letter_or_zero() -> None:
    account = kn.derive(kn.load(EXAMPLES / "euler_top.kin"), "appell").account()
    parts = [e.text for e in account.entries if re.fullmatch(r"z\d+", e.name)]
    assert parts
    assert not [text for text in parts if re.fullmatch(r"-?[\w.]+'*", text)]


def test_every_part_of_an_account_is_used() -> None:
    system = kn.loads(
        """gravity g; parameters Mx, My, m, g; coordinates x, y, l, alpha, beta;
        Bridge | Sx(x) = Mx; Trolley ~ Bridge | Sy(y) = My; Load ~ Trolley | Rx(alpha), Ry(beta), Sz(-l) = m;"""
    )
    told = kn.derive(system, "lagrange").account().markdown()
    parts = re.findall(r"^(z\d+) =", told, flags=re.M)
    assert len(parts) == len(set(parts)) > 3
    assert [n for n in parts if len(re.findall(rf"\b{n}\b", told)) < 2] == []
