"""Printed equations mean what the compiled ones compute: text, LaTeX, and SymPy there and back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import sympy

import kineta as kn
from kineta.equations.formulas import aligned
from kineta.errors import ExpressionError
from kineta.expr.graph import Graph
from kineta.expr.op import COMPOSED, UNARY, Op
from kineta.interop.sympy import from_sympy, to_sympy
from kineta.notation import latex, text
from kineta.notation.common_subexpressions import common_subexpressions
from kineta.notation.mathml import mathml
from kineta.notation.typesetting import typeset
from kineta.passes.evaluate import evaluate
from tests.cli.conftest import CART, Command
from tests.cli.latex_reader import value
from tests.codegen.random_programs import random_program
from tests.notation.text_reader import computed
from tests.support import EXAMPLES, PILES, examples

#: Quantities of every example, and long ones that examples have in turn.
SHORT, LONG = ("energy", "positions"), ("inverse", "forward", "mass_and_bias")
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.kin"))
#: Where a long sum goes on in the next line.
BROKEN = " \\\\\n&\\quad {}"
#: For models with redundant constraints, which are left out with a warning.
without_warnings = pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")


def values(system: kn.System) -> dict[str, float]:
    """A number for every symbol of the equations, with unit quaternions."""
    names = ["t", *system.q_names, *system.v_names, *system.parameter_names]
    names += [f"{n}'" for n in system.v_names] + [f"tau[{n}]" for n in system.v_names]
    known = dict(zip(names, np.random.default_rng(1).uniform(0.2, 1.0, len(names)).tolist(), strict=True))
    for motion in system.joints.values():
        turn = motion.quaternion
        size = math.hypot(*(known[n] for n in turn))
        known |= {n: known[n] / size for n in turn}
    return known


def expected(equations: kn.Equations, quantity: str, known: dict[str, float]) -> list[float]:
    return evaluate(equations.graph, equations.expressions(quantity).refs, known)


# -- text --------------------------------------------------------------------------------------------------------------


def values_of_text(lines: Iterable[str], known: dict[str, float]) -> list[float]:
    scope = dict(known)
    return [computed(line, scope) for line in lines]


def values_of_latex(page: str, known: dict[str, float]) -> list[float]:
    scope, results = {latex.name(n): x for n, x in known.items()}, []
    assert len(scope) == len(known)
    whole = page.removeprefix("\\begin{align*}\n").removesuffix("\n\\end{align*}").replace(BROKEN, "")
    for line in whole.split(" \\\\\n"):
        left, right = line.split(" &= ")
        results.append(value(right, scope))
        scope.setdefault(left, results[-1])  # an entry h_{1} of the bias beside a coordinate h1
    return results


@pytest.mark.slow
@without_warnings
@pytest.mark.parametrize("name", examples(without=PILES))
def test_what_is_printed_can_be_computed_line_by_line(name: str) -> None:
    """In text and in LaTeX."""
    equations = kn.derive(kn.load(EXAMPLES / f"{name}.kin")).settled()
    known = values(equations.system)
    for quantity in (LONG[NAMES.index(name) % len(LONG)], *SHORT):
        printed, wanted = equations.printed(quantity), expected(equations, quantity, known)
        page = aligned(printed.latex(), "align*")
        for results in (values_of_text(printed.text(), known), values_of_latex(page, known)):
            np.testing.assert_allclose(results[-len(wanted) :], wanted, rtol=1e-9, atol=1e-9)


def test_the_command_prints_what_equations_print(kineta: Command) -> None:
    printed = kn.derive(kn.load(CART)).printed("forward")
    assert kineta("derive", CART, "--quantity", "forward").out.splitlines() == list(printed.text())
    page = kineta("derive", CART, "--quantity", "forward", "--latex").out
    assert page == aligned(printed.latex(), "align*") + "\n"


def test_a_sum_that_cancels_as_it_is_written_takes_its_product_with_it() -> None:
    equations = kn.derive(
        kn.loads("""
        parameters m, l; coordinates th, ph, q1;
        A | Rz(ph), Ry(-th), Sz(-l) = m; frame F ~ A | Ry(th), Rz(-ph);
        B ~ F | Sx(l), Ry(q1) = m; B2 ~ B | Sz(-l) = m;
    """)
    )
    known = values(equations.system)
    known |= {f"{n}{dots}": 0.3 + 0.1 * k for k, n in enumerate(equations.system.q_names) for dots in ("''", "'''")}
    for quantity in ("kineta(3)", "inertia_forces(3)"):
        scope, wanted = dict(known), expected(equations, quantity, known)
        results = [computed(line, scope) for line in equations.text(quantity).splitlines()]
        np.testing.assert_allclose(results[-len(wanted) :], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_names_of_parts_avoid_those_of_the_model(kineta: Command, here: Path) -> None:
    (here / "taken.kin").write_text(
        "parameters z1 = 2, z_2 = 3;\nA | Rz(q) = z1, z_2, z_2, z_2;\nB~A | Sx(z_2), Rx(q2), Sy(z1) = z1;\n"
    )
    for options, form in (([], r"(z_?\d+) ="), (["--latex"], r"(z_\{\d+\}) &=")):
        named = re.findall(form, kineta("derive", "taken.kin", "--quantity", "canonical", *options).out)
        assert named
        assert not {"z1", "z2", "z_1", "z_2", "z_{1}", "z_{2}"} & set(named)


# -- LaTeX -------------------------------------------------------------------------------------------------------------


def test_long_sums_go_on_in_the_next_line() -> None:
    term = r"\left(a + b\right)\,\sin\left(c - d\right)"
    whole = " + ".join([term] * 12) + f" - {term}"
    lines = latex.break_lines(whole)
    assert "".join(lines) == whole
    assert len(lines) == 2
    assert all(line.startswith((" + ", " - ")) for line in lines[1:])
    assert latex.break_lines(rf"\left({whole}\right)") == [rf"\left({whole}\right)"]


@pytest.mark.parametrize("seed", range(20))
def test_latex_of_random_expressions_reads_as_it_was_meant(seed: int) -> None:
    g, refs, known = random_expressions(seed)
    scope = {latex.name(n): x for n, x in known.items()}
    results = []
    labels = [f"R_{{{i}}}" for i in range(len(refs))]
    for left, right in common_subexpressions(g, refs, {}, labels).lines(latex.LATEX, labels):
        assert right.count("{") == right.count("}")
        scope[left] = value(right, scope)
        results.append(scope[left])
    np.testing.assert_allclose(results[-len(refs) :], evaluate(g, refs, known), rtol=1e-9, atol=1e-12)


def random_expressions(seed: int) -> tuple[Graph, list[int], dict[str, float]]:
    """A random graph, references into it, and values for its symbols."""
    p = random_program(seed, 40, rows=False)
    g = Graph()
    refs = [g.symbol(f"x{i}_{j}") for i, b in enumerate(p.inputs) for j in range(b.size)]
    known = {g.names[g.lhs[r >> 1]]: x for r, x in zip(refs, np.random.default_rng(seed).uniform(-2, 2, 99).tolist())}
    refs += [g.const(c) for c in p.constants]
    for op, a, b in zip(p.op, p.lhs, p.rhs, strict=True):
        refs.append(g.call(op, *(refs[r >> 1] ^ (r & 1) for r in ((a,) if op in UNARY else (a, b)))))
    return g, [refs[r >> 1] ^ (r & 1) for r in p.results], known


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("q1''", r"\ddot{q}_{1}"),
        ("q1'''", r"\dddot{q}_{1}"),
        ("b.wx'''''", r"\overset{(5)}{w}^{\mathrm{b}}_{x}"),
        ("Fi2'", r"\dot{\varphi}_{2}"),
        ("φ", r"\varphi"),
        ("J_nz", r"J_{\mathrm{nz}}"),
        ("m_rod", r"m_{\mathrm{rod}}"),
        ("mH", "m_{H}"),
        ("IHxx", r"I_{\mathrm{Hxx}}"),
        ("kg2", "k_{g2}"),
        ("m_alpha", r"m_{\alpha}"),
        ("charge", r"\mathrm{charge}"),
        ("th", r"\theta"),
        ("th1'", r"\dot{\theta}_{1}"),
        ("om_x", r"\omega_{x}"),
        ("lam", r"\lambda"),
        ("thetaL", r"\theta_{L}"),
        ("psif", r"\psi_{f}"),
        ("t_h", "t_{h}"),
        ("R_th", r"R_{\mathrm{th}}"),
        ("la", "l_{a}"),
        ("Th", "T_{h}"),
        ("Jmax", r"J_{\mathrm{max}}"),
        ("Gain", r"\mathrm{Gain}"),
        ("taut", r"\mathrm{taut}"),
        ("on1", r"\mathrm{on}_{1}"),
        ("rate.control.x'", r"\dot{u}_{x}"),
        ("p[q1]'", r"\dot{p}_{q_{1}}"),
        ("Jx", "J_{x}"),
        ("alpha_1", r"\alpha_{1}"),
        ("sat.wx'", r"\dot{w}^{\mathrm{sat}}_{x}"),
        ("Корпус.x", r"x^{\text{Корпус}}"),
        ("м_н", r"\text{м}_{\text{н}}"),
        ("масса_тела", r"\text{масса}_{\text{тела}}"),
        ("elbow_lift_joint", r"\mathrm{elbow}_{\mathrm{lift\_joint}}"),
        ("tau[q1']", r"\tau_{q_{1}}"),
    ],
)
def test_names_in_latex(name: str, shown: str) -> None:
    assert latex.name(name) == shown


def test_a_short_greek_name_is_one_letter_in_all_that_is_typeset() -> None:
    equations = kn.derive(
        kn.loads("coordinates th; parameters m, l, om; B | Ry(th), Sz(-l) = m; force f = cos(om*t) on th;")
    )
    assert equations.text("inverse") == "tau[th'] = m*l^2*th'' - cos(om*t)"
    assert equations.latex("inverse") == (
        "\\begin{aligned}\n\\tau_{\\theta} &= m\\,{l}^{2}\\,\\ddot{\\theta} - \\cos\\left(\\omega\\,t\\right)\n\\end{aligned}"
    )
    assert "θ" in mathml(latex.label("tau[th']"))


@pytest.mark.slow
def test_outputs_are_printed_by_their_names(kineta: Command, here: Path) -> None:
    (here / "hopper.kin").write_text(
        "Нога | Ry(q1), Sz(q2) = 2, 0.1, 0.1, 0.1; Корпус ~ Нога | Sz(0.3) = 7; output Корпус.position, energy;",
        encoding="utf-8",
    )
    lines = kineta("derive", "hopper.kin", "--quantity", "outputs").out.splitlines()
    assert [line.split(" = ")[0] for line in lines][-4:] == ["Корпус.x", "Корпус.y", "Корпус.z", "energy"]
    assert r"z^{\text{Корпус}} &= " in kineta("derive", "hopper.kin", "--quantity", "outputs", "--latex").out


# -- SymPy -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_sympy_there_and_back_evaluates_equal(seed: int) -> None:
    g, refs, known = random_expressions(seed)
    back = Graph()
    again = from_sympy(back, to_sympy(g, refs))
    np.testing.assert_allclose(evaluate(back, again, known), evaluate(g, refs, known), rtol=1e-10, atol=1e-12)


def test_equations_in_sympy_are_those_of_the_model() -> None:
    equations = kn.derive(kn.load(CART))
    known = values(equations.system)
    exact = to_sympy(equations.graph, equations.expressions("inverse").refs)
    numbers = [float(e.subs({sympy.Symbol(n, real=True): x for n, x in known.items()})) for e in exact]
    np.testing.assert_allclose(numbers, expected(equations, "inverse", known), rtol=1e-12)


@pytest.mark.slow
def test_equations_in_sympy_are_those_of_sympys_mechanics() -> None:
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    system = kn.loads(
        "model p; gravity (0, -g, 0); parameters g, l, m; A | Rz(q1), Sy(-l) = m; B ~ A | Rz(q2), Sy(-l) = m;"
    )
    q, (g, l, m) = dynamicsymbols("q1 q2"), sympy.symbols("g l m")
    a, b = q[0], q[0] + q[1]
    x, y = l * sympy.sin(a), -l * sympy.cos(a)
    places = ((x, y), (x + l * sympy.sin(b), y - l * sympy.cos(b)))
    t = dynamicsymbols._t
    T = sum(m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 for x, y in places)
    lagrange = LagrangesMethod(T - sum(m * g * y for _, y in places), q).form_lagranges_equations()
    assert sympy.simplify(lagrange - kn.derive(system).sympy("inverse", dynamic=True)) == sympy.zeros(2, 1)


@pytest.mark.slow
def test_functions_of_the_time_are_taken_from_sympy() -> None:
    free = kn.derive(kn.load(EXAMPLES / "free_satellite.kin"))
    for quantity in ("qdot", "forward"):
        plain, dynamic = free.sympy(quantity), free.sympy(quantity, dynamic=True)
        assert [kn.from_sympy(e) for e in dynamic] == [kn.from_sympy(e) for e in plain]
    t = sympy.Symbol("t")
    with pytest.raises(
        ExpressionError, match=r"^Expected derivatives of functions of the time t, found '.*'; try \.doit"
    ):
        kn.from_sympy(sympy.Derivative(sympy.Function("q")(t) ** 2, t))


x, y = sympy.symbols("x y", real=True)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (2 * x / (3 * y), "2*x/(3*y)"),
        (-x / y, "-x/y"),
        (y / (x + 1) ** 2, None),
        (sympy.sqrt(x) * sympy.pi, None),
        (x**-2 + x**y, None),
        (sympy.Heaviside(x, 0), "step(x)"),
        (sympy.Min(x, y, 3), None),
        (sympy.log(x, 10), None),
        (3, "3"),
        (0.5, "0.5"),
    ],
)
def test_what_sympy_writes_is_taken(expression: object, shown: str | None) -> None:
    g = Graph()
    (ref,) = from_sympy(g, [expression])
    known = {"x": 0.7, "y": 1.3}
    exact = float(sympy.sympify(expression).subs({x: known["x"], y: known["y"]}))
    assert evaluate(g, [ref], known)[0] == pytest.approx(exact, rel=1e-14)
    assert shown is None or typeset(g, ref, text.TEXT) == shown


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sympy.Function("f")(x), r"The SymPy function 'f' in 'f\(x\)' has no operation in the graph\."),
        (sympy.Piecewise((x, x > 0)), r"A SymPy Piecewise needs a last piece \(value, True\)\."),
        (sympy.Heaviside(x), r"'Heaviside' in 'Heaviside\(x\)' has no operation"),
        (sympy.I * x, r"Expected a real number, found 'I'\."),
        (sympy.zoo, r"Expected a real number, found 'zoo'\."),
        (sympy.oo, r"Expected a finite number, found inf\."),
        ("x + 1", r"Expected a SymPy expression, found 'x \+ 1'\."),
        (x < y, r"Expected a SymPy expression, found x < y\."),
    ],
)
def test_what_has_no_operation_is_refused(expression: object, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        from_sympy(Graph(), [expression])


def test_every_operation_has_a_way_out_and_back() -> None:
    g, back = Graph(), Graph()
    a, b = g.symbol("x"), g.symbol("y")
    operations = [op for op in Op if op not in {Op.CONST, Op.SYMBOL, Op.LOOKUP, *COMPOSED}]
    refs = [g.call(op, a) if op in UNARY else g.call(op, a, b) for op in operations]
    known = {"x": 0.3, "y": 0.8}
    np.testing.assert_allclose(
        evaluate(back, from_sympy(back, to_sympy(g, refs)), known), evaluate(g, refs, known), rtol=1e-14
    )
    for op, ref in zip(operations, refs, strict=True):
        assert value(typeset(g, ref, latex.LATEX), known) == pytest.approx(evaluate(g, [ref], known)[0]), op


def test_quantities_of_programs_are_derived_without_a_warning(kineta: Command) -> None:
    got = kineta("derive", EXAMPLES / "elevator.kin", "--quantity", "highest")
    assert (got.code, "only runs know programs" in got.err) == (0, False)
    assert "only runs know programs" not in kineta("derive", EXAMPLES / "elevator.kin").err
    assert "only runs know programs" in kineta("derive", EXAMPLES / "elevator.kin", "--quantity", "forward").err


def test_accelerations_are_no_levels(kineta: Command) -> None:
    got = kineta("eval", EXAMPLES / "charged_craft.kin", "--quantity", "control", "--levels", "x''=0.3")
    assert (got.code, got.err) == (1, "kineta: --levels: 'x''' is an acceleration; give it as --vdot \"x'=0.3\".\n")
